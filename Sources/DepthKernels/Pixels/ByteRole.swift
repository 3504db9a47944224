/// The meaning of a byte of a pixel.
package enum ByteRole: Equatable, Sendable {
    /// Luma, or one of red, green and blue. In a gray picture it is the gray.
    case gray
    /// Chroma; 128 is none.
    case neutral
    /// Alpha; 255 is opaque.
    case opaque
    /// The x of RGBx; 255 is what others write.
    case unused
}

extension [[ByteRole]] {
    /// The role of the byte at an offset in a sample of a plane. Bytes that are not listed are chroma: packed 4:2:2, whose
    /// samples alternate, has no list.
    package func role(ofByte offset: Int, plane: Int) -> ByteRole {
        indices.contains(plane) && self[plane].indices.contains(offset) ? self[plane][offset] : .neutral
    }
}
