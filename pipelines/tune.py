#!/usr/bin/python3
"""A window in which the settings of depthmatte are tried on a live picture.

    pipelines/tune.py [--source test|camera|service|RECORDING]

The settings that matter most come first; "All settings" has the others, in groups. Each has its property's name below it and its
explanation under the pointer; what differs from the default is bold. "Preset" shows what each preset makes of the present frame.
The tabs show the picture, the video, the depth, the matte, all four, and the points in space; below is the histogram of the depth
with the cutoff in it. Ctrl+Z undoes.

"Copy launch line" puts the gst-launch-1.0 line with the present settings on the clipboard and prints it. "Save as camera settings"
writes them to the configuration of the virtual camera: the group [depthmatte] of $XDG_CONFIG_HOME/depthmatte/camera.conf.
--source service shows the picture of the virtual camera while that runs, and saves each change at once.

"Remember the empty room" counts down while you leave the picture. RECORDING is a file as
pipelines/depthcamsrc/record-rgbd.launch writes it; it is played again and again.

Needs python3-gi, python3-gi-cairo, gir1.2-gtk-3.0, gir1.2-gst-plugins-base-1.0 and gstreamer1.0-gtk3 (Debian's names); --source
service also gstreamer1.0-pipewire and pipewire-bin.
"""
import argparse
import array
import math
import os
import subprocess
import sys
import threading

try:
    import gi

    gi.require_version("Gdk", "3.0")
    gi.require_version("Gtk", "3.0")
    gi.require_foreign("cairo")
    import tune_settings as settings
    from gi.repository import Gdk, GLib, GObject, Gst, Gtk, Pango  # noqa: E402
except (ImportError, ValueError) as error:
    sys.exit(
        f"{sys.argv[0]}: {error}\n"
        "apt-get install python3-gi python3-gi-cairo gir1.2-gtk-3.0 gir1.2-gst-plugins-base-1.0 gstreamer1.0-gtk3"
    )
from tune_settings import CAMERA, SERVICE, TEST, THUMBNAIL, default, value, values  # noqa: E402

CLOUD = "cloud"
TABS = {
    "composite": "P_icture", "original": "_Video", "depth": "_Depth", "matte": "_Matte", "quad": "All _four", CLOUD: "C_loud",
}
# Property of the cloud and its change in degrees or metres.
TURNS = {
    "Left": ("yaw", -5), "Right": ("yaw", 5), "Up": ("pitch", -5), "Down": ("pitch", 5),
    "plus": ("zoom", 0.05), "KP_Add": ("zoom", 0.05), "minus": ("zoom", -0.05), "KP_Subtract": ("zoom", -0.05),
}
SECONDS_TO_LEAVE = 5  # the picture, before the room is captured
METRES = 5  # of the histogram
BINS = 100
CALM = 150  # milliseconds without a change, after which what was changed is one step of undo
ONLY_PICTURE = (
    "Each change is saved, and the virtual camera follows. The other views and the histogram need the depth camera, which only "
    "one program can open."
)
WAITING = "Waiting for the virtual camera. Where it does not run:\nsystemctl --user start depthmatte-camera"


class Histogram(Gtk.DrawingArea):
    """How much of the depth map lies at which distance, with a line at the cutoff."""

    def __init__(self):
        super().__init__(height_request=80)
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
            context.move_to(self.position(self.cutoff) + 5, 12)
            context.show_text(f"cutoff {self.cutoff:.2f} m")


