// All that the drivers and the elements need of the C library. Another platform changes only this file.
import Synchronization

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
    /// - Parameters:
    ///   - sharesSymbols: true where libraries that are loaded later find their symbols in this one.
    ///   - use: the purpose of a library that another one needs, as "to play recordings".
    /// - Throws: `CameraError.libraryMissing` with the system's words for each name; `.libraryUnsuitable` with those for one that
    ///   is there and does not load, and where another library lacks this one.
    package init(anyOf names: [String], sharesSymbols: Bool = false, for use: String? = nil) throws(CameraError) {
        var faults: [String] = []
        var broken: String?
        for name in names {
            if let handle = dlopen(name, RTLD_LAZY | (sharesSymbols ? RTLD_GLOBAL : RTLD_LOCAL)) {
                (self.handle, self.name) = (handle, name)
                return
            }
            let fault = dlerror().map { String(cString: $0) } ?? name
            faults.append(fault)
            if broken == nil, !Self.isMissing(name, fault) { broken = "the library \(name) does not load: \(fault)" }
        }
        broken = broken ?? use.map { "\($0) it needs \(names.first ?? ""), which is missing" }
        throw broken.map { .libraryUnsuitable($0) } ?? .libraryMissing(faults.joined(separator: "; "))
    }

    /// True where the loader's words mean that there is no library of this name; false where it is there, but another one that it
    /// needs is missing, or it is none for this machine.
    private static func isMissing(_ name: String, _ fault: String) -> Bool {
        // The C libraries name what is not there, which may be another library, and musl whose need that was; dyld every place.
        let isOwn = fault.includes("\(name): ") && fault.includes(SystemFault(ENOENT).reason)
        return (isOwn || fault.includes("(no such file)"))
            && !["needed by", "Library not loaded", "mach-o"].contains { fault.includes($0) }
    }

    /// A function of the library.
    ///
    /// - Parameter type: its C type, `@convention(c)`.
    /// - Throws: `CameraError.libraryUnsuitable` where there is none of that name.
    package func function<Function>(_ symbol: String, as type: Function.Type = Function.self) throws(CameraError)
        -> Function
    {
        guard let address = dlsym(handle, symbol) else { throw missing(symbol) }
        return unsafeBitCast(address, to: type)
    }

    /// The functions of a table of `CCameras`.
    ///
    /// - Parameter symbols: the table's names, parted by spaces. A function whose name ends with a question mark may be missing.
    /// - Throws: `CameraError.libraryUnsuitable` where another one is missing.
    func functions<Table: BitwiseCopyable>(_ symbols: UnsafePointer<CChar>) throws(CameraError) -> Table {
        var addresses: [UnsafeMutableRawPointer?] = []
        for symbol in String(cString: symbols).split(separator: " ") {
            let isOptional = symbol.last == "?"
            let address = dlsym(handle, String(isOptional ? symbol.dropLast() : symbol))
            guard address != nil || isOptional else { throw missing(symbol) }
            addresses.append(address)
        }
        return addresses.withUnsafeBytes { $0.loadUnaligned(as: Table.self) }
    }

    private func missing(_ symbol: some StringProtocol) -> CameraError {
        .libraryUnsuitable("\(name) has no function \(symbol)")
    }

    /// The folder of the file that has a function; nil where the system does not tell.
    func folder(of symbol: String) -> String? {
        // The C library declares dladdr for programs of GNU only, but has it: the file's name is the first field of its result.
        var facts: (UnsafePointer<CChar>?, Int, Int, Int) = (nil, 0, 0, 0)
        let find = try? function(
            "dladdr", as: (@convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer) -> CInt).self)
        guard let find, let address = dlsym(handle, symbol), find(address, &facts) != 0, let name = facts.0 else {
            return nil
        }
        return String(cString: name).folder
    }
}

/// An object of a library's, deleted when nobody holds it.
final class LibraryObject: @unchecked Sendable {  // guard: for libraries that may be called on any thread
    let pointer: OpaquePointer
    private let delete: @Sendable (OpaquePointer) -> Void

    init(_ pointer: OpaquePointer, _ delete: @escaping @Sendable (OpaquePointer) -> Void) {
        self.pointer = pointer
        self.delete = delete
    }

    deinit { delete(pointer) }
}

extension String {
    /// The path of the folder that a file is in; nil for a name alone.
    var folder: String? { lastIndex(of: "/").map { String(self[..<$0]) } }

