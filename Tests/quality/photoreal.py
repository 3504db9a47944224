"""Photoreal clips: rendered people with exact alpha before rendered rooms, as four kinds of sensor measure them.

The folder that DEPTHMATTE_PHOTOREAL names holds them, and clips.py, which reads them.
"""
import importlib
import os
import sys

import numpy as np

from streams import Stream

FOLDER = os.environ.get("DEPTHMATTE_PHOTOREAL")
SENSORS = ("structured", "stereo", "tof", "phone")


def reader():
    if FOLDER not in sys.path:
        sys.path.append(FOLDER)
    return importlib.import_module("clips")


def names():
    """(clip, sensor) of all; none without the folder."""
    return [(name, sensor) for name in reader().names() for sensor in SENSORS] if FOLDER else []


def clip(name, sensor):
    frames = reader().frames(name, sensor)
    return Stream(
        f"{name} {sensor}", [frame["video"] for frame in frames],
        [frame["depth"].astype(np.float32) * np.float32(0.001) for frame in frames],
        [tuple(round(n) for n in frame["face"]) for frame in frames], truths=[frame["alpha"] for frame in frames])
