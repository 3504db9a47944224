#!/usr/bin/python3
"""A virtual camera for browsers and meetings: the person of a depth camera in front of another background.

    depthmatte-camera [--check]

The depth camera runs while a program shows the virtual one. While it does not run, and while it is unplugged, the background alone is
shown. The configuration is ~/.config/depthmatte/camera.conf, else depthmatte/camera.conf in a folder of XDG_CONFIG_DIRS (/etc/xdg).
Changes of it apply at once. pipelines/outputs.md has all of its keys. It runs until it is stopped:

    systemctl --user enable --now depthmatte-camera

--check: says what is missing for this configuration, and exits with 1 where something is.

Needs python3-gi, gir1.2-gst-plugins-base-1.0, gstreamer1.0-pipewire and pipewire-bin (Debian's names).
"""
import fcntl
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

NAME = "depthmatte-camera"
try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
    from gi.repository import Gio, GLib, GObject, Gst, GstApp  # noqa: E402, F401
except (ImportError, ValueError) as error:
    sys.exit(f"{NAME}: {error}\napt-get install python3-gi gir1.2-gst-plugins-base-1.0")

# The keys of the configuration with their defaults; in [depthmatte] there is any property of the element.
DEFAULTS = {
    "camera": {"source": "depthcamsrc", "width": 640, "height": 480, "framerate": 30},
    "output": {"type": "pipewire", "device": "/dev/video10", "name": "depthmatte", "format": "YUY2", "linger": 3, "notify": False},
}
LIMITS = {"width": (16, 8192), "height": (16, 8192), "framerate": (1, 240), "linger": (0, 3600)}
STALL = 0.5  # seconds without a frame after which the background is shown
FROZEN = 10  # seconds without a frame after which the camera is started again; depthcamsrc itself gives up after 5
PULSE = 3  # seconds between looks whether the virtual camera takes frames
ABSENT = 5  # seconds without a person until the notification
LAST_RETRY = 15  # seconds; the pauses between tries grow to it from 1


class Failure(Exception):
    """What is wrong, as a sentence for the user."""


def say(text):
    print(f"{NAME}: {text}", file=sys.stderr, flush=True)


# The configuration


def places():
    return [f"{folder}/depthmatte/camera.conf" for folder in [GLib.get_user_config_dir(), *GLib.get_system_config_dirs()]]


class Configuration:
    """What the first file that is there says; the defaults where none is."""

    def __init__(self, path=None):
        self.path = path
        self.values = {f"{group}.{key}": value for group, keys in DEFAULTS.items() for key, value in keys.items()}
        self.properties = {}
        file = GLib.KeyFile()
        try:
            if path:
                file.load_from_file(path, GLib.KeyFileFlags.NONE)
            for group in file.get_groups()[0]:
                for key in file.get_keys(group)[0]:
                    self.read(file, group, key)
        except GLib.Error as error:
            raise Failure(f"{path}: {error.message}") from None

    def read(self, file, group, key):
        where, text = f"{self.path}: [{group}] {key}", file.get_string(group, key)
        if group == "depthmatte":
            self.properties[key] = parse_property(where, key, text)
            return
        if key not in DEFAULTS.get(group, {}):
            known = ", ".join([f"[{name}] {', '.join(keys)}" for name, keys in DEFAULTS.items()] + ["[depthmatte] with its properties"])
            raise Failure(f"{where}: there is no such key; there are {known}")
        default = DEFAULTS[group][key]
        value = text
        if isinstance(default, bool):
            if text not in ("true", "false"):
                raise Failure(f"{where}={text}: true or false is expected")
            value = text == "true"
        elif isinstance(default, int):
            low, high = LIMITS[key]
            if not text.isdecimal() or not low <= int(text) <= high:
                raise Failure(f"{where}={text}: a whole number from {low} to {high} is expected")
            value = int(text)
        elif key == "type" and text not in ("pipewire", "v4l2"):
            raise Failure(f"{where}={text}: pipewire or v4l2 is expected")
        elif not text:
            raise Failure(f"{where}: a value is expected")
        self.values[f"{group}.{key}"] = value

    def __getitem__(self, key):
        return self.values[key]

    def caps(self):
        return Gst.Caps.from_string(
            f"video/x-raw,format={self['output.format']},width={self['camera.width']},height={self['camera.height']},"
            f"framerate={self['camera.framerate']}/1,pixel-aspect-ratio=1/1"
        )


