#!/bin/sh
# Finds out why a depth camera does not start, and ends with the one next step.
#
#     depthmatte-doctor [--virtual-camera] [--address IP] [--watch SECONDS [--source SOURCE]] [--json] [--serials]
#
# --virtual-camera: looks at what a virtual camera needs, too. --address: looks at the way to an Ethernet camera, or to an iPhone that
# streams by Wi-Fi (the app Record3D), too.
#
# --watch SECONDS: plays the camera for so long, and says how many frames come and how many are dropped, how large the holes of the depth
# map are, how late depth is, and how far it lies beside the video. Move to and fro in front of the camera meanwhile: otherwise the lag
# stays unknown.
# --source SOURCE: plays this in place of the camera. It is the beginning of a launch line; its last element has the pads video and depth,
# as in --source "depthtestsrc is-live=true".
#
# --json: the report as one JSON object, for a bug report. --serials: the report has the cameras' serial numbers.
#
# Exits with 1 where something is in the way. It changes nothing. DEPTHMATTE_DOCTOR_ROOT names a folder that is read in place of /.
set -eu
# Bytes are bytes, and the tools' words are English.
export LC_ALL=C
# The shell's own may take a backslash for more.
echo() { printf '%s\n' "$*"; }

usage() {
    echo "usage: $0 [--virtual-camera] [--address IP] [--watch SECONDS [--source SOURCE]] [--json] [--serials]" >&2
    exit 2
}

json=no
serials=no
virtual=no
address=
seconds=
source=
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
    --watch=?*) seconds=${1#--watch=} ;;
    --source=?*) source=${1#--source=} ;;
    --address | --watch | --source)
        [ -n "${2-}" ] || usage
        case $1 in --address) address=$2 ;; --watch) seconds=$2 ;; *) source=$2 ;; esac
        shift
        ;;
    *) usage ;;
    esac
    shift
done
case $seconds in
"") [ -z "$source" ] || usage ;;
0* | *[!0-9]* | ????*) usage ;;
esac

root=${DEPTHMATTE_DOCTOR_ROOT-}
here=$(cd "$(dirname "$0")" && pwd)
newline='
'

# MARK: Texts

# The byte sequences that are characters of UTF-8, but for ASCII and for those that control a terminal. B is a byte that continues one.
character=$(printf '(\302[\240-\277]|[\303-\337]B|(\340[\240-\277]|[\341-\354\356\357]B|\355[\200-\237])B|(\360[\220-\277]|[\361-\363]B|\364[\200-\217])BB)' |
    sed "s/B/$(printf '[\200-\277]')/g")

# A text without control characters, and with ? for bytes that are no UTF-8: names of cameras and files may have any.
printable() {
    case $1 in
    *[!\ -~]*)
        # Each character on a line of its own; then the other bytes are in lines without one.
        printf '%s' "$1" | tr -d '\000-\037\177' | sed -E "s/$character/\\$newline&\\$newline/g" |
            sed -E "/^$character\$/!s/$(printf '[\200-\377]')/?/g" | tr -d '\n'
        ;;
    *) printf '%s' "$1" ;;
    esac
}

# A text as a JSON string; null for none.
quote() {
    case $1 in
    "") printf null ;;
    *[\\\"]*) printf '"%s"' "$(printable "$1" | sed 's/[\\"]/\\&/g')" ;;
    *) printf '"%s"' "$(printable "$1")" ;;
    esac
}

# json KEY VALUE...: an object of texts.
json() {
    object=
    while [ $# -gt 0 ]; do
        object="$object${object:+, }\"$1\": $(quote "$2")"
        shift 2
    done
    printf '{%s}' "$object"
}

# A text as one word of the shell.
word() {
    case $1 in
    "" | *[!A-Za-z0-9_./:=@%+,-]*) printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf '%s' "$1" ;;
    esac
}

# The first line of a file of /sys or /proc; empty where there is none.
line() {
    text=
    if [ -r "$1" ]; then IFS= read -r text <"$1" || :; fi
    printable "$text"
}

# older A B: true where version A is known and older than B.
older() { [ -n "$1" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort -t . -k 1,1n -k 2,2n | head -n 1)" != "$2" ]; }

again=$(word "$0")
case $0 in */bin/depthmatte-doctor) again=depthmatte-doctor ;; esac
page=/usr/share/doc/gstreamer1.0-depthmatte/pipelines/cameras.md
# Beside this script in the sources, in the folder doc of the tarball.
for place in "$here/doc/cameras.md" "$here/cameras.md"; do [ ! -e "$place" ] || page=$place; done
read_page="less $(word "$page")"

# MARK: Report

facts=
fact() { facts="$facts$(printf '%-12s %s' "$1" "$2")$newline"; }

findings=
findings_json=
next=
# finding ID TEXT STEP: something in the way, and the command that takes it away. The first found is the first to mend.
finding() {
    findings="$findings- $2$newline"
    findings_json="$findings_json${findings_json:+, }$(json id "$1" text "$2")"
    [ -n "$next" ] || next=$3
}

