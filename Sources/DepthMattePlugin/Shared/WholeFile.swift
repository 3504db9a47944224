#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Why a file could not be written, as a sentence for the user.
package struct FileFault: Error, Equatable {
    package let reason: String
}

/// Writes a file whole or not at all.
///
/// The bytes go to a new file in the same folder, from there to the disk, and only then, in one step, to the name that
/// was asked for: whoever opens that name finds what was there before or all of the new file. On a fault the new file is
/// removed again. A name that is there already must be that of a regular file.
package func writeWhole(_ bytes: [UInt8], to path: String) throws(FileFault) {
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
        throw FileFault(reason: "\(path): not a regular file")
    }
    let (descriptor, draft) = try newFile(beside: path)
    var isOpen = true
    do throws(FileFault) {
        try write(bytes, to: descriptor, for: path)
        guard fsync(descriptor) == 0 else { throw lastFault(path) }
        isOpen = false
        guard close(descriptor) == 0, rename(draft, path) == 0 else { throw lastFault(path) }
    } catch {
        if isOpen { close(descriptor) }
        unlink(draft)
        throw error
    }
}

/// Makes a file that was not there, hidden, in the same folder.
private func newFile(beside path: String) throws(FileFault) -> (descriptor: CInt, name: String) {
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    while true {
        let name = "\(folder).\(String(UInt64.random(in: 0...UInt64.max), radix: 36)).part"
        let descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        if descriptor >= 0 { return (descriptor, name) }
        guard errno == EEXIST || errno == EINTR else { throw lastFault(path) }
    }
}

private func write(_ bytes: [UInt8], to descriptor: CInt, for path: String) throws(FileFault) {
    var done = 0
    while done < bytes.count {
        let count = bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { write(descriptor, $0 + done, bytes.count - done) } ?? 0
        }
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { throw lastFault(path) }
        done += count
    }
}

/// What went wrong last.
private func lastFault(_ path: String) -> FileFault {
    FileFault(reason: "\(path): \(String(cString: strerror(errno)))")
}
