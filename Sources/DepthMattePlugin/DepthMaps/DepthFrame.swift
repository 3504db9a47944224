import CGStreamer
import DepthKernels
import GstBridge

/// What error messages call a frame of the video pad and one of the depth pad.
let (videoFrameName, depthMapName) = ("frame on the video pad", "depth map on the depth pad")

/// A depth buffer, and what its caps and the settings say of it.
struct DepthFrame: @unchecked Sendable {  // guard: only read, by who has a reference to it
    let buffer: BufferPointer
    let format: DepthFormat
    let reading: DepthReading

    func placement(videoWidth: Int, videoHeight: Int) -> DepthPlacement {
        reading.placement(
            depthWidth: format.layout.width, depthHeight: format.layout.height, videoWidth: videoWidth,
            videoHeight: videoHeight)
    }

    /// Returns true if positions in the map are the same in a video of that size.
    func liesPixelOnPixel(videoWidth: Int, videoHeight: Int) -> Bool {
        let (width, height) = (format.layout.width, format.layout.height)
        return placement(videoWidth: videoWidth, videoHeight: videoHeight)
            == DepthPlacement(depthWidth: width, depthHeight: height, videoWidth: width, videoHeight: height)
    }

    var isReadable: Bool { (try? withImage { _ in }) != nil }

    /// Lends the depth map.
    func withImage<Result>(_ body: (DepthImage) throws(FrameFault) -> Result) throws(FrameFault) -> Result {
        try withFrame(reading: buffer, format.layout) { planes throws(FrameFault) in
            guard
                let image = DepthImage(
                    plane: try planes.first(), width: format.layout.width, height: format.layout.height,
                    encoding: format.encoding)
            else { throw .contradiction("a depth map is smaller than its format") }
            return try body(image)
        }
    }
}
