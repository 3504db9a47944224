#!/usr/bin/env python3
"""The matte as it is glued together from OpenCV, timed: one thread, frames in memory.

    pip install numpy opencv-python-headless
    opencv_baseline.py [--size 1920x1080] [--depth 640x480] [--channels 3] [--sigma 5] [--rounds 40] [--json]

Five stages: threshold (inRange), blur (GaussianBlur), gamma (LUT), enlargement (resize, cubic), and the 8-bit blend over
a still. OpenCV has no blend by a mask of one channel; of multiply/add on 8-bit channels, blendLinear on float weights,
and NumPy, the first is the fastest and is what runs here. --channels 4 takes BGRA, 3 BGR.

Prints medians in milliseconds for a frame: the matte, the blend, both together, and a copy of the same frame made in
turn with them; and the median of the rounds' ratios of both together to the copy.
"""
import argparse
import json
import statistics
import sys
import time
from importlib.util import find_spec

if __name__ == "__main__" and {"-h", "--help"} & set(sys.argv[1:]) and find_spec("cv2") is None:
    print(__doc__.strip())
    sys.exit()

try:
    import cv2
    import numpy as np
except ImportError as error:
    sys.exit(f"opencv_baseline.py: {error}; pip install numpy opencv-python-headless")


def size(text):
    width, height = text.lower().split("x")
    return int(width), int(height)


def person(width, height):
    """Head and shoulders over about a quarter of the frame: the scene "person" of depthbench."""
    rows, columns = np.mgrid[:height, :width]
    u, v = (columns - width / 2) / width, rows / height
    head = (u / 0.11) ** 2 + ((v - 0.38) / 0.20) ** 2 < 1
    return head | ((v > 0.58) & (abs(u) < 0.26))


class Matting:
    def __init__(self, arguments):
        (width, height), (depth_width, depth_height) = arguments.size, arguments.depth
        random = np.random.default_rng(0)
        self.size, self.sigma, self.channels = arguments.size, arguments.sigma, arguments.channels
        self.depth = np.where(person(depth_width, depth_height), 700, 2000).astype(np.uint16)
        if arguments.scene == "noisy":
            noise = random.normal(0, 2, self.depth.shape) * (self.depth / 1000.0) ** 2
            self.depth = np.rint(self.depth + noise).astype(np.uint16)
            self.depth[random.random(self.depth.shape) < 0.02] = 0
        shape = (height, width, arguments.channels)
        self.video = random.integers(0, 256, shape, np.uint8)
        self.background = random.integers(0, 256, shape, np.uint8)
        self.gamma = np.rint(255 * (np.arange(256) / 255.0) ** arguments.gamma).astype(np.uint8)

    def matte(self):
        mask = cv2.inRange(self.depth, 1, 950)
        if self.sigma > 0:
            mask = cv2.GaussianBlur(mask, (0, 0), self.sigma, borderType=cv2.BORDER_REPLICATE)
        return cv2.resize(cv2.LUT(mask, self.gamma), self.size, interpolation=cv2.INTER_CUBIC)

    def blend(self, matte):
        weight = cv2.merge([matte] * self.channels)
        person = cv2.multiply(self.video, weight, scale=1 / 255.0)
        return cv2.add(person, cv2.multiply(self.background, cv2.bitwise_not(weight), scale=1 / 255.0))


def milliseconds(work):
    start = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", type=size, default=(1920, 1080))
    parser.add_argument("--depth", type=size, default=(640, 480))
    parser.add_argument("--channels", type=int, choices=(3, 4), default=3)
    parser.add_argument("--sigma", type=float, default=5.0)
    parser.add_argument("--gamma", type=float, default=0.5)
    parser.add_argument("--scene", choices=("person", "noisy"), default="person")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    cv2.setNumThreads(1)

    matting = Matting(arguments)
    matte = matting.matte()
    copy = np.empty_like(matting.video)
    works = {
        "matte_ms": matting.matte,
        "blend_ms": lambda: matting.blend(matte),
        "total_ms": lambda: matting.blend(matting.matte()),
        "memcpy_ms": lambda: np.copyto(copy, matting.video),
    }
    rounds = {name: [] for name in works}
    for number in range(arguments.rounds + 3):
        for name, work in works.items():
            took = milliseconds(work)
            if number >= 3:
                rounds[name].append(took)
    result = {"opencv": cv2.__version__}
    result.update({name: statistics.median(times) for name, times in rounds.items()})
    result["ratio"] = statistics.median(a / b for a, b in zip(rounds["total_ms"], rounds["memcpy_ms"]))
    if arguments.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:10s} {value:.3f}" if isinstance(value, float) else f"{name:10s} {value}")


if __name__ == "__main__":
    main()
