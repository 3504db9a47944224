#!/usr/bin/python3
"""Unpacks a phone's portrait photo into a picture and a depth map, and prints the launch line that cuts the person out.

    pipelines/portrait.py PHOTO [FOLDER]

It writes color.png and depth.png to FOLDER, or the present one. The depth map keeps the counts of the file; the line says what
they mean. PHOTO is an iPhone's HEIC or JPEG with disparity or depth, or an Android phone's JPEG with GDepth or Dynamic Depth.

Needs Pillow, and for HEIC pillow-heif: pip install pillow-heif.
"""
import base64
import io
import math
import pathlib
import shlex
import sys
import xml.etree.ElementTree

try:
    from PIL import Image, ImageOps
except ImportError as error:
    sys.exit(f"{sys.argv[0]}: {error}\napt-get install python3-pil, or pip install pillow-heif, which brings it")

APPLE = "{http://ns.apple.com/pixeldatainfo/1.0/}"
GDEPTH = "{http://ns.google.com/photos/1.0/depthmap/}"
DYNAMIC = "{http://ns.google.com/photos/dd/1.0/depthmap/}"
ITEM = "{http://ns.google.com/photos/dd/1.0/item/}"
XMP = b"http://ns.adobe.com/xap/1.0/\0"
# XMP that is longer than a segment: a digest of 32 bytes, the full length and the offset of 4 come before each part.
EXTENDED = b"http://ns.adobe.com/xmp/extension/\0"


class Unusable(Exception):
    """The file holds no depth map that this program knows how to read."""


def xmp(image):
    """The XMP properties of a JPEG: names and texts, a dictionary for each XML element."""
    segments = [data for name, data in getattr(image, "applist", []) if name == "APP1"]
    parts = [data.removeprefix(EXTENDED)[36:] for data in segments if data.startswith(EXTENDED)]
    texts = [data.removeprefix(XMP) for data in segments if data.startswith(XMP)]
    texts.append(b"".join(part[4:] for part in sorted(parts, key=lambda part: part[:4])))
    found = []
    for text in texts:
        if text and b"<!DOCTYPE" not in text:
            for element in xml.etree.ElementTree.fromstring(text).iter():
                # A property is an attribute, or an element with a text.
                found.append({**element.attrib, **{child.tag: (child.text or "").strip() for child in element}})
    return found


def numbers(properties, *names):
    """Properties as finite numbers."""
    values = [float(properties.get(name) or "nan") for name in names]
    if not all(map(math.isfinite, values)):
        raise Unusable(f"its depth map lacks one of {', '.join(name.rpartition('}')[2] for name in names)}")
    return values


def read(picture, kind, first, last):
    """A depth map of 8 or 16 bits, and the settings by which 0 is `first` and the largest count `last`, in metres or 1/metres."""
    if first == last or min(first, last) < 0:
        raise Unusable(f"its depth map goes from {first:g} to {last:g}")
    deep = picture.mode.startswith("I")
    unit = (last - first) / (65535 if deep else 255)
    settings = {"depth-kind": kind, "depth-unit": f"{unit:.9g}", "depth-bias": f"{first:.9g}", "depth-invalid": "-1"}
    return picture if deep else picture.convert("L"), settings


def google(properties, space, data):
    """https://developers.google.com/depthmap-metadata/encoding: 0 is the nearest in both formats."""
    unit = 0.001 if properties.get(space + "Units") == "mm" else 1
    near, far = (unit * value for value in numbers(properties, space + "Near", space + "Far"))
    picture = Image.open(io.BytesIO(data))
    if properties.get(space + "Format") == "RangeLinear":
        return read(picture, "metric", near, far)
    return read(picture, "disparity", 1 / near, 1 / far)


