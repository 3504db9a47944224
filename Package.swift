// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
]

let kernels: [SwiftSetting] = strict + [.strictMemorySafety()]

let package = Package(
    name: "gst-depthmatte",
    targets: [
        .target(name: "DepthKernels", swiftSettings: kernels),
        .target(name: "DepthScene", dependencies: ["DepthKernels"], swiftSettings: kernels),
        .target(
            name: "TestSupport", dependencies: ["DepthKernels"], path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(
            name: "DepthKernelsTests", dependencies: ["DepthKernels", "TestSupport"],
            exclude: ["Golden"], swiftSettings: strict),
        .testTarget(
            name: "DepthSceneTests", dependencies: ["DepthKernels", "DepthScene"], swiftSettings: strict),
    ],
    cLanguageStandard: .c11
)
