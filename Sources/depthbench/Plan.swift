import DepthKernels

/// Which cases a command measures.
struct Plan {
    private let axes: Options.Axes
    private let works: [Work]?

    init(_ options: Options) {
        axes = options.axes
        works = options.works
    }

    /// The case from which tables depart: the first of the values that were given, else the usual ones.
    var usual: Case {
        var usual = Case()
        usual.size = axes.sizes?.first ?? usual.size
        usual.format = axes.formats?.first ?? usual.format
        usual.depth = axes.depths?.first ?? usual.depth
        usual.sigma = axes.sigmas?.first ?? usual.sigma
        usual.gamma = axes.gammas?.first ?? usual.gamma
        usual.upscale = axes.upscales?.first ?? usual.upscale
        usual.background = axes.backgrounds?.first ?? usual.background
        usual.scene = axes.scenes?.first ?? usual.scene
        usual.threads = axes.threads?.first ?? usual.threads
        return usual
    }

    typealias Line = (work: Work, wanted: Case)

    /// The usual case by every work, then the element in place along each axis.
    func table() -> [Line] {
        lines([usual], works ?? Work.usual) + lines(departures(Plan.few), works ?? [.inPlace])
    }

    /// Everything along each axis, by the element and by the kernels.
    func sweep() -> [Line] { lines([usual] + departures(Plan.many), works ?? Work.usual) }

    /// Every combination of what was given.
    func grid() -> [Line] {
        var cases = [usual]
        func multiply<Value>(_ path: WritableKeyPath<Case, Value>, _ values: [Value]?) {
            guard let values else { return }
            cases = cases.flatMap { wanted in
                values.map { value in
                    var copy = wanted
                    copy[keyPath: path] = value
                    return copy
                }
            }
        }
        multiply(\.size, axes.sizes)
        multiply(\.format, axes.formats)
        multiply(\.depth, axes.depths)
        multiply(\.sigma, axes.sigmas)
        multiply(\.gamma, axes.gammas)
        multiply(\.upscale, axes.upscales)
        multiply(\.background, axes.backgrounds)
        multiply(\.scene, axes.scenes)
        multiply(\.threads, axes.threads)
        return lines(cases, works ?? Work.usual)
    }

    private func lines(_ cases: [Case], _ works: [Work]) -> [Line] {
        cases.flatMap { wanted in works.filter { $0.suits(wanted) }.map { ($0, wanted) } }
    }

    // MARK: Along the axes

    /// What is tried along each axis where the command line does not say.
    private struct Values {
        var sizes: [Size]
        var formats: [String]
        var depths: [Size]
        var sigmas: [Double]
        var upscales: [Upscale]
        var backgrounds: [Behind]
        var scenes: [Scene]
    }

    private static let few = Values(
        sizes: [Size(width: 640, height: 360), Size(width: 1280, height: 720), Size(width: 3840, height: 2160)],
        formats: ["NV12", "BGRA", "BGR", "YUY2"], depths: [Size(width: 1280, height: 720)], sigmas: [0, 1, 20, 50],
        upscales: [.bilinear], backgrounds: [.color, .stream, .transparent],
        scenes: [.noisy, .checkerboard, .share(0), .share(50), .share(100)])

    private static let many = Values(
        sizes: few.sizes + [Size(width: 1920, height: 1080)], formats: ["I420"] + few.formats,
        depths: [Size(width: 320, height: 240), Size(width: 640, height: 480), Size(width: 1280, height: 720)],
        sigmas: [0, 1, 2, 5, 10, 20, 50], upscales: Upscale.allCases, backgrounds: Behind.allCases,
        scenes: [.person, .noisy, .checkerboard] + [0, 10, 25, 50, 75, 100].map { .share($0) })

    /// Cases that differ from the usual one in one value.
    private func departures(_ values: Values) -> [Case] {
        var cases: [Case] = []
        func depart<Value: Equatable>(_ path: WritableKeyPath<Case, Value>, _ values: [Value]) {
            for value in values where value != usual[keyPath: path] {
                var copy = usual
                copy[keyPath: path] = value
                cases.append(copy)
            }
        }
        depart(\.format, axes.formats ?? values.formats)
        depart(\.size, axes.sizes ?? values.sizes)
        depart(\.depth, axes.depths ?? values.depths)
        depart(\.sigma, axes.sigmas ?? values.sigmas)
        depart(\.gamma, axes.gammas ?? [])
        depart(\.upscale, axes.upscales ?? values.upscales)
        depart(\.background, axes.backgrounds ?? values.backgrounds)
        depart(\.scene, axes.scenes ?? values.scenes)
        depart(\.threads, axes.threads ?? [])
        return cases
    }
}
