#!/bin/sh
# Finds out why a depth camera does not start, and ends with the one next step.
#
#     depthmatte-doctor [--virtual-camera] [--address IP] [--json] [--serials]
#
# --virtual-camera: looks at what a virtual camera needs, too. --address: looks at the way to an Ethernet camera, too.
# --json: the report as one JSON object, for a bug report. --serials: the report has the cameras' serial numbers.
#
# Exits with 1 where something is in the way. It changes nothing. DEPTHMATTE_DOCTOR_ROOT names a folder that is read in place of /.
set -eu

usage() {
    echo "usage: $0 [--virtual-camera] [--address IP] [--json] [--serials]" >&2
    exit 2
}

json=no
serials=no
virtual=no
address=
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help)
        sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    --json) json=yes ;;
    --serials) serials=yes ;;
    --virtual-camera) virtual=yes ;;
    --address=?*) address=${1#--address=} ;;
    --address)
        [ -n "${2-}" ] || usage
        address=$2
        shift
        ;;
    *) usage ;;
    esac
    shift
done

root=${DEPTHMATTE_DOCTOR_ROOT-}
again="depthmatte-doctor"
case $0 in *doctor.sh) again=$0 ;; esac
here=$(cd "$(dirname "$0")" && pwd)
page=$here/cameras.md
[ -e "$page" ] || page=/usr/share/doc/gstreamer1.0-depthmatte/pipelines/cameras.md
newline='
'

# MARK: Report

# A text as a JSON string; null for none.
quote() {
    if [ -n "$1" ]; then printf '"%s"' "$(printf '%s' "$1" | tr -d '\000-\037' | sed 's/[\\"]/\\&/g')"; else printf null; fi
}

facts=
fact() { facts="$facts$(printf '%-12s %s' "$1" "$2")$newline"; }

findings=
findings_json=
next=
# finding ID TEXT STEP: something in the way, and the command that takes it away. The first found is the first to mend.
finding() {
    findings="$findings- $2$newline"
    findings_json="$findings_json${findings_json:+, }{\"id\": $(quote "$1"), \"text\": $(quote "$2")}"
    [ -n "$next" ] || next=$3
}

# The first line of a file of /sys or /proc; empty where there is none.
line() {
    text=
    if [ -r "$1" ]; then IFS= read -r text <"$1" || :; fi
    printf '%s' "$text"
}

# MARK: GStreamer and the plugin

