import DepthKernels

/// Mattes of any depth map with any settings: no trap, no byte beside a plane, and background where a limit is no number.
func fuzzMatte(_ input: inout FuzzInput) {
    let matte = Matte(loops: input.flag() ? bestLoops : baselineLoops)
    let (width, height) = (input.number(1...40), input.number(1...30))
    let colors = anyColors(&input)
    for number in 0..<input.number(1...3) {
        let settings = anySettings(&input)
        let depth = anyDepth(&input)
        let video = Block(input.pattern(width * height * 4))
        var planes = Planes<Plane>()
        guard let plane = video.plane(rowBytes: width * 4, rows: height) else { broken("the plane fits") }
        planes.append(plane.readOnly)
        let segmentation = input.flag() ? Block(input.pattern(6 * 5)) : nil
        let frame = MatteFrame(
            depth: depth.image,
            video: VideoPicture(planes: planes, layout: PixelLayout(.full(bytesPerSample: 4)), colors: colors),
            width: width, height: height, faces: anyBoxes(&input), people: anyBoxes(&input),
            segmentation: segmentation?.plane(rowBytes: 6, rows: 5)?.readOnly,
            time: input.seldom() ? nil : Int64(truncatingIfNeeded: input.seldom() ? input.word() : UInt64(number) << 25)
        )
        let isShown = matte.render(frame, settings)
        let alpha = matte.finished.alpha
        promise(alpha.rowBytes == width && alpha.rows == height)
        let report = matte.report
        promise((0...1).contains(report.coverage), "coverage \(report.coverage)")
        if !isShown {
            let rows = (0..<height).map { UnsafeRawBufferPointer(start: alpha.row($0), count: width) }
            promise(rows.allSatisfy { $0.allSatisfy { $0 == 0 } }, "the room shows without an anchor")
        }
        let blender = Blender(
            layout: PixelLayout(.full(bytesPerSample: 4)), colors: colors, width: width, height: height)
        var target = Planes<MutablePlane>()
        target.append(plane)
        let room = Block(count: width * height * 4)
        var background = Planes<Plane>()
        if let plane = room.plane(rowBytes: width * 4, rows: height) { background.append(plane.readOnly) }
        promise(blender.blend(video: target, background: background, alpha: alpha))
        if input.seldom() { matte.reset() }
        withExtendedLifetime((depth, video, segmentation, room)) {}
    }
}

/// Clouds of any depth map from any view, and their files.
func fuzzCloud(_ input: inout FuzzInput) {
    let depth = anyDepth(&input)
    let (width, height) = (depth.image.width, depth.image.height)
    let (colorWidth, colorHeight) = (input.number(1...24), input.number(1...24))
    let block = Block(input.pattern(colorWidth * colorHeight * 4))
    let placement = DepthReading(
        fit: input.choice(DepthFit.allCases), offsetX: input.double(), offsetY: input.double(), zoom: input.double()
    ).placement(depthWidth: width, depthHeight: height, videoWidth: colorWidth, videoHeight: colorHeight)
    let sensor = CloudSensor(
        width: width, height: height, fieldOfView: input.double(), fx: input.double(), fy: input.double(),
        cx: input.double(), cy: input.double())
    guard let plane = block.plane(rowBytes: colorWidth * 4, rows: colorHeight),
        let picture = CloudPicture(plane: plane.readOnly, placement: placement)
    else { broken("the plane fits") }
    var settings = CloudRenderer.Settings(sensor: sensor)
    settings.view.yaw = input.double()
    settings.view.pitch = input.double()
    settings.view.roll = input.double()
    settings.view.zoom = input.double()
    settings.fieldOfView = input.double()
    settings.pointSize = input.double()
    settings.alphaByte = input.choice([nil, 0, 3])
    let (outWidth, outHeight) = (input.number(1...40), input.number(1...30))
    let output = Block(count: outWidth * outHeight * 4)
    guard let target = output.plane(rowBytes: outWidth * 4, rows: outHeight) else { broken("it fits") }
    let scale = anyScale(&input)
    let renderer = CloudRenderer(loops: input.flag() ? bestLoops : baselineLoops)
    _ = renderer.draw(
        depth.image, scale: scale, colors: picture, settings: settings, into: target, width: outWidth,
        height: outHeight)
    let order = PixelOrder.rgba
    let file = PointCloudFile(depth.image, scale: scale, colors: picture, order: order, sensor: sensor)
    promise(file.points <= width * height && file.bytes.count >= file.points * 15)
    withExtendedLifetime((depth, block, output)) {}
}

