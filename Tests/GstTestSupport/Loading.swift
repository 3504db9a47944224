import CDepthMatte
import CGStreamer
import CStreamRules
import DepthMattePlugin
package import Synchronization

/// Initializes GStreamer and registers this package's elements, once in the process; tests call it first.
///
/// From then on a CRITICAL of any log domain ends the process, as `G_DEBUG=fatal-criticals` would. An element that breaks
/// the rules of a stream is one.
package func loadElements() { _ = isLoaded }

/// Whether streams are held to the rules; a program that measures time clears it before the first element is made.
package let watchesStreams = Atomic(true)

private let isLoaded: Bool = {
    g_log_set_always_fatal(GLogLevelFlags(rawValue: G_LOG_LEVEL_CRITICAL.rawValue | G_LOG_LEVEL_ERROR.rawValue))
    gst_init(nil, nil)
    if watchesStreams.load(ordering: .relaxed) { stream_rules_start() }
    return gst_plugin_register_static(
        gint(GST_VERSION_MAJOR), gint(GST_VERSION_MINOR), "depthmatte", "The elements under test",
        { plugin in plugin.map { depthmatte_register_elements($0) } ?? 0 },
        "0", "LGPL", "gst-depthmatte", "gst-depthmatte", "https://example.org") != 0
}()
