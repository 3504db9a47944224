extension Scene {
    /// The persons whom the matte shows, from back to front.
    func foreground(seconds: Double) -> [Person] {
        if isEmpty { return [] }
        // A wider lens shows what is below the edge of the layout.
        let isWhole = zoom < 1
        return switch pattern {
        case .ramp, .blank: []
        case .person, .likeColors, .noWall, .dim, .chair:
            [Person(seed: seed, seconds: seconds, Placement(isWhole: isWhole))]
        case .longHair: [Person(seed: seed, seconds: seconds, Placement(hasLongHair: true, isWhole: isWhole))]
        case .hand: [Person(seed: seed, seconds: seconds, Placement(holdsTelephone: true, isWhole: isWhole))]
        case .far: [Person(seed: seed, seconds: seconds, .at(0.86, 0.22, scale: 0.23, distance: 2.4, isWhole: true))]
        case .room:
            [
                Person(
                    seed: seed, seconds: seconds,
                    .at(0.702, 0.396, scale: 0.213, distance: 2.60, isWhole: true, isSeated: true, lean: 0.084)),
                Person(
                    seed: seed &+ 1, seconds: seconds,
                    .at(1.191, 0.201, scale: 0.222, distance: 2.43, isWhole: true, lean: 0.084)),
            ]
        case .people:
            [
                Person(
                    seed: seed &+ 1, seconds: seconds, .at(1.26, 0.645, scale: 0.80, distance: 0.08, isWhole: isWhole)),
                Person(seed: seed, seconds: seconds, .at(0.28, 0.650, scale: 0.82, distance: 0.05, isWhole: isWhole)),
            ]
        }
    }

    /// Persons who are part of the room: those beyond a metre in `people`.
    func background(seconds: Double) -> [Person] {
        guard pattern == .people, !isEmpty else { return [] }
        return [Person(seed: seed &+ 4, seconds: seconds, .at(0.84, 0.56, scale: 0.50, distance: 0.5, isWhole: true))]
    }
}

extension Drawing {
    /// The room of the scene's pattern.
    mutating func addRoom(of scene: Scene) {
        switch scene.pattern {
        case .longHair: addBrightRoom()
        case .likeColors: addRoom(like: Look(seed: scene.seed))
        case .far: addHall()
        case .room: addLivingRoom()
        case .chair:
            addStudy()
            addOfficeChair()
        default: addStudy()
        }
        addChange(of: scene)
    }
}
