import DepthCameras

/// The thermal state of the machine.
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

    /// The state by the zone's trip points; nil for a zone without any, whose temperature has no meaning.
    ///
    /// - critical: a `hot` or `critical` trip point is reached;
    /// - serious: a `passive` one is reached, where the kernel starts to throttle, or `critical` is less than 5 °C away;
    /// - fair: `serious` is less than 5 °C away.
    package var state: ThermalState? {
        guard let limit = [hot, critical].compactMap({ $0 }).min() ?? passive.map({ _ in Int.max }) else { return nil }
        if temperature >= limit { return .critical }
        let serious = min(passive ?? .max, limit == .max ? .max : limit - margin)
        if temperature >= serious { return .serious }
        return temperature >= serious - margin ? .fair : .nominal
    }

    private var margin: Int { 5000 }

    /// Returns every readable zone in a folder.
    package static func all(below root: String) -> [ThermalZone] {
        names(inFolder: root).filter { $0.hasPrefix("thermal_zone") }.compactMap {
            ThermalZone(folder: "\(root)/\($0)")
        }
    }

    /// Returns the zone in the worst state, of several the hottest; nil if no zone has trip points.
    package static func worst(of zones: [ThermalZone]) -> ThermalZone? {
        zones.filter { $0.state != nil }
            .max { ($0.state ?? .nominal, $0.temperature) < ($1.state ?? .nominal, $1.temperature) }
    }

    /// Returns nil if no temperature can be read.
    private init?(folder: String) {
        guard let temperature = ThermalZone.number("\(folder)/temp") else { return nil }
        name = line(ofFile: "\(folder)/type") ?? ""
        self.temperature = temperature
        // The largest number of trip points of a zone in Linux.
        for index in 0..<12 {
            guard let kind = line(ofFile: "\(folder)/trip_point_\(index)_type") else { continue }
            // Drivers report 0 or less for a trip point that they do not know.
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

    /// Reads a number of millidegrees; nil if it is not credible.
    private static func number(_ path: String) -> Int? {
        guard let text = line(ofFile: path), let number = Int(text.filter { !$0.isWhitespace }),
            -1_000_000...1_000_000 ~= number
        else { return nil }
        return number
    }
}
