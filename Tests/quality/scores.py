"""Scores of an alpha matte. Every function is pure: arrays in, a number out.

Alpha and truth are float arrays in 0...1 of one shape, (rows, columns) for a picture and (frames, rows, columns) for a
sequence. `judged` is a mask of the pixels that count; all do without it. NaN where there is nothing to judge, never a
perfect score.

Sources: Rhemann et al., A Perceptually Motivated Online Benchmark for Image Matting, CVPR 2009 (SAD, MSE, gradient,
connectivity); Erofeev et al., Perceptually Motivated Benchmark for Video Matting, BMVC 2015 (dtSSD); Martin, Fowlkes,
Malik, Learning to Detect Natural Image Boundaries, PAMI 2004 (F of a boundary at a tolerance); Lin et al., Robust
High-Resolution Video Matting with Temporal Guidance, WACV 2022 (the powers of ten).
"""
import cv2
import numpy as np

NAN = float("nan")


def sad(alpha, truth, judged=None):
    """Sum of absolute differences / 1000. Unit: thousands of whole pixels."""
    return _judged(np.abs(alpha - truth), judged, np.sum) / 1000


def mad(alpha, truth, judged=None):
    """Mean absolute difference x 1000."""
    return _judged(np.abs(alpha - truth), judged, np.mean) * 1000


def mse(alpha, truth, judged=None):
    """Mean squared difference x 1000."""
    return _judged((alpha - truth) ** 2, judged, np.mean) * 1000


def gradient(alpha, truth, judged=None, sigma=1.4):
    """Sum of squared differences of the gradient's length / 1000.

    The gradients are those of a Gaussian, sigma 1.4 pixels as Rhemann et al. have it. Unit: 1 / 1000 per pixel squared.
    """
    difference = _gradient_length(alpha, sigma) - _gradient_length(truth, sigma)
    return _judged(difference ** 2, judged, np.sum) / 1000


def connectivity(alpha, truth, judged=None, step=0.1, tolerance=0.15):
    """Sum of the differences in how firmly a pixel hangs on the main part / 1000. Unit: thousands of whole pixels.

    The main part at a threshold is the largest 4-connected set of pixels at or above it in both mattes. A pixel's level l is
    the highest threshold at which it belongs to the main part; its connectedness is 1 - (alpha - l) where that
    difference is `tolerance` or more, and 1 elsewhere. Rhemann et al. with p = 1 and the distance in alpha, not in pixels.
    """
    level = np.full(truth.shape, -1.0)
    thresholds = np.arange(step, 1 + step / 2, step)
    for lower, threshold in zip(thresholds - step, thresholds):
        main = _largest_part((alpha >= threshold - 1e-9) & (truth >= threshold - 1e-9))
        level[(level < 0) & ~main] = lower
    level[level < 0] = 1
    loose = [np.where(x - level >= tolerance, x - level, 0) for x in (alpha, truth)]
    return _judged(np.abs(loose[0] - loose[1]), judged, np.sum) / 1000


def outline_f(alpha, truth, tolerance, judged=None):
    """Harmonic mean of precision and recall of the outline (alpha = 1/2), 0...1, at a tolerance in pixels.

    Precision: share of the matte's outline pixels with a true one within the tolerance; recall: the other way round.
    """
    ours, theirs = _outline(alpha), _outline(truth)
    near_theirs, near_ours = distance_to(theirs) <= tolerance, distance_to(ours) <= tolerance
    if judged is not None:
        ours, theirs = ours & judged, theirs & judged
    if not theirs.any():
        return NAN
    if not ours.any():
        return 0.0
    precision, recall = near_theirs[ours].mean(), near_ours[theirs].mean()
    return float(2 * precision * recall / (precision + recall)) if precision + recall else 0.0


def dtssd(alphas, truths):
    """Root mean square error of the change from frame to frame x 100; the mean over the steps (Erofeev et al.)."""
    if len(alphas) < 2:
        return NAN
    error = np.diff(alphas, axis=0) - np.diff(truths, axis=0)
    return float(np.sqrt((error ** 2).mean(axis=(1, 2))).mean() * 100)


def flicker(alphas, settled=4):
    """Root mean square change of alpha from frame to frame x 100, in a scene at rest, after the first `settled` frames."""
    if len(alphas) < settled + 2:
        return NAN
    change = np.diff(alphas[settled:], axis=0)
    return float(np.sqrt((change ** 2).mean()) * 100)


def lag(alphas, truths, longest=3.0, step=0.1):
    """Frames by which the matte trails the truth: the shift s that minimises sum (a(t) - g(t - s))^2.

    Only pixels whose true alpha moves count, and only frames for which every shift has a truth; g is linear between
    frames. Positive is late. Unit: frames.
    """
    margin = int(np.ceil(longest))
    if len(alphas) < 2 * margin + 1:
        return NAN
    moving = np.ptp(truths, axis=0) > 0.02
    if not moving.any():
        return NAN
    ours, theirs = alphas[:, moving], truths[:, moving]
    judged = np.arange(margin, len(ours) - margin)
    if np.ptp(theirs[judged], axis=0).max() <= 0.02:
        return NAN
    shifts = np.round(np.arange(-longest, longest + step / 2, step), 6)
    errors = []
    for shift in shifts:
        at = judged - shift
        before = np.clip(np.floor(at).astype(int), 0, len(theirs) - 2)
        share = (at - before)[:, None]
        shifted = theirs[before] * (1 - share) + theirs[before + 1] * share
        errors.append(float(((ours[judged] - shifted) ** 2).sum()))
    return float(shifts[int(np.argmin(errors))])


