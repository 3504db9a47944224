import CProcessor
import CVectors
import DepthLoops

#if arch(x86_64)
    import DepthLoopsV3
#endif

/// Loops that are compiled once for each instruction set, from the same source, and give the same bits: nothing in them
/// is reordered or fused. See `Sources/DepthLoops`.
package protocol CompiledLoops: Sendable {
    /// For every processor that the library is compiled for.
    static var baseline: Self { get }
    #if arch(x86_64)
        /// For x86-64-v3: AVX2, in nearly every processor since 2015.
        static var v3: Self { get }
    #endif
}

extension CompiledLoops {
    #if arch(x86_64)
        /// All that this processor can run, slowest first.
        package static var usable: [Self] { processor_has_x86_64_v3() ? [baseline, v3] : [baseline] }

        /// The fastest that this processor can run.
        package static var best: Self { processor_has_x86_64_v3() ? v3 : baseline }
    #else
        package static var usable: [Self] { [baseline] }
        package static var best: Self { baseline }
    #endif
}

/// The innermost loops of the matte, compiled for one instruction set.
@safe
package struct Loops: CompiledLoops {
    typealias Floats = UnsafePointer<Float>
    typealias MutableFloats = UnsafeMutablePointer<Float>
    typealias Fixed = UnsafePointer<Int16>
    typealias MutableFixed = UnsafeMutablePointer<Int16>
    typealias Bytes = UnsafePointer<UInt8>
    typealias MutableBytes = UnsafeMutablePointer<UInt8>

    package let name: StaticString
    let cutRow: @Sendable (UnsafeRawPointer, Int, UInt16, UInt16, UnsafeMutablePointer<UInt64>) -> Void
    let expandBits: @Sendable (UnsafePointer<UInt64>, Int, MutableFloats) -> Void
    let addSteps: @Sendable (UnsafePointer<MaskStep>, Int, Float, Floats, Int, StepSums) -> Void
    let sumOfBlocks: @Sendable (Floats, UnsafePointer<UInt64>, UnsafePointer<UInt64>, Int) -> Double
    let sizeOfRange: @Sendable (UnsafeRawPointer, Int, UInt16, UInt16, Int32) -> Int
    let weigh: @Sendable (Floats, Int, Int, Int, Floats, Int, MutableFloats, Int) -> Void
    let sortSamples:
        @Sendable (Floats, Int, Int, Float, Float, UnsafeMutablePointer<UInt16>, UnsafeMutablePointer<UInt16>) -> Void
    let squareRoots: @Sendable (MutableFloats, Int, Int) -> Void
    let squares: @Sendable (MutableFloats, Int, Int) -> Void
    let powers: @Sendable (MutableFloats, Int, Int, Float) -> Void
    let fixOpacities: @Sendable (Floats, Int, MutableFixed) -> Void
    let stretchEvenly: @Sendable (Fixed, Int, Int, Fixed, MutableFixed) -> Void
    let stretchAnyhow: @Sendable (Fixed, Int, UnsafePointer<Int>, Fixed, Int, MutableFixed) -> Void
    let halveBits: @Sendable (SIMD4<UInt64>, MutableFloats) -> Void
    let halveLine: @Sendable (Floats, Int, MutableFloats) -> Void
    let mixRows: @Sendable (UnsafePointer<FourRows>, Int, Range<Int>, MutableBytes, Int) -> Void
    let mixLines: @Sendable (UnsafePointer<FourRows>, Int, Int, Range<Int>, MutableBytes, Int) -> Void
    let mixBytes: @Sendable (MutableBytes, Int, Bytes, Int, Bytes, Int, Int, Int) -> Void
    let copyPastCache: @Sendable (Bytes, Int, MutableBytes) -> Void
    let meansOfPairs: @Sendable (Bytes, Bytes, Int, MutableBytes) -> Void
    let repeatEach: @Sendable (Bytes, Int, Int, MutableBytes) -> Void
    let repeatInPlace: @Sendable (MutableBytes, Int, Int) -> Void
    let spreadPacked422: @Sendable (Bytes, Int, Bool, MutableBytes) -> Void

    package static let baseline = unsafe Loops(
        name: "baseline", cutRow: DepthLoops.cutRow, expandBits: DepthLoops.expandBits, addSteps: DepthLoops.addSteps,
        sumOfBlocks: DepthLoops.sumOfBlocks, sizeOfRange: DepthLoops.sizeOfRange,
        weigh: DepthLoops.weigh, sortSamples: DepthLoops.sortSamples, squareRoots: DepthLoops.squareRoots,
        squares: DepthLoops.squares,
        powers: DepthLoops.powers, fixOpacities: DepthLoops.fixOpacities, stretchEvenly: DepthLoops.stretchEvenly,
        stretchAnyhow: DepthLoops.stretchAnyhow, halveBits: DepthLoops.halveBits, halveLine: DepthLoops.halveLine,
        mixRows: DepthLoops.mixRows, mixLines: DepthLoops.mixLines,
        mixBytes: DepthLoops.mixBytes, copyPastCache: DepthLoops.copyPastCache,
        meansOfPairs: DepthLoops.meansOfPairs, repeatEach: DepthLoops.repeatEach,
        repeatInPlace: DepthLoops.repeatInPlace, spreadPacked422: DepthLoops.spreadPacked422)

    #if arch(x86_64)
        package static let v3 = unsafe Loops(
            name: "x86-64-v3", cutRow: DepthLoopsV3.cutRow, expandBits: DepthLoopsV3.expandBits,
            addSteps: DepthLoopsV3.addSteps,
            sumOfBlocks: DepthLoopsV3.sumOfBlocks, sizeOfRange: DepthLoopsV3.sizeOfRange,
            weigh: DepthLoopsV3.weigh, sortSamples: DepthLoopsV3.sortSamples,
            squareRoots: DepthLoopsV3.squareRoots, squares: DepthLoopsV3.squares,
            powers: DepthLoopsV3.powers,
            fixOpacities: DepthLoopsV3.fixOpacities, stretchEvenly: DepthLoopsV3.stretchEvenly,
            stretchAnyhow: DepthLoopsV3.stretchAnyhow,
            halveBits: DepthLoopsV3.halveBits, halveLine: DepthLoopsV3.halveLine, mixRows: DepthLoopsV3.mixRows,
            mixLines: DepthLoopsV3.mixLines, mixBytes: DepthLoopsV3.mixBytes, copyPastCache: DepthLoopsV3.copyPastCache,
            meansOfPairs: DepthLoopsV3.meansOfPairs,
            repeatEach: DepthLoopsV3.repeatEach, repeatInPlace: DepthLoopsV3.repeatInPlace,
            spreadPacked422: DepthLoopsV3.spreadPacked422)
    #endif
}