# MARK: System

# The container that this is, and the Windows or the virtual machine around it; empty where there is none.
if [ -e "$root/run/.containerenv" ]; then
    container=podman
elif [ -e "$root/.dockerenv" ]; then
    container=docker
else
    container=$(tr '\000' '\n' 2>/dev/null <"$root/proc/1/environ" | sed -n 's/^container=//p')
    [ -n "$container" ] || container=$(line "$root/run/systemd/container")
    [ -n "$container" ] || container=$(sed -nE 's/.*(docker|libpod|kubepods|containerd|lxc).*/\1/p' "$root/proc/1/cgroup" 2>/dev/null | head -n 1)
fi
windows=
case $(cat "$root/proc/sys/kernel/osrelease" "$root/proc/version" 2>/dev/null || :) in
*microsoft* | *-Microsoft-*) windows="WSL 2" ;;
*-Microsoft*) windows="WSL 1" ;;
esac
machine=
case "$(line "$root/sys/class/dmi/id/sys_vendor") $(line "$root/sys/class/dmi/id/product_name")" in
*VirtualBox* | *VMware* | *QEMU* | *KVM* | *Parallels* | "Microsoft Corporation Virtual Machine") machine="virtual machine" ;;
esac
system=${container:-${windows:-$machine}}
[ -z "$system" ] || fact System "$system"

# pass_usb NODE...: the command that passes USB, and other nodes of /dev, to this system.
pass_usb() {
    options=
    for node in /dev/bus/usb "$@"; do options="$options --device=$node"; done
    note="# on the host, with the other options of this container"
    [ -z "$windows" ] || note="$note; before that in Windows: usbipd attach --wsl --busid BUSID"
    case $container,$windows in
    ,"WSL 1") echo "wsl --set-version DISTRIBUTION 2  # in Windows: WSL 1 has no USB; then usbipd attach" ;;
    ,WSL*) echo "usbipd bind --busid BUSID; usbipd attach --wsl --busid BUSID  # in Windows, as administrator; usbipd list tells the BUSID" ;;
    podman,* | libpod,*) echo "podman run$options --group-add=keep-groups IMAGE  $note" ;;
    docker,* | containerd,* | ,*) echo "docker run$options IMAGE  $note" ;;
    *) echo "Pass /dev/bus/usb${*:+ $*} to this container ($container), with the right to open what is there." ;;
    esac
}
# A container's kernel, and the rules for its devices, are the host's.
on_host=${container:+  # on the host; then start the container again}

sudo="sudo "
if [ "$(id -u)" = 0 ] && ! command -v sudo >/dev/null; then sudo=; fi

case " $(sed -nE 's/^ID(_LIKE)?=//p' "$root/etc/os-release" "$root/usr/lib/os-release" 2>/dev/null | tr "\"'$newline" '   ') " in
*" debian "* | *" ubuntu "*) manager=apt ;;
*" fedora "* | *" rhel "* | *" centos "*) manager=dnf ;;
*" arch "*) manager=pacman ;;
*suse* | *" sles "*) manager=zypper ;;
*" alpine "*) manager=apk ;;
*" nixos "*) manager=nix ;;
*) manager= ;;
esac
[ ! -e "$root/run/ostree-booted" ] || manager=rpm-ostree

# install WHAT TEXT: the command of the system's package manager, or a sentence where its package is not known.
install() {
    names=
    case $manager:$1 in
    apt:gstreamer) names="gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good" ;;
    dnf:gstreamer | rpm-ostree:gstreamer) names="gstreamer1 gstreamer1-plugins-base gstreamer1-plugins-good" ;;
    pacman:gstreamer) names="gstreamer gst-plugins-base gst-plugins-good" ;;
    zypper:gstreamer) names="gstreamer gstreamer-utils gstreamer-plugins-base gstreamer-plugins-good" ;;
    apk:gstreamer) names="gstreamer-tools gst-plugins-base gst-plugins-good" ;;
    nix:gstreamer) names="gst_all_1.gstreamer gst_all_1.gst-plugins-base gst_all_1.gst-plugins-good" ;;
    apt:freenect) names=libfreenect0.5 ;;
    # With the link libfreenect.so, for which the driver looks.
    dnf:freenect | rpm-ostree:freenect) names="libfreenect libfreenect-devel" ;;
    pacman:freenect) names=libfreenect ;;
    apt:openni2) names=libopenni2-0 ;;
    apt:loopback | pacman:loopback) names="v4l2loopback-dkms" ;;
    apt:webrtc) names="gstreamer1.0-nice gstreamer1.0-plugins-bad python3-gi gir1.2-gst-plugins-bad-1.0" ;;
    dnf:webrtc | rpm-ostree:webrtc) names="libnice-gstreamer1 gstreamer1-plugins-bad-free python3-gobject" ;;
    apt:gi) names="python3-gi gir1.2-gstreamer-1.0" ;;
    dnf:gi | rpm-ostree:gi) names="python3-gobject" ;;
    pacman:gi) names="python-gobject" ;;
    apt:libpython*) names=$1 ;;
    apt:pip | dnf:pip | rpm-ostree:pip | zypper:pip) names="python3-pip" ;;
    pacman:pip) names="python-pip" ;;
    esac
    case ${names:+$manager} in
    "") echo "Install $2 by the package manager of this system." ;;
    pacman) echo "${sudo}pacman -S $names" ;;
    apk) echo "${sudo}apk add $names" ;;
    nix) echo "nix-shell -p $names" ;;
    *) echo "$sudo$manager install $names" ;;
    esac
}

