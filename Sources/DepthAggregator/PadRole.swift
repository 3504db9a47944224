import CGStreamer
package import GstBridge

/// The sink pads of an element, by what they carry. Raw values count up from 0.
package protocol PadRole: RawRepresentable<Int>, Equatable, CaseIterable, CustomStringConvertible, Sendable {
    /// The name of the pad and of its template.
    var name: StaticString { get }
    /// The pad whose buffers become those that leave, one for one.
    static var reference: Self { get }
    /// The pad that leads while the reference pad is not linked: its buffers may bring the reference pad's with them.
    static var standIn: Self? { get }
}

extension PadRole {
    package static var standIn: Self? { nil }

    package var description: String { "\(name)" }

    /// The role of pads made from a template. It costs no memory: it is asked for each buffer and event.
    package init?(_ template: TemplatePointer) {
        guard let name = template.pointee.name_template else { return nil }
        var number = 0
        while let role = Self(rawValue: number) {
            if strcmp(name, role.name.characters) == 0 {
                self = role
                return
            }
            number += 1
        }
        return nil
    }
}
