/// Where a person stands, and how they differ from the usual one.
struct Placement {
    /// From the scene's coordinates of the usual person to those of this one.
    var map = Affine()
    /// Metres behind the usual person.
    var distance: Float = 0
    var hasLongHair = false
    var holdsTelephone = false
    /// Legs and the other arm are in the picture.
    var isWhole = false

    /// How large the person is in the picture; the usual one is 1.
    var scale: Float { map.x.x }

    /// Stands with the base of the neck at a place.
    static func at(
        _ x: Float, _ y: Float, scale: Float, distance: Float, isWhole: Bool = false
    ) -> Placement {
        let map = Affine.scale([scale, scale]).then(.move(Point(x, y) - Person.neckBase * scale))
        return Placement(map: map, distance: distance, isWhole: isWhole)
    }
}

extension Scene {
    /// The persons of the matte, from back to front.
    func foreground(seconds: Double) -> [Person] {
        switch pattern {
        case .ramp, .blank: []
        case .person, .likeColors, .noWall, .dim: [Person(seed: seed, seconds: seconds)]
        case .longHair: [Person(seed: seed, seconds: seconds, Placement(hasLongHair: true))]
        case .hand: [Person(seed: seed, seconds: seconds, Placement(holdsTelephone: true))]
        case .far: [Person(seed: seed, seconds: seconds, .at(0.86, 0.22, scale: 0.23, distance: 2.4, isWhole: true))]
        case .people:
            [
                Person(seed: seed &+ 1, seconds: seconds, .at(1.26, 0.645, scale: 0.80, distance: 0.08)),
                Person(seed: seed, seconds: seconds, .at(0.28, 0.650, scale: 0.82, distance: 0.05)),
            ]
        }
    }

    /// Persons who are part of the room: those beyond a metre in `people`.
    func background(seconds: Double) -> [Person] {
        guard pattern == .people else { return [] }
        return [Person(seed: seed &+ 4, seconds: seconds, .at(0.84, 0.56, scale: 0.50, distance: 0.5, isWhole: true))]
    }
}
