/// The heads of a stream: the one that is followed, and others that were seen for some frames.
///
/// A known head (followed, or seen in two frames) is kept with less evidence than a new one needs. While something hides it, it is
/// waited for: its box and distance stay. Where no head is followed, the best of the visible ones is: likely, near, in the middle.
package struct HeadTracker: ~Copyable {
    /// Frames for which the followed head, and other known ones, are waited for where the room is seen at their place.
    private static let (longestMissed, longestMissedOther) = (15, 5)
    /// Frames for which a known head is waited for that something hides.
    private static let longestHidden = 150
    /// Frames in which another head must be seen.
    static let leastAge = 2
    /// The most heads that are followed or waited for.
    private static let mostTracks = 2 * HeadFinder.mostHeads
    /// Metres by which the distance of a doubtful head follows in a frame: it may be that of a hand.
    private static let drift = 0.03
    /// Steps below this share of the box are noise: followed by the other share a frame.
    private static let (noise, settle) = (0.15, 0.3)

    private var finder = HeadFinder()
    /// In depth pixels. The followed head is the first.
    private var tracks: [Head] = []
    private var lastTracks: [Head] = []
    private var frame = 0

    /// Those that the last map shows, or what hides them, in video pixels: the followed one first, the others by their rank.
    private(set) var heads: [Head] = []
    /// True where a detector's face chose the followed head, so that other heads are other people.
    private(set) var isChosen = false

    package init() {
        // So that no frame in the steady state takes memory.
        tracks.reserveCapacity(HeadTracker.mostTracks + 2)
        lastTracks.reserveCapacity(HeadTracker.mostTracks + 2)
        heads.reserveCapacity(HeadTracker.mostTracks + 2)
    }

    /// The followed head, also where it is missed for now.
    private var followed: Head? { tracks.first.flatMap { $0.isFollowed ? $0 : nil } }

    /// Finds the heads of the next map.
    mutating func advance(to field: DepthField, _ bands: MatteBands) {
        frame &+= 1
        // A sure head takes the place of a search of the whole map, which takes four frames then.
        let isSure = followed.map { $0.logOdds > Head.sure && $0.missed == 0 && $0.hidden == 0 } ?? false
        finder.find(in: field.cells, about: tracks, phase: isSure ? frame & 3 : nil, bands)
        match(field)
        followBest(width: Double(field.image.width))
        report(field.placement)
    }

    /// Follows the head of a detected face, also where the map shows none.
    ///
    /// - Parameters:
    ///   - face: in video pixels.
    ///   - distance: metres.
    mutating func follow(_ face: Rectangle<Double>, distance: Double, _ placement: DepthPlacement) {
        let box = placement.depthBox(face)
        let track =
            tracks.firstIndex { $0.isAt(box, distance: distance) }.map { tracks.remove(at: $0) }
            ?? Head(box: box, distance: distance, logOdds: HeadFinder.least, width: 0)
        tracks.insert(track, at: 0)
        for index in tracks.indices { tracks[index].isFollowed = index == 0 }
        isChosen = true
    }

    mutating func reset() {
        tracks.removeAll(keepingCapacity: true)
        heads.removeAll(keepingCapacity: true)
        (isChosen, frame) = (false, 0)
    }

    /// Finds the tracks again; the followed one chooses first, then the older ones.
    private mutating func match(_ field: DepthField) {
        swap(&tracks, &lastTracks)
        tracks.removeAll(keepingCapacity: true)
        lastTracks.sortOthers { $0.age > $1.age }
        for old in lastTracks {
            let head = take(old) ?? HeadTracker.wait(for: old, field)
            let longest = old.isFollowed ? HeadTracker.longestMissed : HeadTracker.longestMissedOther
            if head.missed <= (old.isKnown ? longest : 0) { tracks.append(head) }
        }
        for var head in finder.heads where head.logOdds > HeadFinder.least && tracks.count < HeadTracker.mostTracks {
            // Where nobody was, all who are sure are shown at once.
            if lastTracks.isEmpty, head.isSure { head.age = HeadTracker.leastAge }
            tracks.append(head)
        }
    }

    /// A track that was not found: hidden where something is at its place, else missed.
    private static func wait(for track: Head, _ field: DepthField) -> Head {
        var head = track
        let weight = track.isKnown && track.hidden < longestHidden ? field.hides(track.box, at: track.distance) : 0
        (head.hidden, head.isPresent) = (track.hidden + weight, weight == 1)
        if weight == 0 { head.missed += 1 }
        return head
    }

    /// Takes the likeliest of the found heads that are at a track.
    private mutating func take(_ old: Head) -> Head? {
        // The likeliest comes first.
        guard let index = finder.heads.firstIndex(where: { old.isAt($0.box, distance: $0.distance) }),
            old.isKnown || finder.heads[index].logOdds > HeadFinder.least
        else { return nil }
        var head = finder.heads.remove(at: index)
        let (box, last) = (head.box, old.box)
        let step = max(abs(box.x - last.x), abs(box.y - last.y), abs(box.width - last.width))
        let share = step < HeadTracker.noise * last.width ? HeadTracker.settle : 1
        head.box = Rectangle(
            x: last.x + share * (box.x - last.x), y: last.y + share * (box.y - last.y),
            width: last.width + share * (box.width - last.width),
            height: last.height + share * (box.height - last.height))
        let drift = head.logOdds > Head.sure ? .infinity : HeadTracker.drift
        head.distance = min(max(head.distance, old.distance - drift), old.distance + drift)
        (head.age, head.isSure, head.isFollowed) = (old.age + 1, old.isSure || head.isSure, old.isFollowed)
        return head
    }

    /// Follows the best head where none is followed, or one near a hidden one: one body has one head.
    private mutating func followBest(width: Double) {
        let hidden = followed
        if let hidden, hidden.hidden == 0 { return }
        var best: (index: Int, rank: Double)?
        for (index, head) in tracks.enumerated() where head.missed == 0 {
            if let hidden, head.age < HeadTracker.leastAge || head.hidden > 0 || !head.isNear(hidden) { continue }
            let rank = head.rank(in: width)
            if rank > best?.rank ?? -.infinity { best = (index, rank) }
        }
        guard let best else { return }
        tracks.insert(tracks.remove(at: best.index), at: 0)
        tracks[0].isFollowed = true
        if hidden == nil { isChosen = false } else { tracks.remove(at: 1) }
    }

    private mutating func report(_ placement: DepthPlacement) {
        heads.removeAll(keepingCapacity: true)
        heads.append(contentsOf: tracks.lazy.filter { $0.missed == 0 })
        let width = Double(placement.depthWidth)
        heads.sortOthers { $0.rank(in: width) > $1.rank(in: width) }
        for index in heads.indices { heads[index].box = placement.videoBox(heads[index].box) }
    }
}

extension Head {
    /// Higher for what is likely, near, and in the middle of the map.
    fileprivate func rank(in width: Double) -> Double {
        let aside = min(abs(2 * box.centerX / width - 1), 1)
        return logOdds + logarithm((1 - 0.7 * aside) / distance) / logarithm(2)
    }
}

extension [Head] {
    /// Sorts the heads behind the followed one. (The standard library's sort takes memory.)
    fileprivate mutating func sortOthers(by isBefore: (Head, Head) -> Bool) {
        for index in indices {
            var place = index
            while place > 0, !self[place - 1].isFollowed, isBefore(self[place], self[place - 1]) {
                swapAt(place, place - 1)
                place -= 1
            }
        }
    }
}
