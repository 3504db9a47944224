"""Contact sheets: what a matte was made of, what it does to the video, and its worst place, each pixel as four."""
import cv2
import numpy as np

TILE = (480, 270)  # (width, height) at most
FLAT = (60, 200, 60)  # BGR behind the person


def sheet(stream, mattes):
    """Of a stream's last frame. `mattes`: (name, alphas) of each method.

    First row: video, depth, truth, and the person cut by the truth. Then for each matte: the matte, the person cut by it,
    and twice where it is worst: cut by the matte, cut by the truth.
    """
    last = len(stream.videos) - 1
    video, truth, judged = stream.videos[last], stream.truths[last], stream.where(last)
    rows = [[whole(video), whole(depth_colors(stream.depths[last])), whole(gray(truth)), whole(cut(video, truth))]]
    labels = [stream.name]
    for name, alphas in mattes:
        alpha = alphas[last]
        at = worst(alpha, truth, judged)
        ours, theirs = cut(video, alpha), cut(video, truth)
        rows.append([whole(gray(alpha)), whole(ours), close(ours, at), close(theirs, at)])
        labels.append(name)
    width, height = (max(tile.shape[i] for row in rows for tile in row) for i in (1, 0))
    strips = [np.hstack([padded(tile, width, height) for tile in row]) for row in rows]
    return np.vstack([labelled(strip, label) for strip, label in zip(strips, labels)])


def windows(stream, mattes, window):
    """A window of the first frame cut by the truth and by each matte, each pixel as nine."""
    x, y, w, h = window
    first = [stream.truths[0], *(alphas[0] for _, alphas in mattes)]
    pictures = [cut(stream.videos[0], alpha)[y:y + h, x:x + w] for alpha in first]
    return np.hstack([cv2.resize(p, None, fx=3, fy=3, interpolation=cv2.INTER_NEAREST) for p in pictures])


def worst(alpha, truth, judged):
    """Top left of a window of half a tile's sides, about the place with the largest sum of errors."""
    error = np.abs(alpha - truth) if judged is None else np.abs(alpha - truth) * judged
    w, h = TILE[0] // 2, TILE[1] // 2
    total = cv2.boxFilter(error.astype(np.float32), -1, (w // 3, h // 3), normalize=False)
    y, x = np.unravel_index(total.argmax(), total.shape)
    return max(0, min(x - w // 2, error.shape[1] - w)), max(0, min(y - h // 2, error.shape[0] - h))


def close(picture, at):
    x, y = at
    part = picture[y:y + TILE[1] // 2, x:x + TILE[0] // 2]
    return cv2.resize(part, None, fx=2, fy=2, interpolation=cv2.INTER_NEAREST)


def whole(picture):
    scale = min(TILE[0] / picture.shape[1], TILE[1] / picture.shape[0])
    return cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)


def cut(video, alpha):
    """The person over a flat color."""
    a = alpha[..., None]
    return np.rint(video * a + np.array(FLAT) * (1 - a)).astype(np.uint8)


def gray(alpha):
    return cv2.cvtColor(np.rint(alpha * 255).astype(np.uint8), cv2.COLOR_GRAY2BGR)


def depth_colors(depth):
    """Near is red, not measured black."""
    measured = depth > 0
    low, high = np.percentile(depth[measured], [1, 95]) if measured.any() else (0, 1)
    nearness = np.clip((high - depth) / max(high - low, 1e-6), 0, 1)
    colors = cv2.applyColorMap(np.rint(nearness * 255).astype(np.uint8), cv2.COLORMAP_JET)
    return colors * measured[..., None].astype(np.uint8)


def padded(tile, width, height):
    out = np.full((height + 4, width + 4, 3), 32, np.uint8)
    out[2:2 + tile.shape[0], 2:2 + tile.shape[1]] = tile
    return out


def labelled(row, text):
    bar = np.full((24, row.shape[1], 3), 32, np.uint8)
    cv2.putText(bar, text, (6, 17), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (255, 255, 255), 1, cv2.LINE_AA)
    return np.vstack([bar, row])
