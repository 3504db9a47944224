"""Reference of the fusion's subject stage, in NumPy and OpenCV: whose the samples in front of the cutoff are.

    Subject().find(z, cutoff, faces, focal) -> Result or None

Pictures are (h, w) arrays of samples: `z` float32 metres, 0 = not measured; masks are bool. A `Face` is in samples of the grid. `focal`
is the focal length in samples. The stages are those of Sources/DepthKernels/Matte/Fusion, a function or a class each: `FloorPlanes`,
`Pieces` (DepthPieces), `Bodies` and `Subject` (Subject), `divide` (RoughSamples), `SideMemory`; `continue_bands` is DepthBand. Rules and
numbers are theirs; what is rounded another way may differ by a sample here and there. No random numbers.
"""
from dataclasses import dataclass

import cv2
import numpy as np

SQUARE, CROSS = np.ones((3, 3), np.uint8), cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))


@dataclass
class Face:
    """Of the anchored person, or of a neighbour. Edges in samples, distance in metres."""

    left: float
    right: float
    top: float
    bottom: float
    distance: float
    is_subject: bool = True

    @property
    def axis(self):
        return (self.left + self.right) / 2

    @property
    def width(self):
        return self.right - self.left

    @property
    def height(self):
        return self.bottom - self.top


@dataclass
class Result:
    """Samples of the person, some of them not measured; of others and the floor. What is in neither is nobody's: a hole."""

    person: np.ndarray
    others: np.ndarray
    distance: float | None  # metres, the mean of the person's bodies


def columns(width, left, right):
    """(w,) bool: the columns whose middles lie between two edges."""
    return (np.arange(width) >= np.floor(left + 0.5)) & (np.arange(width) < np.floor(right + 0.5))


def span(left, right, width):
    """(w,) bool: the columns that two edges touch."""
    return (np.arange(width) >= np.floor(left)) & (np.arange(width) < np.ceil(right))


def same_distance(one, other):
    """Metres that differ by no more than a head is deep, or the sensor's noise."""
    return np.abs(one - other) <= 0.1 + 0.02 * other * other


def last_true(mask):
    """Column of the last True before each sample of a row; -1 without one."""
    at = np.maximum.accumulate(np.where(mask, np.arange(mask.shape[1]), -1), 1)
    return np.pad(at[:, :-1], ((0, 0), (1, 0)), constant_values=-1)


def components(mask, first):
    """(h, w) int32: 4-connected parts, numbered from `first` on in the order of their first samples; 0 outside."""
    _, part = cv2.connectedComponents(mask.astype(np.uint8), connectivity=4)
    found, at = np.unique(part, return_index=True)
    new = np.zeros(part.max() + 1, np.int32)
    order = found[np.argsort(at)]
    order = order[order > 0]
    new[order] = first + np.arange(len(order))
    return new[part]


# --- bands without depth ------------------------------------------------------------------------------------------


def continue_bands(z):
    """z -> z continued over the bands along the border that no sample of a registered map reaches; (h, w, 4) lines that a sample
    lies in the band at the top, right, bottom and left, counted from the band's edge; 0 outside."""
    z, into = z.copy(), np.zeros((*z.shape, 4), np.int32)
    for turn in range(4):                                                       # np.rot90 brings top, right, bottom, left to the top
        q = np.rot90(z, turn)
        share = (q > 0).mean(1)
        most = int(0.15 * len(q))
        reached = np.flatnonzero(share[:most + 1] >= 0.02)
        if len(q) <= most + 24 or not len(reached) or reached[0] == 0:
            continue
        first = reached[0]
        # Where depth ends little by little, as at an outline or a room out of range, there is no band.
        if share[first + 8] < max(0.1, 0.7 * share[first + 24]):
            continue
        source = np.zeros(q.shape[1], np.float32)
        for line in range(4):                                                   # the first line that is measured is the noisiest
            source = np.where(q[first + line] > 0, q[first + line], source)
        q[:first] = np.where(source > 0, source, q[:first])
        np.rot90(into[..., turn], turn)[:first] = np.arange(first, 0, -1)[:, None]
    return z, into


