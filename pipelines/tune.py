#!/usr/bin/python3
"""A window in which the settings of depthmatte are tried on a live picture.

    pipelines/tune.py [--source test|camera|RECORDING]

It shows the picture, a control for each setting, and the histogram of the depth with the cutoff in it. "Copy launch line"
puts the gst-launch-1.0 line with the present settings on the clipboard and prints it. "Remember the empty room" counts down
while you leave the picture. RECORDING is a file as
pipelines/depthcamsrc/record-rgbd.launch writes it; it is played again and again.

Needs python3-gi, python3-gi-cairo, gir1.2-gtk-3.0, gir1.2-gst-plugins-base-1.0 and gstreamer1.0-gtk3 (Debian's names).
"""
import argparse
import array
import os
import pathlib
import shlex
import sys

try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
    gi.require_version("Gdk", "3.0")
    gi.require_version("Gtk", "3.0")
    gi.require_foreign("cairo")
    from gi.repository import Gdk, GLib, GObject, Gst, GstApp, Gtk  # noqa: E402, F401
except (ImportError, ValueError) as error:
    sys.exit(
        f"{sys.argv[0]}: {error}\n"
        "apt-get install python3-gi python3-gi-cairo gir1.2-gtk-3.0 gir1.2-gst-plugins-base-1.0 gstreamer1.0-gtk3"
    )

TEST, CAMERA = "test", "camera"
# Settings of the stream rather than of the picture, which have no control here.
HIDDEN = {"max-pixels", "max-threads", "attach-matte", "stats-interval", "navigation", "thermal", "face-types", "person-types"}
# Sliders end where values stop to be useful; launch lines can go on to the ends of the properties.
USEFUL = {
    "cutoff": (0, 5), "near": (0, 5), "margin": (0, 2), "depth-bias": (-1, 1), "depth-scale": (0.5, 2),
    "depth-offset-x": (-200, 200), "depth-offset-y": (-200, 200), "depth-unit": (-0.01, 0.01), "gamma": (0.01, 4),
    "feather-near": (0, 1), "feather-far": (0, 1), "max-skew": (0, 500_000_000), "hold-time": (0, 2_000_000_000),
    "depth-ts-offset": (-300_000_000, 300_000_000),
    "slope": (0.1, 20), "anchor-smoothing": (0, 2), "depth-invalid": (-2, 65535),
}
SECONDS_TO_LEAVE = 5  # the picture, before the room is captured
METRES = 5  # of the histogram
BINS = 100


def source_line(source, pattern=None):
    """The part of a launch line before the element: the pads camera.video and camera.depth, or a recording's."""
    if source == TEST:
        kind = f" pattern={pattern}" if pattern else ""
        camera = f"depthtestsrc is-live=true{kind} name=camera"
        return camera, "camera.video ! video/x-raw,width=640,height=360,framerate=30/1", "camera.depth"
    if source == CAMERA:
        return "depthcamsrc align=video name=camera", "camera.video ! videoconvert", "camera.depth"
    path = source.replace("\\", "\\\\").replace('"', '\\"')
    camera = f'filesrc location="{path}" ! matroskademux name=file'
    return camera, "file.video_0 ! queue ! avdec_ffv1 ! videoconvert", "file.video_1 ! queue ! avdec_ffv1"


class Histogram(Gtk.DrawingArea):
    """How much of the depth map lies at which distance, with a line at the cutoff."""

    def __init__(self):
        super().__init__(height_request=90)
        self.counts = [0] * BINS
        self.cutoff = None
        self.connect("draw", self.draw_counts)

    def show_map(self, metres, cutoff):
        self.counts = [0] * BINS
        for distance in metres:
            if 0 < distance < METRES:
                self.counts[int(distance * BINS / METRES)] += 1
        self.cutoff = cutoff
        self.queue_draw()

    def position(self, metres):
        return metres / METRES * self.get_allocated_width()

    def draw_counts(self, _, context):
        width, height = self.get_allocated_width(), self.get_allocated_height()
        context.set_source_rgb(0.1, 0.1, 0.12)
        context.rectangle(0, 0, width, height)  # a paint() would reach beyond the widget
        context.fill()
        most = max(self.counts) or 1
        for number, count in enumerate(self.counts):
            behind = self.cutoff is not None and (number + 0.5) * METRES / BINS > self.cutoff
            context.set_source_rgb(*((0.4, 0.4, 0.45) if behind else (0.3, 0.8, 0.5)))
            # The square root lets small things be seen beside a wall.
            top = (height - 16) * (count / most) ** 0.5
            context.rectangle(number * width / BINS, height - 14 - top, width / BINS - 1, top)
            context.fill()
        context.set_source_rgb(0.8, 0.8, 0.8)
        for metres in range(1, METRES):
            context.move_to(self.position(metres) - 8, height - 3)
            context.show_text(f"{metres} m")
        if self.cutoff is not None:
            context.set_source_rgb(1, 0.3, 0.2)
            context.rectangle(self.position(self.cutoff) - 1, 0, 2, height - 14)
            context.fill()


