#!/usr/bin/env python3
"""Lag and offset that depthmatte reports, with and without a fault.

    GST_PLUGIN_PATH=.build/release Tests/quality/sync.py [--patterns P,...] [--sensors S,...] [--cases C,...] [--clips] [--reference]

Each pattern and sensor of depthtestsrc: without a fault, 33, 66, 100 and 166 ms late, 3, 6 and 10 px beside (of 640), with maps at half
the video's rate, standing still, and late and beside with depth-sync=measured. --clips: the real cases and rendered people that
DEPTHMATTE_REAL_DATA and DEPTHMATTE_PHOTOREAL name, to and fro, in their place.

Ends with 1 where a correct stream brings a warning or a known lag is 10 ms off. --reference compares each report until the first
rest with that of sync_estimate.py, where nothing is set or corrected: the lag within 0.05 frames, the same half cell, and the same
flags; it ends with 1 too where more than one in twenty of the last reports differs.
"""
import argparse
import os
import re
import sys
import tempfile

LOG = os.path.join(tempfile.gettempdir(), f"sync-{os.getpid()}.log")
os.environ.update(GST_DEBUG="depthmatte:5", GST_DEBUG_FILE=LOG, GST_DEBUG_NO_COLOR="1")

import gi  # noqa: E402

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # noqa: E402,F401
import numpy as np  # noqa: E402

import people  # noqa: E402
from cases import Cases  # noqa: E402
from streams import Stream, raw_frames  # noqa: E402
from sync_estimate import SyncEstimate  # noqa: E402

PATTERNS = "person,long-hair,like-colors,no-wall,dim,people,hand,far,chair,room"
SENSORS = "ideal,structured-light,tof,stereo,phone"
FRAMES, RATE, MS, REPORT = 150, 30, 1_000_000, 30


