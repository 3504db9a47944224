/// The half of a picture in 4:2:0 that holds the codes of a depth map. Who writes to it has made it of planes that may be written.
@safe
struct CodedArea {
    let width: Int
    let height: Int
    /// Luma, and the two color differences.
    private let components: InlineArray<3, Samples>

    /// Samples of one byte.
    @safe
    private struct Samples {
        let base: UnsafeMutableRawPointer
        let stride: Int
    }

    let chromaStep: Int

    /// Returns nil unless the area, with whole samples of color, lies in the planes.
    init?(_ planes: Planes<Plane>, _ area: Rectangle<Int>, _ colors: VideoColors) {
        guard case .yuv = colors.model, area.x >= 0, area.y >= 0, area.width > 0, area.height > 0,
            (area.x | area.y | area.width | area.height) & 1 == 0,
            colors.fits(planes, width: area.x + area.width, height: area.y + area.height),
            colors.components[0].step == 1, colors.components[1].step == colors.components[2].step
        else { return nil }
        func samples(_ number: Int) -> Samples? {
            let (component, shift) = (colors.components[number], min(number, 1))
            guard component.shiftX == shift, component.shiftY == shift, let plane = planes[component.plane] else {
                return nil
            }
            let first = unsafe plane.row(area.y >> shift) + component.offset + (area.x >> shift) * component.step
            return unsafe Samples(base: UnsafeMutableRawPointer(mutating: first), stride: plane.stride)
        }
        guard let luma = samples(0), let u = samples(1), let v = samples(2) else { return nil }
        components = [luma, u, v]
        (width, height, chromaStep) = (area.width, area.height, colors.components[1].step)
    }

    /// - Precondition: `0 <= y < height`.
    @inline(__always)
    func luma(_ y: Int) -> UnsafeMutablePointer<UInt8> { unsafe row(0, y) }

    /// The color differences of rows 2 · y and 2 · y + 1, `chromaStep` bytes apart.
    ///
    /// - Precondition: `0 <= y < height / 2`.
    @inline(__always)
    func chroma(_ y: Int) -> (u: UnsafeMutablePointer<UInt8>, v: UnsafeMutablePointer<UInt8>) {
        unsafe (row(1, y), row(2, y))
    }

    @inline(__always)
    private func row(_ component: Int, _ y: Int) -> UnsafeMutablePointer<UInt8> {
        let samples = components[component]
        return unsafe (samples.base + y &* samples.stride).assumingMemoryBound(to: UInt8.self)
    }
}
