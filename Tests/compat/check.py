#!/usr/bin/python3
"""Checks the built plugin on the GStreamer of the system that runs this, as Tests/compat.sh does in a chroot.

    check.py frames FILE    writes the frames of a fixture pipeline
    check.py compare FILE   checks that this GStreamer gives the same frames, and the analytics metas where it has them
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import GLib, Gst, GstApp, GstVideo  # noqa: E402, F401

try:
    gi.require_version("GstAnalytics", "1.0")
    from gi.repository import GstAnalytics
except (ValueError, ImportError):
    GstAnalytics = None

ELEMENTS = ["depthalign", "depthcamsrc", "depthcloud", "depthcolorize", "depthmatte", "depthpack", "depthtestsrc",
            "depthunpack"]
WIDTH, HEIGHT = 320, 240
FIXTURES = [
    "depthmatte name=m background-color=0xff204060 ! video/x-raw,format=BGRA",
    "depthmatte name=m method=threshold background-mode=transparent ! video/x-raw,format=RGBA",
    "depthmatte name=m background-mode=blur ! video/x-raw,format=BGRA",
    "depthmatte name=m view=quad ! video/x-raw,format=BGRA",
]


def buffers(line):
    """Plays a pipeline whose sink is called `sink`, and returns its buffers."""
    pipeline = Gst.parse_launch(line)
    sink = pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    found = []
    while sample := sink.try_pull_sample(20 * Gst.SECOND):
        found.append(sample.get_buffer())
    error = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if error:
        sys.exit(f"{line}: {error.parse_error()}")
    return found


def content(buffer):
    return buffer.extract_dup(0, buffer.get_size())


def fixture(element, camera=""):
    return (
        f"depthtestsrc name=camera sensor=structured-light num-buffers=5 {camera} "
        f"camera.video ! video/x-raw,width=320,height=240 ! {element} ! appsink name=sink sync=false "
        "camera.depth ! video/x-raw,width=160,height=120 ! m.depth"
    )


def fixture_frames():
    return [content(buffer) for line in FIXTURES for buffer in buffers(fixture(line))]


def camera_frames():
    """Video in BGRA and depth of one size."""
    camera = "depthtestsrc name=camera sensor=structured-light num-buffers=5 face=false"
    size = f"video/x-raw,width={WIDTH},height={HEIGHT}"
    return (
        buffers(f"{camera} camera.video ! {size},format=BGRA ! appsink name=sink sync=false"),
        buffers(f"{camera} camera.depth ! {size} ! appsink name=sink sync=false"))


def mattes(frames, properties, on_video=None, segmentation=None, on_face=None):
    """The mattes of frames, and the warnings.

    `on_video` and `on_face` add metas to each buffer of these pads; `segmentation` is the width, the height and the bytes of
    each picture on that pad.
    """
    video, depth = frames
    pads = {
        "video": ("BGRA", WIDTH, HEIGHT, [content(buffer) for buffer in video], on_video),
        "depth": ("GRAY16_LE", WIDTH, HEIGHT, [content(buffer) for buffer in depth], None)}
    if segmentation:
        pads["segmentation"] = ("GRAY8", *segmentation[:2], [segmentation[2]] * len(video), None)
    if on_face:
        pads["face"] = ("GRAY8", WIDTH // 2, HEIGHT // 2, [bytes(WIDTH * HEIGHT // 4)] * len(video), on_face)
    pipeline = Gst.parse_launch(f"depthmatte name=m view=matte {properties} ! appsink name=sink sync=false " + " ".join(
        f"appsrc name={name} format=time caps=video/x-raw,format={pixels},width={width},height={height},framerate=30/1 "
        f"! m.{name}" for name, (pixels, width, height, _, _) in pads.items()))
    pipeline.set_state(Gst.State.PLAYING)
    for number, original in enumerate(video):
        for name, (_, _, _, pictures, add) in pads.items():
            # A new buffer, because GStreamer holds the original too, and such a buffer takes no meta.
            buffer = Gst.Buffer.new_wrapped(pictures[number])
            buffer.pts, buffer.duration = original.pts, original.duration
            if add:
                add(buffer)
            pipeline.get_by_name(name).push_buffer(buffer)
    for name in pads:
        pipeline.get_by_name(name).end_of_stream()
    sink = pipeline.get_by_name("sink")
    found, warnings = [], []
    while sample := sink.try_pull_sample(20 * Gst.SECOND):
        found.append(content(sample.get_buffer()))
    while message := pipeline.get_bus().pop_filtered(Gst.MessageType.WARNING):
        warnings.append(message.parse_warning())
    pipeline.set_state(Gst.State.NULL)
    assert len(found) == len(video)
    return found, warnings


def check_objects(frames):
    """A face or person that a detector reports by the analytics meta sets the anchor as a region of interest does."""
    def region(label, box):
        return lambda buffer: GstVideo.buffer_add_video_region_of_interest_meta(buffer, label, *box)

    def detection(label, box):
        def add(buffer):
            meta = GstAnalytics.buffer_add_analytics_relation_meta(buffer)
            assert meta.add_od_mtd(GLib.quark_from_string(label), *box, 0.9)[0]

        return add

    nobody = mattes(frames, "anchor=face")
    for label, box in [("face", (130, 40, 60, 80)), ("person", (80, 20, 160, 220))]:
        expected = mattes(frames, "anchor=face", region(label, box))
        assert expected != nobody, f"no {label} was seen"
        seen = mattes(frames, "anchor=face", detection(label, box))
        assert seen == expected, f"{label}: another matte than by a region of interest"
    dog = mattes(frames, "anchor=face", detection("dog", (130, 40, 60, 80)))
    assert dog == nobody, "a dog was taken for a face"


def check_networks(frames):
    """The people in a network's mask count as the same picture on the segmentation pad does."""
    def picture(width, height, box, inside, outside):
        left, top, right, bottom = box
        row = bytes(inside if left <= x < right else outside for x in range(width))
        return b"".join(row if top <= y < bottom else bytes([outside]) * width for y in range(height))

    def mask(pixels, width, place, regions=(0, 1), classes=(), thing=None):
        """Adds a mask, the labels of its regions, and the label of the object that it belongs to."""
        def add(buffer):
            meta = GstAnalytics.buffer_add_analytics_relation_meta(buffer)
            mask = Gst.Buffer.new_wrapped(pixels)
            GstVideo.buffer_add_video_meta(
                mask, GstVideo.VideoFrameFlags.NONE, GstVideo.VideoFormat.GRAY8, width, place[3] * width // place[2])
            added, item = meta.add_segmentation_mtd(mask, GstAnalytics.SegmentationType.SEMANTIC, regions, *place)
            assert added
            if classes:
                added, labels = meta.add_cls_mtd([-1.0] * len(classes), [GLib.quark_from_string(name) for name in classes])
                assert added and meta.set_relation(GstAnalytics.RelTypes.RELATE_TO, item.id, labels.id)
            if thing:
                added, owner = meta.add_od_mtd(GLib.quark_from_string(thing), *place, 0.9)
                assert added and meta.set_relation(GstAnalytics.RelTypes.RELATE_TO, item.id, owner.id)

        return add

    def on_pad(box, inside, outside, width=WIDTH, height=HEIGHT):
        return mattes(frames, "anchor=fixed", segmentation=(width, height, picture(width, height, box, inside, outside)))

    whole, box, upper = (0, 0, WIDTH, HEIGHT), (100, 30, 260, 240), (0, 0, WIDTH, HEIGHT // 2)
    large, half = (-WIDTH // 2, -HEIGHT // 2, 2 * WIDTH, 2 * HEIGHT), (0, 0, WIDTH // 2, HEIGHT // 2)
    pixels, several = picture(WIDTH, HEIGHT, box, 1, 0), picture(WIDTH, HEIGHT, box, 7, 12)
    beyond = picture(*large[2:], [box[0] + WIDTH // 2, box[1] + HEIGHT // 2, box[2] + WIDTH // 2, 2 * HEIGHT], 1, 0)
    small = [n // 2 for n in box]
    nobody, person, elsewhere = mattes(frames, "anchor=fixed"), on_pad(box, 255, 0), on_pad(upper, 0, 128)
    assert len({str(found) for found in (nobody, person, elsewhere)}) == 3, "the pad has no effect"
    labels = (0, 12, 7), ("background", "dog", "person")
    for name, expected, add in [
        ("without labels", person, mask(pixels, WIDTH, whole)),
        ("of a person", person, mask(pixels, WIDTH, whole, thing="person")),
        ("of a dog", nobody, mask(pixels, WIDTH, whole, thing="dog")),
        ("of labelled regions", person, mask(several, WIDTH, whole, *labels)),
        ("without a person's region", nobody, mask(several, WIDTH, whole, (0, 12, 7), ("background", "dog", "cat"))),
        ("of a part", elsewhere, mask(bytes(WIDTH * HEIGHT // 2), WIDTH, upper)),
        ("larger than the frame", person, mask(beyond, large[2], large)),
    ]:
        assert mattes(frames, "anchor=fixed", add) == expected, f"a mask {name} has another effect"
    face = mattes(frames, "anchor=fixed", on_face=mask(picture(*half[2:], small, 1, 0), half[2], half))
    assert face == on_pad(small, 255, 0, *half[2:]), "a mask on the face pad has another effect"
    assert mattes(frames, "anchor=fixed segmentation-weight=0", mask(pixels, WIDTH, whole))[0] == nobody[0]
    both = mattes(
        frames, "anchor=fixed", mask(bytes(WIDTH * HEIGHT), WIDTH, whole), (WIDTH, HEIGHT, picture(WIDTH, HEIGHT, box, 255, 0)))
    assert both == person, "a mask on the video is used beside the segmentation pad"
    short, warnings = mattes(frames, "anchor=fixed", mask(bytes(9), WIDTH, whole))
    assert short == nobody[0] and len(warnings) == 1, warnings


def check_masks():
    """`attach-matte` adds a segmentation whose regions are the background and the person, and the head as an object."""
    frames = buffers(fixture("depthmatte name=m attach-matte=true", "face=false"))
    assert frames
    for frame in frames:
        region = GstVideo.buffer_get_video_region_of_interest_meta_id(frame, 0)
        assert GLib.quark_to_string(region.roi_type) == "head"
        matte = content(frame.get_custom_meta("DepthMatteMeta").get_structure().get_value("matte").get_buffer())
        meta = GstAnalytics.buffer_get_analytics_relation_meta(frame)
        found, head = meta.get_od_mtd(1)
        assert found and GLib.quark_to_string(head.get_obj_type()) == "head"
        place = head.get_location()
        assert list(place[1:5]) == [region.x, region.y, region.w, region.h] and 0.5 < place[5] <= 1, place
        found, item = meta.get_segmentation_mtd(0)
        assert found, "no segmentation"
        assert [item.get_region_id(index) for index in range(item.get_region_count())] == [0, 1]
        mask, *place = item.get_mask()
        assert place == [0, 0, 320, 240], place
        assert content(mask) == bytes(alpha >> 7 for alpha in matte), "the mask is not the matte's"
        assert {0, 255} <= set(matte)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("frames", "compare"):
        sys.exit(__doc__)
    Gst.init(None)
    version = Gst.version_string()
    for name in ELEMENTS:
        if not Gst.ElementFactory.find(name):
            sys.exit(f"{version}: no element {name}")
    frames = fixture_frames()
    if sys.argv[1] == "frames":
        with open(sys.argv[2], "wb") as file:
            file.writelines(frames)
        print(f"{version}: {len(frames)} frames written")
        return
    with open(sys.argv[2], "rb") as file:
        assert file.read() == b"".join(frames), f"{version}: other frames than those of the file"
    print(f"{version}: {len(frames)} frames are the same")
    if GstAnalytics is None:
        print(f"{version}: no gst-analytics, skipped")
        return
    frames = camera_frames()
    check_objects(frames)
    print(f"{version}: faces and people of GstAnalyticsODMtd anchor")
    if hasattr(GstAnalytics, "SegmentationMtd"):
        check_masks()
        print(f"{version}: mattes are attached as GstAnalyticsSegmentationMtd")
        check_networks(frames)
        print(f"{version}: people of GstAnalyticsSegmentationMtd count as on the segmentation pad")


main()