gstreamer=
plugin=
if command -v gst-inspect-1.0 >/dev/null; then
    gstreamer=$(gst-inspect-1.0 --version | sed -n 's/^GStreamer //p')
    fact GStreamer "$gstreamer"
    minor=${gstreamer#1.}
    if [ "${minor%%.*}" -lt 22 ]; then
        finding old-gstreamer "GStreamer is $gstreamer; the plugin needs 1.22 or newer (Debian 12, Ubuntu 24.04, Fedora 37)." \
            "sudo apt full-upgrade  # to a newer release of the system"
    fi
    plugin=$(gst-inspect-1.0 depthcamsrc 2>/dev/null | sed -n 's/^ *Filename *//p')
    if [ -n "$plugin" ]; then
        fact Plugin "$plugin"
    elif gst-inspect-1.0 -b 2>/dev/null | grep -q depthmatte; then
        finding blacklisted "GStreamer has put the plugin on its blacklist, because it could not be loaded once." \
            "rm -r \"\${XDG_CACHE_HOME:-\$HOME/.cache}/gstreamer-1.0\" && GST_DEBUG=GST_PLUGIN_LOADING:4 gst-inspect-1.0 depthcamsrc"
    elif [ -e "$here/../.build/release/libgstdepthmatte.so" ]; then
        finding no-plugin-path "GStreamer does not know the plugin, which was built here." \
            "export GST_PLUGIN_PATH=$(cd "$here/../.build/release" && pwd)"
    elif [ -e "$here/../Package.swift" ]; then
        finding not-built "GStreamer does not know the plugin: it is neither installed nor built here." \
            "cd $(cd "$here/.." && pwd) && swift build -c release --product gstdepthmatte"
    else
        finding no-plugin "GStreamer does not know the plugin: it is not installed." \
            "sudo apt install --reinstall gstreamer1.0-depthmatte"
    fi
else
    fact GStreamer "not installed"
    finding no-gstreamer "GStreamer's tools are not installed." \
        "sudo apt install gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good"
fi

# MARK: Libraries of the drivers

library_folders() {
    printf '%s' "${LD_LIBRARY_PATH-}" | tr ':' '\n'
    echo
    cat "$root"/etc/ld.so.conf "$root"/etc/ld.so.conf.d/*.conf 2>/dev/null | sed 's/#.*//' | grep '^/' || :
    printf '%s\n' /usr/local/lib /usr/lib /usr/lib64 /lib
}

# The first of the names that is in a folder of the loader's.
find_library() {
    for name in "$@"; do
        library_folders | while IFS= read -r folder; do
            if [ -n "$folder" ] && [ -e "$root$folder/$name" ]; then
                printf '%s' "$folder/$name"
                break
            fi
        done | head -n 1 | grep . && return
    done
    return 0
}

# find_in_package MODULE PATTERN: a library that a Python package carries, and that the property library names.
packages=${HOME-}/.local/share/depthmatte
find_in_package() {
    PYTHONPATH=$packages python3 ${root:+-S} -c 'import glob, importlib.util, os, sys
found = importlib.util.find_spec(sys.argv[1])
folders = found.submodule_search_locations if found else []
print(*sorted(sum((glob.glob(os.path.join(folder, sys.argv[2])) for folder in folders), []))[:1])' "$@" 2>/dev/null || :
}

libraries_json=
library() {
    driver=$1
    shift
    path=$(find_library "$@")
    case $path$driver in
    realsense) path=$(find_in_package pyrealsense2 'pyrealsense2*.so') ;;
    orbbec) path=$(find_in_package pyorbbecsdk libOrbbecSDK.so.2) ;;
    esac
    # The file that the link leads to has the whole version in its name: libfreenect.so.0.5.3.
    version=$(readlink -f "$root$path" | sed -n 's/.*\.so\.\([0-9]*\..*\)/\1/p')
    fact "Library" "$driver: ${path:-$1 not found}${version:+, version $version}"
    libraries_json="$libraries_json${libraries_json:+, }{\"driver\": $(quote "$driver"), \"path\": $(quote "$path"), \"version\": $(quote "$version")}"
    eval "library_$driver=\$path"
}
# The property for a library that the loader does not find.
named() { case $1 in */pyrealsense2/* | */pyorbbecsdk/*) printf ' library=%s' "$1" ;; esac }
library realsense librealsense2.so.2 librealsense2.so
library freenect libfreenect.so.0.5 libfreenect.so.0 libfreenect.so
library openni2 libOpenNI2.so.0 libOpenNI2.so
library k4a libk4a.so.1.4 libk4a.so.1 libk4a.so
library orbbec libOrbbecSDK.so.2 libOrbbecSDK.so

# MARK: Cameras

# camera VENDOR:PRODUCT NAME: prints the driver ("none" where there is none), the least speed in Mbit/s, and the family.
camera() {
    case "$1 $2" in
    8086:*RealSense*) echo "realsense 5000 RealSense" ;;
    045e:02ae* | 045e:02bf*) echo "freenect 480 Kinect v1" ;;
    045e:02b0*) echo "motor 0 Kinect v1" ;;
    045e:02c4* | 045e:02d8* | 045e:02d9*) echo "none 5000 Kinect v2" ;;
    045e:097c*) echo "k4a 5000 Azure Kinect" ;;
    2bc5:066b* | 2bc5:0669* | 2bc5:06c0*)
        # Two libraries read it.
        if [ -n "$library_k4a" ] && [ -z "$library_orbbec" ]; then echo "k4a 5000 Femto"; else echo "orbbec 5000 Femto"; fi
        ;;
    1d27:*) echo "openni2 480 Xtion, PrimeSense or Structure" ;;
    2bc5:04*) echo "openni2 480 Astra" ;;
    2bc5:*) echo "orbbec 5000 Orbbec" ;;
    2b03:*) echo "none 5000 ZED" ;;
    03e7:2485* | 03e7:f63b*) echo "none 480 OAK-D" ;;
    esac
}

install_library() {
    case $1 in
    realsense) echo "pip install --target '$packages' pyrealsense2" ;;
    freenect) echo "sudo apt install libfreenect0.5" ;;
    openni2) echo "sudo apt install libopenni2-0" ;;
    k4a) echo "sudo apt install libk4a1.4  # of Microsoft's packages" ;;
    orbbec) echo "pip install --no-deps --target '$packages' pyorbbecsdk2" ;;
    esac
}

# The processes that have one of the files open: number and name, a line each.
holders() {
    for link in "$root"/proc/[0-9]*/fd/*; do
        target=$(readlink "$link" 2>/dev/null) || continue
        case "$newline$1" in *"$newline$target$newline"*) ;; *) continue ;; esac
        process=${link#"$root/proc/"}
        process=${process%%/*}
        echo "$process $(line "$root/proc/$process/comm")"
    done | sort -u
}

examine() {
    device=$1
    id=$(line "$device/idVendor"):$(line "$device/idProduct")
    product=$(line "$device/product")
    kind=$(camera "$id" "$product")
    [ -n "$kind" ] || return 0
    driver=${kind%% *}
    family=${kind#* * }
    least=${kind#* }
    least=${least%% *}
    if [ "$driver" = motor ]; then
        has_motor=yes
        return 0
    fi
    cameras=$((cameras + 1))
    case $family in "Kinect v1") has_kinect=yes ;; esac
    speed=$(line "$device/speed")
    serial=
    [ "$serials" = no ] || serial=$(line "$device/serial")
    name="$family ($id${product:+, $product})"
    fact Camera "$name, ${speed:-?} Mbit/s${serial:+, serial $serial}"
    cameras_json="$cameras_json${cameras_json:+, }{\"family\": $(quote "$family"), \"id\": $(quote "$id"), \"product\": $(quote "$product"), \"driver\": $(quote "$driver"), \"speed\": $(quote "$speed"), \"serial\": $(quote "$serial")}"
    if [ "$driver" = none ]; then
        finding no-driver "depthcamsrc has no driver for the $family; its maker's library feeds depthmatte through appsrc." \
            "less $page  # the part on this family"
        return 0
    fi
    eval "path=\$library_$driver"
    ready=$driver$(named "$path")
    if [ -z "$path" ]; then
        finding no-library "The library that reads the $family is not installed." "$(install_library "$driver")"
    fi
    if [ "${speed%%.*}" -lt "$least" ] 2>/dev/null; then
        finding usb2 "The $family runs at $speed Mbit/s, which is USB 2: large pictures and high rates are missing, and it may not start." \
            "$again  # after plugging it into a USB 3 port, with the cable that came with it"
    fi
    bus=$(printf '/dev/bus/usb/%03d/%03d' "$(line "$device/busnum")" "$(line "$device/devnum")")
    nodes=$bus$newline
    for node in "$device":*/video4linux/video*; do
        [ ! -e "$node" ] || nodes="$nodes/dev/${node##*/}$newline"
    done
    if [ ! -w "$root$bus" ]; then
        vendor=${id%:*}
        if grep -qsi "idVendor}==\"$vendor\"" "$root"/etc/udev/rules.d/* "$root"/lib/udev/rules.d/* "$root"/usr/lib/udev/rules.d/*; then
            finding rules-not-applied "You may not open $bus ($family), though the rules for it are installed." \
                "sudo udevadm control --reload && sudo udevadm trigger"
        else
            finding no-permission "You may not open $bus ($family), and no udev rule lets you." \
                "echo 'SUBSYSTEM==\"usb\", ATTR{idVendor}==\"$vendor\", TAG+=\"uaccess\"' | sudo tee /etc/udev/rules.d/70-depthmatte.rules && sudo udevadm control --reload && sudo udevadm trigger"
        fi
    fi
    for driven in "$device":*/driver; do
        module=$(readlink "$driven") || continue
        if [ "${module##*/}" = gspca_kinect ] && [ "$driver" = freenect ]; then
            finding module "The kernel's module gspca_kinect has the $family." \
                "sudo modprobe -r gspca_kinect && echo 'blacklist gspca_kinect' | sudo tee /etc/modprobe.d/depthmatte.conf"
        fi
    done
    holder=$(holders "$nodes" | head -n 1)
    case ${holder#* } in
    "") ;;
    pipewire | wireplumber)
        finding held-by-pipewire "PipeWire (${holder#* }, process ${holder%% *}) has the $family open." \
            "systemctl --user stop wireplumber pipewire"
        ;;
    *) finding held "${holder#* } (process ${holder%% *}) has the $family open." "kill ${holder%% *}" ;;
    esac
}

