#!/bin/sh
# Tests how pipelines/need-swift.sh fetches Swift, from a server on loopback: a toolchain of a few files, which a key of
# this test has signed. Takes seconds. Needs Python, curl and gpg.
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

[ -n "${DEPTHMATTE_TEST_RUN-}" ] || exec "$(dirname "$0")/leftovers.sh" "$0" "$@"
need=$(cd "$(dirname "$0")/../pipelines" && pwd)/need-swift.sh
folder=$(mktemp -d)
export GNUPGHOME="$folder/keys" HOME="$folder/home"
mkdir -m 700 "$GNUPGHOME" "$HOME"
server=
trap 'gpgconf --kill gpg-agent; [ -z "$server" ] || kill "$server"; rm -rf "$folder"' EXIT
cd "$folder"

mkdir -p swift-6.3.1-RELEASE/usr/bin
cat >swift-6.3.1-RELEASE/usr/bin/swift <<'END'
#!/bin/sh
[ "$1" != --version ] || { echo 'Swift version 6.3.1 (swift-6.3.1-RELEASE)'; exit; }
echo "the fetched swift:" "$@"
exit 1
END
chmod +x swift-6.3.1-RELEASE/usr/bin/swift
head -c 1000000 /dev/urandom >swift-6.3.1-RELEASE/usr/noise
head -c 4000000 /dev/zero >swift-6.3.1-RELEASE/usr/zeros
tar -czf swift.tar.gz swift-6.3.1-RELEASE
gpg --batch --quiet --passphrase '' --quick-gen-key 'Test <test@localhost>' ed25519 sign never
gpg --batch --armor --export >keys.asc
gpg --batch --quiet --detach-sign swift.tar.gz
gpg --batch --quiet --list-keys --with-colons | sed -n '/^fpr/{s/^fpr:*//; s/:$//; p; q;}' >fingerprint