class Tuner(Gtk.Window):
    def __init__(self, source):
        super().__init__(title="depthmatte", default_width=1180, default_height=760)
        self.pipeline = None
        self.pattern = None
        self.controls = {}
        self.matte = make("depthmatte", "the plugin is not built: ./pipelines/demo.sh builds it")
        self.sink = make("gtksink", "apt-get install gstreamer1.0-gtk3")
        self.matte.connect("notify", lambda _, spec: GLib.idle_add(self.refresh, spec.name))
        self.histogram = Histogram()
        self.status = Gtk.Label(xalign=0, ellipsize=3)
        self.add(self.layout())
        self.connect("destroy", Gtk.main_quit)
        self.show_all()
        GLib.timeout_add(200, self.measure)
        self.open(source)

    # The window

    def layout(self):
        picture = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4)
        preview = self.sink.get_property("widget")
        preview.set_size_request(640, 360)
        picture.pack_start(self.toolbar(), False, False, 0)
        picture.pack_start(preview, True, True, 0)
        picture.pack_start(self.histogram, False, False, 0)
        picture.pack_start(self.status, False, False, 0)
        settings = Gtk.ScrolledWindow(hscrollbar_policy=Gtk.PolicyType.NEVER, width_request=500)
        settings.add(self.settings())
        panes = Gtk.Box(spacing=6, margin=6)
        panes.pack_start(picture, True, True, 0)
        panes.pack_start(settings, False, False, 0)
        return panes

    def toolbar(self):
        bar = Gtk.Box(spacing=4)
        self.sources = Gtk.ComboBoxText()
        patterns = choices(make("depthtestsrc", "the plugin is not built").find_property("pattern"))
        for pattern in patterns:
            self.sources.append(f"{TEST}:{pattern}", f"Test: {pattern}")
        self.sources.append(CAMERA, "Camera")
        self.sources.append("open", "Recording …")
        self.sources.set_active_id(f"{TEST}:{patterns[0]}")
        self.sources.connect("changed", self.source_chosen)
        self.presets = Gtk.ComboBoxText()
        self.presets.append_text("Preset …")
        for name in self.matte.get_preset_names():
            self.presets.append(name, name)
        self.presets.set_active(0)
        self.presets.connect("changed", self.preset_chosen)
        reset = Gtk.Button(label="Defaults")
        reset.connect("clicked", lambda _: self.reset())
        self.copy = Gtk.Button(label="Copy launch line")
        self.copy.connect("clicked", lambda _: self.copy_line())
        self.remember = Gtk.Button(label="Remember the empty room", tooltip_text="Leave the picture, then come back: the matte "
                                   "of a camera that does not move becomes better. Nothing is kept when the window closes.")
        self.remember.connect("clicked", lambda _: self.count_down(SECONDS_TO_LEAVE))
        for widget in (self.sources, self.presets, reset, self.copy, self.remember):
            bar.pack_start(widget, False, False, 0)
        return bar

    def settings(self):
        grid = Gtk.Grid(column_spacing=8, row_spacing=2)
        for row, spec in enumerate(self.tunable()):
            label = Gtk.Label(label=spec.name, xalign=0, tooltip_text=spec.blurb)
            control = self.control(spec)
            control.set_tooltip_text(spec.blurb)
            grid.attach(label, 0, row, 1, 1)
            grid.attach(control, 1, row, 1, 1)
            self.controls[spec.name] = control
        return grid

    def tunable(self):
        """The element's own properties that can be changed while it plays."""
        playing = 1 << (GObject.PARAM_USER_SHIFT + 4)  # GST_PARAM_MUTABLE_PLAYING
        return [
            spec
            for spec in self.matte.list_properties()
            if spec.owner_type == self.matte.__gtype__ and spec.flags & playing and spec.flags & GObject.ParamFlags.WRITABLE
            and spec.name not in HIDDEN
        ]

    def control(self, spec):
        if spec.value_type.is_a(GObject.TYPE_ENUM):
            control = Gtk.ComboBoxText(hexpand=True)
            for nick in choices(spec):
                control.append(nick, nick)
            control.connect("changed", lambda _: self.set(spec, control.get_active_id()))
        elif spec.value_type == GObject.TYPE_BOOLEAN:
            control = Gtk.Switch(halign=Gtk.Align.START)
            control.connect("notify::active", lambda *_: self.set(spec, control.get_active()))
        elif spec.value_type == GObject.TYPE_STRING:
            control = Gtk.FileChooserButton(title=spec.name)
            control.connect("file-set", lambda _: self.set(spec, control.get_filename()))
        elif spec.name.endswith("-color"):
            control = Gtk.ColorButton(use_alpha=True)
            control.connect("color-set", lambda _: self.set(spec, argb(control.get_rgba())))
        else:
            low, high = USEFUL.get(spec.name, (spec.minimum, spec.maximum))
            whole = spec.value_type != GObject.TYPE_DOUBLE
            step = max(1, (high - low) // 200) if whole else (high - low) / 200
            control = Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, low, high, step)
            control.set_digits(0 if whole else 5 if step < 0.001 else 3)
            control.set_hexpand(True)
            control.connect("value-changed", lambda _: self.set(spec, (int if whole else float)(control.get_value())))
        self.refresh(spec.name, control)
        return control

    # Settings

    def set(self, spec, value):
        if not self.is_refreshing and value is not None and value != self.value(spec):
            self.matte.set_property(spec.name, value)

    is_refreshing = False

    def value(self, spec):
        value = self.matte.get_property(spec.name)
        return value.value_nick if spec.value_type.is_a(GObject.TYPE_ENUM) else value

    def refresh(self, name, control=None):
        """Shows a property's value in its control, which then must not set it again, rounded to its step."""
        control = control or self.controls.get(name)
        if not control:
            return
        value = self.value(self.matte.find_property(name))
        self.is_refreshing = True
        if isinstance(control, Gtk.ComboBoxText):
            control.set_active_id(value)
        elif isinstance(control, Gtk.Switch):
            control.set_active(value)
        elif isinstance(control, Gtk.FileChooserButton):
            control.set_filename(value) if value else control.unselect_all()
        elif isinstance(control, Gtk.ColorButton):
            control.set_rgba(rgba(value))
        else:
            control.set_value(value)
        self.is_refreshing = False

    def reset(self):
        for spec in self.tunable():
            self.matte.set_property(spec.name, spec.default_value)

    def preset_chosen(self, menu):
        if menu.get_active_id():
            self.reset()
            self.matte.load_preset(menu.get_active_id())

    # The room

    def count_down(self, seconds):
        self.remember.set_sensitive(seconds == 0)
        if seconds:
            self.status.set_text(f"Leave the picture: {seconds} …")
            GLib.timeout_add_seconds(1, self.count_down, seconds - 1)
            return False
        if self.value(self.matte.find_property("room-memory")) == "off":
            Gst.util_set_object_arg(self.matte, "room-memory", "learn")
        self.status.set_text("")
        self.matte.emit("capture-room")
        GLib.timeout_add_seconds(2, self.tell_room)
        return False

    def tell_room(self):
        known = self.matte.get_property("stats").get_value("room-known")
        # Where it was refused, the element's warning says why.
        if known and not self.status.get_text():
            self.status.set_text(f"The room is remembered: {known:.0%} of the picture. Come back.")
        return False

    # Sources

    def source_chosen(self, menu):
        chosen = menu.get_active_id()
        if chosen == "open":
            dialog = Gtk.FileChooserNative.new("Recording", self, Gtk.FileChooserAction.OPEN, None, None)
            if dialog.run() == Gtk.ResponseType.ACCEPT:
                self.open(dialog.get_filename())
        elif chosen == CAMERA:
            self.open(CAMERA)
        else:
            self.open(TEST, chosen.partition(":")[2])

    def open(self, source, pattern=None):
        self.stop()
        self.source, self.pattern = source, pattern
        camera, video, depth = source_line(source, pattern)
        self.pipeline = Gst.Pipeline()
        # A bin of the source alone, so that the element and its settings live on from source to source.
        before = Gst.parse_bin_from_description(
            f"{camera} {video} ! identity name=video {depth} ! tee name=depth depth. ! queue ! identity name=matted "
            "depth. ! queue leaky=downstream max-size-buffers=1 ! appsink name=maps max-buffers=1 drop=true sync=false",
            False,
        )
        convert = make("videoconvert", "apt-get install gstreamer1.0-plugins-base")
        for element in (before, self.matte, convert, self.sink):
            self.pipeline.add(element)
        for name, inside in (("video", "video"), ("depth", "matted")):
            pad = Gst.GhostPad.new(name, before.get_by_name(inside).get_static_pad("src"))
            before.add_pad(pad)
            before.link_pads(name, self.matte, name)
        self.matte.link(convert)
        convert.link(self.sink)
        self.maps = before.get_by_name("maps")
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message", self.on_message)
        self.status.set_text("")
        self.pipeline.set_state(Gst.State.PLAYING)

    def stop(self):
        if not self.pipeline:
            return
        self.pipeline.get_bus().remove_signal_watch()
        self.pipeline.set_state(Gst.State.NULL)
        for element in (self.matte, self.sink):
            self.pipeline.remove(element)
        for pad in self.matte.sinkpads:
            if pad.get_pad_template().presence == Gst.PadPresence.REQUEST:
                self.matte.release_request_pad(pad)

    def on_message(self, _, message):
        if message.type == Gst.MessageType.EOS:
            self.pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH, 0)
        elif message.type in (Gst.MessageType.ERROR, Gst.MessageType.WARNING):
            parse = message.parse_error if message.type == Gst.MessageType.ERROR else message.parse_warning
            self.status.set_text(parse()[0].message)

    # Measurements

    def measure(self):
        sample = self.maps.try_pull_sample(0)
        if sample:
            stats = self.matte.get_property("stats")
            self.histogram.show_map(metres(sample), stats.get_value("cutoff") if stats.has_field("cutoff") else None)
        return True

    # The line

    def changed(self):
        specs = [self.matte.find_property(name) for name in self.controls]
        return [
            f"{spec.name}={shlex.quote(text(self.value(spec)))}" for spec in specs if self.value(spec) != default(spec)
        ]

    def line(self):
        camera, video, depth = source_line(self.source, self.pattern)
        matte = " ".join(["depthmatte name=matte", *self.changed()])
        convert = "" if "videoconvert" in video or self.source == TEST else " ! videoconvert"
        return (
            f"gst-launch-1.0 {camera} {video}{convert} ! {matte} ! videoconvert ! autovideosink {depth} ! matte.depth"
        )

    def copy_line(self):
        line = self.line()
        Gtk.Clipboard.get(Gdk.SELECTION_CLIPBOARD).set_text(line, -1)
        print(line, flush=True)
        self.status.set_text("The launch line is on the clipboard.")


