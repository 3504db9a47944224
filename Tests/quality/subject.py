"""Reference of the fusion's subject stage, in NumPy and OpenCV: whose the samples in front of the cutoff are.

    Subject().find(z, colors, cutoff, faces, focal, surfaces) -> Result or None

Pictures are (h, w) arrays of samples: `z` float32 metres, 0 = not measured; `colors` (h, w, 3) Y'UV; masks are bool. A `Face` is in
samples of the grid. `focal` is the focal length in samples. The stages are those of Sources/DepthKernels/Matte/Fusion, a function or a
class each: `SurfaceCells`, `RoomPlanes`, `CellWays`, `CellOwners`, `Pieces` (DepthPieces), `Bodies` and `Subject` (Subject), `divide`
(RoughSamples), `SideMemory`; `continue_bands` is DepthBand. Rules and numbers are theirs; what is rounded another way may differ by a
sample here and there. No random numbers.
"""
from dataclasses import dataclass, replace

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
    missed: int = 0  # frames for which it was not found

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
    """Samples of the person, some of them not measured; of others and the room. What is in neither is nobody's: a hole."""

    person: np.ndarray
    others: np.ndarray
    distance: float | None  # metres, the mean of the person's bodies
    beyond: np.ndarray  # samples behind the cutoff that count as before it


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


# --- whose a surface is -------------------------------------------------------------------------------------------


