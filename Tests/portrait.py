#!/usr/bin/python3
"""Tests pipelines/portrait.py: a rendered person is packed as phones do, unpacked, and cut out by the printed line.

    Tests/portrait.py

Needs pillow-heif, which it installs under .build; where that cannot be had it is skipped.
"""
import base64
import io
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
VENV = ROOT / ".build/portrait"
if sys.argv[1:] in (["-h"], ["--help"]):
    sys.exit(print(__doc__))
if sys.prefix != str(VENV):
    make = f"'{VENV}/bin/python' -c 'import numpy, pillow_heif' 2>&- || python3 -m venv '{VENV}' && '{VENV}/bin/pip' install -q numpy pillow-heif"
    if subprocess.run(make, shell=True, check=False).returncode:
        sys.exit(print(f"{sys.argv[0]}: skipped, pillow-heif cannot be had"))
    os.execv(VENV / "bin/python", [str(VENV / "bin/python"), "-W", "ignore", *sys.argv])
sys.path.insert(0, str(ROOT / "pipelines"))
sys.dont_write_bytecode = True
import numpy as np  # noqa: E402
import pillow_heif  # noqa: E402
import portrait  # noqa: E402
from PIL import Image  # noqa: E402

pillow_heif.register_heif_opener()
color, depth, alpha = (Image.open(ROOT / f"pipelines/people/dim-{name}") for name in ("color-0.jpg", "depth-0.png", "alpha-0.png"))
alpha = np.asarray(alpha.convert("L"))
# 1/metres, of which the files say that they go from 1/8 to 4.
disparity = np.clip(1000 / np.maximum(np.asarray(depth), 1), 0.125, 4) * (np.asarray(depth) > 0)
white_is_near = Image.fromarray(np.rint((np.maximum(disparity, 0.125) - 0.125) / 3.875 * 255).astype(np.uint8))
black_is_near = Image.eval(white_is_near, lambda count: 255 - count)


def save(image, form="JPEG", **options):
    file = io.BytesIO()
    image.save(file, form, quality=95, **options)
    return file.getvalue()


def rdf(attributes="", inner=""):
    names = {"G": "google.com/photos/1.0/depthmap", "D": "google.com/photos/dd/1.0/depthmap", "I": "google.com/photos/dd/1.0/item"}
    names["A"] = "apple.com/pixeldatainfo/1.0"
    spaces = " ".join(f'xmlns:{name}="http://ns.{path}/"' for name, path in names.items())
    return f"<Description {spaces} {attributes}>{inner}</Description>".encode()


def with_segment(jpeg, at, text):
    return jpeg[:at] + b"\xff\xe1" + struct.pack(">H", 2 + len(text)) + text + jpeg[at:]


def gdepth():
    """The picture lies on its side, and the map is in an extension of the XMP, in parts that are out of order."""
    exif, side = Image.Exif(), Image.Transpose.ROTATE_90
    exif[0x0112] = 6
    jpeg = save(color.transpose(side), xmp=rdf('G:Format="RangeInverse" G:Near="250" G:Far="8000" G:Units="mm"'), exif=exif)
    whole = rdf(f'G:Data="{base64.b64encode(save(black_is_near.transpose(side), "PNG")).decode()}"')
    for start in range(0, len(whole), 5000):
        jpeg = with_segment(jpeg, 2, portrait.EXTENDED + bytes(32) + struct.pack(">II", len(whole), start) + whole[start:start + 5000])
    return jpeg


def dynamic():
    data = save(black_is_near)
    items = f'<I:Item I:Length="0"/><I:Item I:DataURI="a" I:Length="{len(data)}"/><I:Item I:DataURI="b" I:Length="5"/>'
    return save(color, xmp=rdf('D:Format="RangeInverse" D:Near="0.25" D:Far="8" D:DepthURI="a"', items)) + data + b"other"