class Presets(Gtk.Popover):
    """The presets, each with a picture of what it makes of the present frame."""

    def __init__(self, button, offer, chosen):
        """offer() gives a frame and its depth map, and what settings.presets does; chosen(settings) gets those of a preset."""
        super().__init__(relative_to=button)
        self.offer = offer
        self.flow = Gtk.FlowBox(
            min_children_per_line=4, max_children_per_line=4, row_spacing=6, column_spacing=6, margin=8, homogeneous=True,
            selection_mode=Gtk.SelectionMode.BROWSE,
        )
        self.flow.connect("child-activated", lambda _, child: (self.popdown(), chosen(child.wanted)))
        self.flow.connect("selected-children-changed", self.explain)
        self.comment = Gtk.Label(xalign=0, margin=8)
        self.add(column(0, self.flow, self.comment))
        self.connect("show", lambda _: self.fill())

    def explain(self, flow):
        self.comment.set_text("".join(child.get_tooltip_text() for child in flow.get_selected_children()))

    def fill(self):
        for child in self.flow.get_children():
            child.destroy()
        (frame, presets), pictures = self.offer(), []
        for name, (comment, wanted) in presets.items():
            picture = Gtk.Image(width_request=THUMBNAIL, height_request=THUMBNAIL * 9 // 16)
            child = Gtk.FlowBoxChild(name=name, tooltip_text=comment)
            child.wanted = wanted
            child.add(column(2, picture, Gtk.Label(label=name)))
            self.flow.add(child)
            pictures.append((picture, wanted))
        self.get_child().show_all()
        self.flow.select_child(self.flow.get_child_at_index(0))
        self.flow.get_child_at_index(0).grab_focus()
        threading.Thread(target=self.draw, args=(frame, pictures), daemon=True).start()

    def draw(self, frame, pictures):
        frame = frame if all(frame) else settings.rendered_person()
        for picture, wanted in pictures if all(frame) else ():
            GLib.idle_add(picture.set_from_pixbuf, settings.thumbnail(frame, wanted))


class Tuner(Gtk.Window):
    def __init__(self, source):
        super().__init__(title="depthmatte", default_width=1180, default_height=760)
        self.pipeline = self.before = None
        self.source = None
        self.controls, self.words = {}, {}
        self.matte = make("depthmatte")
        self.sink, self.cloud = make("gtksink"), make("gtksink")
        self.sink.set_property("max-lateness", Gst.SECOND // 2)  # a picture, even where the machine is slow
        # Points are made only where somebody looks, so nothing may wait for them.
        self.cloud.set_property("async", False)
        self.cloud.set_property("sync", False)
        self.matte.connect("notify", lambda _, spec: GLib.idle_add(self.refresh, spec.name))
        self.history, self.at, self.latest, self.ticking, self.written = [values(self.matte)], 0, None, False, None
        self.add(self.layout())
        self.connect("destroy", self.close)
        self.show_all()
        GLib.timeout_add(200, self.measure)
        GLib.timeout_add_seconds(1, self.follow_camera)
        self.open(source)
        self.history, self.at = [values(self.matte)], 0
        self.show_steps()

    # The window

    def layout(self):
        self.histogram = Histogram()
        self.only_picture = Gtk.Label(label=ONLY_PICTURE, xalign=0, wrap=True, no_show_all=True)
        self.status = Gtk.Label(xalign=0, wrap=True, lines=2, ellipsize=Pango.EllipsizeMode.END)
        self.status.connect("notify::label", lambda *_: self.status.set_tooltip_text(self.status.get_text()))
        tabs, pages = self.tab_bar(), self.pages()
        left = column(4, tabs, pages, self.histogram, self.only_picture, self.place_and_time(), self.status, fill=pages)
        scrolled = Gtk.ScrolledWindow(hscrollbar_policy=Gtk.PolicyType.NEVER, overlay_scrolling=False, width_request=385)
        scrolled.add(self.settings_column())
        scrolled.set_hexpand(False)  # the picture gets the rest
        panes = row(10, left, scrolled, fill=left)
        window = column(8, self.toolbar(), panes, fill=panes)
        window.set_border_width(8)
        return window

    def toolbar(self):
        keys = Gtk.AccelGroup()
        self.add_accel_group(keys)

        def button(label, clicked, tooltip, *accelerators):
            made = Gtk.Button(label=label, use_underline=True, tooltip_text=tooltip)
            made.connect("clicked", lambda _: clicked())
            for accelerator in accelerators:
                made.add_accelerator("clicked", keys, *Gtk.accelerator_parse(accelerator), Gtk.AccelFlags.VISIBLE)
            return made

        self.sources = Gtk.ComboBoxText()
        patterns = [choice.value_nick for choice in settings.choices(make("depthtestsrc").find_property("pattern"))]
        for pattern in patterns:
            self.sources.append(f"{TEST}:{pattern}", f"Test: {pattern}")
        for name, words in ((CAMERA, "Camera"), (SERVICE, "Virtual camera"), ("open", "Recording …")):
            if name != SERVICE or settings.reads_service():
                self.sources.append(name, words)
        self.sources.connect("changed", self.source_chosen)
        label = Gtk.Label(label="S_ource", use_underline=True, mnemonic_widget=self.sources)
        self.presets = Gtk.MenuButton(label="_Preset", use_underline=True, tooltip_text="Looks that belong together, with pictures")
        self.preset_menu = Presets(self.presets, self.offer, lambda wanted: settings.apply(self.matte, wanted))
        self.presets.set_popover(self.preset_menu)
        self.undone = button("_Undo", lambda: self.step(-1), "Ctrl+Z", "<Control>z")
        self.redone = button("_Redo", lambda: self.step(1), "Ctrl+Shift+Z", "<Control><Shift>z", "<Control>y")
        self.copy = button("_Copy launch line", self.copy_line, "The gst-launch-1.0 line with these settings")
        self.saving = button("_Save as camera settings", self.save, "Ctrl+S: the virtual camera gets these settings", "<Control>s")
        space = Gtk.Box()
        return row(6, label, self.sources, self.presets, self.undone, self.redone, space, self.copy, self.saving, fill=space)

    def tab_bar(self):
        bar = Gtk.Box(homogeneous=True)
        bar.get_style_context().add_class("linked")
        self.tabs, group = {}, None
        for view, label in TABS.items():
            tab = group = Gtk.RadioButton(label=label, use_underline=True, draw_indicator=False, group=group)
            tab.connect("toggled", lambda tab, view=view: tab.get_active() and self.show_view(view))
            self.tabs[view] = tab
            bar.pack_start(tab, True, True, 0)
        return bar

    def pages(self):
        self.stack = Gtk.Stack()
        for name, sink in (("picture", self.sink), (CLOUD, self.cloud)):
            widget = sink.get_property("widget")
            widget.set_size_request(320, 180)
            widget.set_can_focus(name == CLOUD)
            self.stack.add_named(widget, name)
        turning = "Drag, or press arrow keys, to turn the points; wheel, or + and -, to come nearer."
        widget.connect("focus-in-event", lambda *_: self.status.set_text(turning))
        widget.connect("key-press-event", self.turn)
        self.stack.add_named(Gtk.Label(label=WAITING, wrap=True, justify=Gtk.Justification.CENTER), "waiting")
        return self.stack

    def place_and_time(self):
        self.lag = Gtk.Label(xalign=0, wrap=True, visible=True)
        self.correct = Gtk.Button(label="Correc_t", use_underline=True, visible=True,
                                  tooltip_text="Sets depth-ts-offset, depth-offset-x and depth-offset-y by what is measured")
        self.correct.connect("clicked", lambda _: self.correct_depth())
        self.synced = row(6, self.lag, self.correct, fill=self.lag)
        self.synced.set_no_show_all(True)
        return self.synced

    def settings_column(self):
        self.remember = Gtk.Button(
            label="R_emember the empty room", use_underline=True,
            tooltip_text="Leave the picture, then come back: the matte of a camera that does not move becomes better. Nothing is "
            "kept when the window closes.")
        self.remember.connect("clicked", lambda _: self.count_down(SECONDS_TO_LEAVE))
        groups = settings.groups(settings.tunable(self.matte))
        first, others = self.grid(groups.pop(settings.FIRST)), column(8)
        for heading, rows in groups.items():
            title = Gtk.Label(xalign=0, margin_top=10)
            title.set_markup(f"<b>{heading}</b>")
            others.add(title)
            others.add(self.grid(rows))
        self.expander = Gtk.Expander(label="_All settings", use_underline=True)
        self.expander.add(others)
        # GTK does not hide them by itself from the keyboard.
        others.show_all()
        others.set_no_show_all(True)
        self.expander.bind_property("expanded", others, "visible", GObject.BindingFlags.SYNC_CREATE)
        shown = column(8, first, self.remember, self.expander)
        shown.set_margin_end(6)
        return shown

    def grid(self, rows):
        grid = Gtk.Grid(column_spacing=10, row_spacing=4)
        for place, (spec, words) in enumerate(rows):
            label = Gtk.Label(xalign=0, width_chars=24, tooltip_text=spec.blurb)
            control, shown = self.control(spec, words)
            label.set_mnemonic_widget(control)
            self.controls[spec.name], self.words[spec.name] = control, (label, words)
            grid.attach(label, 0, place, 1, 1)
            grid.attach(shown, 1, place, 1, 1)
            self.refresh(spec.name)
        return grid

    def control(self, spec, words):
        """The widget that changes a setting, and what stands in its row."""
        help, shown = spec.blurb, None
        if spec.value_type.is_a(GObject.TYPE_ENUM):
            control = Gtk.ComboBoxText(hexpand=True, valign=Gtk.Align.CENTER)
            for choice in settings.choices(spec):
                control.append(choice.value_nick, choice.value_nick)
                help += f"\n{choice.value_nick}: {choice.value_name}"
            control.connect("changed", lambda _: self.set(spec, control.get_active_id()))
        elif spec.value_type == GObject.TYPE_BOOLEAN:
            control = Gtk.Switch(halign=Gtk.Align.START, valign=Gtk.Align.CENTER)
            control.connect("notify::active", lambda *_: self.set(spec, control.get_active()))
        elif spec.value_type == GObject.TYPE_STRING:
            control = Gtk.FileChooserButton(title=words.label, valign=Gtk.Align.CENTER)
            control.connect("file-set", lambda _: self.set(spec, control.get_filename()))
        elif spec.name.endswith("-color"):
            control = Gtk.ColorButton(use_alpha=True, halign=Gtk.Align.START, valign=Gtk.Align.CENTER)
            control.connect("color-set", lambda _: self.set(spec, argb(control.get_rgba())))
        else:
            control, shown = self.slider(spec, words)
        # The wheel scrolls the settings; it changes none on the way.
        control.connect("scroll-event", lambda *_: control.stop_emission_by_name("scroll-event"))
        control.set_tooltip_text(help)
        return control, shown or control

    def slider(self, spec, words):
        factor = settings.FACTORS.get(words.unit, 1)
        low, high = (spec.minimum, spec.maximum) if words.low is None else (words.low, words.high)
        whole = spec.value_type != GObject.TYPE_DOUBLE
        digits = 0 if whole else max(0, math.ceil(-math.log10((high - low) / 100)))
        step = max(1, (high - low) // 200) if whole else 10**-digits
        control = Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, low, high, step)
        control.set_digits(digits)
        control.set_draw_value(False)
        number = Gtk.Label(xalign=1, width_chars=9)

        def show_number(_):
            number.set_text(f"{control.get_value():.{digits}f} {words.unit}".strip())

        control.connect(
            "value-changed", lambda _: self.set(spec, (int if whole else float)(round(control.get_value(), digits) * factor)))
        control.connect("value-changed", show_number)
        show_number(None)
        return control, row(0, control, number, fill=control)

    # Settings

    is_refreshing = False

    def set(self, spec, new):
        if not self.is_refreshing and new is not None and new != value(self.matte, spec.name):
            self.matte.set_property(spec.name, new)

    def refresh(self, name):
        """Shows a property's value in its control, which then must not set it again, rounded to its step."""
        control = self.controls.get(name)
        if not control:
            return
        spec, found = self.matte.find_property(name), value(self.matte, name)
        label, words = self.words[name]
        # What differs from the default is bold.
        title = words.label if found == default(spec) else f"<b>{words.label}</b>"
        label.set_markup(f'{title}\n<span size="small" alpha="70%">{name}</span>')
        self.is_refreshing = True
        if isinstance(control, Gtk.ComboBoxText):
            control.set_active_id(found)
        elif isinstance(control, Gtk.Switch):
            control.set_active(found)
        elif isinstance(control, Gtk.FileChooserButton):
            control.set_filename(found) if found else control.unselect_all()
        elif isinstance(control, Gtk.ColorButton):
            control.set_rgba(rgba(found))
        else:
            control.set_value(found / settings.FACTORS.get(words.unit, 1))
        self.is_refreshing = False
        if not self.ticking:
            self.ticking = True
            GLib.timeout_add(CALM, self.tick)

    def tick(self):
        """Follows changes until there are none for a while; the virtual camera gets them meanwhile."""
        now = values(self.matte)
        self.ticking = now != self.latest
        if self.ticking:
            self.latest = now
            if self.source == SERVICE and now != self.written:
                self.save()
        else:
            self.note()
            if self.failed:  # the change may have mended it
                self.open(self.source)
        return self.ticking

    def note(self):
        """Makes what has changed one step that can be undone."""
        now = values(self.matte)
        if now != self.history[self.at]:
            self.history[self.at + 1:] = [now]
            self.at += 1
        self.show_steps()

    def show_steps(self):
        self.undone.set_sensitive(self.at > 0)
        self.redone.set_sensitive(self.at + 1 < len(self.history))

    def step(self, count):
        self.note()
        self.at = min(max(self.at + count, 0), len(self.history) - 1)
        settings.apply(self.matte, self.history[self.at])
        self.show_steps()

    def save(self):
        try:
            # What another program writes while the virtual camera is shown, stays.
            settings.save(self.matte, self.written if self.source == SERVICE else None)
            self.written = values(self.matte)
            self.status.set_text("Saved: the virtual camera has these settings.")
        except (GLib.Error, OSError) as error:
            self.status.set_text(f"Not saved: {getattr(error, 'message', error)}")

    def offer(self):
        presets = settings.presets(self.matte, self.measurements().get_value("anchor-depth"))
        if self.source == SERVICE:
            return (None, None), presets
        return [self.before.get_by_name(f"last-{name}").get_property("last-sample") for name in ("video", "depth")], presets

    # The views

    def show_view(self, view):
        if self.source == SERVICE:
            return
        self.stack.set_visible_child_name(CLOUD if view == CLOUD else "picture")
        if view != CLOUD:
            self.matte.set_property("view", view)
        for name in ("video", "depth"):
            self.before.get_by_name(f"gate-{name}").set_property("drop-probability", view != CLOUD)

    def turn(self, _, event):
        name, change = TURNS.get(Gdk.keyval_name(event.keyval), (None, 0))
        if name:
            points = self.before.get_by_name("points")
            points.set_property("auto-pan", False)
            points.set_property(name, (points.get_property(name) + change + 180) % 360 - 180)
        return name is not None

    # The room

    def count_down(self, seconds):
        self.remember.set_sensitive(seconds == 0)
        if seconds:
            self.status.set_text(f"Leave the picture: {seconds} …")
            GLib.timeout_add_seconds(1, self.count_down, seconds - 1)
            return False
        if value(self.matte, "room-memory") == "off":
            Gst.util_set_object_arg(self.matte, "room-memory", "learn")
        self.status.set_text("")
        self.matte.emit("capture-room")
        GLib.timeout_add_seconds(2, self.tell_room)
        return False

    def tell_room(self):
        known = self.measurements().get_value("room-known")
        # Where it was refused, the element's warning says why.
        if known and not self.status.get_text():
            self.status.set_text(f"The room is remembered: {known:.0%} of the picture. Come back.")
        return False

    # Sources

    def source_chosen(self, menu):
        chosen = menu.get_active_id()
        if chosen == "open":
            dialog = Gtk.FileChooserNative.new("Recording", self, Gtk.FileChooserAction.OPEN, None, None)
            chosen = dialog.get_filename() if dialog.run() == Gtk.ResponseType.ACCEPT else self.source
        if chosen != self.source:
            self.open(chosen)
        self.sources.set_active_id(chosen)

    def open(self, source):
        """Plays test:PATTERN, camera, service, or a recording's file."""
        self.stop()
        self.source, self.failed = source, False
        if os.path.isfile(source):
            self.sources.append(source, GLib.path_get_basename(source))
        self.sources.set_active_id(source)
        self.status.set_text("")
        is_service = source == SERVICE
        if is_service:
            self.tabs["composite"].set_active(True)
            self.take_settings()
            self.follow_camera()
        else:
            self.open_depth()
            self.show_view(next(view for view, tab in self.tabs.items() if tab.get_active()))
        self.histogram.set_visible(not is_service)
        self.only_picture.set_visible(is_service)
        for widget in (self.saving, self.remember, *(tab for view, tab in self.tabs.items() if view != "composite")):
            widget.set_sensitive(not is_service)

    def watch(self, pipeline):
        self.pipeline = pipeline
        bus = pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message", self.on_message)

    def open_depth(self):
        # A bin of the source alone, so that the element and its settings live on from source to source.
        self.watch(Gst.Pipeline())
        self.before = Gst.parse_bin_from_description(settings.source_bin(self.source), False)
        convert = make("videoconvert")
        for element in (self.before, self.matte, convert, self.sink, self.cloud):
            self.pipeline.add(element)
        for name in ("video", "depth", CLOUD):
            self.before.add_pad(Gst.GhostPad.new(name, self.before.get_by_name(name).get_static_pad("src")))
        self.before.link_pads("video", self.matte, "video")
        self.before.link_pads("depth", self.matte, "depth")
        self.before.link_pads(CLOUD, self.cloud, "sink")
        self.matte.link(convert)
        convert.link(self.sink)
        points = self.before.get_by_name("points")
        for spec in points.list_properties():
            if spec.name.startswith("depth-") and self.matte.find_property(spec.name):
                self.matte.bind_property(spec.name, points, spec.name, GObject.BindingFlags.SYNC_CREATE)
        self.pipeline.set_state(Gst.State.PLAYING)

    def take_settings(self):
        """The virtual camera's become those of the element, which is in no pipeline then and only holds them."""
        try:
            settings.apply(self.matte, settings.saved(self.matte) or settings.defaults(self.matte))
        except GLib.Error as error:
            self.status.set_text(error.message)
        self.written = values(self.matte)
        self.note()

    def follow_camera(self):
        """Looks each second for the virtual camera: PipeWire's source says neither that it came nor that it went."""
        if self.source != SERVICE:
            return True
        if self.pipeline:
            rendered = self.pipeline.get_by_name("sink").get_property("stats").get_value("rendered")
            self.silent = 0 if rendered != self.rendered else self.silent + 1
            self.rendered = rendered
            if self.silent < 5:
                return True
            self.stop()
        listing = subprocess.run(["pw-cli", "ls", "Node"], capture_output=True, text=True)
        if f'node.name = "{settings.camera_name()}"' not in listing.stdout:
            self.stack.set_visible_child_name("waiting")
            return True
        self.watch(Gst.parse_launch(settings.service_line()))
        widget = self.pipeline.get_by_name("sink").get_property("widget")
        widget.show()
        self.stack.add_named(widget, SERVICE)
        self.stack.set_visible_child_name(SERVICE)
        self.silent, self.rendered = 0, 0
        # No call of this program waits for another program's camera.
        self.pipeline.call_async(lambda pipeline: pipeline is self.pipeline and pipeline.set_state(Gst.State.PLAYING))
        return True

    def stop(self):
        if not self.pipeline:
            return
        pipeline, self.pipeline = self.pipeline, None
        pipeline.get_bus().remove_signal_watch()
        if self.stack.get_child_by_name(SERVICE):
            self.stack.remove(self.stack.get_child_by_name(SERVICE))
            pipeline.call_async(lambda pipeline: pipeline.set_state(Gst.State.NULL))
            return
        pipeline.set_state(Gst.State.NULL)
        for element in (self.matte, self.sink, self.cloud):
            pipeline.remove(element)
        for pad in self.matte.sinkpads:
            if pad.get_pad_template().presence == Gst.PadPresence.REQUEST:
                self.matte.release_request_pad(pad)

    def close(self, _):
        if self.source == SERVICE and values(self.matte) != self.written:
            self.save()
        Gtk.main_quit()

    def on_message(self, _, message):
        if message.type == Gst.MessageType.EOS:
            self.pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH, 0)
        elif message.type in (Gst.MessageType.ERROR, Gst.MessageType.WARNING):
            parse = message.parse_error if message.type == Gst.MessageType.ERROR else message.parse_warning
            is_error = message.type == Gst.MessageType.ERROR
            if self.source != SERVICE:
                self.status.set_text(parse()[0].message)
                self.failed = self.failed or is_error
            elif is_error:
                self.stop()  # and begin again within a second

    # Measurements

    def measurements(self):
        return self.matte.get_property("stats")

    def measure(self):
        if self.source == SERVICE:
            return True
        stats = self.measurements()
        sample = self.before.get_by_name("last-depth").try_pull_sample(0)
        if sample:
            self.histogram.show_map(metres(sample), stats.get_value("cutoff") if stats.has_field("cutoff") else None)
        self.show_measured(stats)
        return True

    def show_measured(self, stats):
        self.synced.set_visible(stats.has_field("depth-lag-known"))
        if self.synced.get_visible():
            words, changes = settings.measured(stats)
            self.lag.set_text(words)
            self.correct.set_sensitive(bool(changes))

    def correct_depth(self):
        for name, change in settings.measured(self.measurements())[1].items():
            self.matte.set_property(name, self.matte.get_property(name) + change)

    # The line

    def line(self):
        return settings.launch_line(self.source, self.matte)

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


def row(spacing, *widgets, fill=None):
    return packed(Gtk.Box(spacing=spacing), widgets, fill)


def column(spacing, *widgets, fill=None):
    return packed(Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=spacing), widgets, fill)


