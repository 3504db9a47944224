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
    /// therefore read elements that it has not written, but never uninitialised memory. Without a filler only elements may be
    /// read that were written: the system gives memory for these alone.
    @inline(never)
    mutating func reserve(_ count: Int, filler: Element? = nil) -> UnsafeMutablePointer<Element> {
        if let base = unsafe base, count <= capacity { return unsafe base }
        block = nil  // before the larger one is asked for
        let room = max(count, 1)
        let grown = MemoryBlock(bytes: room * MemoryLayout<Element>.stride)
        let memory = unsafe grown.start.bindMemory(to: Element.self, capacity: room)
        if let filler { unsafe memory.initialize(repeating: filler, count: room) }
        block = consume grown
        unsafe base = memory
        capacity = room
        return unsafe memory
    }
}

/// A list whose memory is asked for as a whole, for the most elements that it can come to have, before it is filled: what a
/// map shows does not make it grow.
@safe
struct ScratchList<Element: BitwiseCopyable>: ~Copyable {
    private var memory = Scratch<Element>()
    // No optional and no buffer: where an element of one is changed in place, ThreadSanitizer's build ends with LLVM's error
    // "Invalid bitcast" (Swift 6.3).
    private var start: UnsafeMutablePointer<Element>
    /// The number of elements for which there is room.
    private(set) var most = 0
    private(set) var count = 0

    /// An empty list takes no memory.
    init() { unsafe start = UnsafeMutablePointer(bitPattern: MemoryLayout<Element>.alignment).unsafelyUnwrapped }

    var indices: Range<Int> { unsafe Range(uncheckedBounds: (0, count)) }

    /// The elements, until the list changes.
    var elements: Elements { unsafe Elements(start: start, endIndex: count) }

    @safe
    struct Elements: RandomAccessCollection {
        fileprivate let start: UnsafeMutablePointer<Element>
        let endIndex: Int
        var startIndex: Int { 0 }
        subscript(index: Int) -> Element { unsafe start[index] }
    }

    /// Removes all elements, and makes room for `most` others; what does not fit is left out.
    mutating func removeAll(most: Int) {
        unsafe start = memory.reserve(most)
        (self.most, count) = (most, 0)
    }

    mutating func removeAll() { count = 0 }

    mutating func removeAll(where isRemoved: (Element) -> Bool) {
        var kept = 0
        for index in indices where !isRemoved(self[index]) {
            self[kept] = self[index]
            kept &+= 1
        }
        count = kept
    }

    @inline(__always)
    mutating func append(_ element: Element) {
        guard count < most else { return }
        count &+= 1
        self[count &- 1] = element
    }

    subscript(index: Int) -> Element {
        @inline(__always) get { unsafe start[index] }
        @inline(__always) _modify { yield unsafe &start[index] }
    }
}

extension ScratchList where Element: Comparable {
    /// Sorts the elements in place (heapsort): the standard library's sort takes memory.
    mutating func sort() {
        var (start, end) = (count / 2, count)
        while end > 1 {
            if start > 0 { start &-= 1 } else { end &-= 1 }
            if start == 0, end < count { (self[0], self[end]) = (self[end], self[0]) }
            var (place, child) = (start, 2 &* start &+ 1)
            while child < end {
                if child &+ 1 < end, self[child] < self[child &+ 1] { child &+= 1 }
                guard self[place] < self[child] else { break }
                (self[place], self[child]) = (self[child], self[place])
                (place, child) = (child, 2 &* child &+ 1)
            }
        }
    }
}