// MARK: - Parts of frames

/// A depth map, with its memory.
struct AnyDepth {
    let block: Block
    let image: DepthImage
}

func anyDepth(_ input: inout FuzzInput) -> AnyDepth {
    let encoding = input.choice([DepthEncoding.gray8, .gray16LE, .gray16BE, .float32LE, .float16LE])
    let (width, height) = (input.number(1...32), input.number(1...24))
    let rowBytes = width * encoding.bytesPerSample
    var bytes = input.pattern(rowBytes * height)
    if input.flag() {
        // Something near in the middle, as a person is.
        for y in height / 4..<height {
            for x in width * rowBytes / 4 / width..<rowBytes * 3 / 4 { bytes[y * rowBytes + x] = UInt8(x & 1) &+ 1 }
        }
    }
    let block = Block(bytes)
    guard let plane = block.plane(rowBytes: rowBytes, rows: height),
        let image = DepthImage(plane: plane.readOnly, width: width, height: height, encoding: encoding)
    else { broken("the plane fits") }
    return AnyDepth(block: block, image: image)
}

func anyScale(_ input: inout FuzzInput) -> DepthScale {
    if !input.seldom(bits: 2) { return DepthScale() }
    return DepthScale(
        kind: input.choice(DepthScale.Kind.allCases), unit: input.double(), bias: input.double(),
        invalidCount: Int(truncatingIfNeeded: input.word(4)))
}

private func anySettings(_ input: inout FuzzInput) -> MatteSettings {
    var settings = MatteSettings()
    settings.method = input.choice([.fusion, .threshold])
    settings.anchor.mode = input.choice(AnchorMode.allCases)
    settings.mask = input.seldom(bits: 2) ? input.choice(MaskShape.allCases) : .cutoff
    settings.anchor.faceSelect = input.choice(FaceSelect.allCases)
    settings.subject = input.choice(SubjectChoice.allCases)
    settings.detail = input.choice(MatteDetail.allCases)
    settings.upscale = input.choice(Upscale.allCases)
    settings.depth.fit = input.choice(DepthFit.allCases)
    settings.depth.scale = anyScale(&input)
    settings.invert = input.flag()
    let numbers: [WritableKeyPath<MatteSettings, Double>] = [
        \.anchor.x, \.anchor.y, \.anchor.margin, \.anchor.smoothing, \.cutoff, \.near, \.featherNear, \.featherFar,
        \.focus, \.slope, \.width, \.blurRadius, \.gamma, \.settle, \.segmentationWeight, \.depth.offsetX,
        \.depth.offsetY, \.depth.zoom,
    ]
    for _ in 0..<input.number(0...6) { settings[keyPath: input.choice(numbers)] = input.double() }
    return settings
}

private func anyBoxes(_ input: inout FuzzInput) -> [Rectangle<Double>] {
    (0..<input.number(0...3)).map { _ in
        input.seldom(bits: 2)
            ? Rectangle(x: input.double(), y: input.double(), width: input.double(), height: input.double())
            : Rectangle(
                x: Double(input.byte()) / 4, y: Double(input.byte()) / 4, width: Double(input.byte()) / 8,
                height: Double(input.byte()) / 8)
    }
}

private func anyColors(_ input: inout FuzzInput) -> VideoColors? {
    let components = (0..<3).map { VideoColors.Component(plane: 0, offset: $0, step: 4, shiftX: 0, shiftY: 0) }
    return input.seldom(bits: 2) ? nil : VideoColors(input.flag() ? .rgb : .yuv(isLimited: true), components)
}