# Where HOME is not set, or is the root that users without a home get, the folder in the list of users, or else the current one.
home=${HOME-}
if [ -z "$home" ] || { [ "$home" = / ] && [ ! -w / ]; }; then
    home=$(sed -n "s/^[^:]*:[^:]*:$(id -u):[^:]*:[^:]*:\([^:]*\):.*/\1/p" "$root/etc/passwd" 2>/dev/null | head -n 1)
    [ -n "$home" ] && [ -w "$home" ] || home=$(pwd)
fi
# The folder for libraries from Python packages.
packages=${home%/}/.local/share/depthmatte

# pip_install TEXT ARGUMENT...: the command that installs a Python package there, or a sentence where such packages do not run.
pip_install() {
    text=$1
    shift
    pip=$(command -v pip || command -v pip3 || install pip pip)
    case $pip in
    */*) pip=${pip##*/} ;;
    Install*) pip=pip ;;
    *) pip="$pip && pip" ;;
    esac
    case $manager in
    apk | nix) install "" "$text" ;;
    *) echo "$pip install --target $(word "$packages") --upgrade --no-deps $*" ;;
    esac
}

# MARK: GStreamer and the plugin

gstreamer=
plugin=
if command -v gst-inspect-1.0 >/dev/null; then
    gstreamer=$(gst-inspect-1.0 --version | sed -n 's/^GStreamer //p')
    fact GStreamer "$gstreamer"
    minor=${gstreamer#1.}
    if [ "${minor%%.*}" -lt 22 ]; then
        step="Upgrade the system to a release with GStreamer 1.22 or newer."
        [ "$manager" != apt ] || step="${sudo}apt full-upgrade  # to a newer release of the system"
        finding old-gstreamer "GStreamer is $gstreamer; the plugin needs 1.22 or newer (Debian 12, Ubuntu 24.04, Fedora 37)." "$step"
    fi
    plugin=$(gst-inspect-1.0 depthcamsrc 2>/dev/null | sed -n 's/^ *Filename *//p')
    if [ -n "$plugin" ]; then
        fact Plugin "$plugin"
    elif gst-inspect-1.0 -b 2>/dev/null | grep -q depthmatte; then
        finding blacklisted "GStreamer has put the plugin on its blacklist, because it could not be loaded once." \
            "rm -r $(word "${GST_REGISTRY:-${XDG_CACHE_HOME:-$home/.cache}/gstreamer-1.0}") && GST_DEBUG=GST_PLUGIN_LOADING:4 gst-inspect-1.0 depthcamsrc"
    elif [ -e "$here/../.build/release/libgstdepthmatte.so" ]; then
        finding no-plugin-path "GStreamer does not know the plugin, which was built here." \
            "export GST_PLUGIN_PATH=$(word "$(cd "$here/../.build/release" && pwd)")"
    elif [ -e "$here/lib/gstreamer-1.0/libgstdepthmatte.so" ]; then
        finding no-plugin-path "GStreamer does not know the plugin, which is here." \
            "export GST_PLUGIN_PATH=$(word "$here/lib/gstreamer-1.0")"
    elif [ -e "$here/../Package.swift" ]; then
        finding not-built "GStreamer does not know the plugin: it is neither installed nor built here." \
            "cd $(word "$(cd "$here/.." && pwd)") && swift build -c release --product gstdepthmatte"
    else
        step="Unpack the tarball of gst-depthmatte, and run its depthmatte-doctor."
        [ "$manager" != apt ] || step="${sudo}apt install --reinstall gstreamer1.0-depthmatte"
        finding no-plugin "GStreamer does not know the plugin: it is not installed." "$step"
    fi
else
    fact GStreamer "not installed"
    finding no-gstreamer "GStreamer's tools are not installed." \
        "$(install gstreamer "GStreamer 1.22 or newer (gst-inspect-1.0), gst-plugins-base and gst-plugins-good")"
fi

# MARK: Libraries of the drivers

# The folders of the loader, a line each.
folders=$(
    echo "${LD_LIBRARY_PATH-}" | tr ':' '\n'
    cat "$root"/etc/ld.so.conf "$root"/etc/ld.so.conf.d/*.conf 2>/dev/null | sed -n 's/#.*//; /^\//p'
    printf '%s\n' /usr/local/lib /usr/lib /usr/lib64 /lib
)

# The first of the names that is in one of them.
find_library() {
    for name in "$@"; do
        while IFS= read -r folder; do
            if [ -n "$folder" ] && [ -e "$root$folder/$name" ]; then
                echo "$folder/$name"
                return
            fi
        done <<END
$folders
END
    done
}

# find_in_python MODULE PATTERN: a library that a package of Python's own carries.
find_in_python() {
    python3 ${root:+-S} -c 'import glob, importlib.util, os, sys
found = importlib.util.find_spec(sys.argv[1])
folders = found.submodule_search_locations if found else []
print(*sorted(sum((glob.glob(os.path.join(glob.escape(folder), sys.argv[2])) for folder in folders), []))[:1])' "$@" 2>/dev/null || :
}

# library DRIVER MODULE PATTERN NAME...: a library. That of a Python package for this plugin comes before the system's, as it was
# installed where that would not do; those of Python's own packages come last. The property "library" names either.
libraries_json=
library() {
    driver=$1
    module=$2
    pattern=$3
    shift 3
    named=
    for file in "$packages/$module"/$pattern; do [ ! -f "$file" ] || named=$file; done
    path=${named:-$(find_library "$@")}
    case $path,$module in ,pyrealsense2 | ,pyorbbecsdk) named=$(find_in_python "$module" "$pattern") ;; esac
    path=${named:-$path}
    file=${named:-$root$path}
    # In a launch line a backslash stands for the next character.
    property=${named:+ $(word "library=$(printf '%s' "$named" | sed 's/\\/&&/g')")}
    # The file that the link leads to has the whole version in its name: libfreenect.so.0.5.3. A Python module has it beside.
    version=$(readlink -f "$file" | sed -n 's/.*\.so\.\([0-9]*\..*\)/\1/p')
    if [ "$driver" = realsense ] && [ -n "$named" ]; then
        version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' "${file%/*}/_version.py" 2>/dev/null) || :
        # Of several notes, which pip leaves behind, the last is the newest.
        [ -n "$version" ] || for note in "${file%/*/*}"/pyrealsense2-[0-9]*.dist-info; do
            version=${note##*/pyrealsense2-}
            version=$(echo "${version%.dist-info}" | grep '^[0-9]') || :
        done
    fi
    fact "Library" "$driver: ${path:-$1 not found}${version:+, version $version}"
    libraries_json="$libraries_json${libraries_json:+, }$(json driver "$driver" path "$path" version "$version")"
    eval "library_$driver=\$path file_$driver=\$file property_$driver=\$property version_$driver=\$version"
}
library realsense pyrealsense2 'pyrealsense2*.so' librealsense2.so.2 librealsense2.so
library freenect "" "" libfreenect.so.0.5 libfreenect.so.0 libfreenect.so
library openni2 "" "" libOpenNI2.so.0 libOpenNI2.so
library k4a pyk4a_bundle.libs libk4a.so.1.4 libk4a.so.1.4 libk4a.so.1 libk4a.so
library orbbec pyorbbecsdk libOrbbecSDK.so.2 libOrbbecSDK.so.2 libOrbbecSDK.so

# MARK: Cameras

# camera VENDOR:PRODUCT NAME: prints the driver ("none" where there is none), the least speed in Mbit/s, and the family.
camera() {
    case "$1 $2" in
    8087:0b37* | *RealSense*T26[15]*) echo "none 480 RealSense T265" ;;
    8086:0aa[235]* | 8086:0b48* | *RealSense*SR30*) echo "realsense 5000 RealSense SR300" ;;
    # librealsense 2 never knew them.
    8086:0a66* | 8086:0a80* | 8086:0abf* | 8086:0acb* | *RealSense*[FR]200* | *RealSense*ZR300*)
        echo "none 480 RealSense F200, R200 or ZR300"
        ;;
    8086:0b0d* | 8086:0b3d* | 8086:0b6[48]* | *RealSense*L5[0-9][0-9]*) echo "realsense 5000 RealSense L500" ;;
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

