"""Frames to be judged, and the mattes that the element, the reference and the sample's recipe make of them."""
import hashlib
import os
import shlex
import subprocess
import tempfile
from dataclasses import dataclass, field

import numpy as np

import seed_matte
from quality_matte import QualityMatte

CACHE = os.path.join(".build", "quality")
FRAME_TIME = 1 / 30  # s

# 57 settings of the sample's recipe: without a blur a gamma changes nothing.
RECIPES = [(0, 1)] + [
    (blur, gamma) for blur in (0.5, 1, 1.5, 2, 3, 4, 5, 8) for gamma in (0.35, 0.5, 0.7, 1, 1.5, 2, 3)]


@dataclass
class Stream:
    """Frames of one size, one after the other, and their truth."""

    name: str
    videos: list  # BGR, uint8
    depths: list  # metres, float32; 0 = not measured
    faces: list  # (x, y, width, height) in video pixels or None
    margin: float = 0.25  # metres: the default of the element's property
    cutoff: float = 1.0  # metres, where no frame has a face; the default of the element's property
    truths: list = field(default_factory=list)  # 0...1; empty where there is none
    judged: list = field(default_factory=list)  # masks; empty where every pixel counts
    outline_judged: list = field(default_factory=list)  # ... of the outline's F; empty: as `judged`
    goal: float = float("nan")  # SAD at most

    def where(self, frame, of_outline=False):
        masks = self.outline_judged if of_outline and self.outline_judged else self.judged
        return masks[frame] if masks else None

    @property
    def size(self):
        """(width, height) of the video."""
        return self.videos[0].shape[1::-1]

    def cutoffs(self):
        """Per frame; that of the last face is held. None while there was no face, if there is one later."""
        cutoff, cutoffs = None if any(self.faces) else self.cutoff, []
        for depth, face in zip(self.depths, self.faces):
            near = seed_matte.face_depth(depth, self.size, face) if face else None
            cutoff = near + self.margin if near is not None else cutoff
            cutoffs.append(cutoff)
        return cutoffs


def element(stream, settings):
    """The mattes of depthmatte, 0...1. Its anchor is the face, or a fixed cutoff where a stream has none.

    With anchor=head the faces are left out.
    """
    width, height = stream.size
    if any(stream.faces) and "anchor=head" not in settings:
        boxes = "|".join(",".join(str(round(n)) for n in face) if face else "" for face in stream.faces)
        anchor = f"anchor=face margin={stream.margin}"
        region = f"! roiset rectangles=\"{boxes}\""
    else:
        anchor, region = f"anchor=fixed cutoff={stream.cutoff}", ""
    with tempfile.TemporaryDirectory() as folder:
        (video, depth), matte = raw_frames(stream, folder), os.path.join(folder, "matte")
        launch(
            f"{video} {region} ! depthmatte name=matte view=matte {anchor} {settings} ! filesink location={matte} "
            f"{depth} ! matte.depth")
        # Each of blue, green and red is the alpha.
        alphas = np.fromfile(matte, np.uint8).reshape(len(stream.videos), height, row_bytes(width))[:, :, :3 * width:3]
    return alphas.astype(np.float32) / 255


def row_bytes(width):
    """Rows of BGR are padded to four bytes."""
    return (3 * width + 3) // 4 * 4


def raw_frames(stream, folder):
    """Files of the video and of the depth, and the beginnings of launch lines that send them."""
    (width, height), (rows, columns) = stream.size, stream.depths[0].shape
    stride = row_bytes(width)
    video, depth = (os.path.join(folder, name) for name in ("video", "depth"))
    with open(video, "wb") as f:
        for picture in stream.videos:
            padded = np.zeros((height, stride), np.uint8)
            padded[:, :3 * width] = picture.reshape(height, -1)
            padded.tofile(f)
    with open(depth, "wb") as f:
        for samples in stream.depths:
            samples.astype("<f4").tofile(f)
    return (
        f"filesrc location={video} ! rawvideoparse width={width} height={height} format=bgr framerate=30/1 "
        f"plane-strides=<{stride}> frame-size={stride * height}",
        f"filesrc location={depth} ! rawvideoparse width={4 * columns} height={rows} format=gray8 framerate=30/1 "
        f"! capssetter join=false replace=true caps=\"video/x-depth,format=(string)F32LE,width=(int){columns},"
        f"height=(int){rows},framerate=(fraction)30/1\"")


