/// The parts of a person, from back to front.
extension Drawing {
    mutating func add(_ person: Person) {
        // Infrared light does not see most dyes. No source: chosen so that every sensor measures the persons of the room.
        reflectance = person.placement.lean > 0 ? 0.5 : nil
        with(person.placement.map) { placed in
            placed.farther(person.placement.distance, lean: person.placement.lean, below: Person.neckBase.y) {
                $0.addParts(of: person)
            }
        }
    }

    private mutating func addParts(of person: Person) {
        let (look, hasLongHair) = (person.look, person.placement.hasLongHair)
        if person.placement.isWhole { with(person.body) { $0.addFigure(look, isSeated: person.placement.isSeated) } }
        with(person.head) {
            if hasLongHair { $0.addLongHair(look, sway: person.pose.sway) }
            $0.addHairBehind(look)
        }
        with(person.body) {
            // Portraits have a slender neck.
            $0.with(.scale([person.placement.lean > 0 ? 1.5 : 1, 1])) { $0.addNeck(look) }
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