cameras=0
cameras_json=
has_motor=no
has_kinect=no
ready=
for device in "$root"/sys/bus/usb/devices/*; do
    case ${device##*/} in *:*) continue ;; esac
    if [ -e "$device/idVendor" ]; then examine "$device"; fi
done
if [ $has_motor = yes ] && [ $has_kinect = no ]; then
    finding no-power "The motor of a Kinect v1 is there and its camera is not: the Kinect has no power from its own supply." \
        "$again  # after plugging in the Kinect's power supply"
elif [ "$cameras" -eq 0 ]; then
    fact Camera "none on USB"
    if [ -z "$address" ]; then
        finding no-camera "No depth camera is on USB." \
            "$again  # after plugging the camera into another port, with a cable that carries data"
    fi
fi

# MARK: Ethernet

if [ -n "$address" ]; then
    interface=$(ip route get "$address" 2>/dev/null | sed -n 's/.* dev \([^ ]*\).*/\1/p')
    if [ -z "$interface" ]; then
        finding no-route "No route leads to $address." "ip address  # one must be in the network of $address"
    else
        mtu=$(line "$root/sys/class/net/$interface/mtu")
        fact Ethernet "$address by $interface, MTU ${mtu:-?}"
        if [ "${mtu:-1500}" -lt 1500 ]; then
            finding small-mtu "The MTU of $interface is $mtu, less than the 1500 of Ethernet: frames of the camera are lost." \
                "sudo ip link set dev $interface mtu 1500"
        fi
        [ -n "$library_orbbec" ] || finding no-library "The library that reads cameras on Ethernet, Orbbec's, is not installed." \
            "$(install_library orbbec)"
        ready="orbbec$(named "$library_orbbec") serial=$address"
    fi
