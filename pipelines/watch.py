#!/usr/bin/python3
"""Plays a launch line for depthmatte-doctor, and prints what it sees.

    watch.py SECONDS WORD...

The words are a launch line in which the source with the pads video and depth is named camera, and depthmatte is named matte. The first
word of each line that is printed is its kind; the last line is a JSON object.
"""
import json
import math
import os
import re
import signal
import statistics
import sys
import time

if len(sys.argv) < 3:
    sys.exit(print(__doc__))
try:
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import GLib, Gst
except (ImportError, ValueError):
    sys.exit(print("no-gi"))


def note(_, info, times):
    times.append(info.get_buffer().pts)
    return Gst.PadProbeReturn.OK


def rate(times):
    return round((len(times) - 1) * Gst.SECOND / (times[-1] - times[0]), 1) if times and times[-1] > times[0] else 0


def gaps(pad, times):
    """Frames that are missing between those that came, by the rate that the caps name."""
    caps = matte.get_static_pad(pad).get_current_caps()
    _, frames, second = caps.get_structure(0).get_fraction("framerate") if caps else (False, 0, 1)
    steps = [(after - before) * frames / second / Gst.SECOND for before, after in zip(times, times[1:])]
    return sum(max(round(step) - 1, 0) for step in steps)


def place(pixels, above, below):
    return "not known" if pixels is None else f"{abs(pixels):.0f} px too {above if pixels > 0 else below}" if abs(pixels) >= 1 else "none"


seconds, line = int(sys.argv[1]), sys.argv[2:]
longest = 2 * seconds + 10
sys.stdout = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what a camera's library prints is no finding
signal.alarm(longest + 30)  # ends it where a library hangs
Gst.init(None)
try:
    pipeline = Gst.parse_launchv(line)
except GLib.Error as problem:
    sys.exit(print("error", problem.message))
matte, camera, bus = pipeline.get_by_name("matte"), pipeline.get_by_name("camera"), pipeline.get_bus()
video, depth, holes, error = [], [], [], None
faults, known, margin = {}, {}, None  # what is known stays so where the element begins its measurement anew
matte.get_static_pad("video").add_probe(Gst.PadProbeType.BUFFER, note, video)
matte.get_static_pad("depth").add_probe(Gst.PadProbeType.BUFFER, note, depth)
pipeline.set_state(Gst.State.PLAYING)
end = time.monotonic() + longest
while time.monotonic() < end and not error:
    message = bus.timed_pop_filtered(
        Gst.SECOND // 10, Gst.MessageType.WARNING | Gst.MessageType.ERROR | Gst.MessageType.EOS | Gst.MessageType.LATENCY)
    stats = matte.get_property("stats")
    if stats.get_value("frames"):
        holes.append(stats.get_value("invalid-share"))
    for field in "depth-lag", "depth-shift-x", "depth-shift-y":
        if stats.get_value(f"{field}-known"):
            known[field] = stats.get_value(field)
            margin = stats.get_value("depth-lag-error") if field == "depth-lag" else margin
    if message and message.type == Gst.MessageType.WARNING:
        text = message.parse_warning()[0].message
        change = re.search(r"[Ss]et (depth-[a-z-]+) to (-?[0-9]+)", text)
        faults[change[1] if change else text] = (text, change)
    elif message and message.type == Gst.MessageType.ERROR:
        error = message.parse_error()[0].message
    elif message and message.type == Gst.MessageType.LATENCY:
        pipeline.recalculate_latency()
    elif message:
        break
    # The element warns of a lag by the second report of it.
    more = 2 if abs(known.get("depth-lag", 0)) > 25_000_000 and "depth-ts-offset" not in faults else 0
    if video and video[-1] - video[0] >= (seconds + more) * Gst.SECOND:
        break
lost = camera.get_property("stats").get_value("lost") if camera.find_property("stats") else gaps("video", video) + gaps("depth", depth)

lag, x, y = map(known.get, ("depth-lag", "depth-shift-x", "depth-shift-y"))
if error:
    print("error", error.replace("\n", " "))
elif not (video and depth):
    print("none", f"No depth map came with {len(video)} frames of video." if video else f"No frame came in {longest} s.")
if video and depth:
    print(f"Rate video {rate(video)}, depth {rate(depth)} frames a second")
    print(f"Dropped {lost} of {len(video) + len(depth) + lost} frames")
    print(f"Holes {100 * statistics.mean(holes or [0]):.0f} % of the depth map")
    if lag is None:
        print("Lag not known; move to and fro in front of the camera for 5 s")
    else:
        size = f"depth is {abs(lag) / 1e6:.0f} ms {'late' if lag > 0 else 'early'}" if abs(lag) > margin else "none"
        print(f"Lag {size} (+-{math.ceil(margin / 1e6)} ms)")
    if x is None and y is None:
        print("Offset not known; stand in front of the camera for 2 s")
    else:
        print(f"Offset left to right: {place(x, 'far left', 'far right')}; top to bottom: {place(y, 'high', 'low')}")
if changes := [f"{change[1]}={change[2]}" for _, change in faults.values() if change]:
    print("set", *changes)
for text, change in faults.values():
    print("warned" if not change else "late" if change[1] == "depth-ts-offset" else "beside", text.replace("\n", " "))
print(json.dumps({
    "line": " ".join(line), "video_rate": rate(video), "depth_rate": rate(depth), "dropped": lost,
    "holes": round(statistics.mean(holes), 3) if holes and depth else None,
    "lag": lag and round(lag / 1e6, 1), "lag_error": margin and round(margin / 1e6, 1),
    "offset_x": x, "offset_y": y,
}))
sys.stdout.flush()  # before a library that may hang
pipeline.set_state(Gst.State.NULL)
