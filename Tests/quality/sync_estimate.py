"""Reference of depthmatte's property depth-sync: by how much depth is late, and how far beside the video it lies.

Model.  The person's outline in the depth map of frame i, moved along its outward normal n by

    u = n . d + f                       d = (dx, dy): registration; f: depth's person too thin (> 0) or too wide; all in cells of the grid

lies on an edge of the video of frame i - lag.  An outline point p and a video frame I at the shift s match by
    a(s) = |grad I(p + s n) . n| / (|grad I(p + s n) . n| + g0),    g0 = twice the frame's median |grad I|     (so exposure drops out)

Its sums are kept by lag, by direction of n (8) and by whether the outline moves there: A[lag, k, moving, s].  Every hypothesis
(lag, d, f) is then a look-up, J = sum over k of A[lag, k, moving, u_k] + A[0, k, standing, u_k], and the best wins.  What stands fixes
d, what moves fixes the lag (a lag alone is a shift by velocity x lag).  Hypotheses are compared by paired sums of the same pieces
of time or picture, t = sum g / sqrt(sum g^2), which one lucky piece cannot raise above 1.  No random numbers.  Sources: SyncEstimate.swift.
"""
from dataclasses import dataclass

import numpy as np


@dataclass
class Params:
    longest: int = 320          # cells of the grid's longer side, about: a cell is a whole number of depth samples
    points: int = 300           # of the outline, at most
    reach: int = 10             # cells that are looked at to both sides of the outline
    shift: int = 8              # cells: the largest dx, dy
    fat: int = 2                # cells: the largest f
    prior: float = 0.0005       # what a hypothesis pays for each squared cell
    looks: tuple = (34, 55, 16)  # the outline of frame n is looked at where 34 n mod 55 < 16: 34 / 55 is near the golden ratio, so these are spread evenly over any period
    lags: int = 8               # frames that are looked at before and after
    tiles: int = 8              # a side of the picture has so many
    slice: int = 8              # frames in a piece of time
    slices: int = 90            # pieces remembered: 24 s
    keep: float = 0.992         # share of the tiles' sums kept per look: half of it is 6 s old
    still: float = 0.25         # cells per frame below which a piece of outline stands
    jump: float = 1.08          # behind an outline it is so many times as far
    rim: float = 0.1            # an unmeasured margin up to this share of the picture is the map's end, not an outline
    # a lag is known
    pieces: int = 6             # from so many pieces of time in which a tenth of the points moves
    sure: float = 3.5           # when t against every lag 2 frames and more away is above this
    error: float = 0.25         # and the jackknife's standard error is below this, frames
    late: float = 0.75          # frames: a lag to warn of, by more than 2 standard errors
    # an offset is known
    agree: float = 1.0          # when estimates from all halves of the tiles, at all lags not excluded, and ...
    alike: float = 0.01         # ... with all f whose J is so near to the best, are within so many cells
    score: float = 0.45         # and J is above this: the outline lies on edges at all
    beside: float = 2.0         # cells: an offset to warn of
    better: float = 3.0         # when t against no offset is above this,
    gain: float = 0.04          # ... and J grows by this


