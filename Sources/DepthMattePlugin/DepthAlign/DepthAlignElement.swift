import CGStreamer
import DepthKernels
import GstBridge
import Synchronization

/// One `depthalign` instance.
///
/// Threads: `state` belongs to the streaming thread, or to `stop` while that does not run. `file` is locked.
final class DepthAlignElement: Transform {
    static let log = LogCategory(name: DepthAlign.factory, description: "Depth registration")

    let instance: ElementPointer
    let table = Properties(DepthAlignProperties.all, initial: DepthAlignSettings())
    var properties: any PropertyAccess { table }

    /// The calibration of the property's file, from READY on; nil without a file.
    private let file = Mutex<Calibration?>(nil)
    private var state = State()

    private final class State {
        var maps: Maps?
        var reserve = ScratchReserve()
        var warnings = WarningLimiter()
    }

    /// The maps that come in and leave, from `setCaps` on.
    private struct Maps {
        let input: DepthFormat
        let output: DepthFormat
        /// Nil where the maps are registered already, and pass.
        let registration: DepthRegistration?
        /// Metres per count.
        let unit: Double
    }

    init(_ instance: ElementPointer) { self.instance = instance }

    func start() throws(ElementError) {
        guard let path = table.current.calibration, !path.isEmpty else { return file.withLock { $0 = nil } }
        let calibration = try readCalibration(calibrationBytes(path), named: path)
        file.withLock { $0 = calibration }
    }

    func stop() {
        state = State()
        file.withLock { $0 = nil }
    }

    func propertyChanged(_ name: String) {
        if name == "depth-unit" { reconfigureSrc() }
    }

    // MARK: Caps

    /// The calibration and unit of a stream. Calibration: of the property's file, else of the caps. Unit: of the property, else of
    /// the caps, else of that calibration.
    private func measure(_ caps: CapsPointer) throws(CapsRefusal) -> StreamCalibration {
        var stream = try StreamCalibration(caps)
        if let calibration = file.withLock({ $0 }) { stream.calibration = calibration }
        let unit = table.current.depthUnit
        // A smaller unit could not be written into the caps of the output.
        let least = StreamCalibration.units.lowerBound
        stream.depthUnit = unit > 0 ? max(unit, least) : stream.depthUnit ?? stream.calibration?.depthUnit
        return stream
    }

    func transformCaps(_ caps: CapsPointer, of direction: GstPadDirection) -> CapsPointer? {
        guard let result = gst_caps_copy(caps) else { return nil }
        StreamCalibration().write(to: result)
        let isKnown = direction == GST_PAD_SINK && gst_caps_is_fixed(caps) != 0
        let calibration = isKnown ? (try? measure(caps))?.calibration : file.withLock { $0 }
        if calibration == nil || calibration?.color != nil {
            result.allowEverySize()
        }
        return result
    }

    func fixateCaps(_ other: CapsPointer, for caps: CapsPointer, of direction: GstPadDirection) -> CapsPointer? {
        guard direction == GST_PAD_SINK, let stream = try? measure(caps), let calibration = stream.calibration,
            gst_caps_is_empty(other) == 0
        else { return other.fixated() }
        let result = gst_caps_truncate(other)?.writable
        guard let result, let structure = gst_caps_get_structure(result, 0) else { return result }
        let view = calibration.color ?? calibration.depth
        gst_structure_fixate_field_nearest_int(structure, "width", gint(clamping: view.width))
        gst_structure_fixate_field_nearest_int(structure, "height", gint(clamping: view.height))
        guard let fixed = result.fixated()?.writable else { return nil }
        if let (width, height) = fixed.size {
            StreamCalibration(
                depthUnit: stream.depthUnit,
                calibration: Calibration(depth: view.scaled(toWidth: width, height: height))
            ).write(to: fixed)
        }
        return fixed
    }

    func getUnitSize(_ caps: CapsPointer) -> Int? { (try? DepthFormat(caps, maxPixels: .max))?.layout.size }

    func setCaps(_ input: CapsPointer, _ output: CapsPointer) throws(CapsRefusal) {
        let maxPixels = Int(clamping: table.current.maxPixels)
        let (from, to) = (try DepthFormat(input, maxPixels: maxPixels), try DepthFormat(output, maxPixels: maxPixels))
        let stream = try measure(input)
        guard let calibration = stream.calibration else {
            throw CapsRefusal(
                "no calibration; set the property calibration to a file, or take the depth of depthcamsrc, which carries it"
            )
        }
        // A negative one measures nothing, and cannot be in caps.
        let unit = table.current.depthUnit < 0 ? table.current.depthUnit : stream.depthUnit ?? DepthScale().unit
        if calibration.color == nil {
            gst_base_transform_set_passthrough(base, 1)
            state.maps = Maps(input: from, output: to, registration: nil, unit: unit)
            return
        }
        try reserveMemory(from: from.layout, to: to.layout)
        guard let registration = registration(calibration, from: from.layout, to: to.layout) else {
            throw CapsRefusal("the calibration does not fit maps of this size")
        }
        warnIfFarApart(calibration.depthToColor.translation)
        gst_base_transform_set_passthrough(base, 0)
        state.maps = Maps(input: from, output: to, registration: registration, unit: unit)
        Self.log(GST_LEVEL_DEBUG, self) { "\(input.text) to \(output.text)" }
    }

