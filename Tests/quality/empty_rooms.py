"""The empty rooms of rendered people, in another light and from another place, and people who sway before them.

An empty room is made of a clip's frames: where nobody is their mean, at the outline what the person's own color leaves of
a pixel, and where somebody always is what is around. Frames are (BGR, millimetres, face or None).
"""
import json
import os
import sys

import cv2
import numpy as np

import scores
from people import SENSORS

CLIPS = os.environ.get("DEPTHMATTE_PHOTOREAL", "")
SIZE, GRID = (960, 540), (640, 360)
ROOM = (5, 6, 7)  # of what a depth sample hit: walls, panes, chairs
CASES = [
    "right", "exposure 0.9", "exposure 1.1", "white balance 3 %", "a lamp", "shift 1 px", "shift 3 px", "a door",
    "another place"]
PERIOD, CHANGE = 50, 37  # frames of a sway; the frame from which on the room of a sequence is another
LAMP = (1 + 0.35 * np.exp(-((np.arange(SIZE[0]) - 150) / 250) ** 2))[None, :, None]
CHANGES = {  # pixels that the camera moves; the light after a number of frames
    "moved 60 px": (60, lambda age: 1), "nudged 1.5 px": (1.5, lambda age: 1), "a lamp": (0, lambda age: LAMP),
    "exposure + 20 %": (0, lambda age: 1 + 0.02 * min(age, 10)), "a television": (0, lambda age: 1)}


