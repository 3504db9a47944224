"""Scores mattes on the real cases that have a hand-drawn outline: run.sh says how it is called."""
import argparse
import json
import os
import shlex
import subprocess
import tempfile

import cv2
import numpy as np

import scores
from quality_matte import QualityMatte
from seed_matte import face_depth, metres

MARGIN = 0.25  # metres: the default of the element's property
REFERENCE = "reference"
SETTINGS = ["method=threshold", "method=threshold blur-radius=1 gamma=1", "method=fusion", REFERENCE]


class Case:
    """One frame: BGR bytes, metres (0 = not measured), face box, and what a hand outline judges."""

    def __init__(self, folder, entry, frame, outline):
        self.name = f"{entry['id']} {os.path.splitext(frame['color'])[0]}"
        self.face = frame["face"]
        self.video = cv2.imread(os.path.join(folder, entry["dir"], frame["color"]), cv2.IMREAD_COLOR)
        counts = cv2.imread(os.path.join(folder, entry["dir"], frame["depth"]), cv2.IMREAD_UNCHANGED)
        self.depth = metres(counts, entry["metres_per_count"]).astype(np.float32)
        self.truth = scores.polygon(outline["outline"], self.video.shape[:2]).astype(np.float32)
        self.judged = scores.hand_judged(self.truth > 0.5, outline["window"], outline["unsure"])
        self.window = outline["window"]


def cases(folder):
    with open(os.path.join(folder, "manifest.json")) as f:
        entries = {entry["id"]: entry for entry in json.load(f)["cases"]}
    with open(os.path.join(folder, "outlines.json")) as f:
        outlines = json.load(f)
    for name, pictures in outlines.items():
        for picture, outline in pictures.items():
            frame = next(frame for frame in entries[name]["frames"] if frame["color"] == picture)
            yield Case(folder, entries[name], frame, outline)


def reference_alpha(case):
    cutoff = face_depth(case.depth, case.video.shape[1::-1], case.face) + MARGIN
    return QualityMatte().step(case.video, case.depth, case.face, cutoff)


def element_alpha(case, settings):
    """The matte of the element, 0...1, with the face as a region-of-interest meta and depth in metres."""
    (height, width), (rows, columns) = case.video.shape[:2], case.depth.shape
    with tempfile.TemporaryDirectory() as folder:
        video, depth, matte = (os.path.join(folder, name) for name in ("video", "depth", "matte"))
        # Rows of BGR are padded to four bytes.
        case_rows = np.zeros((height, (3 * width + 3) // 4 * 4), np.uint8)
        case_rows[:, :3 * width] = case.video.reshape(height, -1)
        case_rows.tofile(video)
        case.depth.astype("<f4").tofile(depth)
        line = (
            f"filesrc location={video} ! rawvideoparse width={width} height={height} format=bgr "
            f"plane-strides=<{case_rows.shape[1]}> frame-size={case_rows.size} "
            f"! roiset rectangles={','.join(map(str, case.face))} "
            f"! depthmatte name=matte view=matte anchor=face margin={MARGIN} {settings} "
            f"! videoconvert ! video/x-raw,format=GRAY8,colorimetry=1:4:0:0 ! pngenc ! filesink location={matte} "
            f"filesrc location={depth} ! rawvideoparse width={4 * columns} height={rows} format=gray8 "
            f"! capssetter join=false replace=true caps=\"video/x-depth,format=(string)F32LE,width=(int){columns},"
            f"height=(int){rows},framerate=(fraction)25/1\" ! matte.depth"
        )
        subprocess.run(
            ["timeout", "-s", "KILL", "120", "gst-launch-1.0", "-q", "--no-fault", *shlex.split(line)], check=True)
        return cv2.imread(matte, cv2.IMREAD_GRAYSCALE).astype(np.float32) / 255


def close_up(case, alpha):
    """The judged window before green, each pixel as nine."""
    x, y, w, h = case.window
    picture = case.video * alpha[..., None] + np.array((60, 200, 60)) * (1 - alpha[..., None])
    return cv2.resize(picture[y:y + h, x:x + w].astype(np.uint8), None, fx=3, fy=3, interpolation=cv2.INTER_NEAREST)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", action="append", help=f"properties of depthmatte, or {REFERENCE}")
    parser.add_argument("--out", help="a folder for scores.md and the close-ups")
    arguments = parser.parse_args()
    all_settings = arguments.settings or SETTINGS
    lines = ["| case | settings | SAD | F 1 px | F 3 px | room leak % |", "|---|---|---|---|---|---|"]
    for case in cases(os.environ["DEPTHMATTE_REAL_DATA"]):
        sheet = [close_up(case, case.truth)]
        for settings in all_settings:
            alpha = reference_alpha(case) if settings == REFERENCE else element_alpha(case, settings)
            figures = (
                scores.sad(alpha, case.truth, case.judged), scores.outline_f(alpha, case.truth, 1, case.judged),
                scores.outline_f(alpha, case.truth, 3, case.judged), scores.room_leak(alpha, case.truth, case.judged))
            lines.append(f"| {case.name} | `{settings}` | " + " | ".join(f"{figure:.3f}" for figure in figures) + " |")
            sheet.append(close_up(case, alpha))
        if arguments.out:
            os.makedirs(arguments.out, exist_ok=True)
            cv2.imwrite(os.path.join(arguments.out, f"{case.name}.png"), np.hstack(sheet))
    table = "\n".join(lines)
    print(table)
    if arguments.out:
        with open(os.path.join(arguments.out, "scores.md"), "w") as f:
            f.write(table + "\n")


if __name__ == "__main__":
    main()
