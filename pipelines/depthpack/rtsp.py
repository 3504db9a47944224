#!/usr/bin/python3
"""Serves video and depth as one VP8 video by RTSP, at rtsp://ADDRESS:PORT/depth.

    rtsp.py [ADDRESS [PORT [CAMERA]]]

ADDRESS is this machine's in the network that may watch (127.0.0.1: this machine alone). CAMERA is a part of a launch line that
gives video with its depth; without it, the synthetic camera. Ends with Ctrl-C.
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

CAMERA = "depthtestsrc is-live=true sensor=structured-light ! video/x-raw,width=640,height=480,framerate=30/1"


def serve(address="127.0.0.1", port="8554", camera=CAMERA):
    """A server, and its factory of pipelines, which all who watch share. It works while the main loop runs."""
    Gst.init(None)
    server = GstRtspServer.RTSPServer(address=address, service=port)
    factory = GstRtspServer.RTSPMediaFactory(shared=True)
    factory.set_launch(f"( {camera} ! depthpack ! queue ! vp8enc deadline=1 cpu-used=8 target-bitrate=2500000 "
                       "keyframe-max-dist=30 ! rtpvp8pay name=pay0 )")
    server.get_mount_points().add_factory("/depth", factory)
    if not server.attach(None):
        sys.exit(f"rtsp.py: port {port} of {address} cannot be opened.")
    return server, factory


if __name__ == "__main__":
    if sys.argv[1:] in (["-h"], ["--help"]):
        sys.exit(print(__doc__))
    server, _ = serve(*sys.argv[1:4])
    print(f"rtsp://{server.get_address()}:{server.get_bound_port()}/depth", flush=True)
    try:
        GLib.MainLoop().run()
    except KeyboardInterrupt:
        pass
