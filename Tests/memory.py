#!/usr/bin/env python3
"""Measures how much memory a process with one element takes at its peak, beside what the documentation says.

    Tests/memory.py [--within PERCENT] [--quick]

The formulas are those of Sources/DepthMattePlugin/README.md. Exits with 1 if a measurement is farther from its formula than
PERCENT (10). --quick: two sizes in place of five. Needs the plugin in .build/release or in GST_PLUGIN_PATH.
"""
import argparse
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIZES = [(320, 240), (640, 480), (1280, 720), (1920, 1080), (3840, 2160)]
MIB = 2.0**20
DEPTH = (640, 480)


def stream(caps_format, size):
    """A stream of test pictures."""
    width, height = size
    return f"videotestsrc num-buffers=8 ! video/x-raw,format={caps_format},width={width},height={height}"


def matte(method, size, pads):
    """A launch line with depthmatte and its pads, and the peak that is expected, in MiB."""
    video = depth = background = 0
    line = f"{stream('I420', size)} ! e.video depthmatte name=e method={method} max-threads=1 ! fakesink"
    video = size[0] * size[1] * 1.5 / MIB
    if pads > 1:
        line = f"{stream('GRAY16_LE', DEPTH)} ! e.depth {line}"
        depth = DEPTH[0] * DEPTH[1] * 2 / MIB
    if pads > 2:
        line = f"{stream('I420', size)} ! e.background {line}"
        background = video
    expected = 18.2 + 4.7 * video + 6.9 * depth + 2 * background
    if method == "fusion" and pads > 1:
        expected += 1.6 * video + 20 * depth
    return line, expected


def alone(element, slope, size):
    """The same for an element that draws depth alone."""
    line = f"{stream('GRAY16_LE', size)} ! {element} name=e ! video/x-raw,format=BGRx ! fakesink"
    return line, 19.2 + slope * size[0] * size[1] * 2 / MIB


def peak(line, environment):
    """The peak of resident memory of a launch line, in MiB."""
    process = subprocess.Popen(
        ["gst-launch-1.0", "--no-fault", "-q"] + line.split(), env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{sys.argv[0]}: {line} ended with {status}")
    return usage.ru_maxrss / 1024


def main():
    """Prints a line for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--within", type=float, default=10, metavar="PERCENT")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()

    works = []
    for size in [SIZES[0], SIZES[3]] if arguments.quick else SIZES:
        for method in ["threshold", "fusion"]:
            for pads in [1, 2, 3]:
                works.append((f"depthmatte {method}, {pads} pads", size, matte(method, size, pads)))
        if size[0] <= 1920:
            works.append(("depthcolorize", size, alone("depthcolorize", 8.0, size)))
            works.append(("depthcloud", size, alone("depthcloud", 17.2, size)))

    # With one arena the allocator does not grow by the megabyte when another thread happens to ask.
    environment = dict(os.environ, MALLOC_ARENA_MAX="1", SWIFT_BACKTRACE="enable=no")
    environment.setdefault("GST_PLUGIN_PATH", os.path.join(ROOT, ".build", "release"))
    is_good = True
    with tempfile.TemporaryDirectory() as folder:
        environment["GST_REGISTRY"] = os.path.join(folder, "registry.bin")
        peak("fakesrc num-buffers=1 ! fakesink", environment)  # writes the registry
        for name, (width, height), (line, expected) in works:
            found = peak(line, environment)
            deviation = 100 * (found / expected - 1)
            is_good &= abs(deviation) <= arguments.within
            print(f"{name:26} {width:4}x{height:<4} {found:6.1f} MiB, formula {expected:6.1f}, {deviation:+5.1f} %", flush=True)
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
