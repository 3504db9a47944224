/// The reason why no driver plays a recording, and what to do, for the user; nil where a driver may play it, and for a camera,
/// whose path is empty.
package func advice(onRecording path: String, isKnown: Bool) -> String? {
    if !path.isEmpty, let fault = fault(reading: path) { return "\(fault.reason)." }
    let remedy = "Read it with the maker's software, and send its frames by appsrc: \"Recordings of other makers\" in "
    let kind = makers.first { path.hasEnding($0.ending) }?.kind
    if let kind { return "It is \(kind). \(remedy)pipelines/cameras.md." }
    if isKnown { return nil }
    return "No driver plays it: realsense and orbbec play .bag files, realsense .db3 files, freenect folders of "
        + "fakenect-record, openni2 .oni files, k4a .mkv files of k4arecorder. \(remedy)pipelines/cameras.md."
}

/// Recordings that no driver plays, by the end of their names.
private let makers: [(ending: String, kind: String)] = [
    (".r3d", "a zip archive of Record3D"), (".xef", "a recording of Kinect Studio"),
    (".svo", "a recording of a ZED camera"), (".svo2", "a recording of a ZED camera"),
    (".mcap", "a recording of ROS 2"), (".mp4", "a video without depth"),
    (".mov", "a video without depth"), (".zip", "an archive, to be unpacked first"),
    (".gz", "an archive, to be unpacked first"),
]
