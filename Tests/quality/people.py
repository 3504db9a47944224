"""Rendered people: the frames of pipelines/people, and the whole clips of the folder that DEPTHMATTE_PHOTOREAL names."""
import json
import os
import sys

import cv2
import numpy as np

from streams import Stream

FOLDER = os.path.join("pipelines", "people")
SENSORS = {"structured-light": "structured", "stereo": "stereo", "tof": "tof", "phone": "phone"}  # as the clips call them


def frames():
    """A stream of two frames of each clip, by one sensor."""
    with open(os.path.join(FOLDER, "manifest.json")) as f:
        manifest = json.load(f)

    def picture(name):
        return cv2.imread(os.path.join(FOLDER, name), cv2.IMREAD_UNCHANGED)

    for clip, about in manifest["clips"].items():
        of_clip = [frame for frame in manifest["frames"] if frame["clip"] == clip]
        yield Stream(
            f"{clip}, {about['sensor']}", [picture(frame["color"]) for frame in of_clip],
            [metres(picture(frame["depth"]), manifest["metres_per_count"]) for frame in of_clip],
            [tuple(frame["face"]) for frame in of_clip],
            truths=[picture(frame["alpha"]).astype(np.float32) / 255 for frame in of_clip])


def clips(folder, is_wanted):
    """Of each clip and sensor a stream, and one of a frame again and again with other noise. The folder's own clips.py
    reads it."""
    sys.path.append(folder)
    from clips import frames as read, names

    for clip in names():
        for sensor, name in SENSORS.items():
            if is_wanted(f"people {clip}, {sensor}"):
                yield tuple(stream(f"{clip}, {sensor}", read(clip, name, rest)) for rest in (False, True))


def stream(name, read):
    return Stream(
        name, [frame["video"] for frame in read], [metres(frame["depth"], 0.001) for frame in read],
        [tuple(frame["face"]) for frame in read], truths=[frame["alpha"] for frame in read])


def metres(counts, unit):
    return counts.astype(np.float32) * np.float32(unit)
