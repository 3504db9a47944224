/// What a fused matte does with the room that it has seen.
package enum RoomMode: Int, Sendable, CaseIterable {
    case off, learn, keep

    /// The meaning of the choice, for users.
    package var blurb: String {
        switch self {
        case .off: "Nothing is remembered"
        case .learn: "What was captured, and what is learnt behind the person; what no longer holds is forgotten"
        case .keep: "What was captured or learnt, unchanged; not used while it does not hold"
        }
    }
}
