#!/usr/bin/python3
"""Tests pipelines/tune.py with real clicks in a window of a virtual display.

    Tests/tune.py [FOLDER]      the screenshots go to the folder

Needs xvfb, xdotool, and what tune.py needs; where they are not there it is skipped. The virtual camera is tried where PipeWire,
WirePlumber and dbus-run-session are installed.
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
    bus = ["dbus-run-session", "--"] if shutil.which("dbus-run-session") else []
    screen = ["timeout", "-s", "KILL", "300", *bus, "xvfb-run", "-a", "-s", "-screen 0 1180x760x24"]
    os.execv(ROOT / "Tests/leftovers.sh", ["leftovers.sh", *screen, "/usr/bin/python3", *sys.argv])

scratch = tempfile.TemporaryDirectory()
user, system = (pathlib.Path(scratch.name) / name / "depthmatte/camera.conf" for name in ("user", "system"))
os.environ.update(GST_PLUGIN_PATH=str(ROOT / ".build/release"), SWIFT_BACKTRACE="enable=no", NO_AT_BRIDGE="1",
                  XDG_RUNTIME_DIR=scratch.name, XDG_CONFIG_HOME=str(user.parent.parent), XDG_CONFIG_DIRS=str(system.parent.parent))
sys.path.insert(0, str(ROOT / "pipelines"))
sys.dont_write_bytecode = True
try:
    import tune
    import tune_settings
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
        if time.monotonic() > end:
            screenshot("failed")
            raise AssertionError(f"not within 60 s: {what}; failed.png in the folder shows the window")
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


def keys(*names):
    xdotool("key", *names)


def choose(menu, steps):
    click(menu)
    keys(*["Down" if steps > 0 else "Up"] * abs(steps), "Return")


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


def get(name):
    return tune_settings.value(window.matte, name)


def widgets(inside, kind):
    """All that are shown, in popovers too only where those are open."""
    found = []

    def visit(widget):
        if widget.get_mapped():
            found.extend([widget] if isinstance(widget, kind) else [])
            if isinstance(widget, Gtk.Container):
                widget.forall(visit)

    visit(inside)
    return found


folder = sys.argv[1] if len(sys.argv) > 1 else scratch.name
window = tune.Tuner("test:person")
wait_for(lambda: picture() and window.histogram.cutoff, "the first picture and its cutoff")
first = picture()
wait_for(lambda: picture() != first, "another picture")
screenshot("start")

# Every setting has words, and the letters of the keyboard lead to one widget each.
rows = tune_settings.groups(tune_settings.tunable(window.matte))
assert len(rows[tune_settings.FIRST]) == 10, rows[tune_settings.FIRST]
assert tune_settings.OTHER not in rows, f"words are missing in pipelines/tune_settings.py: {rows[tune_settings.OTHER]}"
letters = [chr(label.get_mnemonic_keyval()) for label in widgets(window, Gtk.Label) if label.get_use_underline()]
assert len(letters) > 12 and len(letters) == len(set(letters)), letters

cutoff = window.histogram.cutoff
assert 0.5 < cutoff < 1.5 and sum(window.histogram.counts) > 100

# A slider sets its property, the cutoff follows, and the histogram shows that.
click(show("margin"), 0.8)
wait_for(lambda: window.matte.get_property("margin") > 1, "the margin of a slider at its end")
wait_for(lambda: window.histogram.cutoff > cutoff + 0.5, "the cutoff in the histogram")
screenshot("margin")

# What was moved in one go is undone as one, and done again.
moved = get("margin")
wait_for(lambda: window.at == 1, "the step that can be undone")
for key, expected in (("ctrl+z", 0.25), ("ctrl+shift+z", moved), ("ctrl+z", 0.25), ("ctrl+y", moved)):
    keys(key)
    wait_for(lambda: get("margin") == expected == window.controls["margin"].get_value(), f"{expected} after {key}")
    wait(0.5)
assert len(window.history) == 2, window.history

# A menu changes a setting; one that is set by another hand moves its control.
choose(show("subject"), -1)
wait_for(lambda: get("subject") == "all", "another subject")

# The tabs show the views; the points are only made while they are shown.
def points():
    return window.cloud.get_property("stats").get_value("rendered")


assert points() == 0
for view in ("quad", "cloud", "original"):
    click(window.tabs[view])
    wait_for(lambda: points() > 5 if view == "cloud" else get("view") == view, view)
    screenshot(view)
    if view == "cloud":
        window.stack.get_visible_child().grab_focus()
        keys("Left")
        yaw = window.before.get_by_name("points").get_property("yaw")
        keys("Left", "Left")
        wait_for(lambda: window.before.get_by_name("points").get_property("yaw") == yaw - 10, "the points turned by keys")
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

# A preset, chosen by its picture, sets all that the look depends on.
click(window.tabs["composite"])
click(window.presets)
pictures = lambda: [image.get_pixbuf() for image in widgets(window.preset_menu, Gtk.Image)]  # noqa: E731
wait_for(lambda: pictures() and all(pictures()), "pictures of the presets")
screenshot("preset")
assert len({picture.get_pixels() for picture in pictures()}) == len(window.matte.get_preset_names()) + 1
click(next(child for child in window.preset_menu.flow.get_children() if child.get_name() == "comic"))
wait_for(lambda: get("background-mode") == "comic" and get("margin") == 0.25, "the preset comic")
assert 0.9 < get("focus") <= 1, get("focus")  # just behind the person, 0.98 m away

# The room is remembered while nobody is there, and not while somebody is.
def remembers_room():
    window.status.set_text("")
    click(window.remember)
    wait_for(lambda: "Leave the picture:" in window.status.get_text(), "the count-down")
    wait_for(lambda: "Leave the picture:" not in window.status.get_text() and window.status.get_text(), "the end of the count-down")
    return window.matte.get_property("stats").get_value("room-known") > 0.5


keys("alt+p", "Return")
wait_for(lambda: get("background-mode") == "auto" and get("subject") == "anchored", "the defaults, by the keyboard")
assert not remembers_room() and "somebody" in window.status.get_text(), window.status.get_text()
window.before.get_by_name("camera").set_property("empty-until", 80_000_000_000_000)
wait_for(lambda: not window.matte.get_property("stats").get_value("present"), "the empty room")
wait(2)
assert remembers_room(), window.status.get_text()
wait(0.5)
screenshot("room")

# Another scene, and a recording that is played again; the settings stay.
window.matte.set_property("margin", 0.5)
choose(window.sources, 1)
wait_for(lambda: window.source not in ("test:person", "open") and frames() > 5, "another scene")
recording = f"{scratch.name}/rgbd.mkv"
record = [ROOT / "pipelines/run.sh", ROOT / "pipelines/depthcamsrc/record-rgbd.launch", "CAMERA=depthtestsrc", "FRAMES=10"]
subprocess.run([*record, f"OUTPUT={recording}"], check=True, stdout=subprocess.DEVNULL)
window.open(recording)
wait_for(lambda: frames() > 25, "the recording's third round")
assert window.matte.get_property("margin") == 0.5
assert not window.status.get_text(), window.status.get_text()
screenshot("recording")

# A source that could not be played for a setting is played again when that is changed.
wait_for(lambda: not window.ticking, "the calm")
window.matte.set_property("background", "/nowhere.jpg")
wait_for(lambda: "/nowhere.jpg" in window.status.get_text() and not window.ticking, "a word on the file that is missing")
window.open(recording)
wait_for(lambda: window.failed and "/nowhere.jpg" in window.status.get_text(), "the end of the recording")
keys("ctrl+z")
wait_for(lambda: not window.failed and frames() > 5, "the recording again")

# The virtual camera's configuration: what is not the picture's stays, comments too, and a link stays one.
system.parent.mkdir(parents=True)
system.write_text("# mine\n\n[camera]\n# the desk\nsource=depthcamsrc\n\n[depthmatte]\n# far\nnear=0.4\nthermal=report\nmargin=.5\n\n"
                  "[output]\nlinger=2\n")
odd = shutil.copy(ROOT / "pipelines/background.jpg", f"{scratch.name}/a b;c\\d.jpg")
window.matte.set_property("background", odd)
window.matte.set_property("background-mode", "color")
window.matte.set_property("background-color", 0xFF204060)
keys("ctrl+s")
wait_for(user.exists, "the configuration")
written = user.read_text()
for kept in ("# mine\n", "[camera]\n# the desk\nsource=depthcamsrc\n", "[depthmatte]\n# far\nthermal=report\nmargin=.5\n",
             "[output]\nlinger=2\n", "background-mode=color\n", "background-color=0xff204060\n"):
    assert kept in written, (kept, written)
assert "near" not in written and "view" not in written, written
kept = tune_settings.values(window.matte)
assert tune_settings.saved(window.matte) == kept
user.rename(user.with_name("linked"))
user.symlink_to("linked")
keys("ctrl+s")
assert user.is_symlink() and user.read_text() == written
user.write_text("[depthmatte\nmargin=1\n")
keys("ctrl+s")
wait_for(lambda: window.status.get_text().startswith("Not saved:"), "a word on the line that cannot be read")
assert user.read_text() == "[depthmatte\nmargin=1\n"
user.write_text(written)
window.matte.set_property("background", None)

# Lag and offset: (what the element says, in words, the corrections)
def stats(lag, x, y):
    fields = [f"depth-lag-error=(gint64)2000000, depth-lag=(gint64){lag or 0}, depth-lag-known={lag is not None}"]
    for axis, found in (("x", x), ("y", y)):
        fields.append(f"depth-shift-{axis}={float(found or 0)}, depth-shift-{axis}-known={found is not None}")
    return Gst.Structure.new_from_string(", ".join(["stats", *fields]).replace("=True", "=true").replace("=False", "=false"))


for given, words, changes in (
    ((None, None, None), "Depth: time not known, left to right not known, top to bottom not known", {}),
    ((1_000_000, 0.4, 0), "Depth: time fits, left to right fits, top to bottom fits", {}),
    ((66_000_000, -12.4, None), "Depth: 66 ms late, 12 px too far right, top to bottom not known",
     {"depth-ts-offset": -66_000_000, "depth-offset-x": -12.4}),
    ((-33_000_000, 3, 5), "Depth: 33 ms early, 3 px too far left, 5 px too high",
     {"depth-ts-offset": 33_000_000, "depth-offset-x": 3, "depth-offset-y": 5}),
):
    assert tune_settings.measured(stats(*given)) == (words, changes), (given, tune_settings.measured(stats(*given)))
fake = stats(66_000_000, -12.5, None)
real, window.measurements = window.measurements, lambda: fake
wait_for(lambda: window.correct.get_mapped() and "66 ms late" in window.lag.get_text(), "the lag in words")
screenshot("lag")
click(window.correct)
wait_for(lambda: (get("depth-ts-offset"), get("depth-offset-x")) == (-66_000_000, -12.5), "the corrections")
window.measurements = real

# 900 x 600: all is inside, no text is cut, and the keyboard reaches every control, which is scrolled to.
window.resize(900, 600)
xdotool("mousemove", "200", "300")  # without a window manager the keyboard is where the pointer is
wait_for(lambda: window.get_size() == (900, 600), "900 x 600")
for setting in (False, True):
    window.expander.set_expanded(setting)
    wait(0.5)
    for label in widgets(window, Gtk.Label):
        left, size = label.translate_coordinates(window, 0, 0)[0], label.get_allocation()
        assert 0 <= left and left + size.width <= 900, label.get_text()
        assert not label.get_layout().is_ellipsized() and label.get_layout().get_pixel_size()[0] <= size.width, label.get_text()
    area, reached = window.expander.get_ancestor(Gtk.ScrolledWindow), []
    window.set_focus(None)
    while window.child_focus(Gtk.DirectionType.TAB_FORWARD) and window.get_focus() not in reached:
        focus = window.get_focus()
        reached.append(focus)
        if focus.is_ancestor(area):
            top = focus.translate_coordinates(area, 0, 0)[1]
            height = 30 if isinstance(focus, Gtk.Expander) else focus.get_allocated_height()
            assert 0 <= top and top + height <= area.get_allocated_height(), (focus, top)
    for control in widgets(window, (Gtk.Button, Gtk.Scale, Gtk.Switch, Gtk.Expander)):
        if control.get_sensitive() and not isinstance(control, Gtk.MenuButton):
            assert control in reached or any(focus.is_ancestor(control) for focus in reached), (control, control.get_tooltip_text())
    screenshot(f"small-{setting}")
window.expander.set_expanded(False)

# The virtual camera: its picture, and each change in its configuration. A launch line stands for it.
programs = ("pipewire", "wireplumber", "pw-cli", "dbus-run-session")
if all(map(shutil.which, programs)) and Gst.ElementFactory.find("pipewiresrc"):
    log, running = open(f"{scratch.name}/log", "wb"), []

    def run(*command):
        running.append(subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True))
        return running[-1]

    def shows_camera():
        return window.stack.get_visible_child_name() == "service" and window.rendered > 0

    camera = (ROOT / "pipelines/run.sh", ROOT / "pipelines/outputs/pipewire.launch")
    user.write_text(written)
    window.sources.set_active_id("service")
    wait_for(lambda: window.stack.get_visible_child_name() == "waiting", "a word that the camera is not there")
    wait_for(lambda: get("background-mode") == "color" and get("margin") == 0.5, "the settings of the configuration")
    assert not window.tabs["quad"].get_sensitive() and not window.histogram.get_visible() and window.only_picture.get_mapped()
    run("pipewire")
    wait_for(lambda: os.path.exists(f"{scratch.name}/pipewire-0"), "PipeWire")
    run("wireplumber")
    first = run(*camera)
    wait_for(shows_camera, "the picture of the virtual camera")
    screenshot("service")
    window.matte.set_property("margin", 0.75)
    wait_for(lambda: "margin=0.75\n" in user.read_text(), "a change in the configuration")
    user.write_text(user.read_text().replace("[depthmatte]\n", "[depthmatte]\nlight-wrap=0.2\n"))
    keys("ctrl+z")
    wait_for(lambda: "margin=0.5\n" in user.read_text(), "a change undone in the configuration")
    assert "light-wrap=0.2\n" in user.read_text(), "what another program wrote is gone"
    os.killpg(first.pid, 9)
    wait_for(lambda: window.stack.get_visible_child_name() == "waiting", "a word that the camera has gone")
    run(*camera)
    wait_for(shows_camera, "the camera that came back")
    window.sources.set_active_id("test:person")
    wait_for(lambda: window.histogram.get_visible() and frames() > 5, "the test source again")
    for program in reversed(running):
        os.killpg(program.pid, 9)
else:
    print(f"{sys.argv[0]}: the virtual camera is not tried: {', '.join(programs)} or pipewiresrc is missing")
window.stop()
print(f"{sys.argv[0]}: passed")
