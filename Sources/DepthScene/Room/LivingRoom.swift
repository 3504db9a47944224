/// A point of the living room: metres right of the camera, above the floor, and ahead.
private typealias Place = SIMD3<Float>

/// A living room: back and side wall, floor, ceiling, sofa and table. The camera is 1.45 m above the floor and looks down by
/// 10 degrees.
extension Drawing {
    mutating func addLivingRoom() {
        reflectance = 0.7  // No source: chosen as that of the persons.
        let (wood, cloth) = (Color.rgb(0x8a6d4f), Color.rgb(0x55707c))
        addFacet([-16, 2.7, 4.2], [16, 2.7, 4.2], [-16, 0, 4.2], .rgb(0xb9cfcd))
        addFacet([-16, 2.7, 0.4], [16, 2.7, 0.4], [-16, 2.7, 4.2], .rgb(0xe4e9e6))
        addFacet([-16, 0, 4.2], [16, 0, 4.2], [-16, 0, 0.3], .rgb(0xa3a797))
        addFacet([1.5, 2.7, 4.2], [1.5, 2.7, 0.4], [1.5, 0, 4.2], .rgb(0x9db8ba))
        // The sofa: back, seat and front.
        addFacet([-1.45, 0.85, 3.65], [0.15, 0.85, 3.65], [-1.45, 0.45, 3.65], cloth)
        addFacet([-1.45, 0.45, 3.65], [0.15, 0.45, 3.65], [-1.45, 0.45, 3.1], cloth.lighter(0.12))
        addFacet([-1.45, 0.45, 3.1], [0.15, 0.45, 3.1], [-1.45, 0, 3.1], cloth.darker(0.25))
        // The table: top and front.
        addFacet([-1.25, 0.42, 2.75], [-0.65, 0.42, 2.75], [-1.25, 0.42, 2.35], wood.lighter(0.15))
        addFacet([-1.25, 0.42, 2.35], [-0.65, 0.42, 2.35], [-1.25, 0, 2.35], wood.darker(0.2))
    }

    /// A parallelogram of three corners, the first of them between the others.
    private mutating func addFacet(_ corner: Place, _ right: Place, _ down: Place, _ color: Color) {
        let focal = Drawing.sceneWidth / 2 / Scene.tangent(ofHalf: Scene.layoutLens)
        let (cosine, sine): (Float, Float) = (0.98481, 0.17365)
        let places = [corner, right, right + down - corner, down].map { place in
            let drop = 1.45 - place.y
            let depth = place.z * cosine + drop * sine
            let seen = Point(place.x, drop * cosine - place.z * sine) * (focal / depth)
            return (point: seen + Point(Drawing.sceneWidth, 1) / 2, nearness: 1 / depth)
        }
        let pixels = places.map { toPixels($0.point) }
        let across = Affine(x: pixels[1] - pixels[0], y: pixels[3] - pixels[0], origin: pixels[0]).inverse
        // The inverse of the depth of a plane is linear in the picture.
        func nearness(at p: Point) -> Float {
            let (q, first) = (across(p), places[0].nearness)
            return first + q.x * (places[1].nearness - first) + q.y * (places[3].nearness - first)
        }
        let start = nearness(at: [0, 0])
        let ramp = Ramp(start: start, acrossX: nearness(at: [1, 0]) - start, downY: nearness(at: [0, 1]) - start)
        fill(.outline, Shape(places.map(\.point)), with: .flat(color), relief: .facet(ramp))
    }
}
