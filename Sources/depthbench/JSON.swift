/// A value of a JSON document (RFC 8259).
enum JSON {
    case text(String)
    case number(Double)
    case whole(Int)
    case truth(Bool)
    case null
    case list([JSON])
    /// In the order in which they are written.
    case object([(name: String, value: JSON)])

    static func maybe(_ number: Double?) -> JSON { number.map { .number($0) } ?? .null }

    var document: String { text(indent: "") + "\n" }

    private func text(indent: String) -> String {
        switch self {
        case .text(let text): quoted(text)
        case .number(let number): number.isFinite ? "\(number)" : "null"
        case .whole(let number): "\(number)"
        case .truth(let isTrue): isTrue ? "true" : "false"
        case .null: "null"
        case .list(let values): block("[", values.map { $0.text(indent: indent + "  ") }, "]", indent)
        case .object(let fields):
            block("{", fields.map { "\(quoted($0.name)): \($0.value.text(indent: indent + "  "))" }, "}", indent)
        }
    }

    private func block(_ open: String, _ items: [String], _ close: String, _ indent: String) -> String {
        guard !items.isEmpty else { return open + close }
        return open + "\n" + items.map { indent + "  " + $0 }.joined(separator: ",\n") + "\n" + indent + close
    }

    private func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case _ where scalar.value < 32:
                result += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension Report {
    /// The document whose fields `--help` lists.
    func json(_ machine: Machine) -> JSON {
        .object([
            ("tool", .text("depthbench")), ("version", .text(machine.version)), ("cpu", .text(machine.processor)),
            ("cores", .whole(machine.cores)), ("figures", .list(figures.map(\.json))),
            ("views", .list(views.map(\.json))), ("pipelines", .list(pipelines.map(\.json))),
            (
                "goals",
                .list(
                    goals.map {
                        .object([
                            ("goal", .text($0.name)), ("limit", .number($0.limit)), ("at_most", .truth($0.isMost)),
                            ("value", .number($0.value)), ("reached", .truth($0.isReached)),
                        ])
                    })
            ),
        ])
    }
}

extension Figure {
    fileprivate var json: JSON {
        .object([
            ("work", .text(work.rawValue)), ("width", .whole(wanted.size.width)),
            ("height", .whole(wanted.size.height)),
            ("format", .text(wanted.format)), ("depth_width", .whole(wanted.depth.width)),
            ("depth_height", .whole(wanted.depth.height)), ("sigma", .number(wanted.sigma)),
            ("gamma", .number(wanted.gamma)), ("upscale", .text(wanted.upscale.name)),
            ("background", .text(wanted.background.rawValue)), ("scene", .text("\(wanted.scene)")),
            ("threads", .whole(wanted.threads)), ("ring", .whole(ring)), ("sources", .whole(sources)),
            ("rounds", .whole(rounds)),
            ("frames_per_round", .whole(framesPerRound)), ("frame_bytes", .whole(frameBytes)), ("ms", .number(time)),
            ("ms_low", .number(low)), ("ms_high", .number(high)), ("memcpy_ms", .number(copy)),
            ("ms_least", .number(least)), ("memcpy_ms_least", .number(copyLeast)),
            ("ratio", .number(ratio)),
            ("interval_ms", .maybe(interval)), ("own_ms", .maybe(own)), ("own_ratio", .maybe(ownRatio)),
        ])
    }
}

extension ViewFigure {
    fileprivate var json: JSON {
        .object([
            ("name", .text(view.name)), ("depth_format", .text(view.depthFormat)),
            ("depth_width", .whole(view.depth.width)), ("depth_height", .whole(view.depth.height)),
            ("width", .whole(view.size.width)), ("height", .whole(view.size.height)), ("format", .text(view.format)),
            ("ring", .whole(ring)), ("ms", .number(time)), ("ms_low", .number(low)), ("ms_high", .number(high)),
            ("memcpy_ms", .number(copy)),
            ("ratio", .number(ratio)), ("kernel_ms", .maybe(kernel)),
        ])
    }
}

extension PipelineFigure {
    fileprivate var json: JSON {
        .object([
            ("name", .text(name)), ("wall_ms", .number(wall)), ("added_wall_ms", .number(addedWall)),
            ("wall_ratio", .number(wallRatio)), ("cpu_ms", .number(processor)),
            ("added_cpu_ms", .number(addedProcessor)), ("cpu_ratio", .number(processorRatio)),
        ])
    }
}
