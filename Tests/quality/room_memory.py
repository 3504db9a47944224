"""Reference of depthmatte's memory of a captured room, on top of quality_matte.QualityMatte: it follows the Swift code rule
by rule, which Sources/DepthKernels/Matte/Room explains. It learns nothing, as with room-memory=keep.

    matte = RoomMatte()
    matte.capture(pictures, depths)     # of the empty room
    matte.step(video, z, face, cutoff)

Colors are coded red, green and blue of 0 to 1, at the samples of the grid.
"""
import cv2
import numpy as np

from quality_matte import QualityMatte, enlarge, within
from subject import continue_bands

ON, BEHIND = (0.015, 0.006), 3              # m, 1/m: before a surface; and times that behind it
SURE, SURE_HOLE = 6, 0.15                   # (s), m: from what is before the cutoff to sure room, measured or not
LEAST_MEASURED = 4                          # frames of a capture
SIDE, SAMPLES = 4, 8                        # of a cell, and those of them that are looked at
RADIUS, BOXES = 12, ((1, 1), (3, 0.05), (9, 0.002))  # (s); times the radius, weight
FLOOR, CELL_FLOOR, CELL_MOST, MOST_NOISE = (2.5 / 255) ** 2, (1.5 / 255) ** 2, 6 / 255 ** 2, (20 / 255) ** 2
JITTER, SIGMAS, AGREE, SUSPEND = 0.5, 3, 0.7, 0.6
DARK, BRIGHT, BINS = 10 / 255, 245 / 255, 2048
LEAST, MOST = 0.5, 1.5                      # local gain
OVEREXPOSED = 0.985                         # a memory that may have been brighter than it can say
STRENGTH, MOST_ODDS, CLOTH, APART, FULL_FIT = 6, 8, 0.1, 0.12, 0.05
ROOM_OUTLIERS, PERSON_OUTLIERS, OUTLIER_DENSITY = 0.03, 0.3, 10


def linear(coded):
    coded = np.clip(coded, 0, 1)
    return coded * (coded * (coded * 0.305306011 + 0.682171111) + 0.012522878)


def squared_slopes(x):
    """Squared slopes, summed over the channels; the neighbor of the last sample of a row is the first one of the next."""
    flat = np.pad(x.reshape(-1, 3), ((1, 1), (0, 0)))
    across = ((flat[2:] - flat[:-2]) / 2).reshape(x.shape)
    rows = np.arange(len(x))
    down = (x[np.minimum(rows + 1, len(x) - 1)] - x[np.maximum(rows - 1, 0)]) / 2
    return (across ** 2 + down ** 2).sum(-1)


def median(values, most):
    """By a histogram between 0 and a limit."""
    if not len(values):
        return 0.0
    count, _ = np.histogram(np.clip(np.floor(values * BINS / most), 0, BINS - 1), BINS, (-0.5, BINS - 0.5))
    below = np.cumsum(count)
    bin_ = min(int(np.searchsorted(2 * below, len(values))), BINS - 1)
    return (bin_ + (len(values) / 2 - (below[bin_] - count[bin_])) / max(count[bin_], 1)) * most / BINS


def average(x, radius):
    """Over boxes; 0 beyond the border."""
    out = 0
    for times, weight in BOXES:
        side = 2 * times * radius + 1
        out = out + weight * cv2.boxFilter(x, -1, (side, side), borderType=cv2.BORDER_CONSTANT)
    return out


