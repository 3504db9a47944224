#!/usr/bin/python3
"""Stands in for an iPhone whose app Record3D streams by Wi-Fi: hues left of the color, by WebRTC, and the app's HTTP replies.

    record3d_phone.py [--port N] [--codec vp8|h264] [--old] [--resize FRAME] [--leave FRAME] [--reply PATH=TEXT]...

Prints its address. --old: the answer goes to /sendAnswer. --resize: half the size from that frame on. --leave: after that frame it is
silent. --reply: what a path gets instead; a number is an HTTP status.
"""
import argparse
import http.server
import json
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

ENCODERS = {
    "vp8": "vp8enc deadline=1 cpu-used=8 target-bitrate=3000000 keyframe-max-dist=30 ! rtpvp8pay",
    "h264": "openh264enc bitrate=3000000 gop-size=30 ! h264parse ! rtph264pay config-interval=-1 aggregate-mode=zero-latency",
}
METADATA = {"K": [600, 0, 0, 0, 600, 0, 319.5, 239.5, 1], "originalSize": [640, 480]}


class Peer:
    """One viewer's connection."""

    def __init__(self, given):
        self.given, self.frames, self.is_served = given, 0, False
        self.pipeline = Gst.parse_launch(
            "depthtestsrc is-live=true sensor=phone ! video/x-raw,width=640,height=480,framerate=30/1 "
            f"! depthpack coding=record3d ! capsfilter name=size caps=video/x-raw,width=1280,height=480 ! queue "
            f"! {ENCODERS[given.codec]} pt=96 ! application/x-rtp,media=video,encoding-name={given.codec.upper()},payload=96 "
            "! webrtcbin name=peer bundle-policy=max-bundle")
        self.peer, self.size = (self.pipeline.get_by_name(name) for name in ("peer", "size"))
        self.size.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, self.on_frame)
        self.offered = threading.Event()
        self.peer.connect("on-negotiation-needed", lambda peer: peer.emit(
            "create-offer", None, Gst.Promise.new_with_change_func(self.on_offer, None)))
        self.peer.connect("notify::ice-gathering-state", self.on_gathered)
        self.pipeline.set_state(Gst.State.PLAYING)

    def on_offer(self, promise, _):
        reply = promise.get_reply()
        self.peer.emit("set-local-description", reply.get_value("offer"), None)

    def on_gathered(self, *_):
        if self.peer.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            self.offered.set()

    def offer(self):
        self.offered.wait(10)
        return {"type": "offer", "sdp": self.peer.get_property("local-description").sdp.as_text()}

    def take(self, answer):
        self.is_served = True
        _, sdp = GstSdp.SDPMessage.new()
        GstSdp.sdp_message_parse_buffer(answer["data"].encode(), sdp)
        description = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, sdp)
        self.peer.emit("set-remote-description", description, None)

    def on_frame(self, *_):
        if self.peer.get_property("connection-state") != GstWebRTC.WebRTCPeerConnectionState.CONNECTED:
            return Gst.PadProbeReturn.OK
        self.frames += 1
        if self.frames == self.given.resize:
            self.size.set_property("caps", Gst.Caps.from_string("video/x-raw,width=640,height=240"))
        silent = self.given.leave and self.frames >= self.given.leave
        return Gst.PadProbeReturn.DROP if silent else Gst.PadProbeReturn.OK


class Phone(http.server.BaseHTTPRequestHandler):
    given = None
    peer = None

    def do_GET(self):
        if self.path in self.given.reply:
            text = self.given.reply[self.path]
            self.reply(int(text) if text.isdigit() else 200, text)
        elif self.path == "/metadata":
            self.reply(200, json.dumps(METADATA))
        elif self.path == "/getOffer" and Phone.peer and Phone.peer.is_served:
            self.reply(403)
        elif self.path == "/getOffer":
            if Phone.peer:
                Phone.peer.pipeline.set_state(Gst.State.NULL)
            Phone.peer = Peer(self.given)
            self.reply(200, json.dumps(Phone.peer.offer()))
        else:
            self.reply(404)

    def do_POST(self):
        answer = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != ("/sendAnswer" if self.given.old else "/answer") or answer["type"] != "answer":
            return self.reply(404)
        Phone.peer.take(answer)
        self.reply(200)

    def reply(self, status, text=""):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


parser = argparse.ArgumentParser(usage=__doc__)
for name, kind in (("port", int), ("resize", int), ("leave", int)):
    parser.add_argument(f"--{name}", type=kind, default=0)
parser.add_argument("--codec", choices=ENCODERS, default="vp8")
parser.add_argument("--old", action="store_true")
parser.add_argument("--reply", action="append", default=[], type=lambda text: text.split("=", 1))
Phone.given = parser.parse_args()
Phone.given.reply = dict(Phone.given.reply)
Gst.init(None)
threading.Thread(target=GLib.MainLoop().run, daemon=True).start()
server = http.server.ThreadingHTTPServer(("127.0.0.1", Phone.given.port), Phone)
print(f"127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