    /// The rest of the text behind the first occurrence of another one; nil where there is none. Swift's own search in texts
    /// would link its parser of regular expressions, a megabyte.
    func suffix(behind mark: String) -> String? {
        withCString { text in
            strstr(text, mark).map { String(cString: $0 + mark.utf8.count) }
        }
    }

    func includes(_ part: String) -> Bool { suffix(behind: part) != nil }
}

// MARK: Time

/// A clock that never jumps, in nanoseconds.
func monotonicTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
}

/// The moment of `monotonicTime` some milliseconds from now, an hour at most.
func deadline(milliseconds: Int) -> Int64 {
    monotonicTime() &+ Int64(min(max(milliseconds, 0), 3_600_000)) &* 1_000_000
}

/// - Parameter nanoseconds: not below 0.
func sleep(nanoseconds: Int64) {
    var interval = timespec()
    interval.tv_sec = .init(nanoseconds / 1_000_000_000)
    interval.tv_nsec = .init(nanoseconds % 1_000_000_000)
    nanosleep(&interval, nil)
}

// MARK: Threads

/// A thread that does one piece of work.
final class WorkThread {
    private let thread: pthread_t

    /// - Throws: `SystemFault` where the system gives no more threads; then nothing is done.
    init(_ body: @escaping @Sendable () -> Void) throws(SystemFault) { thread = try startThread(body) }

    /// Waits until the work is done.
    deinit { pthread_join(thread, nil) }
}

private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

@discardableResult
private func startThread(_ body: @escaping @Sendable () -> Void) throws(SystemFault) -> pthread_t {
    let work = Unmanaged.passRetained(Work(body))
    #if canImport(Glibc)
        var started = pthread_t()
    #else
        var started: pthread_t?
    #endif
    let fault = pthread_create(
        &started, nil,
        { data in
            // Optional or not, by platform.
            let data: UnsafeMutableRawPointer? = data
            if let data { Unmanaged<Work>.fromOpaque(data).takeRetainedValue().body() }
            return nil
        }, work.toOpaque())
    let thread: pthread_t? = fault == 0 ? started : nil
    guard let thread else {
        work.release()
        throw SystemFault(fault)
    }
    return thread
}

/// A thread that outlives its user, for a library that keeps the identity of every thread that called it, and asks for that
/// thread later, when it must still be there. Threads are used again, so that there are no more than users at one time.
final class LastingThread: Sendable {
    private static let idle = Mutex<[Worker]>([])
    private let worker: Worker

    /// - Throws: `SystemFault` where the system gives no more threads.
    init() throws(SystemFault) {
        worker = if let idle = LastingThread.idle.withLock({ $0.popLast() }) { idle } else { try Worker() }
    }

    deinit {
        let worker = worker
        LastingThread.idle.withLock { $0.append(worker) }
    }

    /// Runs something on the thread, and waits for it. One caller at a time, or the thread itself.
    func run<Value, Fault: Error>(_ body: @escaping () throws(Fault) -> Value) throws(Fault) -> Value {
        if worker.isCurrent { return try body() }
        while true {
            var result: Result<Value, Fault>?
            worker.perform {
                do throws(Fault) { result = .success(try body()) } catch { result = .failure(error) }
            }
            if let result { return try result.get() }
        }
    }

    private final class Worker: @unchecked Sendable {  // guard: every access to the variables holds `mutex`
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        private var work: (() -> Void)?
        private var isBusy = false
        private var identity: pthread_t?

        init() throws(SystemFault) {
            pthread_mutex_init(mutex, nil)
            pthread_cond_init(changed, nil)
            do throws(SystemFault) {
                try startThread { [self] in serve() }
            } catch {
                // Only here: the thread holds what it serves for ever.
                pthread_cond_destroy(changed)
                pthread_mutex_destroy(mutex)
                changed.deallocate()
                mutex.deallocate()
                throw error
            }
        }

        var isCurrent: Bool {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return identity.map { pthread_equal($0, pthread_self()) != 0 } ?? false
        }

        func perform(_ body: @escaping () -> Void) {
            pthread_mutex_lock(mutex)
            work = body
            isBusy = true
            pthread_cond_broadcast(changed)
            while isBusy { pthread_cond_wait(changed, mutex) }
            pthread_mutex_unlock(mutex)
        }

