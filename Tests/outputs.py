#!/usr/bin/python3
"""Tests the outputs of pipelines/outputs.md that a launch line alone cannot show: each is read by another program.

    Tests/outputs.py

PipeWire with daemons of its own, the stream for OBS, WebRTC, HLS, WebM with alpha, and intervideosink. What is not installed is skipped.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from gstreamer import ROOT, help_or_go, needs, run_alone, start

help_or_go(__doc__)
# Daemons and clients talk over a session bus of their own.
if shutil.which("dbus-run-session"):
    run_alone("dbus-run-session", "--")
start("GstApp")
from gi.repository import Gst  # noqa: E402

passed = []


def launch(file, *variables):
    return [str(ROOT / "pipelines/run.sh"), str(ROOT / "pipelines/outputs" / file), *variables]


def read(line, count):
    """The pixel function of the last of `count` frames that a line ending in an appsink named sink gives."""
    pipeline = Gst.parse_launch(line)
    pipeline.set_state(Gst.State.PLAYING)
    sink = pipeline.get_by_name("sink")
    for number in range(count):
        sample = sink.try_pull_sample(20 * Gst.SECOND)
        if not sample:
            error = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
            raise AssertionError(f"frame {number}: {error and error.parse_error()}")
    structure = sample.get_caps().get_structure(0)
    width = structure.get_int("width").value
    size = sample.get_buffer().get_size() // (width * structure.get_int("height").value)
    data = sample.get_buffer().extract_dup(0, sample.get_buffer().get_size())
    pipeline.set_state(Gst.State.NULL)
    return lambda x, y: tuple(data[(y * width + x) * size:][:size])


def near(pixel, expected, within):
    assert all(abs(a - b) <= within for a, b in zip(pixel, expected)), f"{pixel} is not near {expected}"


def check_composite(pixel):
    near(pixel(192, 144), (255, 245, 225), 20)  # the sun of the background
    near(pixel(280, 340), (200, 145, 50), 40)  # the sweater of the person


def pipewire():
    if not needs("pipewire", "wireplumber", "pw-cli", "pipewiresink", "pipewiresrc", "dbus-run-session"):
        return
    os.environ["XDG_RUNTIME_DIR"] = tempfile.mkdtemp()
    log = open(f"{folder}/log", "wb")
    programs = [["pipewire"], ["wireplumber"], launch("pipewire.launch")]
    running = []
    try:
        for program in programs:
            running.append(subprocess.Popen(program, stdout=log, stderr=log, start_new_session=True))
            time.sleep(1)
        for _ in range(100):
            nodes = subprocess.run(["pw-cli", "ls", "Node"], capture_output=True, text=True).stdout
            if 'node.name = "depthmatte"' in nodes:
                break
            time.sleep(0.2)
        else:
            raise AssertionError(f"PipeWire has no camera: {nodes}\n{open(log.name).read()}")
        source = "pipewiresrc target-object=depthmatte ! videoconvert ! video/x-raw,format=RGB"
        check_composite(read(f"{source} ! appsink name=sink sync=false", 20))
    finally:
        for program in reversed(running):
            os.killpg(program.pid, 9)
            program.wait()
        shutil.rmtree(os.environ["XDG_RUNTIME_DIR"], ignore_errors=True)
    passed.append("PipeWire")


def obs():
    """Reads the stream with ffmpeg, which is what OBS's media source does."""
    if not needs("ffmpeg", "tcpserversink", "avenc_ffv1"):
        return
    sink = "tcpserversink host=127.0.0.1 port=5099 sync-method=latest-keyframe recover-policy=keyframe"
    sender = subprocess.Popen(launch("obs.launch", f"SINK={sink}"), stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        read = "ffmpeg -y -v error -f matroska -i tcp://127.0.0.1:5099 -frames:v 5 -pix_fmt rgba -f rawvideo"
        for _ in range(100):
            done = subprocess.run([*read.split(), f"{folder}/rgba"], capture_output=True, text=True, timeout=60)
            if done.returncode == 0 or "refused" not in done.stderr:
                break
            time.sleep(0.2)
        data = pathlib.Path(f"{folder}/rgba").read_bytes()
        assert len(data) == 5 * 1280 * 720 * 4, f"{len(data)} bytes: {done.stderr}"
        pixel = lambda x, y: tuple(data[(y * 1280 + x) * 4:][:4])  # noqa: E731
        assert pixel(20, 20) == (0, 0, 0, 0), pixel(20, 20)
        near(pixel(560, 680), (200, 145, 50, 255), 40)
    finally:
        os.killpg(sender.pid, 9)
        sender.wait()
    passed.append("OBS")


def webrtc():
    if not needs("webrtcbin", "nicesrc", "vp8enc"):
        return
    program = ["/usr/bin/python3", str(ROOT / "pipelines/outputs/webrtc.py"), "30"]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "frames arrived" in done.stdout, done
    passed.append("WebRTC")


def hls():
    if not needs("openh264enc", "hlsdemux", "openh264dec"):
        return
    subprocess.run(launch("hls.launch", "FRAMES=90", f"FOLDER={folder}"), check=True, stdout=subprocess.DEVNULL)
    decode = "hlsdemux ! tsdemux ! h264parse ! openh264dec ! videoconvert ! video/x-raw,format=RGB"
    pixel = read(f"filesrc location={folder}/live.m3u8 ! {decode} ! appsink name=sink sync=false", 90)
    near(pixel(560, 680), (200, 145, 50), 40)  # the sweater of the person
    passed.append("HLS")


def webm():
    if not needs("ffmpeg", "vp9alphadecodebin", "avenc_ffv1"):
        return
    recorded, encoded = f"{folder}/person.mkv", f"{folder}/person.webm"
    subprocess.run(launch("alpha-ffmpeg.launch", "FRAMES=10", f"OUTPUT={recorded}"), check=True, stdout=subprocess.DEVNULL)
    encode = f"ffmpeg -y -v error -i {recorded} -c:v libvpx-vp9 -pix_fmt yuva420p -crf 24 -b:v 0 -deadline realtime {encoded}"
    subprocess.run(encode.split(), check=True)
    decode = "matroskademux ! vp9parse ! vp9alphadecodebin ! videoconvert ! video/x-raw,format=RGBA"
    pixel = read(f"filesrc location={encoded} ! {decode} ! appsink name=sink sync=false", 10)
    assert pixel(20, 20)[3] < 3 and pixel(560, 680)[3] > 252, (pixel(20, 20), pixel(560, 680))
    passed.append("WebM with alpha")


def inter():
    if not needs("intervideosink", "intervideosrc"):
        return
    line = subprocess.run(
        [ROOT / "pipelines/run.sh", "--print", *launch("pipewire.launch", "SINK=intervideosink channel=person")[1:]],
        check=True, capture_output=True, text=True).stdout
    sender = Gst.parse_launch(line)
    sender.set_state(Gst.State.PLAYING)
    sender.get_state(Gst.CLOCK_TIME_NONE)
    source = "intervideosrc channel=person ! video/x-raw,width=640,height=360,framerate=30/1 ! videoconvert"
    check_composite(read(f"{source} ! video/x-raw,format=RGB ! appsink name=sink sync=false", 20))
    sender.set_state(Gst.State.NULL)
    passed.append("intervideosink")


with tempfile.TemporaryDirectory() as folder:
    pipewire()
    obs()
    webrtc()
    hls()
    webm()
    inter()
print(f"{sys.argv[0]}: passed: {', '.join(passed) or 'nothing'}")
