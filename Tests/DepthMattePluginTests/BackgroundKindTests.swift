import CGStreamer
import GstTestSupport
import Testing

/// Files of many kinds as backgrounds, and how large the pictures in them may be.
@Suite struct BackgroundKindTests {
    private let folder = TemporaryFolder()

    /// How a video is made: its encoder, the caps behind that, and its container.
    struct Recipe: Sendable, CustomStringConvertible {
        let encoder: String
        let caps: String
        let muxer: String

        init(_ encoder: String, _ caps: String, _ muxer: String) {
            (self.encoder, self.caps, self.muxer) = (encoder, caps, muxer)
        }

        var description: String { "\(encoder) \(muxer)" }

        /// True where GStreamer's elements for it are installed here.
        var isInstalled: Bool {
            loadElements()
            let names = (encoder + " ! " + muxer).split(separator: "!").compactMap { $0.split(separator: " ").first }
            return names.allSatisfy { name in
                guard let factory = gst_element_factory_find(String(name)) else { return false }
                gst_object_unref(UnsafeMutableRawPointer(factory))
                return true
            }
        }
    }

    static let recipes = [
        Recipe("jpegenc", "image/jpeg", "avimux"), Recipe("jpegenc", "image/jpeg", "qtmux"),
        Recipe("jpegenc", "image/jpeg", "matroskamux"), Recipe("pngenc", "image/png", "qtmux"),
        Recipe("vp8enc", "video/x-vp8", "webmmux"), Recipe("vp8enc", "video/x-vp8", "oggmux"),
        Recipe("vp9enc", "video/x-vp9", "webmmux"), Recipe("theoraenc", "video/x-theora", "oggmux"),
        Recipe("theoraenc", "video/x-theora", "matroskamux"),
        Recipe("av1enc cpu-used=8 ! av1parse", "video/x-av1", "matroskamux"),
        Recipe("openh264enc ! h264parse", "video/x-h264", "mp4mux"),
        Recipe("openh264enc ! h264parse", "video/x-h264", "matroskamux"),
        Recipe("openh264enc ! h264parse", "video/x-h264", "flvmux"),
        Recipe("openh264enc ! h264parse", "video/x-h264", "mpegtsmux"),
        Recipe("x265enc ! h265parse", "video/x-h265", "mp4mux"),
        Recipe("mpeg2enc ! mpegvideoparse", "video/mpeg", "mpegtsmux"),
        Recipe("mpeg2enc ! mpegvideoparse", "video/mpeg", "matroskamux"),
        Recipe("avenc_mpeg4", "video/mpeg", "avimux"), Recipe("avenc_mpeg4", "video/mpeg", "mp4mux"),
        Recipe("avenc_prores", "video/x-prores", "qtmux"),
    ].filter(\.isInstalled)

    /// Codings that say nothing of a size: there a container cannot say something else.
    static let recipesWithoutSize = [
        Recipe("identity", "video/x-raw", "avimux"), Recipe("identity", "video/x-raw", "matroskamux"),
        Recipe("identity", "video/x-raw,format=UYVY", "qtmux"), Recipe("avenc_huffyuv", "video/x-huffyuv", "avimux"),
        Recipe("avenc_ffv1", "video/x-ffv", "matroskamux"), Recipe("avenc_msmpeg4", "video/x-msmpeg", "avimux"),
    ].filter(\.isInstalled)

    /// Writes a video of a few gray frames.
    ///
    /// - Parameter claim: what the container says of it in place of the truth.
    private func make(_ recipe: Recipe, width: Int, height: Int, claim: String = "") throws -> String {
        let caps = recipe.caps.contains("raw") ? recipe.caps : "video/x-raw"
        return try folder.make(
            "video",
            "videotestsrc num-buffers=5 pattern=solid-color foreground-color=0xff808080 ! videoconvert "
                + "! \(caps),width=\(width),height=\(height),framerate=25/1 ! \(recipe.encoder) "
                + (claim.isEmpty ? "" : "! capssetter caps=\(recipe.caps),\(claim) ") + "! \(recipe.muxer)")
    }

    private func expectTooLarge(_ path: String, pixels: Int, maxPixels: Int) {
        let text = refusal(ofBackground: path, maxPixels: maxPixels)?.text ?? "no error"
        #expect(text.contains(path) && text.contains("\(pixels) pixels") && text.contains("max-pixels"), "\(text)")
    }

    // MARK: Kinds that are read

    @Test(arguments: recipes + recipesWithoutSize) func `a video is read, if it is not too large`(recipe: Recipe) throws
    {
        let path = try make(recipe, width: 176, height: 144)
        let error = refusal(ofBackground: path, maxPixels: 176 * 144)
        #expect(error == nil, "\(String(describing: error))")
        expectTooLarge(path, pixels: 176 * 144, maxPixels: 176 * 144 - 1)
        // It is shown, more than a round of it. (When tsdemux is sought, its end has another seqnum than the seek.)
        let count = recipe.muxer == "mpegtsmux" ? 3 : 12
        let bench = Bench([], ["background": path])
        let shape = VideoShape("RGB", 32, 24)
        bench.video.start(shape)
        for number in 0..<count { bench.video.push(noise(shape, seed: 1), at: time(ofFrame: number, perSecond: 25)) }
        bench.video.end()
        let frames = bench.output.rest()
        #expect(frames.count == count)
        for frame in frames {
            let gray = frame.bytes.prefix(3).map { Int($0) }
            #expect(gray.allSatisfy { 118...138 ~= $0 }, "\(gray)")
        }
        #expect(bench.bus.warnings().filter { $0.text.contains(path) } == [])
    }

