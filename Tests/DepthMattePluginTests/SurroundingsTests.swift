import CGStreamer
import DepthMattePlugin
import GstBridge
import GstTestSupport
import Testing

/// Bytes in the memory of a frame besides its picture stay behind: sinks such as `shmsink` and `filesink` pass on all
/// of it.
///
/// Each frame goes through an element twice, with other bytes around the picture. All that leaves must be the same.
@Suite struct SurroundingsTests {
    /// The bytes around the picture.
    enum Place: CaseIterable {
        /// No more than the format itself leaves: padding of its rows, bytes of pixels and samples that mean nothing.
        case format
        case tail, memoryBefore, memoryBehind, longRows, reversedPlanes
        /// The picture is a part of a larger one.
        case smallMargin, largeMargin
    }

    /// Looks that show nothing of the video where nobody is near.
    static let blind: [[String: String]] = [
        ["background-color": "0xff204060"], ["background-mode": "stream"], ["background-mode": "transparent"],
        ["view": "matte"], ["view": "depth"],
    ]

    /// Looks that show the room, changed.
    static let changing: [[String: String]] = effectModes.map { ["background-mode": $0] }

    @Test(arguments: FormatTests.videoFormats, Place.allCases)
    func `where nobody is near, nothing of a frame leaves, and nothing around it`(format: String, place: Place) throws {
        for look in SurroundingsTests.blind where format.canBeShown(look) {
            for (width, height) in [(64, 48), (33, 17)] {
                try check(VideoShape(format, width, height), place, look, pictures: (1, 2))
            }
        }
    }

    @Test(arguments: FormatTests.videoFormats, Place.allCases)
    func `of a room that is changed, nothing around it leaves`(format: String, place: Place) throws {
        // A blur treats all bytes of a pixel alike, so what means nothing is shown as blurred as what does.
        for look in SurroundingsTests.changing where look["background-mode"] != "blur" || !format.contains("x") {
            for (width, height) in [(64, 48), (33, 17)] {
                try check(VideoShape(format, width, height), place, look, pictures: (1, 1))
            }
        }
    }

    private func check(
        _ shape: VideoShape, _ place: Place, _ look: [String: String], pictures: (UInt64, UInt64)
    ) throws {
        for readsMetas in [false, true] {
            let frames = try [(pictures.0, UInt64(11)), (pictures.1, UInt64(12))].map { picture, around in
                let bench = Bench(
                    ["depth", "background"], ["anchor": "fixed", "blur-radius": "0"].with(look), readsMetas: readsMetas)
                bench.background.start(shape)
                bench.background.push(noise(shape, seed: 9), at: 0)
                bench.depth.start(Room.depth)
                bench.depth.push(Room.wall(3000), at: 0)
                bench.video.start(shape)
                bench.video.push(try buffer(shape, place, picture: picture, around: around), at: 0)
                let frame = try #require(bench.output.next())
                #expect(bench.bus.warnings().isEmpty)
                return frame
            }
            expectSame(frames, "\(shape), \(look), readsMetas \(readsMetas)")
        }
    }

    private func expectSame(_ frames: [Recorder.Frame], _ what: String) {
        let (one, other) = (frames[0].bytes, frames[1].bytes)
        guard one != other else { return }
        let differing = zip(one, other).enumerated().filter { $1.0 != $1.1 }.map(\.offset)
        Issue.record("\(what): \(differing.count) bytes, \(differing.prefix(9))")
    }