def parse_property(where, name, text):
    spec = make("depthmatte").find_property(name)
    if not spec or spec.owner_type.name != "GstDepthMatte" or not spec.flags & GObject.ParamFlags.WRITABLE:
        raise Failure(f"{where}: depthmatte has no property of this name that can be set")
    if spec.value_type == GObject.TYPE_STRING:
        return text
    try:
        plain = re.sub("[^-+.0-9A-Za-z]", "?", text)
        value = Gst.Structure.new_from_string(f"property,value=({spec.value_type.name}){plain}").get_value("value")
    except TypeError:
        raise Failure(f"{where}={text}: it has no such value; gst-inspect-1.0 depthmatte lists those that it has") from None
    if hasattr(spec, "minimum") and not spec.minimum <= value <= spec.maximum:
        raise Failure(f"{where}={text}: {spec.minimum} to {spec.maximum} is expected")
    if name == "background-mode" and value.value_nick == "transparent":
        raise Failure(f"{where}={text}: the picture of a camera has no transparency; background-color is shown where it would be")
    return value


def load():
    return Configuration(next((path for path in places() if os.path.exists(path)), None))


# Pipelines


def make(factory):
    element = Gst.ElementFactory.make(factory)
    if not element:
        raise Failure(f"there is no element {factory}; {PACKAGES.get(factory, 'the plugin depthmatte is not installed')}")
    return element


PACKAGES = {
    "pipewiresink": "apt-get install gstreamer1.0-pipewire",
    "v4l2sink": "apt-get install gstreamer1.0-plugins-good",
    **dict.fromkeys(["appsink", "videoconvert", "videoscale"], "apt-get install gstreamer1.0-plugins-base"),
}


def parse_camera(source, configuration):
    """The pipeline from a source to the appsink named picture, whose frames have the output's caps."""
    for factory in ("depthmatte", "appsink", "videoconvert", "videoscale"):
        make(factory)
    line = (
        f"{source} ! capsfilter name=mode caps=video/x-raw ! depthmatte name=matte ! videoconvert ! videoscale add-borders=true"
        " ! capsfilter name=size ! appsink name=picture emit-signals=true max-buffers=1 drop=true sync=false"
    )
    try:
        pipeline = Gst.parse_launch(line)
    except GLib.Error as error:
        raise Failure(f"{configuration.path}: [camera] source={source}: {error.message}") from None
    for name, value in configuration.properties.items():
        pipeline.get_by_name("matte").set_property(name, value)
    size = configuration.caps()
    size.get_structure(0).remove_field("framerate")
    pipeline.get_by_name("size").set_property("caps", size)
    return pipeline


def error_of(pipeline, otherwise):
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    return message.parse_error()[0].message if message else otherwise