def iphone_jpeg():
    """The map is a second picture, to whose XMP the index of the pictures has to give room."""
    jpeg = save(color, "MPO", save_all=True, append_images=[white_is_near])
    start = jpeg.index(b"\xff\xd9\xff\xd8") + 2
    about = {"AuxiliaryImageType": "disparity", "FloatMinValue": "0.125", "FloatMaxValue": "4"}
    longer = with_segment(jpeg, start + 2, portrait.XMP + rdf("", "".join(f"<A:{k}>{v}</A:{k}>" for k, v in about.items())))
    return longer.replace(*(struct.pack("<LL", 0, len(file) - start) for file in (jpeg, longer)))


def iphone_heic():
    """A transparent picture, whose alpha is then declared to be a map of disparity (H.265, F.14)."""
    both = color.copy()
    both.putalpha(white_is_near.resize(color.size, Image.Resampling.NEAREST))
    data = bytearray(save(both, "HEIF"))
    # Which values there are, the kind, the view, and 2^-3 and 2^2: sign, exponent, length of the mantissa, mantissa.
    bits = "0011" + "010" + "1" + "".join(f"0{exponent + 31:07b}01010" + "0" * 11 for exponent in (-3, 2))
    message = b"\x4e\x01\xb1" + bytes([len(bits) // 8]) + int(bits, 2).to_bytes(len(bits) // 8, "big")
    old, new = (b"urn:mpeg:hevc:2015:auxid:%d\0" % kind for kind in (1, 2))
    new += struct.pack(">II", 4 + len(message), len(message)) + message
    # The boxes around it grow, and the two pictures behind them move.
    places = [data.index(box) - 4 for box in (b"meta", b"iprp", b"ipco", b"auxC")]
    for place in places + [data.index(b"iloc") + at for at in (16, 34)]:
        struct.pack_into(">I", data, place, struct.unpack_from(">I", data, place)[0] + len(new) - len(old))
    return bytes(data).replace(old, new)


environment = {**os.environ, "GST_PLUGIN_PATH": str(ROOT / ".build/release"), "SWIFT_BACKTRACE": "enable=no"}
chance = random.Random(1)
with tempfile.TemporaryDirectory(suffix=' a"b$') as folder:
    photo = pathlib.Path(folder) / "photo"
    for make in (iphone_heic, iphone_jpeg, gdepth, dynamic):
        photo.write_bytes(make())
        line = subprocess.check_output([sys.executable, ROOT / "pipelines/portrait.py", photo, folder], text=True)
        words = dict(word.split("=") for word in line.split() if word.startswith("depth-"))
        found = np.asarray(Image.open(photo.parent / "depth.png")) * float(words["depth-unit"]) + float(words["depth-bias"])
        found = found[::found.shape[0] // disparity.shape[0], ::found.shape[1] // disparity.shape[1]]
        off = np.median(np.abs(found - disparity))
        line = line.replace("gst-launch-1.0", "timeout -s KILL 60 gst-launch-1.0 -q --no-fault")
        subprocess.run(line, shell=True, check=True, env=environment)
        shown = np.asarray(Image.open(photo.parent / "composite.png").convert("RGB")).astype(int) - (0x20, 0x40, 0x60)
        shown = np.abs(shown).max(axis=2) > 24
        person, room = shown[alpha > 250].mean(), shown[alpha < 5].mean()
        assert words["depth-kind"] == "disparity" and off < 0.01 and person > 0.97 and room < 0.01, (make, words, off, person, room)
        # What is cut off or wrong is a problem with a word, or another picture.
        whole = photo.read_bytes()
        for _ in range(20):
            broken = bytearray(whole[:chance.randrange(len(whole))] if chance.random() < 0.3 else whole)
            for _ in range(chance.choice((1, 50))):
                broken[chance.randrange(min(len(broken), 4000))] = chance.randrange(256)
            photo.write_bytes(broken)
            try:
                portrait.unpack(photo, photo.parent)
            except (portrait.Unusable, OSError, ValueError, ArithmeticError, SyntaxError):
                pass
    photo.write_bytes(save(color))
    answer = subprocess.run([sys.executable, ROOT / "pipelines/portrait.py", photo], check=False, capture_output=True, text=True)
    assert answer.returncode == 1 and answer.stderr.endswith(": it has no depth map\n"), answer
print(f"{sys.argv[0]}: passed")
