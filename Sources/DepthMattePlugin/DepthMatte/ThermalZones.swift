/// How hot a machine is, for those who have to slow down.
package enum ThermalState: Int, Comparable, Sendable {
    case nominal, fair, serious, critical

    var name: String {
        switch self {
        case .nominal: "nominal"
        case .fair: "fair"
        case .serious: "serious"
        case .critical: "critical"
        }
    }

    package static func < (one: ThermalState, other: ThermalState) -> Bool { one.rawValue < other.rawValue }
}

/// One thermal zone, as Linux shows it under /sys/class/thermal (Documentation/driver-api/thermal/sysfs-api.rst).
/// Temperatures are in millidegrees Celsius.
package struct ThermalZone: Equatable {
    package let name: String
    package let temperature: Int
    /// The lowest trip point of each kind; nil where the zone has none.
    var passive: Int?
    var hot: Int?
    var critical: Int?

    /// What the temperature is to the trip points:
    ///
    /// - critical: a `hot` or `critical` trip point is reached;
    /// - serious: a `passive` one is, from which on the kernel itself slows the machine down, or 5 °C are missing to one
    ///   of the former;
    /// - fair: 5 °C are missing to what is serious.
    ///
    /// Nil for a zone without such trip points, whose temperature says nothing.
    package var state: ThermalState? {
        guard let limit = [hot, critical].compactMap({ $0 }).min() ?? passive.map({ _ in Int.max }) else { return nil }
        if temperature >= limit { return .critical }
        let serious = min(passive ?? .max, limit == .max ? .max : limit - margin)
        if temperature >= serious { return .serious }
        return temperature >= serious - margin ? .fair : .nominal
    }

    private var margin: Int { 5000 }

    /// Every zone below a folder that can be read.
    package static func all(below root: String) -> [ThermalZone] {
        names(inFolder: root).filter { $0.hasPrefix("thermal_zone") }.compactMap {
            ThermalZone(folder: "\(root)/\($0)")
        }
    }

    /// The zone that is worst off: of several in the same state the hottest. Nil where no zone has trip points.
    package static func worst(of zones: [ThermalZone]) -> ThermalZone? {
        zones.filter { $0.state != nil }
            .max { ($0.state ?? .nominal, $0.temperature) < ($1.state ?? .nominal, $1.temperature) }
    }

    /// Returns nil where there is no temperature to be read.
    private init?(folder: String) {
        guard let temperature = ThermalZone.number("\(folder)/temp") else { return nil }
        name = line(ofFile: "\(folder)/type") ?? ""
        self.temperature = temperature
        // Linux has no more trip points than this in a zone.
        for index in 0..<12 {
            guard let kind = line(ofFile: "\(folder)/trip_point_\(index)_type") else { continue }
            // 0 and below, as of drivers that do not know theirs, are none.
            guard let trip = ThermalZone.number("\(folder)/trip_point_\(index)_temp"), trip > 0 else { continue }
            switch kind {
            case "passive": passive = min(passive ?? trip, trip)
            case "hot": hot = min(hot ?? trip, trip)
            case "critical": critical = min(critical ?? trip, trip)
            default: break
            }
        }
    }

    package init(name: String, temperature: Int, passive: Int? = nil, hot: Int? = nil, critical: Int? = nil) {
        self.name = name
        self.temperature = temperature
        (self.passive, self.hot, self.critical) = (passive, hot, critical)
    }

    /// A number of millidegrees as any machine may have it.
    private static func number(_ path: String) -> Int? {
        guard let text = line(ofFile: path), let number = Int(text.filter { !$0.isWhitespace }),
            -1_000_000...1_000_000 ~= number
        else { return nil }
        return number
    }
}
