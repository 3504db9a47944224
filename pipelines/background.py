#!/usr/bin/env python3
"""Draws pipelines/background.jpg: ridges in the haze of an evening.

    ./background.py 1280 720 > background.ppm
    gst-launch-1.0 filesrc location=background.ppm ! pnmdec ! videoconvert ! jpegenc quality=75 ! \
        filesink location=background.jpg

Every ridge is a sum of sines; the haze mixes the far ones into the sky. Standard library only.
"""
import math
import random
import sys

if __name__ == "__main__" and {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__.strip())
    sys.exit()

SKY = [(0.00, (38, 62, 104)), (0.30, (92, 122, 158)), (0.52, (214, 176, 158)), (0.64, (250, 214, 170))]
NEAR = (18, 34, 46)
HAZE = (222, 176, 172)
RIDGES = 6


def mix(a, b, t):
    return tuple(x + (y - x) * t for x, y in zip(a, b))


def smooth(t):
    t = min(max(t, 0.0), 1.0)
    return t * t * (3 - 2 * t)


def sky(y):
    for (y0, c0), (y1, c1) in zip(SKY, SKY[1:]):
        if y <= y1:
            return mix(c0, c1, smooth((y - y0) / (y1 - y0)))
    return SKY[-1][1]


def ridge(chance, level):
    """The height of one ridge at x, as a share of the picture from the top."""
    waves = [(1.3 * 1.9 ** n, chance.uniform(0, 2 * math.pi), 0.55 ** n) for n in range(8)]
    base, height = 0.50 + 0.085 * level, 0.075 - 0.004 * level

    def at(x):
        return base + height * sum(a * math.sin(f * (1 + 0.25 * level) * x + p) for f, p, a in waves)

    return at


def main():
    width, height = (int(value) for value in sys.argv[1:3])
    chance = random.Random(7)
    ridges = [ridge(chance, level) for level in range(RIDGES)]
    aspect = width / height
    out = bytearray()
    tops = [[r(x / height) for r in ridges] for x in range(width)]
    for row in range(height):
        y = row / height
        for column in range(width):
            x = column / height
            color = sky(y)
            distance = math.hypot(x - 0.30 * aspect, y - 0.40)
            color = mix(color, (255, 232, 196), 0.75 * math.exp(-(distance / 0.16) ** 2))
            color = mix(color, (255, 246, 226), smooth((0.045 - distance) / 0.004))
            for level in range(RIDGES):
                depth = y - tops[column][level]
                if depth >= 0:
                    far = 1 - level / (RIDGES - 1)
                    tone = mix(mix(NEAR, HAZE, 0.78 * far), HAZE, min(0.5, depth * 2.2) * (0.3 + 0.5 * far))
                    color = mix(color, tone, smooth(depth * height / 1.5))
            out += bytes(min(max(int(c + 0.5), 0), 255) for c in color)
    sys.stdout.buffer.write(b"P6 %d %d 255\n" % (width, height) + out)


main()
