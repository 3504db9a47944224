import CGStreamer
import DepthKernels
package import GstBridge

/// The fields of depth caps that tell how a stream was measured.
///
///     depth-unit=(double)0.001, calibration=(string)"{…}"
///
/// `depth-unit`: metres per count. `calibration`: JSON (`Calibration.json`) of the optics of the camera whose view the map has; also those
/// of the color camera, where the map is not registered to it.
package struct StreamCalibration: Equatable, Sendable {
    /// Metres per count; nil where the caps do not say it.
    var depthUnit: Double?
    var calibration: Calibration?

    /// Units that caps may have, in metres per count.
    static let units = 1e-9...1e3

    private static let unitField = "depth-unit"
    private static let calibrationField = "calibration"

    init(depthUnit: Double? = nil, calibration: Calibration? = nil) {
        self.depthUnit = depthUnit
        self.calibration = calibration
    }

    /// Reads the fields of fixed caps.
    ///
    /// - Throws: a sentence where a field cannot be read.
    package init(_ caps: CapsPointer) throws(CapsRefusal) {
        guard let structure = gst_caps_get_structure(caps, 0) else { return }
        if gst_structure_has_field(structure, StreamCalibration.unitField) != 0 {
            var unit = 0.0
            guard gst_structure_get_double(structure, StreamCalibration.unitField, &unit) != 0,
                StreamCalibration.units.contains(unit)
            else { throw CapsRefusal("the caps field \"depth-unit\" is not a double from 1e-9 to 1000") }
            depthUnit = unit
        }
        if gst_structure_has_field(structure, StreamCalibration.calibrationField) != 0 {
            guard let text = gst_structure_get_string(structure, StreamCalibration.calibrationField) else {
                throw CapsRefusal("the caps field \"calibration\" is not a string")
            }
            do throws(CalibrationError) {
                calibration = try Calibration(text: Array(String(cString: text).utf8))
            } catch {
                throw CapsRefusal("the caps field \"calibration\" cannot be read, \(error.reason)")
            }
        }
    }

    /// Sets the fields of writable caps, and removes those that are nil here.
    func write(to caps: CapsPointer) {
        for index in 0..<gst_caps_get_size(caps) {
            guard let structure = gst_caps_get_structure(caps, index) else { continue }
            gst_structure_remove_field(structure, StreamCalibration.unitField)
            gst_structure_remove_field(structure, StreamCalibration.calibrationField)
            if let depthUnit { structure.set(StreamCalibration.unitField, to: depthUnit) }
            if let calibration { structure.set(StreamCalibration.calibrationField, to: calibration.json) }
        }
    }
}

/// The bytes of a file that a property `calibration` names.
///
/// - Parameter count: how many bytes at the end of the file are read; nil for those of a text from its start.
func calibrationBytes(_ path: String, fromEnd count: Int? = nil) throws(ElementError) -> [UInt8] {
    guard let reader = ByteReader(path: path), reader.seek(to: max(0, reader.size - (count ?? reader.size))) else {
        throw ElementError(
            .resource(GST_RESOURCE_ERROR_NOT_FOUND),
            "The calibration \"\(path)\" cannot be read. Set the property calibration to a file in JSON or YAML.")
    }
    let bytes = reader.bytes(atMost: count ?? StructuredTextReader.longest + 1)
    if let fault = reader.fault {
        throw ElementError(
            .resource(GST_RESOURCE_ERROR_READ), "The calibration \"\(path)\" cannot be read: \(fault).")
    }
    return bytes
}

/// The calibration in a text.
///
/// - Parameter name: what the property `calibration` says.
func readCalibration(_ text: [UInt8], named name: String) throws(ElementError) -> Calibration {
    do throws(CalibrationError) {
        return try Calibration(text: text)
    } catch {
        throw ElementError(.settings, "The calibration \"\(name)\" is faulty: \(error.reason).")
    }
}
