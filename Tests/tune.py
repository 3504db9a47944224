#!/usr/bin/python3
"""Tests pipelines/tune.py with real clicks in a window of a virtual display.

    Tests/tune.py [FOLDER]      the screenshots go to the folder

Needs xvfb, xdotool, and what tune.py needs; where they are not there it is skipped.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
if sys.argv[1:] in (["-h"], ["--help"]):
    sys.exit(print(__doc__))
for program in ("xvfb-run", "xdotool"):
    if not shutil.which(program):
        sys.exit(print(f"{sys.argv[0]}: skipped, there is no {program}"))
if "DEPTHMATTE_TUNE_TEST" not in os.environ:
    os.environ["DEPTHMATTE_TUNE_TEST"] = "1"
    screen = ["timeout", "-s", "KILL", "180", "xvfb-run", "-a", "-s", "-screen 0 1180x760x24"]
    os.execv(ROOT / "Tests/leftovers.sh", ["leftovers.sh", *screen, "/usr/bin/python3", *sys.argv])

os.environ["GST_PLUGIN_PATH"] = str(ROOT / ".build/release")
sys.path.insert(0, str(ROOT / "pipelines"))
sys.dont_write_bytecode = True
try:
    import tune
except SystemExit as missing:
    sys.exit(print(f"{sys.argv[0]}: skipped, {missing}"))
from gi.repository import Gdk, GLib, Gst, Gtk  # noqa: E402

Gst.init(None)
if not Gtk.init_check()[0] or not Gst.ElementFactory.find("gtksink"):
    sys.exit(print(f"{sys.argv[0]}: skipped, there is no gtksink"))


def wait(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        while Gtk.events_pending():
            Gtk.main_iteration()
        time.sleep(0.01)


def wait_for(condition, what):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, f"not within 60 s: {what}"
        wait(0.05)


def click(widget, share=0.5):
    """Clicks on a widget, at a share of its width."""
    inside = widget.translate_coordinates(window, 0, 0)
    _, *origin = window.get_window().get_origin()
    size = widget.get_allocation()
    where = (origin[0] + inside[0] + share * size.width, origin[1] + inside[1] + 0.6 * size.height)
    xdotool("mousemove", *(str(round(part)) for part in where))
    xdotool("click", "1")


def xdotool(*words):
    subprocess.run(["xdotool", *words], check=True)
    wait(0.3)


def choose(menu, steps):
    click(menu)
    xdotool("key", *["Down" if steps > 0 else "Up"] * abs(steps), "Return")


def show(name):
    area = window.controls[name].get_ancestor(Gtk.ScrolledWindow)
    top = window.controls[name].translate_coordinates(area.get_child().get_child(), 0, 0)[1]
    area.get_vadjustment().set_value(top - 100)
    wait(0.5)
    return window.controls[name]


def picture():
    sample = window.sink.get_property("last-sample")
    okay, info = sample.get_buffer().map(Gst.MapFlags.READ) if sample else (False, None)
    if not okay:
        return None
    data = bytes(info.data)
    sample.get_buffer().unmap(info)
    return data


def screenshot(name):
    line = f"ximagesrc num-buffers=1 ! videoconvert ! pngenc ! filesink location={folder}/{name}.png"
    subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True)


def frames():
    return window.matte.get_property("stats").get_value("paired")


scratch = tempfile.TemporaryDirectory()
folder = sys.argv[1] if len(sys.argv) > 1 else scratch.name
window = tune.Tuner(tune.TEST)
wait_for(lambda: picture() and window.histogram.cutoff, "the first picture and its cutoff")
first = picture()
wait_for(lambda: picture() != first, "another picture")
screenshot("start")
cutoff = window.histogram.cutoff
assert 0.5 < cutoff < 1.5 and sum(window.histogram.counts) > 100

# A slider sets its property, the cutoff follows, and the histogram shows that.
click(show("margin"), 0.9)
wait_for(lambda: window.matte.get_property("margin") > 1, "the margin of a slider at its end")
wait_for(lambda: window.histogram.cutoff > cutoff + 0.5, "the cutoff in the histogram")
screenshot("margin")

# A menu changes the picture; a property that is set by another hand moves its control.
choose(show("view"), 1)
wait_for(lambda: window.matte.get_property("view").value_nick == "original", "another view")
screenshot("view")
line = window.line()
assert "view=" in line and "margin=" in line, line
window.matte.set_property("cutoff", 2)
wait_for(lambda: window.controls["cutoff"].get_value() == 2, "the slider of a property that was set")

# The launch line on the clipboard runs.
click(window.copy)
clipboard = Gtk.Clipboard.get(Gdk.SELECTION_CLIPBOARD)
wait_for(lambda: clipboard.wait_for_text() == window.line(), "the launch line on the clipboard")
line = window.line().replace("depthtestsrc", "depthtestsrc num-buffers=5", 1).replace("autovideosink", "fakesink")
subprocess.run(["sh", "-c", f"timeout -s KILL 60 {line}"], check=True, stdout=subprocess.DEVNULL)

# A preset starts from the defaults.
name = window.matte.get_preset_names()[0]
choose(window.presets, 1)
wait_for(lambda: window.presets.get_active_id() == name, f"the preset {name}")
assert window.matte.get_property("view").value_nick == "composite"
screenshot("preset")

# The room is remembered while nobody is there, and not while somebody is.
def remembers_room():
    window.status.set_text("")
    click(window.remember)
    wait_for(lambda: "Leave the picture:" in window.status.get_text(), "the count-down")
    wait_for(lambda: "Leave the picture:" not in window.status.get_text() and window.status.get_text(), "the end of the count-down")
    return window.matte.get_property("stats").get_value("room-known") > 0.5


window.reset()
assert not remembers_room() and "somebody" in window.status.get_text(), window.status.get_text()
window.pipeline.get_by_name("camera").set_property("empty-until", 80_000_000_000_000)
wait_for(lambda: not window.matte.get_property("stats").get_value("present"), "the empty room")
wait(2)
assert remembers_room(), window.status.get_text()
wait(0.5)
screenshot("room")

# Another scene, and a recording that is played again; the settings stay.
window.matte.set_property("margin", 0.5)
choose(window.sources, 1)
wait_for(lambda: window.pattern not in (None, "person") and frames() > 5, "another scene")
recording = f"{scratch.name}/rgbd.mkv"
record = [ROOT / "pipelines/run.sh", ROOT / "pipelines/depthcamsrc/record-rgbd.launch", "CAMERA=depthtestsrc", "FRAMES=10"]
subprocess.run([*record, f"OUTPUT={recording}"], check=True, stdout=subprocess.DEVNULL)
window.open(recording)
wait_for(lambda: frames() > 25, "the recording's third round")
assert window.matte.get_property("margin") == 0.5
assert not window.status.get_text(), window.status.get_text()
screenshot("recording")
window.stop()
print(f"{sys.argv[0]}: passed")
