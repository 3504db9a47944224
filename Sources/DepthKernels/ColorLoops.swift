import DepthLoops

#if arch(x86_64)
    import DepthLoopsV3
#endif

/// The innermost loops of the colours of metres, compiled for one instruction set.
@safe
package struct ColorLoops: CompiledLoops {
    let binsOfMetres: @Sendable (UnsafeRawPointer, Int, Int32, Float, Float, UnsafeMutablePointer<Int32>) -> Void
    let placesOfMetres:
        @Sendable (UnsafeRawPointer, Int, Int32, Float, Float, Float, UnsafeMutablePointer<Int32>) -> Void

    package static let baseline = unsafe ColorLoops(
        binsOfMetres: DepthLoops.binsOfMetres, placesOfMetres: DepthLoops.placesOfMetres)

    #if arch(x86_64)
        package static let v3 = unsafe ColorLoops(
            binsOfMetres: DepthLoopsV3.binsOfMetres, placesOfMetres: DepthLoopsV3.placesOfMetres)
    #endif
}
