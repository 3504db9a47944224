import CDepthKernels

/// Rows of bytes in borrowed memory, with bounds that are checked once, when the plane is made.
///
/// The initialiser checks the size of the memory, so kernels read the rows of a plane without further checks. The owner
/// keeps the memory alive for as long as the plane is used.
@safe
package struct Plane {
    /// First byte of the first row.
    package let base: UnsafeRawPointer
    /// Bytes of each row that belong to the picture; the rest up to `stride` is padding, never read nor written.
    package let rowBytes: Int
    package let rows: Int
    /// Bytes from one row to the next: at least `rowBytes`, or at most −`rowBytes` where the last row comes first in memory.
    package let stride: Int

    /// Returns nil unless the last byte of the last row lies within the `length` bytes that start at `base`.
    package init?(base: UnsafeRawPointer, length: Int, rowBytes: Int, rows: Int, stride: Int) {
        guard let needed = Plane.extent(rowBytes: rowBytes, rows: rows, stride: stride), needed <= length else {
            return nil
        }
        unsafe self.base = base
        self.rowBytes = rowBytes
        self.rows = rows
        self.stride = stride
    }

    init(_ plane: MutablePlane) {
        unsafe base = UnsafeRawPointer(plane.base)
        rowBytes = plane.rowBytes
        rows = plane.rows
        stride = plane.stride
    }

    /// Bytes from the first byte of the first row to the last byte of the last one, both included; nil if the numbers
    /// describe no picture or the result overflows.
    package static func extent(rowBytes: Int, rows: Int, stride: Int) -> Int? {
        guard rowBytes > 0, rows > 0, stride >= rowBytes else { return nil }
        let (allButLast, overflow) = stride.multipliedReportingOverflow(by: rows - 1)
        guard !overflow else { return nil }
        let (total, tooLarge) = allButLast.addingReportingOverflow(rowBytes)
        return tooLarge ? nil : total
    }

    /// - Precondition: `0 <= y < rows`.
    @inline(__always)
    package func row(_ y: Int) -> UnsafeRawPointer {
        assert(y >= 0 && y < rows, "row outside the plane")
        return unsafe base + y &* stride
    }

    /// Fetches bytes of a row that is read some rows later: where runs are short the processor does not by itself. There may be
    /// no such row.
    @inline(__always)
    func prefetch(row y: Int, from first: Int, count: Int) {
        guard y < rows else { return }
        unsafe dm_prefetch_row(row(y).assumingMemoryBound(to: UInt8.self) + first, count &+ 63)
    }
}

/// A `Plane` that may be written.
@safe
package struct MutablePlane {
    package let base: UnsafeMutableRawPointer
    package let rowBytes: Int
    package let rows: Int
    package let stride: Int

    /// Returns nil unless the last byte of the last row lies within the `length` bytes that start at `base`.
    package init?(base: UnsafeMutableRawPointer, length: Int, rowBytes: Int, rows: Int, stride: Int) {
        guard let needed = Plane.extent(rowBytes: rowBytes, rows: rows, stride: stride), needed <= length else {
            return nil
        }
        unsafe self.base = base
        self.rowBytes = rowBytes
        self.rows = rows
        self.stride = stride
    }

    /// Rows without padding.
    ///
    /// - Precondition: `width` and `height` are above 0, and `width · height` bytes start at `packed`.
    init(packed: UnsafeMutablePointer<UInt8>, width: Int, height: Int) {
        unsafe base = UnsafeMutableRawPointer(packed)
        rowBytes = width
        rows = height
        stride = width
    }

    /// The same memory, read-only.
    package var readOnly: Plane { Plane(self) }

    /// The same memory, its rows from the last to the first.
    package var upsideDown: MutablePlane {
        unsafe MutablePlane(base: row(rows - 1), rowBytes: rowBytes, rows: rows, stride: 0 &- stride)
    }

    private init(base: UnsafeMutableRawPointer, rowBytes: Int, rows: Int, stride: Int) {
        unsafe self.base = base
        self.rowBytes = rowBytes
        self.rows = rows
        self.stride = stride
    }

    /// - Precondition: `0 <= y < rows`.
    @inline(__always)
    package func row(_ y: Int) -> UnsafeMutableRawPointer {
        assert(y >= 0 && y < rows, "row outside the plane")
        return unsafe base + y &* stride
    }
}

/// Up to four planes, stored inline, so that describing a frame allocates nothing.
package struct Planes<Element> {
    private var slots: InlineArray<4, Element?>
    package private(set) var count = 0

    package init() { slots = .init(repeating: nil) }

    /// - Precondition: fewer than four planes so far.
    package mutating func append(_ plane: Element) {
        precondition(count < 4, "a frame has four planes at most")
        slots[count] = plane
        count += 1
    }

    /// Returns nil where the frame has no such plane.
    package subscript(index: Int) -> Element? {
        index >= 0 && index < 4 ? slots[index] : nil
    }
}

extension Planes where Element == MutablePlane {
    /// The same memory, read-only.
    package var readOnly: Planes<Plane> {
        var result = Planes<Plane>()
        for index in 0..<count {
            if let plane = self[index] { result.append(plane.readOnly) }
        }
        return result
    }
}
