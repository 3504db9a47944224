/// A kind of input that Tests/fuzz.sh mutates. It ends the process where a promise is broken.
package enum FuzzTarget: String, CaseIterable, Sendable {
    case background, calibration, caps, cloud, events, frames, header, layout, matte, navigation, preset, properties
    case recording, tag

    /// Does what the bytes say.
    package func run(_ bytes: UnsafeBufferPointer<UInt8>) {
        var input = FuzzInput(bytes)
        body(&input)
    }

    private var body: (inout FuzzInput) -> Void {
        switch self {
        case .background: fuzzBackground
        case .calibration: fuzzCalibration
        case .caps: fuzzCaps
        case .cloud: fuzzCloud
        case .events: fuzzEvents
        case .frames: fuzzFrames
        case .header: fuzzHeader
        case .layout: fuzzLayout
        case .matte: fuzzMatte
        case .navigation: fuzzNavigation
        case .preset: fuzzPreset
        case .properties: fuzzProperties
        case .recording: fuzzRecording
        case .tag: fuzzTag
        }
    }
}

/// Ends the process, with the reason, where a promise is broken. (`precondition` says no reason in release mode.)
func promise(_ isKept: Bool, _ reason: @autoclosure () -> String = "a promise is broken", line: UInt = #line) {
    if !isKept { broken(reason(), line: line) }
}

func broken(_ reason: String, line: UInt = #line) -> Never { fatalError("broken at line \(line): \(reason)") }