# known VENDOR:PRODUCT FAMILY: the first version of librealsense that does for a camera, and the first that does not any more.
# Source: its release notes, and the names of cameras in the Python packages of 2.54.1 to 2.59.1.
known() {
    case "$1 $2" in
    8086:0b56* | 8086:1155*) echo "2.56 99" ;;
    8086:0b68*) echo "2.50 2.54" ;;
    *SR300 | *L500) echo "2.50 2.55" ;;
    *) echo "2.50 99" ;;
    esac
}

# install_library DRIVER: that of the camera at hand.
install_library() {
    case $1,${until-99} in
    realsense,99) pip_install "librealsense 2.50 or newer (librealsense2.so.2)" pyrealsense2 ;;
    realsense,*)
        # The last package for Python that knows the camera, if any, and the last Python that it is for.
        if [ "$until" = 2.55 ] && python3 -c 'import sys; sys.exit(sys.version_info > (3, 12))' 2>/dev/null; then
            pip_install "librealsense 2.50 (librealsense2.so.2)" pyrealsense2==2.54.2.5684
        else
            echo "$read_page  # the part on the ${family-}"
        fi
        ;;
    freenect,*) install freenect "libfreenect 0.5 or newer (libfreenect.so)" ;;
    openni2,*) install openni2 "OpenNI 2 (libOpenNI2.so)" ;;
    orbbec,*) pip_install "OrbbecSDK 2 (libOrbbecSDK.so.2)" pyorbbecsdk2 ;;
    k4a,*)
        # For one kind of processor alone, whichever Python there is. The SDK's own names lead to the package's files.
        step=$(pip_install "the Azure Kinect Sensor SDK 1.4 (libk4a.so.1.4, libk4arecord.so.1.4, libdepthengine.so.2.0)" \
            --only-binary=:all: --python-version 3.11 pyk4a-bundle)
        case $step in Install*) ;; *) step="$step && (cd $(word "$packages/pyk4a_bundle.libs") && for name in libk4a libk4arecord; do ln -sf \$name-*.so.* \$name.so.1.4; done)" ;; esac
        [ "$(uname -m)" = x86_64 ] || step="$read_page  # the part on the Azure Kinect"
        echo "$step"
        ;;
    esac
}