def room_leak(alpha, truth, judged=None, distance=3, visible=0.1):
    """Percent of the background, farther than `distance` pixels from any true alpha, with alpha above `visible`."""
    room = distance_to(truth > 0) > distance
    if judged is not None:
        room &= judged
    return float((alpha[room] > visible).mean() * 100) if room.any() else NAN


def eaten(alpha, truth, judged=None):
    """Percent of the person's inside (true alpha above 0.9) with alpha below a half."""
    inside = truth > 0.9
    if judged is not None:
        inside &= judged
    return float((alpha[inside] < 0.5).mean() * 100) if inside.any() else NAN


def kept(alpha, truth, where):
    """Share of the true alpha within a mask that the matte keeps, 0...1: sum min(a, g) / sum g.

    Hair kept is this with the mask `unmeasured_person`.
    """
    total = float(truth[where].sum())
    return float(np.minimum(alpha, truth)[where].sum() / total) if total > 0 else NAN


def mean_alpha(alpha, where):
    """Mean alpha within a mask, 0...1. Alpha in the shadow is this with the mask `shadow_band`."""
    return float(alpha[where].mean()) if where.any() else NAN


def unmeasured_person(depth, truth):
    """Mask of hair without depth: the person's pixels (true alpha above 1/2) in runs of holes 3x3 samples and larger."""
    return _enlarged(_wide_holes(depth), truth.shape) & (truth > 0.5)


def shadow_band(depth, truth, reach=0.06):
    """Mask of the emitter's shadow: unmeasured room (true alpha 0) in holes of 3x3 samples and more, beside the person.

    `reach` is the band's width as a share of the picture's; the first 2 pixels beside the person do not count.
    """
    away = distance_to(truth > 0)
    return _enlarged(_wide_holes(depth), truth.shape) & (away > 2) & (away <= reach * truth.shape[1])


def polygon(corners, shape):
    """Mask of the pixels at least half covered by a polygon; corners (x, y) in pixels, 0 = the picture's edge."""
    k = 8
    large = np.zeros((shape[0] * k, shape[1] * k), np.uint8)
    cv2.fillPoly(large, [np.rint(np.array(corners, float) * k).astype(np.int32)], 255)
    return cv2.resize(large, shape[::-1], interpolation=cv2.INTER_AREA) >= 128


def hand_window(shape, window, unsure):
    """Mask of a window, less the boxes (x, y, width, height) that are unsure: where a hand outline judges an outline."""
    judged = np.zeros(shape, bool)
    x, y, w, h = window
    judged[y:y + h, x:x + w] = True
    for x, y, w, h in unsure:
        judged[y:y + h, x:x + w] = False
    return judged


def hand_judged(mask, window, unsure):
    """Mask of where a hand outline, true to +-1 pixel, judges alpha: `hand_window` less the pixels beside the outline."""
    square, bytes = np.ones((3, 3), np.uint8), mask.astype(np.uint8)
    return hand_window(mask.shape, window, unsure) & (cv2.dilate(bytes, square) == cv2.erode(bytes, square))


def distance_to(mask):
    """Pixels to the nearest True, Euclidean; a million where there is none."""
    if not mask.any():
        return np.full(mask.shape, 1e6, np.float32)
    return cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)


def _judged(values, judged, statistic):
    values = values if judged is None else values[judged]
    return float(statistic(values)) if values.size else NAN


def _gradient_length(x, sigma):
    """Derivatives of a Gaussian along both axes, each filter of Euclidean length 1, edges replicated."""
    half = int(np.ceil(sigma * np.sqrt(-2 * np.log(np.sqrt(2 * np.pi) * sigma * 0.01))))
    t = np.arange(-half, half + 1)
    bell = np.exp(-t ** 2 / (2 * sigma ** 2)) / (sigma * np.sqrt(2 * np.pi))
    slope = -t * bell / sigma ** 2
    scale = 1 / np.sqrt((bell ** 2).sum() * (slope ** 2).sum())
    x = np.ascontiguousarray(x, np.float64)
    across = cv2.sepFilter2D(x, -1, slope, bell, borderType=cv2.BORDER_REPLICATE) * scale
    down = cv2.sepFilter2D(x, -1, bell, slope, borderType=cv2.BORDER_REPLICATE) * scale
    return np.hypot(across, down)


def _largest_part(mask):
    count, labels, statistics, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
    if count < 2:
        return np.zeros(mask.shape, bool)
    return labels == 1 + int(statistics[1:, cv2.CC_STAT_AREA].argmax())


def _outline(alpha):
    """The person's pixels (alpha at least 1/2) with a 4-neighbour that is not; beyond the picture is no edge."""
    mask = (alpha >= 0.5).astype(np.uint8)
    cross = cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))
    return (mask > 0) & (cv2.erode(mask, cross) == 0)


def _wide_holes(depth):
    return cv2.morphologyEx((depth <= 0).astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)) > 0


def _enlarged(mask, shape):
    return cv2.resize(mask.astype(np.uint8), shape[::-1], interpolation=cv2.INTER_NEAREST) > 0
