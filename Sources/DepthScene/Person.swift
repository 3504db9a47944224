/// The person, at one moment: looks, pose, and the joints of the body.
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

    /// From the body's coordinates to the scene's.
    var body: Affine { .move(Person.neckBase + Point(pose.sway, rise)) }

    /// From the head's coordinates, whose origin is the middle of the face, to the scene's.
    var head: Affine {
        Affine.move(Person.faceCentre + pose.headShift).then(.turn(pose.headTilt, about: Person.headPivot)).then(body)
    }

    /// From the forearm's coordinates, whose origin is the elbow, to the scene's.
    var forearm: Affine { Affine.turn(pose.wave).then(.move(Person.elbow + Point(pose.sway * 0.5, rise))) }

    /// From the hand's coordinates, whose origin is the wrist, to the scene's.
    var hand: Affine { Affine.turn(pose.wrist).then(.move(Person.wrist)).then(forearm) }

    /// The face as a detector boxes it: a square in pixels of a 16:9 frame, from the brow to the chin.
    var faceBox: FaceBox {
        let centre = placement.map(head([0, 0.019]))
        let half = 0.165 * placement.scale
        let across = Double(Drawing.sceneWidth)
        return FaceBox(
            x: Double(centre.x - half) / across, y: Double(centre.y - half),
            width: Double(half * 2) / across, height: Double(half * 2))
    }
}

extension Drawing {
    mutating func add(_ person: Person) {
        with(person.placement.map) { placed in
            placed.farther(person.placement.distance) { $0.addParts(of: person) }
        }
    }

    private mutating func addParts(of person: Person) {
        let (look, hasLongHair) = (person.look, person.placement.hasLongHair)
        if person.placement.isWhole { with(person.body) { $0.addFigure(look) } }
        with(person.head) {
            if hasLongHair { $0.addLongHair(look, sway: person.pose.sway) }
            $0.addHairBehind(look)
        }
        with(person.body) {
            $0.addNeck(look)
            $0.addTorso(look)
        }
        with(person.head) {
            $0.addHead(look)
            $0.addFace(look, person.pose)
            $0.addHairInFront(look)
            if hasLongHair { $0.addLocks(look, sway: person.pose.sway) }
        }
        guard person.placement.holdsTelephone else { return addArm(of: person, telephone: false) }
        // Larger and nearer, as an arm that is stretched out.
        let reach = Affine.scale([1.45, 1.45]).then(.move(person.forearm.origin * -0.45))
        with(reach.then(.move([person.pose.wave * 3 - 0.06, person.pose.wrist * 0.8]))) { drawing in
            drawing.farther(-0.03 - 0.05 * person.pose.spread) { $0.addArm(of: person, telephone: true) }
        }
    }

    private mutating func addArm(of person: Person, telephone: Bool) {
        with(person.hand) {
            $0.addHand(person.look, spread: person.pose.spread)
            if telephone { $0.addTelephone(person.look) }
        }
        with(person.forearm) { $0.addSleeve(person.look) }
    }
}
