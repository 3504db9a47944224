/// An error in a calibration, for the user.
package struct CalibrationError: Error, Equatable {
    package let reason: String
}

/// Calibrations as text.
///
/// Written as one line of JSON:
///
///     {"depth_unit": 0.001,
///      "depth": {"width": 640, "height": 480, "fx": 390.4, "fy": 390.4, "cx": 331.4, "cy": 242.2, "distortion": [k1, k2, p1, p2, k3]},
///      "color": {…}, "rotation": [nine numbers, row by row], "translation": [x, y, z]}
///
/// Read in JSON or YAML, with these names, those of librealsense's structures, and those of OpenCV's stereo calibration.
/// Case, `_` and `-` in names do not matter.
extension Calibration {
    /// - Parameter text: JSON or YAML, in UTF-8.
    package init(text: [UInt8]) throws(CalibrationError) {
        for (start, advice) in foreignFiles where text.starts(with: start) { throw CalibrationError(reason: advice) }
        do throws(StructuredTextError) {
            try self.init(StructuredTextReader.read(text))
        } catch {
            throw CalibrationError(reason: "line \(error.line): \(error.reason)")
        }
    }

    /// - Parameter value: the table of such a text.
    init(_ value: StructuredValue) throws(StructuredTextError) {
        self = try CalibrationReader(root: value).calibration()
    }

    /// One line of JSON, which `init(text:)` reads without loss.
    package var json: String {
        var fields = ["\"depth\": \(depth.json)"]
        if let depthUnit { fields.insert("\"depth_unit\": \(depthUnit)", at: 0) }
        if let color {
            fields.append("\"color\": \(color.json)")
            let translation = depthToColor.translation
            fields.append("\"rotation\": \(depthToColor.rotation)")
            fields.append("\"translation\": [\(translation.x), \(translation.y), \(translation.z)]")
        }
        return "{\(fields.joined(separator: ", "))}"
    }
}

/// Files of other forms: their first bytes, and what to do with them.
private let foreignFiles: [(start: [UInt8], advice: String)] = [
    (Array("<".utf8), "it is XML; have OpenCV's FileStorage write it to a name that ends in .yml"),
    (Array("\u{feff}<".utf8), "it is XML; have OpenCV's FileStorage write it to a name that ends in .yml"),
    (Array("PK".utf8), "it is an archive, such as NumPy's .npz; have OpenCV's FileStorage write its arrays as .yml"),
    (Array("MATLAB".utf8), "it is a file of MATLAB; write its numbers as JSON or YAML"),
    ([0x1F, 0x8B], "it is compressed; unpack it with gunzip"),
]

extension CameraIntrinsics {
    fileprivate var json: String {
        let size = "\"width\": \(width), \"height\": \(height)"
        let optics = "\"fx\": \(fx), \"fy\": \(fy), \"cx\": \(cx), \"cy\": \(cy)"
        if distortion.isNone { return "{\(size), \(optics)}" }
        let inverse = distortion.isInverse ? ", \"model\": \"inverse Brown-Conrady\"" : ""
        return "{\(size), \(optics), \"distortion\": \(distortion.coefficients)\(inverse)}"
    }
}

/// Finds a calibration's numbers under the names that different programs give them.
private struct CalibrationReader {
    typealias Field = StructuredValue.Field

    let root: StructuredValue

    private enum Camera: String {
        case depth, color

        /// OpenCV's stereo calibration numbers its cameras.
        var number: Int { self == .depth ? 1 : 2 }
        var tables: [String] {
            switch self {
            case .depth: ["depth", "depthintrinsics", "depthcamera"]
            case .color: ["color", "colour", "rgb", "colorintrinsics", "colorcamera"]
            }
        }
    }

    func calibration() throws(StructuredTextError) -> Calibration {
        guard let depth = try camera(.depth) else {
            throw StructuredTextError(
                line: 1,
                reason: "no depth camera was found; add a table \"depth\", or cameraMatrix1 as in OpenCV's stereo "
                    + "calibration")
        }
        var calibration = Calibration(depth: depth.intrinsics)
        if let unit = field(["depthunit", "depthunits", "depthscale"], of: root) {
            calibration.depthUnit = try number(unit, 1e-9...1e3)
        }
        if let color = try camera(.color) {
            calibration.color = color.intrinsics
            calibration.depthToColor = try pose(isByColumns: depth.isOfLibrealsense)
        }
        return calibration
    }

    // MARK: Cameras

