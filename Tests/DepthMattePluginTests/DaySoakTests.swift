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

/// Work in the stream's time, as fast as it goes: a day of `depthmatte` and an hour of each other element in full
/// (`Tests/soak.sh`), two minutes and less in small.
@Suite struct DaySoakTests {
    @Test(arguments: SoakRun.Subject.all)
    func `whatever happens in a day, each frame is what it must be, and nothing is left over`(
        subject: SoakRun.Subject
    ) throws {
        let (length, seed) = (subject.length, Soak.seed)
        let (gone, buffers) = (Counter(), LiveBuffers())
        loadElements()  // which may open a log
        let before = ProcessFigures()
        var memory: [Int] = []
        do {
            let day = subject.run.init(subject, seed: seed, gone, buffers)
            try day.run(length) {
                release_free_memory()
                memory.append(residentMemory())
                Soak.report("\(day.streams.counts.frames) of \(length.frames) frames, memory \(memory.last ?? 0) kB")
            }
            Soak.report("\(subject.factory), seed \(seed), \(day.streams.counts)")
        }
        // Frames come one at a time to a full queue, and go with the element.
        #expect(buffers.count == 0 && gone.gone == gone.watched)
        #expect(eventually { ProcessFigures() <= before }, "\(ProcessFigures()), before \(before)")
        Soak.expectSmallGrowth(
            since: memory[length.warmParts - 1], to: memory[length.parts - 1], limit: length.growth,
            small: length.growth, after: "\(length.frames) frames of \(subject.factory)")
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
