import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// Streams that send anything at any time, on every pad at once.
@Suite struct RandomEventTests {
    private static let sequences = 3400

    private enum Step: CaseIterable {
        case streamStart, caps, otherCaps, badCaps, segment, slowSegment, bytesSegment, tag, gap, buffer, lateBuffer,
            untimedBuffer, shortBuffer, flushStart, flushStop, end, segmentDone, custom, stickyCustom, outOfBand,
            lateness, seek, seekWithoutFlush

        var isData: Bool { [.buffer, .lateBuffer, .untimedBuffer, .shortBuffer].contains(self) }
    }

    /// A pad's feed, and its good caps and frames.
    private struct Stream {
        let feed: Feed
        let caps: [String]
        let frame: [UInt8]
    }

    @Test(arguments: Follower.all)
    func `no order of events breaks the output or hangs the element`(follower: Follower) {
        let warnings = GStreamerLog.ofMisorderedSources()
        for seed in 0..<RandomEventTests.sequences { check(follower, seed: UInt64(seed)) }
        #expect(warnings.texts.isEmpty, "\(warnings.texts.prefix(3))")
    }

    private func check(_ follower: Follower, seed: UInt64) {
        var random = RepeatableRandomNumberGenerator(seed: seed)
        let bench = Bench(follower, follower.followed.map(\.pad), follower.busy)
        let streams = follower.streams.map {
            Stream(feed: bench[$0.pad], caps: [$0.caps, $0.otherCaps], frame: $0.frame)
        }
        for stream in streams { stream.feed.takeSeeks { _ in false } }
        if Bool.random(using: &random) { for stream in streams { stream.feed.start(stream.caps[0]) } }
        var sent: Set<Int> = []
        for _ in 0..<Int.random(in: 4...40, using: &random) {
            let index = Int.random(in: streams.indices, using: &random)
            guard let step = Step.allCases.randomElement(using: &random) else { continue }
            let number = Int.random(in: 0..<6, using: &random)
            take(step, on: streams[index], of: bench, number: number, mayBlock: sent.contains(index))
            if step.isData { sent.insert(index) }
        }
        let isWhole = recover(streams, bench)
        _ = bench.output.present()
        #expect(isWhole, "seed \(seed) hangs: \(bench.output.story)")
    }

    /// - Parameter mayBlock: whether the stream has sent buffers, for which there may have been no room.
    private func take(_ step: Step, on stream: Stream, of bench: Bench, number: Int, mayBlock: Bool) {
        let feed = stream.feed
        switch step {
        case .streamStart: feed.push(gst_event_new_stream_start("test/\(number)"))
        case .caps: feed.setCaps(stream.caps[0])
        case .otherCaps: feed.setCaps(stream.caps[1])
        case .badCaps: feed.setCaps("video/x-raw, format=(string)P010_10LE, width=(int)8, height=(int)8")
        case .segment: feed.push(.time())
        case .slowSegment: feed.push(.time(rate: 0.5, start: 30 * millisecond, base: 7))
        case .bytesSegment:
            var segment = GstSegment()
            gst_segment_init(&segment, GST_FORMAT_BYTES)
            feed.push(segment)
        case .tag: feed.push(gst_event_new_tag(gst_tag_list_new_from_string("taglist, title=(string)\(number)")))
        case .gap: feed.gap(at: time(ofFrame: number))
        case .buffer: feed.push(stream.frame, at: time(ofFrame: number))
        case .lateBuffer: feed.push(stream.frame, at: time(ofFrame: number + 100))
        case .untimedBuffer: feed.push(stream.frame)
        case .shortBuffer: feed.push([1, 2, 3], at: time(ofFrame: number))
        case .flushStart: gst_pad_push_event(feed.pad, gst_event_new_flush_start())
        case .flushStop:
            // Without a beginning it would wait for the streaming thread, which may wait in its turn, as everywhere.
            if feed.isFlushing || !mayBlock { gst_pad_push_event(feed.pad, gst_event_new_flush_stop(1)) }
        case .end: feed.end()
        case .segmentDone: feed.push(gst_event_new_segment_done(GST_FORMAT_TIME, gint64(time(ofFrame: number))))
        case .lateness:
            gst_pad_push_event(
                bench.output.pad,
                gst_event_new_qos(
                    GST_QOS_TYPE_UNDERFLOW, 1, GstClockTimeDiff(number) * 10_000_000, time(ofFrame: number)))
        case .seek: seek(bench, GST_SEEK_FLAG_FLUSH, to: number)
        case .seekWithoutFlush: seek(bench, GST_SEEK_FLAG_NONE, to: number)
        case .custom: feed.push(gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("x")))
        case .stickyCustom:
            feed.push(gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, gst_structure_new_empty("y")))
        case .outOfBand:
            feed.push(gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_OOB, gst_structure_new_empty("z")))
        }
    }

    private func seek(_ bench: Bench, _ flags: GstSeekFlags, to number: Int) {
        let event = gst_event_new_seek(
            number.isMultiple(of: 2) ? 1 : -1, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, gint64(time(ofFrame: number)),
            GST_SEEK_TYPE_SET, 1_000_000_000)
        #expect(gst_pad_push_event(bench.output.pad, event) == 0)
    }

    /// Flushes everything, as a seek would, and plays one frame to the end.
    ///
    /// - Returns: whether that frame and the end came.
    private func recover(_ streams: [Stream], _ bench: Bench) -> Bool {
        // A pad that flushes already takes no second beginning.
        for stream in streams where stream.feed.isFlushing {
            gst_pad_push_event(stream.feed.pad, gst_event_new_flush_stop(1))
        }
        let seqnum = gst_util_seqnum_next()
        for make in [flushStart, flushStop] {
            for stream in streams {
                gst_pad_push_event(stream.feed.pad, make(seqnum))
                stream.feed.settle()
            }
        }
        _ = bench.output.present()
        for stream in streams {
            stream.feed.start(stream.caps[0])
            stream.feed.push(stream.frame, at: 0)
            stream.feed.end()
        }
        let frames = bench.output.rest()
        return frames.count == 1 && bench.output.hasEnded
    }
}

extension Feed {
    fileprivate var isFlushing: Bool { pad.pointee.object.flags & GST_PAD_FLAG_FLUSHING.rawValue != 0 }
}
