/// The comment of a stream on the depth in its picture.
///
///     {"depth-video": {"coding": "gray", "layout": "side-by-side", "near": 0.3, "far": 8.0, "calibration": {…}}}
///
/// The calibration is that of the depth half, as `Calibration.json` writes it.
package struct DepthVideoTag: Equatable, Sendable {
    package var coding: DepthCoding
    package var layout: PackedLayout
    package var span: DepthSpan
    package var calibration: Calibration?

    package init(coding: DepthCoding, layout: PackedLayout, span: DepthSpan, calibration: Calibration? = nil) {
        (self.coding, self.layout, self.span, self.calibration) = (coding, layout, span, calibration)
    }

    package var text: String {
        let optics = calibration.map { ", \"calibration\": \($0.json)" } ?? ""
        return "{\"depth-video\": {\"coding\": \"\(coding)\", \"layout\": \"\(layout.rawValue)\", "
            + "\"near\": \(span.near), \"far\": \(span.far)\(optics)}}"
    }

    /// Reads a comment.
    ///
    /// - Returns: nil for a comment that is about something else.
    /// - Throws: where one about depth cannot be read.
    package init?(comment: String) throws(StructuredTextError) {
        let name = "\"depth-video\""
        guard comment.utf8.count <= StructuredTextReader.longest, comment.utf8.first == UInt8(ascii: "{"),
            comment.utf8.dropFirst().drop(while: { $0 <= UInt8(ascii: " ") }).starts(with: name.utf8)
        else { return nil }
        guard case .table(let root) = try StructuredTextReader.read(Array(comment.utf8)),
            case .table(let fields)? = root.first?.value
        else { throw StructuredTextError(line: 1, reason: "depth-video is no table") }
        func field(_ key: String) -> StructuredValue? { fields.first { $0.key == key }?.value }
        func text(_ key: String) -> String? { if case .text(let text)? = field(key) { text } else { nil } }
        func number(_ key: String) -> Double? { if case .number(let number)? = field(key) { number } else { nil } }
        guard let coding = DepthCoding.allCases.first(where: { "\($0)" == text("coding") }) else {
            throw StructuredTextError(line: 1, reason: "the coding \(text("coding") ?? "") is not known")
        }
        let word = text("layout")
        guard let layout = word == nil ? coding.usualLayout : PackedLayout(rawValue: word ?? "")
        else {
            throw StructuredTextError(line: 1, reason: "the layout \(word ?? "") is not known")
        }
        let usual = coding.usualRange
        guard let span = DepthSpan(near: number("near") ?? usual.near, far: number("far") ?? usual.far, for: coding)
        else {
            throw StructuredTextError(line: 1, reason: "near and far are no range")
        }
        (self.coding, self.layout, self.span) = (coding, layout, span)
        calibration = try field("calibration").map { value throws(StructuredTextError) in try Calibration(value) }
    }
}
