#!/usr/bin/python3
"""Records a composite for two seconds. Meanwhile it changes the background, moves the cutoff, asks for a depth, reads stats.

    embed.py OUTPUT BACKGROUND
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstController", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import GLib, Gst, GstController, GstVideo  # noqa: E402

if len(sys.argv) != 3:
    sys.exit(print(__doc__) if sys.argv[1:] == ["--help"] else __doc__)
Gst.init(None)
pipeline = Gst.parse_launch(
    "depthtestsrc name=camera is-live=true num-buffers=60 camera.video ! video/x-raw,width=640,height=360,framerate=30/1 "
    "! depthmatte name=matte anchor=fixed background-color=0xff00ff00 ! videoconvert ! queue "
    "! vp8enc deadline=1 cpu-used=16 ! matroskamux ! filesink name=file camera.depth ! matte.depth"
)
pipeline.get_by_name("file").set_property("location", sys.argv[1])
matte = pipeline.get_by_name("matte")

# The cutoff moves from 0.4 m to 1.5 m within the first second: every property but a few is controllable.
curve = GstController.InterpolationControlSource(mode=GstController.InterpolationMode.LINEAR)
curve.set(0, 0.4)
curve.set(Gst.SECOND, 1.5)
matte.add_control_binding(GstController.DirectControlBinding.new_absolute(matte, "cutoff", curve))

loop = GLib.MainLoop()


def on_message(bus, message):
    if message.type == Gst.MessageType.ERROR:
        sys.exit(f"{message.parse_error()}")
    if message.type == Gst.MessageType.EOS:
        loop.quit()
    structure = message.get_structure()
    if structure and structure.get_name() == "depth-probe":
        x, y, metres = (structure.get_value(name) for name in ("x", "y", "metres"))
        print(f"depth at ({x:.0f}, {y:.0f}): {metres:.2f} m")


def after_a_second():
    matte.set_property("background", sys.argv[2])
    stats = matte.get_property("stats")
    print(f"frames: {stats.get_value('frames')}, coverage: {stats.get_value('coverage'):.2f}")
    # A sink with a window sends such events itself.
    pipeline.send_event(GstVideo.navigation_event_new_mouse_button_press(1, 320, 250, 0))


bus = pipeline.get_bus()
bus.add_signal_watch()
bus.connect("message", on_message)
GLib.timeout_add(1000, after_a_second)
pipeline.set_state(Gst.State.PLAYING)
loop.run()
pipeline.set_state(Gst.State.NULL)
