#!/usr/bin/python3
"""Writes a recording of an Azure Kinect that does not exist, by the SDK's own library.

    record_k4a.py FOLDER FILE.mkv FORMAT SKEW     FORMAT: MJPG, NV12, YUY2, BGRA or none; SKEW: microseconds from color to depth
    record_k4a.py --register FILE                 the depth of such a recording's frame 0 as the color camera sees it: 1280x720, 16 bits

FOLDER has the libraries of the Python package pyk4a-bundle. Prints for each capture its number and the times of color and depth in
microseconds, - where there is none. Frame n has n in the luma of its color and 1000 + n in the left half of its depth, twice as much
in the right. Captures 3 and 4 are lost, 6 has no depth and 8 no color.
"""
import array
import ctypes
import glob
import json
import subprocess
import sys

if {"-h", "--help"} & set(sys.argv[1:]):
    print(__doc__.strip())
    sys.exit()

WIDTH, HEIGHT, FRAMES = 1280, 720, 12
DEPTH_WIDTH, DEPTH_HEIGHT = 320, 288  # K4A_DEPTH_MODE_NFOV_2X2BINNED
FORMATS = {"MJPG": 0, "NV12": 1, "YUY2": 2, "BGRA": 3}
# As the device stores them: focal lengths and centers as shares of the sensor's size, then k1 to k6, two zeros, p2 and p1.
DEPTH_LENS = [0.513, 0.517, 0.4928, 0.4929, 0.548, -0.021, -0.0027, 0.89, 0.086, -0.0139, 0, 0, -7.2e-5, 2.1e-5]
COLOR_LENS = [0.4998, 0.5066, 0.478, 0.6374, 0.33, -2.489, 1.4537, 0.209, -2.303, 1.375, 0, 0, -1.3e-4, -1.6e-4]
ROTATION = [0.99999923, 0.00118176, -0.00044814, -0.00113875, 0.99628061, 0.08616032, 0.00054829, -0.08615975, 0.99628121]
TRANSLATION = [-0.0320834, -0.0022054, 0.0038837]


