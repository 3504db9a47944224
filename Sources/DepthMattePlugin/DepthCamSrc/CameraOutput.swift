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
    private let width: Int
    private let height: Int

    /// The formats that a stream can have, best first. Metres come first where millimetres would lose what the camera
    /// measures.
    ///
    /// - Parameters:
    ///   - mode: of the stream, as the camera sends it.
    ///   - isAligned: true where the map has to have the color camera's view; the element sees to it where the camera does not.
    static func choices(
        _ role: DepthCamSrc.PadRole, _ mode: CameraMode, _ camera: CameraStreams, isAligned: Bool
    ) -> [CameraOutput] {
        var mode = mode
        var optics = camera.calibration
        optics?.depthUnit = nil
        var registration: Calibration?
        if role == .depth, isAligned, !camera.isAligned, camera.video != nil, let color = optics?.color {
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
                width: mode.width, height: mode.height)
        }
        guard role == .depth else { return [output(0, unit: nil, .none)] }
        let depthUnit = camera.depthUnit
        let isMillimetre = abs(depthUnit - 0.001) < 1e-9
        let counts = output(0, unit: 0.001, isMillimetre ? .none : .millimetres(perCount: depthUnit * 1000))
        let metres = output(1, unit: nil, .metres(perCount: depthUnit))
        return depthUnit < 0.001 && !isMillimetre ? [metres, counts] : [counts, metres]
    }

    /// Returns a buffer in this format; nil where there is no memory. The frame's own buffer may be changed.
    ///
    /// - Parameter frame: registered, where there is a `registration`.
    func converted(_ frame: BufferRef) -> BufferRef? {
        switch conversion {
        case .none: frame
        case .millimetres(let scale):
            withCounts(frame) { counts in
                for index in counts.indices {
                    counts[index] = UInt16(littleEndian: counts[index]).scaled(by: scale).littleEndian
                }
                return frame
            }
        case .metres(let unit):
            withCounts(frame) { counts in
                guard let made = gst_buffer_new_allocate(nil, gsize(width &* height &* 4), nil) else { return nil }
                let buffer = BufferRef(taking: made)
                var map = GstMapInfo()
                guard gst_buffer_map(made, &map, GST_MAP_WRITE) != 0 else { return nil }
                defer { gst_buffer_unmap(made, &map) }
                let metres = UnsafeMutableRawBufferPointer(start: map.data, count: Int(clamping: map.size))
                    .assumingMemoryBound(to: UInt32.self)
                let stride = countStride
                for row in 0..<height {
                    for column in 0..<width {
                        let count = UInt16(littleEndian: counts[row &* stride &+ column])
                        let distance = count == .max ? 0 : Float(Double(count) * unit)
                        metres[row &* width &+ column] = distance.bitPattern.littleEndian
                    }
                }
                return buffer
            }
        }
    }

    /// Samples from one row of counts to the next: rows are padded to four bytes.
    private var countStride: Int { (width &+ 1) & ~1 }

    private func withCounts(
        _ frame: BufferRef, _ body: (UnsafeMutableBufferPointer<UInt16>) -> BufferRef?
    ) -> BufferRef? {
        var map = GstMapInfo()
        guard
            gst_buffer_map(frame.pointer, &map, GstMapFlags(rawValue: GST_MAP_READ.rawValue | GST_MAP_WRITE.rawValue))
                != 0
        else { return nil }
        defer { gst_buffer_unmap(frame.pointer, &map) }
        let bytes = UnsafeMutableRawBufferPointer(start: map.data, count: Int(clamping: map.size))
        guard bytes.count >= countStride &* height &* 2 else { return nil }
        return body(bytes.assumingMemoryBound(to: UInt16.self))
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
