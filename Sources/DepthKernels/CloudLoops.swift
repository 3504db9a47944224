import DepthLoops

#if arch(x86_64)
    import DepthLoopsV3
#endif

/// The innermost loops of the point cloud, compiled for one instruction set.
@safe
package struct CloudLoops: CompiledLoops {
    package let name: StaticString
    let metresOfCounts:
        @Sendable (UnsafeRawPointer, Int, Float, Float, Int32, Bool, UnsafeMutablePointer<Float>) -> Void
    let projectRow:
        @Sendable (
            UnsafePointer<Float>, UnsafeRawPointer, UInt32, Int, UnsafePointer<Float>, Int, SIMD3<Float>, SIMD3<Float>,
            SIMD2<Float>, Int32, Int32, Float, UnsafeMutablePointer<Double>, UnsafeMutablePointer<Int32>,
            UnsafePointer<Double>, UnsafePointer<Int32>, UnsafeMutablePointer<Double>
        ) -> SIMD2<Int32>
    let keepNearest: @Sendable (UnsafePointer<Double>, UnsafePointer<Int32>, Int, UnsafeMutablePointer<Double>) -> Void
    let moveNearest: @Sendable (UnsafeMutablePointer<Double>, Int, Double, UnsafeMutablePointer<Double>) -> Void
    let drawDiscs:
        @Sendable (
            UnsafePointer<UnsafeMutablePointer<Double>>, Int, UnsafeMutablePointer<Double>,
            UnsafeMutablePointer<Double>, Double, Int, UnsafePointer<Int>, Int, UnsafeMutablePointer<Double>,
            UnsafeMutableRawPointer, Int
        ) -> Void

    package static let baseline = unsafe CloudLoops(
        name: "baseline", metresOfCounts: DepthLoops.metresOfCounts, projectRow: DepthLoops.projectRow,
        keepNearest: DepthLoops.keepNearest, moveNearest: DepthLoops.moveNearest,
        drawDiscs: DepthLoops.drawDiscs)

    #if arch(x86_64)
        package static let v3 = unsafe CloudLoops(
            name: "x86-64-v3", metresOfCounts: DepthLoopsV3.metresOfCounts, projectRow: DepthLoopsV3.projectRow,
            keepNearest: DepthLoopsV3.keepNearest, moveNearest: DepthLoopsV3.moveNearest,
            drawDiscs: DepthLoopsV3.drawDiscs)
    #endif
}