K = 8                           # directions of the normal: 0 right, 2 down, 4 left, 6 up
N = np.stack([np.cos(np.arange(K) * 2 * np.pi / K), np.sin(np.arange(K) * 2 * np.pi / K)], 1)
HALVES = np.array([[(bin(r & g).count("1") + r // 8) % 2 for g in range(8)] for r in range(1, 16) if r != 8])      # 8 groups of tiles, balanced halves


def shrink(x, shape):           # means of the cells of a coarser grid
    for axis in (0, 1):
        edges = np.linspace(0, x.shape[axis], shape[axis] + 1).astype(int)
        x = np.add.reduceat(x, edges[:-1], axis) / np.diff(edges).reshape((-1, 1) if axis == 0 else (1, -1)).astype(np.float32)
    return x


def smooth(x):                  # [1 2 1] / 4 along both axes
    p = np.pad(x, ((1, 1), (0, 0)), mode="edge")
    p = np.pad(p[:-2] + 2 * x + p[2:], ((0, 0), (1, 1)), mode="edge")
    return (p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:]) / 16


def near(x, px, py):            # nearest samples; the border's where they lie outside
    h, w = x.shape[:2]
    return x[np.rint(np.clip(py, 0, h - 1)).astype(int), np.rint(np.clip(px, 0, w - 1)).astype(int)]


def at(x, px, py):              # bilinear samples
    h, w = x.shape[:2]
    px, py = np.clip(px, 0, w - 1.001), np.clip(py, 0, h - 1.001)
    i, j = px.astype(int), py.astype(int)
    u, v = (px - i, py - j) if x.ndim == 2 else ((px - i)[..., None], (py - j)[..., None])
    return (x[j, i] * (1 - u) + x[j, i + 1] * u) * (1 - v) + (x[j + 1, i] * (1 - u) + x[j + 1, i + 1] * u) * v


def t_sum(g):                   # of each row: near sqrt(n) where n pieces of like size agree
    return g.sum(1) / np.sqrt((g ** 2).sum(1) + 1e-9)


def vertex(y, l):               # where the parabola through the highest of y[l - 1 ... l + 1] and its neighbours is highest
    l = int(np.clip(l - 1 + y[max(l - 1, 0):l + 2].argmax(), 1, len(y) - 2))
    a, b, c = y[l - 1:l + 2]
    return l + float(np.clip(0.5 * (a - c) / min(a - 2 * b + c, -1e-9), -1, 1))


class SyncEstimate:
    def __init__(self, **changes):
        self.p = p = Params(**changes)
        g = np.arange(-p.shift, p.shift + 0.01, 0.5)
        self.hyp = np.stack(np.meshgrid(g, g, np.arange(-p.fat, p.fat + 1), indexing="ij"), -1).reshape(-1, 3)      # dx, dy, f
        u = self.hyp[:, :2] @ N.T + self.hyp[:, 2:]
        T = np.maximum(0, 1 - np.abs(u[:, :, None] - np.arange(-p.reach, p.reach + 1)))         # weights of the shifts: linear interpolation
        self.T = (T + (T.sum(-1, keepdims=True) < 0.99) / T.shape[2]).astype(np.float32)        # beyond reach: the mean
        self.cost = p.prior * (self.hyp ** 2).sum(1)
        self.unmoved = [np.flatnonzero(self.hyp[:, axis] == 0) for axis in (0, 1)]
        self.reset()

    def reset(self):            # at start, after a flush, a change of size or of the offsets
        p, self.ring, self.slices, self.count = self.p, [], [], 0
        self.tile_sums, self.tile_points = np.zeros((2 * p.lags + 1, p.tiles ** 2, K, 2 * p.reach + 1)), np.zeros((p.tiles ** 2, K))

    def step(self, luma, z, cutoff):
        """One video frame and its depth map: luma 0 to 255; metres, 0 = not measured; metres."""
        p, s = self.p, max(1, round(max(z.shape) / self.p.longest))
        z = z[:z.shape[0] // s * s, :z.shape[1] // s * s]
        shape = (z.shape[0] // s, z.shape[1] // s)
        g = np.stack(np.gradient(smooth(shrink(luma.astype(np.float32), shape)))[::-1], -1)
        g0 = max(1.0, 2 * float(np.median(np.hypot(g[..., 0], g[..., 1]))))
        m = smooth(smooth(shrink(((z > 0) & (z <= cutoff)).astype(np.float32), shape)))
        self.ring = self.ring[-2 * p.lags:] + [(g, g0, m, self.outline(m, z))]
        self.count += 1
        if len(self.ring) == 2 * p.lags + 1 and self.count * p.looks[0] % p.looks[1] < p.looks[2] and len(self.ring[p.lags][3]) >= 8:
            self.compare()

    def outline(self, m, z):
        """Where the coverage m passes 1/2 and something farther, or nothing measured, begins: x, y and the outward normal."""
        (gy, gx), (h, w), q = np.gradient(m), m.shape, []
        for a, b, right in ((m[:, :-1], m[:, 1:], True), (m[:-1], m[1:], False)):
            y, x = np.where((a >= 0.5) != (b >= 0.5))
            t = (0.5 - a[y, x]) / (b[y, x] - a[y, x])
            x, y = (x + t, y + 0.0) if right else (x + 0.0, y + t)
            nx, ny = -at(gx, x, y), -at(gy, x, y)
            q.append(np.stack([x, y, nx, ny], 1)[(np.abs(nx) > np.abs(ny)) == right])
        q = np.concatenate(q)
        size = np.hypot(q[:, 2], q[:, 3])                                       # of the coverage's gradient: specks have little
        q[:, 2:] /= size[:, None] + 1e-9
        q = q[(size > 0.08) & (q[:, 0] > 2) & (q[:, 0] < w - 3) & (q[:, 1] > 2) & (q[:, 1] < h - 3)]

        def sample(d):
            x, y = (q[:, 0] + d * q[:, 2] + 0.5) * z.shape[1] / w, (q[:, 1] + d * q[:, 3] + 0.5) * z.shape[0] / h
            return np.clip(x.astype(int), 0, z.shape[1] - 1), np.clip(y.astype(int), 0, z.shape[0] - 1)
        (ix, iy), (ox, oy), known = sample(-2), sample(2.5), z > 0
        left, right, top, bottom = (k.argmax(1) for k in (known, known[:, ::-1], known.T, known.T[:, ::-1]))    # first measured sample from each side
        rx, ry, ex, ey = self.p.rim * z.shape[1], self.p.rim * z.shape[0], z.shape[1] - 1 - ox, z.shape[0] - 1 - oy
        end = (ox < np.minimum(left[oy], rx)) | (ex < np.minimum(right[oy], rx - 1)) | (oy < np.minimum(top[ox], ry)) | (ey < np.minimum(bottom[ox], ry - 1))
        q = q[(z[iy, ix] > 0) & ((z[oy, ox] > self.p.jump * z[iy, ix]) | ((z[oy, ox] <= 0) & ~end))]
        return q[::max(1, -(-len(q) // self.p.points))]

    def compare(self):
        """The outline of the depth map in the middle of the ring, against every video frame of the ring."""
        p, (_, _, m, q) = self.p, self.ring[self.p.lags]
        s = np.arange(-p.reach, p.reach + 1)
        x, y = q[:, 0, None] + s * q[:, 2, None], q[:, 1, None] + s * q[:, 3, None]
        k = np.round(np.arctan2(q[:, 3], q[:, 2]) / (2 * np.pi / K)).astype(int) % K
        cell = ((q[:, 1] * p.tiles / m.shape[0]).astype(int) * p.tiles + (q[:, 0] * p.tiles / m.shape[1]).astype(int)) * K + k
        order = np.argsort(cell, kind="stable")
        first = np.flatnonzero(np.diff(cell[order], prepend=-1))
        cell, n = cell[order][first], np.diff(np.append(first, len(q)))         # a cell: the points of one tile with one direction
        tile, k, close = cell // K, cell % K, np.abs(s) <= 5
        won = 0.5 * (near(self.ring[p.lags + 2][2], x[:, close], y[:, close]) - near(m, x[:, close], y[:, close])).sum(1)
        moving = (np.abs(np.add.reduceat(won[order], first) / n) >= p.still).astype(int)         # velocity along the normal: area won in two frames
        if not self.slices or self.count - self.slices[-1][0] >= p.slice:
            self.slices = self.slices[1 - p.slices:] + [[self.count, np.zeros((2 * p.lags + 1, K, 2, len(s))), np.zeros((K, 2))]]
        piece = self.slices[-1]
        np.add.at(piece[2], (k, moving), n)
        self.tile_points, self.tile_sums = p.keep * self.tile_points, p.keep * self.tile_sums
        self.tile_points[tile, k] += n
        for l in range(2 * p.lags + 1):                                         # depth late by l - lags: the video of so many frames before
            g, g0, _, _ = self.ring[2 * p.lags - l]
            a = np.abs((near(g, x, y) * q[:, None, 2:]).sum(-1))
            a = np.add.reduceat((a / (a + g0))[order], first)
            np.add.at(piece[1][l], (k, moving), a)
            self.tile_sums[l, tile, k] += a

    def report(self):
        """lag and its error in frames (> 0: depth is late); dx, dy in cells, to be added to depth's place; what is known; what to warn of."""
        p, lags = self.p, np.arange(-self.p.lags, self.p.lags + 1)
        if not self.slices:
            return None
        A = np.stack([a[:, :, 1] + a[p.lags, :, 0] for _, a, _ in self.slices])                  # (piece, lag, K, shift)
        W = np.stack([w for _, _, w in self.slices])
        T = self.T.reshape(len(self.T), -1)
        J = A.sum(0).reshape(len(lags), -1) @ T.T / W.sum() - self.cost
        best, l = J.argmax(1), int((J.max(1) - 1e-6 * np.abs(lags)).argmax())   # each lag's d and f; the best lag
        D = np.einsum("plks,lks->plk", A, self.T[best])                         # each piece's share of J, with those
        t = t_sum((D[:, l, None] - D).transpose(1, 0, 2).reshape(len(lags), -1))
        curve = np.einsum("plks,ks->pl", A, self.T[best[l]])                    # the same d for all lags
        busy = np.flatnonzero(W[:, :, 1].sum(1) >= 0.1 * W.sum((1, 2)))
        lag, n = vertex(curve.sum(0), l) - p.lags, len(busy)
        loo = np.array([vertex(curve.sum(0) - curve[i], l) for i in busy])      # jackknife over the pieces
        error = float(np.sqrt((n - 1) / n * ((loo - loo.mean()) ** 2).sum())) if n > 1 else 9.0
        apart = float(t[np.abs(lags - lags[l]) >= 2].min(initial=9))
        known = n >= p.pieces and apart > p.sure and error < p.error and 0 < l < len(lags) - 1
        late = known and abs(lag) - 2 * error > p.late and t[p.lags] > p.sure
        group = np.eye(8)[np.add.outer(3 * np.arange(p.tiles), np.arange(p.tiles)).ravel() % 8]  # the offset: from the tiles, at that lag
        sums, points = group.T @ self.tile_sums[l].reshape(len(group), -1) @ T.T, group.T @ self.tile_points.sum(1)
        Js = sums.sum(0) / points.sum() - self.cost
        b = int(Js.argmax())
        d, halves = self.hyp[b, :2], (HALVES @ sums / np.maximum(HALVES @ points, 1e-9)[:, None] - self.cost).argmax(1)
        other = (self.tile_sums[t <= p.sure].sum(1).reshape(-1, T.shape[1]) @ T.T / points.sum() - self.cost).argmax(1)
        fats = Js.reshape(-1, 2 * p.fat + 1).argmax(0) * (2 * p.fat + 1) + np.arange(2 * p.fat + 1)
        spread = np.abs(self.hyp[np.r_[halves, other, fats[Js[fats] > Js[b] - p.alike]], :2] - d).max(0)
        seen, beside, ts, gain = [False] * 2, [False] * 2, [0.0] * 2, [0.0] * 2
        for axis in (0, 1):                                                     # against the best that leaves this axis alone
            o = self.unmoved[axis][Js[self.unmoved[axis]].argmax()]
            ts[axis] = float(t_sum(np.einsum("tks,ks->tk", self.tile_sums[l], self.T[b] - self.T[o]).reshape(1, -1))[0])
            gain[axis] = float(Js[b] - Js[o])
            seen[axis] = bool(spread[axis] <= p.agree and Js[b] > p.score and abs(d[axis]) < p.shift)
            beside[axis] = bool(seen[axis] and abs(d[axis]) >= p.beside and ts[axis] > p.better and gain[axis] > p.gain)
        return dict(lag=float(lag), lag_error=error, lag_known=bool(known), late=bool(late), t=apart, t0=float(t[p.lags]), pieces=n,
                    dx=float(d[0]), dy=float(d[1]), f=float(self.hyp[b, 2]), offset_known=seen, beside=beside, spread=spread.tolist(), ts=ts, gain=gain,
                    score=float(Js[b]), moving=float(W[:, :, 1].sum() / W.sum()))
