import DepthKernels
import DepthMattePlugin
import Testing

@Suite struct DetailChoiceTests {
    private static let interval: Int64 = 33_333_333

    /// Notes frames that take a share of their time.
    private func note(_ share: Double, frames: Int, in choice: inout DetailChoice) {
        for _ in 0..<frames {
            choice.note(work: UInt64(share * Double(Self.interval)), interval: Self.interval)
        }
    }

    @Test func `detail is full while frames take little of their time`() {
        var choice = DetailChoice()
        note(0.4, frames: 1000, in: &choice)
        #expect(choice.current == .full)
    }

    @Test func `frames that take long halve it, and a few of them do not`() {
        var choice = DetailChoice()
        note(0.2, frames: 100, in: &choice)
        note(2, frames: 3, in: &choice)
        #expect(choice.current == .full)
        note(0.8, frames: 100, in: &choice)
        #expect(choice.current == .half)
    }

    @Test func `it comes back only where all of it would fit`() {
        var choice = DetailChoice()
        note(0.8, frames: 100, in: &choice)
        note(0.4, frames: 1000, in: &choice)
        #expect(choice.current == .half)
        note(0.05, frames: 200, in: &choice)
        #expect(choice.current == .full)
    }

    @Test func `it changes seldom`() {
        var (choice, changes) = (DetailChoice(), 0)
        for second in 0..<60 {
            let before = choice.current
            note(second % 2 == 0 ? 2 : 0, frames: 30, in: &choice)
            if choice.current != before { changes += 1 }
        }
        #expect(changes <= 20)
    }

    @Test func `frames without a time count for nothing`() {
        var choice = DetailChoice()
        for interval in [nil, 0, -5] as [Int64?] {
            for _ in 0..<200 { choice.note(work: 1_000_000_000, interval: interval) }
        }
        #expect(choice.current == .full)
    }
}
