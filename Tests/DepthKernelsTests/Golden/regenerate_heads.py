#!/usr/bin/env python3
"""Writes the golden frames of the head finder beside this file, by Tests/quality/head_finder.py.

    pip install numpy opencv-python-headless
    ./regenerate_heads.py

heads.depth.pgm   16-bit counts, 1 mm each, 0 = not measured; the frames one below the other
heads.txt         a line for each head: frame, 1 = followed, left, top, side (depth pixels), distance (m), log odds
heads.starts.txt  a line for each sequence: its first frame
heads.real.txt    with DEPTHMATTE_REAL_DATA, the folder of the recorded cases: name, frame, and the same numbers, of a map
                  that is shown three times; of the first, the middle and the last frame of a case
"""
import json
import os
import sys

if __name__ == "__main__" and {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__.strip())
    sys.exit()

import cv2
import numpy as np

from regenerate import HERE, metres, write

sys.path.insert(0, os.path.join(HERE, "../../quality"))
from head_finder import HeadFinder  # noqa: E402

WIDTH, HEIGHT = 160, 120
FOCAL = 0.87 * WIDTH
# Centers and radii in metres, from the middle of the head: head, neck, chest, two arms.
BODY = [
    ((0, 0, 0), (0.078, 0.115, 0.095)), ((0, 0.15, 0.02), (0.055, 0.10, 0.055)), ((0, 0.50, 0.04), (0.21, 0.33, 0.12)),
    ((-0.24, 0.48, 0.03), (0.05, 0.25, 0.06)), ((0.24, 0.48, 0.03), (0.05, 0.25, 0.06))]
# From the front: hips; thighs, knees and shins before the trunk.
SEATED = BODY[:2] + [((0, 0.42, 0.04), (0.21, 0.28, 0.13)), ((0, 0.68, 0), (0.18, 0.14, 0.14))] + [
    ((side * x, y, z), radii) for side in (-1, 1) for (x, y, z), radii in (
        ((0.26, 0.45, 0.0), (0.05, 0.25, 0.06)), ((0.11, 0.70, -0.22), (0.08, 0.08, 0.3)),
        ((0.12, 0.74, -0.47), (0.075, 0.11, 0.08)), ((0.12, 0.95, -0.45), (0.06, 0.25, 0.06)))]
ARM = [((0.2, 0.0, 0), (0.35, 0.12, 0.04))]
VASE = [((0, 0, 0), (0.09, 0.12, 0.09)), ((0, -0.12, 0), (0.03, 0.08, 0.03))]


def solid(parts, x, y, z):
    """Depth of ellipsoids whose parts are placed about (x, y, z), seen through a pinhole; infinite beside them."""
    v, u = np.mgrid[0:HEIGHT, 0:WIDTH]
    u, v = (u + 0.5 - WIDTH / 2) / FOCAL, (v + 0.5 - HEIGHT / 2) / FOCAL
    front = np.full((HEIGHT, WIDTH), np.inf)
    for (cx, cy, cz), (rx, ry, rz) in parts:
        cx, cy, cz = cx + x, cy + y, cz + z
        a = (u / rx) ** 2 + (v / ry) ** 2 + 1 / rz ** 2
        b = u * cx / rx ** 2 + v * cy / ry ** 2 + cz / rz ** 2
        c = (cx / rx) ** 2 + (cy / ry) ** 2 + (cz / rz) ** 2 - 1
        root = b * b - a * c
        front = np.fmin(front, np.where(root > 0, (b - np.sqrt(np.maximum(root, 0))) / a, np.inf))
    return front