class Room:
    """A clip and its empty room."""

    def __init__(self, clip):
        if CLIPS not in sys.path:
            sys.path.append(CLIPS)
        folder = os.path.join(CLIPS, clip)
        with open(os.path.join(folder, "meta.json")) as f:
            about = json.load(f)
        self.name, self.seed, self.noise, self.faces = clip, about["seed"], about["noise"], about["faces"]
        reader, numbers = cv2.VideoCapture(os.path.join(folder, "video.mkv")), range(len(self.faces))
        self.video = [reader.read()[1].astype(np.float32) for _ in numbers]
        alphas, self.own, self.depth, self.hit = (
            [cv2.imread(os.path.join(folder, f"{kind}-{number:02d}.png"), cv2.IMREAD_UNCHANGED) for number in numbers]
            for kind in "afzs")
        self.alphas = [alpha.astype(np.float32) / 255 for alpha in alphas]
        self.picture, self.metres, self.kind = self.empty_room()

    def empty_room(self):
        """BGR, metres, what is hit."""
        total, weight = np.zeros((*SIZE[::-1], 3)), np.zeros(SIZE[::-1])
        inverse, count = np.zeros(GRID[::-1]), np.zeros(GRID[::-1])
        kind = np.zeros(GRID[::-1], np.uint8)
        for picture, alpha, own, z, hit in zip(self.video, self.alphas, self.own, self.depth, self.hit):
            away = np.where(scores.distance_to(alpha > 0.002) > 3, 1, 0.02)
            here, a = np.where(alpha < 0.5, (1 - alpha) ** 4, 0) * away, alpha[..., None]
            room = np.where(a > 0, (picture - a * own) / np.maximum(1 - a, 0.5), picture)
            total, weight = total + np.clip(room, 0, 255) * here[..., None], weight + here
            is_room = cv2.erode(np.isin(hit % 16, ROOM).astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
            inverse, count = inverse + is_room / np.maximum(z, 1), count + is_room
            kind = np.where(is_room, hit % 16, kind).astype(np.uint8)
        # What is hit where somebody always is: as the nearest sample.
        unknown, kinds = (count == 0).astype(np.uint8), np.zeros(count.size + 1, np.uint8)
        _, nearest = cv2.distanceTransformWithLabels(unknown, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
        kinds[nearest[count > 0]] = kind[count > 0]
        # Its depth: straight on along the row, so that nothing stands there that looks like a head.
        inverse /= np.maximum(count, 1)
        for row, times in zip(inverse, count):
            at = np.flatnonzero(times)
            row[:] = np.interp(np.arange(GRID[0]), at, row[at])
        return filled(total, weight, 0.001).astype(np.float32), (0.001 / inverse).astype(np.float32), kinds[nearest]

    def as_seen(self, case):
        """The room in another light, or of another camera."""
        picture, metres, kind = self.picture.copy(), self.metres, self.kind
        if case.startswith("exposure"):
            picture *= float(case.split()[1])
        if case == "white balance 3 %":
            picture *= np.float32([1.03, 1, 0.97])
        if case == "a lamp":
            picture *= LAMP.astype(np.float32)
        if case.startswith("shift"):
            picture = shifted(picture, int(case.split()[1]))
        if case == "a door":
            third = SIZE[0] // 3
            waves = np.stack([np.sin(np.arange(third) / (9 + c) + c) for c in range(3)], -1)
            picture[:, :third] = 110 + 90 * waves * np.cos(np.arange(SIZE[1]) / 23)[:, None, None]
        if case == "another place":
            picture, metres = (from_elsewhere(x, cv2.INTER_LINEAR) for x in (picture, metres))
            kind = from_elsewhere(kind, cv2.INTER_NEAREST)
        return np.clip(picture, 0, 255), metres, kind

    def frame(self, sensor, number, picture, metres, kind, face=None):
        import sensors
        rng = np.random.default_rng((self.seed, number))
        noisy = picture + np.float32(self.noise) * rng.standard_normal(picture.shape, np.float32)
        depth = sensors.sense(SENSORS[sensor], metres, kind, self.seed, number)
        return np.clip(np.rint(noisy), 0, 255).astype(np.uint8), depth, face

    def empty(self, sensor, count, case="right"):
        """Frames of the empty room."""
        seen = self.as_seen(case)
        return [self.frame(sensor, 200 + number, *seen) for number in range(count)]

    def clip(self, sensor):
        """The clip's own frames, and their truths."""
        from clips import frames
        read = frames(self.name, SENSORS[sensor])
        return [(f["video"], f["depth"], tuple(f["face"])) for f in read], [f["alpha"] for f in read]

    def sway(self, sensor, count, width, change=None):
        """The person moved to and fro by `width` pixels before the empty room, which may change, and the truths."""
        shown, truths = [], []
        for number in range(count):
            last = len(self.faces) - 1
            k = abs((number + last) % (2 * last) - last)
            shift = 3 * round(width * np.sin(2 * np.pi * number / PERIOD) / 3)  # three pixels are two samples
            own = np.where(self.alphas[k][..., None] > 0.99, self.video[k], self.own[k]).astype(np.float32)
            alpha, own = moved(self.alphas[k], shift), moved(own, shift)
            depth, hit = (moved(x[k], shift * 2 // 3) for x in (self.depth, self.hit))
            is_room = (depth == 0) | np.isin(hit % 16, ROOM)
            metres = np.where(is_room, self.metres, depth * np.float32(0.001))
            kind = np.where(is_room, self.kind, hit)
            face, room = (self.faces[k][0] + shift, *self.faces[k][1:]), self.picture
            if change == "a television":
                left, top = int(self.faces[0][0]) - 190, int(self.faces[0][1]) - 60
                room = room.copy()
                room[max(top, 0):top + 140, max(left, 0):left + 150] = np.random.default_rng(number).uniform(20, 235, 3)
            picture = alpha[..., None] * own + (1 - alpha[..., None]) * room
            if change in CHANGES and number >= CHANGE:
                columns, light = CHANGES[change]
                picture, alpha = shifted(picture * light(number - CHANGE + 1), columns), shifted(alpha, columns)
                metres, kind = (moved(x, round(columns * 2 / 3), cv2.BORDER_REFLECT) for x in (metres, kind))
                face = (face[0] + columns, *face[1:])
            shown.append(self.frame(sensor, number, np.clip(picture, 0, 255).astype(np.float32), metres, kind, face))
            truths.append(alpha)
        return shown, truths


def shifted(x, columns):
    """To the right, by parts of a pixel too."""
    return cv2.warpAffine(x, np.float32([[1, 0, columns], [0, 1, 0]]), x.shape[1::-1], borderMode=cv2.BORDER_REFLECT)


def moved(x, columns, border=cv2.BORDER_CONSTANT):
    """To the right by whole pixels; 0 comes in."""
    turn = np.float32([[1, 0, columns], [0, 1, 0]])
    return cv2.warpAffine(x, turn, x.shape[1::-1], flags=cv2.INTER_NEAREST, borderMode=border)


def from_elsewhere(x, interpolation):
    """As another camera sees it: turned by four degrees, nearer, and aside."""
    w, h = x.shape[1::-1]
    turn = cv2.getRotationMatrix2D((w / 2, h / 2), 4, 1.12) + np.float32([[0, 0, 0.094 * w], [0, 0, 0.037 * h]])
    return cv2.warpAffine(x, turn, (w, h), flags=interpolation, borderMode=cv2.BORDER_REFLECT)


def filled(total, weight, least):
    """Means; where there is too little weight, of what is around, coarse to fine."""
    known, (h, w) = (weight > least)[..., None], weight.shape
    mean = np.where(known, total / np.maximum(weight, 1e-9)[..., None], 0)
    if known.all() or min(h, w) < 4:
        return np.where(known, mean, mean.sum((0, 1)) / max(known.sum(), 1))
    # In the mean of a cell what is not known is 0, and its share of the weight too.
    share = known[..., 0].astype(np.float64)
    small = [cv2.resize(x, (w // 2, h // 2), interpolation=cv2.INTER_AREA) for x in (mean, share)]
    rest = filled(small[0].reshape(h // 2, w // 2, -1), small[1], 0.01)
    return np.where(known, mean, cv2.resize(rest, (w, h)).reshape(mean.shape))
