/// Upper bounds of the bytes that kernels keep from frame to frame, with any settings.
///
/// They are no formulas of single kernels: measured, with a quarter to spare. `MemoryBoundTests` holds every kind of work
/// against them.
package enum KernelMemory {
    /// A picture's size, in pixels.
    package struct Size: Equatable, Sendable {
        let width: Int
        let height: Int

        package init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }

        package var pixels: Int { width * height }
        /// The longest line, along either axis.
        fileprivate var line: Int { width + height }
    }

    /// A matte, its effects on the video, and the blend.
    package static func matte(depth: Size, video: Size, threads: Int, remembersRoom: Bool = false) -> Int {
        let grid = min(depth.pixels, MatteDetail.full.longest * MatteDetail.full.longest)
        // A wide blur keeps as many rows beyond the map as it reaches.
        let beyond = 3200 * (depth.width + 2 * OpacityMap.margin)
        let fused = (remembersRoom ? 240 : 184) * grid
        return beyond + 16 * depth.pixels + fused + sync(grid: grid) + 16 * video.pixels
            + lines(depth, video, threads: threads)
    }

    /// The sync estimate: cells of the frames that are compared, and sums that do not depend on the sizes.
    private static func sync(grid: Int) -> Int { 100 * min(grid, max(grid / 4, 480 * 480)) + 4 << 20 }

    /// The colors of a depth map on a canvas.
    package static func colors(depth: Size, canvas: Size) -> Int {
        8 * depth.pixels + lines(depth, canvas, threads: 1)
    }

    /// A cloud, of which each thread has a canvas of its own with a margin.
    package static func cloud(depth: Size, canvas: Size, threads: Int) -> Int {
        let margin = 2 * CloudDisc.largestRadius + 4
        let places = (canvas.width + margin) * (canvas.height + margin)
        return 8 * depth.pixels + 8 * places * threads + lines(depth, canvas, threads: threads)
    }

    /// A map as another camera sees it.
    package static func registration(depth: Size, output: Size) -> Int {
        12 * depth.pixels + 6 * output.pixels + lines(depth, output, threads: 1)
    }

    /// Lines and tables.
    private static func lines(_ one: Size, _ other: Size, threads: Int) -> Int {
        (threads + 1) * ((1 << 20) + 256 * max(one.line, other.line))
    }
}
