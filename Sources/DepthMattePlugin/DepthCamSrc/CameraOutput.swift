import CGStreamer
import DepthCameras
import DepthKernels
import GstBridge

/// The format in which a stream leaves, and the conversion to it.
struct CameraOutput: Equatable {
    private enum Conversion: Equatable {
        case none
        /// Counts of the camera's unit to counts of a millimetre.
        case millimetres(perCount: Double)
        /// Counts of the camera's unit to metres, as floats.
        case metres(perCount: Double)
    }

    let caps: String
    /// The unit and the optics that the caps tell besides.
    let stream: StreamCalibration
    /// The calibration by which the element registers the map; nil for a map that leaves in the view in which it comes.
    let registration: Calibration?
    /// Nanoseconds.
    let duration: GstClockTime
    private let conversion: Conversion
    /// The layouts of counts and of metres.
    private let counts: FrameLayout
    private let metres: FrameLayout

    /// The formats that a stream can have, best first. Metres come first where millimetres would lose what the camera
    /// measures.
    ///
    /// - Parameters:
    ///   - mode: of the stream, as the camera sends it.
    ///   - isAligned: true where the map has to have the color camera's view; the element sees to it where the camera does not.
    /// - Throws: where neither can.
    static func choices(
        _ role: DepthCamSrc.PadRole, _ mode: CameraMode, _ camera: CameraStreams, isAligned: Bool
    ) throws(FlowStop) -> [CameraOutput] {
        var mode = mode
        var optics = camera.calibration
        optics?.depthUnit = nil
        var registration: Calibration?
        if role == .depth, isAligned, !camera.isAligned, camera.video != nil {
            // Beside the picture it would be decimetres off.
            guard let color = optics?.color else {
                throw .failed(
                    ElementError(
                        .settings,
                        "The camera cannot register its depth, and tells no calibration that can. Set align=none."))
            }
            registration = optics
            optics = Calibration(depth: color)
            (mode.width, mode.height) = (color.width, color.height)
        }
        let texts = CameraCaps.texts(of: mode, role)
        func output(_ number: Int, unit: Double?, _ conversion: Conversion) -> CameraOutput {
            CameraOutput(
                caps: texts[number],
                stream: role == .depth ? StreamCalibration(depthUnit: unit, calibration: optics) : StreamCalibration(),
                registration: registration, duration: frameDuration(mode.rate), conversion: conversion,
                counts: FrameLayout(width: mode.width, height: mode.height, bytesPerSample: 2, rowAlignment: 4),
                metres: FrameLayout(width: mode.width, height: mode.height, bytesPerSample: 4))
        }
        guard role == .depth else { return [output(0, unit: nil, .none)] }
        let depthUnit = camera.depthUnit
        let isMillimetre = abs(depthUnit - 0.001) < 1e-9
        let counts = output(0, unit: 0.001, isMillimetre ? .none : .millimetres(perCount: depthUnit * 1000))
        let metres = output(1, unit: nil, .metres(perCount: depthUnit))
        return depthUnit < 0.001 && !isMillimetre ? [metres, counts] : [counts, metres]
    }

    /// Returns the frame, or one of the pool's in this format; nil where there is no memory.
    ///
    /// - Parameters:
    ///   - frame: registered, where there is a `registration`. It is not changed: others may hold it.
    ///   - pool: of buffers of `size`.
    func converted(_ frame: BufferRef, _ pool: PicturePool) -> BufferRef? {
        do throws(FrameFault) {
            switch conversion {
            case .none: return frame
            case .millimetres(let scale):
                return try mapped(frame, counts, pool) { $0.scaled(by: scale).littleEndian }
            case .metres(let unit):
                return try mapped(frame, metres, pool) { count in
                    let distance = count == .max ? 0 : Float(Double(count) * unit)
                    return distance.bitPattern.littleEndian
                }
            }
        } catch {
            return nil
        }
    }

    /// Bytes of a frame in this format.
    var size: Int { if case .metres = conversion { metres.size } else { counts.size } }

    private func mapped<Sample>(
        _ frame: BufferRef, _ layout: FrameLayout, _ pool: PicturePool, _ sample: (UInt16) -> Sample
    ) throws(FrameFault) -> BufferRef {
        let made = BufferRef(try pool.buffer(layout))
        try withFrame(reading: frame.pointer, counts) { source throws(FrameFault) in
            try withFrame(changing: made.pointer, layout) { target throws(FrameFault) in
                let (from, to) = (try source.first(), try target.first())
                for y in 0..<counts.height {
                    let row = from.row(y).assumingMemoryBound(to: UInt16.self)
                    let samples = to.row(y).assumingMemoryBound(to: Sample.self)
                    for x in 0..<counts.width { samples[x] = sample(UInt16(littleEndian: row[x])) }
                }
            }
        }
        return made
    }
}

extension UInt16 {
    /// A count times a factor, rounded; a measured sample stays measured and in range, and one that is not becomes 0.
    fileprivate func scaled(by factor: Double) -> UInt16 {
        if self == 0 || self == .max { return 0 }
        let scaled = (Double(self) * factor).rounded()
        return UInt16(Swift.min(Swift.max(scaled, 1), 65534))
    }
}
