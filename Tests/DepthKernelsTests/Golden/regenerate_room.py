#!/usr/bin/env python3
"""Writes the golden stages of room-memory=keep beside this file, by Tests/quality/room_memory.py.

    pip install numpy opencv-python-headless
    ./regenerate_room.py

A frame of the empty room is captured 16 times; then come the frames of regenerate_fusion.py.

room.depth.pgm     the empty room, with a table as far as the person: 16-bit counts, 1 mm each, 0 = not measured
room.video.pgm     its red, green and blue, one below the other; there is a poster on the wall
room.class.pgm     the classes of the samples of the frames behind it: 0 room, 1 open, 2 person
room.odds.pgm      their log odds T, settled: 16-bit counts, (T + 16) x 2048
room.share.pgm     their probabilities P: 16-bit counts, 65535 = 1
"""
import os
import sys

if __name__ == "__main__" and {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__.strip())
    sys.exit()

import numpy as np

from regenerate import HERE, metres, write
from regenerate_fusion import CUTOFF, FACE, SHIFTS, VIDEO, depth, video, write_stages

sys.path.insert(0, os.path.join(HERE, "../../quality"))
from room_memory import RoomMatte  # noqa: E402

AWAY = 1000  # samples: nobody is in the picture
TABLE = (0.56, 0.8)  # of the picture: its left and its top edge
POSTER = (0.16, 0.34, 0.1, 0.7)  # left, right, top and bottom; it is gone when the person comes


def empty(rng):
    """The room without the person. The table is where their shirt will be, and as blue."""
    counts, picture = depth(rng, AWAY), video(rng, AWAY)
    table = 950 + rng.normal(0, 3, counts.shape), (62, 80, 148) + rng.normal(0, 2, picture.shape)
    for image, thing in zip((counts, picture), table):
        top, left = int(TABLE[1] * image.shape[0]), int(TABLE[0] * image.shape[1])
        image[top:, left:] = np.clip(np.rint(thing), 0, 65535)[top:, left:]
    left, right, top, bottom = (int(share * size) for share, size in zip(POSTER, np.repeat(VIDEO, 2)))
    picture[top:bottom, left:right] //= 4
    return counts, picture


def main():
    rng, matte = np.random.default_rng(7), RoomMatte(anchored=False)
    frames = [(depth(rng, shift), video(rng, shift)) for shift in SHIFTS]
    counts, picture = empty(rng)
    bgr = lambda rgb: np.ascontiguousarray(rgb[..., ::-1])
    matte.capture([bgr(picture)] * 16, [metres(counts).astype(np.float32)] * 16)
    stages = []
    for z, rgb in frames:
        matte.step(bgr(rgb), metres(z).astype(np.float32), FACE, CUTOFF)
        stages.append(matte.stages)
    write("room.depth.pgm", counts)
    write("room.video.pgm", picture.transpose(2, 0, 1).reshape(-1, VIDEO[0]))
    write_stages("room", stages)


if __name__ == "__main__":
    main()
