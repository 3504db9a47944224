#!/usr/bin/python3
"""Sends the composite to a WebRTC peer, which is in the same process here, and counts what arrives.

    webrtc.py [FRAMES]

Between two machines the offers, answers and candidates travel over a connection of the application's.
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402,F401

if sys.argv[1:] in (["-h"], ["--help"]):
    sys.exit(print(__doc__))
wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 30
Gst.init(None)
pipeline = Gst.parse_launch(
    "depthtestsrc name=camera is-live=true camera.video ! video/x-raw,width=640,height=360,framerate=30/1 "
    "! depthmatte name=matte background-color=0xff00ff00 ! videoconvert ! queue ! vp8enc deadline=1 cpu-used=16 "
    "keyframe-max-dist=30 ! rtpvp8pay ! application/x-rtp,media=video,encoding-name=VP8,payload=96 ! webrtcbin name=here "
    "camera.depth ! matte.depth webrtcbin name=there"
)
here, there = (pipeline.get_by_name(name) for name in ("here", "there"))
loop = GLib.MainLoop()
frames = 0


def described(promise, ends, kind, then):
    """An offer or an answer was made: one end sends it, the other receives it."""
    reply = promise.get_reply()
    description = reply.get_value(kind)  # lives as long as the reply
    ends[0].emit("set-local-description", description, None)
    ends[1].emit("set-remote-description", description, Gst.Promise.new_with_change_func(then, None))


def answer(*_):
    made = Gst.Promise.new_with_change_func(described, (there, here), "answer", lambda *_: None)
    there.emit("create-answer", None, made)


def on_frame(sink):
    global frames
    sink.emit("pull-sample")
    frames += 1
    if frames == wanted:
        GLib.idle_add(loop.quit)
    return Gst.FlowReturn.OK


def on_stream(_, pad):
    if pad.direction == Gst.PadDirection.SRC:
        decoder = Gst.parse_bin_from_description(
            "queue ! rtpvp8depay ! vp8dec ! videoconvert ! appsink name=sink emit-signals=true sync=false", True
        )
        decoder.get_by_name("sink").connect("new-sample", on_frame)
        pipeline.add(decoder)
        decoder.sync_state_with_parent()
        pad.link(decoder.sinkpads[0])


here.connect("on-negotiation-needed", lambda end: end.emit(
    "create-offer", None, Gst.Promise.new_with_change_func(described, (here, there), "offer", answer)))
here.connect("on-ice-candidate", lambda _, line, candidate: there.emit("add-ice-candidate", line, candidate))
there.connect("on-ice-candidate", lambda _, line, candidate: here.emit("add-ice-candidate", line, candidate))
there.connect("pad-added", on_stream)
pipeline.set_state(Gst.State.PLAYING)
GLib.timeout_add_seconds(30, loop.quit)
loop.run()
pipeline.set_state(Gst.State.NULL)
print(f"{frames} frames arrived")
sys.exit(frames < wanted)
