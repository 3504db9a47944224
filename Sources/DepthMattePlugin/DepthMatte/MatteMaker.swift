import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// Makes the matte of one video frame from its buffers, and keeps it for the next frame.
///
/// Streaming thread only.
final class MatteMaker {
    private let matte = Matte()
    private var workers = Workers()
    /// The frame and settings of the last matte; nil if it must not be reused.
    private var made: Made?
    private var detailChoice = DetailChoice()
    private var lastTime: RunningTime?

    private struct Made {
        let moment: Moment
        let depthTime: RunningTime?
        let settings: MatteSettings
    }

    /// Figures of the last matte.
    private(set) var report = Matte.Report()
    /// The fault for which the last matte was made without the segmentation; nil if there was none.
    private(set) var segmentationFault: FrameFault?

    /// The buffers that one matte is made from.
    struct Scene {
        let depth: DepthFrame
        let depthTime: RunningTime?
        let video: BufferPointer
        let videoFormat: StreamFormat
        let detections: Detections
        let segmentation: (buffer: BufferPointer, layout: FrameLayout)?
        /// A picture of the empty room, in the video's format.
        let room: BufferRef?
        let moment: Moment
    }

    /// An upper bound of the bytes that the kernels of a frame keep, with any settings.
    static func mostMemory(depth: FrameLayout?, video: FrameLayout, _ settings: DepthMatteSettings) -> Int {
        let (depth, video) = (KernelMemory.Size(depth ?? video), KernelMemory.Size(video))
        let threads = Workers.count(
            of: settings.maxThreads, mostByDefault: mostThreads,
            useful: Matte.usefulThreads(pixels: max(depth.pixels, video.pixels)))
        return KernelMemory.matte(
            depth: depth, video: video, threads: threads, remembersRoom: settings.matte.room != .off)
    }

    /// Makes the matte.
    ///
    /// - Returns: the matte, valid until the next call; nil if no anchor was seen yet, so everything is background.
    func matte(_ scene: Scene, _ settings: DepthMatteSettings) throws(FrameFault) -> FinishedMatte? {
        made = nil
        (report, segmentationFault) = (Matte.Report(), nil)
        let format = scene.videoFormat
        return try scene.depth.withImage { image throws(FrameFault) -> FinishedMatte? in
            try withFrame(reading: scene.video, format.layout) { video -> FinishedMatte? in
                let pixels = max(format.width * format.height, image.width * image.height)
                matte.pool = workers.pool(
                    of: settings.maxThreads, mostByDefault: MatteMaker.mostThreads,
                    useful: Matte.usefulThreads(pixels: pixels))
                let picture = VideoPicture(planes: video, layout: format.format.layout, colors: format.colors)
                let isAnchored = withSegmentation(scene) { segmentation in
                    withRoom(scene) { room in
                        let frame = MatteFrame(
                            depth: image, video: picture, width: format.width, height: format.height,
                            faces: scene.detections.faces, people: scene.detections.people,
                            segmentation: segmentation, room: room, time: scene.moment.time,
                            depthTime: settings.depthSync == .timestamps ? nil : scene.depthTime)
                        return render(frame, at: scene.moment, settings.matte)
                    }
                }
                report = matte.report
                if isAnchored {
                    made = Made(moment: scene.moment, depthTime: scene.depthTime, settings: settings.matte)
                }
                return isAnchored ? matte.finished : nil
            }
        }
    }

    /// Calls `body` with the segmentation; with nil if there is none that can be read.
    private func withSegmentation(_ scene: Scene, _ body: (Plane?) -> Bool) -> Bool {
        guard let (buffer, layout) = scene.segmentation else { return body(nil) }
        do throws(FrameFault) {
            return try withFrame(reading: buffer, layout) { body($0[0]) }
        } catch {
            segmentationFault = error
            return body(nil)
        }
    }

    /// Calls `body` with the picture of the empty room; with nil if there is none that can be read.
    private func withRoom(_ scene: Scene, _ body: (VideoPicture?) -> Bool) -> Bool {
        guard let room = scene.room else { return body(nil) }
        let (layout, colors) = (scene.videoFormat.format.layout, scene.videoFormat.colors)
        let result = try? withFrame(reading: room.pointer, scene.videoFormat.layout) {
            body(VideoPicture(planes: $0, layout: layout, colors: colors))
        }
        return result ?? body(nil)
    }

    /// Renders the matte. With `detail=auto`, live video gets the detail that its measured processing time allows; other
    /// video gets full detail.
    ///
    /// - Returns: false where there is no matte, as `Matte.render`.
    private func render(_ frame: MatteFrame, at moment: Moment, _ settings: MatteSettings) -> Bool {
        guard settings.detail == .auto else { return matte.render(frame, settings) }
        var settings = settings
        settings.detail = moment.isLive ? detailChoice.current : .full
        let start = g_get_monotonic_time()
        let isAnchored = matte.render(frame, settings)
        let interval = moment.time.flatMap { time in lastTime.map { time &- $0 } }
        lastTime = moment.time
        if moment.isLive && matte.report.detail != nil {
            detailChoice.note(work: UInt64(clamping: g_get_monotonic_time() &- start) &* 1000, interval: interval)
        }
        return isAnchored
    }

    /// A matte that was made for another frame.
    struct Earlier {
        let matte: FinishedMatte
        /// Its depth's time minus the new frame's time, in nanoseconds; 0 where either has no timestamp.
        let skew: RunningTime
    }

    /// Returns the previous frame's matte if it may be used for this one: it has the same settings, and the frames are no
    /// farther apart than `max-skew`. Nil otherwise.
    func matteBefore(_ moment: Moment, _ settings: DepthMatteSettings) -> Earlier? {
        guard let made, made.moment.number &+ 1 == moment.number, made.settings == settings.matte else { return nil }
        guard let time = moment.time, let madeFor = made.moment.time else {
            return moment.time == nil && made.moment.time == nil ? Earlier(matte: matte.finished, skew: 0) : nil
        }
        guard distance(madeFor, time) <= settings.maxSkew else { return nil }
        return Earlier(matte: matte.finished, skew: made.depthTime.map { $0 &- time } ?? 0)
    }

    /// Begins to remember the room that the next frames show (`Matte.Report.isCaptureRefused`).
    func captureRoom() { matte.captureRoom() }

    func forgetRoom() { matte.forgetRoom() }

    /// Forgets what was measured of depth's lag and offset.
    func forgetSync() { matte.forgetSync() }

    /// Prevents reuse of the matte.
    func forgetMatte() { made = nil }

    /// Drops the history of earlier frames except the anchor, because a stream restarted.
    func forgetPast() {
        made = nil
        matte.forgetPast()
    }

    /// Drops all history, after a flush.
    func reset() {
        made = nil
        lastTime = nil
        matte.reset()
    }

    /// The default limit: more threads only wait for memory.
    private static let mostThreads = 16
}
