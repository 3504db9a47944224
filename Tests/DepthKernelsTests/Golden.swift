import Foundation
import TestSupport
import Testing

/// Reads the pictures that `Golden/regenerate.py` writes.
enum Golden {
    static let blurRadii = [0, 0.5, 5, 20]
    static let gammas = [0.25, 0.5, 1, 2]

    private static func url(_ name: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden/\(name)")
    }

    static func picture(_ name: String) throws -> PortableAnymap {
        let bytes = try [UInt8](Data(contentsOf: url(name)))
        return try #require(PortableAnymap(bytes: bytes), "\(name) is no binary PGM")
    }

    /// The numbers in each line of a text file.
    static func numbers(_ name: String) throws -> [[Double]] {
        try String(contentsOf: url(name), encoding: .utf8).split(separator: "\n").map { line in
            line.split(separator: " ").compactMap { Double($0) }
        }
    }
}

/// One golden depth map with all of its mattes.
struct GoldenMattes {
    struct Matte {
        let blurRadius: Double
        let gamma: Double
        let alpha: [UInt8]
    }

    let depth: PortableAnymap
    let videoWidth: Int
    let videoHeight: Int
    let mattes: [Matte]

    init(_ name: String) throws {
        depth = try Golden.picture("\(name).depth.pgm")
        let all = try Golden.picture("\(name).alpha.pgm")
        videoWidth = all.width
        videoHeight = all.height / (Golden.blurRadii.count * Golden.gammas.count)
        let size = videoWidth * videoHeight
        var mattes: [Matte] = []
        for blurRadius in Golden.blurRadii {
            for gamma in Golden.gammas {
                let samples = all.samples[(mattes.count * size)..<((mattes.count + 1) * size)]
                mattes.append(Matte(blurRadius: blurRadius, gamma: gamma, alpha: samples.map { UInt8($0) }))
            }
        }
        self.mattes = mattes
    }

    var metres: [Double] { depth.samples.map { Double($0) * 0.001 } }
}
