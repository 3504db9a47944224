#!/usr/bin/python3
"""Tests pipelines/doctor.sh on made-up machines: every finding it can report, and the step it ends with.

    Tests/doctor.py
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
if sys.argv[1:] in (["-h"], ["--help"]):
    sys.exit(print(__doc__))
LIBRARIES = "usr/lib/x86_64-linux-gnu/"
RULES = 'SUBSYSTEMS=="usb", ATTRS{idVendor}=="8086", MODE:="0666"\n'
AGAIN = "{doctor}  # after "


def usb(port, identity, product="", speed="5000", serial="12345"):
    """The files of a USB device, and its node in /dev."""
    vendor, number = identity.split(":")
    folder = f"sys/bus/usb/devices/{port}/"
    values = {"idVendor": vendor, "idProduct": number, "product": product, "speed": speed, "serial": serial}
    files = {folder + name: value + "\n" for name, value in {**values, "busnum": "2", "devnum": "9"}.items()}
    return {**files, "dev/bus/usb/002/009": ""}


D435 = usb("2-1", "8086:0b07", "Intel(R) RealSense(TM) Depth Camera 435")
KINECT = usb("1-2", "045e:02ae", "Xbox NUI Camera", "480")
XTION = usb("1-2", "1d27:0601", "PrimeSense Device", "480")
WELL = {
    "etc/ld.so.conf.d/x86_64-linux-gnu.conf": "# Multiarch support\n/usr/lib/x86_64-linux-gnu\n",
    LIBRARIES + "librealsense2.so.2": "->librealsense2.so.2.55.1", LIBRARIES + "librealsense2.so.2.55.1": "",
    LIBRARIES + "libfreenect.so.0.5": "->libfreenect.so.0.5.3", LIBRARIES + "libfreenect.so.0.5.3": "",
    LIBRARIES + "libOpenNI2.so.0": "",
}
NONE = dict.fromkeys([LIBRARIES + name for name in ("librealsense2.so.2", "libfreenect.so.0.5", "libOpenNI2.so.0")])
INSPECT = """#!/bin/sh
case $1 in
--version) printf 'gst-inspect-1.0 version %s\\nGStreamer %s\\n' {version} {version} ;;
-b) echo '{blacklist}' ;;
*) [ -z '{plugin}' ] || echo '  Filename                 {plugin}' ;;
esac
"""


def inspect(version="1.22.0", plugin="/usr/lib/libgstdepthmatte.so", blacklist=""):
    return {"bin/gst-inspect-1.0": INSPECT.format(version=version, plugin=plugin, blacklist=blacklist)}


ROUTE = {"bin/ip": "#!/bin/sh\necho \"$3 dev eth1 src 10.0.0.1 uid 0\"\n", "sys/class/net/eth1/mtu": "1500\n"}
LOOPBACK = {f"lib/modules/{os.uname().release}/updates/v4l2loopback.ko": ""}
PACKAGE = "home/.local/share/depthmatte/pyrealsense2"
MODULE = PACKAGE + "/pyrealsense2.cpython-311.so"
ORBBEC = "home/.local/share/depthmatte/pyorbbecsdk/"
OPEN = "proc/77/fd/5"
# Files (None: is not there; "->": a link), arguments, the findings, and how the step begins. The first is a machine without fault.
CASES = [
    (D435, [], [], "gst-launch-1.0 depthcamsrc driver=realsense ! depthmatte ! videoconvert ! pngenc"),
    (KINECT, [], [], "gst-launch-1.0 depthcamsrc driver=freenect ! "),
    (XTION, [], [], "gst-launch-1.0 depthcamsrc driver=openni2 ! "),
    (usb("1-2", "2bc5:0401", "ORBBEC Depth Sensor", "480"), [], [], "gst-launch-1.0 depthcamsrc driver=openni2 ! "),
    ({**D435, "bin/gst-inspect-1.0": None}, [], ["no-gstreamer"], "sudo apt install gstreamer1.0-tools"),
    ({**D435, **inspect("1.20.3")}, [], ["old-gstreamer"], "sudo apt full-upgrade"),
    ({**D435, **inspect(plugin="", blacklist="libgstdepthmatte.so")}, [], ["blacklisted"], "rm -r "),
    ({**D435, **inspect(plugin=""), "tree/.build/release/libgstdepthmatte.so": ""}, [], ["no-plugin-path"],
     "export GST_PLUGIN_PATH={tree}/.build/release"),
    ({**D435, **inspect(plugin=""), "tree/Package.swift": ""}, [], ["not-built"], "cd {tree} && swift build"),
    ({**D435, **inspect(plugin="")}, [], ["no-plugin"], "sudo apt install --reinstall gstreamer1.0-depthmatte"),
    ({}, [], ["no-camera"], AGAIN + "plugging the camera into another port"),
    (usb("1-1", "046d:0825", "Webcam"), [], ["no-camera"], AGAIN),
    (usb("1-1", "045e:02b0", "Xbox NUI Motor", "12"), [], ["no-power"], AGAIN + "plugging in the Kinect's power"),
    ({**usb("1-1", "045e:02b0", "Xbox NUI Motor", "12"), **KINECT}, [], [], "gst-launch-1.0 depthcamsrc driver=freenect"),
    ({**usb("2-1", "045e:097c", "Azure Kinect Depth Camera"), LIBRARIES + "libk4a.so.1.4": ""}, [], [],
     "gst-launch-1.0 depthcamsrc driver=k4a ! "),
    (usb("2-1", "045e:097c", "Azure Kinect"), [], ["no-library"], "sudo apt install libk4a1.4"),
    (usb("2-1", "2bc5:066b", "Femto Bolt"), [], ["no-library"], "pip install --no-deps --target '{root}/home/.local/share/depthmatte' pyorbbecsdk2"),
    ({**usb("2-1", "2bc5:066b", "Femto Bolt"), LIBRARIES + "libk4a.so.1.4": ""}, [], [], "gst-launch-1.0 depthcamsrc driver=k4a ! "),
    ({**usb("2-1", "2bc5:0800", "Gemini 335"), LIBRARIES + "libOrbbecSDK.so.2": ""}, [], [], "gst-launch-1.0 depthcamsrc driver=orbbec ! "),
    ({**usb("2-1", "2bc5:0800", "Gemini 335"), ORBBEC + "libOrbbecSDK.so.2": "", ORBBEC + "__init__.py": ""}, [], [],
     "gst-launch-1.0 depthcamsrc driver=orbbec library={root}/" + ORBBEC + "libOrbbecSDK.so.2 ! "),
    (usb("1-1", "045e:02d8", "Kinect"), [], ["no-driver"],
     "less /usr/share/doc/gstreamer1.0-depthmatte/pipelines/cameras.md"),
    ({**usb("1-1", "045e:02c4"), "tree/pipelines/cameras.md": ""}, [], ["no-driver"], "less {tree}/pipelines/cameras.md"),
    (usb("1-1", "2bc5:0800"), [], ["no-library"], "pip install --no-deps"),
    (usb("1-1", "2b03:f880"), [], ["no-driver"], "less "), (usb("1-1", "03e7:2485"), [], ["no-driver"], "less "),
    ({**NONE, **D435}, [], ["no-library"], "pip install --target '{root}/home/.local/share/depthmatte' pyrealsense2"),
    ({**NONE, **KINECT}, [], ["no-library"], "sudo apt install libfreenect0.5"),
    ({**NONE, **XTION}, [], ["no-library"], "sudo apt install libopenni2-0"),
    ({**NONE, **D435, MODULE: "", PACKAGE + "/__init__.py": ""}, [], [],
     "gst-launch-1.0 depthcamsrc driver=realsense library={root}/" + MODULE + " !"),
    (usb("2-1", "8086:0b07", "Intel(R) RealSense(TM) 435", "480"), [], ["usb2"], AGAIN + "plugging it into a USB 3 port"),
    ({**D435, "dev/bus/usb/002/009": "closed"}, [], ["no-permission"],
     "echo 'SUBSYSTEM==\"usb\", ATTR{{idVendor}}==\"8086\", TAG+=\"uaccess\"' | sudo tee /etc/udev/rules.d/"),
    ({**D435, "dev/bus/usb/002/009": "closed", "etc/udev/rules.d/99-realsense.rules": RULES}, [], ["rules-not-applied"],
     "sudo udevadm control --reload && sudo udevadm trigger"),
    ({**KINECT, "sys/bus/usb/devices/1-2:1.0/driver": "->../../drivers/gspca_kinect"}, [], ["module"],
     "sudo modprobe -r gspca_kinect"),
    ({**D435, OPEN: "->/dev/bus/usb/002/009", "proc/77/comm": "realsense-view\n"}, [], ["held"], "kill 77"),
    ({**D435, OPEN: "->/dev/video2", "proc/77/comm": "cheese\n", "sys/bus/usb/devices/2-1:1.0/video4linux/video2/name": ""},
     [], ["held"], "kill 77"),
    ({**D435, OPEN: "->/dev/bus/usb/002/009", "proc/77/comm": "wireplumber\n"}, [], ["held-by-pipewire"], "systemctl --user stop"),
    ({**D435, OPEN: "->/dev/bus/usb/002/001", "proc/77/comm": "other\n"}, [], [], "gst-launch-1.0 "),
    ({"bin/ip": "#!/bin/sh\nexit 2\n"}, ["--address", "10.0.0.9"], ["no-route"], "ip address"),
    ({**ROUTE, "sys/class/net/eth1/mtu": "1400\n", LIBRARIES + "libOrbbecSDK.so.2": ""}, ["--address=10.0.0.9"], ["small-mtu"],
     "sudo ip link set dev eth1 mtu 1500"),
    ({**ROUTE, LIBRARIES + "libOrbbecSDK.so.2": ""}, ["--address=10.0.0.9"], [],
     "gst-launch-1.0 depthcamsrc driver=orbbec serial=10.0.0.9 ! "),
    (ROUTE, ["--address=10.0.0.9"], ["no-library"], "pip install --no-deps"),
    (D435, ["--virtual-camera"], ["no-loopback"], "sudo apt install v4l2loopback-dkms"),
    ({**D435, **LOOPBACK}, ["--virtual-camera"], ["loopback-not-loaded"], "sudo modprobe v4l2loopback exclusive_caps=1"),
    ({**D435, "sys/module/v4l2loopback/version": ""}, ["--virtual-camera"], [], "gst-launch-1.0 "),
    ({**D435, "run/user/1/pipewire-0": ""}, ["--virtual-camera"], [], "gst-launch-1.0 "),
    # Of several the first to mend is the step.
    ({**NONE, **usb("2-1", "8086:0b07", "RealSense", "480"), "dev/bus/usb/002/009": "closed"}, [],
     ["no-library", "usb2", "no-permission"], "pip install "),
]


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text and text.startswith("->"):
            path.symlink_to(text[2:])
        elif text is not None:
            path.write_text(text)
            path.chmod({"closed": 0o444}.get(text, 0o755 if name.startswith("bin/") else 0o666))


def run(root, arguments, display):
    """As a user without rights, whoever runs the tests."""
    user = [shutil.which("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    environment = {"PATH": f"{root}/bin:{root}/tools", "HOME": f"{root}/home", "DEPTHMATTE_DOCTOR_ROOT": str(root), "XDG_RUNTIME_DIR": "/run/user/1"}
    return subprocess.run(
        [*user, str(root / "tree/pipelines/doctor.sh"), *arguments], capture_output=True, text=True, timeout=60,
        env={**environment, **display})


def check(number, folder):
    files, arguments, findings, step = CASES[number]
    root = pathlib.Path(folder) / str(number)
    write(root, {**WELL, **inspect(), **files})
    (root / "tree/pipelines").mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "pipelines/doctor.sh", root / "tree/pipelines")
    # Of the system's programs those alone that every Linux has: its GStreamer stays out of sight.
    (root / "tools").mkdir()
    for tool in "cat dirname find grep head id printf python3 readlink sed sh sort tr uname".split():
        (root / "tools" / tool).symlink_to(shutil.which(tool, path="/usr/bin:/bin"))
    step = step.format(tree=root / "tree", doctor=root / "tree/pipelines/doctor.sh", root=root)
    text = run(root, arguments, {})
    lines = text.stdout.rstrip().splitlines()
    assert lines[-3:-1] == ["Next step:", ""] and lines[-1].startswith("    " + step), f"{text}, not {step}"
    assert text.returncode == bool(findings) and text.stderr == "", text
    assert text.stdout.count("\n- ") == len(findings) and "12345" not in text.stdout, text
    answer = run(root, [*arguments, "--json"], {})
    report = json.loads(answer.stdout)
    assert [finding["id"] for finding in report["findings"]] == findings, report
    assert report["next"] == lines[-1].strip() and answer.returncode == bool(findings), report
    assert not any(camera["serial"] for camera in report["cameras"]), report
    return root, report


folder = tempfile.mkdtemp()
os.chmod(folder, 0o755)
try:
    for number in range(len(CASES)):
        root, report = check(number, folder)
        if number == 0:
            assert report["libraries"][0] == {
                "driver": "realsense", "path": f"/{LIBRARIES}librealsense2.so.2", "version": "2.55.1"}, report
            assert report["cameras"][0]["speed"] == "5000" and report["plugin"] and report["gstreamer"] == "1.22.0", report
            assert "serial 12345" in run(root, ["--serials"], {}).stdout
            shown = run(root, ["--serials", "--json"], {"WAYLAND_DISPLAY": "wayland-0"})
            assert json.loads(shown.stdout)["cameras"][0]["serial"] == "12345"
            assert json.loads(shown.stdout)["next"].endswith("! autovideosink")
            for wrong in (["--jsn"], ["--address"]):
                assert run(root, wrong, {}).returncode == 2
    # No finding without a case.
    known = set(re.findall(r"^ *(?:\*\) )?finding ([a-z0-9-]+) ", (ROOT / "pipelines/doctor.sh").read_text(), re.M))
    tested = {finding for case in CASES for finding in case[2]}
    assert known == tested, known ^ tested
finally:
    shutil.rmtree(folder)
print(f"{sys.argv[0]}: passed, {len(CASES)} machines, {len(tested)} findings")
