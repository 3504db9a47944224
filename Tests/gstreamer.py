"""Beginning of the tests in Python that run pipelines: help, a process group of their own, this build's plugin, and what is missing."""
import importlib
import os
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def skip(reason):
    sys.exit(print(f"{sys.argv[0]}: skipped, {reason}"))


def help_or_go(doc):
    if sys.argv[1:] in (["-h"], ["--help"]):
        sys.exit(print(doc))


def run_alone(*wrapper):
    """Runs this test again, once, for 300 s at most, through the wrapper's command; what it leaves behind is ended."""
    if "DEPTHMATTE_TEST_ALONE" not in os.environ:
        os.environ["DEPTHMATTE_TEST_ALONE"] = "1"
        command = ["timeout", "-s", "KILL", "300", *wrapper, "/usr/bin/python3", *sys.argv]
        os.execv(ROOT / "Tests/leftovers.sh", ["leftovers.sh", *command])


def start(*namespaces):
    """Initializes GStreamer with this build's plugin, or skips where a GObject namespace of it is not installed."""
    os.environ.update(GST_PLUGIN_PATH=str(ROOT / ".build/release"), SWIFT_BACKTRACE="enable=no")
    try:
        import gi

        for name in ("Gst", *namespaces):
            gi.require_version(name, "1.0")
            importlib.import_module(f"gi.repository.{name}")
    except (ImportError, ValueError) as missing:
        skip(missing)
    from gi.repository import Gst

    Gst.init(None)


def needs(*names):
    """False, and a word, where a program or an element is missing."""
    from gi.repository import Gst

    missing = [name for name in names if not shutil.which(name) and not Gst.ElementFactory.find(name)]
    if missing:
        print(f"{sys.argv[0]}: skipped, there is no {', '.join(missing)}")
    return not missing
