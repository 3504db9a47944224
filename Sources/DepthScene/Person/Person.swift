import DepthKernels

/// A person at one moment: colors, pose, and the transforms of the body's parts.
///
/// The parts are drawn from back to front, which is also their order in depth, so depth needs no comparison. Their
/// depths are all within 0.22 m behind the plane of the face, which is 0.70 m from the camera, and everything of the
/// room is more than 0.35 m behind it.
struct Person {
    let look: Look
    let pose: Pose
    let placement: Placement

    // Proportions, in frame heights.
    /// The point between the shoulders that body and head move about.
    static let neckBase: Point = [0.80, 0.70]
    /// The middle of the face in the body's coordinates, whose origin is `neckBase`.
    private static let faceCentre: Point = [0, -0.275]
    /// The head turns about the top of the neck, in the body's coordinates.
    private static let headPivot: Point = [0, -0.11]
    /// The elbow that the waving forearm turns about, in the scene's coordinates; it is below the frame.
    private static let elbow: Point = [1.345, 1.13]
    /// The wrist, from the elbow, when the forearm is at rest.
    static let wrist: Point = [-0.045, -0.44]

    init(seed: UInt32, seconds: Double, _ placement: Placement = Placement()) {
        look = Look(seed: seed)
        pose = Pose(seed: seed, seconds: seconds)
        self.placement = placement
    }

    /// The vertical shift of the shoulders by the breath.
    private var rise: Float { -0.006 * pose.breath }

    /// Transform from the body's coordinates to the scene's.
    var body: Affine { .move(Person.neckBase + Point(pose.sway, rise)) }

    /// Transform from the head's coordinates, whose origin is the middle of the face, to the scene's.
    var head: Affine {
        Affine.move(Person.faceCentre + pose.headShift).then(.turn(pose.headTilt, about: Person.headPivot)).then(body)
    }

    /// Transform from the forearm's coordinates, whose origin is the elbow, to the scene's.
    var forearm: Affine { Affine.turn(pose.wave).then(.move(Person.elbow + Point(pose.sway * 0.5, rise))) }

    /// Transform from the hand's coordinates, whose origin is the wrist, to the scene's.
    var hand: Affine { Affine.turn(pose.wrist).then(.move(Person.wrist)).then(forearm) }

    /// The face as a detector boxes it: a square in pixels of a 16:9 frame, from the brow to the chin.
    ///
    /// - Parameter view: from the layout of the shapes to the frame.
    func faceBox(through view: Affine) -> Rectangle<Double> {
        let center = view(placement.map(head([0, 0.019])))
        let half = 0.165 * placement.scale * view.x.x
        let across = Double(Drawing.sceneWidth)
        return Rectangle(
            x: Double(center.x - half) / across, y: Double(center.y - half),
            width: Double(half * 2) / across, height: Double(half * 2))
    }
}

/// The place of a person, and the differences from the default person.
struct Placement {
    /// Transform from the scene's coordinates of the default person to those of this one.
    var map = Affine()
    /// Metres behind the default person.
    var distance: Float = 0
    var hasLongHair = false
    var holdsTelephone = false
    /// True where legs and the other arm are in the picture.
    var isWhole = false
    /// True for a whole person who sits.
    var isSeated = false
    /// Metres by which the body is farther for each of its units below the neck, before a camera that looks down at a room;
    /// 0 for a portrait.
    var lean: Float = 0

    /// The size of the person in the picture, relative to the default person.
    var scale: Float { map.x.x }

    /// A placement with the base of the neck at a point.
    static func at(
        _ x: Float, _ y: Float, scale: Float, distance: Float, isWhole: Bool = false, isSeated: Bool = false,
        lean: Float = 0
    ) -> Placement {
        let map = Affine.scale([scale, scale]).then(.move(Point(x, y) - Person.neckBase * scale))
        return Placement(map: map, distance: distance, isWhole: isWhole, isSeated: isSeated, lean: lean)
    }
}
