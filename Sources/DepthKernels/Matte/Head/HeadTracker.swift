/// The heads of a stream: the one that is followed, and others that were seen for some frames.
///
/// A followed head is kept with less evidence than a new one needs, and is waited for while it is hidden. Of the heads of the
/// first frame that shows any, the one is followed that is likely, near, and in the middle.
package struct HeadTracker: ~Copyable {
    /// Frames for which the followed head is waited for.
    private static let longestMissed = 15
    /// Frames in which another head must be seen.
    private static let leastAge = 3
    /// Steps below this share of the box are noise: followed by the other share a frame.
    private static let (noise, settle) = (0.15, 0.3)

    private var finder = HeadFinder()
    /// In depth pixels. The followed head is the first.
    private var tracks: [Head] = []
    private var lastTracks: [Head] = []
    private var found: [Head] = []
    private var isFollowing = false
    private var frame = 0

    /// The heads that the last map shows, in video pixels: the followed one first, if it is seen, the others by their rank.
    package private(set) var heads: [Head] = []
    /// The heads of the last map alone, in video pixels.
    private(set) var candidates: [Head] = []
    /// True where a detector's face chose the followed head, so that other heads are other people.
    package private(set) var isChosen = false
    /// True where the first of `heads` is the followed one.
    package private(set) var seesFollowed = false

    package init() {
        // So that no frame in the steady state takes memory.
        tracks.reserveCapacity(HeadFinder.mostHeads + 1)
        lastTracks.reserveCapacity(HeadFinder.mostHeads + 1)
        found.reserveCapacity(HeadFinder.mostHeads)
        heads.reserveCapacity(HeadFinder.mostHeads + 1)
        candidates.reserveCapacity(HeadFinder.mostHeads + 1)
    }

    /// Finds the heads of the next map.
    mutating func advance(to field: DepthField, _ bands: MatteBands) {
        frame &+= 1
        let followed = isFollowing ? tracks.first : nil
        // A sure head takes the place of a search of the whole map, which takes four frames then.
        let isSure = followed.map { $0.isSure && $0.missed == 0 } ?? false
        finder.find(
            in: field.cells,
            HeadFinder.Scope(followed: followed, tracks: tracks, phase: isSure ? frame & 3 : nil), bands)
        match(finder.heads)
        if !isFollowing { followBest(width: Double(field.image.width)) }
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
        (isFollowing, isChosen) = (true, true)
    }

    mutating func reset() {
        tracks.removeAll(keepingCapacity: true)
        heads.removeAll(keepingCapacity: true)
        candidates.removeAll(keepingCapacity: true)
        (isFollowing, isChosen, seesFollowed) = (false, false, false)
    }

    /// Finds the tracks again; the followed one chooses first, then the older ones.
    private mutating func match(_ heads: [Head]) {
        found.removeAll(keepingCapacity: true)
        found.append(contentsOf: heads)
        swap(&tracks, &lastTracks)
        tracks.removeAll(keepingCapacity: true)
        lastTracks.sort(from: isFollowing ? 1 : 0) { $0.age > $1.age }
        let wasFollowing = isFollowing
        isFollowing = false
        for (index, old) in lastTracks.enumerated() {
            let isFollowed = wasFollowing && index == 0
            if let head = take(old, isFollowed) {
                tracks.append(head)
            } else if isFollowed, old.missed < HeadTracker.longestMissed {
                tracks.append(old)
                tracks[0].missed += 1
            }
            if index == 0 { isFollowing = wasFollowing && !tracks.isEmpty }
        }
        tracks.append(contentsOf: found.lazy.filter { $0.logOdds > HeadFinder.least })
    }

    /// Takes the likeliest of the found heads that are at a track.
    private mutating func take(_ old: Head, _ isFollowed: Bool) -> Head? {
        guard let index = found.firstIndex(where: { old.isAt($0) }),  // the likeliest comes first
            isFollowed || found[index].logOdds > HeadFinder.least
        else { return nil }
        var head = found.remove(at: index)
        let (box, last) = (head.box, old.box)
        let step = max(abs(box.x - last.x), abs(box.y - last.y), abs(box.width - last.width))
        let share = step < HeadTracker.noise * last.width ? HeadTracker.settle : 1
        head.box = Rectangle(
            x: last.x + share * (box.x - last.x), y: last.y + share * (box.y - last.y),
            width: last.width + share * (box.width - last.width),
            height: last.height + share * (box.height - last.height))
        head.age = old.age + 1
        return head
    }

    private mutating func followBest(width: Double) {
        guard let best = tracks.indices.max(by: { tracks[$0].rank(in: width) < tracks[$1].rank(in: width) }) else {
            return
        }
        tracks.insert(tracks.remove(at: best), at: 0)
        (isFollowing, isChosen) = (true, false)
    }

    private mutating func report(_ placement: DepthPlacement) {
        heads.removeAll(keepingCapacity: true)
        candidates.removeAll(keepingCapacity: true)
        seesFollowed = isFollowing && tracks[0].missed == 0
        for (index, head) in tracks.enumerated() {
            let isFollowed = isFollowing && index == 0
            if head.missed == 0 {
                candidates.append(head)
                candidates[candidates.count - 1].box = placement.videoBox(head.box)
            }
            guard isFollowed ? seesFollowed : head.age >= HeadTracker.leastAge else { continue }
            heads.append(head)
        }
        let width = Double(placement.depthWidth)
        heads.sort(from: seesFollowed ? 1 : 0) { $0.rank(in: width) > $1.rank(in: width) }
        for index in heads.indices { heads[index].box = placement.videoBox(heads[index].box) }
    }
}

extension Head {
    /// Higher for what is likely, near, and in the middle of the map.
    fileprivate func rank(in width: Double) -> Double {
        let aside = min(abs(2 * (box.x + box.width / 2) / width - 1), 1)
        return logOdds + logarithm((1 - 0.7 * aside) / distance) / logarithm(2)
    }
}

extension [Head] {
    /// Sorts the elements from an index on. (`sort` of a slice copies it, and so takes memory.)
    fileprivate mutating func sort(from start: Int, by isBefore: (Head, Head) -> Bool) {
        for index in indices.dropFirst(start + 1) {
            var place = index
            while place > start, isBefore(self[place], self[place - 1]) {
                swapAt(place, place - 1)
                place -= 1
            }
        }
    }
}
