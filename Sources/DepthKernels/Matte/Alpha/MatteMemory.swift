/// The workers that share the rows of a frame.
typealias MatteBands = Bands<MatteMemory>

/// Scratch memory of one worker, for the stages of a matte and for the blend that reads it.
final class MatteMemory: BandMemory {
    /// Numbers of a filter: a row, with the kernel's reach beyond its ends.
    var line = Scratch<Float>()
    private var parts: [ObjectIdentifier: any MatteMemoryPart] = [:]

    /// The worker's object of a type, created on first use.
    func part<Part: MatteMemoryPart>(_ type: Part.Type) -> Part {
        if let part = parts[ObjectIdentifier(type)] as? Part { return part }
        let part = Part()
        parts[ObjectIdentifier(type)] = part
        return part
    }
}

/// Scratch memory of one kind, of which each worker has its own.
protocol MatteMemoryPart: AnyObject {
    init()
}