class RoomMatte(QualityMatte):
    room, surface = None, None

    def capture(self, pictures, depths):
        """The mean of frames of the empty room: BGR, metres."""
        total, surface, count = 0, None, 0
        for picture, z in zip(pictures, depths):
            z = continue_bands(self.thin(z))[0]
            small = cv2.resize(self.guide(picture), z.shape[::-1], interpolation=cv2.INTER_AREA)
            total = total + np.clip(self.channels(small), 0, 1)
            surface = np.zeros(z.shape) if surface is None else surface
            count = count + (z > 0)
            surface = np.where(z > 0, np.rint(surface + (1000 * z - surface) / np.maximum(count, 1)), surface)
        self.room = (total / len(pictures)).astype(np.float32)
        self.surface = np.where(count >= LEAST_MEASURED, surface, 0).astype(np.float32) / 1000

    def channels(self, guide):
        """Red, green and blue of the guide's Y'UV, whose color differences OpenCV puts about a half."""
        red, blue = (guide[..., 0] + (guide[..., i] / self.p.chroma - 0.5) / f for i, f in ((2, 0.877), (1, 0.492)))
        return np.stack([red, (guide[..., 0] - 0.299 * red - 0.114 * blue) / 0.587, blue], -1)

    # --- 1. surface ----------------------------------------------------------------------------------------------

    def surfaces(self, z, cutoff):
        if self.surface is None:
            return super().surfaces(z, cutoff)
        known, limit = self.surface, ON[0] + ON[1] * self.surface ** 2
        return (z > 0) & (z <= cutoff) & (known > 0) & (z > known - limit) & (z < known + BEHIND * limit)

    # --- 2. light, 3. trust ----------------------------------------------------------------------------------------

    def cells(self, x):
        """Sums over cells, of every second row."""
        h, w = x.shape[:2]
        rows, columns = -(-h // SIDE), 2 * -(-w // (2 * SIDE))
        padded = np.zeros((rows * SIDE, columns * SIDE, *x.shape[2:]), np.float32)
        padded[:h, :w] = x
        return padded.reshape(rows, SIDE, columns, SIDE, *x.shape[2:])[:, ::2].sum((1, 3))

    def compare(self, now, sure):
        """Local gain, noise and trust of each sample, and the gain of each channel; None where the memory does not hold."""
        m, room = sure.astype(np.float32), self.room
        count, each = self.cells(m), m[..., None]
        v, b, both, squares = (self.cells(each * x) for x in (now, room, now * room, room ** 2))
        now2, slopes = (self.cells(m * x) for x in ((now ** 2).sum(-1), squared_slopes(room)))
        full, least = count > 0.4 * SAMPLES, np.maximum(count, 1)[..., None]
        mean_v, mean_b, gain = v / least, b / least, np.ones(3, np.float32)
        usable = full & (mean_b.min(-1) > DARK) & (np.maximum(mean_b, mean_v).max(-1) < BRIGHT)
        for channel in range(3):
            some = np.arange(count.size).reshape(count.shape) % 3 == channel
            ratios = (mean_v[..., channel] / np.maximum(mean_b[..., channel], 1e-6))[usable & some]
            if not 3 * len(ratios) > 0.002 * count.size:
                return None
            gain[channel] = max(median(ratios, 4), 0.05)
        radius = max(1, round(RADIUS * max(now.shape) / 640 / SIDE))
        x, y = (gain * both).sum(-1) / SAMPLES, (gain ** 2 * squares).sum(-1) / SAMPLES
        lit = (x > LEAST * y) & (x < MOST * y)
        light = (average(x * lit, radius) + 6 / 255 ** 2) / (average(y * lit, radius) + 6 / 255 ** 2)
        light = np.clip(light, LEAST, MOST)
        gains = light[..., None] * gain

        difference = (((v - b * gains) / least) ** 2).mean(-1)
        limit = max(CELL_FLOOR, min(1.5 * median(difference[full], 2 * CELL_MOST), CELL_MOST))
        trembling = JITTER ** 2 * (gains ** 2).mean(-1) / 3 * slopes
        error = now2 - 2 * (gains * both).sum(-1) + (gains ** 2 * squares).sum(-1)
        noise = np.clip((error / 3 - trembling) / least[..., 0], 0, MOST_NOISE)

        def next_(dy, dx):
            y, x = (np.clip(np.arange(n) + by, 0, n - 1) for n, by in zip(full.shape, (dy, dx)))
            return np.where(full[y][:, x, None], mean_b[y][:, x], mean_b)
        steep = (gains ** 2 * ((next_(0, 1) - next_(0, -1)) ** 2 + (next_(1, 0) - next_(-1, 0)) ** 2)).sum(-1) / 12
        good = full & (difference < SIGMAS ** 2 * (limit + (JITTER / SIDE) ** 2 * steep))
        self.share = good.sum() / max(full.sum(), 1)
        if self.share < SUSPEND:
            return None
        noise, share, good, full = (
            average(x.astype(np.float32), radius) for x in (noise * count / SAMPLES, count / SAMPLES, good, full))
        noise, trust = (noise + 0.002 * FLOOR) / (share + 0.002), (good + 1e-4 * self.share) / (full + 1e-4)
        h, w = sure.shape
        size = (full.shape[1] * SIDE, len(full) * SIDE)
        return gain, *(enlarge(x.astype(np.float32), size)[:h, :w] for x in (light, np.maximum(noise, FLOOR), trust))

    # --- 4. evidence -----------------------------------------------------------------------------------------------

    def remembered(self, L, I, z, near, open_, metre):
        if self.room is None:
            return L
        front = within(near, SURE * max(z.shape) / 640)
        sure = np.where(z > 0, ~near & ~front, ~within(near, SURE_HOLE * metre))
        now = self.channels(I)
        found = self.compare(now, sure)
        if not found:
            return L
        gain, light, noise, trust = found
        y, x = np.nonzero(open_ & (trust >= AGREE))
        gains = light[y, x, None] * gain
        v, b = np.clip(now[y, x], 0, 1), np.clip(self.room[y, x] * gains, 0, 1)
        b = np.where(self.room[y, x] >= OVEREXPOSED, np.maximum(b, v), b)
        noise = noise[y, x] + squared_slopes(self.room)[y, x] * (gains ** 2).sum(-1) * JITTER ** 2 / 9
        difference, b = ((v - b) ** 2).sum(-1), linear(b)
        d = linear(v) - b
        tiles, palette, valid, spread = self.person_palette
        index = np.full(tuple(-(-n // self.p.tile) for n in open_.shape), -1)
        index[tiles] = np.arange(len(palette))
        index = index[y // self.p.tile, x // self.p.tile]
        factor = np.sqrt(np.maximum(b + 0.5 * d, 0.004)).sum(-1) * 2.2 / 3
        variance, nearest = noise * factor ** 2, np.full(len(y), 4, np.float32)
        alpha, weight, best, sure = (np.zeros(len(y), np.float32) for _ in range(4))
        for k in range(palette.shape[1]):
            color, is_valid = palette[index, k], valid[index, k]
            nearest = np.where(is_valid, np.minimum(nearest, ((I[y, x] - color) ** 2).sum(-1)), nearest)
            e = linear(self.channels(color)) - b
            length = (e * e).sum(-1)
            share = np.clip((d * e).sum(-1) / (length + 1e-6), 0, 1)
            off = ((d - share[:, None] * e) ** 2).sum(-1) / (variance + (0.5 * CLOTH * factor * share) ** 2 + 1e-6)
            fit = np.where(is_valid, np.exp(-0.5 * np.minimum(off, 60)) + 1e-12, 0)
            alpha, weight, best = alpha + fit * share, weight + fit, np.maximum(best, fit)
            sure = sure + fit * length / (length + 12 * variance + (APART * factor) ** 2)
        density = lambda distance, v: np.exp(-0.5 * distance / v) / (2 * np.pi * v) ** 1.5
        ratio = ((1 - PERSON_OUTLIERS) * density(nearest, spread) + PERSON_OUTLIERS * OUTLIER_DENSITY) / (
            (1 - ROOM_OUTLIERS) * density(difference, noise) + ROOM_OUTLIERS * OUTLIER_DENSITY)
        weight = np.maximum(weight, 1e-12)
        trust = sure / weight * np.minimum(best / FULL_FIT, 1)
        L = L.copy()
        odds = trust * STRENGTH * (2 * alpha / weight - 1) + (1 - trust) * np.log(ratio)
        L[y, x] = np.clip(odds, -MOST_ODDS, MOST_ODDS)
        return L
