import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport

/// What a soak day sends on the pads beside the video.
extension SoakDay {
    /// What the depth camera does during a stretch of frames.
    private enum Dropout: CaseIterable {
        case none, gap, missing, unmeasured, noise, faulty, twice, half, end
    }

    /// Queues the depth of some frames, some of it lost, up to the last frame's time, so that no frame waits for more.
    ///
    /// - Returns: the contents of the maps.
    func sendDepth(_ count: Int) -> [SoakDepth.Content] {
        guard streams.caps["depth"] != nil, !hasDepthEnded else { return [] }
        let share = pick([0.25, 0.375, 0.5])
        var dropout = Dropout.none
        if Int.random(in: 0..<3, using: &random) == 0 { dropout = pick(Dropout.allCases) }
        if dropout == .end && Int.random(in: 0..<4, using: &random) != 0 { dropout = .missing }
        let first = Int.random(in: 0..<count, using: &random)
        let lost = first..<(dropout == .end ? count : Int.random(in: first + 1...count, using: &random))
        if dropout != .none {
            streams.counts.dropouts += 1
            note("\(dropout) \(lost) of \(count)")
        }
        var contents: [SoakDepth.Content] = []
        var reachesLast = false
        for number in 0..<count {
            var content = SoakDepth.Content.person(share)
            if lost.contains(number) {
                switch dropout {
                case .gap:
                    if number == lost.lowerBound { sendGap(lost) }
                    reachesLast = lost.upperBound == count
                    continue
                case .missing: continue
                case .end:
                    bench["depth"].end()
                    hasDepthEnded = true
                    return contents
                case .half where !number.isMultiple(of: 2): continue
                case .unmeasured: content = .unmeasured
                case .noise: content = .noise
                case .faulty: content = .faulty
                case .twice: sendMap(number, count, .unmeasured)
                case .none, .half: break
                }
            }
            sendMap(number, count, content)
            contents.append(content)
            reachesLast = number == count - 1
        }
        if !reachesLast { sendGap(count - 1..<count) }
        return contents
    }

    private func sendMap(_ number: Int, _ count: Int, _ content: SoakDepth.Content) {
        let start = streams.start(ofNext: number)
        let buffer: BufferRef
        if content == .faulty && (depth.shape.width == 1 || Bool.random(using: &random)) {
            buffer = unmappableBuffer(size: depth.map(.unmeasured, &random).count)
        } else {
            buffer = guardedBuffer(depth.map(content, &random))
        }
        if content == .faulty {
            due.insert("depth pad")
            streams.counts.faultyBuffers += 1
        }
        depth.addMap(at: streams.runningTime(of: start), content)
        streams.push(buffer, on: "depth", at: start)
    }

    /// A gap over some frames.
    private func sendGap(_ frames: Range<Int>) {
        let gap = streams.pushGap(over: frames, on: "depth")
        let first = streams.runningTime(of: streams.start(ofNext: frames.lowerBound))
        let last = streams.runningTime(of: streams.start(ofNext: frames.upperBound - 1))
        depth.addGap(at: streams.runningTime(of: gap.start), over: first...last)
    }

    /// Queues pictures on the other pads.
    func sendPictures(_ count: Int) {
        for pad in streams.pads where pad != "video" && pad != "depth" {
            for number in Set([0, count - 1]).sorted() {
                if Int.random(in: 0..<8, using: &random) == 0 {
                    streams.pushGap(over: number..<number + 1, on: pad)
                } else {
                    streams.push(picture(pad), on: pad, at: streams.start(ofNext: number))
                }
            }
        }
    }

    /// The shape of the pictures on another pad.
    static func pictures(_ pad: String) -> VideoShape { VideoShape(pad == "segmentation" ? "GRAY8" : "RGB", 24, 20) }

    private func picture(_ pad: String) -> BufferRef {
        if Int.random(in: 0..<200, using: &random) == 0 {
            due.formUnion(["background", "segmentation", "face", "frame"])
            streams.counts.faultyBuffers += 1
            return guardedBuffer([1, 2, 3])
        }
        let shape = SoakDay.pictures(pad)
        let buffer = guardedBuffer(flat(shape, pad == "background" ? [0, 0, 250] : [128, 128, 128]))
        if pad == "face" { buffer.addRegion(1, 1, 6, 6) }
        return buffer
    }
}
