import CGStreamer
import GstBridge

/// Reads a still, an animation or a video, and tells which of its pictures is shown when.
///
/// Made on whatever thread loads; after that one thread asks for pictures. `interrupt` and `close` may come from any.
final class BackgroundReader: @unchecked Sendable {  // guard: handed over whole, then used by one thread; see above
    private let path: String
    private let decoder: BackgroundDecoder
    private let interrupted = CancelFlag()

    /// The picture that holds now, and the one after it with the time at which it takes over.
    private var current: Picture
    private var next: (picture: Picture, time: RunningTime)?
    private var clock = LoopClock()
    /// No other picture comes.
    private var hasEnded = false
    /// Running time of the video at which the file's first frame stands.
    private var origin: RunningTime?
    /// The time last asked for.
    private var lastTime: RunningTime?
    /// The reason why the file is not read on, until somebody took it.
    private var fault: ElementError?

    /// The file's picture, if it has one only, or if no more than one can be read.
    private(set) var still: Picture?

    /// Seconds that a file has to show its first picture.
    private static let timeToOpen = 2
    /// Seconds that it has for each of the others.
    private static let timeToDecode = 10
    /// The largest lead of the video's clock over the file's that the file is expected to make up.
    private static let longestJump: RunningTime = 5_000_000_000
    /// By how much a frame may come early: containers round their timestamps, many to milliseconds.
    private static let rounding: RunningTime = 1_000_000

    /// Opens the file and waits for its first picture.
    ///
    /// - Parameters:
    ///   - location: a path or a `file:` URI of a regular file.
    ///   - maxPixels: larger pictures are refused.
    ///   - isCancelled: set by another thread when nobody wants the file any more.
    /// - Throws: an error that names the file and the reason.
    init(location: String, maxPixels: Int, isCancelled: CancelFlag) throws(ElementError) {
        let patience = Patience(seconds: BackgroundReader.timeToOpen, isCancelled)
        path = try regularFile(location)
        guard let bytes = ByteReader(path: path, while: { !patience.isOver }) else {
            throw unreadable(path, "it cannot be opened")
        }
        let content = try BackgroundReader.content(bytes, path, maxPixels: maxPixels, patience)
        decoder = try BackgroundDecoder(bytes, path: path, content, maxPixels: maxPixels)
        decoder.start()
        do throws(ElementError) {
            let first = try BackgroundReader.firstPicture(decoder, path, patience)
            current = first.picture
            _ = clock.time(ofFrameAt: first.stamp, duration: first.duration)
            next = pullNext(block: true, patience)
            if let refusal = decoder.refusal { throw unreadable(path, refusal) }
        } catch {
            decoder.stop(waiting: !patience.isOver)
            throw error
        }
        if next == nil && hasEnded {
            still = current
            decoder.stop()
        }
    }

    /// The pictures are made of two fields, taken at different times.
    var isInterlaced: Bool { current.isInterlaced || next?.picture.isInterlaced == true }

    /// Makes a waiting `picture` return soon, and keeps later ones from waiting.
    func interrupt() { interrupted.set(true) }

    /// Gives back the decoder. The picture at hand stays; no other will come. Any thread.
    func close() {
        interrupt()
        decoder.stop()
    }

    /// The picture that holds at the video's running time; the file starts at the first time asked for, and loops.
    ///
    /// - Parameter block: waits for the decoder, so that the answer does not depend on its speed.
    func picture(at time: RunningTime, block: Bool) -> Picture {
        var start = origin ?? time
        if let lastTime, time < lastTime { start &+= time &- lastTime }  // the video was sought back: go on from here
        lastTime = time
        // Each picture comes at least a millisecond after the one before it, and the file is never farther behind than
        // the longest jump: the loop ends.
        while let upcoming = next ?? pullInTime(block: block) {
            if time &- start &- upcoming.time > BackgroundReader.longestJump {
                start = time &- upcoming.time  // the video's clock jumped ahead: go on from here
            }
            next = upcoming
            guard upcoming.time <= time &- start &+ BackgroundReader.rounding else { break }
            current = upcoming.picture
            next = nil
        }
        origin = start
        return current
    }

    /// Returns the reason why the file is not read on, once.
    func takeFault() -> ElementError? {
        defer { fault = nil }
        return fault
    }

    /// The same as `pullNext`; a decoder that is not heard of is given up.
    private func pullInTime(block: Bool) -> (picture: Picture, time: RunningTime)? {
        let patience = Patience(seconds: BackgroundReader.timeToDecode, interrupted)
        let upcoming = pullNext(block: block, patience)
        if upcoming == nil && block && !hasEnded && !patience.isCancelled {
            end("no picture came out of it in \(BackgroundReader.timeToDecode) seconds")
        }
        return upcoming
    }

