import DepthKernels
import DepthScene
import Testing

/// Rooms that are empty, and that change.
@Suite struct RoomChangeTests {
    private func renderer(_ pattern: ScenePattern = .person, isEmpty: Bool = false, _ change: RoomChange = .none)
        -> SceneRenderer
    {
        SceneRenderer(
            scene: Scene(pattern: pattern, seed: 0, isEmpty: isEmpty, change: change), width: 320, height: 180)
    }

    private func video(_ renderer: SceneRenderer, frame: UInt64 = 0) -> [UInt8] {
        var canvas = Canvas(width: renderer.width, height: renderer.height, bytesPerPixel: 4)
        canvas.draw { renderer.drawVideo(seconds: 0.8, frame: frame, into: $0) }
        return canvas.pixels
    }

    /// The columns and rows of the pixels in which two pictures differ.
    private func places<Value: Equatable>(_ one: [Value], _ other: [Value], perPixel: Int) -> [(x: Int, y: Int)] {
        one.indices.filter { one[$0] != other[$0] }.map { ($0 / perPixel % 320, $0 / perPixel / 320) }
    }

    @Test(arguments: ScenePattern.allCases.filter { ![.ramp, .blank].contains($0) })
    func `an empty room is the room where the person is not, and nobody is in it`(pattern: ScenePattern) {
        let (full, empty) = (renderer(pattern), renderer(pattern, isEmpty: true))
        #expect(empty.faces(seconds: 0.8).isEmpty)
        #expect(empty.matte(at: 0.8).pixels.allSatisfy { $0 == 0 })
        let (matte, depths) = (full.matte(at: 0.8).pixels, (full.depth(at: 0.8).floats, empty.depth(at: 0.8).floats))
        let others = pattern == .people ? 1.4 : 0
        #expect(
            matte.indices.allSatisfy { matte[$0] > 0 || depths.0[$0] == depths.1[$0] || depths.0[$0] < Float(others) })
        #expect(matte.indices.contains { matte[$0] == 255 && depths.0[$0] != depths.1[$0] })
    }

    @Test func `a lamp changes the light alone`() {
        let (usual, lit) = (renderer(), renderer(.person, .light))
        #expect(usual.depth(at: 0.8).pixels == lit.depth(at: 0.8).pixels)
        #expect(usual.matte(at: 0.8).pixels == lit.matte(at: 0.8).pixels)
        let (dark, bright) = (video(usual), video(lit))
        #expect(zip(dark, bright).allSatisfy { $0 <= $1 })
        func gain(_ columns: Range<Int>) -> Double {
            let bytes = dark.indices.filter { columns.contains($0 / 4 % 320) && $0 % 4 < 3 }
            return Double(bytes.reduce(0) { $0 + Int(bright[$1]) }) / Double(bytes.reduce(0) { $0 + Int(dark[$1]) })
        }
        #expect(gain(0..<40) < 1.03 && gain(280..<320) > 1.1)
    }

    @Test func `a nudge moves the whole picture, by less than a pixel of 320`() {
        let (usual, nudged) = (renderer(isEmpty: true), renderer(.person, isEmpty: true, .nudge))
        let moved = places(video(usual), video(nudged), perPixel: 4)
        for quarter in [0..<160, 160..<320] { #expect(moved.contains { quarter.contains($0.x) && $0.y < 90 }) }
        let faces = (renderer().faces(seconds: 0)[0], renderer(.person, .nudge).faces(seconds: 0)[0])
        #expect(abs((faces.1.x - faces.0.x) * 320 - 0.65) < 0.01)
    }

    @Test func `a door is farther than the wall, and where it is`() {
        let depths = (
            renderer(isEmpty: true).depth(at: 0).floats, renderer(.person, isEmpty: true, .door).depth(at: 0).floats
        )
        let door = places(depths.0, depths.1, perPixel: 1)
        #expect(door.count > 4000 && door.allSatisfy { (204...260).contains($0.x) && $0.y <= 126 })
        #expect(door.allSatisfy { depths.1[$0.y * 320 + $0.x] == 3.2 })
    }

    @Test func `a television flickers, and its depth stands`() {
        let scene = renderer(.person, isEmpty: true, .screen)
        let flicker = places(video(scene, frame: 1), video(scene, frame: 2), perPixel: 4)
        #expect(flicker.count > 3000 && flicker.allSatisfy { (204...281).contains($0.x) && (28...76).contains($0.y) })
        #expect(video(scene, frame: 1) == video(scene, frame: 1))
        #expect(scene.depth(at: 0, frame: 1).pixels == scene.depth(at: 0, frame: 2).pixels)
    }
}