def sample(number, column):
    return (1000 + number) * (1 if column < DEPTH_WIDTH // 2 else 2)


def calibration():
    def camera(name, purpose, lens, rotation, translation, width, height):
        return {
            "Intrinsics": {"ModelParameterCount": 14, "ModelParameters": lens,
                           "ModelType": "CALIBRATION_LensDistortionModelBrownConrady"},
            "Location": f"CALIBRATION_CameraLocation{name}", "Purpose": f"CALIBRATION_CameraPurpose{purpose}",
            "MetricRadius": 1.74, "Rt": {"Rotation": rotation, "Translation": translation}, "SensorHeight": height,
            "SensorWidth": width, "Shutter": "CALIBRATION_ShutterTypeUndefined", "ThermalAdjustmentParams": {"Params": [0] * 12}}

    def sensor(kind):
        return {"BiasTemperatureModel": [0] * 12, "BiasUncertainty": [1e-4] * 3, "Id": "CALIBRATION_InertialSensorId_LSM6DSM",
                "MixingMatrixTemperatureModel": ([1, 0, 0, 0] + [0] * 12) * 2 + [1, 0, 0, 0], "ModelTypeMask": 16,
                "Noise": [1e-3] * 6, "Rt": {"Rotation": identity, "Translation": [0] * 3}, "SecondOrderScaling": [0] * 9,
                "SensorType": f"CALIBRATION_InertialSensorType_{kind}", "TemperatureBounds": [5, 60], "TemperatureC": 0}

    identity = [1, 0, 0, 0, 1, 0, 0, 0, 1]
    return json.dumps({"CalibrationInformation": {
        "Cameras": [camera("D0", "Depth", DEPTH_LENS, identity, [0] * 3, 1024, 1024),
                    camera("PV0", "PhotoVideo", COLOR_LENS, ROTATION, TRANSLATION, 4096, 3072)],
        "InertialSensors": [sensor("Gyro"), sensor("Accelerometer")],
        "Metadata": {"SerialId": "0001", "FactoryCalDate": "1/1/2020 0:0:0 AM GMT", "Version": {"Major": 1, "Minor": 2},
                     "DeviceName": "AzureKinect-PV", "Notes": ""}}}).encode()


# MARK: Registration, from the calibration alone


def distort(lens, x, y):
    k1, k2, k3, k4, k5, k6, _, _, p2, p1 = lens[4:]
    r = x * x + y * y
    d = (1 + r * (k1 + r * (k2 + r * k3))) / (1 + r * (k4 + r * (k5 + r * k6)))
    return x * d + p2 * (r + 2 * x * x) + 2 * p1 * x * y, y * d + p1 * (r + 2 * y * y) + 2 * p2 * x * y


def register(number):
    """The centers of the first pixels are at 0. NFOV takes a part of the sensor: 640x576 of it, at column 192 and row 180."""
    result = array.array("H", bytes(2 * WIDTH * HEIGHT))
    cx, cy, fx, fy = (value * 1024 for value in (*DEPTH_LENS[0:2], *DEPTH_LENS[2:4]))
    # 16:9 is cut out of the middle of the 4:3 sensor.
    color_x, color_y = COLOR_LENS[0] * WIDTH - 0.5, COLOR_LENS[1] * (WIDTH * 3 / 4) - (WIDTH * 3 / 4 - HEIGHT) / 2 - 0.5
    color_fx, color_fy = COLOR_LENS[2] * WIDTH, COLOR_LENS[3] * (WIDTH * 3 / 4)
    for row in range(DEPTH_HEIGHT):
        for column in range(DEPTH_WIDTH):
            # Two pixels of the sensor are one of the map.
            seen_x, seen_y = ((192 + 2 * column + 1) - cx) / fx, ((180 + 2 * row + 1) - cy) / fy
            x, y = seen_x, seen_y
            for _ in range(20):
                was_x, was_y = distort(DEPTH_LENS, x, y)
                x, y = x + seen_x - was_x, y + seen_y - was_y
            z = sample(number, column) / 1000
            point = (x * z, y * z, z)
            there = [sum(ROTATION[3 * i + j] * point[j] for j in range(3)) + TRANSLATION[i] for i in range(3)]
            u, v = distort(COLOR_LENS, there[0] / there[2], there[1] / there[2])
            u, v = round(u * color_fx + color_x), round(v * color_fy + color_y)
            if 0 <= u < WIDTH and 0 <= v < HEIGHT:
                count, place = round(there[2] * 1000), v * WIDTH + u
                if not result[place] or count < result[place]:
                    result[place] = count
    return result


# MARK: Recording


class Configuration(ctypes.Structure):
    """k4a_device_configuration_t"""

    _fields_ = [(name, ctypes.c_int) for name in ("format", "resolution", "depth_mode", "rate")] + [
        ("synchronized", ctypes.c_bool), ("delay", ctypes.c_int32), ("sync", ctypes.c_int), ("sync_delay", ctypes.c_uint32),
        ("light", ctypes.c_bool)]


def load(folder, name):
    return ctypes.CDLL(sorted(glob.glob(f"{folder}/{name}-*.so.*"))[0], ctypes.RTLD_GLOBAL)


def color(name, number):
    """A gray picture, and the bytes from one row to the next."""
    if name == "MJPG":
        line = (f"videotestsrc num-buffers=1 pattern=solid-color foreground-color={0xff000000 + number * 0x10101} ! "
                f"video/x-raw,format=I420,width={WIDTH},height={HEIGHT} ! jpegenc ! fdsink")
        return subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True, capture_output=True).stdout, 0
    pixels = WIDTH * HEIGHT
    if name == "NV12":
        return bytes([number]) * pixels + bytes([128]) * (pixels // 2), WIDTH
    if name == "YUY2":
        return bytes([number, 128]) * pixels, WIDTH * 2
    return bytes([number, number, number, 255]) * pixels, WIDTH * 4


def main(folder, path, name, skew):
    load(folder, "libudev")
    sdk, recorder = load(folder, "libk4a"), load(folder, "libk4arecord")

    def call(function, *arguments):
        if function(*arguments) != 0:
            sys.exit(f"{function.__name__} failed")

    def image(kind, width, height, stride, pixels, time):
        made, size = ctypes.c_void_p(), ctypes.c_size_t(len(pixels))
        call(sdk.k4a_image_create_from_buffer, kind, width, height, stride, pixels, size, None, None, ctypes.byref(made))
        sdk.k4a_image_set_device_timestamp_usec(made, ctypes.c_uint64(time))
        return made

    has_color = name in FORMATS
    modes = Configuration(FORMATS.get(name, 0), 1 if has_color else 0, 1, 2, False, skew, 0, 0, False)
    recording = ctypes.c_void_p()
    call(recorder.k4a_record_create, path.encode(), None, modes, ctypes.byref(recording))
    text = calibration()
    call(recorder.k4a_record_add_attachment, recording, b"calibration.json", text, ctypes.c_size_t(len(text)))
    call(recorder.k4a_record_add_tag, recording, b"K4A_CALIBRATION_FILE", b"calibration.json")
    call(recorder.k4a_record_write_header, recording)
    for number in range(FRAMES):
        if number in (3, 4):
            continue
        capture, time, kept = ctypes.c_void_p(), 1_000_000 + number * 100_000 // 3, []
        call(sdk.k4a_capture_create, ctypes.byref(capture))
        if has_color and number != 8:
            pixels, stride = color(name, 16 * number + 20)
            kept.append(pixels)
            made = image(FORMATS[name], WIDTH, HEIGHT, stride, pixels, time)
            sdk.k4a_capture_set_color_image(capture, made)
            sdk.k4a_image_release(made)
        if number != 6:
            row = [sample(number, column) for column in range(DEPTH_WIDTH)]
            pixels = array.array("H", row * DEPTH_HEIGHT).tobytes()
            kept.append(pixels)
            made = image(4, DEPTH_WIDTH, DEPTH_HEIGHT, DEPTH_WIDTH * 2, pixels, time + skew)
            sdk.k4a_capture_set_depth_image(capture, made)
            sdk.k4a_image_release(made)
        call(recorder.k4a_record_write_capture, recording, capture)
        sdk.k4a_capture_release(capture)
        print(number, time if has_color and number != 8 else "-", time + skew if number != 6 else "-")
    call(recorder.k4a_record_flush, recording)
    recorder.k4a_record_close(recording)


if sys.argv[1] == "--register":
    with open(sys.argv[2], "wb") as file:
        register(0).tofile(file)
else:
    main(*sys.argv[1:4], int(sys.argv[4]))
