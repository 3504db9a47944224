#!/usr/bin/env python3
"""Judges what `depthbench` times, and times whole processes beside it.

    Tests/speed.py [--build FOLDER] [--keep FOLDER] [--bench=ARGUMENTS] [PART...]

PART: goals (the element in place, and the kernels alone, beside memcpy), views (the elements that show depth), pipelines
(depthmatte, and a compositor with two layers), start (of processes), opencv (the same matte in OpenCV); all by default.
--build: the folder of the plugin and of depthbench (.build/release). --keep: a folder for depthbench's figures, which
otherwise go. --bench: further arguments of depthbench. A ratio is the median of the ratios of works that took turns.
"""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LARGE = "--size 3840x2160 --depth 1280x720"
# The most times a memcpy that a case may take in place.
GOALS = [
    ("1920x1080 I420, depth 640x480", "", 1.8),
    ("the same with sensor noise and 2 % holes", "--scene noisy", 3),
    ("1920x1080 BGRA", "--format BGRA", 1.2),
    ("3840x2160 I420, depth 1280x720", LARGE, 1.3),
    ("checkerboard, sigma 1", "--scene checkerboard --sigma 1", 5),
]
VIEWS = {
    "depthcolorize, equalize": 4, "depthcolorize, fixed": 4, "depthcloud, two threads": 4,
    "depthalign, stereo camera": 4, "depthalign, time of flight": 4,
}


def row(name, value, limit=None, at_least=False, note=""):
    judged = "" if limit is None else f"{'>=' if at_least else '<='} {limit:<5g}"
    reached = "" if limit is None else "yes" if (value >= limit if at_least else value <= limit) else "no"
    print(f"{name:50} {value:8.2f}  {judged:9}{reached:4}{note}", flush=True)


def ratio(one, other):
    """The median of the ratios of times that were taken in turn."""
    return statistics.median(a / b for a, b in zip(one, other))


