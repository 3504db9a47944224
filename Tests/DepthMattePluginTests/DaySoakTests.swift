import CGStreamer
import CGStreamerCheck
import GstBridge
import GstTestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A day's work in the stream's time, as fast as it goes: eight hours of it in full (`Tests/soak.sh`), two minutes in small.
@Suite struct DaySoakTests {
    @Test func `whatever happens in a day, each frame is what it must be, and nothing is left over`() throws {
        let frames = Soak.isFull ? 8 * 3600 * 30 : 2 * 60 * 30
        let parts = Soak.isFull ? 16 : 4
        let (gone, buffers, seed) = (Counter(), LiveBuffers(), Soak.seed)
        loadElements()  // which may open a log
        let before = ProcessFigures()
        var memory: [Int] = []
        var counts = SoakStreams.Counts()
        do {
            let day = SoakDay(seed: seed, frames: frames, gone, buffers)
            try day.run(parts: parts) { part in
                release_free_memory()
                memory.append(residentMemory())
                Soak.report("\(day.streams.counts.frames) of \(frames) frames, memory \(memory[part - 1]) kB")
            }
            counts = day.streams.counts
        }
        // Frames come one at a time to a full queue, and go with the element.
        #expect(buffers.count == 0 && gone.gone == gone.watched)
        #expect(eventually { ProcessFigures() <= before }, "\(ProcessFigures()), before \(before)")
        // Decoders and their libraries come with the first background of a kind.
        let early = memory[Soak.isFull ? parts / 4 - 1 : parts / 2 - 1]
        Soak.report("seed \(seed), \(counts)")
        Soak.expectSmallGrowth(
            since: early, to: memory[parts - 1], limit: 2048, small: 16_384,
            after: "a day of \(frames) frames")
    }

    @Test(arguments: SoakHours.Subject.all)
    func `hours of the other elements`(subject: SoakHours.Subject) throws {
        let frames = Soak.isFull ? 3600 * 30 : 40 * 30
        let (gone, buffers, seed) = (Counter(), LiveBuffers(), Soak.seed)
        loadElements()  // which may open a log
        let before = ProcessFigures()
        var memory: [Int] = []
        do {
            let hours = SoakHours(subject, seed: seed, gone, buffers)
            try hours.run(frames: frames, parts: 4) {
                release_free_memory()
                memory.append(residentMemory())
            }
            Soak.report("\(subject.factory), seed \(seed), \(hours.streams.counts), memory \(memory) kB")
        }
        #expect(buffers.count == 0 && gone.gone == gone.watched)
        #expect(eventually { ProcessFigures() <= before }, "\(ProcessFigures()), before \(before)")
        Soak.expectSmallGrowth(
            since: memory[0], to: memory[3], limit: 1024, after: "\(frames) frames of \(subject.factory)")
    }
}

/// What this process has open and running.
struct ProcessFigures: Equatable {
    let threads: Int
    let files: Int

    init() {
        threads = ProcessFigures.entries("/proc/self/task")
        files = ProcessFigures.entries("/proc/self/fd")
    }

    private static func entries(_ path: String) -> Int {
        guard let folder = opendir(path) else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count
    }

    static func <= (one: ProcessFigures, other: ProcessFigures) -> Bool {
        one.threads <= other.threads && one.files <= other.files
    }
}
