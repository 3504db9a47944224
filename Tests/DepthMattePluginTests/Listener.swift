#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A port of this machine that takes connections and never says anything.
final class Listener {
    private let descriptor: CInt
    let port: Int

    init?() {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isListening = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        guard isListening, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// How many wait to be taken now.
    var connections: Int {
        var count = 0
        while case let connection = accept(descriptor, nil, nil), connection >= 0 {
            close(connection)
            count += 1
        }
        return count
    }
}
