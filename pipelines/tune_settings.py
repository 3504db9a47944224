"""The part of pipelines/tune.py without a window: words, the virtual camera's configuration, launch lines, small pictures."""
import os
import pathlib
import shlex
import shutil
from typing import NamedTuple

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GdkPixbuf", "2.0")
from gi.repository import GdkPixbuf, GLib, GObject, Gst, GstApp  # noqa: E402, F401


class Words(NamedTuple):
    """A setting for people: what it is, the unit of its value, and the useful part of its range in that unit."""

    label: str
    unit: str = ""
    low: float = None
    high: float = None


# A slider shows a value over the factor of its unit. Sliders end where values stop to be useful; launch lines can go on.
FACTORS = {"ms": 1_000_000}
FIRST, OTHER = "First", "More"
GROUPS = {
    FIRST: {
        "background-mode": Words("Background"), "background": Words("Picture or video file"),
        "background-color": Words("Color"), "background-blur": Words("Blur of the room", "px"),
        "margin": Words("Distance behind the head", "m", 0, 2), "near": Words("Nothing nearer than", "m", 0, 5),
        "anchor": Words("Whom it follows"), "subject": Words("What is kept"),
        "settle": Words("Steadiness of the edge"), "room-memory": Words("Memory of the room"),
    },
    "Edge": {
        "method": Words("How the edge is found"), "detail": Words("Fineness"),
        "decontaminate": Words("Old room's color removed"), "light-wrap": Words("Light on the edge"),
        "segmentation-weight": Words("Trust in a network"),
    },
    "Distance of the person": {
        "cutoff": Words("Distance without a head", "m", 0, 5), "anchor-smoothing": Words("Calmness of the distance", "s", 0, 2),
        "face-select": Words("Which of several faces"),
        "anchor-x": Words("Point, from the left"), "anchor-y": Words("Point, from the top"),
    },
    "Background": {
        "background-fit": Words("Fit of the picture"), "background-blur-depth": Words("Blur that grows behind", "px"),
        "room-picture": Words("Picture of the empty room"),
    },
    "Place and time of the depth": {
        "depth-sync": Words("Check of place and time"), "depth-ts-offset": Words("Shift in time", "ms", -300, 300),
        "depth-offset-x": Words("Shift to the right", "px", -200, 200), "depth-offset-y": Words("Shift downwards", "px", -200, 200),
        "depth-scale": Words("Enlargement", "", 0.5, 2), "depth-fit": Words("Fit to the video"),
        "max-skew": Words("Largest time apart", "ms", 0, 500), "hold-time": Words("Older depth lasts for", "ms", 0, 2000),
        "on-missing-depth": Words("Without depth"),
    },
    "Meaning of the depth": {
        "depth-kind": Words("A sample is"), "depth-unit": Words("Metres per count", "", -0.01, 0.01),
        "depth-bias": Words("Added to each", "", -1, 1), "depth-invalid": Words("Count of no measurement", "", -2, 65535),
        "depth-fov": Words("Field of view", "°"),
    },
    "Masks, and the threshold method": {
        "mask": Words("Shape of the range"), "focus": Words("Center of the range", "1/m"),
        "slope": Words("Steepness of its ends", "", 0.1, 20), "width": Words("Width of the range", "1/m"),
        "feather-near": Words("Soft start", "m", 0, 1), "feather-far": Words("Soft end", "m", 0, 1),
        "invert": Words("Person and room swapped"), "blur-radius": Words("Blur of the mask", "px"),
        "gamma": Words("Narrowness", "", 0.01, 4), "upscale": Words("Enlarging of the map"),
    },
}
# Settings of the stream rather than of the picture, which have no control; the tabs are the control of view.
HIDDEN = {
    "max-pixels", "max-threads", "attach-matte", "stats-interval", "navigation", "thermal", "face-types", "person-types", "view",
}
# Field of stats, and the property that mends it, by which sign; in words: the unit, what it is of, above 0, below 0.
MEASURED = (
    ("depth-lag", "depth-ts-offset", -1, "ms", "time", "late", "early"),
    ("depth-shift-x", "depth-offset-x", 1, "px", "left to right", "too far left", "too far right"),
    ("depth-shift-y", "depth-offset-y", 1, "px", "top to bottom", "too high", "too low"),
)
TEST, CAMERA, SERVICE = "test", "camera", "service"
PIPELINES = pathlib.Path(__file__).resolve().parent
CONFIG, GROUP = "depthmatte/camera.conf", "depthmatte"
THUMBNAIL = 160  # pixels

# Settings


def groups(specs):
    """Headings, each with its properties and the words for them; a property without words is under OTHER, with its name."""
    left = {spec.name: spec for spec in specs}
    found = {heading: [(left.pop(name), words) for name, words in rows.items() if name in left] for heading, rows in GROUPS.items()}
    found[OTHER] = [(spec, Words(name)) for name, spec in left.items()]
    return {heading: rows for heading, rows in found.items() if rows}


