#!/usr/bin/env python3
"""Writes the golden frame of subject=anchored beside this file, by Tests/quality/subject.py and quality_matte.py.

    pip install numpy opencv-python-headless
    ./regenerate_subject.py

subject.depth.pgm   16-bit counts, 1 mm each, 0 = not measured
subject.class.pgm   the classes of the samples: 0 room, 1 open, 2 person
subject.faces.txt   x y width height of each face in samples, the person's first
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
from seed_matte import face_depth  # noqa: E402

WIDTH, HEIGHT = 160, 240
FOCAL = HEIGHT / 1.15
FLOOR = 0.8  # metres below the camera
BAND = 7  # columns that no depth reaches


class Scene:
    """Distances in metres, as a camera of 60 degrees sees them that looks straight ahead."""

    def __init__(self):
        below = np.maximum(np.arange(HEIGHT)[:, None] + 0.5 - HEIGHT / 2, 1e-3)
        self.z = np.minimum(FLOOR * FOCAL / below, 4) + np.zeros((1, WIDTH))

    def add(self, left, right, high, low, distance, depth=0.0):
        """A thing between two heights above the floor and two sides of the axis, round by `depth` metres at its sides."""
        scale = FOCAL / distance
        middle, half = WIDTH / 2 + scale * (left + right) / 2, scale * (right - left) / 2
        x, y = np.arange(WIDTH)[None] + 0.5, np.arange(HEIGHT)[:, None] + 0.5
        above = FLOOR - (y - HEIGHT / 2) / scale
        inside = (np.abs(x - middle) < half) & (above < high) & (above > low)
        z = distance + depth * ((x - middle) / half) ** 2 + 0 * above
        self.z = np.where(inside & (z < self.z), z, self.z)

    def add_person(self, axis, distance):
        """1.66 m high. -> the box of the face"""
        for side in (-0.1, 0.1):
            self.add(axis + side - 0.08, axis + side + 0.08, 0.85, 0, distance + 0.02, 0.03)
            self.add(axis + side - 0.06, axis + side + 0.06, 0.08, 0, distance - 0.08)
        self.add(axis - 0.22, axis + 0.22, 1.36, 0.8, distance + 0.02, 0.1)
        self.add(axis - 0.06, axis + 0.06, 1.46, 1.3, distance + 0.04, 0.03)
        self.add(axis - 0.08, axis + 0.08, 1.66, 1.42, distance, 0.06)
        scale = FOCAL / distance
        return (round(WIDTH / 2 + (axis - 0.08) * scale, 2), round(HEIGHT / 2 + (FLOOR - 1.62) * scale, 2),
                round(0.16 * scale, 2), round(0.18 * scale, 2))


def depth(rng):
    """A person before a chair, with a hand held out and dark shoes, beside a neighbour who touches them; floor, wall and noise."""
    scene = Scene()
    faces = [scene.add_person(-0.12, 1.6), scene.add_person(0.31, 1.63)]
    scene.add(-0.5, 0.2, 1.3, 0.4, 1.80)                                        # the chair's back, 8 cm behind the shoulders
    scene.add(-0.4, -0.28, 1.2, 1.06, 1.2, 0.02)                                # the hand
    counts = 1000 * (scene.z + rng.normal(0, 0.0008, scene.z.shape) * scene.z ** 2)
    x, y = np.arange(WIDTH)[None], np.arange(HEIGHT)[:, None]
    counts[(np.abs(x - WIDTH / 2 + 0.12 * FOCAL / 1.6) < 26) & (y > 212) & (y < 226)] = 0
    near = scene.z < 1.85
    counts[np.roll(near, -4, axis=1) & ~near & (y < 180)] = 0                   # the shadow of all of them on the wall
    counts[rng.random(counts.shape) < 0.01] = 0
    counts[:, :BAND] = 0
    return np.clip(np.rint(counts), 0, 65535).astype(np.uint16), faces


def main():
    counts, faces = depth(np.random.default_rng(11))
    z, video = metres(counts).astype(np.float32), np.full((HEIGHT, WIDTH, 3), 128, np.uint8)
    matte = QualityMatte()
    matte.step(video, z, faces[0], face_depth(metres(counts), (WIDTH, HEIGHT), faces[0]) + 0.25, faces[1:])
    person, room = matte.stages[:2]
    write("subject.depth.pgm", counts)
    write("subject.class.pgm", np.where(person, 2, np.where(room, 0, 1)).astype(np.uint8))
    with open(os.path.join(HERE, "subject.faces.txt"), "w") as f:
        f.writelines(" ".join(map(str, face)) + "\n" for face in faces)


if __name__ == "__main__":
    main()
