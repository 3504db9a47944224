import DepthKernels
import GstBridge

/// Copies a frame to another buffer: on one thread, what every other work is measured by.
final class CopyWork: Workload {
    let leastFrames: Int
    private let sources: [FrameMemory]
    private let targets: [FrameMemory]
    private let pool: ThreadPool?
    private var next = 0

    init(_ wanted: Case, _ effort: Options.Effort, threads: Int) throws {
        pool = threads > 1 ? ThreadPool(size: threads) : nil
        let layout = try VideoShape(wanted).layout
        let ring = try effort.ring(wanted)
        sources = (0..<(effort.sources ?? ring)).map { FrameMemory(layout, seed: $0) }
        targets = (0..<ring).map { FrameMemory(layout, seed: $0) }
        leastFrames = max(ring, 32)
    }

    func run(frames: Int) -> Timing {
        let start = now()
        for _ in 0..<frames {
            copy(UnsafeRawBufferPointer(sources[next % sources.count].bytes), to: targets[next % targets.count].bytes)
            next += 1
        }
        return Timing(frame: Double(now() - start) / Double(frames))
    }

    private struct Job {
        let source: UnsafeRawBufferPointer
        let target: UnsafeMutableRawBufferPointer
        let parts: Int
    }

    private func copy(_ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer) {
        guard let pool else { return target.copyMemory(from: source) }
        var job = Job(source: source, target: target, parts: pool.size)
        pool.share(pool.size, of: &job) { job, part, _ in
            let job = job.assumingMemoryBound(to: Job.self).pointee
            /// Parts begin with a line of the cache.
            func start(_ part: Int) -> Int {
                part == job.parts ? job.source.count : job.source.count * part / job.parts & ~63
            }
            let bytes = start(part)..<start(part + 1)
            UnsafeMutableRawBufferPointer(rebasing: job.target[bytes]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: job.source[bytes]))
        }
    }
}

/// Makes the matte.
final class RenderWork: Workload {
    let leastFrames: Int
    private let memories: [FrameMemory]
    private let maps: [DepthImage]
    private let matte = Matte()
    private let settings: MatteSettings
    private let size: Size
    private var next = 0

    init(_ wanted: Case, ring: Int) throws {
        (memories, maps) = try DepthShape(wanted).ring(wanted.scene, count: ring)
        leastFrames = max(ring, 32)
        settings = wanted.settings
        size = wanted.size
    }

    func run(frames: Int) -> Timing {
        let start = now()
        for _ in 0..<frames { _ = nextMatte().plane() }
        return Timing(frame: Double(now() - start) / Double(frames))
    }

    /// The next map's matte, valid until the one after it.
    func nextMatte() -> Matte {
        matte.render(MatteFrame(depth: maps[next], width: size.width, height: size.height), settings)
        next = (next + 1) % maps.count
        return matte
    }
}

/// Lays the person over the background: with one matte for all frames, or with a new one for each.
final class BlendWork: Workload {
    let leastFrames: Int
    private let matte: RenderWork
    private let rendersEach: Bool
    private let blender: Blender
    private let frames: [FrameMemory]
    private let backgrounds: [FrameMemory]
    private var next = 0

    init(_ wanted: Case, ring: Int, rendersEach: Bool) throws {
        let shape = try VideoShape(wanted)
        matte = try RenderWork(wanted, ring: ring)
        self.rendersEach = rendersEach
        guard let pixels = shape.pixels else { throw Failure.cannot("\(wanted.format) is not blended") }
        blender = Blender(layout: pixels, width: wanted.size.width, height: wanted.size.height)
        frames = (0..<ring).map { FrameMemory(shape.layout, seed: $0) }
        backgrounds = (0..<(wanted.background == .stream ? ring : 1)).map { FrameMemory(shape.layout, seed: -1 - $0) }
        leastFrames = max(ring, 32)
    }

    func run(frames count: Int) throws -> Timing {
        var alpha = matte.nextMatte()
        let start = now()
        for _ in 0..<count {
            if rendersEach { alpha = matte.nextMatte() }
            let background = backgrounds[next % backgrounds.count].planes.readOnly
            guard blender.blend(video: frames[next].planes, background: background, matte: alpha) else {
                throw Failure.cannot("the planes are not those of the format")
            }
            next = (next + 1) % frames.count
        }
        return Timing(frame: Double(now() - start) / Double(count))
    }
}
