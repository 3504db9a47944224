#!/usr/bin/env python3
"""Reference of depthmatte's head finder, in NumPy: depth map in metres -> heads, frame after frame.  No color, no network.

    head_finder.py depth0.png depth1.png ... [--unit 0.001] [--focal F]      (F in depth pixels; default 0.87 x longer side)

A head is a rounded thing 0.1 to 0.3 m wide that ends at its sides and above (a step to what is farther, or a hole), with neck and
shoulders below it at about its own distance.  A depth map has a scale, so all of this is tested in metres (x right, y down):

 0. grid      longer side at most 160 cells; a cell is the lower median of four samples of its block
 1. probes    at every cell, for three sizes: 16 probes on the head, 11 around it, 11 on neck, chest and shoulders, 9 for the slope
              of the body; each compares a depth with the centre's, so that their sum is a matched filter for the shape of an Omega
 2. peaks     local maxima of the sum, at most 16
 3. shape     runs of cells about each peak: width, vertex and middle; a quadric fit: rounded or flat
 4. outline   rows of the column through it: a head is the top of a body, so nothing above it ends at both sides as a body does,
              and what is below ends at both sides and is wider than the head.  No knee, hand, foot, cushion, sofa's arm does both
 5. tracking  the head followed so far is kept with less evidence, and while something nearer hides it; another one has to be seen three times

Evidence is added up as log odds T; confidence = 1 / (1 + exp(-T)).  Sources: see
Sources/DepthKernels/Matte/Head.
"""
import argparse
import sys
from dataclasses import dataclass, replace
from importlib.util import find_spec

if __name__ == "__main__" and {"-h", "--help"} & set(sys.argv[1:]) and find_spec("cv2") is None:
    print(__doc__.strip())
    sys.exit()

import numpy as np


@dataclass
class Params:
    longest: int = 160           # cells along the longer side
    focal: float = 0.87          # of the longer side, where no calibration is known (a lens of 60 degrees)
    nearest: float = 0.15        # m
    least: float = 5             # cells that a head of 0.16 m is wide, at least; from 10 on every second cell is searched
    sizes: tuple = (0.8, 1.0, 1.25)
    same: tuple = (0.10, 0.01)   # m, 1 / m: depths of one head differ by no more than constant + square * z^2
    body: tuple = (-0.20, 0.25)  # m by which chest and shoulders are nearer (-) or farther than the head
    width: tuple = (0.085, 0.28)  # m
    prior: float = -1.2          # Log odds: of any cell; then weights of the shares of the probes that fit
    core: float = 16
    rim: float = 10
    ring: float = 16             # all around
    side: float = 12             # the worse side, below a share of 0.6
    crown: float = 6             # above, below a share of 0.7
    cut: float = 1.5             # less where the picture's border cuts the crown off
    neck: float = 3
    chest: float = 2
    shoulder: tuple = (3, 1)     # the better one, the other one
    row: float = 0.03            # m between rows of the outline
    stride: float = 0.02         # m between the cells that are looked at in a row
    reach: float = 0.45          # m from where the row starts: it has to end before
    above: tuple = (0.10, 0.80)  # m above the peak
    behind: tuple = (-0.30, 0.60)  # m by which a body above is nearer (-) or farther
    below: tuple = (0.20, 0.44)  # m below the peak
    over: float = 0.20           # m by which a neighbour is nearer who hides a part of the body below
    wider: tuple = (0.22, 1.3)   # m, times the width of the head
    slope: float = 120           # per m that the body comes nearer downwards, as a floor or desk does
    relief: float = 300          # per m of curvature across
    trunk: float = 1.5           # per share of the rows below that end at both sides and are wider than the head
    open: float = 5              # per share of the rows below that do not end: a seat, a table, a wall
    top: float = 20              # per m of a body above, beyond the first 0.12 m
    keep: float = -2.0           # T of the head that is followed; others need more than 0
    hidden: int = 150            # frames for which a known head may be hidden by something nearer; a third of it where nothing nearer is there
    sure: float = 1.4            # T above which the distance of a known head is believed at once; below it follows by `drift` m a frame
    drift: float = 0.03
    frames: int = 2              # that another head must be seen
    lost: int = 15               # frames for which the followed head is waited for
    most: int = 8                # heads
    settle: tuple = (0.15, 0.3)  # steps below this share of the box are noise: followed by this share a frame


def on_ellipse(rx, ry, degrees):
    """Points of an ellipse; 0 is the top, 90 the right."""
    return [(rx * np.sin(a), -ry * np.cos(a)) for a in np.radians(degrees)]


