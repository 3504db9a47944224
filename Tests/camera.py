#!/usr/bin/python3
"""Tests pipelines/camera.py with PipeWire and WirePlumber of its own: programs look at the virtual camera, and the depth camera fails.

    Tests/camera.py

What is not installed is skipped.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from gstreamer import ROOT, help_or_go, needs, run_alone, start

help_or_go(__doc__)
start("GstApp")
if not needs("pipewire", "wireplumber", "pw-link", "dbus-run-session", "pipewiresrc"):
    sys.exit()
# Daemons, service and notifications talk over a session bus of their own.
run_alone("dbus-run-session", "--")
from gi.repository import Gio, GLib, Gst  # noqa: E402

PROGRAM = ROOT / "pipelines/camera.py"
BLUE, RED, GREEN, SWEATER = (0, 0, 255), (255, 0, 0), (0, 255, 0), (200, 145, 50)
CORNER, CHEST = (20, 20), (280, 460)
PERSON = "depthtestsrc is-live=true"
OTHER = "pipewiresrc target-object=depthmatte num-buffers=20 ! video/x-raw,format=YUY2 ! fakesink sync=false"


def wait_for(condition, what):
    end = time.monotonic() + 60
    while not (result := condition()):
        assert time.monotonic() < end, f"not within 60 s: {what}\n{log()}"
        while GLib.MainContext.default().iteration(False):
            pass
        time.sleep(0.02)
    return result


def log():
    return (folder / "log").read_text()


def count(text):
    return log().count(text)


def configure(source=PERSON, color="0xff0000ff", **others):
    lines = [f"[camera]\nsource={source}\n[depthmatte]\nbackground-color={color}\n[output]\nlinger=1"]
    file = folder / "config/depthmatte/camera.conf"
    file.with_suffix(".new").write_text("\n".join([*lines, *(f"{key}={value}" for key, value in others.items()), ""]))
    file.with_suffix(".new").rename(file)


def run(*command):
    return subprocess.Popen(command, stdout=daemons_log, stderr=daemons_log)


class Client:
    """A program that shows the camera."""

    def __init__(self):
        self.pipeline = Gst.parse_launch(
            "pipewiresrc target-object=depthmatte ! videoconvert ! video/x-raw,format=RGB ! appsink name=sink sync=false max-buffers=2 drop=true"
        )
        self.pipeline.set_state(Gst.State.PLAYING)

    def frame(self):
        """A function from (x, y) to the color of the next frame."""
        sample = self.pipeline.get_by_name("sink").try_pull_sample(20 * Gst.SECOND)
        assert sample, f"no frame within 20 s\n{log()}"
        data = sample.get_buffer().extract_dup(0, sample.get_buffer().get_size())
        assert len(data) == 640 * 480 * 3
        return lambda where: tuple(data[(where[1] * 640 + where[0]) * 3:][:3])

    def wait(self, color, where):
        wait_for(lambda: near(self.frame()(where), color), f"{color} at {where}")

    def stop(self):
        self.pipeline.set_state(Gst.State.NULL)


def near(pixel, color):
    return all(abs(a - b) <= 40 for a, b in zip(pixel, color))


def first_frame_is_background():
    client = Client()
    pixel = client.frame()(CHEST)
    assert near(pixel, BLUE), f"{pixel} is first\n{log()}"
    return client


def processor_time():
    """Seconds of the service and of its children."""
    times = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if service.pid in (int(stat.parent.name), int(fields[1])):
            times.append(int(fields[11]) + int(fields[12]))
    assert len(times) == 2, times  # pw-link watches the links
    return sum(times) / os.sysconf("SC_CLK_TCK")


def clients():
    for turn in range(1, 6):
        first = first_frame_is_background()
        first.wait(SWEATER, CHEST)
        others = [run("gst-launch-1.0", "-q", *OTHER.split()) for _ in range(3)]
        for other in others:
            assert other.wait(60) == 0
        assert near(first.frame()(CORNER), BLUE)
        first.stop()
        wait_for(lambda: count("the camera stops") == turn, f"the end of turn {turn}")
        assert count("the camera starts") == turn, log()
        if turn > 2:
            time.sleep(2 * turn - 4)  # WirePlumber suspends the node after 5 s


def killed_client():
    """A program that hangs with all buffers and is killed leaves no frame of the person behind."""
    starts = count("the camera starts")
    client = run("gst-launch-1.0", "-q", *OTHER.replace("=20", "=-1").split())
    wait_for(lambda: count("the camera starts") > starts, "the start")
    watcher = Client()
    watcher.wait(SWEATER, CHEST)
    watcher.stop()
    os.kill(client.pid, signal.SIGSTOP)
    time.sleep(1)
    stops = count("the camera stops")
    client.kill()
    client.wait()
    wait_for(lambda: count("the camera stops") > stops, "the stop")
    time.sleep(1.5)
    first_frame_is_background().stop()
    wait_for(lambda: count("the camera stops") > stops + 1, "the next stop")


def changes():
    client = Client()
    client.wait(SWEATER, CHEST)
    starts = count("the camera starts")
    configure(color="0xffff0000")
    client.wait(RED, CORNER)
    for text, sentence in (
        ("[camera]\nsorce=a\n", "camera.conf: [camera] sorce: there is no such key"),
        ("[camera]\nwidth=wide\n", "camera.conf: [camera] width=wide: a whole number"),
        ("[camera]\nsource=nosuchsrc\n", 'source=nosuchsrc: no element "nosuchsrc"'),
        ("[depthmatte]\nanchor=foot\n", "camera.conf: [depthmatte] anchor=foot: it has no such value"),
        ("[depthmatte]\nmargin=11\n", "camera.conf: [depthmatte] margin=11: 0.0 to 10.0"),
        ("[depthmatte]\nbackground=/nosuch.png\n", "/nosuch.png"),
        ("[depthmatte]\nbackground-mode=transparent\n", "no transparency"),
        ("camera\n", "camera.conf: "),
    ):
        before = count("the last good configuration stays")
        (folder / "config/depthmatte/camera.conf").write_text(text)
        wait_for(lambda: count("the last good configuration stays") > before, sentence)
        assert sentence in log().splitlines()[-1], log()
    client.wait(RED, CORNER)
    client.wait(SWEATER, CHEST)
    assert count("the camera starts") == starts, log()
    return client


def failing_cameras(client):
    configure("depthtestsrc is-live=true num-buffers=30")
    wait_for(lambda: client.frame() and count("the camera's stream has ended"), "the end of the stream")
    client.wait(BLUE, CHEST)
    client.wait(SWEATER, CHEST)
    if not shutil.which("cc"):
        return print(f"{sys.argv[0]}: skipped, there is no cc for the stand-in of a camera's library")
    (folder / "unplugged.c").write_text(UNPLUGGED)
    library = folder / "unplugged.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-w", f"-I{ROOT}/Tests/cameras", folder / "unplugged.c", "-o", library, "-lpthread"], check=True)
    # The whole picture, which gets brighter by 1 each frame, is nearer than 3 m.
    (folder / "config/depthmatte/camera.conf").write_text(
        f"[camera]\nsource=depthcamsrc driver=freenect library={library}\n"
        "[depthmatte]\nanchor=fixed\ncutoff=3\nbackground-color=0xff00ff00\n[output]\nlinger=1\n")
    gray = lambda: not near(client.frame()(CHEST), GREEN)  # noqa: E731
    client.wait(GREEN, CHEST)
    wait_for(gray, "the picture of the stand-in")
    client.wait(GREEN, CHEST)
    wait_for(lambda: re.search("unplugged|gone|lost", log()), "the reason")
    (folder / "plug").touch()
    wait_for(gray, "the camera that is plugged in again")


UNPLUGGED = """
#include "fake_freenect.c"
#include <unistd.h>
static void *plug(void *unused) {
    while (access(PLUG, F_OK)) usleep(100000);
    set("unplugged", 0);
    return unused;
}
__attribute__((constructor)) static void begin(void) {
    pthread_t thread;
    set("unplug-after", 60);
    set("interval", 33);
    pthread_create(&thread, NULL, plug, NULL);
}
"""


def notifications(client):
    """The desktop is told that nobody is seen, and no longer when somebody is."""
    calls = []
    node = Gio.DBusNodeInfo.new_for_xml(
        "<node><interface name='org.freedesktop.Notifications'><method name='Notify'><arg type='s'/><arg type='u'/><arg type='s'/>"
        "<arg type='s'/><arg type='s'/><arg type='as'/><arg type='a{sv}'/><arg type='i'/><arg type='u' direction='out'/></method>"
        "<method name='CloseNotification'><arg type='u'/></method></interface></node>")

    def call(bus, sender, path, name, method, arguments, invocation):
        calls.append((method, arguments.unpack()))
        invocation.return_value(GLib.Variant("(u)", (7,)) if method == "Notify" else None)

    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    bus.register_object("/org/freedesktop/Notifications", node.interfaces[0], call, None, None)
    Gio.bus_own_name_on_connection(bus, "org.freedesktop.Notifications", Gio.BusNameOwnerFlags.NONE, None, None)
    wait_for(lambda: client.frame() and True, "a frame")
    configure("depthtestsrc is-live=true empty-until=8000000000", notify="true")
    wait_for(lambda: calls, "a notification")
    assert calls[0][0] == "Notify" and calls[0][1][3] == "Nobody is seen", calls
    wait_for(lambda: calls[1:], "its end")
    assert calls[1] == ("CloseNotification", (7,)), calls


def check():
    done = subprocess.run([PROGRAM, "--check"], capture_output=True, text=True)
    assert done.returncode == 0 and "nothing is missing" in done.stdout, done
    (folder / "config/depthmatte/camera.conf").write_text("[output]\ntype=v4l2\ndevice=/nosuch\n")
    done = subprocess.run([PROGRAM, "--check"], capture_output=True, text=True)
    assert done.returncode == 1 and "/nosuch is not there" in done.stdout and "Next step:" in done.stdout, done
    done = subprocess.run([PROGRAM], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr == "depthmatte-camera: it runs already\n", done


scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)
UNPLUGGED = UNPLUGGED.replace("PLUG,", f'"{folder}/plug",')
(folder / "config/depthmatte").mkdir(parents=True)
(folder / "run").mkdir(mode=0o700)
os.environ.update(XDG_RUNTIME_DIR=f"{folder}/run", XDG_CONFIG_HOME=f"{folder}/config", XDG_CONFIG_DIRS=f"{folder}/none")
daemons_log = open(folder / "daemons", "wb")
configure()
pipewire = run("pipewire")
wait_for(lambda: (folder / "run/pipewire-0").exists(), "PipeWire")
wireplumber = run("wireplumber")
service = subprocess.Popen([PROGRAM], stderr=open(folder / "log", "wb"))
wait_for(lambda: "depthmatte:" in subprocess.run(["pw-link", "--output"], capture_output=True, text=True).stdout, "the camera")
before = processor_time()
time.sleep(12)
idle = (processor_time() - before) / 12
assert idle <= 0.005, f"{idle:.2%} of a core while nobody looks"
clients()
killed_client()
client = changes()
failing_cameras(client)
notifications(client)
client.stop()
configure()
check()
service.terminate()
assert service.wait(20) == 0 and "Traceback" not in log() and "CRITICAL" not in log(), log()
for daemon in (wireplumber, pipewire):
    daemon.kill()
    daemon.wait()
unit = folder / "depthmatte-camera.service"
unit.write_text((ROOT / "pipelines" / unit.name).read_text().replace("=depthmatte-camera", f"={PROGRAM}"))
for tool, file in (("systemd-analyze --user verify", unit), ("desktop-file-validate", ROOT / "pipelines/depthmatte-camera.desktop")):
    if shutil.which(tool.split()[0]):
        subprocess.run([*tool.split(), file], check=True)
print(f"{sys.argv[0]}: passed; {idle:.2%} of a core while nobody looks")
