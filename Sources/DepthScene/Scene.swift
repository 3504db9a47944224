/// The view of the synthetic camera.
package enum ScenePattern: Int, Sendable, CaseIterable {
    /// A person who waves, in front of a desk and a wall.
    case person
    /// Depth that rises from left to right, with a bar at each half metre.
    case ramp
    /// Mid gray video, and no depth measured anywhere.
    case blank
    /// The person with long hair, single strands of it against a bright wall.
    case longHair
    /// The person in a room of their own colors: a chair behind the hair, panels as skin, a curtain as the sweater.
    case likeColors
    /// The person before a room that no sensor measures.
    case noWall
    /// The person in a fifth of the light, with the noise of a video camera.
    case dim
    /// Two persons within a metre, and one behind them who counts as room.
    case people
    /// The person holds a telephone out to the camera.
    case hand
    /// The whole figure, 3.1 m away, in a hall.
    case far
    /// The person on a dark chair whose back is beside head and shoulders, 8 to 10 cm behind them.
    case chair
    /// One person on a sofa and one who stands, in a living room with a table and a side wall.
    case room

    var hasPersons: Bool { self != .ramp && self != .blank }
}

/// A moving scene that is a function of time alone: the same pattern, seed and time give the same picture.
///
/// The scene has no size. Its shapes are laid out in the fractions of a frame, so a video, a depth map and a matte of
/// different sizes show the same thing in the same place.
package struct Scene: Equatable, Sendable {
    package let pattern: ScenePattern
    /// Chooses the person's colors and where in their movements they start, and the depth noise; 0 is the default.
    package let seed: UInt32
    /// The cameras' angle of view across the frame, in degrees. `ramp` and `blank` look the same through every lens.
    package let lens: Double
    /// True for the room alone, without anybody.
    package let isEmpty: Bool
    package let change: RoomChange

    /// The lens for which the shapes are laid out, in degrees.
    package static let layoutLens = 60.0

    package init(
        pattern: ScenePattern, seed: UInt32, lens: Double = Scene.layoutLens, isEmpty: Bool = false,
        change: RoomChange = .none
    ) {
        self.pattern = pattern
        self.seed = seed
        self.lens = lens
        self.isEmpty = isEmpty
        self.change = change
    }

    /// The focal length, relative to that of `layoutLens`: the size of everything in the frame.
    var zoom: Float { Scene.tangent(ofHalf: Scene.layoutLens) / Scene.tangent(ofHalf: lens) }

    static func tangent(ofHalf degrees: Double) -> Float {
        Numeric.sine(turns: degrees / 720) / Numeric.sine(turns: degrees / 720 + 0.25)
    }

    /// From the layout to the frame: larger or smaller about the center.
    var view: Affine {
        let center = Point(Drawing.sceneWidth, 1) / 2
        let view = Affine.move(-center).then(.scale([zoom, zoom])).then(.move(center))
        return change == .nudge ? view.then(Scene.nudge) : view
    }
}