def along_bands(other, into, reach):
    """Samples of bands that are within `reach` samples, and as many as they lie in the band, of `other` along the band."""
    out = np.zeros(other.shape, bool)
    for turn in range(4):
        lines, o, near = np.rot90(into[..., turn], turn), np.rot90(other, turn), np.rot90(out, turn)
        n = int(np.count_nonzero(lines[:, 0]))
        at, limit = np.arange(o.shape[1]), reach + lines[:n]
        for flip in (slice(None), slice(None, None, -1)):
            last = np.maximum.accumulate(np.where(o[:n, flip], at, -10 ** 6), 1)
            near[:n, flip] |= at - last <= limit
    return out


# --- the floor ----------------------------------------------------------------------------------------------------


class FloorPlanes:
    """Horizontal planes 1/z = a x + b y + c, x and y in samples from the middle of the grid."""

    LEAST_TILES = 8

    def __init__(self, z, farthest, spared, focal):
        """Reads the tiles that lie on a horizontal plane; arrays of their number, row by row."""
        self.focal, self.shape = focal, z.shape
        h, w = z.shape
        self.size = size = 16 if w >= 480 else 8
        step = size // 8
        rows, cols = h // size, w // size
        # (rows, cols, 8, 8): 64 samples of each tile
        tiles = z[:rows * size, :cols * size].reshape(rows, size, cols, size)[:, ::step, :, ::step].transpose(0, 2, 1, 3)
        ok = (tiles > 0) & (tiles < np.float32(farthest))
        v = np.where(ok, 1 / np.where(ok, tiles, 1), 0).astype(np.float64)
        at = np.arange(8) - 3.5
        x, y = at, at[:, None]
        n = ok.sum((2, 3))
        count = np.maximum(n, 1)
        mean = lambda q: q.sum((2, 3)) / count
        mx, my, mv = mean(ok * x), mean(ok * y), mean(v)
        xx, xy, yy = mean(ok * x * x) - mx * mx, mean(ok * (x * y)) - mx * my, mean(ok * y * y) - my * my
        xv, yv = mean(v * x) - mx * mv, mean(v * y) - my * mv
        det = xx * yy - xy * xy
        flat = (n >= 16) & (det > 0.01) & ~spared[size // 2::size, size // 2::size][:rows, :cols]
        det = np.where(flat, det, 1)
        a, b = (xv * yy - yv * xy) / det, (yv * xx - xv * xy) / det
        middle = mv - a * mx - b * my
        residual = np.sqrt(np.maximum(mean(v * v) - mv * mv - a * xv - b * yv, 0))
        a, b = a / step, b / step
        px = (np.arange(cols) * size + 3.5 * step - w / 2)[None] + 0 * a
        py = (np.arange(rows) * size + 3.5 * step - h / 2)[:, None] + 0 * a
        planes = np.stack([a, b, middle - a * px - b * py], -1)
        flat &= (middle > 0) & (residual < 0.006 + 0.01 * middle) & self.is_horizontal(planes)
        self.row, self.column = np.nonzero(flat)
        self.x, self.y, self.mean, self.residual, self.planes = px[flat], py[flat], middle[flat], residual[flat], planes[flat]

    def keep(self, which):
        for name in ("row", "column", "x", "y", "mean", "residual", "planes"):
            setattr(self, name, getattr(self, name)[which])

    def is_horizontal(self, planes):
        """Those whose normal points down by 0.7 of its length at least."""
        across, down, c = planes[..., 0] * self.focal, planes[..., 1] * self.focal, planes[..., 2]
        return (down > 0) & (down * down >= 0.7 * 0.7 * (across * across + down * down + c * c))

    def deviation(self, plane):
        """Of the tiles from a plane, as a share of their inverse depth."""
        return np.abs(self.mean - (plane[0] * self.x + plane[1] * self.y + plane[2])) / self.mean

    def fitted(self, plane, limit):
        """Least squares of the relative deviation over the tiles near a plane; None where they determine none."""
        near = None if plane is None else self.deviation(plane) < limit
        if near is None or near.sum() < self.LEAST_TILES:
            return None
        g = np.stack([self.x, self.y, np.ones(len(self.x))], -1)[near] / self.mean[near, None]
        normal = g.T @ g
        xx, yy, cc = np.diag(normal)
        if not np.linalg.det(normal) > 1e-9 * xx * yy * cc:
            return None
        return np.linalg.solve(normal, g.sum(0))

    def largest(self):
        """The plane of most tiles: (plane, tolerance as a share, width in metres, its tiles); None without one."""
        if len(self.x) < self.LEAST_TILES:
            return None
        best, most = None, 0
        for proposal in self.planes[::max(len(self.x) // 12, 1)]:
            plane = self.fitted(proposal, 0.06)
            count = 0 if plane is None else (self.deviation(plane) < 0.03).sum()
            if count > most:
                best, most = plane, count
        plane = self.fitted(self.fitted(best, 0.03), 0.02)
        if plane is None or not self.is_horizontal(plane):
            return None
        off = self.deviation(plane)
        taken = off < 0.02
        if taken.sum() < self.LEAST_TILES:
            return None
        spread = np.sqrt(((self.residual[taken] / self.mean[taken]) ** 2 + off[taken] ** 2).mean())
        place = self.x[taken] / (self.focal * self.mean[taken])
        return plane, min(4 * spread, 0.03), np.ptp(place), taken

    def samples(self, z, plane, tolerance, taken, past):
        """Samples on a plane, in blocks of 16 within two tiles of one of its tiles; the person's of the last frame less easily."""
        h, w = self.shape
        size, blocks = self.size, -(-w // 16)
        marks = np.zeros((-(-h // size), blocks), bool)
        for row, column in zip(self.row[taken], self.column[taken]):
            left, right = max(column - 2, 0) * size // 16, min(((column + 3) * size - 1) // 16, blocks - 1)
            marks[max(row - 2, 0):row + 3, left:right + 1] = True
        marks = np.repeat(np.repeat(marks, size, 0)[:h], 16, 1)[:, :w]
        inverse = plane[0] * (np.arange(w) - w / 2) + plane[1] * (np.arange(h) - h / 2)[:, None] + plane[2]
        share, tolerance = np.abs(1 - z * inverse.astype(np.float32)), np.float32(tolerance)
        return marks & ((share <= np.float32(0.67) * tolerance) | ((share < tolerance) & ~past))


def find_floor(z, farthest, past, spared, face, focal):
    """Mask of the floor: the largest of three planes that is wide enough and low enough under (x, y, metres)."""
    planes = FloorPlanes(z, farthest, spared, focal)
    h, w = z.shape
    for _ in range(3):
        found = planes.largest()
        if found is None:
            break
        plane, tolerance, width, taken = found
        x, y, metres = face
        drop = ((1 / metres - plane[2] - plane[0] * (x - w / 2)) / plane[1] - (y - h / 2)) * metres / focal
        if width >= 0.6 and drop >= 0.85:
            return planes.samples(z, plane, tolerance, taken, past) & ~spared & (z > 0)
        planes.keep(~taken)
    return np.zeros(z.shape, bool)


# --- pieces -------------------------------------------------------------------------------------------------------


class Pieces:
    """Smooth surfaces of the map, and the borders at which they meet.

    labels (h, w), 0 = none; arrays by label: count, sum (metres), distance (metres). Arrays by border, in the order in which they
    begin: one < other, length and smooth (samples), steps (metres, summed: above 0 where the second is farther away).
    """

    def __init__(self, z, members, barrier, focal, distance):
        per_metre = focal / max(distance, 1e-3)
        smooth = self.smooth(z, members, focal)
        radius = int(np.clip(np.rint(0.012 / 2 * per_metre), 1, 4))
        self.labels = self.label(smooth, radius)
        n = self.labels.max() + 1
        self.count = np.bincount(self.labels.ravel(), minlength=n)
        self.sum = np.bincount(self.labels.ravel(), z.ravel(), minlength=n)
        self.count[0], self.sum[0] = 0, 0
        self.distance = self.sum / np.maximum(self.count, 1)
        far = self.distance.astype(np.float32)
        self.limit = np.float32(0.02) + np.float32(0.008) * far * far
        self.find_borders(z, barrier, int(np.clip(np.floor(0.05 * per_metre), 3, 64)))

    @staticmethod
    def smooth(z, members, focal):
        """Members about which the depths of all members differ by no more than noise and slope explain."""
        high = cv2.dilate(np.where(members, z, 0).astype(np.float32), SQUARE)
        low = cv2.erode(np.where(members, z, 1e6).astype(np.float32), SQUARE)
        limit = z * (z * np.float32(0.006) + np.float32(6) * np.float32(1 / focal)) + np.float32(0.012)
        return members & (high - low - limit < 0)

    @staticmethod
    def label(smooth, radius):
        """Parts that no bridge of 2 · radius samples joins, grown back; of 12 samples at least, numbered from 1 on."""
        core = cv2.erode(smooth.astype(np.uint8), np.ones((2 * radius + 1,) * 2, np.uint8), borderValue=1) > 0
        labels = components(core, 1).astype(np.float32)
        for _ in range(2 * radius + 2):
            labels = np.where(smooth & (labels == 0), cv2.dilate(labels, CROSS), labels)
        labels = labels.astype(np.int32)
        # What the erosion took whole is pieces of its own.
        labels += components(smooth & (labels == 0), labels.max() + 1)
        kept = np.bincount(labels.ravel()) >= 12
        kept[0] = False
        return np.where(kept, np.cumsum(kept), 0).astype(np.int32)[labels]

    def find_borders(self, z, barrier, reach):
        """Along rows and columns, across gaps of up to `reach` samples without a barrier."""
        h, w = z.shape
        found = []                                                              # columns: label before, label, step, order
        for is_column in (False, True):
            lab, depth, wall = (q.T if is_column else q for q in (self.labels, z, barrier))
            a, b = last_true(lab > 0), last_true(wall)
            before = np.take_along_axis(lab, np.maximum(a, 0), 1)
            y, x = np.nonzero((lab > 0) & (a >= 0) & (before != lab) & (np.arange(lab.shape[1]) - a <= reach) & (b < a))
            step = depth[y, x] - depth[y, a[y, x]]
            place = (x * w + y if is_column else y * w + x) * 2 + is_column
            found.append((before[y, x], lab[y, x], step, place))
        first, second, step, place = (np.concatenate(q) for q in zip(*found))
        one, other = np.minimum(first, second).astype(np.int64), np.maximum(first, second)
        order = np.argsort(place)
        one, other, step = one[order], other[order], np.where(first < second, step, -step)[order]
        keys, at, of = np.unique(one * len(self.count) + other, return_index=True, return_inverse=True)
        rank = np.argsort(at)                                                   # those that begin first
        self.one, self.other = keys[rank] // len(self.count), keys[rank] % len(self.count)
        is_smooth = np.abs(step) <= np.minimum(self.limit[one], self.limit[other])
        self.length, self.smooth_length, self.steps = (
            np.bincount(of, weights, minlength=len(keys))[rank] for weights in (None, is_smooth, step))


# --- bodies -------------------------------------------------------------------------------------------------------


class SideMemory:
    """The sides of the samples when they were last measured, so that bodies do not come and go with noise."""

    def __init__(self):
        self.person = None

    def recall(self, z):
        """Masks of what was the person's and others', where depth is as it was; the frames for which bodies were doubted."""
        if self.person is None:
            return np.zeros(z.shape, bool), np.zeros(z.shape, bool), np.zeros(z.shape)
        same = (z > 0) & (np.abs(z - self.z) - (z * z * np.float32(0.008) + np.float32(0.02)) <= 0)
        return same & self.person, same & self.others, self.doubt

    def remember(self, z, far, person, others, doubt):
        hole = z <= 0
        if self.person is None:
            self.person, self.others, self.z = np.zeros(z.shape, bool), np.zeros(z.shape, bool), np.zeros_like(z)
        self.others = ((self.others & hole) | others | far) & ~person
        self.person = (self.person & hole) | person
        self.z, self.doubt = np.where(hole, self.z, z), doubt


class Bodies:
    """The bodies of a frame: arrays by the label of the piece, of which those at the first piece of a body count (`is_body`)."""

    def __init__(self, pieces, z, faces, past, memory, focal, distance):
        self.pieces, self.focal, self.distance, self.faces = pieces, focal, distance, faces
        self.shape = h, w = z.shape
        labels, n = pieces.labels, len(pieces.count)
        self.count, self.sum = pieces.count.copy(), pieces.sum.copy()
        on = labels > 0
        counted = lambda mask: np.bincount(labels[mask & on], minlength=n)
        y, x = np.nonzero(on)
        self.left, self.right = np.full(n, 1 << 30), np.zeros(n, int)
        np.minimum.at(self.left, labels[y, x], x)
        np.maximum.at(self.right, labels[y, x], x + 1)
        self.is_at_bottom = np.bincount(labels[max(h - 4, 0):].ravel(), minlength=n) > 0
        self.past = counted(past)
        was_person, was_others, doubt = memory
        self.doubt = np.bincount(labels[on], doubt[on], minlength=n)
        one, other = counted(was_person), counted(was_others)
        known = one + other >= 0.3 * self.count
        self.side = np.where(known & (one > 2 * other), 1, np.where(known & (other > 2 * one), -1, 0))
        self.find_faces(z, counted)
        self.solid = self.area() >= 0.002
        self.join()

    def find_faces(self, z, counted):
        """Samples in the middle of the person's faces, in the chest and in the trunk below them; the neighbours' faces."""
        (h, w), n = self.shape, len(self.count)
        self.seeds, self.chest, self.trunk, self.above = (np.zeros(n, int) for _ in range(4))
        self.rivals = np.zeros((n, len(self.faces)), bool)
        middle = np.arange(h)[:, None] + 0.5
        for number, face in enumerate(self.faces):
            if face.is_subject:
                half = 0.17 * self.focal / max(face.distance, 1e-3)
                self.trunk += counted((middle > face.bottom) & columns(w, face.axis - half, face.axis + half))
                self.above += counted((middle <= face.bottom) & columns(w, 0, w))
                is_chest = (middle > face.bottom + 0.3 * face.height) & (middle < face.bottom + 2 * face.height)
                half = 0.6 * face.width
                self.chest += counted(is_chest & columns(w, face.axis - half, face.axis + half))
            inside = (middle > face.top + face.height / 4) & (middle < face.bottom - face.height / 4)
            inside = inside & columns(w, face.axis - face.width / 4, face.axis + face.width / 4)
            # A run counts where the depth in its middle is the face's.
            for label, y, start, end in zip(*runs(np.where(inside, self.pieces.labels, 0))):
                if same_distance(float(z[y, (start + end) // 2]), face.distance):
                    if face.is_subject:
                        self.seeds[label] += end - start
                    else:
                        self.rivals[label, number] = True

    def area(self):
        """Square metres."""
        side = self.sum / np.maximum(self.count, 1) / self.focal
        return self.count * side * side

    def join(self):
        """Joins pieces to bodies, those with the longest border without a step first, none that were on different sides."""
        p = self.pieces
        length = np.maximum(4, 0.15 * np.sqrt(self.count))
        joins = (p.smooth_length >= 4) & (p.smooth_length >= 0.5 * p.length) & self.solid[p.one] & self.solid[p.other]
        joins &= p.smooth_length >= np.minimum(length[p.one], length[p.other])
        parent = np.arange(len(self.count))

        def root(piece):
            while parent[piece] != piece:
                piece = parent[piece]
            return piece

        joined = np.flatnonzero(joins)
        for border in joined[np.argsort(-p.smooth_length[joined], kind="stable")]:
            one, other = sorted((root(p.one[border]), root(p.other[border])))
            if one != other and self.side[one] * self.side[other] >= 0:
                parent[other] = one
                self.side[one] = self.side[one] or self.side[other]
        self.body = body = np.array([root(piece) for piece in parent])
        self.is_body = (body == np.arange(len(body))) & (body > 0)
        for name in ("count", "sum", "past", "seeds", "chest", "trunk", "above", "doubt"):
            setattr(self, name, np.bincount(body, getattr(self, name), minlength=len(body)))
        left, right, rivals, at_bottom = self.left.copy(), self.right.copy(), self.rivals.copy(), self.is_at_bottom.copy()
        np.minimum.at(left, body, self.left)
        np.maximum.at(right, body, self.right)
        np.logical_or.at(rivals, body, self.rivals)
        np.logical_or.at(at_bottom, body, self.is_at_bottom)
        self.left, self.right, self.rivals, self.is_at_bottom = left, right, rivals, at_bottom
        self.z = self.sum / np.maximum(self.count, 1)
        self.size, self.long = self.area(), np.maximum(4, 0.15 * np.sqrt(self.count))

    def choose(self, has_faces, past_count):
        """Marks the bodies that are the person for themselves; without a face those that were the person in the last frame."""
        if has_faces:
            seeds, chest = self.seeds[self.is_body].sum(), self.chest[self.is_body].sum()
            is_face = (self.seeds > 0) & (self.seeds * 10 >= seeds)
            is_chest = (self.chest > 0.3 * max(chest, 1)) & (self.z > self.distance - 0.5) & (self.z < self.distance + 0.15)
            self.is_subject = self.is_body & (is_face | is_chest)
            if self.is_subject.any():
                return
        was = (self.past * 4 >= max(past_count, 1)) | ((self.past * 2 >= self.count) & (self.count >= 16))
        self.is_subject = self.is_body & was

    def add(self):
        """Adds bodies that belong to the person by where they touch; False where there are none."""
        p, n, d = self.pieces, len(self.count), self.distance
        farthest = 0.20 + 0.01 * d * d - 0.05 * (self.above * 2 > self.count)
        is_small = self.z - d < farthest - 4.0 * self.size
        one, other = self.body[p.one], self.body[p.other]
        mixed = (one != other) & (self.is_subject[one] != self.is_subject[other])
        mixed &= np.abs(p.steps) <= 0.8 * p.length
        outside = np.where(self.is_subject[one], other, one)[mixed]
        self.touching = np.bincount(outside, p.length[mixed], minlength=n)
        joined = np.bincount(outside, p.smooth_length[mixed], minlength=n)
        foreign = (one != other) & ~self.is_subject[one] & ~self.is_subject[other]
        elsewhere = np.zeros(n)
        for piece, body, rest in ((p.one, one, other), (p.other, other, one)):
            big = foreign & self.solid[piece] & ~is_small[body]
            elsewhere += np.bincount(rest[big], p.smooth_length[big], minlength=n)

        open_ = self.is_body & ~self.is_subject & ~self.rivals.any(1) & (self.z > d - 0.8)
        touches = self.touching > 0
        is_joined = touches & (joined >= 0.5 * self.touching) & (joined >= self.long) & (joined >= elsewhere)
        is_below = self.trunk * 2 > self.count
        is_speck = is_below & (self.size < 0.01) & same_distance(self.z, d)
        is_trunk = is_below & touches & (self.z < d + 0.1)
        is_loose = self.is_loose() & (self.z < d + 0.1)
        is_free = elsewhere < self.long
        fresh = open_ & (is_joined | is_trunk | is_speck | (is_free & (is_loose | (touches & is_small))))
        self.is_subject |= fresh
        return bool(fresh.any())

    def is_loose(self):
        """Bodies as small as an arm that come in where an arm does: from the picture's border beside the person."""
        h, w = self.shape
        at_side = (self.left < 4) | (self.right > w - 4)
        per_metre = self.focal / np.maximum(self.z, 1e-9)
        beside = np.zeros(len(self.count), bool)
        middle = (self.left + self.right) / 2
        neighbours = [np.abs(middle - face.axis) for face in self.faces if not face.is_subject]
        for face in self.faces:
            if face.is_subject:
                near = np.abs(middle - face.axis) <= np.minimum(0.6 * per_metre, np.min(neighbours or [[np.inf]], axis=0))
                beside |= near & (at_side | (h < face.bottom + 0.7 * per_metre))
        return (at_side | self.is_at_bottom) & (self.size < 0.06) & beside

    def keep_sides(self):
        """Keeps bodies on the side where they were, until the fourth frame in a row says otherwise -> (h, w) doubts."""
        doubt = self.doubt / np.maximum(self.count, 1)
        is_sure = self.is_subject & (self.seeds * 10 > self.seeds[self.is_body].sum() * 3)
        kept = self.is_body & (self.side != 0) & (self.is_subject != (self.side > 0)) & ~is_sure & (doubt + 1 < 4)
        self.is_subject ^= kept
        return np.where(kept, doubt + 1, 0)[self.body].astype(np.float32)[self.pieces.labels]

    def write(self):
        """Masks of the person and of others, and the person's mean distance."""
        labels = self.pieces.labels
        person = self.is_subject[self.body][labels]
        stray = (self.touching == 0) & (self.size < 0.001) & ~self.is_subject
        others = (labels > 0) & ~stray[self.body][labels]
        count, total = self.count[self.is_subject].sum(), self.sum[self.is_subject].sum()
        # A body of several people is split halfway between their faces.
        for number in np.flatnonzero(self.rivals[self.is_subject].any(0)):
            rival = self.faces[number]
            nearest = min((f for f in self.faces if f.is_subject), key=lambda f: abs(f.axis - rival.axis))
            is_left = np.arange(labels.shape[1]) < np.floor((nearest.axis + rival.axis) / 2)
            person = person & (is_left if rival.axis > nearest.axis else ~is_left)
        return person, others & ~person, float(total / count) if count > 0 and total > 0 else None


def runs(labels):
    """Runs of one label along rows: arrays label, row, start, end."""
    padded = np.pad(labels, ((0, 0), (1, 1)))
    change = padded[:, 1:] != padded[:, :-1]
    y, start = np.nonzero(change & (padded[:, 1:] > 0))
    _, end = np.nonzero(change & (padded[:, :-1] > 0))
    return labels[y, start], y, start, end


# --- samples without a piece --------------------------------------------------------------------------------------


def nearest_along_axes(mask, z):
    """Samples to the nearest sample of a mask to the left, above, to the right and below, in this order, and its depth."""
    best, depth = np.full(z.shape, 1 << 30), np.zeros_like(z)
    for turn in range(4):                                                       # np.rot90 brings them to the left one by one
        m, q = np.rot90(mask, turn), np.rot90(z, turn)
        at = last_true(m)
        far = np.rot90(np.where(at >= 0, np.arange(m.shape[1]) - at, 1 << 30), -turn)
        found = np.rot90(np.take_along_axis(q, np.maximum(at, 0), 1), -turn)
        nearer = far < best
        best, depth = np.where(nearer, far, best), np.where(nearer, found, depth)
    return best, depth


def divide(rough, z, person, others, per_metre):
    """Gives samples beside steps to the side with a near sample of the more alike depth -> masks of both sides."""
    (far, depth), (far_others, depth_others) = nearest_along_axes(person, z), nearest_along_axes(others, z)
    is_near = far <= max(1, int(0.25 * per_metre))
    is_near_others = far_others <= max(1, int(0.06 * per_metre))
    mine = rough & is_near & (~is_near_others | (np.abs(z - depth) <= np.abs(z - depth_others)))
    return person | mine, others | (rough & ~mine & is_near_others)


def add_feet(person, floor, z, focal):
    """Adds what is between the person and the floor below them, at the same distance."""
    h, w = z.shape
    out = person.copy()
    bottom = person & ~np.pad(person[1:], ((0, 1), (0, 0)), constant_values=True)
    for y, x in zip(*np.nonzero(bottom)):
        here = z[y, x]
        reach = h - 2 - y if here <= 0 else int(np.clip(np.floor(0.5 * focal / float(here)), 0, h - 2 - y))
        noise = np.float32(0.01) + np.float32(0.003) * here * here
        row = y + 1
        while row < y + 1 + reach and (not z[row, x] > 0 or (abs(z[row, x] - here) <= noise and floor[row, x])):
            row += 1
        if floor[row, x] and here - np.float32(0.3) < z[row, x] < here + noise:
            out[y + 1:row, x] = True
    return out


# --- the stage ----------------------------------------------------------------------------------------------------


class Subject:
    def __init__(self):
        self.reset()

    def reset(self):
        """Forgets the person."""
        self.faces, self.past, self.memory = [], None, SideMemory()

    def find(self, z, cutoff, faces, focal):
        """None where everything in front of the cutoff (metres) is the person: while no face was ever seen."""
        if faces:
            self.faces = faces
        if not self.faces:
            return None
        (h, w), mine = z.shape, [face for face in self.faces if face.is_subject]
        near, far = (z > 0) & (z <= cutoff), z > cutoff
        past = np.zeros(z.shape, bool) if self.past is None else self.past
        distance = max(face.distance for face in mine)
        per_metre = focal / max(distance, 1e-3)

        # Shoulders seen from above slope as a floor does.
        spared, allowed = np.zeros(z.shape, bool), np.zeros(w, bool)
        for face in mine:
            metre = focal / max(face.distance, 1e-3)
            spared[:int(np.clip(np.ceil(face.bottom + 1.5 * face.height), 0, h))] |= span(
                face.axis - 0.27 * metre, face.axis + 0.27 * metre, w)
            allowed |= span(face.axis - 1.2 * metre, face.axis + 1.2 * metre, w)
        below = (mine[0].axis, (mine[0].top + mine[0].bottom) / 2, mine[0].distance)
        floor = find_floor(z, 1.5 * cutoff, past, spared, below, focal)

        members = near & ~floor & allowed
        pieces = Pieces(z, members, far, focal, distance)
        bodies = Bodies(pieces, z, self.faces, past, self.memory.recall(z), focal, distance)
        bodies.choose(bool(faces) or not past.any(), past.sum())
        for _ in range(5):
            if not bodies.add():
                break
        doubt = bodies.keep_sides()
        person, others, mean = bodies.write()
        rough = members & ~(person | others)
        person, others = divide(rough, z, person, others | floor, per_metre)

        specks = members & ~(person | others)
        for face in mine:
            half = 0.17 * focal / max(face.distance, 1e-3)
            low = (np.arange(h) >= max(np.floor(face.bottom), 0))[:, None] & columns(w, face.axis - half, face.axis + half)
            person = person | (specks & low & same_distance(z.astype(np.float64), face.distance))
        person = add_feet(person, floor, z, focal)
        self.memory.remember(z, far, person, others, doubt)
        self.past = person
        self.pieces, self.bodies, self.floor = pieces, bodies, floor            # for tests that look at them one by one
        return Result(person, others & ~person, mean)
