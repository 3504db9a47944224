/// The room behind the person: a wall with a window, a picture and a shelf, and a desk against it.
///
/// The light comes from the window on the left. Everything here is at least 0.35 m behind the face.
struct Room {
    /// Metres, where nothing is drawn.
    static let farthestDepth: Float = 2.2

    /// A little noise against bands in the gradients, in steps of the 8-bit video; the sum of two hashes.
    static func dither(_ column: Int, _ row: Int) -> Colour {
        let x = UInt32(truncatingIfNeeded: column)
        let hash = Hash.mix(x, Hash.mix(UInt32(truncatingIfNeeded: row)))
        let amount = (Hash.unit(hash) + Hash.unit(Hash.mix(hash)) - 1) * 1.1
        return Colour(amount, amount, amount, 0)
    }

    func draw(in drawing: inout Drawing) {
        drawWall(in: &drawing)
        drawWindow(in: &drawing)
        drawPictures(in: &drawing)
        drawShelf(in: &drawing)
        drawDesk(in: &drawing)
        drawMonitor(in: &drawing)
        drawPlant(in: &drawing)
        drawLamp(in: &drawing)
        drawMug(in: &drawing)
        drawLight(in: &drawing)
    }

    /// Light from the window and the lamp, and darker corners.
    private func drawLight(in drawing: inout Drawing) {
        drawing.glow(.overlay, .rgb(0xfff3d8, opacity: 0.22), Ellipse(0.30, 0.30, 0.75, 0.75))
        drawing.glow(.overlay, .rgb(0x0e2a3a, opacity: 0.42), Ellipse(1.78, 1.05, 0.75, 0.55))
        drawing.glow(.overlay, .rgb(0x0e2a3a, opacity: 0.30), Ellipse(1.78, 0.0, 0.60, 0.40))
        drawing.glow(.overlay, .rgb(0x0e2a3a, opacity: 0.30), Ellipse(0.0, 1.05, 0.60, 0.40))
    }
}
