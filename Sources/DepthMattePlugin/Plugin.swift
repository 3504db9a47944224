import CDepthMatte
public import CGStreamer
import GstBridge

/// Every element of the plugin.
let elements = [DepthMatte.definition, DepthTestSrc.definition, DepthColorize.definition]

@c @implementation
public func depthmatte_register_elements(_ plugin: OpaquePointer) -> gboolean {
    for log in [DepthMatteElement.log, DepthTestSrcElement.log, DepthColorizeElement.log] { log.register() }
    return gboolean(elements.allSatisfy { $0.register(in: plugin) })
}
