#!/usr/bin/python3
"""Tests pipelines/doctor.sh on made-up machines: every finding it can report, and the step it ends with.

    Tests/doctor.py
"""
import concurrent.futures
import http.server
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading

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


def system(name, like=""):
    return {"etc/os-release": f'NAME="A system"\nID="{name}"\nID_LIKE="{like}"\n'}


def librealsense(version, text=""):
    return {LIBRARIES + "librealsense2.so.2": f"->librealsense2.so.{version}", f"{LIBRARIES}librealsense2.so.{version}": text}


D435 = usb("2-1", "8086:0b07", "Intel(R) RealSense(TM) Depth Camera 435")
KINECT = usb("1-2", "045e:02ae", "Xbox NUI Camera", "480")
XTION = usb("1-2", "1d27:0601", "PrimeSense Device", "480")
L515 = usb("2-1", "8086:0b64", "Intel(R) RealSense(TM) LiDAR camera L515")
AZURE = usb("2-1", "045e:097c", "Azure Kinect Depth Camera")
GEMINI = usb("2-1", "2bc5:0800", "Gemini 335")
WELL = {
    **system("debian"),
    "etc/ld.so.conf.d/x86_64-linux-gnu.conf": "# Multiarch support\n/usr/lib/x86_64-linux-gnu\n",
    **librealsense("2.55.1"), "bin/pip": "#!/bin/sh\n",
    LIBRARIES + "libfreenect.so.0.5": "->libfreenect.so.0.5.3", LIBRARIES + "libfreenect.so.0.5.3": "",
    LIBRARIES + "libOpenNI2.so.0": "",
}
NONE = dict.fromkeys([LIBRARIES + name for name in ("librealsense2.so.2", "libfreenect.so.0.5", "libOpenNI2.so.0")])
INSPECT = """#!/bin/sh
case $1 in
nicesrc) echo '{peers}' ;;
--version) printf 'gst-inspect-1.0 version %s\\nGStreamer %s\\n' {version} {version} ;;
-b) echo '{blacklist}' ;;
*) [ -z '{plugin}' ] || echo '  Filename                 {plugin}' ;;
esac
"""


def inspect(version="1.22.0", plugin="/usr/lib/libgstdepthmatte.so", blacklist="", peers="Factory Details:"):
    return {"bin/gst-inspect-1.0": INSPECT.format(version=version, plugin=plugin, blacklist=blacklist, peers=peers)}


def phone(metadata, offer=404):
    """The address of a server that replies as the iPhone's app Record3D does, with these statuses."""
    class Phone(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response({"/metadata": metadata, "/getOffer": offer}[self.path])
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Phone)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"127.0.0.1:{server.server_port}"


# Nothing is bound to port 80 of it.
NOBODY = "127.0.0.9"


ROUTE = {"bin/ip": "#!/bin/sh\necho \"$3 dev eth1 src 10.0.0.1 uid 0\"\n", "sys/class/net/eth1/mtu": "1500\n"}
LOOPBACK = {f"lib/modules/{os.uname().release}/updates/v4l2loopback.ko": ""}
PACKAGES = "home/.local/share/depthmatte/"
PACKAGE = PACKAGES + "pyrealsense2"
MODULE = PACKAGE + "/pyrealsense2.cpython-311.so"
PYTHON = {MODULE: "", LIBRARIES + "libpython3.11.so.1.0": ""}
ORBBEC = PACKAGES + "pyorbbecsdk/"
PIP = "pip install --target {root}/home/.local/share/depthmatte --upgrade --no-deps "
# Pythons that are new, and old, enough for a question on their version.
OLD_PYTHON, NEW_PYTHON = {"bin/python3": "#!/bin/sh\nexit 0\n"}, {"bin/python3": "#!/bin/sh\nexit 1\n"}
K4A = {LIBRARIES + "libk4a.so.1.4": ""}
ENGINE = {LIBRARIES + "libdepthengine.so.2.0": ""}
K4A_STEP = PIP + "--only-binary=:all: --python-version 3.11 pyk4a-bundle && (cd {root}/home/.local/share/depthmatte/pyk4a_bundle.libs && "
SHOWN = {"DISPLAY": ":0"}
OPEN = "proc/77/fd/5"
NODE = "sys/bus/usb/devices/2-1:1.0/video4linux/video2/name"
WSL = {"proc/sys/kernel/osrelease": "6.6.87.2-microsoft-standard-WSL2\n"}
DOCKER = {".dockerenv": ""}
# Cameras that are played: by this build's plugin, and with gi, or not at all.
PLUGIN = ROOT / ".build/release/libgstdepthmatte.so"
PLAYS = {"GST_PLUGIN_PATH": "{folder}/plugin", "GST_REGISTRY": "{folder}/plugin/registry"}
BESIDE = ("depthtestsrc name=t t.video ! queue ! pack.video t.depth ! videobox left=-12 right=12 ! queue ! pack.depth depthpack name=pack "
          "! depthunpack")