class Speed:
    def __init__(self, build, folder, more):
        self.bench, self.folder, self.more, self.runs = os.path.join(build, "depthbench"), folder, more.split(), 0
        os.environ["GST_PLUGIN_PATH"] = build
        os.environ["GST_REGISTRY"] = os.path.join(folder, "registry.bin")

    def measure(self, command, arguments=""):
        """The figures of a run of depthbench."""
        self.runs += 1
        path = os.path.join(self.folder, f"{self.runs:02}-{command}.json")
        words = [self.bench, command, *arguments.split(), *self.more, "--json", path]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    def in_place(self, case):
        """Milliseconds for a frame, measured for a short while."""
        return statistics.median(self.measure("grid", f"--work in-place --seconds 0.5 {case}")[0]["ms"])

    def compare(self, first, second):
        """How many times the second case's time the first one takes; they take turns."""
        return ratio(*zip(*[(self.in_place(first), self.in_place(second)) for _ in range(5)]))

    def goals(self):
        print("\n== In place: times a memcpy of the frame, and in parentheses the kernels alone")
        for name, case, limit in GOALS:
            element, kernels = (
                ratio(figure["ms"], figure["memcpy_ms"])
                for figure in self.measure("grid", "--work in-place,kernels " + case))
            row(name, element, limit, note=f"({kernels:.2f})")
        row("3840x2160: speed of two threads over one", self.compare(LARGE, LARGE + " --threads 2"), 1.7, True)
        row("blur-radius 50 against 1: times the time", self.compare("--sigma 50", "--sigma 1"), 2.5)

    def views(self):
        print("\n== Elements that show depth: times a memcpy of the picture that leaves")
        for figure in self.measure("views"):
            name = figure["view"]
            row(f"{name}, {figure['depth']}", ratio(figure["ms"], figure["memcpy_ms"]), VIEWS.get(name))

    def pipelines(self):
        print("\n== Whole pipelines: times what a compositor adds to its sources; added milliseconds for a frame")
        still = os.path.join(self.folder, "still.png")
        launch("videotestsrc num-buffers=1 ! video/x-raw,format=RGB,width=480,height=270 ! pngenc ! "
               f"filesink location={still}")
        sink = "fakesink sync=false"
        # Plain colors are next to no work for their source, and one map is sent again and again.
        caps = "video/x-raw,format=I420,width=1920,height=1080,framerate=30/1"
        video, behind = (f"videotestsrc pattern={color} num-buffers=%d ! {caps}" for color in ("black", "blue"))
        depth = ("depthtestsrc num-buffers=1 face=false ! video/x-raw,format=GRAY16_LE,width=640,height=480"
                 " ! imagefreeze num-buffers=%d")
        matte = "depthmatte name=to method=threshold anchor=fixed max-threads=1"
        cases = [
            # The upper layer is half transparent: beneath an opaque one the compositor would draw nothing.
            ("compositor, two layers", f"compositor name=to max-threads=1 sink_1::alpha=0.5 ! {sink}",
             {"sink_0": behind, "sink_1": video}),
            ("depthmatte, image behind", f"{matte} background-mode=image background={still} ! {sink}",
             {"video": video, "depth": depth}),
            ("depthmatte, stream behind", f"{matte} background-mode=stream ! {sink}",
             {"video": video, "depth": depth, "background": behind}),
        ]
        rounds = {name: [] for name, _, _ in cases}
        for _ in range(5):
            for name, element, sources in cases:
                whole = element + "".join(f" {source} ! to.{pad}" for pad, source in sources.items())
                alone = " ".join(f"{source} ! {sink}" for source in sources.values())
                rounds[name].append([a - b for a, b in zip(for_a_frame(whole), for_a_frame(alone))])
        theirs = list(zip(*rounds["compositor, two layers"]))
        for name, times in rounds.items():
            wall, cpu = zip(*times)
            row(name, ratio(wall, theirs[0]), note=f"wall {statistics.median(wall):.3f} ms; CPU "
                f"{statistics.median(cpu):.3f} ms, {ratio(cpu, theirs[1]):.2f} times")

    def start(self):
        print("\n== Starting, whole processes with a warm registry: milliseconds, medians of 21")
        video = "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=1920,height=1080"
        depth = "videotestsrc num-buffers=1 ! video/x-raw,format=GRAY16_LE,width=640,height=480"
        for name, command in [
            ("gst-inspect-1.0 depthmatte", "gst-inspect-1.0 depthmatte"),
            ("gst-inspect-1.0 compositor", "gst-inspect-1.0 compositor"),
            ("one frame, two sources only", f"{video} ! fakesink {depth} ! fakesink"),
            ("one frame, depthmatte", f"depthmatte name=m ! fakesink {video} ! m.video {depth} ! m.depth"),
            ("one frame, compositor", f"compositor name=m ! fakesink {video} ! m.sink_0 {video} ! m.sink_1"),
        ]:
            launch(command)
            row(name, statistics.median(1000 * launch(command)[0] for _ in range(21)))

    def opencv(self):
        print("\n== OpenCV, one thread: times our time; 1920x1080, depth 640x480, sigma 5")
        if not (find_spec("cv2") and find_spec("numpy")):
            print(f"left out: {sys.executable} has no cv2 and numpy; pip install numpy opencv-python-headless")
            return
        baseline = [sys.executable, os.path.join(ROOT, "Tests", "opencv_baseline.py"), "--rounds", "15", "--json"]
        for video, channels, limit in (("I420", 3, 18), ("BGRA", 4, 12)):
            ours, theirs = [], []
            for _ in range(5):
                ours.append(self.in_place(f"--format {video}"))
                theirs.append(json.loads(subprocess.check_output([*baseline, "--channels", str(channels)]))["total_ms"])
            row(f"{video}; OpenCV on {'BGR' if channels == 3 else 'BGRA'}", ratio(theirs, ours), limit, True,
                f"{statistics.median(theirs):.3f} ms against {statistics.median(ours):.3f} ms")


def launch(line):
    """The seconds of a process, by the clock and of all processors: a launch line, or a command of GStreamer's."""
    words = shlex.split(line)
    if not words[0].startswith("gst-"):
        words = ["gst-launch-1.0", "--no-fault", "-q", *words]
    start = time.perf_counter()
    process = subprocess.Popen(["timeout", "-s", "KILL", "120", *words], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"speed.py: {' '.join(words)} failed")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime


def for_a_frame(line):
    """Milliseconds for a frame, without what starting takes."""
    few, many = (launch(line.replace("%d", str(frames))) for frames in (20, 220))
    return [1000 * (b - a) / 200 for a, b in zip(few, many)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ["goals", "views", "pipelines", "start", "opencv"]
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--build", default=os.path.join(ROOT, ".build", "release"))
    parser.add_argument("--keep")
    parser.add_argument("--bench", default="")
    arguments = parser.parse_args()
    if set(arguments.parts) - set(parts):
        parser.error(f"the parts are {', '.join(parts)}")
    with tempfile.TemporaryDirectory() as folder:
        speed = Speed(os.path.abspath(arguments.build), os.path.abspath(arguments.keep or folder), arguments.bench)
        os.makedirs(speed.folder, exist_ok=True)
        for part in arguments.parts or parts:
            getattr(speed, part)()


if __name__ == "__main__":
    main()
