"""Scores the remembered room on rendered people, given and learnt: run.sh --room says how it is called.

The empty room (empty_rooms.py) is shown for 20 frames and captured; then the clip is shown, and judged beside the same
without a memory."""
import argparse
import sys
from functools import partial

if __name__ == "__main__" and {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__.strip())
    sys.exit()

import gi
import numpy as np

import scores
from empty_rooms import CASES, CHANGES, CLIPS, Room
from people import SENSORS, metres
from quality import Report, compare_all, mean, table
from room_memory import RoomMatte
from streams import FRAME_TIME, Stream

for name in ("Gst", "GstApp", "GstVideo"):
    gi.require_version(name, "1.0")
from gi.repository import Gst, GstApp, GstVideo  # noqa: E402, F401

SCORES = {
    "SAD": scores.sad, "MSE x 10^3": scores.mse, "gradient": scores.gradient, "room leak %": scores.room_leak,
    "eaten %": scores.eaten}
EMPTY, CAPTURED, GAP = 20, 16, 2  # frames of the empty room, those of them that are captured; seconds before the clip
FRAMES, JUDGED = 75, range(45, 75)  # of a sequence
SWAY, CALM, FIRST = 60, 3, 12  # pixels to either side; frames of an empty room that is learnt
SEQUENCES = {"swaying": SWAY, "hardly moving": CALM, **{change: SWAY for change in CHANGES}}
VISIBLE, WORSE = 8 / 255, 1.02


def element(frames, settings, capture=False):
    """The mattes of depthmatte for frames (BGR, millimetres, face or None), the first ones captured, and its last stats."""
    (height, width), (rows, columns) = frames[0][0].shape[:2], frames[0][1].shape
    source = ("appsrc name={0} format=time max-bytes=0 "
              "caps=video/x-raw,format={1},width={2},height={3},framerate=30/1 ! m.{0} ").format
    pipeline = Gst.parse_launch(
        source("video", "BGRx", width, height) + source("depth", "GRAY16_LE", columns, rows)
        + f"depthmatte name=m background-mode=transparent {settings} ! video/x-raw,format=BGRA "
        + "! appsink name=out sync=false")
    matte, out = pipeline.get_by_name("m"), pipeline.get_by_name("out")
    if capture:
        matte.emit("capture-room")
    time, seen = 0, False
    for video, depth, face in frames:
        time, seen = time + FRAME_TIME + (GAP if face and not seen else 0), bool(face)
        pictures = {"depth": depth.astype("<u2"), "video": np.dstack([video, np.zeros((height, width), np.uint8)])}
        for name, picture in pictures.items():
            buffer = Gst.Buffer.new_wrapped(picture.tobytes())
            buffer.pts, buffer.duration = round(time * Gst.SECOND), round(FRAME_TIME * Gst.SECOND)
            if face and name == "video":
                x, y, w, h = (round(n) for n in face)
                left, top = max(0, x), max(0, y)
                GstVideo.buffer_add_video_region_of_interest_meta(
                    buffer, "face", left, top, min(width, x + w) - left, min(height, y + h) - top)
            pipeline.get_by_name(name).push_buffer(buffer)
    for name in pictures:
        pipeline.get_by_name(name).end_of_stream()
    pipeline.set_state(Gst.State.PLAYING)
    alphas = []
    while (sample := out.try_pull_sample(60 * Gst.SECOND)) is not None:
        pixels = np.frombuffer(sample.get_buffer().extract_dup(0, 4 * width * height), np.uint8)
        alphas.append(pixels.reshape(height, width, 4)[..., 3].astype(np.float32) / 255)
    numbers = matte.get_property("stats")
    stats = {name: numbers.get_value(f"room-{name}") for name in ("known", "agree", "used", "forgotten")}
    fault = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if fault or len(alphas) != len(frames):
        raise RuntimeError(f"{len(alphas)} of {len(frames)} frames: {fault and fault.parse_error()}")
    return alphas, stats


class Comparison:
    """Mattes with the memory beside those without."""

    def __init__(self, what, alphas, base, truths, stats):
        self.what, self.stats = what, stats
        self.base, self.ours = (
            {name: mean([score(a, t) for a, t in zip(some, truths)]) for name, score in SCORES.items()}
            for some in (base, alphas))
        # Percent of the pixels: room that the memory shows, and that is hidden without it.
        anew = [(t == 0) & (b <= VISIBLE) & (a > VISIBLE) for a, b, t in zip(alphas, base, truths)]
        self.anew, self.ratio = 100 * float(np.mean(anew)), self.ours["SAD"] / self.base["SAD"]

    COLUMNS = [*SCORES, "shown anew %"]

    @staticmethod
    def cells(some):
        pairs = [(mean([one.base[name] for one in some]), mean([one.ours[name] for one in some])) for name in SCORES]
        return [*(f"{base:.3f} → {ours:.3f}" for base, ours in pairs), f"{mean([one.anew for one in some]):.4f}"]


