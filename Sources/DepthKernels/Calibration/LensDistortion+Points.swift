extension LensDistortion {
    /// k1, k2, p1, p2, k3, k4, k5, k6.
    var coefficients: [Double] { [k1, k2, p1, p2, k3, k4, k5, k6] }

    /// The formula of the type's comment. Points are in units of the focal length.
    func applied(to point: SIMD2<Double>) -> SIMD2<Double> {
        let r2 = (point * point).sum()
        let d = radial(r2)
        let xy = 2 * point.x * point.y
        return SIMD2(
            point.x * d + p1 * xy + p2 * (r2 + 2 * point.x * point.x),
            point.y * d + p2 * xy + p1 * (r2 + 2 * point.y * point.y))
    }

    private func radial(_ r2: Double) -> Double {
        LensDistortion.radial(r2, (k1, k2, k3), (k4, k5, k6))
    }

    /// The point that the formula maps to this one; nil where there is none.
    ///
    /// By repeated division (OpenCV's `undistortPoints`): each step corrects the point by the distortion at its last place.
    func solved(for point: SIMD2<Double>) -> SIMD2<Double>? {
        if isNone { return point }
        var solution = point
        for _ in 0..<100 {
            let error = applied(to: solution) - point
            if (error * error).sum() < 1e-20 { return inside(solution) }
            let r2 = (solution * solution).sum()
            let d = radial(r2)
            guard d.isFinite, abs(d) > 1e-9 else { return nil }
            solution -= error / d
            guard solution.x.isFinite, solution.y.isFinite else { return nil }
        }
        return nil
    }

    private func inside(_ point: SIMD2<Double>) -> SIMD2<Double>? {
        (point * point).sum() <= largestRadiusSquared ? point : nil
    }

    /// A point as the lens shows it; nil where it shows none.
    func distorted(_ point: SIMD2<Double>) -> SIMD2<Double>? {
        isInverse ? solved(for: point) : inside(point).map(applied)
    }

    /// The point that the lens shows at a place; nil where it shows none.
    func undistorted(_ point: SIMD2<Double>) -> SIMD2<Double>? {
        isInverse ? inside(point).map(applied) : solved(for: point)
    }
}

extension CameraIntrinsics {
    /// The same camera with a picture of another size.
    package func scaled(toWidth width: Int, height: Int) -> CameraIntrinsics {
        guard self.width > 0, self.height > 0 else { return self }
        let (x, y) = (Double(width) / Double(self.width), Double(height) / Double(self.height))
        // Pixel centers are at whole numbers, so that edges are half a pixel off them.
        return CameraIntrinsics(
            width: width, height: height, fx: fx * x, fy: fy * y, cx: (cx + 0.5) * x - 0.5, cy: (cy + 0.5) * y - 0.5,
            distortion: distortion)
    }

    /// The direction of a pixel, x and y at z = 1; nil where the lens shows nothing there.
    func ray(column: Double, row: Double) -> SIMD2<Double>? {
        distortion.undistorted(SIMD2((column - cx) / fx, (row - cy) / fy))
    }
}
