"""Test scenes: what depthtestsrc shows, with its exact alpha."""
import os
import tempfile

import numpy as np

from streams import Stream, launch

FRAMES = 10
RATE = 30  # frames a second
STILL_RATE = 1_000_000  # so many that nothing moves, while the sensor's noise goes on
# Of the scenes: pixels of the video, samples of the depth map.
USUAL_SIZES = ((1280, 720), (640, 360))
SIZES = {"phone": ((1280, 720), (320, 180)), "large": ((1920, 1080), (640, 480))}

# Name: properties of depthtestsrc.
SCENES = {
    "desk": "sensor=structured-light",
    "stereo": "sensor=stereo",
    "tof": "sensor=tof",
    "phone": "sensor=phone",
    "black hair": "sensor=structured-light seed=4",
    "noise": "sensor=stereo seed=9 noise=0.01 holes=0.1",
    "no face": "sensor=structured-light seed=5 face=false",
    "like colors": "pattern=like-colors sensor=structured-light",
    "long hair": "pattern=long-hair sensor=structured-light",
    "no wall": "pattern=no-wall sensor=structured-light",
    "dim": "pattern=dim sensor=structured-light",
    "chair": "pattern=chair sensor=structured-light",
    "far": "pattern=far sensor=structured-light",
    "hand": "pattern=hand sensor=stereo",
    "large": "sensor=structured-light",
}


def scene(name, properties, frames=FRAMES, rate=RATE):
    """The frames that have a depth map: each is paired with the newest one that is at most half a second old."""
    (width, height), (columns, rows) = SIZES.get(name.removeprefix("scene "), USUAL_SIZES)
    with tempfile.TemporaryDirectory() as folder:
        video, depth, matte = (os.path.join(folder, name) for name in ("video", "depth", "matte"))
        printed = launch(
            f"depthtestsrc name=source num-buffers={frames} {properties} "
            f"source.video ! video/x-raw,format=BGR,width={width},height={height},framerate={rate}/1 "
            f"! roiset name=video print=true ! filesink location={video} "
            f"source.depth ! video/x-raw,format=GRAY16_LE,width={columns},height={rows},framerate={rate}/1 "
            f"! roiset name=depth print=true ! filesink location={depth} "
            f"source.matte ! video/x-raw,format=GRAY8,width={width},height={height},framerate={rate}/1 "
            f"! filesink location={matte}")
        videos = np.fromfile(video, np.uint8).reshape(-1, height, width, 3)
        depths = np.fromfile(depth, "<u2").reshape(-1, rows, columns)
        truths = np.fromfile(matte, np.uint8).reshape(-1, height, width)
    lines = [line.split() for line in printed.splitlines()]
    times = {pad: [int(line[1]) for line in lines if line[0] == pad] for pad in ("video", "depth")}
    faces = [box(line[2:]) for line in lines if line[0] == "video"]
    paired = [newest(times["depth"], time) for time in times["video"]]
    kept = [frame for frame, at in enumerate(paired) if at is not None]
    return Stream(
        name, [videos[i] for i in kept], [depths[paired[i]].astype(np.float32) * np.float32(0.001) for i in kept],
        [faces[i] for i in kept], truths=[truths[i].astype(np.float32) / 255 for i in kept])


def box(words):
    """The largest box."""
    boxes = [tuple(int(n) for n in word.split(",")) for word in words]
    return max(boxes, key=lambda b: b[2] * b[3], default=None)


def newest(times, now, hold=500_000_000):
    """The index of the newest time that is neither later than `now` nor older than `hold`; None without one."""
    usable = [(time, index) for index, time in enumerate(times) if now - hold <= time <= now]
    return max(usable)[1] if usable else None
