"""Mattes that others make of the same frames, each of them alone: GrabCut and PyMatting's closed form, seeded by the depth."""
import cv2
import numpy as np

try:
    import pymatting
except ImportError:
    pymatting = None

# Of 640 pixels of width, the best of those tried on the frames of pipelines/people: what is so far inside the depth's mask
# is surely the person, and what is so far outside surely is not.
INSIDE, OUTSIDE = 2, 20


def sure(depth, cutoff, size, within=True):
    """(person, room, mask) at the video's size, of what is measured before the cutoff, and within a mask if there is one."""
    mask = cv2.resize(((depth > 0) & (depth <= cutoff)).astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)
    mask *= within
    mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    inside, outside = (disc(round(radius * size[0] / 640)) for radius in (INSIDE, OUTSIDE))
    return cv2.erode(mask, inside) > 0, cv2.dilate(mask, outside) == 0, mask > 0


def disc(radius):
    return cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1))


def grabcut(video, depth, cutoff):
    """Rother et al., "GrabCut" (SIGGRAPH 2004), five rounds; it cuts whole pixels, whose edge is softened a little."""
    person, room, mask = sure(depth, cutoff, video.shape[1::-1])
    if not person.any() or not room.any():
        return mask.astype(np.float32)
    labels = np.where(person, cv2.GC_FGD, np.where(room, cv2.GC_BGD, np.where(mask, cv2.GC_PR_FGD, cv2.GC_PR_BGD)))
    labels = labels.astype(np.uint8)
    cv2.setRNGSeed(0)
    cv2.grabCut(video, labels, None, np.zeros((1, 65)), np.zeros((1, 65)), 5, cv2.GC_INIT_WITH_MASK)
    cut = (labels == cv2.GC_FGD) | (labels == cv2.GC_PR_FGD)
    return cv2.GaussianBlur(cut.astype(np.float32), (0, 0), 0.8)


def closed_form(video, depth, cutoff, within=True):
    """Levin et al., "A closed-form solution to natural image matting" (CVPR 2006), on the depth's trimap."""
    person, room, mask = sure(depth, cutoff, video.shape[1::-1], within)
    if not person.any() or not room.any():
        return mask.astype(np.float32)
    return pymatting.estimate_alpha_cf(video[..., ::-1] / 255, np.where(person, 1, np.where(room, 0, 0.5)))


def closed_form_told(video, depth, cutoff, truth):
    """The same, told which of the samples before the cutoff are the person's: what a frame by itself can give."""
    return closed_form(video, depth, cutoff, truth > 0)
