import CDepthMatte
public import CGStreamer
import DepthCameras
import GstBridge

/// Every element of the plugin.
let elements = [
    DepthMatte.definition, DepthTestSrc.definition, DepthColorize.definition, DepthCloud.definition,
    DepthCamSrc.definition, DepthAlign.definition, DepthPack.definition, DepthUnpack.definition,
]

#if compiler(>=6.3)
    @c @implementation
#else
    @_cdecl("depthmatte_register_elements")
#endif
public func depthmatte_register_elements(_ plugin: OpaquePointer) -> gboolean {
    prepareEnvironment()
    let origin = gst_plugin_get_origin(plugin).map { String(cString: $0) } ?? ""
    let folder = origin + "/blob/HEAD/Sources/DepthMattePlugin/"
    return gboolean(
        elements.allSatisfy { $0.register(in: plugin, page: "\(folder)\($0.typeName.dropFirst(3))/README.md") }
            && DepthCamProvider.definition.register(in: plugin))
}
