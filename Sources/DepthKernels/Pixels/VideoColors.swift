/// The color components of a video format: the color model, and the position of each component's bytes.
package struct VideoColors: Equatable, Sendable {
    /// The meaning of the components, in their order.
    package enum Model: Equatable, Sendable {
        /// Red, green, blue.
        case rgb
        /// Luma and the two color differences; luma from 16 to 235 where the range is limited.
        case yuv(isLimited: Bool)
        /// Luma alone.
        case gray(isLimited: Bool)
    }

    /// The bytes of one component.
    package struct Component: Equatable, Sendable {
        let plane: Int
        /// Byte offset of the first sample in a row.
        let offset: Int
        /// Bytes from one sample to the next.
        let step: Int
        /// Binary logarithms of the number of pixels that share a sample, along a row and along a column.
        let shiftX: Int
        let shiftY: Int

        package init(plane: Int, offset: Int, step: Int, shiftX: Int, shiftY: Int) {
            self.plane = plane
            self.offset = offset
            self.step = step
            self.shiftX = shiftX
            self.shiftY = shiftY
        }
    }

    package let model: Model
    /// Three; one for gray.
    package let components: [Component]

    /// - Returns: nil where the number of components is not that of the model.
    package init?(_ model: Model, _ components: [Component]) {
        switch model {
        case .rgb, .yuv: guard components.count == 3 else { return nil }
        case .gray: guard components.count == 1 else { return nil }
        }
        self.model = model
        self.components = components
    }

    /// True where every byte of a picture of that size lies in the planes.
    func fits(_ planes: Planes<Plane>, width: Int, height: Int) -> Bool {
        components.allSatisfy { component in
            guard let plane = planes[component.plane] else { return false }
            let last = component.offset + (width - 1) >> component.shiftX * component.step
            return last < plane.rowBytes && (height - 1) >> component.shiftY < plane.rows
        }
    }
}