def reference(stream, anchored=True):
    """The mattes of quality_matte.py."""
    def make():
        matte = QualityMatte(anchored=anchored)
        for video, depth, face, cutoff in zip(stream.videos, stream.depths, stream.faces, stream.cutoffs()):
            yield np.zeros(video.shape[:2]) if cutoff is None else matte.step(video, depth, face, cutoff)
    name = "reference" if anchored else "reference-all"
    return kept(name, stream, make, "quality_matte.py", "subject.py", "seed_matte.py")


def peer(stream, matte, *told):
    """The mattes of one of `peers`, each frame alone. `told`: lists of what else it is given with each frame."""
    def make():
        for video, depth, cutoff, *more in zip(stream.videos, stream.depths, stream.cutoffs(), *told):
            yield np.zeros(video.shape[:2]) if cutoff is None else matte(video, depth, cutoff, *more)
    return kept(matte.__name__, stream, make, "peers.py", "seed_matte.py")


def kept(name, stream, make, *sources):
    """Mattes rounded to bytes, as the element's are; what is slow is kept from run to run."""
    path = os.path.join(CACHE, f"{name}-{fingerprint(stream, *sources)}.npz")
    if not os.path.exists(path):
        save(path, alphas=np.array([np.rint(alpha * 255).astype(np.uint8) for alpha in make()]))
    return np.load(path)["alphas"].astype(np.float32) / 255


def recipe(stream, blur, gamma):
    """The mattes of the sample's recipe."""
    return np.array([
        seed_matte.matte(depth, stream.size, cutoff or 0, blur, gamma).astype(np.float32) / 255
        for depth, cutoff in zip(stream.depths, stream.cutoffs())])


def tuned(stream, score):
    """The (blur, gamma) of the sample's recipe with the least of a score: alphas, stream -> number. Kept from run to run."""
    path = os.path.join(CACHE, f"tuned-{score.__name__}-{fingerprint(stream, 'seed_matte.py')}.npz")
    if not os.path.exists(path):
        save(path, best=min(RECIPES, key=lambda settings: score(recipe(stream, *settings), stream)))
    return tuple(float(x) for x in np.load(path)["best"])


def fingerprint(stream, *sources):
    """Changes with the frames, their truth and the arithmetic in the sources."""
    reach = stream.margin if any(stream.faces) else stream.cutoff
    digest = hashlib.sha256(repr((stream.faces, reach, RECIPES)).encode())
    for array in [*stream.videos, *stream.depths, *stream.truths, *stream.judged]:
        digest.update(np.ascontiguousarray(array))
    folder = os.path.dirname(os.path.abspath(__file__))
    for name in sources:
        with open(os.path.join(folder, name), "rb") as f:
            digest.update(f.read())
    return digest.hexdigest()[:16]


def save(path, **arrays):
    """Whole or not at all, so that a run that was stopped leaves nothing half written."""
    os.makedirs(CACHE, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=CACHE, suffix=".npz", delete=False) as f:
        np.savez_compressed(f, **arrays)
    os.replace(f.name, path)


def launch(line):
    """Runs a pipeline to its end and gives back what it printed."""
    command = ["timeout", "-s", "KILL", "300", "gst-launch-1.0", "-q", "--no-fault", *shlex.split(line)]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if result.returncode != 0:
        raise RuntimeError(f"{result.returncode}: gst-launch-1.0 {line}")
    return result.stdout
