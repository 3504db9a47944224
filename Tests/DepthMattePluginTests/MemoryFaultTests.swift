import AllocationCounter
import CGStreamer
import DepthKernels
import GstBridge
import GstTestSupport
import Testing

/// Memory that the kernels are refused: an error of the stream, before anything is shown, and no end of the program.
@Suite(.serialized, .enabled(if: allocations_of_this_thread() >= 0)) struct MemoryFaultTests {
    /// Launch lines in which every kernel has its turn; `num-buffers` are three.
    static let lines = [
        "depthmatte method=threshold blur-radius=20 cutoff=3", "depthmatte method=fusion cutoff=3 max-threads=3",
        "depthmatte method=fusion light-wrap=0.5 background-mode=blur background-blur-depth=20 cutoff=3",
        "depthmatte method=threshold background-mode=comic cutoff=3 light-wrap=0.5", "depthmatte view=quad cutoff=3",
        "depthmatte background-mode=transparent attach-matte=true", "depthmatte view=depth",
        "depthcolorize mix=0.5 range=equalize", "depthcloud max-threads=3 point-size=9",
    ]

    private func pipeline(_ element: String) -> Pipeline {
        Pipeline(
            "depthtestsrc num-buffers=3 name=camera camera.video ! video/x-raw,width=320,height=240 ! element.video "
                + "camera.depth ! video/x-raw,width=160,height=120 ! element.depth \(element) name=element ! "
                + "fakesink sync=false")
    }

    /// Runs the pipeline while request number 0, 1, 2… for memory is refused, alone or with all after it, until none is left.
    /// Only the long form goes through every one of them.
    private func refuseEach(_ count: Int, _ line: String, _ make: (String) -> Pipeline) -> (refused: Int, errors: Int) {
        var number = 0
        var errors = 0
        while number < 1000 {
            let gone = Counter()
            var hits = 0
            do {
                let pipeline = make(line)
                gone.watch(pipeline["element"])
                refuse_memory(number, count)
                defer { hits = end_refusing_memory() }
                switch pipeline.run() {
                case .ended: break
                case .stuck: Issue.record("stuck at request \(number)")
                case .failed(let report):
                    errors += 1
                    #expect(report.text.contains("no memory"), "request \(number): \(report)")
                    #expect(report.code == Int(GST_RESOURCE_ERROR_NO_SPACE_LEFT.rawValue))
                }
            }
            #expect(gone.gone == 1)
            if hits == 0 { break }
            number += Soak.isFull || number < 8 ? 1 : 6
        }
        #expect(number < 1000, "there is no end")
        return (number, errors)
    }

    @Test(arguments: lines)
    func `a request for memory that is refused costs nothing, or is an error`(line: String) {
        let before = scratchBytes
        let (refused, errors) = refuseEach(1, line, pipeline)
        #expect(refused > 3 && errors > 0, "\(refused) requests, \(errors) errors")
        #expect(eventually { scratchBytes <= before }, "the kernels' memory is given back")
    }

    @Test(arguments: lines)
    func `memory that is out from any request on ends the stream with an error`(line: String) {
        let before = scratchBytes
        let (refused, errors) = refuseEach(.max, line, pipeline)
        #expect(refused > 3 && errors > 0, "\(refused) requests, \(errors) errors")
        #expect(eventually { scratchBytes <= before }, "the kernels' memory is given back")
    }
}
