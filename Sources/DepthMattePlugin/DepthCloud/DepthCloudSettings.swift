import CGStreamer
import DepthKernels
import GstBridge

/// The values of `depthcloud`'s properties. The initial values here are the only defaults.
struct DepthCloudSettings: ColoringSettings {
    var depth = DepthReading.ofStream

    // The camera
    var view = CloudView()
    var autoPan = false
    var fieldOfView = 70.0
    var fx = 0.0
    var fy = 0.0
    var cx = 0.0
    var cy = 0.0

    // The points
    var pointSize = 5.0
    var colors = CloudColorSource.auto
    var palette = DepthPalette.jet
    var range = ColorRange.equalize
    var min = 0.3
    var max = 5.0
    var backgroundColor: UInt32 = 0xff00_0000

    // The file
    var location: String?
    var snapshot = false

    /// Nanoseconds.
    var depthTimeOffset: Int64 = 0
    var maxSkew: GstClockTime = 50_000_000
    var holdTime: GstClockTime = 500_000_000
    var maxPixels: UInt32 = 67_108_864
    var maxThreads: UInt32 = 0

    /// The settings with what the caps of a map say where the properties leave it to them: the unit, and the optics at the
    /// map's size.
    func resolved(by format: DepthFormat) -> DepthCloudSettings {
        var settings = self
        settings.depth.resolve(by: format, on: nil)
        guard fx == 0, fy == 0, let calibration = format.stream.calibration else { return settings }
        let optics = calibration.depth.scaled(toWidth: format.layout.width, height: format.layout.height)
        (settings.fx, settings.fy) = (optics.fx, optics.fy)
        if cx == 0 { settings.cx = optics.cx }
        if cy == 0 { settings.cy = optics.cy }
        return settings
    }

    func sensor(width: Int, height: Int) -> CloudSensor {
        CloudSensor(width: width, height: height, fieldOfView: fieldOfView, fx: fx, fy: fy, cx: cx, cy: cy)
    }
}

/// A value of the property `colors`: the source of the points' colors.
enum CloudColorSource: Int, PropertyEnum {
    case auto, palette

    static let typeName = "GstDepthCloudColors"

    var blurb: String {
        switch self {
        case .auto: "The video pad; the palette while there is no video frame"
        case .palette: "The distance, by the properties palette and range"
        }
    }
}
