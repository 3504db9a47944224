#!/usr/bin/env python3
"""Feeds a depth camera that depthcamsrc has no driver for to depthmatte, through two appsrcs.

    ./feed.py [NUMBER-OF-FRAMES [SINK]]

NUMBER-OF-FRAMES -1, the default: until Ctrl-C. SINK is one or several elements of a launch line.
Debian's packages: python3-gi gir1.2-gstreamer-1.0.
"""

import itertools
import sys
import time

if __name__ == "__main__" and {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__.strip())
    sys.exit()

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

WIDTH, HEIGHT, RATE = 640, 480, 30


def capture(number):
    """Stands in for the camera: put your SDK's call here.

    It waits for the next exposure and gives its picture, RGB in rows of 3 * WIDTH bytes, and its depth map, 16 bits
    little endian in millimetres, 0 = not measured, registered to the picture; of NumPy arrays, `tobytes()`. (Rows of a
    length that 4 does not divide must be padded to the next multiple of 4.) None ends the stream.
    """
    time.sleep(1 / RATE)
    left = 200 + number % 40

    def picture(room, person):
        empty = room * WIDTH
        row = room * left + person * 200 + room * (WIDTH - left - 200)
        return empty * 100 + row * (HEIGHT - 100)

    near = (900).to_bytes(2, "little")
    return picture(bytes((90, 90, 90)), bytes((200, 120, 60))), picture((3000).to_bytes(2, "little"), near)


def push(source, data, running_time):
    """Copies the bytes into the stream."""
    buffer = Gst.Buffer.new_wrapped_bytes(GLib.Bytes.new(data))
    buffer.pts = running_time
    buffer.duration = Gst.SECOND // RATE
    return source.emit("push-buffer", buffer) == Gst.FlowReturn.OK


def last_message(bus, timeout):
    """The next message that ends the stream; None where none came in time."""
    return bus.timed_pop_filtered(timeout, Gst.MessageType.ERROR | Gst.MessageType.EOS)


def feed(frames, sink):
    # is-live: frames come when the camera has them. min-latency: the longest time from exposure to push.
    # leaky-type: where downstream is too slow, the oldest frames go, and memory does not grow.
    live = "is-live=true format=time min-latency=33333333 leaky-type=downstream max-buffers=4 max-bytes=0"
    size = f"width={WIDTH},height={HEIGHT},framerate={RATE}/1"
    pipeline = Gst.parse_launch_full(
        f"appsrc name=video {live} caps=video/x-raw,format=RGB,{size} "
        f"! depthmatte name=matte background-color=0xff2060a0 ! videoconvert ! {sink} "
        f"appsrc name=depth {live} caps=video/x-raw,format=GRAY16_LE,{size} ! matte.depth",
        None, Gst.ParseFlags.FATAL_ERRORS)
    video, depth = pipeline.get_by_name("video"), pipeline.get_by_name("depth")
    bus = pipeline.get_bus()
    message = None
    pipeline.set_state(Gst.State.PLAYING)
    try:
        for number in range(frames) if frames >= 0 else itertools.count():
            message = last_message(bus, 0)
            exposure = None if message else capture(number)
            if not exposure:
                break
            # One time for both, so that they are paired: do-timestamp would give each its own. Subtract the age of the
            # exposure where the SDK tells it. The depth goes first: the picture then waits for nothing.
            now = pipeline.get_current_running_time()
            is_flowing = push(depth, exposure[1], now)
            if not push(video, exposure[0], now) or not is_flowing:
                break
    except KeyboardInterrupt:
        pass
    # EOS goes through the pipeline, so that a file is finished; an error comes instead of it.
    depth.emit("end-of-stream")
    video.emit("end-of-stream")
    message = message or last_message(bus, Gst.CLOCK_TIME_NONE)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        error, _ = message.parse_error()
        sys.exit(f"{message.src.name}: {error.message}")


if __name__ == "__main__":
    Gst.init(None)
    try:
        feed(int(sys.argv[1]) if len(sys.argv) > 1 else -1, sys.argv[2] if len(sys.argv) > 2 else "autovideosink")
    except GLib.Error as error:
        sys.exit(error.message)
