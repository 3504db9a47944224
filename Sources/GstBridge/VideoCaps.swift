package import CGStreamer
import DepthKernels

/// Why caps were refused, as a sentence for the user.
package struct CapsRefusal: Error {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}

/// Reads raw video caps, refusing pictures too large before anything of their size is allocated.
package func videoInfo(_ caps: CapsPointer, maxPixels: Int) throws(CapsRefusal) -> GstVideoInfo {
    // First: GstVideoInfo gives no reason for what is too large even for itself.
    if let (width, height) = caps.size { try checkSize(width, height, maxPixels: maxPixels) }
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, caps) != 0, info.width > 0, info.height > 0 else {
        throw CapsRefusal("not raw video caps")
    }
    try checkOnePicture(info)
    return info
}

extension GstVideoInfo {
    /// The width of a pixel by its height, as it is shown.
    package var pixelAspect: Double { par_n > 0 && par_d > 0 ? Double(par_n) / Double(par_d) : 1 }
}

/// Fields that follow one another in a buffer, and views side by side, are several pictures: one matte would not fit.
private func checkOnePicture(_ info: GstVideoInfo) throws(CapsRefusal) {
    let mode = info.interlace_mode
    if mode == GST_VIDEO_INTERLACE_MODE_FIELDS || mode == GST_VIDEO_INTERLACE_MODE_ALTERNATE {
        throw CapsRefusal("each field is a picture of its own; deinterlace the video first")
    }
    let views = info.ABI.abi.multiview_mode
    let isOneView = [
        GST_VIDEO_MULTIVIEW_MODE_NONE, GST_VIDEO_MULTIVIEW_MODE_MONO, GST_VIDEO_MULTIVIEW_MODE_LEFT,
        GST_VIDEO_MULTIVIEW_MODE_RIGHT,
    ].contains(views)
    guard info.views <= 1 && isOneView else { throw CapsRefusal("several views in one stream; choose one first") }
}

package func checkSize(_ width: Int, _ height: Int, maxPixels: Int) throws(CapsRefusal) {
    guard max(width, height) <= VideoPicture.largestSide else {
        throw CapsRefusal("\(width)x\(height) is over the limit of \(VideoPicture.largestSide) pixels a side")
    }
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    guard !overflow, pixels <= maxPixels else {
        throw CapsRefusal("\(width)x\(height) is over the limit of \(maxPixels) pixels (property max-pixels)")
    }
}
