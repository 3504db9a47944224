#!/usr/bin/env python3
"""Draws what `depthbench sweep --json FIGURES` measured: time against pixels, and time against blur radius.

    pip install matplotlib
    plot_speed.py FIGURES.json PICTURE.svg

The ending of the picture's name chooses its format: svg, png or pdf.
"""
import json
import math
import sys
from statistics import median

if __name__ == "__main__" and {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__.strip())
    sys.exit()

try:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
except ImportError as error:
    sys.exit(f"plot_speed.py: {error}; pip install matplotlib")

WORKS = {
    "in-place": "element, in place",
    "copied": "element, frame copied first",
    "kernels": "kernels alone",
    "render": "render alone",
    "blend": "blend alone",
}
SETTINGS = "size format depth sigma gamma upscale method detail background scene threads".split()


def draw(axes, figures, varied, abscissa):
    """One curve for each work, from the figures that differ from the usual case in the varied settings alone."""
    usual = figures[0]
    same = [name for name in SETTINGS if name not in varied]
    figures = [figure for figure in figures if all(figure[name] == usual[name] for name in same)]
    figures.sort(key=abscissa)
    for work, name in WORKS.items():
        mine = [figure for figure in figures if figure["work"] == work]
        if len(mine) > 1:
            axes.plot([abscissa(figure) for figure in mine], [median(figure["ms"]) for figure in mine], "o-", label=name)
    mine = [figure for figure in figures if figure["work"] == usual["work"]]
    axes.plot(
        [abscissa(figure) for figure in mine], [median(figure["memcpy_ms"]) for figure in mine], "o--", color="gray",
        label="memcpy of the frame")
    axes.set(ylabel="milliseconds for a frame")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.grid(color="#ddd")
    axes.legend()


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: plot_speed.py FIGURES.json PICTURE.svg")
    with open(sys.argv[1], encoding="utf-8") as file:
        figures = [json.loads(line) for line in file]
    if not figures:
        sys.exit(f"plot_speed.py: {sys.argv[1]} has no figures; depthbench sweep makes some")
    # A sweep begins with the usual case, from which the others depart.
    usual = figures[0]
    case = "{format}, depth {depth}, {upscale}, {background}, {scene}".format(**usual)
    canvas, (left, right) = pyplot.subplots(1, 2, figsize=(12.4, 5.2), layout="constrained")
    draw(left, figures, ("size",), lambda figure: math.prod(map(int, figure["size"].split("x"))) / 1e6)
    left.set(title=f"{case}, sigma {usual['sigma']}", xlabel="megapixels of video")
    draw(right, figures, ("sigma",), lambda figure: float(figure["sigma"]))
    right.set(title=f"{case}, {usual['size']}", xlabel="blur radius (depth pixels)")
    for axes in (left, right):
        axes.title.set_fontsize(10)
    canvas.savefig(sys.argv[2])


if __name__ == "__main__":
    main()