    /// Warns of cameras more than a metre apart: most likely the translation is in another unit.
    private func warnIfFarApart(_ translation: SIMD3<Double>) {
        let metres = ((translation * translation).sum().squareRoot() * 1000).rounded() / 1000
        guard metres > 1, state.warnings.admits("far apart") else { return }
        let sentence =
            "By the calibration's translation the cameras are \(metres) m apart, which is improbable. It must be in metres: "
            + "multiply centimetres by 0.01, millimetres by 0.001, squares of a chessboard by the length of their sides."
        warn(ElementError(.settings, sentence))
    }

    /// Asks for the memory that the kernels may need, before any of them runs.
    private func reserveMemory(from input: FrameLayout, to output: FrameLayout) throws(CapsRefusal) {
        do throws(FrameFault) {
            try state.reserve.hold(KernelMemory.registration(depth: .init(input), output: .init(output)))
        } catch {
            throw CapsRefusal("\(error)")
        }
    }

    /// Returns the registration, the one in use where it fits: its tables take a while to compute.
    private func registration(
        _ calibration: Calibration, from input: FrameLayout, to output: FrameLayout
    ) -> DepthRegistration? {
        if let used = state.maps?.registration, used.calibration == calibration, used.width == input.width,
            used.height == input.height, used.outputWidth == output.width, used.outputHeight == output.height
        {
            return used
        }
        return DepthRegistration(
            calibration, width: input.width, height: input.height, outputWidth: output.width,
            outputHeight: output.height)
    }

    // MARK: Maps

    func transform(_ input: BufferPointer, into output: BufferPointer) throws(FlowStop) {
        guard let maps = state.maps, let registration = maps.registration else {
            throw .refused(GST_FLOW_NOT_NEGOTIATED)
        }
        let scale = DepthScale(unit: maps.unit, invalidCount: table.current.invalidCount)
        if let complaint = scale.complaint(about: maps.input.encoding), state.warnings.admits("scale") {
            warn(ElementError(.settings, complaint))
        }
        try drawWithoutFallback("depth map") { () throws(FrameFault) in
            _ = try maps.output.layout.clearAround(output)
            try withFrame(changing: output, maps.output.layout) { planes throws(FrameFault) in
                let target = try planes.first()
                do throws(FrameFault) {
                    try DepthFrame(buffer: input, format: maps.input, reading: DepthReading()).withImage {
                        image throws(FrameFault) in
                        guard registration.align(image, scale: scale, into: target) else {
                            throw .contradiction("the depth map is not the caps'")
                        }
                    }
                } catch {
                    report(error)
                    clear(target)
                }
            }
        }
    }

    private func report(_ fault: FrameFault) {
        Self.log(GST_LEVEL_INFO, self) { "depth map: \(fault)" }
        guard state.warnings.admits(fault.cause) else { return }
        warn(ElementError(fault, in: "depth map", "nothing of it is shown"))
    }

    private func clear(_ plane: MutablePlane) {
        for y in 0..<plane.rows { plane.row(y).initializeMemory(as: UInt8.self, repeating: 0, count: plane.rowBytes) }
    }

    /// The parent class leaves out metas that depend on the picture's size, such as regions of interest.
    func transformMeta(_ meta: UnsafeMutablePointer<GstMeta>, parent: () -> Bool) -> Bool { parent() }

    // MARK: Sync

    /// depthmatte sees that the registered map does not lie on the picture.
    func srcQuery(_ query: QueryPointer, parent: () -> Bool) -> Bool {
        if let sentence = SyncFault(query)?.sentence, gst_base_transform_is_passthrough(base) == 0 {
            warn(
                ElementError(
                    .settings,
                    "The calibration does not fit the picture. \(sentence). Calibrate the cameras again, or set the offset that "
                        + "depthmatte names, but not both."))
        }
        return parent()
    }
}

extension CapsPointer {
    /// Removes what limits width and height in writable caps.
    fileprivate func allowEverySize() {
        for index in 0..<gst_caps_get_size(self) {
            guard let structure = gst_caps_get_structure(self, index) else { continue }
            for field in ["width", "height"] {
                var range = GValue()
                g_value_init(&range, gst_int_range_get_type())
                gst_value_set_int_range(&range, 1, gint(clamping: VideoPicture.largestSide))
                gst_structure_take_value(structure, field, &range)
            }
        }
    }
}
