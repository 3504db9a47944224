/// The storage format of a depth sample.
package enum DepthEncoding: Sendable {
    case gray8, gray16LE, gray16BE
    /// Metres.
    case float32LE, float16LE

    package var bytesPerSample: Int {
        switch self {
        case .gray8: return 1
        case .gray16LE, .gray16BE, .float16LE: return 2
        case .float32LE: return 4
        }
    }

    /// The largest count a sample can hold; nil for the encodings that hold metres.
    package var fullScale: Int? {
        switch self {
        case .gray8: return 255
        case .gray16LE, .gray16BE: return 65535
        case .float32LE, .float16LE: return nil
        }
    }
}

/// A depth map in borrowed memory.
@safe
package struct DepthImage {
    let plane: Plane
    package let width: Int
    package let height: Int
    package let encoding: DepthEncoding

    /// Returns nil if the plane is smaller than the map.
    package init?(plane: Plane, width: Int, height: Int, encoding: DepthEncoding) {
        let (rowBytes, overflow) = width.multipliedReportingOverflow(by: encoding.bytesPerSample)
        guard width > 0, height > 0, !overflow, rowBytes <= plane.rowBytes, height <= plane.rows else { return nil }
        self.plane = plane
        self.width = width
        self.height = height
        self.encoding = encoding
    }

    /// Distance of one sample in metres; nil where it was not measured, and outside the map.
    ///
    /// Float encodings hold metres, and the scale does not apply to them; NaN, infinite values and those not above 0
    /// are not measured.
    package func metres(x: Int, y: Int, scale: DepthScale) -> Double? {
        guard x >= 0, x < width, y >= 0, y < height else { return nil }
        if let fullScale = encoding.fullScale {
            return scale.metres(count: count(x: x, y: y), fullScale: fullScale)
        }
        let metres = storedMetres(x: x, y: y)
        return metres > 0 && metres.isFinite ? Double(metres) : nil
    }

    /// The stored integer; 0 for float encodings.
    ///
    /// - Precondition: the sample is inside the map.
    @inline(__always)
    func count(x: Int, y: Int) -> Int {
        let row = unsafe plane.row(y)
        switch encoding {
        case .gray8: return unsafe Int(row.load(fromByteOffset: x, as: UInt8.self))
        case .gray16LE:
            return unsafe Int(UInt16(littleEndian: row.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self)))
        case .gray16BE:
            return unsafe Int(UInt16(bigEndian: row.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self)))
        case .float32LE, .float16LE: return 0
        }
    }

    /// The stored metres, NaN and infinite ones included; 0 for integer encodings.
    ///
    /// - Precondition: the sample is inside the map.
    @inline(__always)
    func storedMetres(x: Int, y: Int) -> Float {
        let row = unsafe plane.row(y)
        switch encoding {
        case .float32LE:
            let bits = unsafe row.loadUnaligned(fromByteOffset: x &* 4, as: UInt32.self)
            return Float(bitPattern: UInt32(littleEndian: bits))
        case .float16LE:
            let bits = unsafe row.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self)
            return widened(half: UInt16(littleEndian: bits))
        case .gray8, .gray16LE, .gray16BE: return 0
        }
    }
}

/// Converts a 16-bit float to 32 bits by its bit pattern (IEEE 754-2019 §3.4), as `Float16` does not exist on every
/// platform.
///
/// A multiplication rescales the exponent, which is exact for subnormal numbers too; +∞ stays infinite, −∞ and NaN
/// become NaN.
@inline(__always)
func widened(half bits: UInt16) -> Float {
    let magnitude = Float(bitPattern: UInt32(bits & 0x7fff) << 13) * 0x1p112
    let isFinite = bits & 0x7c00 != 0x7c00
    let finite = bits & 0x8000 == 0 ? magnitude : -magnitude
    return isFinite ? finite : (bits & 0x7fff == 0x7c00 && bits & 0x8000 == 0 ? .infinity : .nan)
}
