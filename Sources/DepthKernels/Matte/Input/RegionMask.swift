/// For each number of a region in a network's mask, 255 if it is a person, 0 if not.
package typealias RegionLevels = InlineArray<256, UInt8>

/// The level of a picture for `MatteFrame.segmentation` where there is no mask: a probability of a half, which says nothing.
package let unknownLevel: UInt8 = 128

/// Draws a mask, whose pixels are numbers of regions, on a picture for `MatteFrame.segmentation`, each pixel of which takes the mask's
/// pixel in which its center lies: 255 for a person, 0 for the rest of the mask. Where masks overlap, any may show a person.
///
/// - Parameters:
///   - area: the mask's rectangle in a frame, in pixels; may reach beyond the frame.
///   - picture: of the whole frame; filled with `unknownLevel` before the first mask.
package func draw(
    _ mask: Plane, at area: Rectangle<Int>, of frame: (width: Int, height: Int), _ levels: RegionLevels,
    on picture: MutablePlane
) {
    func position(_ center: Double, _ start: Int, _ length: Int, of pixels: Int) -> Int? {
        let share = (center - Double(start)) / Double(length)
        return share >= 0 && share < 1 ? floorIndex(share * Double(pixels), in: 0...pixels - 1) : nil
    }
    let (across, down) = (Double(frame.width) / Double(picture.rowBytes), Double(frame.height) / Double(picture.rows))
    let columns = (0..<picture.rowBytes).map {
        position((Double($0) + 0.5) * across, area.x, area.width, of: mask.rowBytes)
    }
    for y in 0..<picture.rows {
        guard let row = position((Double(y) + 0.5) * down, area.y, area.height, of: mask.rows) else { continue }
        let from = unsafe mask.row(row).assumingMemoryBound(to: UInt8.self)
        let to = unsafe picture.row(y).assumingMemoryBound(to: UInt8.self)
        for (x, column) in columns.enumerated() {
            guard let column else { continue }
            unsafe to[x] = levels[Int(from[column])] | (to[x] == unknownLevel ? 0 : to[x])
        }
    }
}
