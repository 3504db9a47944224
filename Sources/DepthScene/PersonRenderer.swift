import DepthKernels

/// The pattern `person`: the room from the cache, and the person over it.
extension SceneRenderer {
    func drawPersonVideo(seconds: Double, into plane: MutablePlane) {
        prepareRoomPixels()
        picture.removeAll()
        Person(seed: scene.seed, seconds: seconds).draw(in: &picture)
        for row in 0..<height {
            let start = row &* width
            plane.copy(roomPixels, from: start, count: width, toRow: row)
            for column in composer.paintRow(row, of: &picture) {
                let pixel = composer.pixels[column]
                guard pixel.w > 0 else { continue }
                let room = Colour(roomPixels[start &+ column])
                let mixed = pixel + room * (1 - pixel.w)
                plane.store(mixed.opacity(255).bytes, row, column)
            }
        }
    }

    func drawPersonMatte(seconds: Double, into plane: MutablePlane) {
        outlines.removeAll()
        Person(seed: scene.seed, seconds: seconds).draw(in: &outlines)
        for row in 0..<height {
            let touched = composer.coverRow(row, of: &outlines)
            for column in 0..<touched.lowerBound { plane.store(UInt8.zero, row, column) }
            for column in touched {
                let alpha = (1 - composer.uncovered[column]) * 255 + 0.5
                plane.store(UInt8(truncatingIfNeeded: Numeric.integer(alpha, 0, 255)), row, column)
            }
            for column in touched.upperBound..<width { plane.store(UInt8.zero, row, column) }
        }
    }

    func drawPersonDepth(seconds: Double, faults: DepthFaults, into plane: MutablePlane) {
        prepareRoomDepth()
        outlines.removeAll()
        Person(seed: scene.seed, seconds: seconds).draw(in: &outlines)
        for row in 0..<height {
            let start = row &* width
            for column in 0..<width { samples[column] = roomDepth[start &+ column] }
            measureRow(row, of: &outlines)
            if !faults.isNone { faults.apply(to: &samples, count: width, row: row) }
            plane.copy(samples, from: 0, count: width, toRow: row)
        }
    }

    /// Puts the depth of a drawing's outlines over what is in `samples`.
    private func measureRow(_ row: Int, of drawing: inout Drawing) {
        for index in drawing.layers.indices where drawing.layers[index].rows.contains(row) {
            Scanner.enter(row: row, layer: index, of: &drawing)
            if let relief = drawing.layers[index].relief {
                scanner.forEachInnerRun(row: row, layer: index, of: drawing) { columns in
                    relief.forEachPixel(of: columns, row: row) { samples[$0] = $1 }
                }
            }
            Scanner.leave(row: row, layer: index, of: &drawing)
        }
    }

    // MARK: The room, once

    private func prepareRoomPixels() {
        guard roomPixels.isEmpty else { return }
        roomPixels.reserveCapacity(width &* height)
        picture.removeAll()
        Room().draw(in: &picture)
        for row in 0..<height {
            _ = composer.paintRow(row, of: &picture)
            for column in 0..<width {
                roomPixels.append((composer.pixels[column] + Room.dither(column, row)).opacity(255).bytes)
            }
        }
    }

    private func prepareRoomDepth() {
        guard roomDepth.isEmpty else { return }
        roomDepth.reserveCapacity(width &* height)
        outlines.removeAll()
        Room().draw(in: &outlines)
        for row in 0..<height {
            for column in 0..<width { samples[column] = Room.farthestDepth }
            measureRow(row, of: &outlines)
            roomDepth.append(contentsOf: samples)
        }
    }
}
