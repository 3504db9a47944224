/// Launch lines that are compared: depthmatte, a compositor with two layers, and the sources of each alone.
struct Pipelines {
    let wanted: Case
    let still: String
    let depthMap: String

    /// Each with the pipeline that has the same sources and nothing else.
    var all: [(name: String, whole: PipelineWork, sources: PipelineWork)] {
        [
            ("compositor, two layers", PipelineWork(compositor), PipelineWork { video($0) + sink + behind($0) + sink }),
            ("depthmatte, image behind", PipelineWork(overImage), PipelineWork { video($0) + sink + depth($0) + sink }),
            (
                "depthmatte, stream behind", PipelineWork(overStream),
                PipelineWork { video($0) + sink + behind($0) + sink + depth($0) + sink }
            ),
        ]
    }

    // MARK: Lines

    /// The upper layer is half transparent: beneath an opaque one the compositor would draw nothing.
    private func compositor(_ frames: Int) -> String {
        "compositor name=both max-threads=\(wanted.threads) sink_1::alpha=0.5" + sink
            + behind(frames) + "! both.sink_0 " + video(frames) + "! both.sink_1 "
    }

    private func overImage(_ frames: Int) -> String {
        depthmatte + "background-mode=image background=\"\(still)\"" + sink
            + video(frames) + "! matte.video " + depth(frames) + "! matte.depth "
    }

    private func overStream(_ frames: Int) -> String {
        depthmatte + "background-mode=stream" + sink + video(frames) + "! matte.video "
            + depth(frames) + "! matte.depth " + behind(frames) + "! matte.background "
    }

    private var depthmatte: String {
        "depthmatte name=matte anchor=fixed cutoff=\(Scene.cutoff) blur-radius=\(wanted.sigma) gamma=\(wanted.gamma) "
            + "upscale=\(wanted.upscale) max-threads=\(wanted.threads) "
    }

    private let sink = " ! fakesink sync=false "

    /// Plain colours are next to no work for their source.
    private func video(_ frames: Int) -> String { source("black", frames) }
    private func behind(_ frames: Int) -> String { source("blue", frames) }

    private func source(_ pattern: String, _ frames: Int) -> String {
        "videotestsrc pattern=\(pattern) num-buffers=\(frames) ! video/x-raw,format=\(wanted.format),"
            + "width=\(wanted.size.width),height=\(wanted.size.height),framerate=30/1 "
    }

    /// One map, sent again and again.
    private func depth(_ frames: Int) -> String {
        "multifilesrc location=\"\(depthMap)\" num-buffers=1 caps=video/x-raw,format=GRAY16_LE,"
            + "width=\(wanted.depth.width),height=\(wanted.depth.height),framerate=30/1 "
            + "! imagefreeze num-buffers=\(frames) "
    }
}
