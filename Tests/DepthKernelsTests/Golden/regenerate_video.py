#!/usr/bin/env python3
"""Writes the golden pictures of the depth codings beside this file, by Tests/quality/rgbd_video.py.

    pip install numpy opencv-python-headless
    ./regenerate_video.py

video.depth.pgm      16-bit counts, 1 mm each, 0 = not measured
CODING.cell.pgm      the map as I420: luma, and below it U and V side by side; under it the same, smeared as by a codec
CODING.EDGES.pgm     what both are read as, in millimetres, one below the other
"""
import os
import sys

if __name__ == "__main__" and {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__.strip())
    sys.exit()

import cv2
import numpy as np

from regenerate import HERE, write

sys.path.insert(0, os.path.join(HERE, "../../quality"))
from rgbd_video import RANGES, byte, decode, encode  # noqa: E402

WIDTH, HEIGHT = 64, 48


def scene():
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    depth = (1.2 + 0.03 * x + 0.01 * y).astype(np.float32)
    depth[(x - 24) ** 2 / 120 + (y - 24) ** 2 / 260 <= 1] = 0.75
    depth[(x >= 36) & (x < 42) & (y > 8) & (y < 40)] = 0
    depth[::7, ::5] = 0
    depth[:, 58:] = np.where(y[:, 58:] < 20, 0.1, 9)
    depth[46:] = 0
    return np.rint(depth * 1000).astype(np.float32) * np.float32(0.001)


def main():
    depth = scene()
    write("video.depth.pgm", np.rint(depth * 1000).astype(np.uint16))
    for coding in RANGES:
        clean = encode(coding, depth)
        smeared = tuple(byte(cv2.blur(p.astype(np.float32), (3, 3))) for p in clean)
        cells = [clean, smeared]
        write(f"{coding}.cell.pgm", np.vstack([np.vstack([c[0], np.hstack(c[1:])]) for c in cells]))
        for edges in ("keep", "snap", "reject"):
            read = np.vstack([decode(coding, c, edges) for c in cells])
            write(f"{coding}.{edges}.pgm", np.where(read > 0, np.clip(np.rint(read * 1000), 1, 65534), 0).astype(np.uint16))


if __name__ == "__main__":
    main()
