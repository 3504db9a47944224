"""Writes a RealSense recording of a software device: 300 exposures with jitter, some of them lost.

    record_realsense.py FILE.db3

Prints the timestamp of each exposure that was recorded, in milliseconds. Frame n has n % 250 in its color and 1000 + n in its depth.
"""
import random
import sys

if __name__ == "__main__" and {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__.strip())
    sys.exit()

import numpy as np
import pyrealsense2 as rs

WIDTH, HEIGHT, FRAMES = 64, 48, 300


def stream(kind, uid, form, bpp):
    video = rs.video_stream()
    video.type, video.index, video.uid, video.width, video.height = kind, 0, uid, WIDTH, HEIGHT
    video.fps, video.bpp, video.fmt = 30, bpp, form
    optics = rs.intrinsics()
    optics.width, optics.height, optics.ppx, optics.ppy, optics.fx, optics.fy = WIDTH, HEIGHT, 31.5, 23.5, 60, 60
    optics.model, optics.coeffs = rs.distortion.none, [0, 0, 0, 0, 0]
    video.intrinsics = optics
    return video


def frame(pixels, number, time, profile, bpp):
    software = rs.software_video_frame()
    software.pixels, software.stride, software.bpp = pixels, WIDTH * bpp, bpp
    software.timestamp, software.frame_number = time, number
    software.domain, software.profile = rs.timestamp_domain.hardware_clock, profile.as_video_stream_profile()
    return software


def main(path):
    device = rs.software_device()
    device.register_info(rs.camera_info.name, "Recorded camera")
    device.register_info(rs.camera_info.serial_number, "300")
    depth, color = device.add_sensor("Depth"), device.add_sensor("Color")
    depth_profile = depth.add_video_stream(stream(rs.stream.depth, 0, rs.format.z16, 2))
    color_profile = color.add_video_stream(stream(rs.stream.color, 1, rs.format.rgb8, 3))
    depth.add_read_only_option(rs.option.depth_units, 0.001)
    depth_profile.register_extrinsics_to(color_profile, rs.extrinsics())
    recorder = rs.recorder(path, device)
    sensors = recorder.query_sensors()
    queues = [rs.frame_queue(1) for _ in sensors]
    for sensor, profile, queue in zip(sensors, (depth_profile, color_profile), queues):
        sensor.open(profile)
        sensor.start(queue)
    jitter = random.Random(1)
    for number in range(1, FRAMES + 1):
        if jitter.random() < 0.1:
            continue
        time = 1000 + number * 1000 / 30 + jitter.uniform(-4, 4)
        depth.on_video_frame(frame(np.full((HEIGHT, WIDTH), 1000 + number, np.uint16), number, time, depth_profile, 2))
        color.on_video_frame(frame(np.full((HEIGHT, WIDTH, 3), number % 250, np.uint8), number, time, color_profile, 3))
        print(f"{number} {time:.6f}")
    for sensor in sensors:
        sensor.stop()
        sensor.close()


main(sys.argv[1])
