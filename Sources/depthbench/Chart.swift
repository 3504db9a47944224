/// Curves in a frame with axes from 0, as SVG 1.1. Milliseconds for a frame are upwards.
struct Chart {
    static let width = 620.0
    static let height = 520.0

    let title: String
    let caption: String
    let xLabel: String
    let curves: [Curve]

    // Where the frame lies in the picture.
    private static let (left, right, top, bottom) = (70.0, width - 30, 72.0, height - 150)
    private static let colors = ["#1f6fb4", "#d1661e", "#2e8b57", "#8d5bb5", "#b0373f"]
    private static let grey = "#777"

    var svg: String {
        guard curves.contains(where: { !$0.points.isEmpty }) else {
            return text(title, Chart.left, 30, "font-size=\"17\"")
                + text("nothing was measured for this chart", Chart.left, 60)
        }
        return heading + grid + drawnCurves + legend
    }

    // MARK: Scales

    private var xAxis: Axis { Axis(upTo: curves.flatMap { $0.points.map(\.x) }.max() ?? 1) }
    private var yAxis: Axis { Axis(upTo: curves.flatMap { $0.points.map(\.y) }.max() ?? 1) }

    private func across(_ x: Double) -> Double { Chart.left + x / xAxis.end * (Chart.right - Chart.left) }
    private func up(_ y: Double) -> Double { Chart.bottom - y / yAxis.end * (Chart.bottom - Chart.top) }

    // MARK: Parts

    private var heading: String {
        text(title, Chart.left, 30, "font-size=\"17\"")
            + text(caption, Chart.left, 52, "font-size=\"12\" fill=\"\(Chart.grey)\"")
    }

    private var grid: String {
        var parts = ""
        for tick in yAxis.ticks {
            parts += line(Chart.left, up(tick), Chart.right, up(tick), "stroke=\"#ddd\"")
            parts += text(yAxis.label(tick), Chart.left - 8, up(tick) + 4, "text-anchor=\"end\"")
        }
        for tick in xAxis.ticks {
            parts += line(across(tick), Chart.bottom, across(tick), Chart.bottom + 5, "stroke=\"#222\"")
            parts += text(xAxis.label(tick), across(tick), Chart.bottom + 20, "text-anchor=\"middle\"")
        }
        parts += line(Chart.left, Chart.bottom, Chart.right, Chart.bottom, "stroke=\"#222\"")
        parts += line(Chart.left, Chart.top, Chart.left, Chart.bottom, "stroke=\"#222\"")
        parts += text(xLabel, (Chart.left + Chart.right) / 2, Chart.bottom + 42, "text-anchor=\"middle\"")
        let middle = (Chart.top + Chart.bottom) / 2
        parts += text(
            "milliseconds for a frame", 20, middle,
            "text-anchor=\"middle\" transform=\"rotate(-90 20 \(fixed(middle, 1)))\"")
        return parts
    }

    private var drawnCurves: String {
        curves.enumerated().reversed().map { index, curve in
            let places = curve.points.map { (across($0.x), up($0.y)) }
            let path = places.map { "\(fixed($0.0, 1)),\(fixed($0.1, 1))" }.joined(separator: " ")
            let dots = places.map {
                "<circle cx=\"\(fixed($0.0, 1))\" cy=\"\(fixed($0.1, 1))\" r=\"3\" fill=\"\(color(index))\"/>\n"
            }
            return "<polyline points=\"\(path)\" fill=\"none\" stroke-width=\"2\" \(stroke(index))/>\n" + dots.joined()
        }.joined()
    }

    /// Below the chart, two names a line.
    private var legend: String {
        curves.indices.map { index in
            let x = Chart.left + Double(index % 2) * 270
            let y = Chart.bottom + 70 + Double(index / 2) * 22
            return line(x, y, x + 28, y, "stroke-width=\"2\" \(stroke(index))")
                + text(curves[index].name, x + 36, y + 4)
        }.joined()
    }

    private func color(_ index: Int) -> String {
        curves[index].isReference ? Chart.grey : Chart.colors[index % Chart.colors.count]
    }

    private func stroke(_ index: Int) -> String {
        "stroke=\"\(color(index))\"" + (curves[index].isReference ? " stroke-dasharray=\"6 4\"" : "")
    }

    // MARK: Elements of SVG

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ attributes: String) -> String {
        "<line x1=\"\(fixed(x1, 1))\" y1=\"\(fixed(y1, 1))\" x2=\"\(fixed(x2, 1))\" y2=\"\(fixed(y2, 1))\" "
            + "\(attributes)/>\n"
    }

    private func text(_ words: String, _ x: Double, _ y: Double, _ attributes: String = "") -> String {
        "<text x=\"\(fixed(x, 1))\" y=\"\(fixed(y, 1))\" \(attributes)>\(words)</text>\n"
    }
}

/// An axis from 0 with marks at round numbers.
private struct Axis {
    let end: Double
    private let step: Double
    private let digits: Int

    /// Four to eight steps of 1, 2 or 5 times a power of ten, the last of them not below `largest`.
    init(upTo largest: Double) {
        var power = 1e-6
        var digits = 6
        while power * 10 * 8 < largest {
            power *= 10
            digits -= 1
        }
        step = ([1, 2, 5, 10].first { $0 * power * 8 >= largest } ?? 10) * power
        self.digits = max(step >= power * 10 ? digits - 1 : digits, 0)
        end = max((largest / step).rounded(.up), 1) * step
    }

    var ticks: [Double] { stride(from: 0, through: end + step / 2, by: step).map { $0 } }

    func label(_ tick: Double) -> String { fixed(tick, digits) }
}
