#!/usr/bin/env python3
"""Lag and offset that depthmatte reports for depthtestsrc, with and without a fault.

    GST_PLUGIN_PATH=.build/release Tests/quality/sync.py [--patterns P,...] [--sensors S,...] [--reference]

Each pattern and sensor: without a fault, 33, 66, 100 and 166 ms late, 3, 6 and 10 px beside (of 640), standing still, and late with
depth-sync=measured.  Ends with 1 where a correct stream brings a warning or a known lag is 10 ms off.  --reference compares the
report after 5 s with that of sync_estimate.py too.
"""
import argparse
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # noqa: E402,F401
import numpy as np  # noqa: E402

from sync_estimate import SyncEstimate  # noqa: E402

PATTERNS = "person,long-hair,like-colors,no-wall,dim,people,hand,far,chair,room"
SENSORS = "ideal,structured-light,tof,stereo,phone"
FRAMES, RATE, MS = 150, 30, 1_000_000


def cases():
    yield "correct", "", "", 0, 0
    for delay in (33, 66, 100, 166):
        yield f"{delay} ms late", f"depth-delay={delay * MS}", "", delay, 0
    for shift in (3, 6, 10):
        yield f"{shift} px beside", "", f"depth-offset-x={2 * shift}", 0, -2 * shift
    yield "still", "still=true", "", None, 0
    yield "measured", f"depth-delay={100 * MS}", f"depth-sync=measured depth-offset-x={12}", 0, 0


def play(source, matte, frames, reference=False):
    """The last stats, the warnings, and the reference's report."""
    taps = "v. ! queue ! appsink name=luma sync=false d. ! queue ! appsink name=metres sync=false" if reference else ""
    line = Gst.parse_launch(
        f"depthtestsrc name=camera num-buffers={frames} {source} camera.video ! "
        f"video/x-raw,format=I420,width=1280,height=720,framerate={RATE}/1 ! tee name=v ! queue ! matte.video "
        f"camera.depth ! tee name=d ! queue ! matte.depth depthmatte name=matte max-threads=1 {matte} ! fakesink {taps}")
    matte, bus, warnings, estimate = line.get_by_name("matte"), line.get_bus(), [], None
    line.set_state(Gst.State.PLAYING)
    if reference:
        estimate = SyncEstimate()
        for _ in range(frames):
            video, depth = (line.get_by_name(name).emit("pull-sample") for name in ("luma", "metres"))
            if not video or not depth:
                break
            luma, z = plane(video, np.uint8), plane(depth, np.uint16) * np.float32(0.001)
            estimate.step(luma.astype(np.float32), z, matte.get_property("stats").get_value("cutoff") or 1.5)
    while True:
        message = bus.timed_pop_filtered(600 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR | Gst.MessageType.WARNING)
        if message is None or message.type == Gst.MessageType.ERROR:
            sys.exit(f"{source}: {message and message.parse_error()}")
        if message.type == Gst.MessageType.EOS:
            break
        warnings.append(message.parse_warning().gerror.message)
    stats = matte.get_property("stats")
    line.set_state(Gst.State.NULL)
    return stats, warnings, estimate and estimate.report()


def plane(sample, kind):
    caps = sample.get_caps().get_structure(0)
    width, height = caps.get_value("width"), caps.get_value("height")
    data = sample.get_buffer().extract_dup(0, width * height * np.dtype(kind).itemsize)
    return np.frombuffer(data, kind).reshape(height, width)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--patterns", default=PATTERNS)
    options.add_argument("--sensors", default=SENSORS)
    options.add_argument("--cases", default="", help="beginnings of the names of cases, separated by commas")
    options.add_argument("--frames", type=int, default=FRAMES)
    options.add_argument("--reference", action="store_true")
    options = options.parse_args()
    Gst.init(None)
    false, wrong, known, runs = 0, 0, 0, 0
    for pattern in options.patterns.split(","):
        for sensor in options.sensors.split(","):
            for name, source, matte, lag, shift in cases():
                if not name.startswith(tuple(options.cases.split(","))):
                    continue
                frames = options.frames * (3 if name == "measured" else 1)
                stats, warnings, oracle = play(f"pattern={pattern} sensor={sensor} {source}", matte, frames, options.reference)
                get, runs = stats.get_value, runs + 1
                text = f"{pattern} {sensor} {name}: "
                if get("depth-lag-known"):
                    known += 1
                    wrong += lag is None or abs(get("depth-lag") / MS - lag) > 10
                    text += f"lag {get('depth-lag') / MS:.1f} +- {get('depth-lag-error') / MS:.1f} ms "
                for axis in "xy":
                    if get(f"depth-shift-{axis}-known"):
                        text += f"{axis} {get(f'depth-shift-{axis}'):+.1f} "
                false += bool(warnings) and name in ("correct", "still")
                text += f"match {get('outline-match'):.2f}"
                if oracle:
                    text += f" | reference lag {oracle['lag'] * 1000 / RATE:.1f} {oracle['lag_known']} {oracle['late']}, x {oracle['dx'] * 4:+.1f}" \
                            f" {oracle['offset_known']} {oracle['beside']}, {oracle['score']:.2f}"
                print(text, *warnings, sep="\n    ", flush=True)
    print(f"{runs} runs, lag known in {known}; {wrong} lags more than 10 ms off, {false} false warnings")
    return bool(false or wrong)


if __name__ == "__main__":
    sys.exit(main())