def frame(rng, *solids, desk=False):
    """Solids before a wall at 2.6 m, with noise, dots and the shadows of structured light at their left."""
    v = (np.mgrid[0:HEIGHT, 0:WIDTH][0] + 0.5 - HEIGHT / 2) / FOCAL
    room = np.full((HEIGHT, WIDTH), 2.6)
    if desk:
        room = np.fmin(room, np.where(v > 0.05, 0.35 / np.maximum(v, 0.05), np.inf))
    z = np.fmin.reduce([room, *solids])
    near = z < room - 0.3
    z = z + rng.normal(0, 0.0015, z.shape) * z * z
    for shift in range(1, 7):
        z[np.roll(near, -shift, axis=1) & ~near] = 0
    z[rng.random(z.shape) < 0.01] = 0
    return np.rint(z * 1000).astype(np.uint16)


def main():
    rng = np.random.default_rng(34)
    frames = [frame(rng)]
    frames += [frame(rng, solid(BODY, x, -0.1, 1.0)) for x in (0.05, 0.06, 0.12, 0.13)]
    frames += [frame(rng), frame(rng, solid(BODY, 0.15, -0.1, 1.02))]
    frames += [frame(rng, solid(BODY, x, -0.1, 1.05), solid(BODY, -0.45, -0.2, 1.9)) for x in (0.16, 0.18, 0.2)]
    frames += [frame(rng, solid(VASE, 0.1, 0.16, 1.4), desk=True)]
    person = solid(BODY, 0.05, -0.1, 1.0)
    arms = [solid(ARM, x, -0.1, z) for x, z in ((0.1, 0.7), (0, 0.72), (0, 0.9), (0.6, 0.9))]
    sequences = [
        frames,
        [frame(rng, person)] + [frame(rng, person, arm) for arm in arms],  # nearer twice, at the head's distance, beside it
        [frame(rng, solid(SEATED, 0.1, -0.7, 1.6))],  # the knees are nearer, and rounder
        [frame(rng, solid(SEATED, 0.1, -0.8, 1.6))],  # no head in the picture
        [frame(rng, solid(SEATED, 0.1, -0.8, 2.0))],  # the border cuts the crown off
        [frame(rng, solid(BODY, 0.05, -0.35, 1.5), solid(BODY, 0.08, 0.15, 1.3))]]  # a child before an adult
    number, starts, lines = 0, [], []
    for sequence in sequences:
        finder = HeadFinder()
        starts.append(f"{number}\n")
        for depth in sequence:
            lines += [f"{number} {line}" for line in heads(finder, metres(depth).astype(np.float32))]
            number += 1
    write("heads.depth.pgm", np.concatenate([depth for sequence in sequences for depth in sequence]))
    write_lines("heads.txt", lines)
    write_lines("heads.starts.txt", starts)
    if folder := os.environ.get("DEPTHMATTE_REAL_DATA"):
        write_lines("heads.real.txt", real(folder))


def heads(finder, depth):
    followed, others = finder.step(depth, max(depth.shape) / 1.15)  # the element's lens where none is known
    return ["{} {:.3f} {:.3f} {:.3f} {:.4f} {:.3f}\n".format(int(head is followed), *head.box[:3], head.z, head.t)
            for head in [followed] * (followed is not None) + others]


def real(folder):
    with open(os.path.join(folder, "manifest.json")) as f:
        cases = json.load(f)["cases"]
    for case in cases:
        count = len(case["frames"])
        for index in sorted({0, count // 2, count - 1}):
            counts = cv2.imread(os.path.join(folder, case["dir"], case["frames"][index]["depth"]), cv2.IMREAD_UNCHANGED)
            if case["kind"] == "disparity":
                depth = 1 / (counts * case["disparity_per_count"] + case["disparity_offset"])
            else:
                depth = counts * case["metres_per_count"]
            finder = HeadFinder()
            lines = [heads(finder, depth.astype(np.float32)) for _ in range(3)][-1]
            yield from (f"{case['id']} {index} {line}" for line in lines)


def write_lines(name, lines):
    with open(os.path.join(HERE, name), "w") as f:
        f.writelines(lines)


if __name__ == "__main__":
    main()
