import CDepthKernels
import DepthLoops

/// The place of a format's alpha channel: a byte for each pixel.
package struct AlphaChannel: Equatable, Sendable {
    let plane: Int
    let offset: Int
    /// Bytes from one pixel to the next: 1 or 4.
    let step: Int

    /// A plane of its own.
    package init(plane: Int) { (self.plane, offset, step) = (plane, 0, 1) }

    /// A byte of each 4-byte pixel.
    package init(byte: Int) { (plane, offset, step) = (0, byte, 4) }

    /// Returns true where no pixel of a picture is transparent, not even in part.
    package func isOpaque(_ picture: Planes<Plane>, width: Int) -> Bool {
        guard let plane = picture[plane], plane.rowBytes >= width &* step else { return false }
        return isOpaque(plane, 0..<plane.rows, 0..<width)
    }

    fileprivate func isOpaque(_ plane: Plane, _ rows: Range<Int>, _ pixels: Range<Int>) -> Bool {
        rows.allSatisfy { y in
            let row = unsafe plane.row(y) + pixels.lowerBound &* step
            plane.prefetch(row: y &+ 16, from: pixels.lowerBound &* step, count: pixels.count &* step)
            return if step == 1 {
                unsafe allBits(row, UInt8.self, pixels.count) == .max
            } else {
                unsafe UInt32(littleEndian: allBits(row, UInt32.self, pixels.count)) &>> UInt32(8 &* offset) & 255
                    == 255
            }
        }
    }

    /// The bits that are set in each of some words.
    private func allBits<Word: FixedWidthInteger>(_ row: UnsafeRawPointer, _ type: Word.Type, _ count: Int) -> Word {
        var all = Word.max
        for index in 0..<count {
            all &= unsafe row.loadUnaligned(fromByteOffset: index &* MemoryLayout<Word>.size, as: Word.self)
        }
        return all
    }
}

/// The alpha by which a picture with straight alpha is blended over another, and the picture's own alpha bytes, changed so that the
/// blend of those gives the alpha of the result (over, of Porter and Duff, "Compositing digital images", 1984).
///
///     q = p · m,   a = q + b · (1 − q),   share = q / a,   p ← a + b · (1 − a)
///
/// p, b: alpha of the picture and of what lies under it; m: the matte. The color c = C · share + B · (1 − share) is the blend's, and so is
/// a = p · share + b · (1 − share). Where a = 0 the share is 0.
struct OverAlpha {
    let picture: MutablePlane
    let background: Plane
    let channel: AlphaChannel

    /// Finds the alpha of some rows.
    ///
    /// - Parameters:
    ///   - runs: those of the matte.
    ///   - matte: the first pixel of the first row; nil where no run is mixed.
    ///   - alpha: receives the alpha of the mixed runs of the result, `width` bytes in a row.
    /// - Returns: the runs of the result, in the memory of the matte's.
    func apply(
        to runs: AlphaRuns, _ rows: Range<Int>, _ matte: UnsafePointer<UInt8>?, stride: Int,
        into alpha: UnsafeMutablePointer<UInt8>, width: Int
    ) -> AlphaRuns {
        runs.map { run in
            let pixels = run.start..<run.end
            // What is opaque needs no arithmetic.
            let isPlain =
                run.cover != .mixed
                && (run.cover == .clear || channel.isOpaque(picture.readOnly, rows, pixels))
            if isPlain { return run.cover }
            for y in rows {
                let offset = y &- rows.lowerBound
                let target = unsafe alpha + (offset &* width &+ run.start)
                if run.cover == .mixed, let matte = unsafe matte {
                    unsafe target.update(from: matte + (offset &* stride &+ run.start), count: pixels.count)
                } else {
                    unsafe target.update(repeating: 255, count: pixels.count)
                }
                let start = run.start &* channel.step &+ channel.offset
                unsafe lay(
                    picture.row(y).assumingMemoryBound(to: UInt8.self) + start,
                    over: background.row(y).assumingMemoryBound(to: UInt8.self) + start, target,
                    count: pixels.count, step: channel.step)
            }
            return .mixed
        }
    }

    private func lay(
        _ picture: UnsafeMutablePointer<UInt8>, over background: UnsafePointer<UInt8>,
        _ alpha: UnsafeMutablePointer<UInt8>, count: Int, step: Int
    ) {
        for x in 0..<count {
            let own = unsafe scaledByte(picture[x &* step], alpha[x])
            let under = unsafe background[x &* step]
            let sum = own &+ scaledByte(under, 255 &- own)
            let share = sum == 0 ? 0 : (UInt32(own) &* 255 &+ UInt32(sum) / 2) / UInt32(sum)
            unsafe alpha[x] = UInt8(truncatingIfNeeded: share)
            unsafe picture[x &* step] = sum &+ scaledByte(under, 255 &- sum)
        }
    }
}
