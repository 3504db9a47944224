/// The alpha of a frame, for its consumers.
protocol AlphaSource {
    /// Pixels.
    var width: Int { get }
    var height: Int { get }
    /// The preferred number of rows to be read at a time.
    var rowsPerStrip: Int { get }
    /// The workers that share the frame.
    var bands: MatteBands { get }

    /// Makes a reader of the frame for one thread.
    ///
    /// - Parameter memory: the thread's scratch memory.
    /// - Returns: nil where the alpha is 0 everywhere.
    func reader(_ memory: MatteMemory) -> (any AlphaReader)?
}

extension AlphaSource {
    /// Computes the alpha of the whole frame.
    ///
    /// - Parameter memory: storage of the plane.
    /// - Returns: `width` bytes in each of `height` rows, valid until the memory is used again.
    func plane(in memory: inout Scratch<UInt8>) -> Plane {
        let plane = unsafe MutablePlane(packed: memory.reserve(width * height, filler: 0), width: width, height: height)
        bands.share(AlphaPlane(source: self, plane: plane), rows: height, width: width)
        return plane.readOnly
    }
}

/// Rows that are read at a time where no alpha is computed: few calls, and yet short enough for the planes to be
/// processed in turn.
let rowsPerPlainStrip = 16

/// Reads rows of alpha from top to bottom.
protocol AlphaReader: AnyObject {
    /// Computes the alpha of some neighbouring rows.
    ///
    /// - Parameters:
    ///   - rows: inside the frame, below those read before.
    ///   - alpha: the first pixel of the first row; receives the bytes of mixed runs. Those of other runs are
    ///     undefined.
    ///   - stride: bytes from one row to the next.
    /// - Returns: the runs of the whole width, which hold for all of the rows.
    func read(_ rows: Range<Int>, into alpha: UnsafeMutablePointer<UInt8>, stride: Int) -> AlphaRuns
}

/// Writes all of a matte's alpha to a plane.
private struct AlphaPlane<Source: AlphaSource>: BandWork {
    let source: Source
    let plane: MutablePlane

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        let reader = source.reader(memory)
        for y in stride(from: rows.lowerBound, to: rows.upperBound, by: source.rowsPerStrip) {
            let strip = y..<min(y &+ source.rowsPerStrip, rows.upperBound)
            let target = unsafe plane.row(y).assumingMemoryBound(to: UInt8.self)
            let runs = unsafe reader?.read(strip, into: target, stride: plane.stride) ?? .none
            for row in 0..<strip.count {
                let row = unsafe target + row &* plane.stride
                if runs.count == 0 { unsafe row.update(repeating: 0, count: source.width) }
                for index in 0..<runs.count where runs[index].cover != .mixed {
                    let run = runs[index]
                    unsafe (row + run.start)
                        .update(repeating: run.cover == .opaque ? 255 : 0, count: run.end &- run.start)
                }
            }
        }
    }
}

/// The parts of an alpha plane that are opaque or clear: a bit for each segment of 32 pixels of a band of rows.
@safe
struct AlphaCovers {
    /// Pixels for each bit: a multiple of every horizontal subsampling, so that a run never starts inside a chroma
    /// sample.
    static let segmentWidth = 32

    /// Rows of `stride` words, one for each band.
    let opaque: UnsafePointer<UInt64>
    let clear: UnsafePointer<UInt64>
    let stride: Int
    /// The band of each row of pixels.
    let bandOfRow: [Int32]

    static func stride(width: Int) -> Int { groups(of: 64 * segmentWidth, in: width) }

    /// The cover that a segment has in all of some rows; nil where it is mixed, or not known.
    @inline(__always)
    func cover(ofSegment segment: Int, in rows: Range<Int>) -> Cover? {
        let bands = Int(bandOfRow[rows.lowerBound])...Int(bandOfRow[rows.upperBound &- 1])
        var (isOpaque, isClear) = (UInt64.max, UInt64.max)
        for band in bands {
            let index = band &* stride &+ segment &>> 6
            unsafe isOpaque &= opaque[index]
            unsafe isClear &= clear[index]
        }
        let bit = UInt64(truncatingIfNeeded: segment)
        return isOpaque &>> bit & 1 != 0 ? .opaque : isClear &>> bit & 1 != 0 ? .clear : nil
    }
}

/// Alpha that was computed in full.
struct FinishedAlpha: AlphaSource {
    let plane: Plane
    let width: Int
    let height: Int
    let bands: MatteBands
    /// The parts known to be opaque or clear, if any; saves reading the plane.
    var covers: AlphaCovers?

    var rowsPerStrip: Int { 2 }

    func reader(_ memory: MatteMemory) -> (any AlphaReader)? {
        let reader = memory.part(FinishedAlphaReader.self)
        reader.plane = plane
        reader.covers = covers
        reader.width = width
        return reader
    }
}

/// Reads a finished plane and finds its runs.
final class FinishedAlphaReader: AlphaReader, MatteMemoryPart {
    fileprivate(set) var plane: Plane?
    fileprivate(set) var covers: AlphaCovers?
    fileprivate(set) var width = 0
    private var runs = Scratch<AlphaRun>()

    func read(_ rows: Range<Int>, into alpha: UnsafeMutablePointer<UInt8>, stride: Int) -> AlphaRuns {
        guard let plane else { return .none }
        let segmentWidth = AlphaCovers.segmentWidth
        let memory = unsafe runs.reserve(
            groups(of: segmentWidth, in: width), filler: AlphaRun(cover: .mixed, start: 0, end: 0))
        var list = unsafe AlphaRunList(memory, width: width, alignment: segmentWidth)
        for start in Swift.stride(from: 0, to: width, by: segmentWidth) {
            let count = min(segmentWidth, width &- start)
            if let cover = covers?.cover(ofSegment: start / segmentWidth, in: rows) {
                list.append(cover, to: start &+ count)
                continue
            }
            if count == segmentWidth, let cover = plainCover(plane, rows, start) {
                list.append(cover, to: start &+ count)
                continue
            }
            var (all, any) = (UInt8.max, UInt8.min)
            for y in rows {
                let bytes = unsafe plane.row(y).assumingMemoryBound(to: UInt8.self) + start
                let target = unsafe alpha + ((y &- rows.lowerBound) &* stride &+ start)
                for x in 0..<count {
                    unsafe target[x] = bytes[x]
                    unsafe all &= bytes[x]
                    unsafe any |= bytes[x]
                }
            }
            list.append(any == 0 ? .clear : all == .max ? .opaque : .mixed, to: start &+ count)
        }
        return list.runs
    }

    /// The cover that all pixels of a segment have; nil where they differ.
    @inline(__always)
    private func plainCover(_ plane: Plane, _ rows: Range<Int>, _ start: Int) -> Cover? {
        var (all, any) = (UInt64.max, UInt64.min)
        for y in rows {
            let bytes = unsafe plane.row(y) + start
            for offset in stride(from: 0, to: AlphaCovers.segmentWidth, by: 8) {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                all &= word
                any |= word
            }
        }
        return any == 0 ? .clear : all == .max ? .opaque : nil
    }
}

/// The alpha of a frame without a person: 0 everywhere.
struct NoAlpha: AlphaSource {
    let width: Int
    let height: Int
    let bands: MatteBands

    var rowsPerStrip: Int { rowsPerPlainStrip }

    func reader(_ memory: MatteMemory) -> (any AlphaReader)? { nil }
}