def tunable(matte):
    """The element's own properties that can be changed while it plays and have a control."""
    playing = 1 << (GObject.PARAM_USER_SHIFT + 4)  # GST_PARAM_MUTABLE_PLAYING
    return [
        spec
        for spec in matte.list_properties()
        if spec.owner_type == matte.__gtype__ and spec.flags & playing and spec.flags & GObject.ParamFlags.WRITABLE
        and spec.name not in HIDDEN
    ]


def enumeration(spec):
    """The Python class of its values, which PyGObject makes when one is read first."""
    if not spec.value_type.pytype:
        GObject.new(spec.owner_type).get_property(spec.name)
    return spec.value_type.pytype


def nick(spec, value):
    return enumeration(spec)(value).value_nick if spec.value_type.is_a(GObject.TYPE_ENUM) else value


def value(matte, name):
    return nick(matte.find_property(name), matte.get_property(name))


def default(spec):
    return nick(spec, spec.default_value)


def values(matte):
    return {spec.name: value(matte, spec.name) for spec in tunable(matte)}


def defaults(matte):
    return {spec.name: default(spec) for spec in tunable(matte)}


def apply(matte, wanted):
    for name, new in wanted.items():
        if value(matte, name) != new:
            matte.set_property(name, new)


def choices(spec):
    return list(enumeration(spec).__enum_values__.values())


def text(name, value):
    """The value as launch lines and the configuration have it."""
    return f"0x{value:08x}" if name.endswith("-color") else str(value).lower() if isinstance(value, bool) else str(value)


def presets(matte, distance):
    """name: (purpose, settings) of each preset after the present settings, and of the virtual camera's where they can be read.

    distance: of the person in metres; 0 = nobody is seen."""
    found = {"defaults": ("Every setting as the element has it", defaults(matte))}
    for name in matte.get_preset_names():
        trial = Gst.ElementFactory.make("depthmatte")
        apply(trial, values(matte))
        trial.load_preset(name)
        wanted = values(trial)
        if wanted["background-mode"] in ("auto", "image") and not wanted["background"]:
            wanted["background"] = str(PIPELINES / "background.jpg")
        # Masks about a focus need one: the default's is 2 m, where the room may be.
        focus = trial.find_property("focus")
        if wanted["mask"] != "cutoff" and wanted["focus"] == focus.default_value:
            behind = distance + matte.find_property("margin").default_value if distance else wanted["cutoff"] or 1
            wanted["focus"] = min(round(1 / behind, 3), focus.maximum)
        found[name] = (matte.get_meta(name, "comment")[1] or name, wanted)
    try:
        wanted = saved(matte)
    except GLib.Error:
        wanted = None
    return {**found, "camera settings": ("As they are saved for the virtual camera", wanted)} if wanted else found


# The configuration of the virtual camera


def read_config():
    """The user's configuration, else the system's, else an empty one. Raises GLib.Error where a line cannot be read."""
    config = GLib.KeyFile()
    for folder in (GLib.get_user_config_dir(), *GLib.get_system_config_dirs()):
        path = os.path.join(folder, CONFIG)
        if os.path.exists(path):
            config.load_from_file(path, GLib.KeyFileFlags.KEEP_COMMENTS | GLib.KeyFileFlags.KEEP_TRANSLATIONS)
            break
    return config


def camera_name():
    """The virtual camera's node in PipeWire."""
    try:
        return read_config().get_string("output", "name")
    except GLib.Error:
        return "depthmatte"


def config_keys(config):
    return config.get_keys(GROUP)[0] if config.has_group(GROUP) else []


def saved(matte):
    """The settings with the configuration's, or None where it has none. Raises GLib.Error."""
    config, known, trial = read_config(), defaults(matte), Gst.ElementFactory.make("depthmatte")
    for name in config_keys(config):
        if name in known:
            Gst.util_set_object_arg(trial, name, config.get_string(GROUP, name))
    return values(trial) if config_keys(config) else None


def save(matte, earlier=None):
    """Writes the settings that differ from their defaults, or only those that differ from earlier ones.

    All else in the file stays. Raises GLib.Error or OSError."""
    config, known, before = read_config(), defaults(matte), saved(matte) or {}
    for name, found in values(matte).items():
        if earlier and found == earlier[name]:
            continue
        if found == known[name] and name in config_keys(config):
            config.remove_key(GROUP, name)
        elif found != before.get(name, known[name]):
            config.set_string(GROUP, name, text(name, found))
    # A link to a file elsewhere stays one. The file is replaced in one step.
    path = os.path.realpath(os.path.join(GLib.get_user_config_dir(), CONFIG))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    config.save_to_file(path)


# Lag and offset of the depth


def measured(stats):
    """What the structure stats says, in words, and what to add to which property: nothing where the error may be all of it."""
    words, changes = [], {}
    for field, name, sign, unit, what, above, below in MEASURED:
        found = stats.get_value(field)
        least = stats.get_value("depth-lag-error") if field == "depth-lag" else 1
        if not stats.get_value(f"{field}-known"):
            words.append(f"{what} not known")
        elif abs(found) < least:
            words.append(f"{what} fits")
        else:
            words.append(f"{abs(found) / FACTORS.get(unit, 1):.0f} {unit} {above if found > 0 else below}")
            changes[name] = sign * found
    return f"Depth: {', '.join(words)}", changes


