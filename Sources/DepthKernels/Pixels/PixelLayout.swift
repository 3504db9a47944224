/// The planes of a video format: for each of them the pixels that share a sample, and the bytes of a sample.
package struct PixelLayout: Equatable, Sendable {
    package let planes: [PlaneLayout]

    package init(_ planes: PlaneLayout...) { self.planes = planes }

    package init(planes: [PlaneLayout]) { self.planes = planes }

    /// Bytes of a row that belong to the picture, padding excluded; an incomplete last sample counts in full. 0 where
    /// the format has no such plane.
    package func rowBytes(plane: Int, width: Int) -> Int {
        guard planes.indices.contains(plane), width > 0 else { return 0 }
        let samples = groups(of: planes[plane].columnsPerSample, in: width)
        let (bytes, overflow) = samples.multipliedReportingOverflow(by: planes[plane].bytesPerSample)
        return overflow ? .max : bytes
    }

    /// Rows of a plane; an incomplete last row of samples counts in full. 0 where the format has no such plane.
    package func rows(plane: Int, height: Int) -> Int {
        guard planes.indices.contains(plane), height > 0 else { return 0 }
        return groups(of: planes[plane].rowsPerSample, in: height)
    }

    /// True where a picture has every plane of the layout, each large enough for a picture of this size.
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