    private func camera(
        _ camera: Camera
    ) throws(StructuredTextError) -> (intrinsics: CameraIntrinsics, isOfLibrealsense: Bool)? {
        if let table = field(camera.tables, of: root) {
            guard case .table = table.value else { throw error(table, "is no table") }
            // Some programs keep pose and optics of a camera together.
            let optics = field(["intrinsics"], of: table.value) ?? table
            return (try intrinsics(optics), field(["ppx"], of: optics.value) != nil)
        }
        let number = camera.number
        guard let matrix = matrix(number) else { return nil }
        let size = try size(number, beside: matrix)
        let (fx, fy, cx, cy) = try focalLengths(matrix)
        let coefficients = field(["distcoeffs\(number)", "distortion\(number)", "d\(number)"], of: root)
        let distortion = try coefficients.map { field throws(StructuredTextError) in try lens(field, model: nil) }
        return (
            CameraIntrinsics(
                width: size.width, height: size.height, fx: fx, fy: fy, cx: cx, cy: cy,
                distortion: distortion ?? .none), false
        )
    }

    private func intrinsics(_ table: Field) throws(StructuredTextError) -> CameraIntrinsics {
        let width = try number(of: ["width", "imagewidth"], in: table, 1...32768)
        let height = try number(of: ["height", "imageheight"], in: table, 1...32768)
        let matrix = field(["k", "cameramatrix", "matrix"], of: table.value)
        let (fx, fy, cx, cy) =
            if let matrix {
                try focalLengths(matrix)
            } else {
                (
                    try number(of: ["fx"], in: table, 1e-3...1e6), try number(of: ["fy"], in: table, 1e-3...1e6),
                    try number(of: ["cx", "ppx"], in: table, -1e6...1e6),
                    try number(of: ["cy", "ppy"], in: table, -1e6...1e6)
                )
            }
        let coefficients = field(["distortion", "coeffs", "coefficients", "distcoeffs", "d"], of: table.value)
        let model = field(["model", "distortionmodel"], of: table.value)
        let distortion = try coefficients.map { field throws(StructuredTextError) in try lens(field, model: model) }
        return CameraIntrinsics(
            width: Int(width), height: Int(height), fx: fx, fy: fy, cx: cx, cy: cy, distortion: distortion ?? .none)
    }

    private func size(_ number: Int, beside matrix: Field) throws(StructuredTextError) -> (width: Int, height: Int) {
        let sizes = ["imagesize\(number)", "size\(number)", "imagesize", "size"]
        if let size = field(sizes, of: root) {
            let numbers = try numbers(size, count: [2], 1...32768)
            return (Int(numbers[0]), Int(numbers[1]))
        }
        guard let width = field(["imagewidth", "width"], of: root),
            let height = field(["imageheight", "height"], of: root)
        else {
            throw error(matrix, "needs the picture's size beside it: imageSize\(number): [width, height]")
        }
        return (Int(try self.number(width, 1...32768)), Int(try self.number(height, 1...32768)))
    }

    /// A camera matrix: fx 0 cx, 0 fy cy, 0 0 1.
    private func focalLengths(_ matrix: Field) throws(StructuredTextError) -> (Double, Double, Double, Double) {
        let m = try numbers(matrix, count: [9], -1e6...1e6)
        guard m[0] > 0, m[4] > 0, m[3] == 0, m[6] == 0, m[7] == 0, m[8] == 1 else {
            throw error(matrix, "is no camera matrix: fx 0 cx, 0 fy cy, 0 0 1")
        }
        return (m[0], m[4], m[2], m[5])
    }

    private func lens(_ field: Field, model: Field?) throws(StructuredTextError) -> LensDistortion {
        let coefficients = try numbers(field, count: 0...14, -1e6...1e6)
        guard coefficients.dropFirst(8).allSatisfy({ $0 == 0 }) else {
            throw error(field, "has terms beyond k6, which are not supported")
        }
        guard let model else { return LensDistortion(coefficients) }
        if coefficients.allSatisfy({ $0 == 0 }) { return .none }
        guard case .text(let text) = model.value else { throw error(model, "is no name of a lens model") }
        let name = CalibrationReader.plain(text)
        if name.hasSuffix("none") { return .none }
        // Of librealsense "distortion.brown_conrady" and the like, of ROS "plumb_bob" and "rational_polynomial".
        let isKnown = ["brownconrady", "brown", "plumbbob", "rationalpolynomial", "rational"].contains {
            name.hasSuffix($0)
        }
        // Librealsense's "modified" model has other tangential terms (p1, p2), and is the same without them.
        let isOther = name.hasSuffix("modifiedbrownconrady") && coefficients.dropFirst(2).prefix(2).contains { $0 != 0 }
        guard isKnown, !isOther else {
            throw error(model, "is \(text), which is not supported: Brown-Conrady, its inverse, or none")
        }
        return LensDistortion(coefficients, isInverse: name.hasSuffix("inversebrownconrady"))
    }

