// All that the drivers need of the C library: the only file that another platform changes.
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A shared object that is loaded while the program runs. It stays loaded: its threads may outlive their user.
package struct DynamicLibrary: @unchecked Sendable {  // guard: the handle is only passed to dlsym, which locks
    private let handle: UnsafeMutableRawPointer
    package let name: String

    /// Loads the first of the names that is found.
    ///
    /// - Parameter sharesSymbols: true where libraries that are loaded later find their symbols in this one.
    /// - Throws: `CameraError.libraryMissing` with the system's words for each name.
    package init(anyOf names: [String], sharesSymbols: Bool = false) throws(CameraError) {
        var faults: [String] = []
        for name in names {
            if let handle = dlopen(name, RTLD_LAZY | (sharesSymbols ? RTLD_GLOBAL : RTLD_LOCAL)) {
                (self.handle, self.name) = (handle, name)
                return
            }
            faults.append(dlerror().map { String(cString: $0) } ?? name)
        }
        throw .libraryMissing(faults.joined(separator: "; "))
    }

    /// A function of the library.
    ///
    /// - Parameter type: its C type, `@convention(c)`.
    /// - Throws: `CameraError.libraryUnsuitable` where there is none of that name.
    package func function<Function>(_ symbol: String, as type: Function.Type = Function.self) throws(CameraError)
        -> Function
    {
        guard let address = dlsym(handle, symbol) else {
            throw .libraryUnsuitable("\(name) has no function \(symbol)")
        }
        return unsafeBitCast(address, to: type)
    }
}

/// The size of a file in bytes; nil where it cannot be read.
func size(ofFile path: String) -> Int? {
    guard let file = fopen(path, "rb") else { return nil }
    defer { fclose(file) }
    guard fseeko(file, 0, SEEK_END) == 0 else { return nil }
    return Int(clamping: ftello(file))
}
