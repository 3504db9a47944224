import CGStreamer
import DepthKernels
import GstBridge

/// Draws depth buffers as point clouds in one output format, and makes PLY files of them.
///
/// Made when caps are negotiated. Streaming thread only.
final class CloudPainter {
    let output: StreamFormat
    let frames: OutputFrames
    private let order: PixelOrder
    private let renderer = CloudRenderer()
    private var workers = Workers()
    /// Default limit. Each thread draws into a buffer of its own, and merging more of them costs what drawing gains.
    private static let mostThreads = 4
    private let colorMap = DepthColorMap()
    /// The picture that `palette` colors, kept for its memory.
    private var painted: (picture: BufferRef, layout: FrameLayout)?
    private var videoColors: VideoColors?

    /// Conversion of video of one format to the output's byte order, at the video's size.
    private struct VideoColors {
        let source: GstVideoInfo
        /// The layout of the picture that the colors are read from.
        let layout: FrameLayout
        /// Nil where the video has that byte order already.
        let conversion: (converter: PictureConverter, picture: BufferRef)?
    }

    /// One depth map and how to draw it.
    struct Scene {
        let map: DepthFrame
        /// The video that colors the points; nil for the palette.
        let video: (buffer: BufferPointer, info: GstVideoInfo)?
        let settings: DepthCloudSettings
        /// The settings' view, with the rotation of `auto-pan`.
        let view: CloudView
    }

    /// Returns nil unless the format is RGB with four bytes a pixel.
    init?(_ output: StreamFormat) {
        let description = output.info.finfo.pointee
        let (red, green, blue) = (Int(description.poffset.0), Int(description.poffset.1), Int(description.poffset.2))
        guard output.format.family == .rgb, description.pixel_stride.0 == 4,
            let order = PixelOrder(red: red, green: green, blue: blue, alpha: 6 - red - green - blue)
        else { return nil }
        self.output = output
        self.order = order
        frames = OutputFrames(output.layout)
    }

    private func usefulThreads(width: Int, height: Int) -> Int {
        CloudRenderer.usefulThreads(pixels: max(width * height, output.width * output.height))
    }

    /// An upper bound of the bytes that the kernels keep.
    func mostMemory(depth: FrameLayout, _ settings: DepthCloudSettings) -> Int {
        let threads = Workers.count(
            of: settings.maxThreads, mostByDefault: CloudPainter.mostThreads,
            useful: usefulThreads(width: depth.width, height: depth.height))
        return KernelMemory.cloud(depth: .init(depth), canvas: .init(output.layout), threads: threads)
    }

    func draw(_ scene: Scene, on canvas: BufferPointer) throws(FrameFault) {
        try withMap(scene) { image, picture throws(FrameFault) in
            var settings = CloudRenderer.Settings(
                sensor: scene.settings.sensor(width: image.width, height: image.height))
            settings.view = scene.view
            settings.fieldOfView = scene.settings.fieldOfView
            settings.pointSize = scene.settings.pointSize
            settings.background = background(scene.settings)
            settings.alphaByte = order.alpha
            renderer.pool = workers.pool(
                of: scene.settings.maxThreads, mostByDefault: CloudPainter.mostThreads,
                useful: usefulThreads(width: image.width, height: image.height))
            try withFrame(changing: canvas, output.layout) { planes throws(FrameFault) in
                let isDrawn = renderer.draw(
                    image, scale: scene.settings.depth.scale, colors: picture, settings: settings,
                    into: try planes.first(), width: output.width, height: output.height)
                if !isDrawn { throw .contradiction("the picture is smaller than its format") }
            }
        }
    }

    /// Fills the canvas with the background color.
    func drawNothing(_ settings: DepthCloudSettings, on canvas: BufferPointer) throws(FrameFault) {
        try withFrame(changing: canvas, output.layout) { planes throws(FrameFault) in
            fill(try planes.first(), with: background(settings))
        }
    }

