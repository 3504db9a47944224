import DepthLoops

#if arch(x86_64)
    import DepthLoopsV3
#endif

/// The innermost loops of the colours of metres, compiled for one instruction set; as `Loops` for the matte.
@safe
package struct ColorLoops: Sendable {
    let binsOfMetres: @Sendable (UnsafeRawPointer, Int, Int32, Float, Float, UnsafeMutablePointer<Int32>) -> Void
    let placesOfMetres:
        @Sendable (UnsafeRawPointer, Int, Int32, Float, Float, Float, UnsafeMutablePointer<Int32>) -> Void

    /// For every processor that the library is compiled for.
    package static let baseline = unsafe ColorLoops(
        binsOfMetres: DepthLoops.binsOfMetres, placesOfMetres: DepthLoops.placesOfMetres)

    #if arch(x86_64)
        /// For x86-64-v3: AVX2, in nearly every processor since 2015.
        package static let v3 = unsafe ColorLoops(
            binsOfMetres: DepthLoopsV3.binsOfMetres, placesOfMetres: DepthLoopsV3.placesOfMetres)

        /// All that this processor can run, slowest first.
        package static let usable = Loops.usable.count > 1 ? [baseline, v3] : [baseline]
    #else
        package static let usable = [baseline]
    #endif

    /// The fastest that this processor can run, found once.
    package static let best = usable.last ?? baseline
}
