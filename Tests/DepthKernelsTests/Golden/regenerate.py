#!/usr/bin/env python3
"""Writes the golden pictures beside this file with NumPy and OpenCV, which share no code with the kernels.

    pip install numpy opencv-python-headless
    ./regenerate.py

Look at the changed pictures before you commit them; the commit says why they changed.

<name>.depth.pgm   16-bit counts, 1 mm each, 0 = not measured
<name>.alpha.pgm   the mattes for a cutoff of 1 m, one below the other: for each blur radius of BLUR_RADII, for each
                   gamma of GAMMAS; each has 1/16 of the file's height
faces.txt          x y width height of a box on a 1920x1080 frame, and the face depth in metres, from scene.depth.pgm
"""
import os
import sys

if __name__ == "__main__" and {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__.strip())
    sys.exit()

import cv2
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
BLUR_RADII = (0, 0.5, 5, 20)
GAMMAS = (0.25, 0.5, 1, 2)
CUTOFF = 1.0
FRAME = (1920, 1080)


def metres(counts):
    return counts.astype(np.float64) * 0.001


def matte(depth, video_size, blur_radius, gamma):
    """(H, W) metres -> alpha of video_size = (w, h): threshold, Gaussian, gamma, bicubic, round."""
    mask = np.where((depth > 0) & (depth <= CUTOFF), 255, 0).astype(np.float32)
    if blur_radius > 0:
        k = 2 * int(np.ceil(4 * blur_radius)) + 1
        mask = cv2.GaussianBlur(mask, (k, k), blur_radius, borderType=cv2.BORDER_REPLICATE)
    mask = 255.0 * (mask / 255.0) ** gamma
    alpha = cv2.resize(mask, video_size, interpolation=cv2.INTER_CUBIC)
    return np.clip(np.rint(alpha), 0, 255).astype(np.uint8).reshape(video_size[1], video_size[0])


def face_depth(depth, box):
    """Median of the measured samples in the central half of box = (x, y, w, h) in pixels of FRAME."""
    (vw, vh), (dh, dw) = FRAME, depth.shape
    x, y, w, h = box
    x0 = max(0, int(np.floor((x + w * 0.25) * dw / vw)))
    y0 = max(0, int(np.floor((y + h * 0.25) * dh / vh)))
    x1 = min(dw, max(x0 + 1, int(np.ceil((x + w * 0.75) * dw / vw))))
    y1 = min(dh, max(y0 + 1, int(np.ceil((y + h * 0.75) * dh / vh))))
    samples = depth[y0:y1, x0:x1]
    return np.median(samples[samples > 0])


def scene(rng, width=64, height=48):
    """A head and shoulders at about 0.8 m before a sloping wall, with noise, holes and a not-measured shadow."""
    y, x = np.mgrid[0:height, 0:width]
    counts = 1500 + 12 * x + rng.normal(0, 8, (height, width))
    head = (x - 30) ** 2 / 81 + (y - 16) ** 2 / 121 <= 1
    shoulders = (x - 30) ** 2 / 400 + (y - 46) ** 2 / 324 <= 1
    counts[head | shoulders] = 800
    counts += rng.normal(0, 3, (height, width))
    counts[(x - 41) ** 2 / 9 + (y - 18) ** 2 / 100 <= 1] = 0
    counts[rng.random((height, width)) < 0.02] = 0
    return np.clip(np.rint(counts), 0, 65535).astype(np.uint16)


def write(name, image):
    largest = 65535 if image.dtype == np.uint16 else 255
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(f"P5\n{image.shape[1]} {image.shape[0]}\n{largest}\n".encode())
        f.write(image.astype(">u2" if largest > 255 else np.uint8).tobytes())


def main():
    rng = np.random.default_rng(20)
    one = np.array([[700]], np.uint16)
    few = np.array([[0, 400, 999, 1000, 1001, 65535, 1], [0, 0, 999, 1000, 1001, 0, 0], [5000, 900, 900, 900, 0, 0, 3],
                    [1, 1, 1, 2000, 2000, 2000, 2000], [0, 0, 0, 0, 0, 0, 1000]], np.uint16)
    person = scene(rng)
    for name, counts, size in (("one", one, (3, 2)), ("few", few, (20, 11)), ("scene", person, (121, 67)),
                               ("shrunk", person, (33, 19))):
        write(f"{name}.depth.pgm", counts)
        write(f"{name}.alpha.pgm", np.concatenate([matte(metres(counts), size, r, g)
                                                   for r in BLUR_RADII for g in GAMMAS]))
    with open(os.path.join(HERE, "faces.txt"), "w") as f:
        for box in ((600, 150, 500, 500), (0, 0, 1920, 1080), (850, 300, 30, 30), (901.5, 333.25, 7.5, 5.5),
                    (30, 30, 60, 45)):
            f.write(" ".join(map(str, box)) + f" {float(face_depth(metres(person), box))!r}\n")


if __name__ == "__main__":
    main()