    /// Makes a file of the cloud, in the depth camera's coordinates.
    func file(_ scene: Scene) throws(FrameFault) -> PointCloudFile {
        try withMap(scene) { image, picture throws(FrameFault) in
            // Arrays hold the file, and those end the program where there is no memory.
            let bytes = PointCloudFile.mostMemory(width: image.width, height: image.height)
            guard MemoryReserve.isAvailable(bytes: bytes) else { throw .outOfMemory(bytes: bytes) }
            return PointCloudFile(
                image, scale: scene.settings.depth.scale, colors: picture, order: order,
                sensor: scene.settings.sensor(width: image.width, height: image.height))
        }
    }

    private func background(_ settings: DepthCloudSettings) -> SIMD4<UInt8> {
        let color = settings.backgroundColor
        func channel(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: color >> shift) }
        return order.pixel(SIMD3(channel(16), channel(8), channel(0)), alpha: channel(24))
    }

    // MARK: Colors

    /// Calls `body` with the depth map and the picture that colors it.
    private func withMap<Result>(
        _ scene: Scene, _ body: (DepthImage, CloudPicture) throws(FrameFault) -> Result
    ) throws(FrameFault) -> Result {
        try scene.map.withImage { image throws(FrameFault) -> Result in
            let colors = try colors(of: image, scene)
            var reading = scene.settings.depth
            reading.resolve(by: scene.map.format, on: scene.video?.info)
            let placement = reading.placement(
                depthWidth: image.width, depthHeight: image.height, videoWidth: colors.layout.width,
                videoHeight: colors.layout.height)
            return try withFrame(reading: colors.buffer, colors.layout) { planes throws(FrameFault) -> Result in
                guard let picture = CloudPicture(plane: try planes.first(), placement: placement) else {
                    throw .contradiction("the picture that gives the colors is smaller than its format")
                }
                return try body(image, picture)
            }
        }
    }

    private typealias Colors = (buffer: BufferPointer, layout: FrameLayout)

    private func colors(of image: DepthImage, _ scene: Scene) throws(FrameFault) -> Colors {
        if let video = scene.video { return try converted(video.buffer, video.info) }
        return try paletteColors(of: image, scene.settings)
    }

    private func converted(_ video: BufferPointer, _ info: GstVideoInfo) throws(FrameFault) -> Colors {
        let colors = try videoColors(of: info)
        guard let (converter, picture) = colors.conversion else { return (video, colors.layout) }
        try converter.convert(video, into: picture.pointer)
        return (picture.pointer, colors.layout)
    }

    private func videoColors(of info: GstVideoInfo) throws(FrameFault) -> VideoColors {
        if let videoColors, isSame(videoColors.source, info) { return videoColors }
        let made = try newVideoColors(of: info)
        videoColors = made
        return made
    }

    private func newVideoColors(of info: GstVideoInfo) throws(FrameFault) -> VideoColors {
        let format = output.info.finfo.pointee.format
        if info.finfo.pointee.format == format {
            return VideoColors(source: info, layout: FrameLayout(info), conversion: nil)
        }
        let target = try GstVideoInfo.of(format, width: Int(info.width), height: Int(info.height))
        let layout = FrameLayout(target)
        let converter = try PictureConverter(info, to: target)
        let picture = try newSharedBuffer(size: layout.size)
        return VideoColors(source: info, layout: layout, conversion: (converter, picture))
    }

    private func paletteColors(of image: DepthImage, _ settings: DepthCloudSettings) throws(FrameFault) -> Colors {
        let (picture, layout) = try paintedPicture(width: image.width, height: image.height)
        try withFrame(changing: picture.pointer, layout) { planes throws(FrameFault) in
            colorMap.paint(
                image, scale: settings.depth.scale, range: settings.colorRange,
                colors: DepthColors(palette: settings.palette, order: order), into: try planes.first())
        }
        return (picture.pointer, layout)
    }

    private func paintedPicture(
        width: Int, height: Int
    ) throws(FrameFault) -> (picture: BufferRef, layout: FrameLayout) {
        if let painted, painted.layout.width == width, painted.layout.height == height { return painted }
        let layout = FrameLayout(width: width, height: height, bytesPerSample: 4)
        let made = (picture: try newSharedBuffer(size: layout.size), layout: layout)
        painted = made
        return made
    }
}
