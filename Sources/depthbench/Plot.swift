/// Two charts side by side: time against pixels, and time against blur radius.
struct Plot {
    private let charts: [Chart]

    /// Draws what differs from the usual case in size alone, and in the blur alone.
    init(_ figures: [Figure], usual: Case) {
        let large = figures.filter { figure in
            var same = figure.wanted
            same.size = usual.size
            return same == usual
        }
        let soft = figures.filter { figure in
            var same = figure.wanted
            same.sigma = usual.sigma
            return same == usual
        }
        let what =
            "\(usual.format), depth \(usual.depth), \(usual.upscale.name), \(usual.background.rawValue), \(usual.scene)"
        charts = [
            Chart(
                title: "Time against pixels", caption: "\(what), sigma \(short(usual.sigma))",
                xLabel: "megapixels of video",
                curves: Plot.curves(large) { Double($0.wanted.size.pixels) / 1e6 }),
            Chart(
                title: "Time against blur radius", caption: "\(what), \(usual.size)",
                xLabel: "blur radius (depth pixels)",
                curves: Plot.curves(soft) { $0.wanted.sigma }),
        ]
    }

    /// One curve for each work that has more than a point, and one for the memcpy beside the first of them.
    private static func curves(_ figures: [Figure], _ x: (Figure) -> Double) -> [Curve] {
        let works = Work.allCases.filter { work in figures.count { $0.work == work } > 1 }
        var curves = works.map { work in
            Curve(name: Plot.name(work), points: figures.filter { $0.work == work }.map { (x($0), $0.time) })
        }
        if let first = works.first {
            curves.append(
                Curve(
                    name: "memcpy of the frame", points: figures.filter { $0.work == first }.map { (x($0), $0.copy) },
                    isReference: true))
        }
        return curves
    }

    private static func name(_ work: Work) -> String {
        switch work {
        case .inPlace: "element, in place"
        case .copied: "element, frame copied first"
        case .kernels: "kernels alone"
        case .render: "render alone"
        case .blend: "blend alone"
        case .memcpy: "memcpy"
        }
    }

    var svg: String {
        let width = Int(Chart.width) * charts.count
        var text = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(Int(Chart.height))" \
            viewBox="0 0 \(width) \(Int(Chart.height))" font-family="sans-serif" font-size="13" fill="#222">
            <rect width="100%" height="100%" fill="white"/>

            """
        for (index, chart) in charts.enumerated() {
            text += "<g transform=\"translate(\(Int(Chart.width) * index) 0)\">\n\(chart.svg)</g>\n"
        }
        return text + "</svg>\n"
    }
}

/// A named line through measured points.
struct Curve {
    let name: String
    let points: [(x: Double, y: Double)]
    /// Drawn dashed and grey, beneath the others.
    var isReference = false

    init(name: String, points: [(x: Double, y: Double)], isReference: Bool = false) {
        self.name = name
        self.points = points.sorted { $0.x < $1.x }
        self.isReference = isReference
    }
}
