#!/usr/bin/python3
"""Shows the live video of an iPhone or iPad, whose app Record3D streams it by Wi-Fi, before another background.

    record3d.py [--wait] ADDRESS [WHAT FOLLOWS]

ADDRESS: as the app shows it (Settings, Live RGBD Video Streaming, Wi-Fi; then the red button), with a port if it is not 80.
WHAT FOLLOWS: the part of a launch line that gets the video, with its depth attached; phone.depth is the depth by itself. Without it:

    depthmatte background=pipelines/background.jpg ! videoconvert ! autovideosink

--wait: waits for a phone that is not there, busy, or gone; a file is begun anew then. Ends with Ctrl-C, and files are complete.
Source of the protocol: github.com/marek-simonik/record3d-simple-wifi-streaming-demo, README 2.
"""
import argparse
import http.client
import json
import math
import pathlib
import signal
import socket
import sys
import time
import urllib.error
import urllib.request

try:
    import gi

    for name in ("Gst", "GstSdp", "GstWebRTC"):
        gi.require_version(name, "1.0")
    from gi.repository import GLib, Gst, GstSdp, GstWebRTC
except (ImportError, ValueError) as missing:
    sys.exit(f"record3d.py: {missing}. On Debian: apt install python3-gi gir1.2-gst-plugins-bad-1.0, and run /usr/bin/python3.")

PICTURE = pathlib.Path(__file__).resolve().parent / "background.jpg"
FOLLOWS = "depthmatte " + (f'background="{PICTURE}" ' if PICTURE.exists() else "") + "! videoconvert ! autovideosink"
LONGEST_REPLY = 1 << 20
# Seconds: for a reply, for the first frame, without a frame, for the end of files, between attempts.
REPLY, CONNECTION, SILENCE, END, PAUSE = 5, 20, 5, 3, 2


class PhoneError(Exception):
    """A sentence that says why there is no video."""


def ask(address, path, answer=None):
    """The status of the reply to GET, or to POST where there is an answer to send, and the JSON object in it, or an empty one."""
    try:
        body = None if answer is None else json.dumps(answer).encode()
        request = urllib.request.Request(f"http://{address}{path}", body, {"Content-Type": "application/json"})
        # A proxy would look for the phone in another network.
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=REPLY) as reply:
            status, text = reply.status, reply.read(LONGEST_REPLY)
    except urllib.error.HTTPError as error:
        return error.code, {}
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, socket.gaierror):
            raise PhoneError(f"There is no host {address}.") from error
        raise PhoneError(f"No phone answers at {address} ({reason}). Record3D must stream by Wi-Fi in this network.") from error
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = {}
    return status, told if isinstance(told, dict) else {}


def optics(address):
    """The phone's intrinsics, as depthunpack's property takes them; None where it tells none that make sense."""
    _, told = ask(address, "/metadata")
    matrix, size = told.get("K"), told.get("originalSize", [1, 1])
    are_numbers = isinstance(matrix, list) and len(matrix) == 9 and all(type(n) in (int, float) and math.isfinite(n) for n in matrix)
    are_sides = isinstance(size, list) and len(size) == 2 and all(type(n) is int and 0 < n <= 32768 for n in size)
    if not (are_numbers and are_sides and min(matrix[0], matrix[4]) > 0):
        return None
    return json.dumps({key: told[key] for key in ("K", "originalSize") if key in told})


def offer(address):
    """The phone's session description."""
    status, told = ask(address, "/getOffer")
    if status == 403:
        raise PhoneError(f"The phone at {address} is busy: it streams to one viewer at a time, and there is another.")
    if status != 200:
        raise PhoneError(f"{address} replies {status} to /getOffer: that is no Record3D, or it does not stream.")
    text, (_, description) = told.get("sdp"), GstSdp.SDPMessage.new()
    if told.get("type") != "offer" or not isinstance(text, str) or "\0" in text or not text.startswith("v=0") \
            or GstSdp.sdp_message_parse_buffer(text.encode(errors="replace"), description) != GstSdp.SDPResult.OK \
            or not any(description.get_media(i).media == "video" for i in range(description.medias_len())):
        raise PhoneError("The reply to /getOffer is no offer of a video: that is no Record3D.")
    return GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.OFFER, description)


