#!/usr/bin/python3
"""Tests that color and depth stay together on every way of pipelines/depth-video.md: each frame has its number in both halves.

    Tests/depth_video.py [--figures]

--figures: five seconds of each way, and the table of the page, with the milliseconds from camera to sink and the kbit/s of both.
What is not installed is skipped.
"""
import itertools
import re
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

from gstreamer import ROOT, help_or_go, needs, start

help_or_go(__doc__)
start("GstApp")
from gi.repository import GLib, Gst  # noqa: E402

FIGURES = sys.argv[1:] == ["--figures"]
COUNT = 150 if FIGURES else 45
WIDTH, HEIGHT, BLOCK, BITS = 640, 480, 32, 8
CAPS = f"video/x-raw,format=I420,width={2 * WIDTH},height={HEIGHT},framerate=30/1"
# The map is attached to the video, as those of cameras are.
CAMERA = f'appsrc name=packed block=true format=time is-live=LIVE caps="{CAPS}" ! depthunpack name=camera'
SINKS = "unpack.video ! queue ! appsink name=video sync=LIVE unpack.depth ! queue ! appsink name=map sync=LIVE"
ALL = (1 << BITS) - 1
rows = []


def camera():
    """Pictures of the synthetic camera that hold color and depth (I420, the coding "gray"), each with its number as blocks in both."""
    source = Gst.parse_launch(f"depthtestsrc num-buffers={COUNT} sensor=structured-light ! video/x-raw,width={WIDTH},height={HEIGHT} "
                              f"! depthpack ! {CAPS} ! appsink name=sink sync=false")
    source.set_state(Gst.State.PLAYING)
    for number in range(COUNT):
        buffer = source.get_by_name("sink").emit("pull-sample").get_buffer()
        picture = bytearray(buffer.extract_dup(0, buffer.get_size()))
        # White and black; 0.7 and 2.5 m by the formula of the coding.
        codes = ((235, 16), (105, 35))
        blocks = [b"".join(bytes([pair[number >> bit & 1 ^ 1]]) * BLOCK for bit in range(BITS)) for pair in codes]
        for y in range(BLOCK):
            for half, row in enumerate(blocks):
                start = (2 * y + half) * WIDTH
                picture[start:start + len(row)] = row
        for y in range(BLOCK // 2):
            for plane in (2 * WIDTH * HEIGHT, 2 * WIDTH * HEIGHT * 5 // 4):
                start = plane + y * WIDTH
                picture[start:start + WIDTH] = bytes([128]) * WIDTH
        yield bytes(picture)
    source.set_state(Gst.State.NULL)


def number_of(buffer, form, threshold):
    """The number in a frame: bits are set where the mean of a block's middle is on the threshold's side."""
    size = struct.calcsize(form)
    row = struct.unpack(f"<{BLOCK * BITS}{form}", buffer.extract_dup(BLOCK // 2 * WIDTH * size, BLOCK * BITS * size))
    return sum((statistics.mean(row[b * BLOCK + 8:b * BLOCK + 24]) > threshold) << b for b in range(BITS))


def launch(text, live):
    return Gst.parse_launch(text.replace("LIVE", str(live).lower()))


def line(file, *variables):
    return subprocess.run([ROOT / "pipelines/run.sh", "--print", ROOT / "pipelines" / file, *variables],
                          check=True, capture_output=True, text=True).stdout


def sender(file, *variables):
    text = line(file, *variables)
    return f"{CAMERA} !{text[text.index(' depthpack'):]}"


def receiver(file, *variables):
    return line(file, *variables).split("! depthmatte")[0].replace("depthunpack", "depthunpack name=unpack") + SINKS


class Feed(threading.Thread):
    """Pushes all frames, at their pace where live, and counts the bytes that the encoders make of them."""

    def __init__(self, pipeline, live):
        super().__init__(daemon=True)
        self.pipeline, self.live, self.sent, self.bytes = pipeline, live, {}, 0
        pipeline.iterate_recurse().foreach(self.watch)
        self.start()

    def watch(self, element):
        if "Encoder" in element.get_metadata("klass"):
            element.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, self.on_encoded)

    def on_encoded(self, _, info):
        self.bytes += info.get_buffer().get_size()
        return Gst.PadProbeReturn.OK

    def run(self):
        source = self.pipeline.get_by_name("packed")
        while self.live and source.get_state(0)[1] != Gst.State.PLAYING:
            time.sleep(0.01)
        start = time.monotonic()
        for number, frame in enumerate(frames):
            stamp = number * Gst.SECOND // 30
            if self.live:
                time.sleep(max(0, start + number / 30 - time.monotonic()))
                stamp = source.get_clock().get_time() - source.get_base_time()
            buffer = Gst.Buffer.new_wrapped(frame)
            buffer.pts, buffer.duration = stamp, Gst.SECOND // 30
            self.sent[number] = time.monotonic()
            source.emit("push-buffer", buffer)
        source.emit("end-of-stream")


def receive(pipeline):
    """The numbers that arrive and when, to the last frame, the end, or three seconds of silence. Color and depth have the same."""
    arrived = []
    while not arrived or arrived[-1][0] < COUNT - 1:
        wait = (3 if arrived else 30) * Gst.SECOND
        samples = [pipeline.get_by_name(name).emit("try-pull-sample", wait) for name in ("video", "map")]
        if None in samples:
            error = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
            assert not error, error.parse_error()
            break
        video, depth = (sample.get_buffer() for sample in samples)
        numbers = number_of(video, "B", 125), ALL - number_of(depth, "H", 1600)
        assert numbers[0] == numbers[1] and video.pts == depth.pts, f"color and depth are of frames {numbers}, {video.pts}, {depth.pts}"
        arrived.append((numbers[0], time.monotonic()))
    return arrived


def check(name, sending, receiving, live=True, share=0.5, feed=None):
    """Runs one way of two pipelines, or one; at least that share of the frames must arrive, in order.

    feed: that of a sender elsewhere, which runs already.
    """
    pipelines = [pipeline for pipeline in dict.fromkeys((sending, receiving)) if pipeline]
    for pipeline in pipelines:
        pipeline.set_state(Gst.State.PLAYING)
    feed = feed or Feed(sending, live)
    arrived = receive(receiving)
    numbers = [number for number, _ in arrived]
    assert numbers == sorted(numbers) and len(set(numbers)) >= share * COUNT, f"{name}: {numbers}"
    for pipeline in pipelines:
        pipeline.set_state(Gst.State.NULL)
    late = sorted(1000 * (when - feed.sent[number]) for number, when in arrived[len(arrived) // 3:])
    times = f"{statistics.median(late):.0f}, {late[len(late) * 19 // 20]:.0f}" if live else ""
    rows.append(f"| {name} | {times} | {feed.bytes * 8 * 30 / COUNT / 1000:,.0f} | {len(set(numbers))} of {COUNT} |")


def wait(until):
    """Waits for an event of another thread, 20 seconds at most."""
    for _ in range(200):
        if until():
            break
        time.sleep(0.1)


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def files():
    for name, file, *variables in (
        ("Matroska, VP8", "a.mkv"), ("WebM, VP8", "a.webm", "MUXER=webmmux"),
        ("MP4, H.264", "a.mp4", "ENCODER=openh264enc bitrate=2500000 ! h264parse", "MUXER=mp4mux"),
        ("MP4, H.264, as Record3D", "record3d.mp4"),
    ):
        if needs(*(["openh264enc"] if "H.264" in name else [])):
            path = f"{folder}/{file}"
            lines = ("record", "play") if file.startswith("a") else ("record3d", "record3d")
            sending = launch(sender(f"depthpack/{lines[0]}.launch", f"OUTPUT={path}", *variables), False)
            sending.set_state(Gst.State.PLAYING)
            feed = Feed(sending, False)
            message = sending.get_bus().timed_pop_filtered(60 * Gst.SECOND, Gst.MessageType.ERROR | Gst.MessageType.EOS)
            assert message and message.type == Gst.MessageType.EOS, message and message.parse_error()
            sending.set_state(Gst.State.NULL)
            optics = []
            if lines[1] == "record3d":
                with open(path, "ab") as end:
                    end.write(b'\0\0\0\x80free{"intrinsicMatrix": [500, 0, 0, 0, 500, 0, 319.5, 239.5, 1]}\0')
                optics = [f"CALIBRATION={path}"]
            receiving = launch(receiver(f"depthunpack/{lines[1]}.launch", f"INPUT={path}", *optics), False)
            check(name, None, receiving, live=False, share=1, feed=feed)


def faults():
    """Frames that are dropped, repeated and delayed between the elements, and packets that are lost."""
    line = f"{CAMERA} ! depthpack ! identity drop-probability=0.4 ! queue min-threshold-time=200000000 " \
        f"! videorate ! vp8enc deadline=1 cpu-used=8 ! vp8dec ! depthunpack name=unpack {SINKS}"
    pipeline = launch(line, False)
    check("dropped, repeated, delayed", pipeline, pipeline, live=False, share=0.3)
    rtp("RTP, packets lost and late", "netsim name=net duplicate-probability=0.02 delay-probability=0.05 min-delay=1 max-delay=30 ! ", 0.2)


def rtp(name="RTP over UDP", before="", share=0.5):
    port = free_port(socket.SOCK_DGRAM)
    source = f'udpsrc port={port} caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=VP8" ! rtpjitterbuffer latency=50'
    text = sender("depthpack/send.launch", f"SINK={before}udpsink host=127.0.0.1 port={port}")
    sending = launch(text.replace("max-dist=30", "max-dist=10") if before else text, True)
    if before:
        packets = itertools.count()
        lose = lambda *_: [Gst.PadProbeReturn.OK, Gst.PadProbeReturn.DROP][next(packets) % 150 == 149]  # noqa: E731
        sending.get_by_name("net").get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, lose)
    check(name, sending, launch(receiver("depthunpack/receive.launch", f"SOURCE={source}"), True), share=share)


def rtsp():
    try:
        import rtsp
    except ValueError as missing:
        return print(f"{sys.argv[0]}: skipped, {missing}")
    port, feeds = free_port(), []
    _server, factory = rtsp.serve(port=port, camera=CAMERA.replace("LIVE", "true"))
    factory.connect("media-configure", lambda _, media: feeds.append(Feed(media.get_element(), True)))
    source = f"SOURCE=rtspsrc location=rtsp://127.0.0.1:{port}/depth latency=50"
    receiving = launch(receiver("depthunpack/receive.launch", source), True)
    receiving.set_state(Gst.State.PLAYING)
    wait(lambda: feeds)
    check("RTSP", None, receiving, feed=feeds[0])


def webrtc():
    if needs("webrtcbin", "nicesrc"):
        import webrtc
        sink = f"depthunpack name=unpack {SINKS}".replace("LIVE", "true")
        pipeline = webrtc.connect(f"{CAMERA} ! depthpack".replace("LIVE", "true"), sink)
        pipeline.set_state(Gst.State.PLAYING)
        wait(lambda: pipeline.get_by_name("here").get_property("connection-state").value_nick == "connected")
        check("WebRTC", pipeline, pipeline)


def lossless():
    port = free_port()
    sending = line("depthtestsrc/send-rgbd.launch", "FRAMES=1").replace("port=5001", f"port={port}")
    sending = re.sub(r"depthtestsrc.*?(?=camera\.video)", f"{CAMERA} ", sending)
    receiving = line("depthmatte/receive-rgbd.launch", f"SOURCE=tcpclientsrc host=127.0.0.1 port={port}", "SINK=fakesink")
    receiving = re.sub(r"depthmatte.*?fakesink", "appsink name=video sync=LIVE", receiving).replace(
        "matte.depth", "queue ! appsink name=map sync=LIVE")
    check("FFV1 in Matroska over TCP", launch(sending, True), launch(receiving, True))


sys.path += [str(ROOT / "pipelines/depthpack"), str(ROOT / "pipelines/outputs")]
threading.Thread(target=GLib.MainLoop().run, daemon=True).start()
frames = list(camera())
with tempfile.TemporaryDirectory() as folder:
    for way in (files, rtp, rtsp, webrtc, lossless) + (() if FIGURES else (faults,)):
        way()
if FIGURES:
    print("| Way | ms: median, 95 % | kbit/s | Frames |\n|---|---|---|---|", *rows, sep="\n")
print(f"{sys.argv[0]}: passed: {', '.join(row.split(' | ')[0][2:] for row in rows)}")