def metres(sample):
    """Some hundred distances of a depth map."""
    structure = sample.get_caps().get_structure(0)
    is_float = structure.get_name() == "video/x-depth"
    okay, info = sample.get_buffer().map(Gst.MapFlags.READ)
    if not okay:
        return []
    try:
        counts = array.array("f" if is_float else "H")
        counts.frombytes(bytes(info.data[: len(info.data) // 4 * 4]))
    finally:
        sample.get_buffer().unmap(info)
    unit = 1 if is_float else structure.get_double("depth-unit")[1] or 0.001
    return [count * unit for count in counts[:: max(1, len(counts) // 5000)]]


def choices(spec):
    return [value.value_nick for value in spec.enum_class.__enum_values__.values()]


def default(spec):
    value = spec.default_value
    return value.value_nick if spec.value_type.is_a(GObject.TYPE_ENUM) else value


def text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def argb(color):
    return sum(round(part * 255) << shift for part, shift in
               ((color.alpha, 24), (color.red, 16), (color.green, 8), (color.blue, 0)))


def rgba(value):
    return Gdk.RGBA(*((value >> shift & 255) / 255 for shift in (16, 8, 0, 24)))


def make(factory, advice):
    element = Gst.ElementFactory.make(factory)
    return element or sys.exit(f"{sys.argv[0]}: there is no element {factory}; {advice}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", default=TEST, help="test, camera, or the path of a recording")
    options = parser.parse_args()
    if options.source not in (TEST, CAMERA) and not os.path.isfile(options.source):
        sys.exit(f"{sys.argv[0]}: there is no recording {options.source}")
    built = pathlib.Path(__file__).resolve().parent.parent / ".build/release"
    if (built / "libgstdepthmatte.so").exists():
        os.environ["GST_PLUGIN_PATH"] = f"{built}:{os.environ.get('GST_PLUGIN_PATH', '')}"
    if not Gtk.init_check()[0]:
        sys.exit(f"{sys.argv[0]}: there is no display")
    Gst.init(None)
    tuner = Tuner(options.source)
    Gtk.main()
    tuner.stop()


if __name__ == "__main__":
    main()
