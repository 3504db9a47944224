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
            SIMD2<Float>, Int32, Int32, Float, UnsafeMutablePointer<UInt64>, UnsafeMutablePointer<Int32>
        ) -> Void
    let keepNearest: @Sendable (UnsafePointer<Double>, UnsafePointer<Int32>, Int, UnsafeMutablePointer<Double>) -> Void
    let drawDiscs:
        @Sendable (
            UnsafeMutablePointer<Double>, Double, Int, Int, UnsafePointer<Int>, Int, UnsafeMutablePointer<Double>,
            UnsafeMutableRawPointer
        ) -> Void

    package static let baseline = unsafe CloudLoops(
        name: "baseline", metresOfCounts: DepthLoops.metresOfCounts, projectRow: DepthLoops.projectRow,
        keepNearest: DepthLoops.keepNearest, drawDiscs: DepthLoops.drawDiscs)

    #if arch(x86_64)
        package static let v3 = unsafe CloudLoops(
            name: "x86-64-v3", metresOfCounts: DepthLoopsV3.metresOfCounts, projectRow: DepthLoopsV3.projectRow,
            keepNearest: DepthLoopsV3.keepNearest, drawDiscs: DepthLoopsV3.drawDiscs)
    #endif
}