def given(rooms, sensors, cases, settings, report):
    """The clips after a capture of the empty room, as it is and changed."""
    found = {case: [] for case in cases}
    for room in rooms:
        for sensor in sensors:
            clip, truths = room.clip(sensor)
            base = element(room.empty(sensor, EMPTY) + clip, f"{settings} room-memory=off")[0]
            for case in cases:
                frames, what = room.empty(sensor, EMPTY, case) + clip, f"{room.name}, {sensor}, {case}"
                alphas, stats = element(frames, f"{settings} room-memory=keep", capture=True)
                found[case].append(Comparison(what, alphas[EMPTY:], base[EMPTY:], truths, stats))
    for case in cases[:1]:
        rows = [[one.what, *Comparison.cells([one]), f"{one.stats['used']:.2f}"] for one in found[case]]
        report.add("Given the empty room:\n\n" + table(["clip", *Comparison.COLUMNS, "used"], rows))
    rows = []
    for case, some in found.items():
        # A plant or a lamp that looks like a head refuses the capture.
        worst, refused = max(some, key=lambda one: one.ratio), sum(one.stats["known"] == 0 for one in some)
        rows.append([case, *Comparison.cells(some), f"{worst.ratio:.3f} {worst.what}", f"{refused} of {len(some)}"])
    report.add("The captured room is:\n\n" + table(["", *Comparison.COLUMNS, "worst SAD by the base's", "refused"], rows))
    return [one for some in found.values() for one in some]


def learnt(rooms, sensor, settings, report):
    """Sequences in which the room is learnt, and in which it changes."""
    found = []
    for room in rooms:
        for what, width in SEQUENCES.items():
            frames, truths = room.sway(sensor, FRAMES, width, what)
            judged = lambda some, first: [some[first + i] for i in JUDGED]
            base = judged(element(frames, f"{settings} room-memory=off")[0], 0)
            kinds = {"learnt": (0, False), "after 0.4 s of empty room": (FIRST, False), "given": (EMPTY, True)}
            for kind, (empty, captured) in kinds.items():
                if kind == "learnt" or what == "swaying":
                    shown = room.empty(sensor, empty) + frames
                    alphas, stats = element(shown, f"{settings} room-memory=learn", captured)
                    found.append(Comparison(
                        f"{room.name}, {what}, {kind}", judged(alphas, empty), base, judged(truths, 0), stats))
    rows = [
        [one.what, *Comparison.cells([one]), f"{one.stats['known']:.2f}", str(one.stats["forgotten"])] for one in found]
    report.add("Sequences:\n\n" + table(["", *Comparison.COLUMNS, "known", "forgotten"], rows))
    return found


def columns(frames):
    """Pictures, depths in metres, faces."""
    videos, depths, faces = zip(*frames)
    return videos, [metres(depth, 0.001) for depth in depths], faces


def agree(rooms, sensors, report):
    """How near the element is to room_memory.py, after a capture."""
    def mattes():
        for room in rooms:
            for sensor in sensors:
                empty, (clip, _) = room.empty(sensor, EMPTY), room.clip(sensor)
                ours, stats = element(empty + clip, "anchor=face anchor-smoothing=0 room-memory=keep", capture=True)
                if not stats["known"]:
                    report.add(f"{room.name}, {sensor}: the capture was refused")
                    continue
                stream = Stream(f"{room.name}, {sensor}", *columns(clip))
                matte = RoomMatte()
                matte.capture(*columns(empty[:CAPTURED])[:2])
                theirs = map(matte.step, stream.videos, stream.depths, stream.faces, stream.cutoffs())
                yield stream, np.array(ours[EMPTY:]), np.array([np.rint(alpha * 255) / 255 for alpha in theirs])
    return compare_all(mattes(), "The remembered room and the reference", report)


def main():
    split = lambda text: [part for part in text.split(",") if part]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", default="", help="properties of depthmatte")
    parser.add_argument("--clips", type=split, help="names, with commas between them")
    parser.add_argument("--sensors", type=split, default=list(SENSORS))
    parser.add_argument("--cases", type=split, default=CASES, help="of the captured room; '' leaves out what is given")
    parser.add_argument("--learnt", type=split, default=["window", "wave", "mug"], help="clips of the sequences, or ''")
    parser.add_argument("--agree", action="store_true", help="the element against the reference")
    parser.add_argument("--out", help="a folder for scores.md")
    arguments = parser.parse_args()
    sys.path.append(CLIPS)
    from clips import names
    report, rooms = Report(arguments.out), partial(map, Room, arguments.clips or names())
    if arguments.agree:
        sys.exit(0 if agree(rooms(), arguments.sensors, report) else 1)
    found = []
    if arguments.cases:
        found += given(rooms(), arguments.sensors, arguments.cases, arguments.settings, report)
    if arguments.learnt:
        found += learnt(map(Room, arguments.learnt), "structured-light", arguments.settings, report)
    worse = [f"{one.what}: {one.base['SAD']:.3f} → {one.ours['SAD']:.3f}" for one in found if one.ratio > WORSE]
    report.add("SAD above that without the memory by more than 2 %:\n\n" + ("\n".join(worse) or "none") + "\n")
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    if not CLIPS:
        sys.exit("the remembered room: DEPTHMATTE_PHOTOREAL names no clips")
    Gst.init(None)
    main()
