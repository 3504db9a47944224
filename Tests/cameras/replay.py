"""Plays a RealSense recording three times, with READY between, and prints the frames of each pad for each time.

    replay.py LIBRARY RECORDING
"""
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

Gst.init(None)
pipeline = Gst.parse_launch(
    f"depthcamsrc driver=realsense library={sys.argv[1]} location={sys.argv[2]} align=none name=camera "
    "camera.video ! fakesink name=video sync=false camera.depth ! fakesink name=depth sync=false"
)
counts = {"video": 0, "depth": 0}


def count(pad, info, name):
    counts[name] += 1
    return Gst.PadProbeReturn.OK


for name in counts:
    pipeline.get_by_name(name).get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, count, name)
for _ in range(3):
    counts.update(video=0, depth=0)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(30 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    end = message.type.first_value_nick if message else "nothing"
    if end == "error":
        end = str(message.parse_error())
    print(end, counts["video"], counts["depth"])
    pipeline.set_state(Gst.State.READY)
pipeline.set_state(Gst.State.NULL)
