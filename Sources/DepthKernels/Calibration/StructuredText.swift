/// A value of a JSON or YAML text.
package indirect enum StructuredValue: Equatable, Sendable {
    case number(Double)
    case text(String)
    case list([StructuredValue])
    case table([Field])

    package struct Field: Equatable, Sendable {
        package let key: String
        package let value: StructuredValue
        /// The line of the key, from 1.
        package let line: Int
    }
}

/// An error in a text, with its place.
package struct StructuredTextError: Error, Equatable {
    /// From 1.
    package let line: Int
    package let reason: String
}

/// Reads JSON, and the part of YAML that OpenCV's FileStorage writes and people write by hand.
///
/// JSON is YAML's flow style, so one reader does for both. Of YAML's block style it reads tables of `key: value`, lists of
/// `- value`, comments and tags, which it passes over. Several documents in one file are read as one table. General libraries refuse
/// what OpenCV writes: the first line `%YAML:1.0`, and `{ x:1, y:[ 2 ] }` without a space.
package struct StructuredTextReader {
    /// Levels of lists and tables inside each other.
    private static let deepest = 16
    /// Bytes of a text.
    package static let longest = 1 << 16

    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0
    /// The line at `position`, from 1, and its first byte. Only `skipBlank` crosses the end of a line.
    private var line = 1
    private var lineStart = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// - Returns: the table at the top of the text.
    package static func read(_ bytes: [UInt8]) throws(StructuredTextError) -> StructuredValue {
        guard bytes.count <= longest else {
            throw StructuredTextError(line: 1, reason: "the text has more than \(longest) bytes")
        }
        var reader = StructuredTextReader(bytes)
        return .table(try reader.documents())
    }

    // MARK: Bytes

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func isAt(_ text: String) -> Bool {
        bytes[position...].starts(with: text.utf8)
    }

    /// The number of bytes from the line's start.
    private var column: Int { position - lineStart }

    private func error(_ reason: String) -> StructuredTextError { StructuredTextError(line: line, reason: reason) }

    private mutating func skipSpaces() {
        while let byte = current, byte == .space || byte == .tab || byte == .carriageReturn { position += 1 }
    }

    private mutating func skipLine() {
        while let byte = current, byte != .newline { position += 1 }
    }

    /// Skips spaces, ends of lines and comments.
    private mutating func skipBlank() {
        while true {
            skipSpaces()
            switch current {
            case .newline?:
                position += 1
                line += 1
                lineStart = position
            case UInt8(ascii: "#")?: skipLine()
            default: return
            }
        }
    }

    /// True at a line that parts documents: `%YAML:1.0`, `---`, `...`.
    private var isAtMarker: Bool { column == 0 && (isAt("%") || isAt("---") || isAt("...")) }

    // MARK: Tables and lists by indentation

    private mutating func documents() throws(StructuredTextError) -> [StructuredValue.Field] {
        var fields: [StructuredValue.Field] = []
        if isAt("\u{feff}") {
            position += 3
            lineStart = position
        }
        while true {
            skipBlank()
            guard let byte = current else { return fields }
            if isAtMarker {
                skipLine()
            } else if byte == UInt8(ascii: "{") {
                fields += try flowTable()
            } else {
                fields += try blockTable(indentation: column)
            }
        }
    }

    private mutating func nested<Value>(
        _ body: (inout StructuredTextReader) throws(StructuredTextError) -> Value
    ) throws(StructuredTextError) -> Value {
        guard depth < StructuredTextReader.deepest else {
            throw error("more than \(StructuredTextReader.deepest) levels of lists and tables")
        }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    private mutating func blockTable(indentation: Int) throws(StructuredTextError) -> [StructuredValue.Field] {
        try nested { reader throws(StructuredTextError) in
            var fields: [StructuredValue.Field] = []
            while true {
                reader.skipBlank()
                guard reader.current != nil, !reader.isAtMarker, reader.column >= indentation else { return fields }
                guard reader.column == indentation else { throw reader.error("a line is indented too far") }
                let line = reader.line
                let key = try reader.key()
                let value = try reader.blockValue(indentation: indentation)
                fields.append(StructuredValue.Field(key: key, value: value, line: line))
            }
        }
    }

    /// Reads the value behind a key: on its line, or indented in the lines below.
    private mutating func blockValue(indentation: Int) throws(StructuredTextError) -> StructuredValue {
        skipSpaces()
        if isAt("!") {
            while let byte = current, byte > .space { position += 1 }
            skipSpaces()
        }
        if let byte = current, byte != .newline && byte != UInt8(ascii: "#") { return try lineValue() }
        let end = self
        skipBlank()
        if isAt("- "), column >= indentation, !isAtMarker { return .list(try blockList(indentation: column)) }
        if current != nil, !isAtMarker, column > indentation { return .table(try blockTable(indentation: column)) }
        self = end
        return .text("")
    }

    private mutating func blockList(indentation: Int) throws(StructuredTextError) -> [StructuredValue] {
        try nested { reader throws(StructuredTextError) in
            var values: [StructuredValue] = []
            while true {
                reader.skipBlank()
                guard reader.isAt("- "), reader.column == indentation else { return values }
                reader.position += 2
                reader.skipSpaces()
                values.append(try reader.lineValue())
            }
        }
    }

    /// Reads a value up to the end of the line; a list or table in brackets may go on in the next.
    private mutating func lineValue() throws(StructuredTextError) -> StructuredValue {
        switch current {
        case UInt8(ascii: "{")?, UInt8(ascii: "[")?, UInt8(ascii: "\"")?, UInt8(ascii: "'")?:
            let value = try flowValue()
            skipSpaces()
            if let byte = current, byte != .newline, byte != UInt8(ascii: "#") {
                throw error("text follows a value on its line")
            }
            return value
        default:
            let start = position
            while let byte = current, byte != .newline {
                if byte == UInt8(ascii: "#"), position > start, bytes[position - 1] <= .space { break }
                position += 1
            }
            return try scalar(bytes[start..<position])
        }
    }

    // MARK: Tables and lists in brackets

    private mutating func flowValue() throws(StructuredTextError) -> StructuredValue {
        skipBlank()
        switch current {
        case UInt8(ascii: "{")?: return .table(try flowTable())
        case UInt8(ascii: "[")?: return .list(try flowList())
        case UInt8(ascii: "\"")?, UInt8(ascii: "'")?: return .text(try quoted())
        default:
            let start = position
            while let byte = current, !",]}:#\n".utf8.contains(byte) { position += 1 }
            guard position > start else { throw error("a value is missing") }
            return try scalar(bytes[start..<position])
        }
    }

    private mutating func flowTable() throws(StructuredTextError) -> [StructuredValue.Field] {
        try nested { reader throws(StructuredTextError) in
            var fields: [StructuredValue.Field] = []
            reader.position += 1
            while try !reader.ends(at: UInt8(ascii: "}"), isFirst: fields.isEmpty) {
                let line = reader.line
                let key = try reader.key()
                fields.append(StructuredValue.Field(key: key, value: try reader.flowValue(), line: line))
            }
            return fields
        }
    }

    private mutating func flowList() throws(StructuredTextError) -> [StructuredValue] {
        try nested { reader throws(StructuredTextError) in
            var values: [StructuredValue] = []
            reader.position += 1
            while try !reader.ends(at: UInt8(ascii: "]"), isFirst: values.isEmpty) {
                values.append(try reader.flowValue())
            }
            return values
        }
    }

    /// Reads what is between two values: the closing bracket, or the comma before the next.
    private mutating func ends(at bracket: UInt8, isFirst: Bool) throws(StructuredTextError) -> Bool {
        skipBlank()
        if !isFirst, current == UInt8(ascii: ",") {
            position += 1
            skipBlank()
        } else if !isFirst, current != bracket {
            throw error("a comma or \(Character(UnicodeScalar(bracket))) is missing")
        }
        guard current == bracket else {
            if current == nil { throw error("\(Character(UnicodeScalar(bracket))) is missing") }
            return false
        }
        position += 1
        return true
    }

    // MARK: Keys and scalars

    /// Reads a key and its colon.
    private mutating func key() throws(StructuredTextError) -> String {
        let name: String
        if isAt("\"") || isAt("'") {
            name = try quoted()
        } else {
            let start = position
            while let byte = current, !":,{}[]#\n".utf8.contains(byte) { position += 1 }
            name = StructuredTextReader.text(bytes[start..<position])
        }
        skipSpaces()
        guard current == UInt8(ascii: ":"), !name.isEmpty else { throw error("a name and a colon were expected") }
        position += 1
        return name
    }

    private mutating func quoted() throws(StructuredTextError) -> String {
        let quote = bytes[position]
        position += 1
        var characters: [UInt8] = []
        while let byte = current, byte != quote {
            guard byte != .newline else { break }
            position += 1
            // Names and numbers need no escapes; one stands for the character behind it.
            if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\""), let escaped = current {
                characters.append(escaped)
                position += 1
            } else {
                characters.append(byte)
            }
        }
        guard current == quote else { throw error("a quotation mark is missing") }
        position += 1
        return String(decoding: characters, as: UTF8.self)
    }

    private func scalar(_ bytes: ArraySlice<UInt8>) throws(StructuredTextError) -> StructuredValue {
        let text = StructuredTextReader.text(bytes)
        guard let first = text.utf8.first, "+-.0123456789".utf8.contains(first) else { return .text(text) }
        guard text.utf8.allSatisfy({ "+-.0123456789eE".utf8.contains($0) }), let number = Double(text) else {
            return .text(text)
        }
        guard number.isFinite else { throw error("\(text) is too large") }
        return .number(number)
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        var bytes = bytes
        while let last = bytes.last, last <= .space { bytes.removeLast() }
        while let first = bytes.first, first <= .space { bytes.removeFirst() }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate static let newline = UInt8(ascii: "\n")
    fileprivate static let space = UInt8(ascii: " ")
    fileprivate static let tab = UInt8(ascii: "\t")
    fileprivate static let carriageReturn = UInt8(ascii: "\r")
}
