"""Scores mattes of depth that went through a video codec beside its color: run.sh --coded says how it is called.

Color and depth are packed to 640x360 each, coded, and unpacked; the matte is that of the clip's own color and of this depth."""
import argparse
import os
import tempfile
from dataclasses import replace

import numpy as np

import people
import scores
from quality import CLIPS, Report, mean, table, wanted
from streams import element, launch, raw_frames

WIDTH, HEIGHT = 640, 360
WARM, WORSE = 4, 1.05  # times that the first frame is shown before it is judged; SAD by that without a codec at most
APART = "chair"  # a chair back 6 cm behind the shoulders: any change decides whether it joins
VP8 = "vp8enc deadline=1 cpu-used=8 end-usage=cbr keyframe-max-dist=60 target-bitrate={} ! matroskamux"
CODERS = {
    "no codec": ("matroskamux", "identity"), "VP8, 2.5 Mbit/s": (VP8.format(2500000), "vp8dec"),
    "VP8, 1 Mbit/s": (VP8.format(1000000), "vp8dec")}


def coded(stream, coding, encoder, decoder):
    """The stream with the depth that comes back, and kbit/s."""
    with tempfile.TemporaryDirectory() as folder:
        video, depth = raw_frames(stream, folder)
        packed, back = os.path.join(folder, "packed.mkv"), os.path.join(folder, "back")
        launch(f"{video} ! pack.video {depth} ! pack.depth depthpack name=pack coding={coding} layout=side-by-side "
               f"! video/x-raw,format=I420,width={2 * WIDTH},height={HEIGHT} ! {encoder} ! filesink location={packed}")
        launch(f"filesrc location={packed} ! matroskademux ! {decoder} ! depthunpack name=un "
               f"un.video ! queue ! fakesink un.depth ! queue ! filesink location={back}")
        counts = np.fromfile(back, "<u2").reshape(-1, HEIGHT, WIDTH)
        rate = os.path.getsize(packed) * 8 * 30 / 1000 / len(stream.videos)
    assert len(counts) == len(stream.videos)
    return replace(stream, depths=[people.metres(map, 0.001) for map in counts]), rate


def errors(stream, there):
    """Mean errors of depth from 0.5 to 1 m and from 2 to 3 m in millimetres; holes that became depth, and depth that became
    holes, in percent."""
    rows, columns = stream.depths[0].shape
    y, x = (((np.arange(n) + 0.5) * size / n).astype(int) for n, size in ((HEIGHT, rows), (WIDTH, columns)))
    before, after = np.array([depth[np.ix_(y, x)] for depth in stream.depths]), np.array(there.depths)
    error = 1000 * np.abs(before - after)
    known = (before > 0) & (after > 0)
    average = lambda values: float(values.mean()) if values.size else np.nan
    within = lambda low, high: average(error[known & (before >= low) & (before < high)])
    return [within(0.5, 1), within(2, 3), 100 * average(after[before == 0] > 0), 100 * average(after[before > 0] == 0)]


def streams(only):
    """The clips, or the frames of pipelines/people, behind their first frame some times."""
    judged = lambda name: wanted(name, only)
    if CLIPS:
        found = [clip for clip, _ in people.clips(CLIPS, judged)]
    else:
        found = [stream for stream in people.frames() if judged(f"people {stream.name}")]
    warm = lambda frames: frames[:1] * WARM + frames
    return [replace(s, videos=warm(s.videos), depths=warm(s.depths), faces=warm(s.faces)) for s in found]


def main():
    parser = argparse.ArgumentParser(prog="run.sh --coded", description=__doc__)
    parser.add_argument("--only", action="append", metavar="NAME", help="clips and sensors whose name has this in it")
    parser.add_argument("--codings", default="gray", metavar="NAMES", help="gray,black,record3d,realsense,depthkit")
    parser.add_argument("--settings", default="method=fusion")
    parser.add_argument("--out", metavar="DIR")
    arguments = parser.parse_args()
    report, found = Report(arguments.out), {}
    for stream in streams(arguments.only):
        def sad(some):
            alphas = element(some, arguments.settings)
            return mean(scores.sad(a, t) for a, t in zip(alphas[WARM:], some.truths))
        row = {"uncoded": (sad(stream), 0, *[np.nan] * 4)}
        for coding in arguments.codings.split(","):
            for coder, (encoder, decoder) in CODERS.items():
                there, rate = coded(stream, coding, encoder, decoder)
                row[f"{coding}, {coder}"] = (sad(there), rate, *errors(stream, there))
        found[stream.name] = row
    columns = list(next(iter(found.values())))
    cell = lambda sad, rate, *_: f"{sad:.2f}" + (f" / {rate:.0f}" if rate else "")
    rows = [[name, *(cell(*row[column]) for column in columns)] for name, row in found.items()]
    total = {}
    for title, some in (("all", [row for name, row in found.items() if not name.startswith(APART)]),
                        (APART, [row for name, row in found.items() if name.startswith(APART)])):
        if some:
            total[title] = {column: [mean(row[column][i] for row in some) for i in range(6)] for column in columns}
            rows.append([f"{title}: mean", *(cell(*total[title][column]) for column in columns)])
    report.add("SAD, and kbit/s of color and depth:\n\n" + table(["", *columns], rows))
    names = ["0.5 to 1 m", "2 to 3 m", "holes to depth %", "depth to holes %"]
    for title, row in total.items():
        lines = [[column, *(f"{figure:.1f}" for figure in row[column][2:])] for column in columns[1:]]
        report.add(f"Mean errors in millimetres, {title}:\n\n" + table(["", *names], lines))
    plain = total.get("all", {}).get("gray, no codec")
    ratios = {} if plain is None else {column: row[0] / plain[0] for column, row in total["all"].items()}
    bad = [f"{column}: {ratio:.3f}" for column, ratio in ratios.items() if column.startswith("gray") and ratio > WORSE]
    if bad:
        raise SystemExit("a codec adds too much to SAD: " + ", ".join(bad))


if __name__ == "__main__":
    main()
