#!/usr/bin/python3
"""Sends the composite to a WebRTC peer, which is in the same process here, and counts what arrives.

    webrtc.py [FRAMES [depth]]

With "depth" the camera's video and its depth are sent, and the composite is made of what arrives. Between two machines the offers,
answers and candidates travel over a connection of the application's.
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402,F401

CAMERA = "depthtestsrc is-live=true ! video/x-raw,width=640,height=360,framerate=30/1"
MATTE = "depthmatte background-color=0xff00ff00 ! videoconvert"


def connect(pipeline, receiver):
    """A sender "here" and a peer "there" agree, and the peer's video goes to the receiver, a part of a launch line.

    The pipeline ends in what comes before an encoder.
    """
    text = (f"{pipeline} ! queue ! vp8enc deadline=1 cpu-used=16 keyframe-max-dist=30 target-bitrate=2500000 ! rtpvp8pay "
            "! application/x-rtp,media=video,encoding-name=VP8,payload=96 ! webrtcbin name=here latency=50 "
            f"webrtcbin name=there latency=50 rtpvp8depay name=received ! vp8dec ! {receiver}")
    pipeline = Gst.parse_launch(text)
    here, there = (pipeline.get_by_name(name) for name in ("here", "there"))

    def described(promise, ends, kind, then):
        """An offer or an answer was made: one end sends it, the other receives it."""
        reply = promise.get_reply()
        description = reply.get_value(kind)  # lives as long as the reply
        ends[0].emit("set-local-description", description, None)
        ends[1].emit("set-remote-description", description, Gst.Promise.new_with_change_func(then, None))

    def answer(*_):
        made = Gst.Promise.new_with_change_func(described, (there, here), "answer", lambda *_: None)
        there.emit("create-answer", None, made)

    def on_stream(_, pad):
        if pad.direction == Gst.PadDirection.SRC:
            pad.link(pipeline.get_by_name("received").get_static_pad("sink"))

    here.connect("on-negotiation-needed", lambda end: end.emit(
        "create-offer", None, Gst.Promise.new_with_change_func(described, (here, there), "offer", answer)))
    here.connect("on-ice-candidate", lambda _, line, candidate: there.emit("add-ice-candidate", line, candidate))
    there.connect("on-ice-candidate", lambda _, line, candidate: here.emit("add-ice-candidate", line, candidate))
    there.connect("pad-added", on_stream)
    return pipeline


if __name__ == "__main__":
    if sys.argv[1:] in (["-h"], ["--help"]):
        sys.exit(print(__doc__))
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    Gst.init(None)
    loop = GLib.MainLoop()
    frames = 0

    def on_frame(sink):
        global frames
        sink.emit("pull-sample")
        frames += 1
        if frames == wanted:
            GLib.idle_add(loop.quit)
        return Gst.FlowReturn.OK

    sink = "appsink name=sink emit-signals=true sync=false"
    if sys.argv[2:] == ["depth"]:
        pipeline = connect(f"{CAMERA} ! depthpack", f"depthunpack ! {MATTE} ! {sink}")
    else:
        pipeline = connect(f"{CAMERA} ! {MATTE}", f"videoconvert ! {sink}")
    pipeline.get_by_name("sink").connect("new-sample", on_frame)
    pipeline.set_state(Gst.State.PLAYING)
    GLib.timeout_add_seconds(30, loop.quit)
    loop.run()
    pipeline.set_state(Gst.State.NULL)
    print(f"{frames} frames arrived")
    sys.exit(frames < wanted)
