// What the Swift runtime keeps in tables of the process: types, conformances, casts, errors, collections.

protocol Measured { var size: UInt64 { get } }

struct Small: Measured, Hashable { let size: UInt64 }

final class Large: Measured {
    let size: UInt64
    init(_ size: UInt64) { self.size = size }
}

struct Empty: Error {}

func measured(_ size: UInt64) throws -> any Measured {
    if size == 0 { throw Empty() }
    return size < 100_000 ? Small(size: size) : Large(size)
}

@_cdecl("second_take") public func take(_ size: UInt64) -> CInt {
    guard let found = try? measured(size) else { return 0 }
    let things: [Any] = [found, "\(found.size)", found.size]
    let isKnown = things[0] is any Measured && (things[0] is Small) != (things[0] is Large)
    return isKnown && things[1] as? String == String(size) && things[2] as? UInt64 == size ? 1 : 0
}
