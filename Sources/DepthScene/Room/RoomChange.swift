/// What changes in a room that is otherwise still, for whoever remembers the room.
package enum RoomChange: Int, Sendable, CaseIterable {
    case none
    /// A lamp at the right is switched on.
    case light
    /// The camera is turned by about a five-hundredth of the picture's width.
    case nudge
    /// A door opens in the wall, to a darker room.
    case door
    /// A television on the wall flickers.
    case screen
}

extension Scene {
    /// From the layout to the frame, where the camera is turned.
    static let nudge = Affine.move([0.0036, 0.002])

    /// The lamp's light on a column of the picture, as a factor of blue, green and red.
    ///
    /// - Parameter x: 0…1, from left to right.
    func light(x: Float) -> Color {
        Color(repeating: 1) + [0.10, 0.18, 0.22, 0] * x
    }
}

/// Coordinates: frame heights.
extension Drawing {
    /// What the scene's change adds to the room.
    mutating func addChange(of scene: Scene) {
        // Farther than the wall.
        let doorDepth: Float = scene.pattern == .far || scene.pattern == .room ? 5.6 : 3.2
        switch scene.change {
        case .none, .light, .nudge: break
        case .door:
            fill(
                .outline, .rectangle(1.14, -0.2, 0.30, 0.90), with: down(0x31413f, 0x20282c, from: 0, to: 0.7),
                relief: .flat(doorDepth))
        case .screen: addTelevision(brightness: 0.5)
        }
    }

    /// - Parameter brightness: 0…1.
    mutating func addTelevision(brightness: Float) {
        let picture = Color.rgb(0x2c4a6e).lighter(0.8 * brightness)
        fill(
            .outline, .roundedRectangle(1.14, 0.16, 0.42, 0.26, 0.008),
            with: linear(
                picture, picture.darker(0.3), from: [1.14, 0.16], to: [1.56, 0.42]), relief: .flat(2.0))
    }
}