# Under /half the download breaks off, under /wrong a byte is not the one that was signed.
cat >server.py <<'END'
import http.server, os, sys
folder = sys.argv[1]
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(folder + "/requests", "a") as log:
            print(self.path, file=log)
        endings = {".asc": "keys.asc", ".sig": "swift.tar.gz.sig", ".gz": "swift.tar.gz"}
        name = endings.get(os.path.splitext(self.path)[1])
        if name is None or self.path.startswith("/none"):
            return self.send_error(404)
        data = bytearray(open(folder + "/" + name, "rb").read())
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if name == "swift.tar.gz" and self.path.startswith("/wrong"):
            data[len(data) // 2] ^= 1
        if name == "swift.tar.gz" and self.path.startswith("/half"):
            data = data[:len(data) // 2]
        self.wfile.write(data)
    def log_message(self, *arguments):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(folder + "/port.new", "w") as file:
    file.write(str(server.server_address[1]))
os.rename(folder + "/port.new", folder + "/port")
server.serve_forever()
END
setpriv --pdeathsig KILL python3 server.py "$folder" &
server=$!
for _ in $(seq 100); do [ -f port ] || sleep 0.1; done

# Only what need-swift.sh uses, without Swift; all packages pass for installed.
mkdir bin
ln -s /usr/bin/* bin
rm -f bin/swift bin/dpkg-query
printf '#!/bin/sh\nprintf installed\n' >bin/dpkg-query
chmod +x bin/dpkg-query
export PATH="$folder/bin"
unset SWIFT_TOOLCHAIN SWIFTLY_BIN_DIR SWIFTLY_HOME_DIR SWIFT_RELEASE http_proxy
SWIFT_SIGNING_KEY=$(cat fingerprint)
SWIFT_KEYS_URL=http://127.0.0.1:$(cat port)/keys.asc
export SWIFT_SIGNING_KEY SWIFT_KEYS_URL
own=$HOME/.local/share/gst-depthmatte

expect() { # of what was printed, the status $1 and the text $2; in the folder, $3
    if [ "$status" -ne "$1" ] || ! grep -q "$2" answer || [ "$(ls -A "$own")" != "$3" ]; then
        echo "$0: expected status $1, \"$2\" and \"$3\"; got status $status, \"$(ls -A "$own")\" and:" >&2
        cat answer >&2
        exit 1
    fi
}

fetch() { # from the folder $1 of the server
    status=0
    SWIFT_MIRROR=http://127.0.0.1:$(cat port)/$1 "$need" --get-swift >answer 2>&1 || status=$?
}

fetch wrong
expect 1 'is not signed by the key .*the signature is that of another file' ''
fetch half
expect 1 'broke off .*bytes remaining' ''
fetch none
expect 1 'is not there' ''
key=$SWIFT_SIGNING_KEY
SWIFT_SIGNING_KEY=
fetch good
expect 1 'is not signed by the key 52BB7E3DE28A71BE22EC05FFEF80A866B47A981F (no signature by that key' ''
SWIFT_SIGNING_KEY=$key
keys=$SWIFT_KEYS_URL
SWIFT_KEYS_URL=http://127.0.0.1:9/keys.asc
fetch good
expect 1 '127.0.0.1:9/keys.asc cannot be reached' ''
SWIFT_KEYS_URL=$keys
# The download takes 1 MB, the toolchain 5 MB.
for size in 300k 3m; do
    if ! unshare -rm mount -t tmpfs tmpfs /mnt 2>/dev/null; then
        echo "$0: no small disk can be mounted here; a full disk is not tested" >&2
        break
    fi
    status=0
    # shellcheck disable=SC2016
    SWIFT_MIRROR=http://127.0.0.1:$(cat port)/good unshare -rm sh -c '
        mount -t tmpfs -o size="$1" tmpfs "$2"
        status=0
        "$3" --get-swift || status=$?
        echo "kept:$(ls -A "$2")"
        exit $status' sh "$size" "$own" "$need" >answer 2>&1 || status=$?
    expect 1 'there is no space left for Swift' ''
    expect 1 '^kept:$' ''
done

fetch good
expect 0 "^$own/swift-6.3.1/usr/bin:" swift-6.3.1
asked=$(wc -l <requests)
fetch good
expect 0 "^$own/swift-6.3.1/usr/bin:" swift-6.3.1
[ "$(wc -l <requests)" -eq "$asked" ] || { echo "$0: the second call fetched it again" >&2; exit 1; }

find_swift() { # with the variables $@
    status=0
    env "$@" "$need" >answer 2>&1 </dev/null || status=$?
}

# A toolchain that is there is taken, without --get-swift; one that is named before all others, unless it is too old.
mv "$own/swift-6.3.1/usr" named
rmdir "$own/swift-6.3.1"
find_swift SWIFT_TOOLCHAIN=
expect 1 'there is no swift in the path' ''
mkdir -p "$HOME/.local/share/swiftly" old/bin
cp -r named/bin "$HOME/.local/share/swiftly"
find_swift SWIFT_TOOLCHAIN=
expect 0 "^$HOME/.local/share/swiftly/bin:" ''
find_swift SWIFT_TOOLCHAIN="$folder/named"
expect 0 "^$folder/named/bin:" ''
echo "echo 'Swift version 5.9 (swift-5.9-RELEASE)'" >old/bin/swift
chmod +x old/bin/swift
find_swift SWIFT_TOOLCHAIN="$folder/old"
expect 0 'there is no Swift 6.2 or newer' ''
expect 0 "^$HOME/.local/share/swiftly/bin:" ''
rm -r "$HOME/.local/share/swiftly"

# A toolchain that lacks a library says so, and is taken once the packages are there.
mkdir -p lacking/bin
cat >lacking/bin/swift <<END
#!/bin/sh
[ -e "$folder/packages" ] || { echo 'swift: cannot open libncurses.so.6' >&2; exit 127; }
echo 'Swift version 6.3.1 (swift-6.3.1-RELEASE)'
END
chmod +x lacking/bin/swift
find_swift SWIFT_TOOLCHAIN= PATH="$folder/lacking/bin:$PATH"
expect 1 'does not say its version (swift: cannot open libncurses.so.6)' ''
expect 1 'install.sh swift installs the packages' ''
find_swift SWIFT_TOOLCHAIN="$folder/lacking"
expect 1 'does not say its version (swift: cannot open libncurses.so.6)' ''
printf '#!/bin/sh\ntouch "%s/packages"\nprintf installed\n' "$folder" >bin/dpkg-query
status=0
SWIFT_TOOLCHAIN="$folder/lacking" "$need" --get-swift >answer 2>&1 || status=$?
expect 0 "^$folder/lacking/bin:" ''

# A terminal is asked.
ask() { # and answered with $1
    status=0
    echo "$1" | SWIFT_MIRROR=http://127.0.0.1:$(cat port)/good script -qec "$need" /dev/null >answer 2>&1 || status=$?
}
ask n
expect 1 'The option --get-swift fetches it' ''
ask y
expect 0 'Fetch Swift 6.3.1 .* \[y/N\]' swift-6.3.1
echo "$0: passed"
