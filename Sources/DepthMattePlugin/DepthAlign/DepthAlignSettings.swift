/// The values of `depthalign`'s properties. The initial values here are the only defaults.
struct DepthAlignSettings: Sendable {
    /// Path of a file; nil takes the calibration from the caps.
    var calibration: String?
    /// Metres per count; 0 takes it from the caps or the calibration.
    var depthUnit = 0.0
    var invalidCount = -2
    var maxPixels: UInt32 = 67_108_864
}