fi

# MARK: Display and virtual camera

display=${WAYLAND_DISPLAY:-${DISPLAY-}}
fact Display "${display:-none}"
if [ $virtual = yes ]; then
    if [ -d "$root/sys/module/v4l2loopback" ]; then
        fact "Virtual" "v4l2loopback"
    elif [ -e "$root${XDG_RUNTIME_DIR:-/run/user/$(id -u)}/pipewire-0" ]; then
        fact "Virtual" "PipeWire"
    elif find "$root/lib/modules/$(uname -r)" -name 'v4l2loopback*' 2>/dev/null | grep -q .; then
        finding loopback-not-loaded "The kernel module v4l2loopback is not loaded, and PipeWire does not run." \
            "sudo modprobe v4l2loopback exclusive_caps=1 card_label=depthmatte"
    else
        finding no-loopback "For a virtual camera, neither PipeWire runs nor is v4l2loopback installed." \
            "sudo apt install v4l2loopback-dkms"
    fi
fi

# MARK: The end

status=1
if [ -z "$next" ]; then
    status=0
    out="videoconvert ! autovideosink"
    [ -n "$display" ] || out="videoconvert ! pngenc ! multifilesink location=depthmatte.png"
    next="gst-launch-1.0 depthcamsrc${ready:+ driver=$ready} ! depthmatte ! $out"
fi
if [ $json = yes ]; then
    cat <<END
{
  "gstreamer": $(quote "$gstreamer"),
  "plugin": $(quote "$plugin"),
  "libraries": [$libraries_json],
  "cameras": [$cameras_json],
  "display": $(quote "$display"),
  "findings": [$findings_json],
  "next": $(quote "$next")
}
END
else
    printf '%s\n' "$facts"
    if [ -n "$findings" ]; then printf 'In the way:\n%s\n' "$findings"; else printf 'Nothing is in the way.\n\n'; fi
    printf 'Next step:\n\n    %s\n\n' "$next"
fi
exit $status