    /// The next frame with its time since the first frame of the first round; nil where none is ready, or none comes.
    private func pullNext(block: Bool, _ patience: Patience) -> (picture: Picture, time: RunningTime)? {
        while !hasEnded && !patience.isCancelled {
            switch decoder.next(block: block) {
            case .picture(let picture, let stamp, let duration):
                return (picture, clock.time(ofFrameAt: stamp, duration: duration))
            case .nothing where !block: return nil
            case .nothing: if patience.isOver { return nil }
            case .end: hasEnded = !startAnew()
            case .fault(let reason):  // of a damaged file what can be read is shown
                if !startAnew() { end(reason) }
            case .refused(let reason): end(reason)
            }
        }
        return nil
    }

    private func startAnew() -> Bool { clock.beginRound() && decoder.rewind() }

    private func end(_ reason: String) {
        hasEnded = true
        decoder.stop(waiting: false)
        fault = ElementError(
            .resource(GST_RESOURCE_ERROR_READ), "The background \"\(path)\" stands still: \(reason).")
    }

    // MARK: Opening

    private static func firstPicture(
        _ decoder: BackgroundDecoder, _ path: String, _ patience: Patience
    ) throws(ElementError) -> (picture: Picture, stamp: RunningTime?, duration: RunningTime?) {
        while !patience.isOver {
            switch decoder.next(block: true) {
            case .picture(let picture, let stamp, let duration): return (picture, stamp, duration)
            case .nothing: break
            case .end: throw unreadable(path, "there is no whole picture in it")
            case .fault(let reason), .refused(let reason): throw unreadable(path, reason)
            }
        }
        throw decoder.hint.map { unreadable(path, $0) } ?? tooSlow(path)
    }

    private static func tooSlow(_ path: String) -> ElementError {
        unreadable(path, "no picture came out of it in \(timeToOpen) seconds")
    }

    /// Reads the file's content off its first bytes.
    private static func content(
        _ bytes: ByteReader, _ path: String, maxPixels: Int, _ patience: Patience
    ) throws(ElementError) -> BackgroundDecoder.Content {
        guard let header = PictureHeader(bytes) else { return .stream }
        let pieces =
            header.kind == .gif ? bytes.readGIFImages() : [PicturePiece(bytes: 0..<header.length, duration: nil)]
        if patience.isOver { throw tooSlow(path) }
        if header.isTruncated || pieces.isEmpty { throw unreadable(path, "the file ends before the picture does") }
        if let pixels = header.pixels, pixels > maxPixels {
            throw unreadable(path, tooManyPixels(pixels, limit: maxPixels))
        }
        // All pieces are kept in memory. A picture's file is no larger than its pixels and some metadata.
        let (mostBytes, overflow) = maxPixels.multipliedReportingOverflow(by: 8)
        let length = pieces.reduce(0) { $0 + $1.bytes.count }
        guard overflow || length <= mostBytes + 16_777_216 else {
            throw unreadable(
                path, "it has \(length) bytes, too many for pictures of \(maxPixels) pixels (property max-pixels)")
        }
        return .pictures(header.kind, pieces)
    }
}

/// A deadline for pictures, at once where the wait is cancelled.
private struct Patience {
    private let end: gint64
    private let cancelFlag: CancelFlag

    init(seconds: Int, _ cancelFlag: CancelFlag) {
        end = g_get_monotonic_time() &+ gint64(seconds) &* 1_000_000
        self.cancelFlag = cancelFlag
    }

    var isCancelled: Bool { cancelFlag.isSet }
    var isOver: Bool { isCancelled || g_get_monotonic_time() >= end }
}

/// The path of a location that names a regular file. Devices and FIFOs would hang the loader.
private func regularFile(_ location: String) throws(ElementError) -> String {
    var path = location
    if location.hasPrefix("file:") {
        guard let converted = takeString(g_filename_from_uri(location, nil, nil)) else {
            throw unreadable(location, "the URI is malformed")
        }
        path = converted
    } else if location.contains("://") {
        throw unreadable(location, "only local files are read; save it to disk first")
    }
    guard g_file_test(path, G_FILE_TEST_EXISTS) != 0 else {
        throw ElementError(
            .resource(GST_RESOURCE_ERROR_NOT_FOUND), "The background \"\(path)\" does not exist.")
    }
    guard g_file_test(path, G_FILE_TEST_IS_REGULAR) != 0 else {
        let isFolder = g_file_test(path, G_FILE_TEST_IS_DIR) != 0
        throw unreadable(path, isFolder ? "it is a directory" : "it is not a regular file")
    }
    return path
}

private func unreadable(_ path: String, _ reason: String) -> ElementError {
    ElementError(
        .resource(GST_RESOURCE_ERROR_OPEN_READ), "The background \"\(path)\" cannot be read: \(reason).")
}