# The library of the camera at hand: whether it is there, knows the camera, and has what it needs.
examine_library() {
    eval "path=\$library_$driver file=\$file_$driver version=\$version_$driver"
    case $driver in
    realsense) oldest=$(known "$id" "$family") ;;
    freenect) oldest="0.5 99" ;;
    orbbec) oldest="2.0 99" ;;
    *) oldest="0 99" ;;
    esac
    until=${oldest#* }
    oldest=${oldest% *}
    if [ -z "$path" ]; then
        finding no-library "The library that reads the $who is not installed." "$(install_library "$driver")"
        return 0
    elif older "$version" "$oldest"; then
        finding old-library "The library that reads the $who, $path, has version $version; $oldest is needed." "$(install_library "$driver")"
    elif [ -n "$version" ] && ! older "$version" "$until"; then
        finding dropped "The library $path has version $version, and from $until on it does not know the $who." "$(install_library "$driver")"
    fi
    folder=${file%/*}
    case $driver:$id:$file in
    *.cpython-3*)
        python=${path##*.cpython-3}
        python=libpython3.${python%%[!0-9]*}
        [ -n "$(find_library "$python.so.1.0")" ] || /sbin/ldconfig -p 2>/dev/null | grep -q "$python.so.1.0" ||
            finding no-python "$path needs the library of its Python, $python.so.1.0." "$(install "$python" "$python.so.1.0")"
        ;;
    openni2:2bc5:*)
        find "$folder/OpenNI2/Drivers" -name '*rbbec*' 2>/dev/null | grep -q . ||
            finding no-openni-driver "OpenNI has no driver for the $who in ${path%/*}/OpenNI2/Drivers." "$read_page  # the part on the Astra"
        ;;
    k4a:045e:097c:* | k4a:2bc5:066b:*)
        engine=libdepthengine.so.2.0
        [ -e "$folder/$engine" ] || [ -e "$folder/libk4a1.4/$engine" ] || [ -n "$(find_library $engine)" ] ||
            finding no-depth-engine "The library that reads the $who lacks its depth engine, $engine." "$(install_library k4a)"
        ;;
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
    least_speed=${kind#* }
    least_speed=${least_speed%% *}
    if [ "$driver" = motor ]; then
        has_motor=yes
        return 0
    fi
    [ "$driver" != k4a ] || azures=$((azures + 1))
    cameras=$((cameras + 1))
    case $family in "Kinect v1") has_kinect=yes ;; esac
    speed=$(line "$device/speed")
    port=${device##*/}
    serial=
    [ "$serials" = no ] || serial=$(line "$device/serial")
    who=$family
    [ -z "$several" ] || who="${product:-$family} at USB port $port"
    fact Camera "$family ($id${product:+, $product})${several:+ at USB port $port}, ${speed:-?} Mbit/s${serial:+, serial $serial}"
    cameras_json="$cameras_json${cameras_json:+, }$(json family "$family" id "$id" product "$product" port "$port" \
        driver "$driver" speed "$speed" serial "$serial")"
    case $driver:$family in
    *T265)
        finding no-depth "The $who measures its own motion and no depth." "$again  # after plugging in a depth camera"
        return 0
        ;;
    none:*)
        finding no-driver "depthcamsrc has no driver for the $who; its maker's library feeds depthmatte through appsrc." \
            "$read_page  # the part on this family"
        return 0
        ;;
    esac
    examine_library
    if [ "${speed%%.*}" -lt "$least_speed" ] 2>/dev/null; then
        finding usb2 "The $who runs at $speed Mbit/s, which is USB 2: large pictures and high rates are missing, and it may not start." \
            "$again  # after plugging the $who into a USB 3 port, with the cable that came with it"
    fi
    examine_nodes
    for driven in "$device":*/driver; do
        module=$(readlink "$driven") || continue
        if [ "${module##*/}" = gspca_kinect ] && [ "$driver" = freenect ]; then
            finding module "The kernel's module gspca_kinect has the $who." \
                "${sudo}modprobe -r gspca_kinect && echo 'blacklist gspca_kinect' | ${sudo}tee /etc/modprobe.d/depthmatte.conf$on_host"
        fi
    done
    holder=$(holders "$nodes" | head -n 1)
    case ${holder#* } in
    "") ;;
    pipewire* | wireplumber)
        finding held-by-pipewire "PipeWire (${holder#* }, process ${holder%% *}) has the $who open." \
            "systemctl --user stop wireplumber pipewire.socket pipewire"
        ;;
    *)
        finding held "${holder#* } (process ${holder%% *}) has the $who open." \
            "$again  # after closing ${holder#* } (process ${holder%% *}), which has the $who open"
        ;;
    esac
    case $id in
    045e:097c | 2bc5:066b)
        # The libraries make depth by OpenGL on X11, on Wayland too.
        [ -n "${DISPLAY-}" ] || finding no-display "The library that reads the $who makes depth on an X11 display, and there is none." "$(find_display)"
        ;;
    esac
    eval "property=\$property_$driver"
    # Of cameras that share a driver, it takes the first without "serial".
    case $drivers in *" $driver "*" $driver "*) property="$property serial=$(serial_property)" ;; esac
    case $property in *serial=NUMBER*) labels="$labels${labels:+, }NUMBER$cameras: on the label of the $who" ;; esac
    add_camera "$driver$property"
}

