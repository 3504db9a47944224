/// Memory that is kept from frame to frame, so that a steady stream allocates nothing.
@safe
struct Scratch<Element: BitwiseCopyable>: ~Copyable {
    private var block: MemoryBlock?
    private var base: UnsafeMutablePointer<Element>?
    private var capacity = 0

    init() {
        block = nil
        unsafe base = nil
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
        block = nil  // before the larger one is asked for
        let room = max(count, 1)
        let grown = MemoryBlock(bytes: room * MemoryLayout<Element>.stride)
        let memory = unsafe grown.start.bindMemory(to: Element.self, capacity: room)
        unsafe memory.initialize(repeating: filler, count: room)
        block = consume grown
        unsafe base = memory
        capacity = room
        return unsafe memory
    }
}
