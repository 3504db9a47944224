import CGStreamer
import DepthKernels

/// The values of `depthcolorize`'s properties. The initial values here are the only defaults.
struct DepthColorizeSettings: ColoringSettings {
    var depth = DepthReading.ofStream

    var palette = DepthPalette.jet
    var range = ColorRange.equalize
    var min = 0.3
    var max = 5.0
    var mix = 0.5

    /// Nanoseconds.
    var depthTimeOffset: Int64 = 0
    var maxSkew: GstClockTime = 50_000_000
    var holdTime: GstClockTime = 500_000_000
    var maxPixels: UInt32 = 67_108_864
}
