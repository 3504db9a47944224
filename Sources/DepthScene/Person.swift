/// The person, at one moment: looks and pose, and where the parts of the body hang together.
///
/// The parts are drawn from back to front, which is also their order in depth, so depth needs no comparison. Their
/// depths are all within 0.22 m behind the face (`faceDepth`), and everything of the room is more than 0.35 m behind
/// it.
struct Person {
    /// Metres from the camera to the plain of the face, between the eyes and the mouth.
    static let faceDepth: Float = 0.70

    let look: Look
    let pose: Pose

    // Proportions, in frame heights.
    /// The point between the shoulders that body and head move about.
    static let neckBase = Point(0.80, 0.70)
    /// The middle of the face in the body's coordinates, whose origin is `neckBase`.
    static let faceCentre = Point(0, -0.275)
    /// The head turns about the top of the neck, in the body's coordinates.
    static let headPivot = Point(0, -0.11)
    /// The elbow that the waving forearm turns about, in the scene's coordinates; it is below the frame.
    static let elbow = Point(1.345, 1.13)
    /// The wrist, from the elbow, when the forearm is at rest.
    static let wrist = Point(-0.045, -0.44)
    /// What the breath adds: the shoulders rise by this.
    static let breathRise: Float = 0.006

    init(seed: UInt32, seconds: Double) {
        look = Look(seed: seed)
        pose = Pose(seed: seed, seconds: seconds)
    }

    /// From the body's coordinates to the scene's.
    var body: Affine {
        .move(Person.neckBase + Point(pose.sway, -Person.breathRise * pose.breath))
    }

    /// From the head's coordinates, whose origin is the middle of the face, to the scene's.
    var head: Affine {
        Affine.move(Person.faceCentre + pose.headShift)
            .then(.turn(pose.headTilt, about: Person.headPivot))
            .then(body)
    }

    /// From the forearm's coordinates, whose origin is the elbow, to the scene's.
    var forearm: Affine {
        Affine.turn(pose.wave)
            .then(.move(Person.elbow + Point(pose.sway * 0.5, -Person.breathRise * pose.breath)))
    }

    /// From the hand's coordinates, whose origin is the wrist, to the scene's.
    var hand: Affine {
        Affine.turn(pose.wrist).then(.move(Person.wrist)).then(forearm)
    }

    func draw(in drawing: inout Drawing) {
        drawing.with(head) { drawHairBehind(in: &$0) }
        drawing.with(body) { drawNeck(in: &$0) }
        drawing.with(body) { drawTorso(in: &$0) }
        drawing.with(head) { drawHead(in: &$0) }
        drawing.with(head) { drawFace(in: &$0) }
        drawing.with(head) { drawHairInFront(in: &$0) }
        drawing.with(hand) { drawHand(in: &$0) }
        drawing.with(forearm) { drawSleeve(in: &$0) }
    }

    /// The face as a detector boxes it: a square in pixels of a 16:9 frame, from the brow to the chin.
    var faceBox: FaceBox {
        let centre = head(Person.boxCentre)
        let half = Person.boxHalfSize
        let across = Double(Drawing.sceneWidth)
        return FaceBox(
            x: Double(centre.x - half) / across, y: Double(centre.y - half),
            width: Double(half * 2) / across, height: Double(half * 2))
    }

    /// Middle and half the side of the face box, in the head's coordinates.
    private static let boxCentre = Point(0, 0.019)
    private static let boxHalfSize: Float = 0.165
}