    /// The matrix of a camera; nil where there is none. A number under k1 is a coefficient of a lens.
    private func matrix(_ number: Int) -> Field? {
        guard let field = field(["cameramatrix\(number)", "m\(number)", "k\(number)"], of: root) else { return nil }
        switch field.value {
        case .list, .table: return field
        default: return nil
        }
    }

    // MARK: The pose

    private func pose(isByColumns: Bool) throws(StructuredTextError) -> CameraPose {
        let table = field(["extrinsics", "depthtocolor", "depthtocolorextrinsics", "pose"], of: root)?.value ?? root
        guard let rotation = field(["rotation", "r"], of: table),
            let translation = field(["translation", "t"], of: table)
        else {
            throw StructuredTextError(
                line: 1, reason: "no rotation and translation from the depth camera to the color camera")
        }
        var r = try numbers(rotation, count: [9], -1.01...1.01)
        if isByColumns, isFlat(rotation.value) { r = (0..<9).map { r[$0 % 3 * 3 + $0 / 3] } }
        guard isRotation(r) else { throw error(rotation, "is no rotation") }
        let t = try numbers(translation, count: [3], -1e6...1e6)
        guard t.allSatisfy({ abs($0) <= 10 }) else {
            throw error(translation, "is more than 10 metres; it is given in metres")
        }
        return CameraPose(rotation: r, translation: SIMD3(t[0], t[1], t[2]))
    }

    private func isFlat(_ value: StructuredValue) -> Bool {
        guard case .list(let values) = value, case .number? = values.first else { return false }
        return true
    }

    private func isRotation(_ r: [Double]) -> Bool {
        func product(_ one: Int, _ other: Int) -> Double {
            (0..<3).reduce(0) { $0 + r[3 * one + $1] * r[3 * other + $1] }
        }
        let isOrthonormal = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].allSatisfy {
            abs(product($0, $1) - ($0 == $1 ? 1 : 0)) < 0.01
        }
        let determinant =
            r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6])
            + r[2] * (r[3] * r[7] - r[4] * r[6])
        return isOrthonormal && determinant > 0
    }

    // MARK: Fields

    /// The last field of these names, as a later one of JSON replaces an earlier one.
    private func field(_ names: [String], of value: StructuredValue) -> Field? {
        guard case .table(let fields) = value else { return nil }
        return fields.last { names.contains(CalibrationReader.plain($0.key)) }
    }

    /// The text in lower case, without _, - and spaces.
    private static func plain(_ text: String) -> String {
        String(
            decoding: text.lowercased().utf8.filter {
                $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ")
            }, as: UTF8.self)
    }

    private func number(_ field: Field, _ range: ClosedRange<Double>) throws(StructuredTextError) -> Double {
        guard case .number(let number) = field.value else { throw error(field, "is no number") }
        guard range.contains(number) else {
            throw error(field, "is \(number); it must be from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private func number(
        of names: [String], in table: Field, _ range: ClosedRange<Double>
    ) throws(StructuredTextError) -> Double {
        guard let field = field(names, of: table.value) else { throw error(table, "has no \(names[0])") }
        return try number(field, range)
    }

    /// The numbers of a list, of a list of lists, or of OpenCV's matrix, row by row.
    private func numbers(
        _ field: Field, count: some Collection<Int>, _ range: ClosedRange<Double>
    ) throws(StructuredTextError) -> [Double] {
        var value = field.value
        if case .table = value, let data = self.field(["data"], of: value) { value = data.value }
        guard case .list(var values) = value else { throw error(field, "is no list of numbers") }
        if case .list? = values.first {
            values = values.flatMap { if case .list(let row) = $0 { row } else { [$0] } }
        }
        guard count.contains(values.count) else {
            let most = count.max() ?? 0
            let wanted = count.count == 1 ? "it must have \(most)" : "at most \(most) are supported"
            throw error(field, "has \(values.count) numbers; \(wanted)")
        }
        var numbers: [Double] = []
        for value in values {
            numbers.append(try number(Field(key: field.key, value: value, line: field.line), range))
        }
        return numbers
    }

    private func error(_ field: Field, _ reason: String) -> StructuredTextError {
        StructuredTextError(line: field.line, reason: "\(field.key) \(reason)")
    }
}
