#!/usr/bin/env python3
"""Reference of depthmatte's quality matte, in NumPy and OpenCV: depth + video (+ face boxes) -> alpha, frame after frame.

    pip install numpy opencv-python-headless
    quality_matte.py --video c0.png c1.png --depth d0.png d1.png --face X,Y,W,H --out 'alpha-%d.png'

Depth says where to look, color says where the edge is, a linear model of the video's colors draws it.  Evidence is added
up as log odds (0 = do not know, + = person, - = room), so each stage is one term and can be tested by itself:

 0. grid      every sample of the depth map (every 2nd, 3rd ... if its longer side is over `longest`); the video averaged down;
              bands without depth continued, and whose the samples in front of the cutoff are (subject.py)
 1. classes   person, room, open: what is measured and not beside the other side is settled; the rest, the band, is open
 2. color    L: how much better the nearest person color of the neighbourhood explains a sample than the nearest room color
 3. prior     H: the balance of classes around a measured sample; for a hole: shadow, endless room, head, or nothing known
 4. time      T = L + H, mixed with the last frame's where the picture stands still; P = 1 / (1 + exp(-T))
 5. drawing   guided filter: P ~ a . color + b in small windows; a, b brought to video size and applied to every video pixel

Everything but the last line of stage 5 works on the grid; stages 2 to 5 only in tiles that hold open samples.
Lengths in samples marked (s) are for a grid whose longer side is 640 and scale with it.  No random numbers: the same input
gives the same output.  Same cutoff and same "0 = not measured" as seed_matte.py.  Sources: see
Sources/DepthKernels/Matte/Fusion.
"""
import argparse
import sys
from dataclasses import dataclass
from importlib.util import find_spec

if __name__ == "__main__" and {"-h", "--help"} & set(sys.argv[1:]) and find_spec("cv2") is None:
    print(__doc__.strip())
    sys.exit()

import cv2
import numpy as np

from seed_matte import face_depth, metres
from subject import Face, Subject, along_bands, continue_bands


@dataclass
class Params:
    longest: int = 768           # samples; a larger depth map is thinned out
    anchored: bool = True        # the person of the face alone; False: everything in front of the cutoff
    chroma: float = 1.5          # weight of U and V beside Y in color distances
    # 1. classes
    edge: float = 3              # (s) a measured sample so near to the other class is open
    edge_hole: float = 2         # (s) ... and a person's so near to a hole
    reach: float = 0.10          # m that the person may reach into a hole
    doubt: float = 3             # times `edge`: a person's so near to the room is open, though its color is the person's
    neighbor: float = 48         # samples: ... or so near to others in front of the cutoff
    view: float = 1.15           # picture's longer side / distance (60 degrees), turns metres into samples
    gap: float = 10              # (s) a hole so far from measured room may be endless
    reach_endless: float = 0.03  # m (and 3 samples at least) that the person may reach into an endless room
    # 2. color
    tile: int = 16               # samples
    rings: int = 3               # a palette is gathered from (2 * rings + 1)^2 tiles
    palette: int = 6             # colors per class
    least: int = 6               # samples that a tile's color must stand for
    floor: float = 4e-4          # variance of a color at least: (5 / 255)^2
    outlier: float = 6.0         # |L| at most
    learn: float = 3.0           # hair without depth gives its colors where the last T was above this
    # 3. prior
    vote: float = 1.5            # H of a measured sample: what depth says where color says nothing
    trust: float = 4.0           # H of a doubtful one
    hole: float = -2.0           # H of a hole that nothing explains
    shadow: float = -4.0         # added where a shadow falls
    head_shadow: float = -2.5    # the same in the head's ellipse, where its width is known
    agree: float = 0.72          # share of the runs within 35 % of the median width
    enclosed: float = 1.5        # H of a hole that the person surrounds
    enclosed_reach: float = 0.16  # m
    endless: float = -3.0        # H of an endless room
    head: float = 1.5            # H of a hole in the head's ellipse (in an endless room: added)
    # 4. time
    settle: float = 0.7          # share of the last frame where the picture stands still; 0 = off
    cut: float = 4.0             # median change, in noises, from which nothing of the last frame is kept
    still: float = 25.0          # it stands still where its squared change is below still * noise^2
    sure: float = 7.0            # |T| from which a change of sign is believed at once
    # 5. drawing
    radius: float = 8            # (s) window of the guided filter
    subsample: int = 4           # its statistics are made of cells of 4x4 samples
    eps: float = 1e-4            # smallest color variance that is an edge: (2.5 / 255)^2
    slope: float = 1.8           # of the last ramp about 1/2
    smooth: float = 0.6          # sigma in video pixels, before the ramp


