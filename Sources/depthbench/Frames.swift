import CGStreamer
import DepthKernels
import GstBridge
import GstTestSupport
import TestSupport

/// Frames that were drawn before and take turns: planes for the kernels, buffers for an element.
final class FrameRing {
    let count: Int
    private let layout: FrameLayout
    private let blocks: [UnsafeMutableRawBufferPointer]
    private let memories: [UnsafeMutablePointer<GstMemory>]
    /// Memory that two buffers have may not be written to.
    private var holders: [BufferRef] = []

    private init(_ layout: FrameLayout, _ count: Int, isWritable: Bool) {
        (self.layout, self.count) = (layout, count)
        // Up to whole words, for the noise.
        blocks = (0..<count).map { _ in .allocate(byteCount: (layout.size + 7) & ~7, alignment: 64) }
        memories = blocks.compactMap {
            gst_memory_new_wrapped(
                GstMemoryFlags(rawValue: 0), $0.baseAddress, gsize($0.count), 0, gsize(layout.size), nil, nil)
        }
        if !isWritable { holders = (0..<count).map { buffer($0) } }
    }

    /// Textured video: every word is another, so that no code profits from likeness.
    convenience init(_ shape: VideoShape, _ count: Int, isWritable: Bool = false, seed: Int = 0) {
        self.init(FrameLayout(shape.info), count, isWritable: isWritable)
        for (number, block) in blocks.enumerated() {
            var random = RepeatableRandomNumberGenerator(seed: UInt64(seed + number))
            for offset in stride(from: 0, to: block.count, by: 8) {
                block.storeBytes(of: random.next(), toByteOffset: offset, as: UInt64.self)
            }
        }
    }

    /// Drawing a map takes longer than the work that is measured: at most four are drawn, and the others are copies of them.
    convenience init(_ shape: DepthShape, _ count: Int, scene: String) {
        self.init(FrameLayout(shape), count, isWritable: false)
        let drawn = (0..<(hasNoise(scene) ? 4 : 1)).map { number in
            let metres = distances(scene, shape.width, shape.height, number: number)
            return shape.isFloat
                ? shape.bytes(metres: metres.map { Float($0) })
                : shape.bytes(counts: metres.map { Int(($0 * 1000).rounded()) })
        }
        for (number, block) in blocks.enumerated() { block.copyBytes(from: drawn[number % drawn.count]) }
    }

    /// Frames of `depthtestsrc`, to and fro, so that nobody jumps where the ring closes.
    ///
    /// - Parameter pattern: that of the test camera, which sends no faces.
    static func filmed(
        _ pattern: String, _ video: VideoShape, _ depth: DepthShape, _ count: Int, isWritable: Bool
    ) throws -> (video: FrameRing, depth: FrameRing) {
        let sink = "appsink sync=false max-buffers=2"
        let pipeline = Pipeline(
            "depthtestsrc name=camera pattern=\(pattern) face=false sensor=structured-light num-buffers=\(count) "
                + "camera.video ! \(video.caps) ! \(sink) name=video camera.depth ! \(depth.caps) ! \(sink) name=depth")
        pipeline.set(GST_STATE_PLAYING)
        let rings = (
            video: FrameRing(FrameLayout(video.info), count, isWritable: isWritable),
            depth: FrameRing(FrameLayout(depth), count, isWritable: false)
        )
        for number in 0...(count / 2) {
            guard let picture = pipeline.nextFrame(of: "video"), let map = pipeline.nextFrame(of: "depth") else {
                throw Failure(text: "depthtestsrc does not send \(pattern) as \(video.caps)")
            }
            for place in [number, (count - number) % count] {
                rings.video.blocks[place].copyBytes(from: picture.bytes.prefix(rings.video.layout.size))
                rings.depth.blocks[place].copyBytes(from: map.bytes.prefix(rings.depth.layout.size))
            }
        }
        return rings
    }

    deinit {
        holders = []
        for memory in memories { gst_mini_object_unref(FrameRing.object(memory)) }
        for block in blocks { block.deallocate() }
    }

    private static func object(_ memory: UnsafeMutablePointer<GstMemory>) -> UnsafeMutablePointer<GstMiniObject> {
        UnsafeMutableRawPointer(memory).assumingMemoryBound(to: GstMiniObject.self)
    }