class SurfaceCells:
    """The nearest surface of the map on square cells: (h, w) arrays depth, normal (3), length, area, flat and color (3)."""

    def __init__(self, z, colors, farthest, focal):
        h, w = z.shape
        self.side = side = 4 if max(h, w) > 480 else 2
        self.shape = rows, cols = h // side, w // side
        self.pitch, q = side / focal, self.blocks(z)
        second = np.partition(np.where(q > 0, q, np.inf), 1, 2)[..., 1]
        on = (q > 0) & (q <= (second + 0.04 + 0.01 * second * second)[..., None])
        count, mean = on.sum(2), (q * on).sum(2) / np.maximum(on.sum(2), 1)
        self.depth = np.where((count >= 0.3 * side * side) & (mean < farthest), mean, 0).astype(np.float64)
        for lines in (self.depth, self.depth.T):
            for line in lines:
                self.close_gaps(line)
        self.color = np.stack([self.blocks(colors[..., i]).mean(2) for i in range(3)], -1)
        self.find_normals(*np.meshgrid(*(((side - 1 - n) / 2 + side * np.arange(m)) / focal for n, m in ((w, cols), (h, rows)))))

    def close_gaps(self, line):
        """Continues a surface over 0.05 m at most of a line of cells that were not measured."""
        at = np.flatnonzero(line)
        for a, b in zip(at, at[1:]):
            if 1 < b - a <= 1 + 0.05 / (self.pitch * line[b]) and abs(line[b] - line[a]) < 0.02 + 0.008 * line[b] ** 2:
                line[a + 1:b] = (line[a] + line[b]) / 2

    def blocks(self, q):
        """(rows, cols, samples of a cell)"""
        (rows, cols), side = self.shape, self.side
        return q[:rows * side, :cols * side].reshape(rows, side, cols, side).transpose(0, 2, 1, 3).reshape(rows, cols, -1)

    def samples(self, cells, shape):
        """Of each sample its cell's number; what is left at the right and below belongs to the last cells."""
        y, x = (np.minimum(np.arange(n) // self.side, m - 1) for n, m in zip(shape, self.shape))
        return cells[y][:, x]

    def between(self, axis, low, high):
        """Cells of an axis whose middles are between two places in samples."""
        middle = np.arange(self.shape[axis]) * self.side + (self.side - 1) / 2
        return ((middle >= low) & (middle <= high)).reshape((1, -1) if axis else (-1, 1))

    def find_normals(self, x, y):
        """Least squares of 1/z = a X + b Y + c over the measured ones of 3x3 cells."""
        z, on, v = self.depth, (self.depth > 0) * 1.0, np.where(self.depth > 0, 1 / np.maximum(self.depth, 1e-9), 0)
        total = lambda q: cv2.boxFilter(q, -1, (3, 3), normalize=False, borderType=cv2.BORDER_CONSTANT)
        n, count = total(on), np.maximum(total(on), 1)
        mx, my, mv = total(x * on) / count, total(y * on) / count, total(v) / count
        xx, xy, yy = total(x * x * on) - n * mx * mx, total(x * y * on) - n * mx * my, total(y * y * on) - n * my * my
        xv, yv, vv = total(x * v) - n * mx * mv, total(y * v) - n * my * mv, total(v * v) - n * mv * mv
        det = xx * yy - xy * xy + 1e-12
        a, b = (xv * yy - yv * xy) / det, (yv * xx - xv * xy) / det
        plane, self.ray = np.stack([a, b, mv - a * mx - b * my], -1), np.stack([x, y, on * 0 + 1], -1)
        self.length = np.linalg.norm(plane, axis=-1)
        self.inverse, self.place, self.normal = v, self.ray * z[..., None], -plane / np.maximum(self.length, 1e-9)[..., None]
        deviation = np.sqrt(np.maximum(vv - a * xv - b * yv, 0) / count) * z
        self.flat = (z > 0) & (n > 5.4) & (deviation < mv * (0.004 + 0.0025 * z * z))
        slant = -(self.normal * self.ray).sum(-1) / np.linalg.norm(self.ray, axis=-1)
        self.area = (z * self.pitch) ** 2 / np.maximum(slant, 0.15)


class RoomPlanes:
    """Planes (a, b, c) of 1/z = a X + b Y + c, bigger than any flat part of a body."""

    def __init__(self):
        self.known, self.frame = [], 0

    @staticmethod
    def tolerance(z):
        return 0.012 + 0.004 * z * z

    @staticmethod
    def is_on(plane, cells, where, most=1.0, least=0.87):
        """Of the cells `where` those on a plane: within tolerances of it, the cosine of its normal and theirs large enough."""
        length = np.linalg.norm(plane)
        near = np.abs(cells.place[where] @ plane - 1) / length < most * RoomPlanes.tolerance(cells.depth[where])
        return near & (cells.normal[where] @ plane / -length > least)

    def find(self, cells, column, seed, is_new):
        """(h, w) bool: the cells on planes; `column` is beside heads, `seed` the person's surely. Planes are searched in every fourth
        frame, and followed in the others."""
        room, left = np.zeros(cells.shape, bool), (cells.depth > 0) & ~seed & ~column
        before, self.known, self.noises, on = self.known, [], [], lambda *limits: self.is_on(plane, cells, ..., *limits)
        is_search = is_new or not before or self.frame % 4 == 0
        self.frame += 1
        for turn in range(10 if is_search else len(before)):
            plane = self.propose(cells, left, before) if is_search else before[turn]
            if plane is None:
                break
            for _ in range(2 * is_search):
                plane = self.fitted(cells, left & on(), plane)
            is_room = not is_search or self.is_large(plane, cells, left & on())
            away = (cells.place[left & on()] @ plane - 1) / np.linalg.norm(plane) / self.tolerance(cells.depth[left & on()])
            noise = np.sqrt((away ** 2).sum() / max(len(away), 1))
            lately, left = left & on(), left & ~on(1.5)
            if not is_room:
                continue
            self.known.append(plane if is_search else self.fitted(cells, lately, plane))
            self.noises.append(noise)  # standard deviation, in tolerances
            # What only shows between limbs is of the room where it is flat, and tightly on the plane.
            for is_island in (False, True):
                beside, elsewhere = on(min(max(4 * noise, 0.25), 0.9), 0.8), on(1.3, 0.8)
                members = column & cells.flat & on(0.6, 0.9) if is_island else np.where(column, beside, elsewhere)
                part = components(members & (cells.depth > 0) & ~seed, 1)
                inside, outside = (np.bincount(part[q], cells.area[q], part.max() + 1) for q in (column, ~column))
                is_big = (inside + outside > 0.015) & (outside > np.where(inside > 0, 0.05, 0.12))
                room |= (part > 0) & (inside > 0.015 if is_island else is_big)[part]
        return room

    def propose(self, cells, left, known):
        """The plane of a flat cell, or of the last search, on which most of the area left lies."""
        some = np.zeros(left.shape, bool)
        some[::2, ::2] = left[::2, ::2]
        at = np.argwhere(some & cells.flat)
        if len(at) < 8:
            return None
        tries = known + [-cells.normal[y, x] * cells.length[y, x] for y, x in at[::-(-len(at) // 40)]]
        votes = np.array([cells.area[some][self.is_on(plane, cells, some)].sum() for plane in tries])
        votes[:len(known)] *= 1.2
        return tries[votes.argmax()] if votes.max() * 4 >= 0.7 * 0.12 else None

    @staticmethod
    def fitted(cells, on, plane):
        """The plane through cells by least squares; the one given where they are few."""
        rows = cells.ray[on]
        normal = rows.T @ rows
        if len(rows) < 12 or not np.linalg.det(normal) > 1e-9 * np.diag(normal).prod():
            return plane
        return np.linalg.solve(normal, rows.T @ cells.inverse[on])

    @staticmethod
    def is_large(plane, cells, on):
        """True for a plane that is larger than what a person has."""
        if on.sum() < 12:
            return False
        n = plane / np.linalg.norm(plane)
        u = np.cross(n, [0, 0, 1] if abs(n[2]) < 0.98 else [0, 1, 0])
        u /= np.linalg.norm(u)
        # The variance of what is spread evenly is a twelfth of the squared side.
        spread = np.cov(cells.place[on] @ np.stack([u, np.cross(n, u)], -1), rowvar=False)
        wide, long = np.sqrt(12 * np.maximum(np.linalg.eigvalsh(spread), 0))
        size = cells.area[on].sum()
        return size >= 0.12 and long >= 0.5 and wide >= 0.25 and size >= min(0.42 * long * wide, 0.5)

    def floor(self, x, y, metres):
        """The largest plane that lies as a floor does, far below a point; None without one."""
        for (a, b, c), self.noise in zip(self.known, self.noises):
            drop = ((1 / metres - c - a * x) / b - y) * metres if b else 0
            if b > 0.7 * np.sqrt(a * a + b * b + c * c) and drop >= 0.85:
                return np.array([a, b, c])
        return None


class CellWays:
    """Metres of the shortest way from head and trunk (`person`), and from planes (`room`), to each cell; 1e3 for none."""

    def __init__(self, cells, zone, seed, room, height):
        links = [self.measure(cells, zone, room, height, axis) for axis in (0, 1)]
        self.person, self.room = (
            self.spread(start, *links[0][which], *links[1][which]) for which, start in enumerate((seed, room)))

    @staticmethod
    def pairs(q, axis):
        """Of each link along an axis what is at its start, and at its end."""
        return (q[:-1], q[1:]) if axis == 0 else (q[:, :-1], q[:, 1:])

    @staticmethod
    def measure(cells, zone, room, height, axis):
        """Costs of the links to the next cell along an axis, and back: of the person, and of the room."""
        z, p, n, c, low, here, wall = (
            CellWays.pairs(q, axis) for q in (cells.depth, cells.place, cells.normal, cells.color, height, zone, room))
        step, near, rise = p[1] - p[0], np.minimum(*z), np.abs(z[1] - z[0])
        length = np.linalg.norm(step, axis=-1)
        turning = 2 * np.maximum(-(step * (n[1] - n[0])).sum(-1) / np.maximum(length, 1e-6) - 0.04, 0)
        color = np.linalg.norm(c[1] - c[0], axis=-1) / (np.minimum(c[0][..., 0], c[1][..., 0]) + 0.1)
        way = length + np.clip(color - 0.05, 0, 0.15)
        full = 12 * np.maximum(rise - 0.7 * cells.pitch * near, 0)
        there, back = (np.where(is_away, full, 0.1 * full) for is_away in (z[1] > z[0], z[1] <= z[0]))
        torn = (near <= 0) | (rise > 0.03 + 0.008 * near * near + 2.5 * cells.pitch * near)
        own = np.where(np.logical_and(*here), 0.25 * way, way + 0.2 * turning)
        up, down = (12 * np.maximum(q, 0) for q in (low[1] - low[0], low[0] - low[1]))
        person = [np.where(torn | np.logical_or(*wall), 1e3, own + q) for q in (there, back)]
        return person, [np.where(torn, 1e3, way + turning + q) for q in (back + up, there + down)]

    @staticmethod
    def spread(start, down, up, right, left):
        ways, old = np.where(start, 0, 1e3), None
        while old is None or (ways != old).any():
            old = ways.copy()
            ways[1:] = np.minimum(ways[1:], ways[:-1] + down)
            ways[:-1] = np.minimum(ways[:-1], ways[1:] + up)
            ways[:, 1:] = np.minimum(ways[:, 1:], ways[:, :-1] + right)
            ways[:, :-1] = np.minimum(ways[:, :-1], ways[:, 1:] + left)
        return np.where(ways < 5.12, ways, 1e3)


class CellOwners:
    """Samples of the room's surfaces, and of the person's behind the cutoff."""

    def __init__(self):
        self.planes, self.depth, self.heads = RoomPlanes(), None, 0

    def find(self, z, colors, heads, lost, cutoff, focal):
        """`heads` are faces of the person; `lost` in a frame without a face the samples that were theirs -> two masks, or None"""
        (h, w), first = z.shape, heads[0]
        self.cells = cells = SurfaceCells(z, colors, np.float32(max(face.distance for face in heads) + 1.2), focal)
        column, zone, seed = (np.zeros(cells.shape, bool) for _ in range(3))
        for face in heads:
            scale = focal / max(face.distance, 1e-3)
            beside = lambda half: cells.between(1, face.axis - half, face.axis + half)
            low = cells.between(0, face.bottom - 0.4 * scale, np.inf)
            column |= low & beside(0.33 * scale)
            zone |= low & beside(0.35 * scale)
            if lost is None:
                seed |= self.body(cells, face, scale, beside)
        if lost is not None:
            seed = (2 * cells.blocks(lost).sum(2) > cells.side ** 2) & (cells.depth > 0)
        is_new = self.depth is None or len(heads) != self.heads
        room = self.planes.find(cells, column, seed, is_new)
        floor = self.planes.floor((first.axis - w / 2) / focal, (first.top + first.bottom - h) / 2 / focal, first.distance)
        height = np.full(cells.shape, 0.15)
        if floor is not None:
            up, noise = (1 - cells.place @ floor) / np.linalg.norm(floor), self.planes.noise * RoomPlanes.tolerance(cells.depth)
            height = np.where(up < 2 * noise, 0, np.minimum(up, 0.15))
        if not seed.any():
            self.depth = None
            return None
        room, self.heads = self.remember(cells, room, column, seed, len(heads) != self.heads), len(heads)
        self.ways = CellWays(cells, zone, seed, room, height)
        self.owner = owner = self.decide(cells, zone, room, height, lost is not None)
        on = lambda which: (z > 0) & (
            np.abs(z - cells.samples(np.where(which, cells.depth, -1e3), z.shape)) - (0.01 * z * z + 0.04) <= 0)
        return on(owner < 0), on(self.find_beyond(cells, room, cutoff)) & (z > cutoff)

    @staticmethod
    def body(cells, face, scale, beside):
        """The middle of a face, and of the trunk below it."""
        z, w = cells.depth, face.width
        middle = beside(0.3 * w) & cells.between(0, face.bottom - 0.85 * w, face.bottom - 0.3 * w)
        found = middle & (np.abs(z - face.distance) < 0.12)
        trunk = beside(0.12 * scale) & cells.between(0, face.bottom + 0.03 * scale, face.bottom + 0.4 * scale)
        depths = z[trunk & (z > 0) & (np.abs(z - face.distance) < 0.5)]
        if len(depths):
            found |= trunk & (np.abs(z - np.median(depths)) < 0.15)
        return found & (z > 0)

    def remember(self, cells, room, column, seed, is_new):
        """Cells are on a plane as long as most of the last frames said so; beside heads nothing lasts where one came or went."""
        z = cells.depth
        if self.depth is None or self.depth.shape != z.shape:
            self.depth, self.votes, self.past = np.zeros_like(z), np.zeros_like(z), np.zeros(z.shape, int)
        same = (z > 0) & (self.depth > 0) & (np.abs(z - self.depth) < 0.02 + 0.008 * z * z)
        self.votes = np.where(same & ~(column & is_new), 0.75 * self.votes + 0.25 * room, room)
        self.depth, self.past = z, np.where(same & (not is_new), self.past, 0)
        return (self.votes > 0.35) & (z > 0) & ~seed

    def decide(self, cells, zone, room, height, is_lost):
        """1 for the person, -1 for the room, 0 where neither is sure."""
        mine, theirs, loyal = self.ways.person, self.ways.room, 1.5 ** self.past.astype(float)
        limit = 0.1 if is_lost else np.minimum(np.maximum(0.45 * theirs, 0.9), np.where(zone, 1.5, 1.4))
        person = (mine < 1e3) & (mine < loyal * theirs) & (mine < np.minimum(loyal, 1.2) * limit) & ~room
        # As far as a person's area goes, by hundredths of a metre of way.
        place = np.minimum(mine / 0.01, 511).astype(int)
        areas = np.bincount(place[person], ((cells.depth * cells.pitch) ** 2)[person], minlength=512)
        over = person & (place > np.count_nonzero(np.cumsum(areas) <= 1.3 * self.heads))
        person &= ~over
        rim = (theirs > 0.15) & (height > 0) & (cv2.dilate(person.astype(np.uint8), SQUARE) > 0)
        self.past = np.where(person, 1, -((cells.depth > 0) & (over | (theirs < 1e3)) & ~rim).astype(int))
        return self.past

    def find_beyond(self, cells, room, cutoff):
        """The person's cells behind the cutoff: those that hang on nearer ones without a steep link."""
        z, own, links = cells.depth, self.owner > 0, []
        for axis in (0, 1):
            size, near = np.abs(np.diff(z, axis=axis)), np.minimum(*CellWays.pairs(z, axis))
            gentle = (size < 0.004 + near * (0.003 * near + 0.7 * cells.pitch)) & np.logical_and(*CellWays.pairs(own, axis))
            links += [np.where(gentle, 0, 1e3)] * 2
        found = (CellWays.spread(own & (z <= cutoff) & room.any(), *links) < 1) & (z > cutoff - 0.05)
        # What reaches the top or the sides of the picture is a wall.
        _, part = cv2.connectedComponents(found.astype(np.uint8), connectivity=8)
        return found & ~np.isin(part, np.unique(np.concatenate([part[0], part[:, 0], part[:, -1]])))


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

    def recall(self, z, is_lost):
        """Masks of what was the person's and others', where depth is as it was; the frames for which bodies were doubted. Without a
        face the person's that came somewhat nearer count too."""
        if self.person is None:
            return np.zeros(z.shape, bool), np.zeros(z.shape, bool), np.zeros(z.shape)
        limit, nearer = z * z * np.float32(0.008) + np.float32(0.02), np.float32(0.06 * is_lost)
        same = (z > 0) & (np.abs(z - self.z) - limit <= 0)
        close = (z > 0) & (np.abs(z - self.z + nearer) - limit - nearer <= 0)
        return close & self.person, same & self.others, self.doubt

    def remember(self, z, far, person, others, doubt):
        hole = z <= 0
        if self.person is None:
            self.person, self.others, self.z = np.zeros(z.shape, bool), np.zeros(z.shape, bool), np.zeros_like(z)
        self.others = ((self.others & hole) | others | far) & ~person
        self.person = (self.person & hole) | person
        self.z, self.doubt = np.where(hole, self.z, z), doubt


class Bodies:
    """The bodies of a frame: arrays by the label of the piece, of which those at the first piece of a body count (`is_body`)."""

    def __init__(self, pieces, z, faces, memory, focal, distance):
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
        was_person, was_others, doubt = memory
        self.doubt = np.bincount(labels[on], doubt[on], minlength=n)
        self.mine, self.theirs = one, other = counted(was_person), counted(was_others)
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
        for name in ("count", "sum", "mine", "theirs", "seeds", "chest", "trunk", "above", "doubt"):
            setattr(self, name, np.bincount(body, getattr(self, name), minlength=len(body)))
        left, right, rivals, at_bottom = self.left.copy(), self.right.copy(), self.rivals.copy(), self.is_at_bottom.copy()
        np.minimum.at(left, body, self.left)
        np.maximum.at(right, body, self.right)
        np.logical_or.at(rivals, body, self.rivals)
        np.logical_or.at(at_bottom, body, self.is_at_bottom)
        self.left, self.right, self.rivals, self.is_at_bottom = left, right, rivals, at_bottom
        self.z = self.sum / np.maximum(self.count, 1)
        self.size, self.long = self.area(), np.maximum(4, 0.15 * np.sqrt(self.count))

    def choose(self, has_faces):
        """Marks the bodies that are the person for themselves; without a face those that were the person in the last frame."""
        if has_faces:
            seeds, chest = self.seeds[self.is_body].sum(), self.chest[self.is_body].sum()
            is_face = (self.seeds > 0) & (self.seeds * 10 >= seeds)
            is_chest = (self.chest > 0.3 * max(chest, 1)) & (self.z > self.distance - 0.5) & (self.z < self.distance + 0.15)
            self.is_subject = self.is_body & (is_face | is_chest)
            if self.is_subject.any():
                return
        self.is_subject = self.is_body & (self.mine > 0.25 * self.count) & (self.mine > self.theirs)

    def add(self):
        """Adds bodies that belong to the person by where they touch; False where there are none."""
        p, n, d = self.pieces, len(self.count), self.distance
        farthest = 0.20 + 0.01 * d * d - 0.05 * (self.above * 2 > self.count)
        is_small = (self.z - d < farthest - 4.0 * self.size) | ((self.z < d - 0.08) & (self.size < 0.35))
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
        self.faces, self.memory, self.owners = [], SideMemory(), CellOwners()

    def find(self, z, colors, cutoff, faces, focal, surfaces):
        """None where everything in front of the cutoff (metres) is the person: while no face was ever seen. `surfaces` are the
        room's samples by themselves."""
        if faces:
            self.faces = faces + self.kept(z, faces)
        if not self.faces:
            return None
        (h, w), mine = z.shape, [face for face in self.faces if face.is_subject]
        distance = max(face.distance for face in mine)
        per_metre = focal / max(distance, 1e-3)
        memory = self.memory.recall(z, not faces)
        found = self.owners.find(z, colors, mine, None if faces else memory[0], np.float32(cutoff), focal)
        floor, beyond = found or (np.zeros(z.shape, bool), np.zeros(z.shape, bool))
        near = (z > 0) & (z <= cutoff) & ~surfaces | beyond
        far = (z > 0) & ~near
        members = near & ~floor
        pieces = Pieces(z, members, far, focal, distance)
        bodies = Bodies(pieces, z, self.faces, memory, focal, distance)
        bodies.choose(bool(faces))
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
        self.pieces, self.bodies, self.floor = pieces, bodies, floor            # for tests that look at them one by one
        return Result(person & ~surfaces, (others & ~person) | surfaces, mean, beyond)

    def kept(self, z, faces):
        """The person's other faces that are not found any more, for 30 frames while something is where they were."""
        kept = []
        for old in self.faces:
            middle = (old.top + old.bottom) / 2
            is_found = any(
                abs(face.axis - old.axis) < 0.8 * old.width and abs((face.top + face.bottom) / 2 - middle) < 0.8 * old.height
                for face in faces + kept)
            (h, w), up, aside = z.shape, old.height / 4, old.width / 4
            q = z[span(old.top + up, old.bottom - up, h)][:, span(old.left + aside, old.right - aside, w)]
            is_there = (q[q > 0] < old.distance + 0.10 + 0.01 * old.distance ** 2).sum() * 2 >= max((q > 0).sum(), 1)
            if old.is_subject and old.missed < 30 and not is_found and is_there:
                kept.append(replace(old, missed=old.missed + 1))
        return kept
