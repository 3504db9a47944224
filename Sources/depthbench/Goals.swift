extension Bench {
    /// Measures the cases that the project has goals for, in place and by the element's wall time.
    func measureGoals() throws {
        let usual = Case()
        var noisy = usual
        noisy.scene = .noisy
        var packed = usual
        packed.format = "BGRA"
        var checkerboard = usual
        (checkerboard.scene, checkerboard.sigma) = (.checkerboard, 1)

        printHeader()
        try judgeCopies("1920x1080 I420, depth 640x480: times a memcpy", usual, 1.5)
        try judgeCopies("the same with sensor noise and 2 % holes", noisy, 3)
        try judgeCopies("1920x1080 BGRA: times a memcpy", packed, 1.5)
        try judgeLargeFrames()
        try judgeBlur(usual)
        try judgeCopies("checkerboard, sigma 1: times a memcpy", checkerboard, 5)
    }

    private func judgeCopies(_ name: String, _ wanted: Case, _ limit: Double) throws {
        judge(name, try measure(.inPlace, wanted).ratio, atMost: limit)
        // For comparison: the same without GStreamer.
        try measure(.kernels, wanted)
    }

    private func judgeLargeFrames() throws {
        var large = Case()
        large.size = Size(width: 3840, height: 2160)
        large.depth = Size(width: 1280, height: 720)
        try judgeCopies("3840x2160 I420, depth 1280x720: times a memcpy", large, 1.5)
        var doubled = large
        doubled.threads = 2
        let samples = try measure(.inPlace, [large, doubled]).samples
        judge("3840x2160: speed of two threads over one", samples.ratio(0, to: 1), atLeast: 1.7)
    }

    private func judgeBlur(_ usual: Case) throws {
        var (sharp, soft) = (usual, usual)
        (sharp.sigma, soft.sigma) = (1, 50)
        let samples = try measure(.inPlace, [sharp, soft]).samples
        judge("blur-radius 50 against 1: times the time", samples.ratio(1, to: 0), atMost: 1.5)
    }
}