# The property "serial" of the camera at hand, without the number that USB tells.
serial_property() {
    case $driver in
    openni2) echo "$(echo "$id" | tr : /)@$(line "$device/busnum")/$(line "$device/devnum")" ;;
    k4a) echo "$azures" ;;
    *) echo "NUMBER$cameras" ;;
    esac
}

# The rights to the files of the camera at hand in /dev.
examine_nodes() {
    bus=$(printf '/dev/bus/usb/%03d/%03d' "$(line "$device/busnum")" "$(line "$device/devnum")")
    videos=
    for node in "$device":*/video4linux/video*; do
        [ ! -e "$node" ] || videos="$videos /dev/${node##*/}"
    done
    nodes=$(echo "$bus$videos" | tr ' ' '\n')$newline
    # Other libraries read by USB alone, as librealsense does where it was built with its own USB backend.
    if [ "$driver" != realsense ] || grep -qs rs_uvc_device "$file"; then
        videos=
    elif [ -z "$videos" ] && [ -d "$root/sys/module/usbcore" ] && [ ! -d "$root/sys/module/uvcvideo" ]; then
        finding no-uvcvideo "The kernel's module uvcvideo, by which the $who is read, is not loaded." \
            "${sudo}modprobe uvcvideo$on_host${windows:+  # where the kernel has none: wsl --update in Windows, for 6.6 or newer}"
    fi
    missing=
    closed=
    for node in $bus $videos; do
        if [ ! -e "$root$node" ]; then
            missing="$missing${missing:+, }$node"
        elif [ ! -w "$root$node" ] && [ "$node" != "$bus" ]; then
            closed=$node
        fi
    done
    vendor=${id%:*}
    if [ -n "$missing" ]; then
        # shellcheck disable=SC2086 # a list
        finding not-passed "The kernel has the $who, but $missing is not here: it is not passed to this system." "$(pass_usb $videos)"
    elif [ -w "$root$bus" ]; then
        [ -z "$closed" ] || finding no-video-permission "You may not open $closed ($who)." \
            "${sudo}usermod -aG video \"\$(id -un)\"  # and log in again"
    elif grep -qsi "idVendor}==\"$vendor\"" "$root"/etc/udev/rules.d/* "$root"/lib/udev/rules.d/* "$root"/usr/lib/udev/rules.d/*; then
        finding rules-not-applied "You may not open $bus ($who), though the rules for it are installed." \
            "${sudo}udevadm control --reload && ${sudo}udevadm trigger$on_host"
    else
        # "uaccess" is for those who sit at the machine.
        grant='TAG+="uaccess"'
        [ -z "$container$windows${SSH_CONNECTION-}" ] || grant='MODE="0666"'
        rule="SUBSYSTEM==\"usb\", ATTR{idVendor}==\"$vendor\", $grant"
        step="echo '$rule' | ${sudo}tee /etc/udev/rules.d/70-depthmatte.rules && ${sudo}udevadm control --reload && ${sudo}udevadm trigger$on_host"
        [ "$manager" != nix ] || step="Add services.udev.extraRules = ''$rule''; to configuration.nix, and run nixos-rebuild switch."
        finding no-permission "You may not open $bus ($who), and no udev rule lets you." "$step"
    fi
}

# The command that makes a display known.
find_display() {
    step="$again  # in a terminal of the desktop, where DISPLAY is set"
    [ -z "$container" ] || step=$(pass_usb | sed 's|IMAGE|-e DISPLAY -v /tmp/.X11-unix:/tmp/.X11-unix IMAGE|')
    for socket in "$root"/tmp/.X11-unix/X*; do [ ! -e "$socket" ] || step="export DISPLAY=:${socket##*/X}"; done
    echo "$step"
}