        private func serve() {
            pthread_mutex_lock(mutex)
            identity = pthread_self()
            while true {
                while !isBusy { pthread_cond_wait(changed, mutex) }
                let body = work.take()
                pthread_mutex_unlock(mutex)
                call(body)
                pthread_mutex_lock(mutex)
                isBusy = false
                pthread_cond_broadcast(changed)
            }
        }

        /// Consumes the work: what it holds is the caller's alone again when that goes on.
        @inline(never)
        private func call(_ body: consuming (() -> Void)?) { body?() }
    }
}

// MARK: The environment

/// A variable of the environment; nil where it is not set.
package func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

/// Sets what a camera's library can be told by the environment alone, unless the user has set it.
///
/// For the moment in which the plugin is loaded, on the application's thread: a change of the environment while another thread
/// reads it may end the program.
package func prepareEnvironment() {
    // The Azure Kinect's SDK writes its errors to the standard output, one for each look at a machine without a camera, and to
    // the handler that a program may set as well.
    setenv("K4A_ENABLE_LOG_TO_STDOUT", "0", 0)
}

// MARK: Files

/// The system's reason why something failed.
package struct SystemFault: Error {
    package let reason: String

    init(reason: String) { self.reason = reason }

    /// The reason of an error number; that of the call that just failed by default.
    fileprivate init(_ number: CInt = errno) { reason = String(cString: strerror(number)) }
}

/// A regular file that is open for reading.
package struct RegularFile: ~Copyable {
    private let descriptor: CInt
    /// The size in bytes, as far as the system knows: a file of the kernel's may have more.
    package let size: Int

    /// - Throws: `SystemFault` where there is no regular file that can be opened.
    package init(_ path: String) throws(SystemFault) {
        let opened = openForReading(path)
        guard opened >= 0 else { throw SystemFault() }
        var status = stat()
        let fault: SystemFault? = fstat(opened, &status) == 0 ? nil : SystemFault()
        guard fault == nil, status.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw fault ?? SystemFault(reason: "it is no regular file")
        }
        descriptor = opened
        size = max(0, Int(clamping: status.st_size))
    }

    deinit { close(descriptor) }

    /// Reads what stands at `start`, at most as much as the memory holds.
    ///
    /// - Returns: the number of bytes; 0 at the end.
    package func read(from start: Int, into memory: UnsafeMutableRawBufferPointer) throws(SystemFault) -> Int {
        let (count, error) = copy(from: start, into: memory)
        guard count >= 0 else { throw SystemFault(error) }
        return count
    }

    /// Reads what stands at `start`.
    ///
    /// - Returns: the bytes, `limit` at most; none at the end.
    func read(from start: Int, atMost limit: Int) throws(SystemFault) -> [UInt8] {
        var result: (count: Int, error: CInt) = (0, 0)
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { memory, initialized in
            result = copy(from: start, into: UnsafeMutableRawBufferPointer(memory))
            initialized = max(0, result.count)
        }
        guard result.count >= 0 else { throw SystemFault(result.error) }
        return bytes
    }

    /// The number of bytes that were read; -1, with the error's number, where they cannot be.
    private func copy(from start: Int, into memory: UnsafeMutableRawBufferPointer) -> (count: Int, error: CInt) {
        var count: Int
        repeat {
            count = pread(descriptor, memory.baseAddress, memory.count, off_t(start))
        } while count < 0 && errno == EINTR
        return (count, count < 0 ? errno : 0)
    }
}

/// The system's reason why a file or folder cannot be read; nil where it can.
func fault(reading path: String) -> SystemFault? {
    let opened = openForReading(path)
    guard opened >= 0 else { return SystemFault() }
    close(opened)
    return nil
}

private func openForReading(_ path: String) -> CInt {
    var opened: CInt
    // A FIFO is not waited for.
    repeat { opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) } while opened < 0 && errno == EINTR
    return opened
}

func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

/// The names in a folder, sorted; none where it cannot be read.
package func names(inFolder path: String) -> [String] {
    guard let folder = opendir(path), let start = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
        // An entry ends with its name: `d_name` as a whole, all 256 bytes of it, is not there to be copied.
        let name = String(cString: UnsafeRawPointer(entry).advanced(by: start).assumingMemoryBound(to: CChar.self))
        if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
}

package func closeFile(_ descriptor: CInt) { close(descriptor) }

/// Removes a file, if it is there.
package func removeFile(_ path: String) { unlink(path) }