def disc(r):
    return cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * r + 1, 2 * r + 1))


def box(x, r):
    return cv2.blur(x, (2 * r + 1, 2 * r + 1), borderType=cv2.BORDER_REFLECT)


def distance(mask):
    """Samples to the nearest True.  Only ever compared with a radius, so growing a mask by a disc or an octagon does as well."""
    return cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, 3) if mask.any() else np.full(mask.shape, 1e4, np.float32)


def enlarge(x, size):
    return cv2.resize(x, size, interpolation=cv2.INTER_LINEAR)


def within(mask, radius):
    """Samples within a radius of True; a far one is that of groups of four rows, up to three rows too far."""
    if radius <= 12:
        return distance(mask) <= radius
    groups = np.pad(mask, ((0, -len(mask) % 4), (0, 0))).reshape(-1, 4, mask.shape[1]).any(1).astype(np.uint8)
    out, limit = np.zeros(groups.shape, bool), int(radius * 65536)
    for step in range(min(limit // (4 * 62587) + 1, len(out))):
        row = 4 * step
        steep = (limit - row * 62587) // (89738 - 62587)
        half = max(steep if steep < row else (limit - row * (89738 - 62587)) // 62587, 0)
        wide = cv2.dilate(groups, np.ones((1, 2 * half + 1), np.uint8)) > 0
        out[step:] |= wide[:len(out) - step]
        out[:len(out) - step] |= wide[step:]
    return np.repeat(out, 4, 0)[:len(mask)]


class QualityMatte:
    def __init__(self, **changes):
        self.p = Params(**changes)
        self.reset()

    def reset(self):
        """Forget the past: at start, after a flush, a change of size, a seek, a cut."""
        self.T = self.I = self.alpha = None                                     # last frame: log odds, guide, matte of 0 to 255
        self.noise, self.sides = 0.0, np.zeros(2)                               # sigma of the guide; votes for the shadow's side
        self.subject = Subject()
        self.ratios = [np.zeros((0, 2))] * 2                                    # of each side: (width / (1/near - 1/far), weight)

    def step(self, video, z, face, cutoff, others=()):
        """BGR uint8; float metres, 0 = not measured; (x, y, w, h) in video pixels or None, of the person; metres; the same of their
        neighbours -> float32 alpha, video size."""
        p, size = self.p, video.shape[1::-1]
        whole, focal = z, max(self.thin(z).shape) / p.view
        z, into = continue_bands(self.thin(z))
        band = into.any(2)
        scale = max(z.shape) / 640
        full = self.guide(video)
        I = cv2.resize(full, z.shape[::-1], interpolation=cv2.INTER_AREA)
        head = np.any([self.head(box, size, z.shape) for box in (face, *others)], 0)
        surfaces = self.surfaces(z, cutoff)
        fg, subject = (z > 0) & (z <= cutoff) & ~surfaces, None
        bg = (z > 0) & ~fg
        if p.anchored:
            subject = self.subject.find(z, I, cutoff, self.faces(whole, size, z.shape, face, others, focal), focal, surfaces)
        front = fg
        if subject:
            front = (fg | subject.beyond) & ~surfaces
            bg = ((z > 0) & ~front) | subject.others
            fg = subject.person & ~bg
            near = subject.distance
        else:
            near = float(z[fg].mean()) if fg.any() else None

        # 1. classes
        hole = ~(fg | bg)
        e, eh = max(1, round(p.edge * scale)), max(1, round(p.edge_hole * scale))
        inside = cv2.erode(hole.astype(np.uint8), np.ones((3, 3), np.uint8), borderValue=1) > 0
        from_fg, from_bg, from_inside = distance(fg), distance(bg), distance(inside)
        wide = hole & (from_inside <= 1.5)                                      # holes of 3x3 and more; smaller ones are dots
        metre = focal / max(cutoff if near is None else near, 1e-3)
        from_room = distance(bg & ~band) if band.any() else from_bg
        endless = self.endless(wide | band, within(fg & ~band, p.reach * metre), from_room, p.gap * scale)
        beyond = endless & ~head
        far = hole & np.where(beyond, from_fg > max(3.0, p.reach_endless * metre), ~within(fg, max(2.0, p.reach * metre)))
        person = fg & ~band & (from_bg > e) & (from_inside > eh + 1)             # what is continued is never sure to be the person
        dots = hole & ~wide & ~head                                             # what is about a dot says what it is
        person |= dots & (from_bg > p.doubt * e) & (from_inside > eh + 1)
        room = ((bg | dots) & (from_fg > e)) | far
        doubtful = person & (from_bg <= p.doubt * e)                            # a map that is fat, or fills the gaps of a hand
        open_ = ~(person | room) | doubtful
        if subject:                                                             # a neighbor's colors may be the person's too
            doubtful = doubtful | (fg & ~band & within(subject.others, p.neighbor))
        if band.any():                                                          # the less surely the farther in
            room &= ~along_bands(fg, into, e)
            open_ |= ~(person | room)

        # 2. color
        if self.I is not None and not self.continues(I):
            self.T = None
        learnt = wide & head & (self.T > p.learn) if self.T is not None else None
        L = self.remembered(self.color_evidence(I, person, learnt, room, open_), I, z, front, open_, metre)

        # 3. prior
        width, known = self.shadow_width(z, fg, bg, hole, head)
        votes = self.votes(fg, bg, hole, known)
        shadow = np.maximum(votes, width)
        closed = np.where(head, p.head + np.minimum(p.shadow * votes, p.head_shadow * width), p.hole + p.shadow * shadow)
        closed = np.where(~head & (shadow < 0.5) & self.surrounded(fg & ~band, bg & ~band, p.enclosed_reach * metre), p.enclosed, closed)
        nothing = p.endless + p.head * head
        H = np.where(wide, np.where(endless, nothing, closed), np.where(doubtful, p.trust, np.where(fg, p.vote, np.where(bg, -p.vote, 0))))

        # 4. time
        T = np.where(open_, L + H, np.where(person, 8, -8)).astype(np.float32)
        T = self.connected(T, H, fg, doubtful, face)
        keep = self.standing_still(I, T) if self.T is not None and p.settle else None
        if keep is not None:
            T = T + keep * (self.T - T)
        self.T, self.I = T, I
        P = (1 / (1 + np.exp(-T))).astype(np.float32)
        P[T > 7], P[T < -7] = 1, 0
        self.stages = person & ~open_, room, T, P                                           # for tests that look at them one by one

        # 5. drawing
        alpha = np.rint(self.draw(full, I, P, size, scale) * 255)
        if keep is not None:                                                    # rounded towards the new one, so that it is reached
            left = enlarge(cv2.erode(keep, np.ones((3, 3), np.uint8)), size) * (self.alpha - alpha)
            alpha = alpha + np.sign(left) * np.rint(np.maximum(np.abs(left) - 0.49997, 0))
        self.alpha = alpha
        return alpha / 255

    # --- what a memory of the room adds (room_memory.py) ------------------------------------------------------------

    def surfaces(self, z, cutoff):
        """Samples before the cutoff that are the room's."""
        return np.zeros(z.shape, bool)

    def remembered(self, L, I, z, front, open_, metre):
        """The evidence, with that of the memory. `front`: all that is before the cutoff; `metre`: samples."""
        return L

    # --- 0. grid -----------------------------------------------------------------------------------------------

    def thin(self, z):
        k = -(-max(z.shape) // self.p.longest)
        return np.ascontiguousarray(z[k // 2::k, k // 2::k])

    def guide(self, video):
        """Y'UV in 0 to 1 (the video's own planes where it is YUV), chroma weighted.  Not rounded to bytes, which would add noise."""
        y = cv2.cvtColor(video.astype(np.float32) / 255, cv2.COLOR_BGR2YUV)
        y[..., 1:] *= self.p.chroma
        return y

    @staticmethod
    def faces(whole, video_size, shape, face, others, focal):
        """The person's face in samples, and those of others who are 0.35 m beside it at least; none where it has no depth."""
        found = []
        for number, box in enumerate((face, *others) if face else ()):
            near = face_depth(whole, video_size, box)
            if near is None and number == 0:
                return []
            if near is not None:
                x, y = shape[1] / video_size[0], shape[0] / video_size[1]
                one = Face(box[0] * x, (box[0] + box[2]) * x, box[1] * y, (box[1] + box[3]) * y, near, number == 0)
                if number == 0 or abs(one.axis - found[0].axis) * found[0].distance / focal > 0.35:
                    found.append(one)
        return found

    @staticmethod
    def head(face, video_size, shape):
        """Samples in the ellipse of head and hair: 1.7 face boxes wide, 2.1 high, its middle 0.35 below the box's top."""
        if face is None:
            return np.zeros(shape, bool)
        (dh, dw), (vw, vh) = shape, video_size
        x, y, w, h = face[0] * dw / vw, face[1] * dh / vh, face[2] * dw / vw, face[3] * dh / vh
        yy, xx = np.mgrid[0:dh, 0:dw]
        return ((xx - x - 0.5 * w) / (0.85 * w)) ** 2 + ((yy - y - 0.35 * h) / (1.05 * h)) ** 2 < 1

    # --- 1. and 3. holes -----------------------------------------------------------------------------------------

    @staticmethod
    def endless(wide, reached, from_bg, gap):
        """4-connected parts of holes, away from measured room, that go on farther than hair does: the room is out of range."""
        loose = wide & (from_bg > gap)
        _, part = cv2.connectedComponents(loose.astype(np.uint8), connectivity=4)
        return loose & np.isin(part, np.unique(part[loose & ~reached]))

    @staticmethod
    def runs(fg, bg, hole, least):
        """Runs of holes along rows, columns a ..< b of row y, with the room before and the person after, and the other way round."""
        h, w = hole.shape
        padded = np.zeros((h, w + 2), np.int8)
        padded[:, 1:-1] = hole
        d = np.diff(padded, axis=1)
        (y, a), (_, b) = np.where(d == 1), np.where(d == -1)
        ok = (b - a >= least) & (a > 0) & (b < w)
        y, a, b = y[ok], a[ok], b[ok]
        return [(y[i], a[i], b[i]) for i in (bg[y, a - 1] & fg[y, b], fg[y, a - 1] & bg[y, b])]

    def votes(self, fg, bg, hole, known):
        """1 in runs of holes on the side of the person where most of them lie, if the shadow's width there is not known.

        An emitter beside the eye leaves its shadow always on the same side.  Runs of 3 and more vote with their length (30 at
        most); old votes fade by a tenth each frame; a side counts from two thirds of the votes, and of 200 at least.
        """
        runs = self.runs(fg, bg, hole, 3)
        self.sides = 0.9 * self.sides + np.array([np.minimum(b - a, 30).sum() for _, a, b in runs])
        out = np.zeros(hole.shape, np.float32)
        for votes, (y, a, b), done in zip(self.sides, runs, known):
            if votes > 0.67 * max(self.sides.sum(), 200) and not done:
                for i in range(len(y)):
                    out[y[i], a[i]:b[i]] = 1
        return out

    def shadow_width(self, z, fg, bg, hole, head):
        """1 in the part of a run next to the room that is as wide as its shadow; and which sides' widths are known."""
        out, known = np.zeros(hole.shape, np.uint8), [False, False]
        for side, (y, a, b) in enumerate(self.runs(fg, bg, hole, 2)):
            near, far = (z[y, b], z[y, a - 1]) if side == 0 else (z[y, a - 1], z[y, b])
            delta, n = 1 / np.maximum(near, 1e-3) - 1 / np.maximum(far, 1e-3), (b - a).astype(float)
            use = ~head[y, (a + b) // 2] & (delta > 0.1)                        # no hair there
            old = self.ratios[side]
            r = np.concatenate([old[old[:, 1] > 0.3] * (1, 0.8), np.stack([n[use] / delta[use], np.ones(use.sum())], 1)])[-4000:]
            self.ratios[side] = r
            if len(r) < 40:
                continue
            K = float(np.median(r[:, 0]))
            if (np.abs(r[:, 0] / K - 1) < 0.35).mean() < self.p.agree or K < 4:
                continue
            known[side] = True
            width = np.minimum(n, np.ceil(1.1 * K * delta + 1)).astype(int)
            for j in np.flatnonzero(delta > 0.05):
                s = slice(a[j], a[j] + width[j]) if side == 0 else slice(b[j] - width[j], b[j])
                out[y[j], s] = 1
        return out.astype(np.float32), known

    @staticmethod
    def surrounded(fg, bg, reach):
        """Of eight rays of length `reach`, every second sample looked at but along rows, all meet the person before the room; below the
        picture it goes on."""
        n, steps = np.zeros(fg.shape, np.uint8), max(3, int(reach))
        state = np.where(fg, 1, np.where(bg, 2, 0)).astype(np.uint8)
        h, w = fg.shape
        for dy, dx in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)):
            seen = np.zeros(fg.shape, np.uint8)
            for k in range(2, steps + 1, 2) if dy else range(1, steps + 1):
                y, x = np.clip(np.arange(h) + dy * k, 0, h - 1), np.clip(np.arange(w) + dx * k, 0, w - 1)
                seen = np.where(seen == 0, state[y][:, x], seen)
            if dy > 0:
                seen = np.where((seen == 0) & (np.arange(h) + dy * steps >= h)[:, None], 1, seen)
            n += seen == 1
        return n == 8

    # --- 2. color -----------------------------------------------------------------------------------------------

    def color_evidence(self, I, person, learnt, room, open_):
        """L = log((exp(-df / 2v) + o) / (exp(-db / 2v) + o)), d = squared distance to the nearest color, o = exp(-outlier)."""
        p, t, (h, w) = self.p, self.p.tile, open_.shape
        nf, cf, vf = self.tile_colors(I, person)
        nb, cb, vb = self.tile_colors(I, room)
        if learnt is not None and learnt.any():                                 # only for tiles that measured nothing of the person
            nl, cl, _ = self.tile_colors(I, learnt)
            none = nf < p.least
            nf, cf = np.where(none, nl, nf), np.where(none[..., None], cl, cf)
        spread = np.concatenate([vf[vf >= 0], vb[vb >= 0]])
        v = p.floor + (float(np.median(spread)) if spread.size else 3e-3) / 3
        rows, cols = nf.shape[:2]
        padded = np.zeros((rows * t, cols * t, 4), np.float32)
        padded[:h, :w, :3], padded[:h, :w, 3] = I, open_
        padded = padded.reshape(rows, t, cols, t, 4).transpose(0, 2, 1, 3, 4)
        tiles = np.where(padded[..., 3].any((2, 3)))                            # the band's tiles
        x = padded[tiles][..., :3]
        ours, theirs = (self.palettes(n, c, tiles, 3 * v) for n, c in ((nf, cf), (nb, cb)))
        df, db = self.nearest(x, *ours), self.nearest(x, *theirs)
        self.person_palette = tiles, *ours, v
        o = np.exp(-p.outlier)
        L = np.zeros((rows, cols, t, t), np.float32)
        L[tiles] = np.log((np.exp(-df / (2 * v)) + o) / (np.exp(-db / (2 * v)) + o))
        return L.transpose(0, 2, 1, 3).reshape(rows * t, cols * t)[:h, :w]

    def tile_colors(self, I, where):
        """Per tile, of the samples `where`: count (rows, cols), mean (rows, cols, 3), variance (-1 where fewer than 17 samples)."""
        t, (h, w) = self.p.tile, where.shape
        rows, cols = -(-h // t), -(-w // t)
        q = np.zeros((rows * t, cols * t, 5), np.float32)
        q[:h, :w, 0], q[:h, :w, 1:4], q[:h, :w, 4] = where, I * where[..., None], (I * I).sum(-1) * where
        total = q.reshape(rows, t, cols, t, 5).sum((1, 3))
        n = total[..., 0]
        mean = total[..., 1:4] / (n[..., None] + 1e-6)
        return n, mean, np.where(n > 16, np.maximum(total[..., 4] / (n + 1e-6) - (mean ** 2).sum(-1), 0), -1)

    def palettes(self, n, mean, tiles, apart):
        """Per listed tile: colors of the tiles around it, nearest tile first (then row by row), none within sqrt(apart) of one
        already taken.  -> colors (tiles, palette, 3), valid (tiles, palette)."""
        p, (rows, cols), (ty, tx) = self.p, n.shape[:2], tiles
        span = range(-p.rings, p.rings + 1)
        colors, usable = [], []
        for dy, dx in sorted(((i, j) for i in span for j in span), key=lambda o: o[0] ** 2 + o[1] ** 2):
            y, x = ty + dy, tx + dx
            exists = (y >= 0) & (y < rows) & (x >= 0) & (x < cols)
            y, x = np.clip(y, 0, rows - 1), np.clip(x, 0, cols - 1)
            colors.append(mean[y, x])
            usable.append(exists & (n[y, x] >= p.least))
        colors, usable, each = np.stack(colors, 1), np.stack(usable, 1), np.arange(len(ty))
        usable[:, 25:] &= ~usable[:, :25].any(1, keepdims=True)                 # the outer ring counts where the others have none
        out, valid = np.zeros((len(ty), p.palette, 3), np.float32), np.zeros((len(ty), p.palette), bool)
        for k in range(p.palette):
            i = usable.argmax(1)                                                # the first that is left
            out[:, k], valid[:, k] = colors[each, i], usable[each, i]
            usable = usable & (((colors - out[:, k][:, None]) ** 2).sum(-1) > apart)
        return out, valid

    @staticmethod
    def nearest(x, palette, valid):
        """Squared distance of samples (tiles, t, t, 3) to the nearest color of their tile's palette; 4 without one."""
        d = np.full(x.shape[:-1], 4, np.float32)
        for k in range(palette.shape[1]):
            q = ((x - palette[:, k][:, None, None]) ** 2).sum(-1)
            q[~valid[:, k]] = 4
            np.minimum(d, q, out=d)
        return d

    # --- 4. time -------------------------------------------------------------------------------------------------

    @staticmethod
    def connected(T, H, fg, doubtful, face):
        """Color alone makes no person, where a face is known: what it calls one counts where it hangs together with a measured
        sample.  Nor does it make a hole in one: what it calls room among the doubtful counts where it hangs together with other
        room."""
        if face:
            _, part = cv2.connectedComponents((T > 0).astype(np.uint8), connectivity=4)
            T = np.where((T > 0) & ~np.isin(part, np.unique(part[(T > 0) & fg])), np.minimum(H, -1), T)
        _, part = cv2.connectedComponents((T <= 0).astype(np.uint8), connectivity=4)
        T = np.where((T <= 0) & doubtful & ~np.isin(part, np.unique(part[(T <= 0) & ~doubtful])), -T, T)
        return T.astype(np.float32)

    def continues(self, I):
        """Measures the noise.  False where most of the picture changed by more than four times it: a cut."""
        n = 1.05 * float(np.median(np.abs(I - self.I)[::16, ::4, 0]))          # of a Gaussian's difference: 1.48 / sqrt 2; some are enough
        most = self.p.cut * max(self.noise, 0.002)
        first = self.noise == 0
        self.noise = n if first else 0.8 * self.noise + 0.2 * min(n, most)
        return first or n <= most

    def standing_still(self, I, T):
        """Share of the last frame to keep: `settle` where the guide changed no more than its noise, 0 where it moved, or where
        depth moved under a picture that looks alike."""
        p = self.p
        change = ((cv2.blur(I, (3, 3)) - cv2.blur(self.I, (3, 3))) ** 2).sum(-1)
        moved = np.clip(change / (p.still * max(self.noise, 0.002) ** 2) - 0.1, 0, 1)
        moved[(self.T * T < 0) & (np.abs(T) > p.sure)] = 1
        return (p.settle * (1 - moved)).astype(np.float32)

    # --- 5. drawing ----------------------------------------------------------------------------------------------

    def draw(self, full, I, P, size, scale):
        p, k = self.p, self.p.subsample
        small = (max(1, I.shape[1] // k), max(1, I.shape[0] // k))
        cells = [cv2.resize(x, small, interpolation=cv2.INTER_AREA) for x in (I, P)]
        a, b = self.guided(*cells, max(1, round(p.radius * scale / k)))
        q = (enlarge(a, size) * full).sum(-1) + enlarge(b, size)
        if p.smooth:
            # three pixels of a Gaussian, more of it where the video has grain
            sigma = p.smooth + min(0.4, max(0.0, 0.2 * (255 * self.noise - 1.5)))
            side = min(0.16637 * (sigma / 0.6) ** 2, 1 / 3)
            q = cv2.sepFilter2D(q, -1, np.float32([side, 1 - 2 * side, side]), np.float32([side, 1 - 2 * side, side]))
        q = (q - 0.5) * p.slope + 0.5
        ring = disc(max(1, int(p.radius * scale) // 2))                         # away from any edge nothing is drawn: exactly 1 or 0
        q[enlarge(cv2.erode((P > 0.98).astype(np.float32), ring), size) > 0.99] = 1
        q[enlarge(cv2.erode((P < 0.02).astype(np.float32), ring), size) > 0.99] = 0
        return np.clip(q, 0, 1)

    def guided(self, I, P, r):
        """Least squares P ~ a . I + b in every window: a = (cov(I) + eps)^-1 cov(I, P), b = mean(P) - a . mean(I); then box means of both."""
        m, mp = [box(np.ascontiguousarray(I[..., i]), r) for i in range(3)], box(P, r)
        c = [box(I[..., i] * P, r) - m[i] * mp for i in range(3)]
        e = self.p.eps
        (s00, s01, s02), (s11, s12), (s22,) = ([box(I[..., i] * I[..., j], r) - m[i] * m[j] + (e if i == j else 0) for j in range(i, 3)] for i in range(3))
        k00, k01, k02 = s11 * s22 - s12 * s12, s02 * s12 - s01 * s22, s01 * s12 - s02 * s11          # cofactors of the 3x3 matrix
        k11, k12, k22 = s00 * s22 - s02 * s02, s01 * s02 - s00 * s12, s00 * s11 - s01 * s01
        det = s00 * k00 + s01 * k01 + s02 * k02
        a0, a1, a2 = k00 * c[0] + k01 * c[1] + k02 * c[2], k01 * c[0] + k11 * c[1] + k12 * c[2], k02 * c[0] + k12 * c[1] + k22 * c[2]
        a = np.stack([a0, a1, a2], -1) / det[..., None]
        b = mp - sum(a[..., i] * m[i] for i in range(3))
        return box(a, r), box(b, r)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--video", nargs="+", required=True)
    p.add_argument("--depth", nargs="+", required=True)
    p.add_argument("--face", help="x,y,w,h in video pixels")
    p.add_argument("--cutoff", type=float, default=1.0, help="metres, without --face or where the face has no valid depth")
    p.add_argument("--margin", type=float, default=0.25)
    p.add_argument("--unit", type=float, default=0.001)
    p.add_argument("--disparity", action="store_true")
    p.add_argument("--out", required=True, help="alpha, 8 bit; %%d is the frame's number")
    a = p.parse_args()
    if len(a.video) != len(a.depth):
        sys.exit("as many --depth as --video, please")
    face, matte, cutoff = tuple(float(v) for v in a.face.split(",")) if a.face else None, QualityMatte(), a.cutoff
    for i, (v, d) in enumerate(zip(a.video, a.depth)):
        video, depth = cv2.imread(v, cv2.IMREAD_COLOR), cv2.imread(d, cv2.IMREAD_UNCHANGED)
        if video is None or depth is None or depth.ndim != 2:
            sys.exit(f"{v}, {d}: not a picture and a depth map")
        z = metres(depth, a.unit, a.disparity).astype(np.float32)
        near = face_depth(z, video.shape[1::-1], face) if face else None
        cutoff = near + a.margin if near is not None else cutoff
        alpha = np.rint(matte.step(video, z, face, cutoff) * 255).astype(np.uint8)
        cv2.imwrite(a.out % i if "%" in a.out else a.out, alpha)
        print(f"{v}: cutoff {cutoff:.4f} m, foreground {100 * (alpha >= 128).mean():.2f} %")


if __name__ == "__main__":
    main()