# find_output SUFFIX: the end of a launch line that shows the picture, or where there is no display writes it to a file.
find_output() {
    out="videoconvert ! autovideosink"
    [ -n "$display" ] || out="videoconvert ! pngenc ! multifilesink location=depthmatte$1.png"
}

# add_camera DRIVER-AND-PROPERTIES: to the launch line that shows all cameras. The first is the one that is watched.
launch=
watched=
add_camera() {
    shown=$((shown + 1))
    find_output "${several:+-$shown}"
    launch="$launch depthcamsrc driver=$1 ! depthmatte ! $out"
    [ -n "$watched" ] || watched="depthcamsrc driver=${1% serial=NUMBER*}"
}

display=${WAYLAND_DISPLAY:-${DISPLAY-}}
cameras=0
shown=0
azures=-1
cameras_json=
labels=
has_motor=no
has_kinect=no
several=
# The drivers, one for each camera.
drivers=${address:+ orbbec }
for device in "$root"/sys/bus/usb/devices/*; do
    kind=$(camera "$(line "$device/idVendor"):$(line "$device/idProduct")" "$(line "$device/product")")
    case $kind in "" | motor*) continue ;; esac
    several=${drivers:+yes}
    drivers="$drivers ${kind%% *} "
done
for device in "$root"/sys/bus/usb/devices/*; do
    case ${device##*/} in *:*) continue ;; esac
    if [ -e "$device/idVendor" ]; then examine "$device"; fi
done
if [ $has_motor = yes ] && [ $has_kinect = no ]; then
    finding no-power "The motor of a Kinect v1 is there and its camera is not: the Kinect has no power from its own supply." \
        "$again  # after plugging in the power supply of the Kinect"
elif [ "$cameras" -eq 0 ]; then
    fact Camera "none on USB"
    step="$again  # after plugging the camera into another port, with a cable that carries data"
    [ -z "$machine" ] || step="$again  # after passing the camera to this virtual machine, which has a setting for that, by USB 3"
    [ -z "$container$windows" ] || step=$(pass_usb)
    [ -n "$address$source" ] || finding no-camera "No depth camera is on USB${system:+, or it is not passed to this system ($system)}." "$step"
fi

# MARK: Network

# The number of an address, and the status of what Record3D replies there: 0 for no reply, or none of its kind.
ask_phone() {
    python3 ${root:+-S} -c 'import json, socket, sys, urllib.error, urllib.request as web
def status(path):
    try:
        with web.build_opener(web.ProxyHandler({})).open("http://" + sys.argv[1] + path, timeout=3) as reply:
            return reply.status if isinstance(json.loads(reply.read(1 << 20)), dict) else 0
    except urllib.error.HTTPError as error:
        return error.code
    except Exception:
        return 0
known = status("/metadata")
print(socket.gethostbyname(sys.argv[1].split(":")[0]), known, status("/getOffer") if known == 200 else 0)' "$1" 2>/dev/null || :
}

phone=
if [ -n "$address" ]; then
    address=${address#http://}
    address=${address%/}
    reply=$(ask_phone "$address")
    host=${reply%% *}
    case $reply in
    *" 200 200")
        fact iPhone "$address"
        phone=/usr/share/doc/gstreamer1.0-depthmatte/pipelines/record3d.py
        [ ! -e "$here/record3d.py" ] || phone=$here/record3d.py
        if command -v gst-inspect-1.0 >/dev/null && [ -z "$(gst-inspect-1.0 nicesrc 2>/dev/null)" ]; then
            finding no-webrtc "GStreamer cannot receive WebRTC, by which the iPhone streams." \
                "$(install webrtc "the GStreamer plugin of libnice, and Python's GObject introspection")"
        fi
        ;;
    *" 200 "*)
        fact iPhone "$address"
        phone=busy
        finding phone-busy "The iPhone at $address is busy: it streams to one viewer at a time, and there is another." \
            "$again  # after the other viewer has closed, or the red button of Record3D was pressed twice"
        ;;
    esac
