import CGStreamer
import CGStreamerShims
package import GstBridge

/// Reads a still, an animation or a video, and chooses the picture that is shown at a time.
///
/// Made on the loading thread; later used by the streaming thread. `interrupt` and `close` may be called on any thread.
package final class BackgroundReader: @unchecked Sendable {  // guard: one thread at a time; see above
    /// The path or URI, for errors.
    private let name: String
    private let decoder: BackgroundDecoder
    private let interrupted = CancelFlag()
    /// The copy that is read of a file of the network; it lies there as long as the reader.
    private let remoteFile: RemoteFile?

    /// The current picture, and the next one with the time at which it replaces the current.
    private var current: Picture
    private var next: (picture: Picture, time: RunningTime)?
    private var clock = LoopClock()
    /// True when no further picture can be read.
    private var hasEnded = false
    /// The video's running time at which the file starts.
    private var origin: RunningTime?
    /// The last requested time.
    private var lastTime: RunningTime?
    /// The reason why reading stopped, until `takeFault` returned it.
    private var fault: ElementError?

    /// The only picture, if the file has no other that can be read.
    private(set) var still: Picture?

    /// Timeout for the first picture, in seconds.
    private static let timeToOpen = 2
    /// Timeout for each of the others, in seconds.
    private static let timeToDecode = 10
    /// The longest span of the file that is decoded and skipped to keep up with the video, in nanoseconds.
    private static let longestJump: RunningTime = 5_000_000_000
    /// Tolerance for timestamps, which containers round, many to milliseconds. In nanoseconds.
    private static let rounding: RunningTime = 1_000_000

    /// Opens the file and waits for its first picture.
    ///
    /// - Parameters:
    ///   - location: a path or a `file:` URI of a regular file.
    ///   - allowsRemote: true to take the URI of a file of the network too, which is downloaded first.
    ///   - maxPixels: larger pictures are refused.
    ///   - isCancelled: set by another thread to stop opening.
    /// - Throws: an error that names the file and the reason.
    package init(location: String, allowsRemote: Bool, maxPixels: Int, isCancelled: CancelFlag) throws(ElementError) {
        let isRemote = allowsRemote && RemoteFile.isRemote(location)
        remoteFile = isRemote ? try RemoteFile(location, isCancelled: isCancelled) : nil
        let deadline = Deadline(seconds: BackgroundReader.timeToOpen, isCancelled)
        let path: String
        if let remoteFile { path = remoteFile.path } else { path = try regularFile(location) }
        name = isRemote ? location : path
        guard let bytes = ByteReader(path: path, while: { !deadline.isOver }) else {
            throw unreadable(name, "it cannot be opened")
        }
        let content = try BackgroundReader.content(bytes, name, maxPixels: maxPixels, deadline)
        decoder = try BackgroundDecoder(bytes, path: path, content, maxPixels: maxPixels)
        if let fault = bytes.fault { throw unreadable(name, fault) }
        decoder.start()
        do throws(ElementError) {
            let first = try BackgroundReader.firstPicture(decoder, name, deadline, content)
            current = first.picture
            _ = clock.time(ofFrameAt: first.stamp, duration: first.duration)
            next = pullNext(block: true, deadline)
            if let refusal = decoder.refusal { throw unreadable(name, refusal) }
        } catch {
            decoder.stop(waiting: !deadline.isOver)
            throw error
        }
        if next == nil && hasEnded {
            still = current
            decoder.stop()
        }
    }

    /// True if a picture consists of two fields, taken at different times.
    var isInterlaced: Bool { current.isInterlaced || next?.picture.isInterlaced == true }

    /// Makes `picture` return without waiting, now and later.
    func interrupt() { interrupted.set(true) }

    /// Stops the decoder. The current picture stays. Any thread.
    package func close() {
        interrupt()
        decoder.stop()
    }

    /// Returns the picture at a running time of the video. The file starts at the first requested time, and loops.
    ///
    /// - Parameter block: true to wait for the decoder, so that the result does not depend on its speed.
    package func picture(at time: RunningTime, block: Bool) -> Picture {
        var start = origin ?? time
        // After a seek backwards the file continues with the current picture.
        if let lastTime, time < lastTime { start &+= time &- lastTime }
        lastTime = time
        // The loop ends: each picture is at least a millisecond after the previous one, and at most the longest jump is
        // skipped.
        while let upcoming = next ?? pullInTime(block: block) {
            if time &- start &- upcoming.time > BackgroundReader.longestJump {
                start = time &- upcoming.time  // the video jumped ahead: continue with the current picture
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

    /// Returns the same as `pullNext`; stops a decoder that exceeds the timeout.
    private func pullInTime(block: Bool) -> (picture: Picture, time: RunningTime)? {
        let deadline = Deadline(seconds: BackgroundReader.timeToDecode, interrupted)
        let upcoming = pullNext(block: block, deadline)
        if upcoming == nil && block && !hasEnded && !deadline.isCancelled {
            end("no picture came out of it in \(BackgroundReader.timeToDecode) seconds")
        }
        return upcoming
    }

    /// Returns the next picture with its time since the file's start; nil if none is ready, or no more can be read.
    private func pullNext(block: Bool, _ deadline: Deadline) -> (picture: Picture, time: RunningTime)? {
        while !hasEnded && !deadline.isCancelled {
            switch decoder.next(block: block) {
            case .picture(let picture, let stamp, let duration):
                return (picture, clock.time(ofFrameAt: stamp, duration: duration))
            case .nothing where !block: return nil
            case .nothing: if deadline.isOver { return nil }
            case .end: hasEnded = !startAnew()
            case .fault(let reason):  // a damaged file loops over its readable part
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
            .resource(GST_RESOURCE_ERROR_READ), "The file \"\(name)\" stopped at its last picture: \(reason).")
    }

    // MARK: Opening

    private static func firstPicture(
        _ decoder: BackgroundDecoder, _ name: String, _ deadline: Deadline,
        _ content: BackgroundDecoder.Content
    ) throws(ElementError) -> (picture: Picture, stamp: RunningTime?, duration: RunningTime?) {
        let rarity: String? = if case .pictures(let header, _) = content { header.rarity } else { nil }
        while !deadline.isOver {
            switch decoder.next(block: true) {
            case .picture(let picture, let stamp, let duration): return (picture, stamp, duration)
            case .nothing: break
            case .end: throw unreadable(name, rarity ?? "there is no whole picture in it")
            case .fault(let reason): throw unreadable(name, rarity ?? reason)
            case .refused(let reason): throw unreadable(name, reason)
            }
        }
        throw decoder.hint.map { unreadable(name, $0) } ?? tooSlow(name)
    }

    private static func tooSlow(_ name: String) -> ElementError {
        unreadable(name, "no picture came out of it in \(timeToOpen) seconds")
    }

    /// Determines the content from the file's first bytes.
    private static func content(
        _ bytes: ByteReader, _ name: String, maxPixels: Int, _ deadline: Deadline
    ) throws(ElementError) -> BackgroundDecoder.Content {
        guard let header = PictureHeader(bytes) else {
            if let fault = bytes.fault { throw unreadable(name, fault) }
            return .stream
        }
        if let fault = bytes.pngFault { throw unreadable(name, fault) }
        let pieces =
            header.kind == .gif ? bytes.readGIFImages() : [PicturePiece(bytes: 0..<header.length, duration: nil)]
        if deadline.isOver { throw tooSlow(name) }
        if let fault = bytes.fault { throw unreadable(name, fault) }
        if header.isTruncated || pieces.isEmpty { throw unreadable(name, "the file ends before the picture does") }
        if let pixels = header.pixels, pixels > maxPixels {
            throw unreadable(name, tooManyPixels(pixels, limit: maxPixels))
        }
        // The whole file is kept in memory. A valid one is no larger than its pixels and some metadata.
        let (mostBytes, overflow) = maxPixels.multipliedReportingOverflow(by: 8)
        let length = pieces.reduce(0) { $0 + $1.bytes.count }
        guard overflow || length <= mostBytes + 16_777_216 else {
            throw unreadable(
                name, "it has \(length) bytes, too many for pictures of \(maxPixels) pixels (property max-pixels)")
        }
        return .pictures(header, pieces)
    }
}

/// A deadline that a flag may bring forward.
struct Deadline {
    private let end: gint64
    private let cancelFlag: CancelFlag

    init(seconds: Int, _ cancelFlag: CancelFlag) {
        end = g_get_monotonic_time() &+ gint64(seconds) &* 1_000_000
        self.cancelFlag = cancelFlag
    }

    var isCancelled: Bool { cancelFlag.isSet }
    var isOver: Bool { isCancelled || g_get_monotonic_time() >= end }
}

/// Returns the path of a location.
///
/// - Throws: for anything but a regular local file. Devices and FIFOs would block the loader.
private func regularFile(_ location: String) throws(ElementError) -> String {
    var path = location
    if location.hasPrefix("file:") {
        guard let converted = takeString(g_filename_from_uri(location, nil, nil)) else {
            throw unreadable(location, "the URI is malformed")
        }
        path = converted
    } else if g_strstr_len(location, -1, "://") != nil {
        throw unreadable(
            location,
            RemoteFile.isRemote(location)
                ? "files of the network are read only with allow-remote=true"
                : "only local files, and with allow-remote=true http: and https: URIs, are read")
    }
    guard g_file_test(path, GSTSHIMS_FILE_TEST_EXISTS) != 0 else {
        throw ElementError(.resource(GST_RESOURCE_ERROR_NOT_FOUND), "The file \"\(path)\" does not exist.")
    }
    guard g_file_test(path, GSTSHIMS_FILE_TEST_IS_REGULAR) != 0 else {
        let isFolder = g_file_test(path, GSTSHIMS_FILE_TEST_IS_DIR) != 0
        throw unreadable(path, isFolder ? "it is a directory" : "it is not a regular file")
    }
    return path
}

/// Returns the error for a file that is not used.
///
/// - Parameter name: the path or the URI.
func unreadable(_ name: String, _ reason: String) -> ElementError {
    ElementError(.resource(GST_RESOURCE_ERROR_OPEN_READ), "The file \"\(name)\" cannot be read: \(reason).")
}
