#!/usr/bin/env python3
"""Writes the golden frames of method=fusion beside this file, by Tests/quality/quality_matte.py.

    pip install numpy opencv-python-headless
    ./regenerate_fusion.py

fusion.depth.pgm   16-bit counts, 1 mm each, 0 = not measured; the frames one below the other
fusion.video.pgm   red, green and blue of the first frame one below the other, then those of the next
fusion.alpha.pgm   the mattes, one below the other
fusion.class.pgm   the classes of the samples: 0 room, 1 open, 2 person
fusion.odds.pgm    their log odds T, settled: 16-bit counts, (T + 16) x 2048
fusion.share.pgm   their probabilities P: 16-bit counts, 65535 = 1
"""
import os
import sys

if __name__ == "__main__" and {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__.strip())
    sys.exit()

import numpy as np

from regenerate import HERE, metres, write

sys.path.insert(0, os.path.join(HERE, "../../quality"))
from quality_matte import QualityMatte  # noqa: E402

DEPTH, VIDEO, FACE, CUTOFF = (160, 120), (220, 165), (90, 38, 36, 40), 1.2
SHIFTS = (0, 0, 3, 3)


def person(shape, shift):
    """Head, hair and shoulders of a picture of `shape`, moved to the right by `shift` depth samples."""
    height, width = shape
    y, x = np.mgrid[0:height, 0:width]
    x, y = (x + 0.5) * DEPTH[0] / width - shift, (y + 0.5) * DEPTH[1] / height
    head = (x - 78) ** 2 / 12 ** 2 + (y - 42) ** 2 / 16 ** 2 <= 1
    hair = ((x - 78) ** 2 / 17 ** 2 + (y - 36) ** 2 / 19 ** 2 <= 1) & (y < 46) & ~head
    shoulders = (x - 78) ** 2 / 44 ** 2 + (y - 118) ** 2 / 56 ** 2 <= 1
    return head, hair, shoulders & ~head & ~hair


def depth(rng, shift):
    """The person at 0.95 m before a wall at 1.9 m that has a window: an endless hole. Hair and a shadow have no depth."""
    head, hair, shoulders = person(DEPTH[::-1], shift)
    y, x = np.mgrid[0:DEPTH[1], 0:DEPTH[0]]
    counts = 1900 + rng.normal(0, 9, head.shape)
    counts[(x > 118) & (y < 70)] = 0
    body = head | shoulders
    counts[np.roll(body, -7, axis=1) & ~body] = 0
    counts[body] = (950 + rng.normal(0, 3, head.shape))[body]
    counts[hair] = 0
    counts[rng.random(head.shape) < 0.01] = 0
    return np.clip(np.rint(counts), 0, 65535).astype(np.uint16)


def video(rng, shift):
    """RGB: skin, dark hair and a blue shirt before a yellowish wall with a bright window."""
    head, hair, shoulders = person(VIDEO[::-1], shift)
    y, x = np.mgrid[0:VIDEO[1], 0:VIDEO[0]]
    picture = np.empty((*head.shape, 3))
    picture[:] = (170, 160, 120)
    picture += (12 * np.sin(x / 9) * np.cos(y / 7))[..., None]
    picture[(x > 165) & (y < 95)] = (235, 240, 250)
    for mask, color in ((head, (205, 160, 130)), (hair, (50, 38, 30)), (shoulders, (60, 80, 150))):
        picture[mask] = color
    return np.clip(np.rint(picture + rng.normal(0, 2, picture.shape)), 0, 255).astype(np.uint8)


def write_stages(name, stages):
    """Of each frame the person's and the room's samples, T and P."""
    pictures = {
        "class": [np.where(person, 2, np.where(room, 0, 1)).astype(np.uint8) for person, room, _, _ in stages],
        "odds": [np.rint((odds + 16) * 2048).astype(np.uint16) for _, _, odds, _ in stages],
        "share": [np.rint(share * 65535).astype(np.uint16) for _, _, _, share in stages]}
    for kind, of_frames in pictures.items():
        write(f"{name}.{kind}.pgm", np.concatenate(of_frames))


def main():
    rng, matte = np.random.default_rng(7), QualityMatte(anchored=False)
    depths, videos, alphas, stages = [], [], [], []
    for shift in SHIFTS:
        z, rgb = depth(rng, shift), video(rng, shift)
        alpha = matte.step(np.ascontiguousarray(rgb[..., ::-1]), metres(z).astype(np.float32), FACE, CUTOFF)
        depths.append(z)
        videos.append(rgb.transpose(2, 0, 1).reshape(-1, VIDEO[0]))
        alphas.append(np.rint(alpha * 255).astype(np.uint8))
        stages.append(matte.stages)
    write("fusion.depth.pgm", np.concatenate(depths))
    write("fusion.video.pgm", np.concatenate(videos))
    write("fusion.alpha.pgm", np.concatenate(alphas))
    write_stages("fusion", stages)


if __name__ == "__main__":
    main()