fi
if [ -n "$address" ] && [ -z "$phone" ]; then
    fact iPhone "none replies at http://$address"
    interface=$(ip route get "${host:-$address}" 2>/dev/null | sed -n 's/.* dev \([^ ]*\).*/\1/p')
    if [ -z "$interface" ]; then
        finding no-route "No route leads to $address." "ip address  # one must be in the network of $address"
    else
        mtu=$(line "$root/sys/class/net/$interface/mtu")
        fact Ethernet "$address by $interface, MTU ${mtu:-?}"
        if [ "${mtu:-1500}" -lt 1500 ]; then
            finding small-mtu "The MTU of $interface is $mtu, less than the 1500 of Ethernet: frames of the camera are lost." \
                "${sudo}ip link set dev $interface mtu 1500"
        fi
        [ -n "$library_orbbec" ] || finding no-library "No iPhone replies at $address (in Record3D: Settings, Live RGBD Video Streaming, Wi-Fi; then the red button), and the library that reads cameras on Ethernet, Orbbec's, is not installed." \
            "$(install_library orbbec)"
        eval "property=\$property_orbbec"
        add_camera "orbbec$property $(word "serial=$address")"
    fi
fi

# MARK: Display and virtual camera

fact Display "${display:-none}"
if [ $virtual = yes ]; then
    if [ -d "$root/sys/module/v4l2loopback" ]; then
        fact "Virtual" "v4l2loopback"
    elif [ -e "$root${XDG_RUNTIME_DIR:-/run/user/$(id -u)}/pipewire-0" ]; then
        fact "Virtual" "PipeWire"
    elif find "$root/lib/modules/$(uname -r)" -name 'v4l2loopback*' 2>/dev/null | grep -q .; then
        finding loopback-not-loaded "The kernel module v4l2loopback is not loaded, and PipeWire does not run." \
            "${sudo}modprobe v4l2loopback exclusive_caps=1 card_label=depthmatte$on_host"
    else
        finding no-loopback "For a virtual camera, neither PipeWire runs nor is v4l2loopback installed." \
            "$(install loopback "PipeWire or the kernel module v4l2loopback (Fedora: akmod-v4l2loopback of RPM Fusion)")"
    fi
fi

# MARK: The camera at work

if [ -n "$source" ]; then
    watched=
    set -f
    for part in $source; do
        [ "$part" = "!" ] || part=$(word "$part")
        watched="$watched${watched:+ }$part"
    done
    set +f
fi
watch=$here/watch.py
[ -e "$watch" ] || watch=$here/../share/gst-depthmatte/watch.py
line="$watched name=camera camera.video ! queue ! matte.video camera.depth ! queue ! matte.depth depthmatte name=matte"
find_output ""
watch_json=
settings=
if [ -n "$seconds" ] && [ -n "$plugin" ] && [ -n "$watched" ]; then
    fact Watched "$watched"
    [ ! -t 2 ] || echo "Watching for $seconds s. Move to and fro in front of the camera." >&2
    [ -z "$source" ] || launch=" $line ! $out"
    eval "set -- $line"
    seen=$(SWIFT_BACKTRACE=${SWIFT_BACKTRACE:-enable=no} "$watch" "$seconds" "$@" ! fakesink 2>/dev/null) || :
    while IFS= read -r seen; do
        text=$(printable "${seen#* }")
        case $seen in
        no-gi)
            finding no-gi "Python's GObject introspection of GStreamer, by which the camera is watched, is not installed." \
                "$(install gi "PyGObject, and GStreamer's GObject introspection")"
            ;;
        error\ *) finding not-played "$watched does not play: $text" "GST_DEBUG=4 gst-launch-1.0 $line ! fakesink" ;;
        none\ *) finding no-frames "$text" "GST_DEBUG=4 gst-launch-1.0 $line ! fakesink" ;;
        set\ *) settings=" $text" ;;
        late\ *) finding late "$text" "gst-launch-1.0 $line$settings ! $out" ;;
        beside\ *) finding beside "$text" "gst-launch-1.0 $line$settings ! $out" ;;
        warned\ *) finding warned "$text" "gst-launch-1.0 $line view=quad ! $out" ;;
        "{"*) watch_json=$seen ;;
        Rate\ * | Dropped\ * | Holes\ * | Lag\ * | Offset\ *) fact "${seen%% *}" "$text" ;;
        esac
    done <<END
${seen:-error what plays it ended without a word}
END
elif [ -n "$seconds" ]; then
    if [ -z "$plugin" ]; then fact Watched "nothing: GStreamer does not find the plugin"; else fact Watched "nothing: depthcamsrc has no camera"; fi
fi

# MARK: The end

status=1
if [ -z "$next" ]; then
    status=0
    next="gst-launch-1.0$launch${labels:+  # $labels}"
    [ -z "$phone" ] || next="$(word "$phone") $(word "$address")"
fi
if [ $json = yes ]; then
    cat <<END
{
  "system": $(quote "$system"),
  "gstreamer": $(quote "$gstreamer"),
  "plugin": $(quote "$plugin"),
  "libraries": [$libraries_json],
  "cameras": [$cameras_json],
  "display": $(quote "$display"),
  "watch": ${watch_json:-null},
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
