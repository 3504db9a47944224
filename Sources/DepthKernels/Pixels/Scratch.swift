/// Memory that is kept from frame to frame, so that a steady stream allocates nothing.
@safe
struct Scratch<Element: BitwiseCopyable>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>?
    private var capacity = 0

    init() {
        unsafe base = nil
    }

    deinit {
        unsafe base?.deallocate()
    }

    /// Makes room for `count` elements and returns the first of them.
    ///
    /// The memory is aligned to a cache line, so that no vector straddles two lines.
    ///
    /// When the memory grows, every element becomes `filler`; otherwise the elements keep their values. A loop may
    /// therefore read elements that it has not written, but never uninitialised memory.
    @inline(never)
    mutating func reserve(_ count: Int, filler: Element) -> UnsafeMutablePointer<Element> {
        if let base = unsafe base, count <= capacity { return unsafe base }
        unsafe base?.deallocate()
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: max(count, 1) * MemoryLayout<Element>.stride, alignment: 64)
        let grown = unsafe memory.bindMemory(to: Element.self, capacity: max(count, 1))
        unsafe grown.initialize(repeating: filler, count: max(count, 1))
        unsafe base = grown
        capacity = max(count, 1)
        return unsafe grown
    }
}
