#!/usr/bin/python3
"""Writes a recording as Orbbec's SDK does, of 20 frames, without a camera.

    record_orbbec.py FILE LATE

Frame n, from 1 on, has n in each byte of its color, and 1000 + 4 n in each sample of its depth, whose unit the SDK takes for a
quarter of a millimetre. Depth stands LATE frames behind the video of its time. The SDK knows messages by their checksums alone; the
fields are those of its headers.
"""
import struct
import sys

if sys.argv[1:] in (["-h"], ["--help"]):
    sys.exit(print(__doc__))

from rosbags.rosbag1 import Writer

COLOR, DEPTH, FRAMES, START = 2, 3, 20, 5_000_000
SUMS = {
    "custom_msg/msg/OBDeviceInfo": "afef5328bb4abebd1a309e1ea8b26b3a",
    "custom_msg/msg/OBStreamProfileInfo": "0123456789abcdef0123456789abcdef",
    "custom_msg/msg/OBDisparityParam": "abcdef0123456789abcdef0123456789",
    "custom_msg/msg/OBProperty": "0123456789abcdef0123456789abcdef",
    "sensor_msgs/msg/Image": "060021388200f6f0f447d0fcd9c64743",
}


def text(words):
    return struct.pack("<I", len(words)) + words.encode()


def header(time):
    return struct.pack("<III", 0, time // 1_000_000, time % 1_000_000 * 1000) + text("")


def device():
    texts = [text(words) for words in ("Fake", "Orbbec Fake", "MX6600", "1", "BAG1", "1.0", "1.0", "2.0", "USB3.0", "", "")]
    return header(START) + b"".join(texts[:3]) + struct.pack("<HH", 0x2BC5, 0x0670) + b"".join(texts[3:9]) + struct.pack("<HB", 1, 0) + b"".join(texts[9:])


def profile(stream, pixels, width, height, focal, distortion, model):
    optics = (focal, focal, (width - 1) / 2, (height - 1) / 2)
    turn, shift = (1, 0, 0, 0, 1, 0, 0, 0, 1), (-25, 0, 0)
    return header(START) + struct.pack("<BB9f3f3H4f8fB", stream, pixels, *turn, *shift, width, height, 30, *optics, *distortion, model)


def setting(number, value):
    return header(START) + struct.pack("<II", number, len(value)) + value + struct.pack("<I", len(value))


def image(number, time, width, height, encoding, data):
    size = struct.pack("<II", height, width) + text(encoding) + struct.pack("<BI", 0, len(data) // height)
    return header(time) + size + struct.pack("<I", len(data)) + data + struct.pack("<f4QII", 0, number, time, time, time, 0, 0) + bytes(8)


def main(path, late):
    with Writer(path) as bag:
        def topic(name, kind):
            return bag.add_connection(name, kind, msgdef="", md5sum=SUMS[kind])

        def write(connection, time, message):
            bag.write(connection, time * 1000, message)

        write(topic("/cam/deviceInfo", "custom_msg/msg/OBDeviceInfo"), START, device())
        lens = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.01, 0.02)
        write(topic("/cam/streamProfileType_2", "custom_msg/msg/OBStreamProfileInfo"), START, profile(COLOR, 22, 640, 480, 600, lens, 4))
        write(topic("/cam/streamProfileType_3", "custom_msg/msg/OBStreamProfileInfo"), START, profile(DEPTH, 8, 640, 400, 500, (0,) * 8, 0))
        stereo = struct.pack("<ddfdBffBfiiB", 0, 0, 50, 500, 12, 1, 0, 0, 0, 0, 8, 1)
        write(topic("/cam/disparityParam", "custom_msg/msg/OBDisparityParam"), START, header(START) + stereo)
        settings = topic("/cam/property", "custom_msg/msg/OBProperty")
        # The version of the format, and that the camera makes depth itself.
        for number, value in ((0, struct.pack("<d", 2)), (85, struct.pack("<i", 1))):
            write(settings, START, setting(number, value))
        color = topic("/cam/sensor_2/frameType_2", "sensor_msgs/msg/Image")
        depth = topic("/cam/sensor_3/frameType_3", "sensor_msgs/msg/Image")
        times = [START + number * 33_333 for number in range(FRAMES + late + 1)]
        for number in range(1, FRAMES + late + 1):
            if number <= FRAMES:
                write(color, times[number], image(number, times[number], 640, 480, "rgb8", bytes([number]) * (640 * 480 * 3)))
            if number > late:
                old = number - late
                samples = struct.pack("<H", 1000 + 4 * old) * (640 * 400)
                write(depth, times[number], image(old, times[old], 640, 400, "mono16", samples))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