    @Test(arguments: ["gif", "bmp", "tif", "big.tif"]) func `a still is read`(name: String) throws {
        let color: [UInt8] = [200, 100, 50]
        // The file is longer than a block of filesrc's.
        let path =
            switch name {
            case "gif": folder.write(name, gif(width: 64, height: 48, [(color, 0)]))
            case "bmp": folder.write(name, bmp(width: 64, height: 48, color))
            default: folder.write(name, tiff(width: 64, height: 48, color, isLittle: name == "tif"))
            }
        let bench = Bench([], ["background": path])
        let shape = VideoShape("RGB", 32, 24)
        bench.video.start(shape)
        for number in 0..<3 {
            bench.video.push(noise(shape, seed: 1), at: time(ofFrame: number))
            #expect(pixels(try #require(bench.output.next()).bytes, otherThan: color, shape) == 0)
        }
    }

    @Test func `a kind whose pictures may be of any size is refused by its name`() {
        let svg = #"<svg xmlns="http://www.w3.org/2000/svg" width="30000" height="30000"></svg>"#
        let text = refusal(ofBackground: folder.write("a.svg", Array(svg.utf8)), maxPixels: 1000)?.text
        #expect(text?.contains("image/svg+xml is not read; readable are PNG, JPEG") == true, "\(text ?? "no error")")
    }

    // MARK: Pictures that are too large

    @Test(arguments: Claim.allCases)
    func `a few bytes that claim to be a huge picture are refused, and the limit counts every pixel`(claim: Claim) {
        let side = [.lossyWebP, .losslessWebP, .extendedWebP].contains(claim) ? 16_000 : 30_000
        let bomb = folder.write("bomb.\(claim)", claim.bytes(width: side, height: side))
        expectTooLarge(bomb, pixels: side * side, maxPixels: 67_108_864)
        let path = folder.write("claim.\(claim)", claim.bytes(width: 70, height: 50))
        expectTooLarge(path, pixels: 3500, maxPixels: 3499)
        #expect(refusal(ofBackground: path, maxPixels: 3500)?.text.contains("max-pixels") != true)
    }

    @Test(arguments: recipes) func `a container that claims a huge picture is refused`(recipe: Recipe) throws {
        // The others ask the stream, or refuse to claim that.
        guard ["matroskamux", "webmmux", "qtmux", "mp4mux"].contains(recipe.muxer), !recipe.caps.contains("theora")
        else {
            return
        }
        let path = try make(recipe, width: 64, height: 48, claim: "width=16000,height=16000")
        let text = refusal(ofBackground: path, maxPixels: 67_108_864)?.text ?? ""
        #expect(text.contains("256000000 pixels"), "\(text)")
    }

    @Test(arguments: recipes) func `a container that claims a small picture does not hide a large one`(recipe: Recipe)
        throws
    {
        let path = try make(recipe, width: 320, height: 240, claim: "width=64,height=48")
        expectTooLarge(path, pixels: 320 * 240, maxPixels: 64 * 48)
        #expect(refusal(ofBackground: path, maxPixels: 320 * 240) == nil)
    }

    @Test func `a TIFF whose first picture is a thumbnail does not hide a large one`() {
        var bytes = tiff(width: 8, height: 8, [1, 2, 3])
        // One more entry at the end of the directory, before its last four bytes: where the large one's directory is.
        let directory = 8 + 8 * 8 * 3
        let end = bytes.count + 12
        bytes[directory] += 1
        bytes.insert(
            contentsOf: [74, 1, 4, 0, 1, 0, 0, 0, UInt8(end & 255), UInt8(end >> 8), 0, 0], at: bytes.count - 4)
        bytes += Claim.littleTIFF.bytes(width: 30_000, height: 30_000).dropFirst(8)
        expectTooLarge(folder.write("thumbnail.tif", bytes), pixels: 900_000_000, maxPixels: 67_108_864)
    }

    @Test func `a second picture behind a still is not looked at`() throws {
        _ = try folder.make("a.jpeg", "videotestsrc num-buffers=1 ! video/x-raw,width=64,height=48 ! jpegenc")
        for (name, still) in [
            ("two.jpeg", folder.read("a.jpeg")), ("two.bmp", bmp(width: 64, height: 48, [1, 2, 3])),
        ] {
            let claim: Claim = name == "two.jpeg" ? .jpeg : .bmp
            let path = folder.write(name, still + claim.bytes(width: 30_000, height: 30_000))
            #expect(refusal(ofBackground: path, maxPixels: 67_108_864) == nil)
        }
    }

    @Test func `a video that grows over the limit stands still, with a warning`() throws {
        let path = try folder.changingVideo("grows.mkv", pattern: "smpte", [(60, 64, 48), (20, 320, 240)])
        let bench = Bench([], ["background": path, "max-pixels": "3072"])
        let shape = VideoShape("RGB", 32, 24)
        bench.video.start(shape)
        for number in 0..<90 { bench.video.push(noise(shape, seed: 1), at: time(ofFrame: number, perSecond: 10)) }
        bench.video.end()
        #expect(bench.output.rest().count == 90)
        let warnings = bench.bus.warnings().map(\.text).filter { $0.contains(path) }
        #expect(warnings.count == 1)
        let text = "\(path)\" stopped at its last picture: it has 76800 pixels"
        #expect(warnings.first?.contains(text) == true, "\(warnings)")
        #expect(bench.bus.errors() == [])
    }
}