# Places of the probes on a head of size 1, in metres from its centre.
CORE = [(0.0, 0.0)] + on_ellipse(0.035, 0.045, range(0, 360, 60))
RIM = on_ellipse(0.065, 0.09, range(0, 360, 40))
RIGHT = on_ellipse(0.13, 0.16, (45, 68, 90, 112))
LEFT = [(-x, y) for x, y in RIGHT]
CROWN = on_ellipse(0.13, 0.16, (-22, 0, 22))
NECK = [(-0.035, 0.17), (0.035, 0.17)]
CHEST = [(0.0, 0.20), (0.0, 0.28), (0.0, 0.36)]
SHOULDERS = [[(x * side, y) for x, y in ((0.10, 0.28), (0.17, 0.27), (0.12, 0.36))] for side in (-1, 1)]
SLOPE = [[(x, y) for y in (0.21, 0.29, 0.37)] for x in (-0.14, 0.0, 0.14)]
HOLE, OUT = -1e3, 1e3            # in place of a difference: not measured, beyond the picture


def grid_of(z, longest):
    """Cells of step x step samples: of four samples the second smallest (of two the smaller); 0 where fewer were measured."""
    z = np.where(np.isfinite(z) & (z > 0), z, 0).astype(np.float32)
    step = -(-max(z.shape) // longest)
    (h, w), at = np.array(z.shape) // step * step, (step // 4, step - 1 - step // 4)
    four = np.stack([z[i:h:step, j:w:step] for i in at for j in at])
    four = np.sort(np.where(four > 0, four, np.inf), 0)
    count = np.isfinite(four).sum(0)
    return np.where(count >= 3, four[1], np.where(count > 0, four[0], 0)).astype(np.float32), step


def probes(z, f, k, ys, xs, points):
    """Depth at the points less depth at the centres (m), or HOLE or OUT; one row per point."""
    z0, (h, w) = z[ys, xs], z.shape
    x = np.floor(xs + np.outer([p[0] for p in points], f * k / z0) + 0.5).astype(int)
    y = np.floor(ys + np.outer([p[1] for p in points], f * k / z0) + 0.5).astype(int)
    v = z[np.clip(y, 0, h - 1), np.clip(x, 0, w - 1)]
    return np.where((x < 0) | (x >= w) | (y < 0) | (y >= h), OUT, np.where(v > 0, v - z0, HOLE))


def mean(d, low, high, same, nearer, farther, hole, out):
    """Mean weight of the probes; a weight of None leaves a probe out.  Also the number that counted."""
    w = np.select([d == HOLE, d == OUT, d < low, d > high], [hole, np.nan if out is None else out, nearer, farther], same)
    count = np.isfinite(w).sum(0)
    return np.where(count > 0, np.nansum(w, 0) / np.maximum(count, 1), 0.5), count


def evidence(z, f, k, ys, xs, p):
    """T of a head of size k at each of the cells, without that of its shape."""
    z0, t = z[ys, xs], p.same[0] + p.same[1] * z[ys, xs] ** 2
    core, _ = mean(probes(z, f, k, ys, xs, CORE), -t, t, 1, 0, 0, 0.7, 0)
    rim, _ = mean(probes(z, f, k, ys, xs, RIM), -t, t, 1, 0, 0, 0.6, 0.5)
    around = [probes(z, f, k, ys, xs, q) for q in (LEFT, RIGHT, CROWN)]
    (left, n1), (right, n2), (crown, n3) = (mean(d, -t, t, 0, -0.3, 1, 0.92, None) for d in around)
    d = np.concatenate(around)
    room = np.where((d > t) & (d < OUT), d, OUT).min(0)                    # the nearest thing behind the head
    far = np.minimum(p.body[1] + p.same[1] * z0 * z0, 0.6 * room)          # a wall behind the head is no shoulder
    neck, chest, a, b = (mean(probes(z, f, k, ys, xs, q), p.body[0], far, 1, 0.5, 0, 0.45, 0.6)[0] for q in (NECK, CHEST, *SHOULDERS))
    down = np.stack([probes(z, f, k, ys, xs, q) for q in SLOPE])           # a floor or desk comes nearer downwards, step by step
    slope = np.where((np.abs(down) < 0.7).all(1), np.diff(down, axis=1).max(1), 0).min(0) / k
    return sum((
        p.core * (core - 1), p.rim * (rim - 1), np.where(n3 > 0, p.ring * ((left + right + crown) / 3 - 1), p.ring * ((left + right) / 2 - 1) - p.cut),
        p.side * np.minimum(np.minimum(left, right) - 0.6, 0), np.where(n3 > 0, p.crown * np.minimum(crown - 0.7, 0), 0),
        p.neck * (neck - 0.6), p.chest * (chest - 0.6), p.shoulder[0] * (np.maximum(a, b) - 0.5), p.shoulder[1] * (np.minimum(a, b) - 0.5),
        p.slope * np.clip(slope + 0.03 + 0.006 * z0 * z0, -0.06, 0), np.where(n1 + n2 + n3 < 6, -9, p.prior)))


@dataclass(eq=False)
class Head:
    box: tuple                   # left, top, width, height of the face, in depth pixels
    z: float                     # m, median
    t: float                     # log odds
    width: float                 # m
    relief: float                # m by which a head's sides lie behind its middle
    age: int = 1                 # frames
    missed: int = 0
    sure: bool = False           # was sure (T > `sure`) in some frame
    hidden: int = 0              # frames for which something nearer hides it
    confidence = property(lambda h: float(1 / (1 + np.exp(-h.t))))
    centre = property(lambda h: (h.box[0] + h.box[2] / 2, h.box[1] + h.box[3] / 2))
    # Centre and radii of head and hair, as in the matte
    ellipse = property(lambda h: (h.box[0] + 0.5 * h.box[2], h.box[1] + 0.35 * h.box[3], 0.85 * h.box[2], 1.05 * h.box[3]))

    def rank(self, picture_width):                                         # likely, near, in the middle
        return self.t + np.log2((1 - 0.7 * min(abs(2 * self.centre[0] / picture_width - 1), 1)) / self.z)

    def is_near(self, other):
        """Within some 0.4 m."""
        return np.hypot(*np.subtract(self.centre, other.centre)) < 2.4 * other.box[2] and abs(self.z - other.z) < 0.4

    def is_below(self, other):
        """Where the other one has its neck and chest."""
        x, y = np.subtract(self.centre, other.centre) / other.box[2]
        return abs(x) < 1.5 and 0 < y < 3 and abs(self.z - other.z) < 0.3

    def is_at(self, other):
        (x, y), (u, v) = self.centre, other.centre
        return abs(x - u) < self.box[2] and abs(y - v) < self.box[3] and abs(self.z - other.z) < 0.3


def reach(line, start, step, most, gap):
    """How many cells from `start` the marks of a row go on, over gaps of up to `gap` cells; -1: none there."""
    last = -1
    for i in range(most + 1):
        if i - max(last, 0) > gap or not 0 <= start + i * step < len(line):
            break
        last = i if line[start + i * step] else last
    return last


def shape(z, f, k, y, x, p):
    """Stage 3: runs of cells of one depth about a peak.  Width (m), middle (column), vertex (row), relief (m), median depth (m)."""
    z0, s = float(z[y, x]), f / float(z[y, x])
    t, gap, runs, cells = p.same[0] + p.same[1] * z0 * z0, max(1, round(0.02 * s)), [], []
    for row, step, last in ((y, -1, y - 0.2 * s), (y + 1, 1, y + 0.08 * s)):
        middle = x
        while 0 <= row < len(z) and (row - last) * step <= 0:
            line = np.abs(z[row] - z0) <= t
            left, right = (reach(line, middle, side, int(0.17 * s), gap) for side in (-1, 1))
            if left < 0 and right < 0:
                break
            a, b = middle - max(left, 0), middle + max(right, 0)
            runs.append((row, a, b))
            cells += [(row, c, z[row, c]) for c in range(a, b + 1) if line[c]]
            middle = round(0.7 * middle + 0.3 * (a + b) / 2)
            row += step
    rows, a, b = np.array(runs).T
    width, middle = np.sort(b - a + 1)[int(0.7 * (len(rows) - 1))] / s, np.median(a + b) / 2
    v, u, d = np.array(cells, float).T
    u, v = (u - middle) / s, (v - y) / s
    m, relief = (u / 0.085) ** 2 + (v / 0.115) ** 2 < k * k, 0.0
    if m.sum() >= 8:                                                       # z = a + b u + c v + d u^2 + e v^2; d is 0 on what is flat
        terms = np.stack([np.ones_like(u), u, v, u * u, v * v], 1)
        relief = float(np.linalg.lstsq(terms[m], d[m], rcond=None)[0][3]) * 0.07 ** 2
    return width, middle, rows.min(), relief, float(np.median(d[m] if m.any() else d))


def row_of(z, s, y, x, t, p, nearer=9.0):
    """A row of what is seen at a cell: walks to both sides over what is nearer or of one depth -> cells to the left and right, sides on which it ends, and on which the picture does."""
    h, w = z.shape
    stride, low, high, sides, ends, cuts = max(1, round(p.stride * s)), z[y, x] - nearer, z[y, x] + t, [], 0, 0
    for side in (-1, 1):
        last, holes, c = x, 0, x
        for _ in range(int(p.reach * s / stride)):
            c += side * stride
            if not 0 <= c < w:
                cuts += 1                                                  # it may end beyond the picture
                break
            holes = holes + 1 if z[y, c] == 0 else 0
            if z[y, c] > high or 0 < z[y, c] < low or holes > 1:           # what is farther (or nearer), or a hole
                ends += 1
                break
            last = c if z[y, c] > 0 else last
        sides.append(abs(last - x))
    return sides[0], sides[1], ends, cuts


def outline(z, f, y, x, zm, width, p):
    """Stage 4: what is above and below a head in the column through it, row by row along the middle.
    -> m of rows above that end at both sides, as a body's do; shares of the rows below that end at both sides and are wider than the head, and that do not end."""
    h, w = z.shape
    s, t = f / zm, p.same[0] + p.same[1] * zm * zm
    above, trunk, open_, wide = 0.0, 0, 0, max(p.wider[0], p.wider[1] * min(max(width, 0.09), 0.2))
    c = x
    for k in range(int(p.above[0] / p.row), int(p.above[1] / p.row)):
        r = int(y - k * p.row * s)
        if r < 0 or above > 0.45:
            break
        if z[r, c] > 0:
            a, b, ends, _ = row_of(z, s, r, c, t, p)
            if ends == 2:
                above += p.row * (p.behind[0] < z[r, c] - zm < p.behind[1] and 0.06 < (a + b + 1) / s < 0.75)
            c += int((b - a) / 4)                                          # towards the middle
    c, rows = x, range(int(p.below[0] / p.row), int(p.below[1] / p.row) + 1)
    for k in range(0, rows[-1] + 1):
        r = int(y + k * p.row * s)
        if r >= h:
            break
        if z[r, c] > 0:
            a, b, ends, cuts = row_of(z, s, r, c, t, p, p.over)
            if k in rows and p.body[0] - 0.05 < z[r, c] - zm < p.body[1] + 0.05:
                open_ += ends + cuts < 2 or cuts == 2
                trunk += ends == 2 and wide < (a + b + 1) / s < 0.75
            c += int((b - a) / 7)
    return above, trunk / len(rows), open_ / len(rows)


def find(depth, focal=None, p=Params(), least=0.0):
    """Heads of one depth map in metres with T > least, the likeliest first.  focal: depth pixels."""
    z, step = grid_of(depth, p.longest)
    f = (focal or p.focal * max(depth.shape)) / step
    every = (z * 10 > f * 0.16) | (np.indices(z.shape) % 2 == 0).all(0)      # of large heads every second cell is enough
    ys, xs = np.nonzero((z > p.nearest) & (z * p.least < f * 0.16) & every)
    for part in (CROWN, RIGHT[1:3], LEFT[1:3]):                  # cells that no head of any size ends above and beside
        ends = (np.abs(probes(z, f, p.sizes[-1], ys, xs, part)) > p.same[0] + p.same[1] * z[ys, xs] ** 2).any(0)   # so do HOLE and OUT
        ys, xs = ys[ends], xs[ends]
    best, size = np.full(z.shape, -np.inf), np.ones(z.shape)
    for k in p.sizes:
        t = evidence(z, f, k, ys, xs, p)
        better = t > best[ys, xs]
        best[ys[better], xs[better]], size[ys[better], xs[better]] = t[better], k
    heads, left, (row, column) = [], best.copy(), np.ogrid[:z.shape[0], :z.shape[1]]
    for _ in range(2 * p.most):
        y, x = np.unravel_index(left.argmax(), left.shape)
        if left[y, x] < least - 2:                                         # the relief can add 2
            break
        t = base = float(best[y, x])
        s = f / z[y, x]
        square = (row - y) ** 2 + (column - x) ** 2
        left[square < (0.16 * s) ** 2] = -np.inf
        py, px = np.nonzero((square < (0.1 * s) ** 2) & (best > t - 0.3) & (np.abs(z - z[y, x]) < 0.1))
        i = ((py - py.mean()) ** 2 + (px - px.mean()) ** 2).argmin()       # the middle of the cells that are nearly as good
        y, x = py[i], px[i]
        width, middle, vertex, relief, zm = shape(z, f, size[y, x], y, x, p)
        trust = 1 / (1 + (p.same[1] * zm * zm / 0.06) ** 2)                # of the relief, against the sensor's noise
        above, trunk, open_ = outline(z, f, y, x, zm, width, p)
        t += p.trunk * trunk - p.open * max(open_ - trunk, 0) - p.top * np.clip(above - 0.12, 0, 0.3)
        t += p.relief * trust * np.clip(relief - 0.018, -0.02, 0.0067) - 30 * max(p.width[0] - width, width - p.width[1], 0)
        if t > least and (t <= 0 or base > -2):                            # a new head needs this without shape and outline: kernels stop there
            g = f / zm * step
            face = np.clip(1.05 * width, 0.15, 0.20) * g                          # of a square as face detectors draw it
            above = 0.5 * (max(vertex, y - 0.17 * f / zm) * step + 0.85 * face) + 0.5 * y * step - 0.5 * face
            heads.append(Head(((middle + 0.5) * step - face / 2, above + step / 2, face, face), zm, t, width, relief))
    heads = sorted(heads, key=lambda h: -h.t)[:p.most]
    return [h for i, h in enumerate(heads) if not any(h.is_below(g) for g in heads[:i])]


class HeadFinder:
    def __init__(self, p=Params()):
        self.p, self.tracks, self.followed = p, [], None

    def hides(self, head, depth):
        """The place of a head that is not found.  0: the room is seen there; 1: something nearer (a hand, a mug) is; 3: only what is at its distance."""
        x, y, w, h = head.box
        q = depth[max(0, int(y + h / 4)):max(0, int(y + 3 * h / 4) + 1), max(0, int(x + w / 4)):max(0, int(x + 3 * w / 4) + 1)]
        q, t = q[q > 0], self.p.same[0] + self.p.same[1] * head.z ** 2
        return 0 if q.size == 0 or np.mean(q < head.z + t) < 0.5 else 1 if np.mean(q < head.z - t) > 0.3 else 3

    def step(self, depth, focal=None):
        """The head that is followed, None where this frame does not show it; and the others.  One that something nearer hides counts as shown."""
        p, width, found, tracks = self.p, depth.shape[1], find(depth, focal, self.p, self.p.keep), []
        for old in sorted(self.tracks, key=lambda h: (h is not self.followed, -h.age)):
            is_followed, known = old is self.followed, old is self.followed or old.age >= p.frames
            new = max((h for h in found if old.is_at(h)), key=lambda h: h.t, default=None)
            if new and (new.t > 0 or known):
                found.remove(new)
                step = np.subtract(new.box, old.box)
                new.box = tuple(np.add(old.box, (p.settle[1] if np.abs(step).max() < p.settle[0] * old.box[2] else 1) * step))
                new.z = new.z if new.t > p.sure else old.z + float(np.clip(new.z - old.z, -p.drift, p.drift))   # a hand beside or before it is no new distance
                new.age, new.hidden, new.sure = old.age + 1, 0, old.sure or new.t > p.sure
            elif known and old.hidden < p.hidden and self.hides(old, depth):
                new = replace(old, hidden=old.hidden + self.hides(old, depth))
            else:
                new = replace(old, missed=old.missed + 1)
            if new.missed <= (p.lost if is_followed else p.lost // 3 if known else 0):
                tracks.append(new)
            self.followed = self.followed if not is_followed else new if new.missed <= p.lost else None
        first = p.frames if not self.tracks else 1                         # where nobody was, all who are sure are shown at once
        self.tracks = tracks + [replace(h, sure=h.t > p.sure, age=first if h.t > p.sure else 1) for h in found if h.t > 0]
        shown = [h for h in self.tracks if h.missed == 0]
        near = [h for h in shown if h.age >= p.frames and h.hidden == 0 and self.followed and self.followed.hidden > 0 and h.is_near(self.followed)]
        if self.followed is None or near:                                  # one body has one head
            self.tracks = [h for h in self.tracks if not (near and h is self.followed)]
            shown = [h for h in self.tracks if h.missed == 0]
            self.followed = max(near or shown, key=lambda h: h.rank(width), default=None)
        others = [h for h in shown if h is not self.followed and h.age >= p.frames]
        return self.followed if self.followed in shown else None, sorted(others, key=lambda h: -h.rank(width))


if __name__ == "__main__":
    import cv2
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("depth", nargs="+")
    a.add_argument("--unit", type=float, default=0.001)
    a.add_argument("--focal", type=float)
    a, finder = a.parse_args(), HeadFinder()
    for name in a.depth:
        followed, others = finder.step(cv2.imread(name, cv2.IMREAD_UNCHANGED) * a.unit, a.focal)
        for h in [followed] * (followed is not None) + others:
            print(name, "followed" if h is followed else "other", "face %.0f,%.0f,%.0f,%.0f" % h.box, "%.2f m, confidence %.2f" % (h.z, h.confidence))