def from_jpeg(image, file):
    """The depth map of a JPEG, and the settings for it."""
    properties = xmp(image)
    items = [item for item in properties if ITEM + "Length" in item]
    for found in properties:
        if GDEPTH + "Near" in found:
            return google(found, GDEPTH, base64.b64decode("".join(other.get(GDEPTH + "Data", "") for other in properties)))
        if DYNAMIC + "Near" in found:
            # The pictures lie behind one another at the end of the file.
            end = len(file)
            for item in reversed(items):
                start = end - int(item[ITEM + "Length"])
                if item.get(ITEM + "DataURI") == found.get(DYNAMIC + "DepthURI"):
                    return google(found, DYNAMIC, file[max(start, 0):end])
                end = start
    for entry in getattr(image, "mpinfo", {}).get(0xB002, [])[1:]:
        start = file.index(b"MPF\0") + 4 + entry["DataOffset"]
        picture = Image.open(io.BytesIO(file[start:start + entry["Size"]]))
        for found in xmp(picture):
            kind = {"disparity": "disparity", "depth": "metric"}.get(found.get(APPLE + "AuxiliaryImageType"))
            if kind:
                return read(picture, kind, *numbers(found, APPLE + "FloatMinValue", APPLE + "FloatMaxValue"))
    raise Unusable("it has no depth map")


def from_heif(image):
    """The depth map of a HEIC, and the settings for it."""
    for depth in image.info.get("depth_images", []):
        about = depth.info.get("metadata") or {}
        if about.get("representation_type") == 1:  # uniform disparity
            return read(depth.to_pillow(), "disparity", *numbers(about, "d_min", "d_max"))
        if about.get("representation_type") == 0:  # uniform 1 / Z
            return read(depth.to_pillow(), "disparity", *(1 / value for value in numbers(about, "z_far", "z_near")))
        return depth.to_pillow(), {"depth-kind": "relative"}
    raise Unusable("it has no depth map")


def unpack(photo, folder):
    """Writes the two pictures, and gives the launch line."""
    file = photo.read_bytes()
    if file[4:8] == b"ftyp":
        try:
            import pillow_heif
        except ImportError as error:
            sys.exit(f"{sys.argv[0]}: {error}\npip install pillow-heif")
        pillow_heif.register_heif_opener()
    color = Image.open(io.BytesIO(file))
    depth, settings = from_jpeg(color, file) if color.format in ("JPEG", "MPO") else from_heif(color)
    exif = color.getexif()
    focal = exif.get_ifd(0x8769).get(0xA405)
    if focal:
        # That of a frame with a diagonal of 43.27 mm that sees as much.
        longer = 43.27 * max(color.size) / math.hypot(*color.size)
        settings["depth-fov"] = f"{2 * math.degrees(math.atan(longer / 2 / float(focal))):.1f}"
    depth.getexif()[0x0112] = exif.get(0x0112, 1)
    ImageOps.exif_transpose(color).convert("RGB").save(folder / "color.png")
    ImageOps.exif_transpose(depth).save(folder / "depth.png")
    color, depth, composite = (shlex.quote(f"location={folder / name}.png") for name in ("color", "depth", "composite"))
    words = " ".join(f"{name}={value}" for name, value in settings.items())
    return (f"gst-launch-1.0 filesrc {color} ! pngdec ! depthmatte name=matte {words} background-color=0xff204060 "
            f"! pngenc ! filesink {composite} filesrc {depth} ! pngdec ! matte.depth")


if __name__ == "__main__":
    if sys.argv[1:] in (["-h"], ["--help"]):
        sys.exit(print(__doc__))
    if len(sys.argv) not in (2, 3):
        sys.exit(f"usage: {sys.argv[0]} PHOTO [FOLDER]")
    try:
        print(unpack(pathlib.Path(sys.argv[1]), pathlib.Path((sys.argv + ["."])[2])))
    except (Unusable, OSError, ValueError, ArithmeticError, SyntaxError, Image.DecompressionBombError) as problem:
        sys.exit(f"{sys.argv[0]}: {sys.argv[1]}: {problem}")
