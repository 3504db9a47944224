/// The room behind the person: a wall with a window, a picture and a shelf, and a desk against it.
///
/// The light comes from the window on the left. Everything here is at least 0.35 m behind the face.
extension Drawing {
    /// Metres, where nothing is drawn.
    static let farthestDepth: Float = 2.2

    mutating func addStudy() {
        addWall(.rgb(0x9cc3c4), .rgb(0x4f8490))
        addWindow()
        addPicture()
        addShelf()
        addDesk()
        addMonitor()
        with(.move([0.318, 0.650])) { $0.addPlant() }
        with(.move([1.585, 0.752])) { $0.addLamp() }
        with(.move([1.425, 0.768])) { $0.addMug() }
        // Light from the window and the lamp, and darker corners.
        glow(.rgb(0xfff3d8, 0.22), 0.30, 0.30, 0.75, 0.75, as: .overlay)
        glow(.rgb(0x0e2a3a, 0.42), 1.78, 1.05, 0.75, 0.55, as: .overlay)
        glow(.rgb(0x0e2a3a, 0.30), 1.78, 0.0, 0.60, 0.40, as: .overlay)
        glow(.rgb(0x0e2a3a, 0.30), 0.0, 1.05, 0.60, 0.40, as: .overlay)
    }
}
