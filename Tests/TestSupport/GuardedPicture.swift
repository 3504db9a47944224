package import DepthKernels
import Synchronization

/// A plane of bytes at an odd address, with padding after each row and guard bytes all around, which must stay unchanged.
@safe
package final class GuardedPlane {
    package let rowBytes: Int
    package let rows: Int
    private let stride: Int
    private let memory: UnsafeMutableRawBufferPointer
    private static let margin = 67
    /// All memory there ever was: it stays to the end of the process. A `Plane` does not keep its memory alive, and
    /// Swift releases an object after its last use by name, which may be before the plane's.
    private static let addresses = Mutex<[UInt]>([])
    private static let guardByte: UInt8 = 0xa5

    /// A plane with the bytes `content(x, y)`.
    package init(rowBytes: Int, rows: Int, padding: Int = 13, content: (_ x: Int, _ y: Int) -> UInt8) {
        self.rowBytes = rowBytes
        self.rows = rows
        stride = rowBytes + padding
        unsafe memory = .allocate(byteCount: stride * rows + 2 * GuardedPlane.margin, alignment: 64)
        let address = unsafe UInt(bitPattern: memory.baseAddress)
        GuardedPlane.addresses.withLock { $0.append(address) }
        unsafe memory.initializeMemory(as: UInt8.self, repeating: GuardedPlane.guardByte)
        for y in 0..<rows {
            for x in 0..<rowBytes { self[x, y] = content(x, y) }
        }
    }

    package convenience init(rowBytes: Int, bytes: [UInt8], padding: Int = 13) {
        self.init(rowBytes: rowBytes, rows: bytes.count / rowBytes, padding: padding) { x, y in
            bytes[y * rowBytes + x]
        }
    }

    private func offset(_ x: Int, _ y: Int) -> Int { GuardedPlane.margin + y * stride + x }

    package subscript(x: Int, y: Int) -> UInt8 {
        get { unsafe memory[offset(x, y)] }
        set { unsafe memory[offset(x, y)] = newValue }
    }

    /// The picture's bytes, row by row.
    package var bytes: [UInt8] {
        (0..<rows).flatMap { unsafe memory[offset(0, $0)..<offset(rowBytes, $0)] }
    }

    package var plane: MutablePlane {
        let start = unsafe memory.baseAddress.map { unsafe $0 + GuardedPlane.margin }
        let plane = unsafe start.flatMap {
            unsafe MutablePlane(base: $0, length: stride * rows, rowBytes: rowBytes, rows: rows, stride: stride)
        }
        guard let plane else { preconditionFailure("a guarded plane is always a valid plane") }
        return plane
    }

    /// True where no byte outside the picture was written.
    package var guardsAreIntact: Bool {
        var isPicture = unsafe [Bool](repeating: false, count: memory.count)
        for y in 0..<rows {
            for x in 0..<rowBytes { isPicture[offset(x, y)] = true }
        }
        return isPicture.indices.allSatisfy { unsafe isPicture[$0] || memory[$0] == GuardedPlane.guardByte }
    }
}

extension Planes where Element == MutablePlane {
    package init(_ planes: [GuardedPlane]) {
        self.init()
        for plane in planes { append(plane.plane) }
    }
}

extension Plane {
    /// The picture's bytes, row by row.
    package var bytes: [UInt8] {
        (0..<rows).flatMap { y in
            (0..<rowBytes).map { x in unsafe row(y).load(fromByteOffset: x, as: UInt8.self) }
        }
    }
}
