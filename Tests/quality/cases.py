"""Real cases: pictures of depth cameras with an outline, a mask or a matte that judges them.

manifest.json and outlines.json in the folder that DEPTHMATTE_REAL_DATA names say what there is.
"""
import json
import os

import cv2
import numpy as np

import scores
from streams import Stream

# SAD at most, the goals of method=fusion.
GOALS = {
    "truedepth_mannequin_seq": 0.15, "structure_person_shirt": 0.03, "kinect_desk_close_dark": 0.5,
    "kinect_hair_holes": 0.08, "iphone_portrait_disparity_matte": 12.5, "kinect_hall_person 12-41-38": 0.35,
    "kinect_hall_person 12-42-18": 1.7, "kinect_hall_person 12-42-34": 0.9,
}
PHONE, HALL = "iphone_portrait_disparity_matte", "kinect_hall_person"
CUTOFFS = {"kinect_five_people_no_face": 2.2}  # metres, between two of the five
PHONE_SCALE = 0.375  # of its 3024x4032 pixels
PHONE_MARGIN = 0.04  # metres of a depth that is true to scale only


class Cases:
    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "manifest.json")) as f:
            self.entries = {entry["id"]: entry for entry in json.load(f)["cases"]}
        with open(os.path.join(folder, "outlines.json")) as f:
            self.outlines = json.load(f)

    def judged(self):
        """Streams of one frame that have a truth."""
        for name, pictures in self.outlines.items():
            for picture, outline in pictures.items():
                frame = next(frame for frame in self.entries[name]["frames"] if frame["color"] == picture)
                yield by_hand(self.stream(self.entries[name], [frame]), outline)
        yield by_matte(self.stream(self.entries[PHONE]), self.mask(PHONE, 0))
        for number, frame in enumerate(self.entries[HALL]["frames"]):
            stream = self.stream(self.entries[HALL], [frame])
            stream.name += f" {os.path.splitext(frame['color'])[0].removeprefix('color_')}"
            yield by_cut(stream, self.mask(HALL, number))

    def everything(self):
        """What is judged, and all frames of the other cases whose depth lies on its video."""
        yield from self.judged()
        for name, entry in self.entries.items():
            is_judged = name in (PHONE, HALL) or name in self.outlines and len(entry["frames"]) == 1
            if entry["registered"] and not is_judged:
                yield self.stream(entry)

    def stream(self, entry, frames=None):
        frames = frames or entry["frames"]
        is_phone = entry["kind"] == "disparity"
        scale = PHONE_SCALE if is_phone else 1
        videos, depths, faces = [], [], []
        for frame in frames:
            video = cv2.imread(self.path(entry, frame["color"]), cv2.IMREAD_COLOR)
            if scale != 1:
                video = cv2.resize(video, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
            counts = cv2.imread(self.path(entry, frame["depth"]), cv2.IMREAD_UNCHANGED).astype(np.float64)
            if is_phone:
                depth = 1 / (entry["disparity_offset"] + counts * entry["disparity_per_count"])
            else:
                depth = counts * entry["metres_per_count"]
            face = frame.get("face")
            videos.append(video)
            depths.append(depth.astype(np.float32))
            faces.append(tuple(round(n * scale) for n in face) if face else None)
        stream = Stream(entry["id"], videos, depths, faces, margin=PHONE_MARGIN if is_phone else Stream.margin)
        stream.cutoff = CUTOFFS.get(entry["id"], Stream.cutoff)
        return stream

    def mask(self, name, frame):
        entry = self.entries[name]
        return cv2.imread(self.path(entry, entry["frames"][frame]["mask"]), cv2.IMREAD_GRAYSCALE)

    def path(self, entry, name):
        return os.path.join(self.folder, entry["dir"], name)


def by_hand(stream, outline):
    """By an outline drawn by hand; its own pixels, which are true to +-1 pixel, count for the outline's F alone."""
    truth = scores.polygon(outline["outline"], stream.size[::-1])
    stream.truths = [truth.astype(np.float32)]
    stream.judged = [scores.hand_judged(truth, outline["window"], outline["unsure"])]
    stream.outline_judged = [scores.hand_window(truth.shape, outline["window"], outline["unsure"])]
    stream.goal = GOALS[stream.name]
    return stream


def by_matte(stream, matte):
    """By the phone's own matte, within 30 pixels of where it is soft (0.1...0.9).

    So judged the sample's recipe with its defaults scores 38.5, as published; the reference 10.9, where 11.9 was published.
    """
    truth = cv2.resize(matte, stream.size, interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    stream.truths = [truth]
    stream.judged = [scores.distance_to((truth > 0.1) & (truth < 0.9)) <= 30]
    stream.goal = GOALS[stream.name]
    return stream


def by_cut(stream, mask, reach=20, rows=436):
    """By a mask of three values: 128 is not judged, nor is what lies far from the person, nor the floor.

    So judged the reference scores 0.23, 1.49 and 0.74, as published.
    """
    stream.truths = [(mask == 255).astype(np.float32)]
    judged = (mask != 128) & (scores.distance_to(mask == 255) <= reach)
    judged[rows:] = False
    stream.judged = [judged]
    stream.outline_judged = [np.zeros(mask.shape, bool)]  # the band at the outline is not judged
    stream.goal = GOALS[stream.name]
    return stream
