/// The planes of a video format, seen from its matte.
package struct PixelLayout: Equatable, Sendable {
    package let planes: [PlaneLayout]

    package init(_ planes: PlaneLayout...) { self.planes = planes }

    package init(planes: [PlaneLayout]) { self.planes = planes }

    /// Bytes of a row that belong to the picture; a last sample that is not full counts whole. 0 for no such plane.
    package func rowBytes(plane: Int, width: Int) -> Int {
        guard planes.indices.contains(plane), width > 0 else { return 0 }
        let samples = groups(of: planes[plane].columnsPerSample, in: width)
        let (bytes, overflow) = samples.multipliedReportingOverflow(by: planes[plane].bytesPerSample)
        return overflow ? .max : bytes
    }

    /// Rows of a plane; a last row that is not full counts whole. 0 for no such plane.
    package func rows(plane: Int, height: Int) -> Int {
        guard planes.indices.contains(plane), height > 0 else { return 0 }
        return groups(of: planes[plane].rowsPerSample, in: height)
    }

    /// Whether every plane of the layout is there and large enough for a picture of this size.
    package func fits(_ picture: Planes<Plane>, width: Int, height: Int) -> Bool {
        guard width > 0, height > 0, planes.allSatisfy({ $0.columnsPerSample.nonzeroBitCount == 1 }) else {
            return false
        }
        return planes.indices.allSatisfy { index in
            guard let plane = picture[index] else { return false }
            return plane.rowBytes >= rowBytes(plane: index, width: width)
                && plane.rows >= rows(plane: index, height: height)
        }
    }
}
