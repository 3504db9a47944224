import CDepthMatte
import CGStreamer
import CStreamRules
import DepthMattePlugin

/// Initializes GStreamer and registers this package's elements, once in the process; tests call it first.
///
/// From then on a CRITICAL of any log domain ends the process, as `G_DEBUG=fatal-criticals` would. An element that breaks
/// the rules of a stream is one.
package func loadElements() { _ = isLoaded }

private let isLoaded: Bool = {
    g_log_set_always_fatal(GLogLevelFlags(rawValue: G_LOG_LEVEL_CRITICAL.rawValue | G_LOG_LEVEL_ERROR.rawValue))
    gst_init(nil, nil)
    stream_rules_start()
    return gst_plugin_register_static(
        gint(GST_VERSION_MAJOR), gint(GST_VERSION_MINOR), "depthmatte", "The elements under test",
        { plugin in plugin.map { depthmatte_register_elements($0) } ?? 0 },
        "0", "LGPL", "gst-depthmatte", "gst-depthmatte", "https://example.org") != 0
}()
