package import CGStreamer
package import DepthKernels

extension VideoColors {
    /// The components of a format of 8 bits.
    ///
    /// - Returns: nil for a format with other samples.
    package init?(_ info: GstVideoInfo) {
        let format = info.finfo.pointee
        guard format.bits == 8, format.n_components > 0 else { return nil }
        let isLimited = info.colorimetry.range != GST_VIDEO_COLOR_RANGE_0_255
        func has(_ flag: GstVideoFormatFlags) -> Bool { format.flags.rawValue & flag.rawValue != 0 }
        let model: Model =
            has(GST_VIDEO_FORMAT_FLAG_RGB)
            ? .rgb : has(GST_VIDEO_FORMAT_FLAG_YUV) ? .yuv(isLimited: isLimited) : .gray(isLimited: isLimited)
        let isColor = has(GST_VIDEO_FORMAT_FLAG_RGB) || has(GST_VIDEO_FORMAT_FLAG_YUV)
        self.init(
            model,
            (0..<(isColor ? 3 : 1)).map { component in
                Component(
                    plane: Int(item(component, of: format.plane)), offset: Int(item(component, of: format.poffset)),
                    step: Int(item(component, of: format.pixel_stride)),
                    shiftX: Int(item(component, of: format.w_sub)), shiftY: Int(item(component, of: format.h_sub)))
            })
    }
}