class Session:
    """One connection. `reason` is the reason of its end, `farewell` that of the stream's end; None for Ctrl-C and the line's own end."""

    def __init__(self, address, follows):
        self.address, self.frames, self.quiet, self.reason, self.farewell = address, 0, 0, None, None
        self.gone = f"The phone at {address} has gone away."
        self.loop = GLib.MainLoop()
        self.pipeline = Gst.parse_launch(
            "webrtcbin name=peer bundle-policy=max-bundle latency=100 "
            f"decodebin name=decoder force-sw-decoders=true ! depthunpack name=phone coding=record3d ! {follows}")
        self.peer, self.decoder, unpack = map(self.pipeline.get_by_name, ("peer", "decoder", "phone"))
        # The sinks of the peer never come to an end, and so the pipeline does not.
        self.pipeline.set_property("message-forward", True)
        self.sinks = []
        self.pipeline.iterate_sinks().foreach(lambda sink: sink == self.peer or self.sinks.append(sink))
        unpack.set_property("calibration", optics(address))
        if not unpack.get_property("calibration"):
            print("record3d.py: The phone tells no optics; depthmatte's depth-fov counts.", file=sys.stderr)
        self.input = unpack.get_static_pad("sink")
        self.input.add_probe(Gst.PadProbeType.BUFFER | Gst.PadProbeType.EVENT_DOWNSTREAM, self.on_input)
        self.peer.connect("pad-added", self.on_stream)
        self.peer.connect("notify::ice-gathering-state", lambda *_: GLib.idle_add(self.send_answer))
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::element", self.on_message)
        bus.connect("message::error", lambda _, message: self.end(message.parse_error()[0].message))

    def run(self):
        """Shows the video to its end. Throws: PhoneError with the reason why there is no more."""
        sources = [GLib.timeout_add_seconds(1, self.look),
                   *(GLib.unix_signal_add(GLib.PRIORITY_HIGH, number, self.end) for number in (signal.SIGINT, signal.SIGTERM))]
        try:
            description = offer(self.address)
            self.pipeline.set_state(Gst.State.PLAYING)
            offered = Gst.Promise.new_with_change_func(lambda *_: self.peer.emit(
                "create-answer", None, Gst.Promise.new_with_change_func(self.on_answer, None)), None)
            self.peer.emit("set-remote-description", description, offered)
            self.loop.run()
            reason = self.reason
            # Files become complete.
            if self.frames and self.sinks and self.input.send_event(Gst.Event.new_eos()):
                sources.append(GLib.timeout_add_seconds(END, self.end))
                self.loop.run()
        finally:
            for source in sources:
                GLib.source_remove(source)
            self.pipeline.get_bus().remove_signal_watch()
            self.pipeline.set_state(Gst.State.NULL)
        if reason:
            raise PhoneError(reason)

    def end(self, reason=None):
        self.reason = reason
        self.loop.quit()
        return GLib.SOURCE_CONTINUE

    def on_message(self, _, message):
        if message.get_structure().has_name("GstBinForwarded"):
            forwarded = message.get_structure().get_value("message")
            if forwarded.type == Gst.MessageType.EOS and forwarded.src in self.sinks:
                self.sinks.remove(forwarded.src)
                if not self.sinks:
                    self.end(self.farewell)

    def on_answer(self, promise, _):
        reply = promise.get_reply()
        if reply and reply.has_field("answer"):
            self.peer.emit("set-local-description", reply.get_value("answer"), None)
        else:
            GLib.idle_add(lambda: self.end("The phone's offer cannot be answered.") and False)

    def send_answer(self):
        """Sends the answer with all candidates in it: the phone takes none later. Older versions have the second name."""
        if self.peer.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            answer = {"type": "answer", "data": self.peer.get_property("local-description").sdp.as_text()}
            try:
                if not any(ask(self.address, path, answer)[0] < 300 for path in ("/answer", "/sendAnswer")):
                    self.end("The phone does not take the answer.")
            except PhoneError as error:
                self.end(str(error))

    def on_stream(self, _, pad):
        if pad.direction == Gst.PadDirection.SRC:
            pad.link(self.decoder.get_static_pad("sink"))

    def has_ended(self):
        """True where the line wants no more."""
        source = self.input.get_peer()
        return source is not None and source.get_last_flow_return() == Gst.FlowReturn.EOS

    def on_input(self, _, info):
        if info.type & Gst.PadProbeType.BUFFER:
            self.frames, self.quiet = self.frames + 1, 0
        elif info.get_event().type == Gst.EventType.EOS and not self.has_ended():
            self.farewell = self.gone
        return Gst.PadProbeReturn.OK

    def look(self):
        """Looks once a second whether frames come."""
        self.quiet += 1
        if self.has_ended():
            self.end()
        elif self.frames and self.quiet > SILENCE:
            self.end(self.gone)
        elif not self.frames and self.quiet > CONNECTION:
            self.end("The phone took the answer, but sends no video: a firewall, or the Wi-Fi's client isolation, is in between.")
        return GLib.SOURCE_CONTINUE


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--wait", action="store_true")
    parser.add_argument("address")
    parser.add_argument("follows", nargs="?", default=FOLLOWS)
    given = parser.parse_args()
    Gst.init(None)
    missing = [name for name in ("webrtcbin", "nicesrc", "depthunpack") if not Gst.ElementFactory.find(name)]
    if missing:
        return f"GStreamer has no {', '.join(missing)}: install gstreamer1.0-plugins-bad, -nice and -depthmatte, or set GST_PLUGIN_PATH."
    said = None
    while True:
        try:
            return Session(given.address.removeprefix("http://").rstrip("/"), given.follows).run()
        except GLib.Error as error:
            return f"{given.follows}: {error.message}"
        except PhoneError as error:
            if not given.wait:
                return str(error)
            if str(error) != said:
                print(f"record3d.py: {error} Waiting.", file=sys.stderr, flush=True)
                said = str(error)
        time.sleep(PAUSE)


if __name__ == "__main__":
    try:
        problem = main()
    except KeyboardInterrupt:
        problem = None
    sys.exit(f"record3d.py: {problem}" if problem else 0)
