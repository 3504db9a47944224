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


def check_objects():
    """A face or person that a detector reports by the analytics meta sets the anchor as a region of interest does."""
    camera = "depthtestsrc name=camera num-buffers=5 face=false"
    small = "video/x-raw,width=320,height=240"
    video = buffers(f"{camera} camera.video ! {small},format=BGRA ! appsink name=sink sync=false")
    depth = buffers(f"{camera} camera.depth ! {small} ! appsink name=sink sync=false")

    def mattes(add):
        pipeline = Gst.parse_launch(
            f"appsrc name=video format=time caps={small},format=BGRA,framerate=30/1 ! m.video "
            f"appsrc name=depth format=time caps={small},format=GRAY16_LE,framerate=30/1 ! m.depth "
            "depthmatte name=m anchor=face view=matte ! appsink name=sink sync=false"
        )
        sources = [pipeline.get_by_name(name) for name in ("video", "depth")]
        pipeline.set_state(Gst.State.PLAYING)
        for pair in zip(video, depth):
            for source, original in zip(sources, pair):
                # A new buffer, because GStreamer holds the original too, and such a buffer takes no meta.
                buffer = Gst.Buffer.new_wrapped(content(original))
                buffer.pts, buffer.duration = original.pts, original.duration
                if source is sources[0]:
                    add(buffer)
                source.push_buffer(buffer)
        for source in sources:
            source.end_of_stream()
        sink = pipeline.get_by_name("sink")
        found = []
        while sample := sink.try_pull_sample(20 * Gst.SECOND):
            found.append(content(sample.get_buffer()))
        pipeline.set_state(Gst.State.NULL)
        assert len(found) == len(video)
        return found

    def region(label, box):
        return lambda buffer: GstVideo.buffer_add_video_region_of_interest_meta(buffer, label, *box)

    def detection(label, box):
        def add(buffer):
            meta = GstAnalytics.buffer_add_analytics_relation_meta(buffer)
            assert meta.add_od_mtd(GLib.quark_from_string(label), *box, 0.9)[0]

        return add

    nobody = mattes(lambda buffer: None)
    for label, box in [("face", (130, 40, 60, 80)), ("person", (80, 20, 160, 220))]:
        expected = mattes(region(label, box))
        assert expected != nobody, f"no {label} was seen"
        assert mattes(detection(label, box)) == expected, f"{label}: another matte than by a region of interest"
    assert mattes(detection("dog", (130, 40, 60, 80))) == nobody, "a dog was taken for a face"


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
    check_objects()
    print(f"{version}: faces and people of GstAnalyticsODMtd anchor")
    if hasattr(GstAnalytics, "SegmentationMtd"):
        check_masks()
        print(f"{version}: mattes are attached as GstAnalyticsSegmentationMtd")


main()
