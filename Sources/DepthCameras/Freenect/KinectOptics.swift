import CCameras
import DepthKernels

/// The optics of Kinect v1.
///
/// The library tells the depth camera's focal length and its distance from the color camera. The color camera's optics are OpenNI's
/// nominal ones: a single camera's differ from them by a few pixels.
///
/// Sources: `freenect_camera_to_world` and `freenect_raw_to_mm` in registration.c of libfreenect 0.5.3; `OpenNIDevice` of
/// openni_camera for the color camera (1050 pixels at 1280x1024).
struct KinectOptics {
    /// Distances between the cameras in centimetres.
    private let info: dm_freenect_zero_plane_info

    /// Values that all cameras are close to.
    static let nominal = dm_freenect_zero_plane_info(
        dcmos_emitter_dist: 7.5, dcmos_rcmos_dist: 2.4, reference_distance: 120, reference_pixel_size: 0.1042)

    /// - Parameter info: what the camera says. Implausible values are replaced by nominal ones.
    init(_ info: dm_freenect_zero_plane_info = nominal) {
        let focalLength = info.reference_distance / (2 * info.reference_pixel_size)
        let isPlausible = (100...2000).contains(focalLength) && (0...10).contains(info.dcmos_rcmos_dist)
        self.info = isPlausible ? info : Self.nominal
    }

    /// The calibration of depth as the depth camera sees it; of depth registered to the video where `isRegistered`.
    func calibration(isRegistered: Bool, video: CameraMode?) -> Calibration {
        if isRegistered { return Calibration(depth: Self.color(width: 640, height: 480), depthUnit: 0.001) }
        // The picture of 640x480 is 1280x960 pixels of the sensor, halved.
        let focalLength = Double(info.reference_distance) / (2 * Double(info.reference_pixel_size))
        let depth = CameraIntrinsics(width: 640, height: 480, fx: focalLength, fy: focalLength, cx: 320, cy: 240)
        // The color camera is to the right of the depth camera.
        let distance = Double(info.dcmos_rcmos_dist) / 100
        return Calibration(
            depth: depth, color: video.map { Self.color(width: $0.width, height: $0.height) },
            depthToColor: CameraPose(rotation: CameraPose.identity.rotation, translation: [-distance, 0, 0]),
            depthUnit: 0.001)
    }

    /// The nominal optics of the color camera for a picture of that size. Only the width sets the scale: at 1280x1024 the
    /// picture has 64 rows more at the bottom than at 640x480.
    private static func color(width: Int, height: Int) -> CameraIntrinsics {
        let scale = Double(width) / 1280
        return CameraIntrinsics(
            width: width, height: height, fx: 1050 * scale, fy: 1050 * scale, cx: 640 * scale - 0.5,
            cy: 480 * scale - 0.5)
    }

    /// Millimetres of the depth camera's raw counts, 0 where nothing was measured, for recordings that hold raw counts.
    static let millimetresOfRawCounts: [UInt16] = (0..<2048).map { count in
        guard count < 2047 else { return 0 }
        // Of the camera's constant shift, 200 pixels in quarters, the nominal value too.
        let pixels = (Double(count) - 4 * 200) / 4 - 0.375
        let shift = pixels * Double(nominal.reference_pixel_size)
        let reference = Double(nominal.reference_distance)
        let millimetres = 10 * (shift * reference / (Double(nominal.dcmos_emitter_dist) - shift) + reference)
        return millimetres > 0 && millimetres < 10_000 ? UInt16(millimetres) : 0
    }
}
