"""Depth as codes of 8 bits in a picture of 4:2:0: the reference of depthpack and depthunpack.

depth: (h, w) float32 metres, 0 = not measured, h and w even. cell: (y, u, v) as I420 has it, y (h, w), u and v (h/2, w/2), uint8.
The codings: encode(coding, depth) -> cell, decode(coding, cell) -> depth. The formulas are on the page of depthpack.
"""
import numpy as np

F = np.float32
RANGES = {"gray": (0.3, 8.0), "black": (0.3, 8.0), "record3d": (0.0, 3.0), "realsense": (0.4, 8.0), "depthkit": (0.5, 3.0)}
INVERSE = ("gray", "black", "realsense")
HOLE = 64    # what U is above 128 where nothing was measured
LEVEL = 0.625  # the share of that which makes a hole
GUARD = 32   # codes between black and the farthest distance


def to_cell(rgb, kr=0.299, kb=0.114):
    """RGB (h, w, 3) uint8 -> cell in limited range; chroma is the mean of 2x2 pixels."""
    c = rgb.astype(F) / 255
    y = kr * c[..., 0] + (1 - kr - kb) * c[..., 1] + kb * c[..., 2]
    u, v = half((c[..., 2] - y) / (2 - 2 * kb)), half((c[..., 0] - y) / (2 - 2 * kr))
    return byte(16 + 219 * y), byte(128 + 224 * u), byte(128 + 224 * v)


def to_rgb(cell, kr=0.299, kb=0.114):
    """Cell -> RGB (h, w, 3) float32, 0 to 1 and not clipped."""
    y = (cell[0].astype(F) - 16) / 219
    u, v = (double((p.astype(F) - 128) / 224) for p in cell[1:])
    r, b = y + (2 - 2 * kr) * v, y + (2 - 2 * kb) * u
    return np.stack([r, (y - kr * r - kb * b) / (1 - kr - kb), b], -1)


def half(p):
    return (p[0::2, 0::2] + p[0::2, 1::2] + p[1::2, 0::2] + p[1::2, 1::2]) / 4


def double(p):
    return p.repeat(2, 0).repeat(2, 1)


def byte(x):
    return np.clip(np.rint(x), 0, 255).astype(np.uint8)


def share(coding, depth):
    """Share of the range; distances beyond its ends count as these, holes give anything."""
    near, far = RANGES[coding]
    d = np.where(depth > 0, np.clip(depth, near, far), near or 1).astype(F)
    return (1 / d - 1 / far) / (1 / near - 1 / far) if coding in INVERSE else (d - near) / (far - near)


def metres(coding, p):
    near, far = RANGES[coding]
    p = np.clip(p, 0, 1)
    return (1 / (1 / far + p * (1 / near - 1 / far)) if coding in INVERSE else near + p * (far - near)).astype(F)


def fill(depth):
    """Each hole takes the farther of the nearest measured distances left and right of it."""
    w = depth.shape[1]
    column = np.arange(w)[None]
    left = np.maximum.accumulate(np.where(depth > 0, column, -1), 1)
    right = np.minimum.accumulate(np.where(depth > 0, column, w)[:, ::-1], 1)[:, ::-1]
    a = np.where(left >= 0, np.take_along_axis(depth, np.maximum(left, 0), 1), 0)
    b = np.where(right < w, np.take_along_axis(depth, np.minimum(right, w - 1), 1), 0)
    return np.where(depth > 0, depth, np.maximum(a, b)).astype(F)


def settle(code, edge, slack, mode):
    """Undoes what a codec smears over edges: a code that is `slack` away from both ends of its 3x3, which are `edge` apart,
    becomes that of the nearer end ("snap") or of none ("reject"). Codes of holes lie below all others."""
    def window(f):
        q = np.pad(code, 1, mode="edge")
        r = f(f(q[:, :-2], q[:, 1:-1]), q[:, 2:])
        return f(f(r[:-2], r[1:-1]), r[2:])
    if mode == "keep":
        return code
    low, high = window(np.minimum), window(np.maximum)
    between = (high - low > edge) & (code - low > slack) & (high - code > slack)
    return np.where(between, np.where(code - low < high - code, low, high) if mode == "snap" else F(-1), code)


def hue_rgb(hue, lit):
    h = hue[..., None] * 6
    c = np.clip(np.concatenate([np.abs(h - 3) - 1, 2 - np.abs(h - 2), 2 - np.abs(h - 4)], -1), 0, 1)
    return byte(255 * c * lit[..., None])


def encode(coding, depth):
    measured = depth > 0
    gray = np.full((depth.shape[0] // 2, depth.shape[1] // 2), 128, np.uint8)
    if coding == "gray":
        full = fill(depth)
        y = np.where(full > 0, 16 + 219 * share(coding, full), 16)
        return byte(y), byte(128 + HOLE * half((~measured).astype(F))), gray
    if coding == "black":
        return byte(np.where(measured, 16 + GUARD + (219 - GUARD) * share(coding, depth), 16)), gray, gray
    if coding == "record3d":
        near, far = RANGES[coding]
        hue = np.where((depth > near) & (depth < far), share(coding, depth), 0)
        return to_cell(hue_rgb(hue, np.ones_like(hue)))
    return to_cell(hue_rgb(np.rint(share(coding, depth) * 1529) / 1530, measured))


def decode(coding, cell, mode):
    code = cell[0].astype(F)
    if coding == "gray":
        y = settle(code, 12, 4, mode)
        return np.where((double(cell[1]) >= 128 + LEVEL * HOLE) | (y < 0), 0, metres(coding, (y - 16) / 219)).astype(F)
    if coding == "black":
        y = settle(code, 12, 4, mode)
        hole = np.minimum(y, code) < 16 + 0.75 * GUARD
        return np.where(hole, 0, metres(coding, (y - 16 - GUARD) / (219 - GUARD))).astype(F)
    c = to_rgb(cell)
    high, low = c.max(-1), c.min(-1)
    span = np.maximum(high - low, F(1e-6))
    r, g, b = c[..., 0], c[..., 1], c[..., 2]
    hue = np.where(high == r, (g - b) / span, np.where(high == g, 2 + (b - r) / span, 4 + (r - g) / span)) / 6 % 1
    ends = (1 / 30, 1 / 15) if coding == "record3d" else (0, 0)
    hole = (span < 0.4) | (hue < ends[0]) | (hue > 1 - ends[1])
    settled = settle(np.where(hole, -0.2, hue).astype(F), 0.06, 0.015, mode)
    return np.where(settled < 0, 0, metres(coding, settled * (1 if coding == "record3d" else 1530 / 1529))).astype(F)