    /// A new buffer with the memory of a frame.
    func buffer(_ number: Int) -> BufferRef {
        let memory = memories[number % count]
        gst_mini_object_ref(FrameRing.object(memory))
        guard let buffer = gst_buffer_new() else { preconditionFailure("no memory for a buffer") }
        gst_buffer_append_memory(buffer, memory)
        return BufferRef(taking: buffer)
    }

    /// Where the descriptions of the frames' memories are.
    var addresses: Set<UInt> { Set(memories.map { UInt(bitPattern: $0) }) }

    func bytes(_ number: Int) -> UnsafeMutableRawBufferPointer { .init(rebasing: blocks[number][..<layout.size]) }

    func planes(_ number: Int) -> Planes<MutablePlane> {
        var planes = Planes<MutablePlane>()
        guard let base = blocks[number].baseAddress else { return planes }
        for plane in layout.planes {
            let view = MutablePlane(
                base: base + plane.offset, length: layout.size - plane.offset, rowBytes: plane.rowBytes,
                rows: plane.rows, stride: plane.stride)
            if let view { planes.append(view) }
        }
        return planes
    }

    func map(_ number: Int) throws -> DepthImage {
        let image = planes(number)[0].flatMap {
            DepthImage(plane: $0.readOnly, width: layout.width, height: layout.height, encoding: .gray16LE)
        }
        guard let image else { throw Failure(text: "a depth map has no plane") }
        return image
    }
}

// MARK: - Scenes

/// Patterns of the test camera, in which the element looks for heads.
let filmedScenes = ["desk": "person", "room": "room"]

extension FrameLayout {
    fileprivate init(_ shape: DepthShape) {
        self.init(width: shape.width, height: shape.height, bytesPerSample: shape.isFloat ? 4 : 2, rowAlignment: 4)
    }
}

func isScene(_ name: String) -> Bool {
    filmedScenes[name] != nil || ["person", "noisy", "checkerboard", "slope"].contains(name) || share(name) != nil
}

private func hasNoise(_ scene: String) -> Bool { scene == "noisy" || scene == "slope" }

/// The per cent that a scene's name says; the sign may be left out.
private func share(_ name: String) -> Int? {
    Int(name.last == "%" ? name.dropLast() : name[...]).flatMap { 0...100 ~= $0 ? $0 : nil }
}

/// The samples of one map in metres, row by row; 0 where nothing is measured.
///
/// - Parameter number: another number gives other noise.
private func distances(_ scene: String, _ width: Int, _ height: Int, number: Int) -> [Double] {
    func all<Value>(_ value: (_ x: Int, _ y: Int) -> Value) -> [Value] {
        (0..<height).flatMap { y in (0..<width).map { x in value(x, y) } }
    }
    func depth(_ isPerson: Bool) -> Double { isPerson ? 0.7 : 2 }
    func person(_ x: Int, _ y: Int) -> Bool {
        let (u, v) = (Double(x) / Double(width) - 0.5, Double(y) / Double(height))
        let isHead = (u / 0.11) * (u / 0.11) + ((v - 0.38) / 0.20) * ((v - 0.38) / 0.20) < 1
        return isHead || (v > 0.58 && abs(u) < 0.26)
    }
    /// The samples nearest to the center, as many as the share is, and those that lie as far.
    func ellipse(_ percent: Int) -> [Double] {
        let radii = all { x, y in
            let (u, v) = ((Double(x) + 0.5) / Double(width) - 0.5, (Double(y) + 0.5) / Double(height) - 0.5)
            return u * u + v * v
        }
        let count = radii.count * percent / 100
        let farthest = count > 0 ? radii.sorted()[count - 1] : -1
        return radii.map { depth($0 <= farthest) }
    }
    var distances =
        switch scene {
        case "slope": all { x, _ in 0.6 + 3 * Double(x) / Double(width) }
        case "checkerboard": all { x, y in depth((x + y).isMultiple(of: 2)) }
        default: share(scene).map(ellipse) ?? all { depth(person($0, $1)) }
        }
    guard hasNoise(scene) else { return distances }
    var random = RepeatableRandomNumberGenerator(seed: UInt64(number) &+ 1)
    for index in distances.indices {
        if random.next() % 50 == 0 {
            distances[index] = 0
            continue
        }
        // The standard deviation of a structured-light camera: 2 mm at 1 m, growing with the square.
        distances[index] += random.normal() * 0.002 * distances[index] * distances[index]
    }
    return distances
}
