#!/usr/bin/env python3
"""Counts the instructions of a frame for the depth maps, and the lists of regions, that may be the most work.

    Tests/worst.py [WORK...]

WORK: rows to count, by the beginning of their names; all by default. valgrind counts, so that the result is the same on a
busy machine. A row's number is millions of instructions of a frame, and how many times those of a scene with a person that
is. Exits with 1 if that is more than the row's limit, or if four times the pixels cost more than five times as much. Needs
the plugin in .build/release or in GST_PLUGIN_PATH.
"""
import argparse
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIZE = (160, 120)
FEW, MANY = 2, 5
ELEMENTS = {
    "threshold": "depthmatte name=e method=threshold max-threads=1",
    "fusion": "depthmatte name=e method=fusion max-threads=1",
    "depthcolorize": "depthcolorize name=e",
    "depthcloud": "depthcloud name=e max-threads=1",
}
# The most times the work of a scene that a map may be.
LIMIT = 2
# The same for lists of regions, of which 64 are read: each is a median over its depth.
REGION_LIMITS = {"threshold": 3, "fusion": 2}


def scene(x, y, width, height):
    """Metres of somebody before a wall."""
    inside = ((x / width - 0.5) * 3) ** 2 + ((y / height - 0.6) * 1.6) ** 2 < 0.5
    return 0.7 + 0.1 * x / width if inside else 2 + x / width


def ring(x, y, width, height):
    """Metres of somebody who is nearer than the sensor measures but for an edge about them."""
    square = (2 * x / width - 1) ** 2 + (2 * y / height - 1) ** 2
    return 0 if square < 0.5 else 0.25 if square < 0.9 else 2


PATTERNS = {
    "scene": scene,
    "checkerboard": lambda x, y, width, height: 0.7 if (x + y) % 2 else 3.0,
    "stripes": lambda x, y, width, height: 0.7 if x % 2 else 3.0,
    "noise": lambda x, y, width, height: random.uniform(0, 3),
    "holes": lambda x, y, width, height: 0 if random.random() < 0.5 else scene(x, y, width, height),
    "too near": ring,
    "all different": lambda x, y, width, height: 0.5 + (x + y * width) / (width * height),
}


# Floats all of whose bytes are the same.
FLOATS = {"NaN": 255, "3e38": 127}


class Counter:
    """Counts the instructions of launch lines."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = dict(os.environ, SWIFT_BACKTRACE="enable=no", GST_REGISTRY=f"{folder}/registry.bin")
        plugins = self.environment.get("GST_PLUGIN_PATH", f"{ROOT}/.build/release")
        subprocess.run([f"{ROOT}/Tests/testplugin/build.sh", folder], check=True)
        self.environment["GST_PLUGIN_PATH"] = f"{plugins}:{folder}"
        subprocess.run(["gst-inspect-1.0", "depthmatte"], env=self.environment, check=True, stdout=subprocess.DEVNULL)
        self.environment["GST_REGISTRY_UPDATE"] = "no"
        self.counts_without = {}

    def count(self, line):
        """Instructions of the whole process."""
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "gst-launch-1.0", "--no-fault", "-q"]
        result = subprocess.run(
            command + line.split(), env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        found = re.search(r"Collected : (\d+)", result.stdout)
        if result.returncode != 0 or not found:
            sys.exit(f"{sys.argv[0]}: {line}: {result.stdout[-1000:]}")
        return int(found.group(1))

    def counts(self, pattern, size):
        """A source of {frames} maps of 16-bit counts."""
        width, height = size
        random.seed(1)
        metres = [PATTERNS[pattern](x, y, width, height) for y in range(height) for x in range(width)]
        with open(f"{self.folder}/map", "wb") as file:
            file.write(MANY * struct.pack(f"<{len(metres)}H", *(round(1000 * distance) for distance in metres)))
        return (
            f"filesrc location={self.folder}/map blocksize={2 * width * height} num-buffers={{frames}} ! "
            f"rawvideoparse format=gray16-le width={width} height={height} framerate=30/1")

    def floats(self, pattern, size):
        """A source of {frames} maps of one float."""
        caps = f"video/x-depth,format=F32LE,width={size[0]},height={size[1]},framerate=30/1"
        return (
            f"depthtestsrc name=c pattern=blank num-buffers={{frames}} c.depth ! {caps} ! "
            f"breakmydata probability=1 set-to={FLOATS[pattern]}")

    def frame(self, element, pattern, size, regions=0):
        """Instructions of the element for a frame."""
        width, height = size
        camera = self.floats(pattern, size) if pattern in FLOATS else self.counts(pattern, size)
        boxes = ";".join(f"{number % 97},{number % 61},40,40" for number in range(regions))
        faces = f"! roiset type=face rectangles={boxes}" if regions else ""

        def line(frames, with_element):
            depth = camera.format(frames=frames)
            video = f"videotestsrc num-buffers={frames} ! video/x-raw,format=I420,width={2 * width},height={2 * height} {faces}"
            if not with_element:
                return f"{depth} ! fakesink {video} ! fakesink"
            return f"{ELEMENTS[element]} ! fakesink {depth} ! e.depth {video} ! e.video"

        def slope(with_element):
            return self.count(line(MANY, with_element)) - self.count(line(FEW, with_element))

        key = (pattern, size, regions)
        if key not in self.counts_without:
            self.counts_without[key] = slope(False)
        return (slope(True) - self.counts_without[key]) / (MANY - FEW)


def main():
    """Prints a row for each map and list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("works", nargs="*", metavar="WORK")
    works = parser.parse_args().works

    is_good = True
    with tempfile.TemporaryDirectory() as folder:
        counter = Counter(folder)
        for element in ELEMENTS:
            rows = [(pattern, SIZE, 0, LIMIT) for pattern in [*PATTERNS, *FLOATS] if pattern != "scene"]
            rows.append(("scene", (2 * SIZE[0], 2 * SIZE[1]), 0, 5))
            if element in REGION_LIMITS:
                rows += [("scene", SIZE, count, REGION_LIMITS[element]) for count in (64, 8000)]
            rows = [
                (f"{element}, {pattern}, {size[0]}x{size[1]}, {regions} regions", pattern, size, regions, most)
                for pattern, size, regions, most in rows]
            rows = [row for row in rows if not works or any(row[0].startswith(work) for work in works)]
            if not rows:
                continue
            usual = counter.frame(element, "scene", SIZE)
            print(f"{element}, scene: {usual / 1e6:.1f}", flush=True)
            for name, pattern, size, regions, most in rows:
                cost = counter.frame(element, pattern, size, regions)
                is_good &= cost <= most * usual
                print(f"{name}: {cost / 1e6:.1f}, {cost / usual:.2f} times (at most {most})", flush=True)
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
