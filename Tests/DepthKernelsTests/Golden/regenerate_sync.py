#!/usr/bin/env python3
"""Writes the golden reports of lag and offset beside this file, by Tests/quality/sync_estimate.py.

    pip install numpy
    ./regenerate_sync.py

sync.txt   clip, lag, dx, dy of the clip (in frames and cells; clip 5 stands still), frame; then of the report lag, error, known,
           late, dx, dy, known and beside of each, score

SyncTests.swift draws the same clips by the same whole numbers.
"""
import os
import sys

if __name__ == "__main__" and {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__.strip())
    sys.exit()

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../quality"))
from sync_estimate import SyncEstimate  # noqa: E402

WIDTH, HEIGHT, FRAMES, CUTOFF = 160, 120, 150, 1.5
CLIPS = ((0, 0, 0), (2, 0, 0), (-3, 0, 0), (0, 4, 0), (2, -3, 2), (0, 0, 0))
STILL = 5
Y, X = np.mgrid[0:HEIGHT, 0:WIDTH]


def sway(frame):
    """To and fro, at most 16 cells, 40 frames long."""
    p = frame % 40
    q = p * (20 - p) if p < 20 else (20 - p) * (40 - p)
    return 80 + (q + 600) // 6 - 100


def person(frame, dx, dy):
    x, y = X - sway(frame) - dx, Y - dy
    head, chest = 5 * x * x + 3 * (y - 40) ** 2 <= 1500, 3 * x * x + 2 * (y - 125) ** 2 <= 6000
    return head | chest


def luma(frame):
    room = 40 + ((X // 5 * 73 + Y // 5 * 151) * 37 % 256) // 4
    shirt = 170 + ((X - sway(frame) + 200) // 6 * 29 + Y // 6 * 53) % 32
    return np.where(person(frame, 0, 0), shirt, room)


def metres(frame, dx, dy):
    return np.where(person(frame, dx, dy), 1.0, 2.5).astype(np.float32)


def main():
    with open(os.path.join(HERE, "sync.txt"), "w") as out:
        for clip, (lag, dx, dy) in enumerate(CLIPS):
            estimate = SyncEstimate()
            for frame in range(FRAMES):
                time = 0 if clip == STILL else frame + 10
                estimate.step(luma(time), metres(time - lag, -dx, -dy), CUTOFF)
                r = (frame + 1) % 30 == 0 and estimate.report()
                if r:
                    numbers = (clip, lag, dx, dy, frame + 1, f"{r['lag']:.3f}", f"{r['lag_error']:.3f}", int(r["lag_known"]), int(r["late"]),
                               r["dx"], r["dy"], *map(int, r["offset_known"]), *map(int, r["beside"]), f"{r['score']:.3f}")
                    print(*numbers, file=out)


if __name__ == "__main__":
    main()
