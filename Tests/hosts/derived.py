"""Derives a class from every element of the plugin, and plays a launch line with them:

    derived.py LINE

derived-depthmatte is of the class that is derived from that of depthmatte. Exits with 0 where the stream came to its end.
"""
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

Gst.init(None)
for factory in Gst.Registry.get().get_feature_list_by_plugin("depthmatte"):
    if isinstance(factory, Gst.ElementFactory):
        base = type(factory.create(None))
        derived = type("Derived" + base.__name__, (base,), {"__gtype_name__": "Derived" + base.__name__})
        Gst.Element.register(None, "derived-" + factory.get_name(), Gst.Rank.NONE, derived)

pipeline = Gst.parse_launch(sys.argv[1])
pipeline.set_state(Gst.State.PLAYING)
awaited = Gst.MessageType.EOS | Gst.MessageType.ERROR
message = pipeline.get_bus().timed_pop_filtered(60 * Gst.SECOND, awaited)
if message is not None and message.type == Gst.MessageType.ERROR:
    print(message.parse_error())
pipeline.set_state(Gst.State.NULL)
sys.exit(0 if message is not None and message.type == Gst.MessageType.EOS else 1)