def background(configuration):
    """The background alone, as a buffer with the output's caps: depthmatte shows it where no depth is measured."""
    pipeline = parse_camera("depthtestsrc pattern=blank num-buffers=1", configuration)
    try:
        pipeline.set_state(Gst.State.PLAYING)
        for _ in range(100):
            if sample := pipeline.get_by_name("picture").try_pull_sample(Gst.SECOND // 10):
                return untimed(sample.get_buffer())
            if error := error_of(pipeline, None):
                break
        raise Failure(f"{configuration.path}: {error or 'the background cannot be shown'}")
    finally:
        pipeline.set_state(Gst.State.NULL)


def untimed(buffer):
    """The same memory without timestamps; appsrc gives it new ones."""
    copy = buffer.copy()
    copy.pts = copy.dts = copy.duration = Gst.CLOCK_TIME_NONE
    return copy


# What looks at the camera


class Links:
    """Counts the links of a PipeWire node; pw-link writes a line for each that comes or goes."""

    def __init__(self, name, changed, ended):
        self.name, self.changed, self.ended, self.links = name, changed, ended, set()
        flags = Gio.SubprocessFlags.STDOUT_PIPE | Gio.SubprocessFlags.STDERR_SILENCE
        self.process = Gio.Subprocess.new(["pw-link", "--links", "--monitor", "--id"], flags)
        self.lines = Gio.DataInputStream.new(self.process.get_stdout_pipe())
        self.lines.read_line_async(GLib.PRIORITY_DEFAULT, None, self.read)

    def read(self, lines, result):
        line = lines.read_line_finish_utf8(result)[0]
        if not self.process:
            return
        if line is None:
            self.ended()
            return
        # "+   42 depthmatte:out_0 -> firefox:in_0"
        sign, number, ports = (line.split(None, 2) + ["", "", ""])[:3]
        if ports.startswith(f"{self.name}:") and " -> " in ports:
            (self.links.add if sign != "-" else self.links.discard)(number)
            self.changed(len(self.links))
        lines.read_line_async(GLib.PRIORITY_DEFAULT, None, self.read)

    def stop(self):
        process, self.process = self.process, None
        process.force_exit()


class Readers:
    """Counts the readers of a device of v4l2loopback 0.13 or newer, by its event V4L2_EVENT_PRI_CLIENT_USAGE."""

    SUBSCRIBE, DEQUEUE = 0x4020565A, 0x80885659  # VIDIOC_SUBSCRIBE_EVENT, VIDIOC_DQEVENT
    USAGE = 0x08000000 + 0x08E00000 + 1

    def __init__(self, device, changed):
        self.watch = None
        self.device, self.changed = os.open(device, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC), changed
        try:
            fcntl.ioctl(self.device, self.SUBSCRIBE, struct.pack("8I", self.USAGE, 0, 1, *[0] * 5))  # 1: the present count, too
        except OSError:
            say(f"{device} does not tell who reads it (v4l2loopback 0.13 does): the depth camera stays on")
            changed(1)
            return
        self.watch = GLib.io_add_watch(self.device, GLib.PRIORITY_DEFAULT, GLib.IOCondition.PRI, self.read)

    def read(self, *_):
        event = bytearray(136)
        fcntl.ioctl(self.device, self.DEQUEUE, event)
        self.changed(struct.unpack_from("I", event, 8)[0])
        return True

    def stop(self):
        if self.watch:
            GLib.source_remove(self.watch)
        os.close(self.device)


# The service


class Output:
    """The virtual camera: a pipeline that lives on while the depth camera comes and goes."""

    def __init__(self, configuration, picture, watched, failed):
        self.failed = failed
        name = configuration["output.name"]
        kind = "pipewiresink" if configuration["output.type"] == "pipewire" else "v4l2sink"
        sink = make(kind)
        sink.set_property("sync", False)
        sink.set_property("enable-last-sample", False)
        if kind == "pipewiresink":
            Gst.util_set_object_arg(sink, "mode", "provide")
            stream = Gst.Structure.new_empty("properties")
            for key, value in (("media.class", "Video/Source"), ("media.role", "Camera"), ("node.name", name), ("node.description", name)):
                stream.set_value(key, value)
            sink.set_property("stream-properties", stream)
        else:
            sink.set_property("device", configuration["output.device"])
        # pipewiresink 0.3 is given its pool's size by prepare(), for which appsrc must not take the pool before.
        self.pipeline = Gst.parse_launch(
            "appsrc name=input is-live=true format=time do-timestamp=true max-buffers=2 max-bytes=0 leaky-type=downstream"
            " ! identity name=gate drop-allocation=true"
        )
        self.pipeline.add(sink)
        self.pipeline.get_by_name("gate").link(sink)
        self.sink, self.rendered = sink, -1
        self.input = self.pipeline.get_by_name("input")
        self.input.set_property("caps", configuration.caps())
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::error", self.on_error)
        self.watch = None
        try:
            self.start(picture)
            if kind == "pipewiresink":
                self.watch = Links(name, watched, lambda: self.failed("PipeWire has gone"))
            else:
                self.watch = Readers(configuration["output.device"], watched)
        except (Failure, GLib.Error, OSError) as error:
            self.stop()
            raise Failure(f"the virtual camera cannot be offered: {error}") from None

    def on_error(self, _, message):
        error = message.parse_error()[0]
        # This is how pipewiresink 1.0 to 1.4 tells that the last program has gone; it goes on with the next.
        if not error.matches(Gst.ResourceError.quark(), Gst.ResourceError.NOT_FOUND):
            self.failed(error.message)

    def push(self, buffer):
        self.input.emit("push-buffer", untimed(buffer))

    def start(self, picture):
        # Newer ones, which have the other property, see to it themselves.
        if self.sink.find_property("mode") and not self.sink.find_property("use-bufferpool"):
            self.sink.get_static_pad("sink").add_probe(Gst.PadProbeType.EVENT_DOWNSTREAM, prepare, picture.get_size())
        if self.pipeline.set_state(Gst.State.PLAYING) == Gst.StateChangeReturn.FAILURE:
            raise Failure(error_of(self.pipeline, "it does not start"))
        self.push(picture)

    def unblock(self, picture, always=False):
        """Starts the pipeline again where frames wait and none was taken since the last call. pipewiresink may wait for buffers for ever
        once a program has left or was killed that had them all, and it waits with an old frame in its hands."""
        before, self.rendered = self.rendered, self.sink.get_property("stats").get_value("rendered")
        if self.input.get_property("current-level-buffers") and (always or before == self.rendered):
            say("PipeWire takes no frames: the virtual camera is made anew")
            self.rendered = -1
            self.pipeline.set_state(Gst.State.NULL)
            self.start(picture)

    def stop(self):
        if self.watch:
            self.watch.stop()
        self.pipeline.get_bus().remove_signal_watch()
        self.pipeline.set_state(Gst.State.NULL)


def prepare(pad, info, size):
    """Sets the size of the frames in the sink's pool before PipeWire knows the sink: what it allocates without has no memory."""
    if info.get_event().type != Gst.EventType.CAPS:
        return Gst.PadProbeReturn.OK
    caps = info.get_event().parse_caps()
    query = Gst.Query.new_allocation(caps, True)
    if pad.query(query) and query.get_n_allocation_pools():
        pool, _, low, high = query.parse_nth_allocation_pool(0)
        if pool and not pool.is_active():
            settings = pool.get_config()
            Gst.BufferPool.config_set_params(settings, caps, size, low, high)
            pool.set_config(settings)
            pool.set_active(True)
    return Gst.PadProbeReturn.REMOVE


class Service:
    def __init__(self):
        self.lock = threading.Lock()
        self.awake = threading.Event()
        self.output = self.camera = self.matte = None
        self.watchers = 0
        self.latest = 0  # time of the camera's last frame
        self.pause, self.trouble = 1, None
        self.timers = {}
        self.notification = 0
        try:
            self.configuration = load()
            self.picture = background(self.configuration)
        except Failure as failure:
            say(f"{failure}; the defaults are used")
            self.configuration = Configuration()
            self.picture = background(self.configuration)
        self.monitors = [Gio.File.new_for_path(path).monitor_file(Gio.FileMonitorFlags.WATCH_MOVES, None) for path in places()]
        for monitor in self.monitors:
            monitor.connect("changed", lambda *_: self.after("reload", 0.2, self.reload))
        threading.Thread(target=self.show_background, daemon=True).start()
        self.open_output()

    def after(self, name, seconds, action=None):
        """Calls an action once, later; of two with one name the later one counts. No action cancels."""
        if name in self.timers:
            GLib.source_remove(self.timers.pop(name))
        if action:
            def run():
                del self.timers[name]
                action()
            self.timers[name] = GLib.timeout_add(int(seconds * 1000), run)

    def open_output(self):
        self.close_output()
        try:
            self.output = Output(self.configuration, self.picture, self.count, self.lose_output)
        except Failure as failure:
            self.lose_output(str(failure))

    def close_output(self):
        self.count(0)
        if self.output:
            with self.lock:
                output, self.output = self.output, None
            output.stop()

    def lose_output(self, reason):
        self.tell(f"{reason}; tried again every {LAST_RETRY // 3} s")
        self.close_output()
        self.after("output", LAST_RETRY // 3, self.open_output)

    def tell(self, trouble):
        """Says what went wrong, once while it is tried again."""
        if trouble != self.trouble:
            say(trouble)
        self.trouble = trouble

    # Who looks

    def count(self, watchers):
        before, self.watchers = self.watchers, watchers
        if watchers:
            self.after("stop", 0)
            self.after("sleep", 0)
            self.awake.set()
            self.after("pulse", PULSE, self.unblock)
            if not before and not self.camera and "start" not in self.timers:
                self.start_camera()
        elif before:
            # Soon, so that the next program finds it going.
            self.after("pulse", 0.5, lambda: self.unblock(always=True))
            self.after("stop", self.configuration["output.linger"], self.fall_asleep)

    def fall_asleep(self):
        say("nobody looks: the camera stops")
        self.stop_camera()
        self.pause, self.trouble = 1, None
        # The background takes the place of the last frames wherever they wait.
        self.after("sleep", 1, self.sleep)

    def sleep(self):
        self.unblock(always=True)
        self.after("pulse", 0)
        self.awake.clear()

    def unblock(self, always=False):
        self.after("pulse", PULSE, self.unblock)
        try:
            with self.lock:
                if self.output:
                    self.output.unblock(self.picture, always)
        except Failure as failure:
            self.lose_output(str(failure))

    def show_background(self):
        """Pushes the background while the camera gives nothing. On a thread of its own: to open a camera takes seconds."""
        while self.awake.wait():
            with self.lock:
                if self.output and time.monotonic() - self.latest > STALL:
                    self.output.push(self.picture)
            time.sleep(1 / self.configuration["camera.framerate"])

    # The depth camera

    def start_camera(self):
        if self.pause == 1:
            say("the camera starts")
        try:
            self.camera = parse_camera(self.configuration["camera.source"], self.configuration)
            bus = self.camera.get_bus()
            bus.add_signal_watch()
            bus.connect("message", self.on_message)
            if self.camera.set_state(Gst.State.READY) == Gst.StateChangeReturn.FAILURE:
                raise Failure(error_of(self.camera, "it does not start"))
            # Another size is scaled.
            mode, wanted = self.camera.get_by_name("mode"), self.configuration.caps()
            wanted.get_structure(0).remove_field("format")
            if not mode.get_static_pad("sink").peer_query_caps(wanted).is_empty():
                mode.set_property("caps", wanted)
            self.matte = self.camera.get_by_name("matte")
            self.camera.get_by_name("picture").connect("new-sample", self.show_frame, self.camera)
            self.after("frozen", FROZEN, self.check_frames)
            self.after("absent", ABSENT, self.tell_absence)
            self.camera.set_state(Gst.State.PLAYING)
        except Failure as failure:
            self.lose_camera(str(failure))

    def stop_camera(self):
        for timer in ("start", "frozen", "absent"):
            self.after(timer, 0)
        self.notify(None)
        with self.lock:
            camera, self.camera, self.matte = self.camera, None, None
            self.latest = 0
        if camera:
            camera.get_bus().remove_signal_watch()
            camera.set_state(Gst.State.NULL)

    def lose_camera(self, reason):
        self.tell(f"{reason}; the background is shown, and the camera is tried again")
        self.stop_camera()
        self.notify("The depth camera gives no picture", reason)
        self.after("start", self.pause, self.start_camera)
        self.pause = min(2 * self.pause, LAST_RETRY)

    def show_frame(self, sink, camera):
        buffer = sink.emit("pull-sample").get_buffer()
        with self.lock:
            if self.output and camera == self.camera:
                self.output.push(buffer)
                self.latest = time.monotonic()
        return Gst.FlowReturn.OK

    def check_frames(self):
        if time.monotonic() - self.latest > FROZEN:
            self.lose_camera(f"the camera sent nothing for {FROZEN} s")
        else:
            self.pause, self.trouble = 1, None
            self.after("frozen", FROZEN, self.check_frames)

    def on_message(self, bus, message):
        if not self.camera or bus != self.camera.get_bus():
            return
        if message.type == Gst.MessageType.ERROR:
            self.lose_camera(message.parse_error()[0].message)
        elif message.type == Gst.MessageType.EOS:
            self.lose_camera("the camera's stream has ended")
        elif message.type == Gst.MessageType.WARNING:
            say(message.parse_warning()[0].message)
        elif message.type == Gst.MessageType.ELEMENT and message.get_structure().get_name() == "presence":
            if message.get_structure().get_value("present"):
                self.after("absent", 0)
                self.notify(None)
            else:
                self.after("absent", ABSENT, self.tell_absence)

    # Notifications

    def tell_absence(self):
        # With anchor=fixed nobody is looked for.
        if self.configuration.properties.get("anchor") is None or self.configuration.properties["anchor"].value_nick != "fixed":
            self.notify("Nobody is seen", "The others see the background alone.")

    def notify(self, title, text=""):
        """Shows a notification of the desktop in place of the last; with no title takes it away."""
        if not (self.notification if title is None else self.configuration["output.notify"]):
            return
        method, arguments = "CloseNotification", GLib.Variant("(u)", (self.notification,))
        if title:
            method = "Notify"
            arguments = GLib.Variant(
                "(susssasa{sv}i)", (NAME, self.notification, "camera-web", title, text, [], {"transient": GLib.Variant("b", True)}, -1)
            )
        try:
            place = ("org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications")
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            answer = bus.call_sync(*place, method, arguments, None, Gio.DBusCallFlags.NONE, 1000)
            self.notification = answer.unpack()[0] if title else 0
        except GLib.Error as error:
            say(f"the notification cannot be shown: {error.message}")

    # The configuration

    def reload(self):
        before = self.configuration
        try:
            new = load()
            picture = background(new)
            parse_camera(new["camera.source"], new)
        except Failure as failure:
            say(f"{failure}; the last good configuration stays")
            return
        changed = {key for key, value in new.values.items() if value != before[key]}
        properties = {name for name in {*before.properties, *new.properties} if before.properties.get(name) != new.properties.get(name)}
        if not changed and not properties:
            return
        say(f"{new.path or 'the configuration is gone, the defaults'}: {', '.join(sorted(changed | properties))} changed")
        playing = True
        for name in properties if self.matte else ():
            spec = self.matte.find_property(name)
            self.matte.set_property(name, new.properties.get(name, spec.default_value))
            playing = playing and spec.flags & 1 << (GObject.PARAM_USER_SHIFT + 4)  # GST_PARAM_MUTABLE_PLAYING
        with self.lock:
            self.configuration, self.picture = new, picture
        restart = self.camera and (not playing or any(key.startswith("camera.") or key == "output.format" for key in changed))
        if changed - {"camera.source", "output.linger", "output.notify"}:
            self.stop_camera()
            self.pause, self.trouble = 1, None
            self.open_output()
        elif restart or "start" in self.timers:
            self.stop_camera()
            self.pause, self.trouble = 1, None
            self.start_camera()

    def stop(self):
        self.awake.clear()
        self.stop_camera()
        self.close_output()


def check():
    """Says what is missing, and returns the exit status."""
    problems = []

    def attempt(action):
        try:
            return action()
        except (Failure, GLib.Error, OSError) as problem:
            problems.append(str(problem))

    configuration = attempt(load)
    if not configuration:
        print(f"{NAME}: {problems[0]}")
        return 1
    source, kind = configuration["camera.source"], configuration["output.type"]
    attempt(lambda: make("pipewiresink" if kind == "pipewire" else "v4l2sink"))
    attempt(lambda: background(configuration))
    attempt(lambda: parse_camera(source, configuration))
    if kind == "v4l2" and not os.access(configuration["output.device"], os.W_OK):
        problems.append(f"{configuration['output.device']} is not there or not yours to write; modprobe v4l2loopback makes it")
    elif kind == "pipewire" and not shutil.which("pw-link"):
        problems.append("there is no pw-link; apt-get install pipewire-bin")
    elif kind == "pipewire" and subprocess.run(["pw-link", "--links"], capture_output=True).returncode:
        problems.append("PipeWire does not run; systemctl --user start pipewire wireplumber")
    print(f"{NAME}: {configuration.path or 'no configuration: the defaults are used'}", flush=True)
    for problem in problems:
        print(f"{NAME}: {problem}", flush=True)
    status = 1 if problems else 0
    if source.split()[0] == "depthcamsrc":
        folder = pathlib.Path(__file__).resolve().parent
        doctor = next((str(file) for file in (folder / "doctor.sh", folder / "depthmatte-doctor") if file.exists()), "depthmatte-doctor")
        status |= subprocess.run([doctor, "--virtual-camera"]).returncode
    elif not problems:
        print(f"{NAME}: nothing is missing for {source}")
    return 1 if status else 0


def main():
    if sys.argv[1:] in (["-h"], ["--help"]):
        sys.exit(print(__doc__))
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(f"usage: {NAME} [--check]")
    built = pathlib.Path(__file__).resolve().parent.parent / ".build/release"
    if (built / "libgstdepthmatte.so").exists():
        os.environ["GST_PLUGIN_PATH"] = f"{built}:{os.environ.get('GST_PLUGIN_PATH', '')}"
    Gst.init(None)
    if sys.argv[1:]:
        sys.exit(check())
    guard = open(f"{GLib.get_user_runtime_dir()}/{NAME}.lock", "w")
    try:
        fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit(f"{NAME}: it runs already")
    try:
        service = Service()
    except Failure as failure:
        sys.exit(f"{NAME}: {failure}")
    loop = GLib.MainLoop()
    for number in (signal.SIGINT, signal.SIGTERM):
        GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, loop.quit)
    loop.run()
    service.stop()


if __name__ == "__main__":
    main()
