#!/usr/bin/python3
"""Tests pipelines/record3d.py with stand-ins of an iPhone (Tests/cameras/record3d_phone.py).

    Tests/record3d.py

Where WebRTC is not installed it is skipped.
"""
import json
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

from gstreamer import ROOT, help_or_go, needs, run_alone, start

help_or_go(__doc__)
run_alone()
start("GstWebRTC")
if not needs("webrtcbin", "nicesrc", "vp8enc"):
    sys.exit()
from gi.repository import Gst  # noqa: E402


class Phone:
    def __init__(self, *options):
        program = [ROOT / "Tests/cameras/record3d_phone.py", *options]
        self.process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def start(*arguments):
    return subprocess.Popen([ROOT / "pipelines/record3d.py", *arguments], cwd=folder, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def end(viewer, status, *words):
    """Expects how a viewer ends, and what it says."""
    output = viewer.communicate(timeout=60)[0]
    assert viewer.returncode == status and all(word in output for word in words), f"{viewer.args}: {viewer.returncode}, {output}"


def frames(file):
    """The caps and bytes of all frames that were written with their caps."""
    pipeline = Gst.parse_launch(f'filesrc location="{folder}/{file}" ! gdpdepay ! appsink name=sink sync=false')
    pipeline.set_state(Gst.State.PLAYING)
    found = []
    while sample := pipeline.get_by_name("sink").emit("pull-sample"):
        found.append((sample.get_caps().get_structure(0), sample.get_buffer()))
    pipeline.set_state(Gst.State.NULL)
    return found


def check_video():
    """A change of size while it runs: composite, depth and optics follow it."""
    composite = f"depthmatte background={ROOT}/pipelines/background.jpg ! videoconvert ! video/x-raw,format=RGBA " \
        "! identity eos-after=75 ! gdppay ! filesink location=color.gdp"
    with Phone("--resize", "25") as phone:
        end(start(phone.address, composite), 0)
    h264 = ["--codec", "h264"] if Gst.ElementFactory.find("openh264enc") else []
    with Phone("--resize", "25", "--leave", "45", "--old", *h264) as phone:
        depth = "fakesink sync=false phone.depth ! queue ! gdppay ! filesink location=depth.gdp"
        end(start(phone.address, depth), 1, "has gone away")
    sizes, found = [], frames("color.gdp")
    for number, (caps, buffer) in enumerate(found):
        width, height = caps.get_int("width").value, caps.get_int("height").value
        sizes.append((width, height))
        for x, y, expected, within in ((0.06, 0.08, (47, 69, 110), 25), (0.5, 0.95, (172, 123, 54), 40)):
            pixel = buffer.extract_dup((int(y * height) * width + int(x * width)) * 4, 3)
            is_near = all(abs(a - b) <= within for a, b in zip(pixel, expected))
            assert is_near, (number, width, tuple(pixel))
    assert sorted(set(sizes)) == [(320, 240), (640, 480)] and sizes == sorted(sizes, reverse=True), sizes
    focal = {caps.get_int("width").value: json.loads(caps.get_string("calibration"))["depth"]["fx"] for caps, _ in frames("depth.gdp")}
    assert focal == {640: 600, 320: 300}, focal


SMALL = "identity eos-after=10 ! fakesink sync=false"
RECORD = "vp8enc deadline=1 cpu-used=8 ! matroskamux ! filesink location=a.mkv"
BUSY, NO_OFFER, NO_OPTICS = "is busy", "is no offer of a video", "tells no optics"
# What the phone is told to reply, and what is said then.
REPLIES = [
    (["/getOffer=403"], [BUSY]), (["/getOffer=500"], ["replies 500"]), (["/getOffer=[]"], [NO_OFFER]), (["/getOffer=x"], [NO_OFFER]),
    (["/getOffer=" + json.dumps({"type": "offer", "sdp": 7})], [NO_OFFER]),
    (["/getOffer=" + json.dumps({"type": "offer", "sdp": "v=0\r\nm=audio 9 X 0\r\n"})], [NO_OFFER]),
    (["/getOffer=" + json.dumps({"type": "answer", "sdp": "v=0\r\nm=video 9 X 0\r\n"})], [NO_OFFER]),
    (["/getOffer=" + json.dumps({"type": "offer", "sdp": "v=0\0\ud800"})], [NO_OFFER]),
    *((["/metadata=" + text, "/getOffer=403"], [NO_OPTICS, BUSY]) for text in (
        "404", "[]", "[" * 99999, "{}", '{"K": 1}', '{"K": [1, 0, 0, 0, 1, 0, 1, 1]}', '{"K": [1, 0, 0, 0, 1, 0, 1, 1, true]}',
        '{"K": [1, 0, 0, 0, 1e999, 0, 1, 1, 1]}', '{"K": [0, 0, 0, 0, 1, 0, 1, 1, 1]}', '{"K": [1, 0, 0, 0, NaN, 0, 1, 1, 1]}',
        '{"K": [1, 0, 0, 0, 1, 0, 1, 1, 1], "originalSize": [640]}', '{"K": [1, 0, 0, 0, 1, 0, 1, 1, 1], "originalSize": [0, 480]}')),
]


def check_replies():
    for replies, words in REPLIES:
        with Phone(*(word for reply in replies for word in ("--reply", reply))) as phone:
            end(start(phone.address, SMALL), 1, *words)


def check_connections():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = str(one.getsockname()[1])
    address = f"127.0.0.1:{port}"
    end(start(address, SMALL), 1, f"No phone answers at {address}")
    end(start(address, "nosuchelement"), 1, "nosuchelement")
    waiting = start("--wait", address, SMALL)
    time.sleep(1)
    with Phone("--port", port):
        end(waiting, 0, "No phone answers", "Waiting.")
    for leave in (["--leave", "20"], []):
        (folder / "a.mkv").unlink(missing_ok=True)
        with Phone(*leave) as phone:
            viewer = start(f"http://{phone.address}/", RECORD)
            for _ in range(300):
                if viewer.poll() is not None or (folder / "a.mkv").exists() and (folder / "a.mkv").stat().st_size > 0:
                    break
                time.sleep(0.1)
            end(start(phone.address, SMALL), 1, BUSY)
            if not leave:
                viewer.send_signal(signal.SIGINT)
            end(viewer, 1 if leave else 0, "has gone away" if leave else "")
        # Only a file that was ended knows its length.
        reader = Gst.parse_launch(f'filesrc location="{folder}/a.mkv" ! matroskademux ! fakesink')
        reader.set_state(Gst.State.PAUSED)
        reader.get_state(20 * Gst.SECOND)
        assert reader.query_duration(Gst.Format.TIME).duration > 0, "the file is not complete"
        reader.set_state(Gst.State.NULL)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    check_video()
    check_connections()
    check_replies()
print(f"{sys.argv[0]}: passed")
