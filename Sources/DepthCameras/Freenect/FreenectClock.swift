/// The time of the Kinect's frames: a counter of 32 bits at 60 MHz, which both cameras share and which wraps every 71.6 s.
///
/// Source of the rate: libfreenect's driver for OpenNI2.
package struct FreenectClock {
    private var last: (ticks: Int64, host: Int64)?

    package init() {}

    /// The time of a frame in nanoseconds.
    ///
    /// Of all counts with these 32 bits, takes the one nearest to what the host's clock says has passed since the frame before.
    /// So a pause of any length is bridged, and a frame of the other camera may be older than the last one.
    ///
    /// - Parameter host: a monotonic clock, in nanoseconds.
    package mutating func nanoseconds(_ ticks: UInt32, host: Int64) -> Int64 {
        var unwrapped = Int64(ticks)
        if let last {
            let passed = min(max(host &- last.host, 0), 1 << 56)
            let expected = last.ticks &+ passed / 50 &* 3
            unwrapped = expected &+ Int64(Int32(bitPattern: ticks &- UInt32(truncatingIfNeeded: expected)))
        }
        last = (unwrapped, host)
        return unwrapped / 3 &* 50 &+ unwrapped % 3 &* 50 / 3
    }
}