PADS = "name=camera camera.video ! queue ! matte.video camera.depth ! queue ! matte.depth depthmatte name=matte"
WATCHED = [
    ({}, ["--watch", "5", "--source", "depthtestsrc"], [], f"gst-launch-1.0 depthtestsrc {PADS} ! videoconvert ! pngenc ! ", PLAYS),
    ({}, ["--watch", "5", "--source", "depthtestsrc depth-delay=66000000"], ["late"],
     f"gst-launch-1.0 depthtestsrc depth-delay=66000000 {PADS} depth-ts-offset=-6", PLAYS),
    ({}, ["--watch=3", "--source", BESIDE], ["beside"], f"gst-launch-1.0 {BESIDE} {PADS} depth-offset-x=-24 ! ", PLAYS),
    ({}, ["--watch=1", "--source=depthtestsrc attach-depth=false ! depthpack ! depthunpack"], ["warned"],
     f"gst-launch-1.0 depthtestsrc attach-depth=false ! depthpack ! depthunpack {PADS} view=quad ! ", PLAYS),
    ({}, ["--watch=1", "--source=depthtestsrc dropouts=1"], ["no-frames"], "GST_DEBUG=4 gst-launch-1.0 depthtestsrc dropouts=1 ", PLAYS),
    ({}, ["--watch=1", '--source=videotestsrc name="a;b"'], ["not-played"],
     f"GST_DEBUG=4 gst-launch-1.0 videotestsrc 'name=\"a;b\"' {PADS}", PLAYS),
    ({**D435, **PYTHON}, ["--watch=1"], ["not-played"], "GST_DEBUG=4 gst-launch-1.0 depthcamsrc driver=realsense library={root}/" + MODULE, PLAYS),
]
# Files (None: is not there; "->": a link), arguments, the findings, how the step begins, and variables of the environment (None: is not
# set). The first is a machine without fault.
CASES = [
    (D435, [], [], "gst-launch-1.0 depthcamsrc driver=realsense ! depthmatte ! videoconvert ! pngenc"),
    (KINECT, [], [], "gst-launch-1.0 depthcamsrc driver=freenect ! "),
    (XTION, [], [], "gst-launch-1.0 depthcamsrc driver=openni2 ! "),
    ({**usb("1-2", "2bc5:0401", "ORBBEC Depth Sensor", "480"), LIBRARIES + "OpenNI2/Drivers/liborbbec.so.0": ""}, [], [],
     "gst-launch-1.0 depthcamsrc driver=openni2 ! "),
    (usb("1-2", "2bc5:0401", "ORBBEC Depth Sensor", "480"), [], ["no-openni-driver"], "less "),
    ({**D435, "bin/gst-inspect-1.0": None}, [], ["no-gstreamer"], "sudo apt install gstreamer1.0-tools"),
    ({**D435, **inspect("1.20.3")}, [], ["old-gstreamer"], "sudo apt full-upgrade"),
    ({**D435, **inspect(plugin="", blacklist="libgstdepthmatte.so")}, [], ["blacklisted"], "rm -r "),
    ({**D435, **inspect(plugin=""), "tree/.build/release/libgstdepthmatte.so": ""}, [], ["no-plugin-path"],
     "export GST_PLUGIN_PATH={tree}/.build/release"),
    ({**D435, **inspect(plugin=""), "tree/Package.swift": ""}, [], ["not-built"], "cd {tree} && swift build"),
    ({**D435, **inspect(plugin="")}, [], ["no-plugin"], "sudo apt install --reinstall gstreamer1.0-depthmatte"),
    ({**D435, **inspect(plugin=""), "tree/pipelines/lib/gstreamer-1.0/libgstdepthmatte.so": ""}, [], ["no-plugin-path"],
     "export GST_PLUGIN_PATH={tree}/pipelines/lib/gstreamer-1.0"),
    ({}, [], ["no-camera"], AGAIN + "plugging the camera into another port"),
    (usb("1-1", "046d:0825", "Webcam"), [], ["no-camera"], AGAIN),
    (usb("1-1", "045e:02b0", "Xbox NUI Motor", "12"), [], ["no-power"], AGAIN + "plugging in the power supply"),
    ({**usb("1-1", "045e:02b0", "Xbox NUI Motor", "12"), **KINECT}, [], [], "gst-launch-1.0 depthcamsrc driver=freenect"),
    ({**AZURE, **K4A, **ENGINE}, [], [], "gst-launch-1.0 depthcamsrc driver=k4a ! ", SHOWN),
    ({**AZURE, **K4A, LIBRARIES + "libk4a1.4/libdepthengine.so.2.0": ""}, [], [], "gst-launch-1.0 depthcamsrc driver=k4a ! ", SHOWN),
    ({**AZURE, PACKAGES + "pyk4a_bundle.libs/libk4a.so.1.4": "", PACKAGES + "pyk4a_bundle.libs/libdepthengine.so.2.0": ""}, [], [],
     "gst-launch-1.0 depthcamsrc driver=k4a library={root}/home/.local/share/depthmatte/pyk4a_bundle.libs/libk4a.so.1.4 ! ", SHOWN),
    (AZURE, [], ["no-library"], K4A_STEP, SHOWN),
    ({**AZURE, **K4A}, [], ["no-depth-engine"], K4A_STEP, SHOWN),
    ({**AZURE, **K4A, **ENGINE}, [], ["no-display"], "{doctor}  # in a terminal of the desktop", {"WAYLAND_DISPLAY": "wayland-0"}),
    ({**AZURE, **K4A, **ENGINE, "tmp/.X11-unix/X1": ""}, [], ["no-display"], "export DISPLAY=:1"),
    ({**AZURE, **K4A, **ENGINE, **DOCKER}, [], ["no-display"], "docker run --device=/dev/bus/usb -e DISPLAY -v /tmp/.X11-unix:"),
    (usb("2-1", "2bc5:066b", "Femto Bolt"), [], ["no-library"], PIP + "pyorbbecsdk2", SHOWN),
    ({**usb("2-1", "2bc5:066b", "Femto Bolt"), **K4A, **ENGINE}, [], [], "gst-launch-1.0 depthcamsrc driver=k4a ! ", SHOWN),
    ({**usb("2-1", "2bc5:066b", "Femto Bolt"), **K4A}, [], ["no-depth-engine"], "pip install ", SHOWN),
    ({**usb("2-1", "2bc5:066b", "Femto Bolt"), LIBRARIES + "libOrbbecSDK.so.2": ""}, [], ["no-display"], "{doctor}  # in a terminal"),
    ({**GEMINI, LIBRARIES + "libOrbbecSDK.so.2": ""}, [], [], "gst-launch-1.0 depthcamsrc driver=orbbec ! "),
    ({**GEMINI, ORBBEC + "libOrbbecSDK.so.2": "", ORBBEC + "__init__.py": ""}, [], [],
     "gst-launch-1.0 depthcamsrc driver=orbbec library={root}/" + ORBBEC + "libOrbbecSDK.so.2 ! "),
    # A library that is too old or too new for the camera.
    ({**D435, **librealsense("2.41.0")}, [], ["old-library"], PIP + "pyrealsense2"),
    ({**D435, **librealsense("2.50.0")}, [], [], "gst-launch-1.0 "), ({**D435, **librealsense("2.100.1")}, [], [], "gst-launch-1.0 "),
    ({**usb("2-1", "8086:0b56", "Intel(R) RealSense(TM) Depth Camera 555")}, [], ["old-library"], PIP + "pyrealsense2"),
    ({**GEMINI, LIBRARIES + "libOrbbecSDK.so": "->libOrbbecSDK.so.1.10.8", LIBRARIES + "libOrbbecSDK.so.1.10.8": ""}, [],
     ["old-library"], PIP + "pyorbbecsdk2"),
    ({**L515, **OLD_PYTHON}, [], ["dropped"], PIP + "pyrealsense2==2.54.2.5684"),
    ({**L515, **NEW_PYTHON, "tree/pipelines/cameras.md": ""}, [], ["dropped"], "less {tree}/pipelines/cameras.md  # the part on"),
    ({**L515, **NONE, **OLD_PYTHON}, [], ["no-library"], PIP + "pyrealsense2==2.54.2.5684"),
    ({**L515, **librealsense("2.54.2")}, [], [], "gst-launch-1.0 depthcamsrc driver=realsense ! "),
    # The package for the plugin comes before the system's library.
    ({**L515, **PYTHON, PACKAGE + "/_version.py": '__version__ = "2.54.2.5684"\n', PACKAGE + "-2.59.1.11053.dist-info/x": ""}, [], [],
     "gst-launch-1.0 depthcamsrc driver=realsense library="),
    ({**L515, **PYTHON, **librealsense("2.54.2"), PACKAGE + "-2.59.1.11053.dist-info/x": ""}, [], ["dropped"], "pip install "),
    ({**usb("2-1", "8086:0b48", "Intel(R) RealSense(TM) Camera SR305"), **OLD_PYTHON}, [], ["dropped"], "pip install "),
    ({**usb("2-1", "8086:0aa5", "Intel(R) RealSense(TM) Camera SR300"), **librealsense("2.54.2")}, [], [], "gst-launch-1.0 "),
    ({**usb("2-1", "8086:0b68", "Intel(R) RealSense(TM) LiDAR camera L535"), **librealsense("2.54.2")}, [], ["dropped"], "less "),
    *((usb("2-1", f"8086:{number}", name), [], ["no-driver"], "less ") for number, name in (
        ("0a80", "Intel RealSense 3D Camera R200"), ("0a66", "Intel(R) RealSense(TM) 3D Camera (Front F200)"), ("0abf", ""),
        ("0acb", "Intel RealSense 3D Camera ZR300"))),
    (usb("2-1", "8087:0b37", "Intel(R) RealSense(TM) Tracking Camera T265"), [], ["no-depth"], AGAIN + "plugging in a depth camera"),
    ({**D435, **PYTHON, PACKAGE + "/pyrealsense2.cpython-399.so": "", MODULE: None}, [], ["no-python"], "sudo apt install libpython3.99"),
    (usb("1-1", "045e:02d8", "Kinect"), [], ["no-driver"],
     "less /usr/share/doc/gstreamer1.0-depthmatte/pipelines/cameras.md"),
    ({**usb("1-1", "045e:02c4"), "tree/pipelines/cameras.md": ""}, [], ["no-driver"], "less {tree}/pipelines/cameras.md"),
    (usb("1-1", "2bc5:0800"), [], ["no-library"], PIP + "pyorbbecsdk2"),
    (usb("1-1", "2b03:f880"), [], ["no-driver"], "less "), (usb("1-1", "03e7:2485"), [], ["no-driver"], "less "),
    ({**NONE, **D435}, [], ["no-library"], PIP + "pyrealsense2"),
    ({**NONE, **KINECT}, [], ["no-library"], "sudo apt install libfreenect0.5"),
    ({**NONE, **XTION}, [], ["no-library"], "sudo apt install libopenni2-0"),
    ({**NONE, **D435, **PYTHON}, [], [], "gst-launch-1.0 depthcamsrc driver=realsense library={root}/" + MODULE + " !"),
    # The package managers of other systems.
    *(({**D435, **system(*name), **files}, [], ["no-gstreamer"], step) for name, files, step in (
        (("ubuntu", "debian"), {}, "sudo apt install gstreamer1.0-tools"), (("linuxmint", "ubuntu debian"), {}, "sudo apt install "),
        (("fedora", ""), {}, "sudo dnf install gstreamer1 gstreamer1-plugins-base"), (("rocky", "rhel centos fedora"), {}, "sudo dnf "),
        (("fedora", ""), {"run/ostree-booted": ""}, "sudo rpm-ostree install gstreamer1 "),
        (("arch", ""), {}, "sudo pacman -S gstreamer gst-plugins-base"), (("manjaro", "arch"), {}, "sudo pacman -S "),
        (("opensuse-tumbleweed", "opensuse suse"), {}, "sudo zypper install gstreamer gstreamer-utils "), (("sles", ""), {}, "sudo zypper "),
        (("alpine", ""), {}, "sudo apk add gstreamer-tools "), (("nixos", ""), {}, "nix-shell -p gst_all_1.gstreamer "),
        (("void", ""), {}, "Install GStreamer 1.22 or newer (gst-inspect-1.0), gst-plugins-base"),
        (("", ""), {"etc/os-release": None}, "Install GStreamer 1.22"),
        (("debian", ""), {"etc/os-release": None, "usr/lib/os-release": "ID=arch\n"}, "sudo pacman "))
      for files in [{**files, "bin/gst-inspect-1.0": None}]),
    ({**NONE, **KINECT, **system("fedora")}, [], ["no-library"], "sudo dnf install libfreenect libfreenect-devel"),
    ({**NONE, **KINECT, **system("arch")}, [], ["no-library"], "sudo pacman -S libfreenect"),
    ({**NONE, **KINECT, **system("alpine")}, [], ["no-library"], "Install libfreenect 0.5 or newer (libfreenect.so) by"),
    ({**NONE, **XTION, **system("fedora")}, [], ["no-library"], "Install OpenNI 2 (libOpenNI2.so) by"),
    ({**NONE, **D435, **system("fedora")}, [], ["no-library"], PIP + "pyrealsense2"),
    ({**NONE, **D435, "bin/pip": None}, [], ["no-library"], "sudo apt install python3-pip && " + PIP),
    ({**NONE, **D435, "bin/pip": None, **system("arch")}, [], ["no-library"], "sudo pacman -S python-pip && " + PIP),
    ({**NONE, **D435, "bin/pip": None, "bin/pip3": "#!/bin/sh\n"}, [], ["no-library"], PIP.replace("pip", "pip3", 1)),
    # Their C libraries are not what Python's packages need.
    ({**NONE, **D435, **system("alpine")}, [], ["no-library"], "Install librealsense 2.50 or newer (librealsense2.so.2) by"),
    ({**AZURE, **system("nixos")}, [], ["no-library"], "Install the Azure Kinect Sensor SDK 1.4 (libk4a.so.1.4, libk4arecord", SHOWN),
    ({**D435, **inspect("1.20.3"), **system("fedora")}, [], ["old-gstreamer"], "Upgrade the system"),
    ({**D435, **inspect(plugin=""), **system("arch")}, [], ["no-plugin"], "Unpack the tarball"),
    ({**D435, **system("fedora")}, ["--virtual-camera"], ["no-loopback"], "Install PipeWire or the kernel module v4l2loopback"),
    ({**D435, **system("arch")}, ["--virtual-camera"], ["no-loopback"], "sudo pacman -S v4l2loopback-dkms"),
    # USB that is not passed through.
    (WSL, [], ["no-camera"], "usbipd bind --busid BUSID; usbipd attach --wsl "),
    ({"proc/version": "Linux version 4.19.84-microsoft-standard\n"}, [], ["no-camera"], "usbipd bind "),
    ({"proc/sys/kernel/osrelease": "4.4.0-19041-Microsoft\n"}, [], ["no-camera"], "wsl --set-version "),
    (DOCKER, [], ["no-camera"], "docker run --device=/dev/bus/usb IMAGE  # on the host, with the other options of this container"),
    ({**DOCKER, **WSL}, [], ["no-camera"], "docker run --device=/dev/bus/usb IMAGE  # on the host, with the other options of this "
     "container; before that in Windows: usbipd attach"),
    ({"proc/1/cgroup": "0::/system.slice/docker-0123.scope\n"}, [], ["no-camera"], "docker run "),
    ({"proc/1/cgroup": "12:cpu:/kubepods/burstable/pod1\n"}, [], ["no-camera"], "Pass /dev/bus/usb "),
    ({"run/.containerenv": ""}, [], ["no-camera"], "podman run --device=/dev/bus/usb "),
    ({"proc/1/environ": "PATH=/bin\0container=lxc\0"}, [], ["no-camera"], "Pass /dev/bus/usb "),
    ({"run/systemd/container": "systemd-nspawn\n"}, [], ["no-camera"], "Pass /dev/bus/usb "),
    ({"sys/class/dmi/id/product_name": "VirtualBox\n"}, [], ["no-camera"], AGAIN + "passing the camera to this virtual machine"),
    ({"proc/1/cgroup": "0::/init.scope\n", "proc/version": "Linux version 6.1.0-1-amd64\n"}, [], ["no-camera"], AGAIN + "plugging"),
    ({**D435, **DOCKER, "dev/bus/usb/002/009": None}, [], ["not-passed"], "docker run --device=/dev/bus/usb IMAGE"),
    ({**D435, "dev/bus/usb/002/009": None}, [], ["not-passed"], "docker run --device=/dev/bus/usb IMAGE"),
    ({**D435, **DOCKER, NODE: ""}, [], ["not-passed"], "docker run --device=/dev/bus/usb --device=/dev/video2 IMAGE"),
    ({**D435, **DOCKER, NODE: "", "dev/video2": ""}, [], [], "gst-launch-1.0 "),
    # Libraries that read by USB alone.
    ({**D435, **DOCKER, NODE: "", **librealsense("2.55.1", "N12librealsense8platform13rs_uvc_deviceE")}, [], [], "gst-launch-1.0 "),
    ({**GEMINI, **DOCKER, NODE: "", LIBRARIES + "libOrbbecSDK.so.2": ""}, [], [], "gst-launch-1.0 "),
    ({**D435, NODE: "", "dev/video2": "closed"}, [], ["no-video-permission"], "sudo usermod -aG video "),
    ({**D435, "sys/module/usbcore/x": ""}, [], ["no-uvcvideo"], "sudo modprobe uvcvideo"),
    ({**D435, "sys/module/usbcore/x": "", "sys/module/uvcvideo/x": ""}, [], [], "gst-launch-1.0 "),
    ({**D435, **DOCKER, "dev/bus/usb/002/009": "closed"}, [], ["no-permission"],
     "echo 'SUBSYSTEM==\"usb\", ATTR{{idVendor}}==\"8086\", MODE=\"0666\"' | sudo tee "),
    ({**D435, "dev/bus/usb/002/009": "closed"}, [], ["no-permission"],
     "echo 'SUBSYSTEM==\"usb\", ATTR{{idVendor}}==\"8086\", MODE=\"0666\"' | sudo tee ", {"SSH_CONNECTION": "10.0.0.2 4 10.0.0.1 22"}),
    ({**D435, **system("nixos"), "dev/bus/usb/002/009": "closed"}, [], ["no-permission"], "Add services.udev.extraRules"),
    # Two cameras.
    ({**D435, **KINECT}, [], [], "gst-launch-1.0 depthcamsrc driver=freenect ! depthmatte ! videoconvert ! pngenc ! multifilesink "
     "location=depthmatte-1.png depthcamsrc driver=realsense ! depthmatte ! videoconvert ! pngenc ! multifilesink location=depthmatte-2.png"),
    ({**D435, **usb("2-2", "8086:0b5c", "Intel(R) RealSense(TM) Depth Camera 455")}, [], [],
     "gst-launch-1.0 depthcamsrc driver=realsense serial=NUMBER1 ! depthmatte ! videoconvert ! autovideosink depthcamsrc driver=realsense "
     "serial=NUMBER2 ! depthmatte ! videoconvert ! autovideosink  # NUMBER1: on the label of the Intel(R) RealSense(TM) Depth Camera 435 at "
     "USB port 2-1, NUMBER2: on the label of the Intel(R) RealSense(TM) Depth Camera 455 at USB port 2-2", SHOWN),
    ({**XTION, **usb("1-3", "1d27:0601")}, [], [], "gst-launch-1.0 depthcamsrc driver=openni2 serial=1d27/0601@2/9 ! "),
    ({**AZURE, **usb("2-2", "045e:097c", "Azure Kinect Depth Camera"), **K4A, **ENGINE}, [], [],
     "gst-launch-1.0 depthcamsrc driver=k4a serial=0 ! depthmatte ! videoconvert ! autovideosink depthcamsrc driver=k4a serial=1 ! ", SHOWN),
    ({**D435, **usb("2-2", "8086:0b5c", "RealSense 455", "480")}, [], ["usb2"], AGAIN + "plugging the RealSense 455 at USB port 2-2 into"),
    ({**D435, **usb("2-2", "8086:0b5c", "RealSense 455"), OPEN: "->/dev/bus/usb/002/009", "proc/77/comm": "firefox\n"}, [],
     ["held", "held"], AGAIN + "closing firefox (process 77), which has the Intel(R) RealSense(TM) Depth Camera 435 at USB port 2-1 open"),
    (usb("2-1", "8086:0b07", "Intel(R) RealSense(TM) 435", "480"), [], ["usb2"], AGAIN + "plugging the RealSense into a USB 3 port"),
    ({**D435, "dev/bus/usb/002/009": "closed"}, [], ["no-permission"],
     "echo 'SUBSYSTEM==\"usb\", ATTR{{idVendor}}==\"8086\", TAG+=\"uaccess\"' | sudo tee /etc/udev/rules.d/"),
    ({**D435, "dev/bus/usb/002/009": "closed", "etc/udev/rules.d/99-realsense.rules": RULES}, [], ["rules-not-applied"],
     "sudo udevadm control --reload && sudo udevadm trigger"),
    ({**KINECT, "sys/bus/usb/devices/1-2:1.0/driver": "->../../drivers/gspca_kinect"}, [], ["module"],
     "sudo modprobe -r gspca_kinect"),
    ({**D435, OPEN: "->/dev/bus/usb/002/009", "proc/77/comm": "realsense-view\n"}, [], ["held"], AGAIN + "closing realsense-view "),
    ({**D435, OPEN: "->/dev/video2", "proc/77/comm": "cheese\n", NODE: "", "dev/video2": ""}, [], ["held"],
     AGAIN + "closing cheese (process 77), which has the RealSense open"),
    ({**D435, OPEN: "->/dev/bus/usb/002/009", "proc/77/comm": "wireplumber\n"}, [], ["held-by-pipewire"], "systemctl --user stop"),
    ({**D435, OPEN: "->/dev/bus/usb/002/009", "proc/77/comm": "pipewire-media-\n"}, [], ["held-by-pipewire"], "systemctl --user stop"),
    ({**D435, OPEN: "->/dev/bus/usb/002/001", "proc/77/comm": "other\n"}, [], [], "gst-launch-1.0 "),
    ({"bin/ip": "#!/bin/sh\nexit 2\n"}, ["--address", NOBODY], ["no-route"], "ip address"),
    ({**ROUTE, "sys/class/net/eth1/mtu": "1400\n", LIBRARIES + "libOrbbecSDK.so.2": ""}, ["--address=" + NOBODY], ["small-mtu"],
     "sudo ip link set dev eth1 mtu 1500"),
    ({**ROUTE, LIBRARIES + "libOrbbecSDK.so.2": ""}, ["--address=" + NOBODY], [],
     "gst-launch-1.0 depthcamsrc driver=orbbec serial=127.0.0.9 ! "),
    (ROUTE, ["--address", NOBODY], ["no-library"], PIP + "pyorbbecsdk2"),
    (ROUTE, ["--address", phone(404)], ["no-library"], PIP + "pyorbbecsdk2"),
    (OLD_PYTHON | ROUTE, ["--address", phone(200, 200)], ["no-library"], "pip install "),
    ({**D435, "gi.py": "raise ImportError"}, ["--watch", "1"], ["no-gi"], "sudo apt install python3-gi ", {"PYTHONPATH": "."}),
    ({}, ["--address", phone(200, 403)], ["phone-busy"], AGAIN + "the other viewer has closed"),
    ({"tree/pipelines/record3d.py": ""}, ["--address", f"http://{phone(200, 200)}/"], [], "{tree}/pipelines/record3d.py 127.0.0.1:"),
    ({}, ["--address", phone(200, 200)], [], "/usr/share/doc/gstreamer1.0-depthmatte/pipelines/record3d.py 127.0.0.1:"),
    ({**inspect(peers="")}, ["--address", phone(200, 200)], ["no-webrtc"], "sudo apt install gstreamer1.0-nice "),
    (ROUTE, ["--address=" + NOBODY], ["no-library"], PIP + "pyorbbecsdk2"),
    ({**ROUTE, **D435, LIBRARIES + "libOrbbecSDK.so.2": ""}, ["--address=" + NOBODY], [],
     "gst-launch-1.0 depthcamsrc driver=realsense ! depthmatte ! videoconvert ! autovideosink depthcamsrc driver=orbbec serial=127.0.0.9 ! ", SHOWN),
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
        if isinstance(text, str) and text.startswith("->"):
            path.symlink_to(text[2:])
        elif text is not None:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            path.chmod({"closed": 0o444}.get(text, 0o755 if name.startswith("bin/") else 0o666))


def run(root, arguments, variables, tree=None):
    """As a user without rights, whoever runs the tests. What is printed must be UTF-8."""
    user = [shutil.which("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    environment = {"PATH": f"{root}/bin:{root}/tools", "HOME": f"{root}/home", "DEPTHMATTE_DOCTOR_ROOT": str(root), "XDG_RUNTIME_DIR": "/run/user/1"}
    return subprocess.run(
        [*user, str((tree or root / "tree") / "pipelines/doctor.sh"), *arguments], capture_output=True, encoding="utf-8", timeout=60, cwd=root,
        env={name: value for name, value in {**environment, **variables}.items() if value is not None})


def make(root, files):
    write(root, {**WELL, **inspect(), **files})
    (root / "tree/pipelines").mkdir(parents=True, exist_ok=True)
    for name in ("doctor.sh", "watch.py"):
        shutil.copy(ROOT / "pipelines" / name, root / "tree/pipelines")
    # Of the system's programs those alone that every Linux has: its GStreamer stays out of sight.
    (root / "tools").mkdir()
    for tool in "cat dirname find grep head id printf python3 readlink sed sh sort tr uname".split():
        (root / "tools" / tool).symlink_to(shutil.which(tool, path="/usr/bin:/bin"))


def words(step):
    """The words of a command, as the shell reads it."""
    return subprocess.run(["sh", "-c", f"printf '%s\\0' {step}"], capture_output=True, check=True, text=True).stdout.split("\0")


def report(root, variables=None, tree=None):
    return json.loads(run(root, ["--json"], variables or {}, tree).stdout)


def check(number, folder):
    files, arguments, findings, step, *variables = CASES[number]
    variables = variables[0] if variables else {}
    root = pathlib.Path(folder) / str(number)
    make(root, files)
    variables = {name: value and value.replace("{folder}", folder) for name, value in variables.items()}
    step = step.format(tree=root / "tree", doctor=root / "tree/pipelines/doctor.sh", root=root)
    text = run(root, arguments, variables)
    lines = text.stdout.rstrip().splitlines()
    assert lines[-3:-1] == ["Next step:", ""] and lines[-1].startswith("    " + step), f"{text}, not {step}"
    assert text.returncode == bool(findings) and text.stderr == "", text
    assert text.stdout.count("\n- ") == len(findings) and "12345" not in text.stdout, text
    answer = run(root, [*arguments, "--json"], variables)
    report = json.loads(answer.stdout)
    assert [finding["id"] for finding in report["findings"]] == findings, report
    assert report["next"] == lines[-1].strip() and answer.returncode == bool(findings), report
    assert not any(camera["serial"] for camera in report["cameras"]), report
    if not re.match("Install |Upgrade |Unpack |Pass |Add ", report["next"]):
        shlex.split(report["next"])
    return root, report


def check_commands(folder):
    """Commands with paths that the shell, or gst-launch-1.0, would read otherwise, and those where there is no HOME."""
    for number, name in enumerate(("a b", "o'neil", "a\\b", "$HOME", 'a"b', "j\u00fcrgen *")):
        root = pathlib.Path(folder) / f"command{number}"
        make(root, {**NONE, **GEMINI})
        home = root / name
        packages = home / ".local/share/depthmatte"
        assert words(report(root, {"HOME": str(home)})["next"])[3] == str(packages)
        library = packages / "pyorbbecsdk/libOrbbecSDK.so.2"
        write(root, {str(library.relative_to(root)): "", "home/x": ""})
        word = words(report(root, {"HOME": str(home)})["next"])[3]
        assert word == "library=" + str(library).replace("\\", "\\\\"), word
        if launch := shutil.which("gst-launch-1.0"):
            subprocess.run([launch, "-q", "filesrc", word.replace("library", "location", 1), "!", "fakesink"], check=True)
        # The script's own folder.
        write(root, inspect(plugin=""))
        (home / "Package.swift").touch()
        shutil.copytree(root / "tree/pipelines", home / "pipelines")
        assert words(report(root, {}, home)["next"].split(" && ")[0])[1] == str(home)
        write(root, {**inspect(), str((home / "pipelines/cameras.md").relative_to(root)): "", "sys/bus/usb/devices/2-1/idVendor": "2b03\n"})
        assert words(report(root, {}, home)["next"])[1] == str(home / "pipelines/cameras.md")
    root = pathlib.Path(folder) / "homeless"
    user = 65534 if os.geteuid() == 0 else os.getuid()
    make(root, {**NONE, **GEMINI, "own/x": "", "etc/passwd": f"other:x:1:1::/other:/bin/sh\nuser:x:{user}:1::{root}/own:/bin/sh\n"})
    (root / "own").chmod(0o777)
    for home in (None, "", "/"):
        assert words(report(root, {"HOME": home})["next"])[3] == f"{root}/own/.local/share/depthmatte"
    (root / "etc/passwd").unlink()
    assert words(report(root, {"HOME": None})["next"])[3] == f"{root}/.local/share/depthmatte"
    for variables, cache in (({"HOME": None}, f"{root}/.cache/gstreamer-1.0"), ({"GST_REGISTRY": "/a b"}, "/a b")):
        write(root, inspect(plugin="", blacklist="libgstdepthmatte.so"))
        assert words(report(root, variables)["next"].split(" && ")[0])[2] == cache


def check_names(folder):
    """What cameras are called is made UTF-8."""
    for number, (name, shown) in enumerate((
        (b"Gemini \xc3", "Gemini ?"), (b"Kamera f\xfcr", "Kamera f?r"), (b"a\xc0\xafb", "a??b"), (b"\xed\xa0\x80", "???"),
        (b"\xf4\x90\x80\x80", "????"), (b"\xe2\x82", "??"), (b"\xc3\xc3\xa9", "?\u00e9"), (b"\x80\xbf", "??"),
        (b'a"b\\c', 'a"b\\c'), (b"a\x1b[31m\tb\x7f", "a[31mb"), (b"\xc2\x9b31m", "??31m"),
        ("\u00e9\u6f22\U0001f600\u00a0x".encode(), "\u00e9\u6f22\U0001f600\u00a0x"),
    )):
        root = pathlib.Path(folder) / f"name{number}"
        make(root, {**GEMINI, "sys/bus/usb/devices/2-1/product": name + b"\n", OPEN: "->/dev/bus/usb/002/009", "proc/77/comm": name + b"\n"})
        answer = report(root)
        assert answer["cameras"][0]["product"] == shown and f"{shown} (process 77)" in answer["findings"][1]["text"], answer
        assert f", {shown})" in run(root, [], {}).stdout


def check_measured(root):
    """What is measured is told in words and in JSON, and so is what is not known."""
    arguments = ["--watch=2", "--source=depthtestsrc still=true holes=0.3 dropouts=0.1"]
    variables = {name: value.replace("{folder}", folder) for name, value in PLAYS.items()}
    told = json.loads(run(root, [*arguments, "--json"], variables).stdout)["watch"]
    assert told["video_rate"] == 30 > told["depth_rate"] and told["dropped"] > 0 and 0.28 < told["holes"] < 0.32, told
    assert (told["lag"], told["lag_error"], told["offset_x"]) == (None, None, 0), told
    words = run(root, arguments, variables).stdout
    assert "Lag          not known; " in words and "Offset       left to right: none; " in words and "Holes        30 %" in words, words


folder = tempfile.mkdtemp()
os.chmod(folder, 0o755)
try:
    if PLUGIN.exists() and not subprocess.run(["/usr/bin/python3", "-c", "from gi.repository import Gst"], capture_output=True).returncode:
        os.mkdir(f"{folder}/plugin")
        os.chmod(f"{folder}/plugin", 0o777)
        shutil.copy(PLUGIN, f"{folder}/plugin")
        CASES += WATCHED
        make(pathlib.Path(folder) / "still", {})
        check_measured(pathlib.Path(folder) / "still")
    else:
        print(f"{sys.argv[0]}: no camera is played, for want of the plugin or of python3-gi")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        root, first = list(pool.map(lambda number: check(number, folder), range(len(CASES))))[0]
    assert first["libraries"][0] == {
        "driver": "realsense", "path": f"/{LIBRARIES}librealsense2.so.2", "version": "2.55.1"}, first
    assert first["cameras"][0]["speed"] == "5000" and first["plugin"] and first["gstreamer"] == "1.22.0", first
    assert "serial 12345" in run(root, ["--serials"], {}).stdout
    shown = run(root, ["--serials", "--json"], {"WAYLAND_DISPLAY": "wayland-0"})
    assert json.loads(shown.stdout)["cameras"][0]["serial"] == "12345"
    assert json.loads(shown.stdout)["next"].endswith("! autovideosink")
    for wrong in (["--jsn"], ["--address"], ["--watch"], ["--watch=0"], ["--watch=1s"], ["--watch=1,5"], ["--source=depthtestsrc"]):
        assert run(root, wrong, {}).returncode == 2
    check_commands(folder)
    check_names(folder)
    # No finding without a case.
    known = set(re.findall(r"(?:^| )finding ([a-z0-9-]+) [\"\\\\]", (ROOT / "pipelines/doctor.sh").read_text(), re.M))
    tested = {finding for case in [*CASES, *WATCHED] for finding in case[2]}
    assert known == tested, known ^ tested
finally:
    shutil.rmtree(folder)
print(f"{sys.argv[0]}: passed, {len(CASES)} machines, {len(tested)} findings")