    @Test(arguments: ["depthcolorize", "depthcloud"], Place.allCases)
    func `nothing around a depth map and its video leaves`(factory: String, place: Place) throws {
        let (depth, video) = (VideoShape("GRAY8", 33, 17), VideoShape("RGB", 33, 17))
        for format in factory == "depthcloud" ? ["RGBx"] : ["RGB", "RGBx"] {
            let frames = try [UInt64(11), 12].map { around in
                let bench = Bench(
                    ["video"], ["depth-unit": "0.01"], downstream: "video/x-raw, format=\(format)",
                    of: Bench.Kind(factory: factory, leading: "depth"))
                bench.video.start(video)
                bench.video.push(try buffer(video, place, picture: 1, around: around), at: 0)
                bench.depth.start(depth)
                bench.depth.push(try buffer(depth, place, picture: 2, around: around), at: 0)
                let frame = try #require(bench.output.next())
                #expect(bench.bus.warnings().isEmpty)
                return frame
            }
            expectSame(frames, format)
        }
    }

    @Test(arguments: [(before: 0, behind: 0), (before: 16, behind: 0), (before: 0, behind: 100)])
    func `memory that is handed on whole is worked on only where the frame has all of it`(
        extra: (before: Int, behind: Int)
    ) throws {
        let bench = Bench.room()
        bench.depth.push(Room.wall(3000), at: 0)
        bench.video.push(foreignBuffer(Room.picture, before: extra.before, behind: extra.behind), at: 0)
        let out = try #require(bench.output.next())
        #expect(Room.shown(out) == 0)
        withExtendedLifetime(out) {
            #expect(out.buffer.pointer.isForeign == (extra.before + extra.behind == 0))
        }
    }

    /// A frame that is nobody else's, with random samples and random bytes around them.
    private func buffer(_ shape: VideoShape, _ place: Place, picture: UInt64, around: UInt64) throws -> BufferRef {
        let info = shape.info
        let planes = Int(info.finfo.pointee.n_planes)
        var offsets = (0..<4).map { element($0, of: info.offset) }
        var strides = (0..<4).map { element($0, of: info.stride) }
        var size = shape.size
        var cut: Int?
        switch place {
        case .format: break
        case .tail: size += 1000
        case .memoryBefore:
            offsets = offsets.map { $0 + 64 }
            size += 64
            cut = 64
        case .memoryBehind:
            cut = size
            size += 500
        case .longRows, .reversedPlanes:
            size = 0
            for plane in place == .longRows ? Array(0..<planes) : (0..<planes).reversed() {
                let rows = shape.components.filter { $0.plane == plane }.map(\.rows).max() ?? 0
                strides[plane] += 20
                offsets[plane] = gsize(size + 24)
                size += 24 + rows * Int(strides[plane])
            }
        case .smallMargin, .largeMargin:
            let (columns, rows) = place == .smallMargin ? (4, 2) : (60, 40)
            let whole = VideoShape(shape.format, shape.width + 2 * columns, shape.height + 2 * rows)
            size = whole.size
            for component in whole.components {
                let plane = component.plane
                strides[plane] = element(plane, of: whole.info.stride)
                offsets[plane] = gsize(
                    Int(element(plane, of: whole.info.offset))
                        + rows / component.rowsPerSample * Int(strides[plane])
                        + columns / component.columnsPerSample * component.step)
            }
        }
        var bytes = noise(VideoShape("GRAY8", 4, (size + 3) / 4), seed: around).prefix(size).map { $0 }
        let source = noise(shape, seed: picture)
        for component in shape.components {
            let inPlane = component.offset - Int(element(component.plane, of: info.offset))
            Reference.forEachSample(of: component) { column, row in
                let target =
                    Int(offsets[component.plane]) + inPlane + row * Int(strides[component.plane])
                    + column * component.step
                bytes[target] = source[component.index(column, row)]
            }
        }
        let buffer = guardedBuffer(
            memories: cut.map { [Array(bytes[..<$0]), Array(bytes[$0...])] } ?? [bytes])
        if place != .format && place != .tail && place != .memoryBehind {
            _ = try #require(
                gst_buffer_add_video_meta_full(
                    buffer.pointer, GST_VIDEO_FRAME_FLAG_NONE, info.finfo.pointee.format, guint(shape.width),
                    guint(shape.height), guint(planes), &offsets, &strides))
        }
        return buffer
    }
}