# Launch lines


def source_line(source):
    """The part of a launch line before the element: the pads camera.video and camera.depth, or a recording's."""
    kind, _, pattern = source.partition(":")
    if kind == TEST:
        camera = f"depthtestsrc is-live=true pattern={pattern} name=camera"
        return camera, "camera.video ! video/x-raw,width=640,height=360,framerate=30/1", "camera.depth"
    if source in (CAMERA, SERVICE):
        return "depthcamsrc align=video name=camera", "camera.video ! videoconvert", "camera.depth"
    path = source.replace("\\", "\\\\").replace('"', '\\"')
    camera = f'filesrc location="{path}" ! matroskademux name=file'
    return camera, "file.video_0 ! queue ! avdec_ffv1 ! videoconvert", "file.video_1 ! queue ! avdec_ffv1"


def source_bin(source):
    """A line with the source, and what reads it beside the element: the last frame and map, and the points while wanted."""
    camera, video, depth = source_line(source)
    last = "queue leaky=downstream max-size-buffers=1 ! appsink max-buffers=1 drop=true sync=false wait-on-eos=false"
    # Unlike a valve, it lets all events through, so that a recording can end and be played again.
    gate = "identity drop-probability=1"
    return (
        f"{camera} {video} ! tee name=videos {depth} ! tee name=maps "
        "videos. ! queue ! identity name=video maps. ! queue ! identity name=depth "
        f"videos. ! {last} name=last-video maps. ! {last} name=last-depth "
        f"videos. ! {gate} name=gate-video ! queue leaky=downstream max-size-buffers=2 ! points.video "
        f"maps. ! {gate} name=gate-depth ! queue leaky=downstream max-size-buffers=2 ! depthcloud name=points auto-pan=true "
        "! video/x-raw,width=640,height=360 ! videoconvert ! identity name=cloud"
    )


def reads_service():
    return bool(Gst.ElementFactory.find("pipewiresrc") and shutil.which("pw-cli"))


def service_line():
    # Without the two properties a session manager may give the picture of another camera.
    stay = "stream-properties=p,node.dont-reconnect=true,node.dont-fallback=true"
    return f'pipewiresrc target-object="{camera_name()}" {stay} ! videoconvert ! gtksink name=sink sync=false'


def launch_line(source, matte):
    camera, video, depth = source_line(source)
    shown = {**values(matte), "view": value(matte, "view")}
    changed = [
        f"{name}={shlex.quote(text(name, found))}" for name, found in shown.items() if found != default(matte.find_property(name))
    ]
    convert = "" if "videoconvert" in video or source.startswith(f"{TEST}:") else " ! videoconvert"
    element = " ".join(["depthmatte name=matte", *changed])
    return f"gst-launch-1.0 {camera} {video}{convert} ! {element} ! videoconvert ! autovideosink {depth} ! matte.depth"


# Pictures of the presets


def rendered_person():
    """A frame and its depth map as samples, for where there is no camera."""
    pipeline = Gst.parse_launch(
        f'filesrc location="{PIPELINES}/people/wave-color-0.jpg" ! jpegdec ! videoconvert ! appsink name=video '
        f'filesrc location="{PIPELINES}/people/wave-depth-0.png" ! pngdec ! appsink name=depth'
    )
    pipeline.set_state(Gst.State.PLAYING)
    frame = [pipeline.get_by_name(name).try_pull_sample(5 * Gst.SECOND) for name in ("video", "depth")]
    pipeline.set_state(Gst.State.NULL)
    return frame


def thumbnail(frame, wanted):
    """A small picture of what the settings make of a frame and its depth map; None where that fails."""
    pipeline = Gst.parse_launch(
        "appsrc name=video format=time ! depthmatte name=matte ! videoconvert ! videoscale "
        f"! video/x-raw,format=RGB,width={THUMBNAIL},pixel-aspect-ratio=1/1 ! appsink name=sink sync=false "
        "appsrc name=depth format=time ! matte.depth"
    )
    apply(pipeline.get_by_name("matte"), wanted)
    sources = [(pipeline.get_by_name(name), sample) for name, sample in zip(("video", "depth"), frame)]
    pipeline.set_state(Gst.State.PLAYING)
    for source, sample in sources:
        source.set_caps(sample.get_caps())
        for number in range(2):  # the head that is found in the first counts in the second
            buffer = sample.get_buffer().copy()
            buffer.pts = number * Gst.SECOND // 30
            source.push_buffer(buffer)
        source.end_of_stream()
    sink = pipeline.get_by_name("sink")
    sample = sink.try_pull_sample(2 * Gst.SECOND) and sink.try_pull_sample(2 * Gst.SECOND)
    pipeline.set_state(Gst.State.NULL)
    if not sample:
        return None
    height = sample.get_caps().get_structure(0).get_value("height")
    data = sample.get_buffer().extract_dup(0, sample.get_buffer().get_size())
    return GdkPixbuf.Pixbuf.new_from_bytes(
        GLib.Bytes(data), GdkPixbuf.Colorspace.RGB, False, 8, THUMBNAIL, height, len(data) // height)
