import Foundation

/// The files that a launch line must write, as the `.expect` file beside it says.
///
///     with FRAMES=5 SINK="fakesink"     variables for the run
///     after depthtestsrc/a.launch       a line that runs first, in the same folder
///     read filesrc location=a.mkv ! …   how to read what the run wrote; the next lines are about it
///     caps video/x-raw width=640        a media type, and fields that the caps must have
///     frames 5                          how many frames come
///     pixel 20 30 0 0 0 within 2        the last frame at (20, 30): red, green, blue, and alpha if given
///     same depthtestsrc ! …             a line that gives the same bytes, frame by frame
struct Expectation {
    struct Reading {
        var line: String
        var caps: [String] = []
        var frames: Int?
        var pixels: [Pixel] = []
        var same: String?
    }

    struct Pixel {
        var x: Int
        var y: Int
        /// Red, green, blue, and perhaps alpha.
        var values: [Int]
        var tolerance: Int
    }

    struct Malformed: Error {
        let line: String
    }

    var variables: [String] = []
    var before: [String] = []
    var readings: [Reading] = []

    init(of launchFile: String) throws {
        let file = Places.pipelines.appending(path: launchFile).deletingPathExtension().appendingPathExtension("expect")
        try self.init(text: String(contentsOf: file, encoding: .utf8))
    }

    init(text: String) throws {
        for line in text.split(separator: "\n").map(String.init) where !line.hasPrefix("#") {
            guard let space = line.firstIndex(of: " ") else { throw Malformed(line: line) }
            let rest = String(line[space...].dropFirst())
            switch line[..<space] {
            case "with": variables += Expectation.words(of: rest)
            case "after": before.append(rest)
            case "read": readings.append(Reading(line: rest))
            default: try describe(String(line[..<space]), rest)
            }
        }
    }

    /// One line about the last reading.
    private mutating func describe(_ key: String, _ rest: String) throws {
        let malformed = Malformed(line: "\(key) \(rest)")
        guard var reading = readings.popLast() else { throw malformed }
        switch key {
        case "caps": reading.caps = Expectation.words(of: rest)
        case "frames": reading.frames = Int(rest)
        case "same": reading.same = rest
        case "pixel":
            let halves = rest.components(separatedBy: " within ")
            let numbers = halves[0].split(separator: " ").compactMap { Int($0) }
            guard halves.count == 2, let tolerance = Int(halves[1]), 5...6 ~= numbers.count else { throw malformed }
            let pixel = Pixel(x: numbers[0], y: numbers[1], values: Array(numbers[2...]), tolerance: tolerance)
            reading.pixels.append(pixel)
        default: throw malformed
        }
        readings.append(reading)
    }

    /// Splits at spaces outside quotes, and drops the quotes.
    private static func words(of text: String) -> [String] {
        var words: [String] = []
        var word = ""
        var isQuoted = false
        for character in text + " " {
            if character == "\"" {
                isQuoted.toggle()
            } else if character == " " && !isQuoted {
                if !word.isEmpty { words.append(word) }
                word = ""
            } else {
                word.append(character)
            }
        }
        return words
    }
}
