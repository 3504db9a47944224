import CGStreamer
import GstBridge

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A file that goes with the last reference.
final class TemporaryFile {
    let path: String

    /// An empty file whose name ends so.
    init(ending: String) throws {
        var name: UnsafeMutablePointer<CChar>?
        let file = g_file_open_tmp("depthbench-XXXXXX\(ending)", &name, nil)
        guard file >= 0, let path = takeString(name) else {
            throw Failure.cannot("there is no room for a temporary file")
        }
        close(file)
        self.path = path
    }

    deinit { unlink(path) }

    /// A picture for the background.
    static func still() throws -> TemporaryFile {
        let file = try TemporaryFile(ending: ".png")
        let pipeline = try LaunchedPipeline(
            """
            videotestsrc num-buffers=1 pattern=smpte ! video/x-raw,format=RGB,width=480,height=270
            ! pngenc ! filesink location="\(file.path)"
            """)
        try pipeline.set(GST_STATE_PLAYING)
        try pipeline.waitForEnd()
        return file
    }

    /// The samples of one depth map.
    static func depth(_ wanted: Case) throws -> TemporaryFile {
        let file = try TemporaryFile(ending: ".depth")
        let layout = try DepthShape(wanted).layout
        let memory = FrameMemory(layout)
        draw(wanted.scene, wanted.depth, number: 0, layout: layout, into: memory.bytes)
        let isWritten = memory.bytes.withMemoryRebound(to: CChar.self) {
            g_file_set_contents(file.path, $0.baseAddress, gssize($0.count), nil) != 0
        }
        if !isWritten { throw Failure.cannot("\(file.path) cannot be written") }
        return file
    }
}
