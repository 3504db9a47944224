#!/bin/sh
# Runs a launch line that is kept in a file.
#
#     ./pipelines/run.sh pipelines/depthmatte/record.launch FRAMES=300 OUTPUT=me.mkv
#     ./pipelines/run.sh --print FILE.launch
#     ./pipelines/run.sh --get-swift FILE.launch
#
# In the file, lines that begin with # are comments, and "#: NAME=value  meaning" names a variable and its default.
# $NAME in the line is replaced by the variable's value. Relative file names count from the current folder.
# With --print the line is shown and not run. With --get-swift a plugin that is neither built nor installed is built
# first, and Swift is fetched from swift.org where it is missing (pipelines/need-swift.sh).
# Without a display give a sink: SINK="pngenc ! multifilesink location=frame-%02d.png" FRAMES=30

set -eu

usage() {
    echo "usage: $0 [--print | --get-swift] FILE.launch [NAME=value]..." >&2
    exit 2
}

# Replaces $1, as $NAME, by $2 in the text on standard input.
substitute() {
    value=$(printf '%s' "$2" | sed 's/[\\&|]/\\&/g')
    sed "s|[$]$1\([^A-Z_]\)|$value\1|g; s|[$]$1\$|$value|"
}

print=no
get=no
case ${1-} in
-h | --help)
    sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
--print)
    print=yes
    shift
    ;;
--get-swift)
    get=yes
    shift
    ;;
esac
[ $# -ge 1 ] || usage
file=$1
shift
[ -f "$file" ] || { echo "$0: there is no file $file" >&2; exit 2; }

here=$(cd "$(dirname "$0")" && pwd)
line=$(grep -v '^#' "$file" | tr '\n' ' ' | sed 's/\\ / /g; s/  */ /g; s/^ //; s/ $//')

for pair in "$@"; do
    case $pair in
    [A-Z]*=*)
        if ! grep -q "[$]${pair%%=*}\([^A-Z_]\|\$\)" "$file"; then
            echo "$0: $file has no variable ${pair%%=*}" >&2
            exit 2
        fi
        line=$(printf '%s\n' "$line" | substitute "${pair%%=*}" "${pair#*=}")
        ;;
    *) usage ;;
    esac
done

# A default ends at two spaces.
while IFS= read -r pair; do
    [ -z "$pair" ] || line=$(printf '%s\n' "$line" | substitute "${pair%%=*}" "${pair#*=}")
done <<END
$(sed -n 's/^#: *\([A-Z_]*=\)/\1/p' "$file" | sed 's/  .*//')
END
line=$(printf '%s\n' "$line" | substitute PIPELINES "$here")

unset_names=$(printf '%s\n' "$line" | grep -o '[$][A-Z_]*' | sort -u | tr '\n' ' ') || true
if [ -n "$unset_names" ]; then
    echo "$0: $file needs a value for $unset_names(give NAME=value)" >&2
    exit 2
fi

if [ "$print" = yes ]; then
    printf '%s\n' "$line"
    exit 0
fi

if [ "$get" = yes ] && [ ! -f "$here/../.build/release/libgstdepthmatte.so" ] &&
    ! gst-inspect-1.0 --exists --atleast-version=0.0 depthmatte 2>/dev/null; then
    PATH=$("$here/need-swift.sh" --get-swift)
    export PATH
    "$here/install.sh" build run
    (
        cd "$here/.."
        pipelines/step.sh plugin "building the plugin" swift build -c release --product gstdepthmatte --disable-local-rpath
    )
fi

# A library that was built here comes before an installed one.
if [ -f "$here/../.build/release/libgstdepthmatte.so" ]; then
    GST_PLUGIN_PATH=$(cd "$here/../.build/release" && pwd)${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
    export GST_PLUGIN_PATH
elif ! command -v gst-launch-1.0 >/dev/null; then
    echo "$0: there is no gst-launch-1.0; $here/install.sh run installs it" >&2
    exit 1
elif ! gst-inspect-1.0 --exists --atleast-version=0.0 depthmatte; then
    {
        echo "$0: the plugin is neither built nor where GStreamer looks. These commands build it:"
        echo
        echo "    cd $(cd "$here/.." && pwd)"
        echo "    ./pipelines/install.sh build"
        echo "    PATH=\$(./pipelines/need-swift.sh)"
        echo "    swift build -c release --product gstdepthmatte --disable-local-rpath"
        echo
    } >&2
    "$here/need-swift.sh" </dev/null >/dev/null || :
    exit 1
fi
case $line in
*autovideosink*)
    if [ -z "${DISPLAY-}" ] && [ -z "${WAYLAND_DISPLAY-}" ]; then
        echo "$0: there is no display for autovideosink; a sink without one:" >&2
        echo "    SINK=\"pngenc ! multifilesink location=frame-%02d.png\"; where the line has FRAMES, FRAMES=30 too" >&2
        # On a console it draws by the kernel's graphics device. Without one, that of GStreamer 1.22 ends in a
        # segmentation fault, and newer ones show nothing.
        ls /dev/dri/card* >/dev/null 2>&1 || exit 1
    fi
    ;;
esac
# On a crash the Swift runtime would print memory, and so perhaps pictures, to the terminal.
export SWIFT_BACKTRACE="${SWIFT_BACKTRACE:-enable=no}"

# gst-launch-1.0 joins its arguments by spaces and reads quotes itself, so splitting at spaces loses nothing.
set -f
# shellcheck disable=SC2086
exec gst-launch-1.0 --no-fault --eos-on-shutdown $line