def packed(box, widgets, fill):
    for widget in widgets:
        box.pack_start(widget, widget is fill, widget is fill, 0)
    return box


def argb(color):
    return sum(round(part * 255) << shift for part, shift in
               ((color.alpha, 24), (color.red, 16), (color.green, 8), (color.blue, 0)))


def rgba(value):
    return Gdk.RGBA(*((value >> shift & 255) / 255 for shift in (16, 8, 0, 24)))


def make(factory):
    advice = {"gtksink": "apt-get install gstreamer1.0-gtk3", "videoconvert": "apt-get install gstreamer1.0-plugins-base"}
    element = Gst.ElementFactory.make(factory)
    built = "the plugin is not built: ./pipelines/demo.sh builds it"
    return element or sys.exit(f"{sys.argv[0]}: there is no element {factory}; {advice.get(factory, built)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--source", default=TEST, help="test, camera, service (the virtual camera), or the path of a recording")
    options = parser.parse_args()
    if options.source not in (TEST, CAMERA, SERVICE) and not os.path.isfile(options.source):
        sys.exit(f"{sys.argv[0]}: there is no recording {options.source}")
    built = settings.PIPELINES.parent / ".build/release"
    if (built / "libgstdepthmatte.so").exists():
        os.environ["GST_PLUGIN_PATH"] = f"{built}:{os.environ.get('GST_PLUGIN_PATH', '')}"
    if not Gtk.init_check()[0]:
        sys.exit(f"{sys.argv[0]}: there is no display")
    Gst.init(None)
    if options.source == SERVICE and not settings.reads_service():
        sys.exit(f"{sys.argv[0]}: PipeWire cannot be read; apt-get install gstreamer1.0-pipewire pipewire-bin")
    tuner = Tuner("test:person" if options.source == TEST else options.source)
    Gtk.main()
    tuner.stop()


if __name__ == "__main__":
    main()