def filmed(options):
    """(name, launch lines of video and depth, properties, lag in ms or None, whether it is correct) of depthtestsrc."""
    def lines(source, frames=options.frames, rate=RATE):
        return (f"depthtestsrc name=camera num-buffers={frames} pattern={pattern} sensor={sensor} {source} camera.video ! "
                f"video/x-raw,format=I420,width=1280,height=720,framerate={RATE}/1",
                "camera.depth" + (f" ! videorate drop-only=true ! video/x-raw,framerate={rate}/1" if rate != RATE else ""))

    for pattern in options.patterns.split(","):
        for sensor in options.sensors.split(","):
            name = f"{pattern} {sensor}"
            yield f"{name} correct", lines(""), "", 0, True
            for delay in (33, 66, 100, 166):
                yield f"{name} {delay} ms late", lines(f"depth-delay={delay * MS}"), "", delay, False
            for shift in (3, 6, 10):
                yield f"{name} {shift} px beside", lines(""), f"depth-offset-x={2 * shift}", 0, False
            yield f"{name} half rate", lines("", rate=RATE // 2), "max-skew=100000000", 0, True
            yield f"{name} still", lines("still=true"), "", None, True
            yield (f"{name} measured", lines(f"depth-delay={100 * MS}", 3 * options.frames),
                   "depth-sync=measured depth-offset-x=12", 0, True)


def clips(options):
    """The same of the real cases and the rendered people."""
    for stream, lags, shifts in streams():
        moves = len(stream.videos) > 3
        for lag, shift in [*((lag, 0) for lag in lags if moves or not lag), *((0, shift) for shift in shifts if shift)]:
            name = f"{stream.name} {lag * 1000 // RATE} ms late, {shift} px beside"
            if not options.wants(name):
                continue
            with tempfile.TemporaryDirectory() as folder:
                lines = raw_frames(to_and_fro(stream, options.frames, lag), folder)
                yield (name, lines, f"depth-offset-x={shift * stream.size[0] / 640:.0f}" if shift else "",
                       lag * 1000 / RATE if moves else None, not lag and not shift)


def streams():
    real, rendered = (os.environ.get(f"DEPTHMATTE_{name}") for name in ("REAL_DATA", "PHOTOREAL"))
    for stream in Cases(real).everything() if real else []:
        yield stream, (0, -2, 1, 2, 3, 5), (0, 6) if stream.name == "truedepth_mannequin_seq" else (0,)
    for stream, _ in people.clips(rendered, lambda name: True) if rendered else []:
        yield stream, (0, 2, 5), (0, 6)


def to_and_fro(stream, frames, lag):
    """A stream whose depth is late, with noise of its own in each frame."""
    random, last = np.random.default_rng(1), len(stream.videos) - 1

    def frame(number):
        return last - abs(number % max(2 * last, 1) - last)

    def noisy(picture):
        return np.clip(np.rint(picture + random.normal(0, 2, picture.shape)), 0, 255).astype(np.uint8)

    return Stream(
        stream.name, [noisy(stream.videos[frame(number)]) for number in range(frames)],
        [stream.depths[frame(number - lag)] for number in range(frames)], [])


def play(lines, matte, reference):
    """The last stats, the warnings, and the reports until the first rest: the element's, and the reference's."""
    sink, start = "appsink sync=false max-buffers=1", os.path.getsize(LOG) if os.path.exists(LOG) else 0
    taps = f"v. ! queue ! videoconvert ! video/x-raw,format=GRAY8 ! {sink} name=luma d. ! queue ! {sink} name=metres"
    line = Gst.parse_launch(
        f"{lines[0]} ! tee name=v ! queue ! matte.video {lines[1]} ! tee name=d ! queue ! matte.depth depthmatte name=matte "
        f"max-threads=1 {matte} ! " + (f"{sink} name=out {taps}" if reference else "fakesink"))
    matte, bus, warnings, expected = line.get_by_name("matte"), line.get_bus(), [], []
    line.set_state(Gst.State.PLAYING)
    estimate = SyncEstimate()
    while reference:
        video, depth, out = (line.get_by_name(name).emit("pull-sample") for name in ("luma", "metres", "out"))
        if not video or not depth or not out:
            break
        luma, z = plane(video), plane(depth)
        estimate.step(luma.astype(np.float32), z, matte.get_property("stats").get_value("cutoff") or 1.5)
        if estimate.count % REPORT == 0 and (report := estimate.report()):
            expected.append(report)
    while True:
        message = bus.timed_pop_filtered(600 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR | Gst.MessageType.WARNING)
        if message is None or message.type == Gst.MessageType.ERROR:
            sys.exit(f"{lines}: {message and message.parse_error()}")
        if message.type == Gst.MessageType.EOS:
            break
        warnings.append(message.parse_warning().gerror.message)
    stats = matte.get_property("stats")
    line.set_state(Gst.State.NULL)
    return stats, warnings, list(zip(reports(start), expected))


def plane(sample):
    caps = sample.get_caps().get_structure(0)
    width, height, form = (caps.get_value(field) for field in ("width", "height", "format"))
    kind = {"GRAY8": np.uint8, "GRAY16_LE": np.uint16, "F32LE": np.float32}[form]
    stride = (width * np.dtype(kind).itemsize + 3) // 4 * 4
    data = np.frombuffer(sample.get_buffer().extract_dup(0, stride * height), np.uint8).reshape(height, stride)
    samples = np.ascontiguousarray(data[:, :width * np.dtype(kind).itemsize]).view(kind)
    return samples * np.float32(0.001) if form == "GRAY16_LE" else samples


def reports(start):
    """The element's reports in the log from a place on, until the first after which it rests: two of three seconds and more that know all."""
    found = []
    with open(LOG) as log:
        log.seek(start)
        for text in re.findall(r"sync: SyncReport\((.*)", log.read()):
            flags = [word == "true" for word in re.findall(r"is[A-Za-z]+: (true|false)", text)]
            numbers = [float(number) for number in re.findall(r"(?:lag|pixels|cell): (-?[0-9.e+-]+)", text)]
            found.append((flags, numbers))
            known = [flags[0] and flags[2] for flags, _ in found]
            if len(found) >= 3 and known[-1] and known[-2]:
                break
    return found


def differences(pairs):
    """Of each report what differs from the reference's."""
    for number, ((flags, (lag, x, cell, y, *_)), wanted) in enumerate(pairs, 1):
        (known_x, known_y), (beside_x, beside_y) = wanted["offset_known"], wanted["beside"]
        names = ("lag known", "late", "x known", "x beside", "y known", "y beside")
        for name, flag, other in zip(names, flags, (wanted["lag_known"], wanted["late"], known_x, beside_x, known_y, beside_y)):
            if flag != bool(other):
                yield f"{number}: {name} {flag}"
        if flags[0] and wanted["lag_known"] and abs(lag / MS * RATE / 1000 - wanted["lag"]) > 0.05:
            yield f"{number}: lag {lag / MS * RATE / 1000:.2f} / {wanted['lag']:.2f}"
        for name, known, pixels, other in (("x", known_x, x, wanted["dx"]), ("y", known_y, y, wanted["dy"])):
            if known and abs(pixels / cell - other) > 0.25:
                yield f"{number}: {name} {pixels / cell:.1f} / {other:.1f}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--patterns", default=PATTERNS)
    options.add_argument("--sensors", default=SENSORS)
    options.add_argument("--cases", default="", help="parts of the names of cases, separated by commas")
    options.add_argument("--clips", action="store_true")
    options.add_argument("--frames", type=int, default=FRAMES)
    options.add_argument("--reference", action="store_true")
    options = options.parse_args()
    options.wants = lambda name: any(part in name for part in options.cases.split(","))
    Gst.init(None)
    false, wrong, known, runs, compared, agreed, ended = 0, 0, 0, 0, 0, 0, 0
    for name, lines, matte, lag, is_correct in (clips if options.clips else filmed)(options):
        if not options.wants(name):
            continue
        reference = options.reference and not matte
        stats, warnings, pairs = play(lines, matte, reference)
        get, runs, text = stats.get_value, runs + 1, f"{name}: "
        if get("depth-lag-known"):
            known += 1
            wrong += lag is None or abs(get("depth-lag") / MS - lag) > 10
            text += f"lag {get('depth-lag') / MS:.1f} +- {get('depth-lag-error') / MS:.1f} ms "
        for axis in "xy":
            if get(f"depth-shift-{axis}-known"):
                text += f"{axis} {get(f'depth-shift-{axis}'):+.1f} "
        false += bool(warnings) and is_correct
        text += f"match {get('outline-match'):.2f}"
        if reference:
            differs, compared = list(differences(pairs)), compared + 1
            agreed += not differs
            ended += not any(text.startswith(f"{len(pairs)}:") for text in differs)
            text += f", {len(pairs)} reports " + (f"differ: {', '.join(differs)}" if differs else "agree")
        print(text, *warnings, sep="\n    ", flush=True)
    os.remove(LOG)
    print(f"{runs} runs, lag known in {known}; {wrong} lags more than 10 ms off, {false} false warnings"
          + f"; of {compared} {agreed} agree with the reference in all reports, {ended} in the last" * options.reference)
    return bool(false or wrong or ended < 0.95 * compared)


if __name__ == "__main__":
    sys.exit(main())
