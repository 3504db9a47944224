// swift-tools-version: 6.2
import PackageDescription

// CI sets this: a warning of a newer compiler is no reason for a user's build to fail.
let warnings: [SwiftSetting] =
    Context.environment["DEPTHMATTE_WARNINGS_AS_ERRORS"] == "1" ? [.treatAllWarnings(as: .error)] : []

let strict: [SwiftSetting] =
    warnings + [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
    ]

// Without the modules that are imported unasked, the library holds neither regular expressions (1.4 MB) nor tasks.
let shipped: [SwiftSetting] =
    strict + [
        .unsafeFlags([
            "-Xfrontend", "-disable-implicit-string-processing-module-import",
            "-Xfrontend", "-disable-implicit-concurrency-module-import",
        ])
    ]

// In the targets that call C, nearly every call of GStreamer and of a camera's library would need the mark `unsafe`: 2963
// places with Swift 6.3. A mark that is everywhere shows nothing. What they map is handed on as planes, which are checked.
let kernels: [SwiftSetting] = shipped + [.strictMemorySafety()]

// A square root is an instruction, and sets no error number.
let loops: [SwiftSetting] = kernels + [.unsafeFlags(["-Xcc", "-fno-math-errno"])]

// valgrind 3.19 cannot read the DWARF 5 that clang writes by itself; what swiftc writes is DWARF 4.
let c: [CSetting] = [.unsafeFlags(["-gdwarf-4"])]

// This manifest runs on the machine that builds. A build for another processor names that, as uname -m would there.
#if arch(x86_64)
    let builder = "x86_64"
#else
    let builder = "other"
#endif
let processor = Context.environment["DEPTHMATTE_PROCESSOR"] ?? builder

// For Sources/DepthLoopsV3, a link to Sources/DepthLoops: the same loops for processors with wider vectors.
let wide: [SwiftSetting] = processor == "x86_64" ? [.unsafeFlags(["-Xcc", "-march=x86-64-v3"])] : []

/// The elements' pages lie beside their code.
let pages =
    ["README.md"]
    + [
        "DepthAlign", "DepthCamSrc", "DepthCloud", "DepthColorize", "DepthMatte", "DepthPack", "DepthTestSrc",
        "DepthUnpack",
    ].map {
        "\($0)/README.md"
    }

/// Only Tests/fuzz.sh builds it: its main function is libFuzzer's.
let fuzzer: [Target] =
    Context.environment["DEPTHMATTE_FUZZ"] == "1"
    ? [
        .executableTarget(
            name: "fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz",
            swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
    ] : []

let package = Package(
    name: "gst-depthmatte",
    products: [
        .library(name: "gstdepthmatte", type: .dynamic, targets: ["gstdepthmatte"])
    ],
    targets: [
        .systemLibrary(
            name: "CGStreamer", pkgConfig: "gstreamer-video-1.0",
            providers: [.apt(["libgstreamer-plugins-base1.0-dev"]), .brew(["gstreamer"])]),
        .target(name: "CGStreamerShims", dependencies: ["CGStreamer"], cSettings: c),
        .target(name: "CDepthMatte", dependencies: ["CGStreamer"], cSettings: c),
        .target(name: "CDepthKernels", cSettings: c),
        .target(name: "DepthLoops", dependencies: ["CDepthKernels"], swiftSettings: loops),
        .target(name: "DepthLoopsV3", dependencies: ["CDepthKernels"], swiftSettings: loops + wide),
        .target(
            name: "DepthKernels", dependencies: ["CDepthKernels", "DepthLoops", "DepthLoopsV3"],
            swiftSettings: kernels),
        .systemLibrary(name: "CCameras"),
        .target(
            name: "DepthCameras", dependencies: ["CDepthKernels", "CCameras", "DepthKernels"],
            swiftSettings: shipped),
        .target(name: "DepthScene", dependencies: ["DepthKernels"], swiftSettings: kernels),
        .target(
            name: "GstBridge", dependencies: ["CGStreamer", "CGStreamerShims", "CDepthKernels", "DepthKernels"],
            swiftSettings: shipped),
        .target(
            name: "DepthAggregator", dependencies: ["CGStreamer", "GstBridge"], swiftSettings: shipped),
        .target(
            name: "DepthMattePlugin",
            dependencies: [
                "CDepthMatte", "CGStreamer", "CGStreamerShims", "DepthAggregator", "DepthCameras", "DepthKernels",
                "DepthScene", "GstBridge",
            ],
            exclude: pages,
            swiftSettings: shipped),
        // The shipped library: the plugin's descriptor, and the linking that makes it self-contained.
        .target(
            name: "gstdepthmatte", dependencies: ["CDepthMatte", "DepthMattePlugin"], cSettings: c,
            linkerSettings: [
                .unsafeFlags(
                    [
                        "-static-stdlib", "-no-toolchain-stdlib-rpath",
                        "-Xlinker", "--version-script=\(Context.packageDirectory)/Sources/gstdepthmatte/exports.map",
                    ], .when(platforms: [.linux]))
            ]),
        // The timing program; no test links it, and it feeds elements as the tests do.
        .executableTarget(
            name: "depthbench",
            dependencies: [
                "CDepthKernels", "CGStreamer", "DepthKernels", "DepthMattePlugin", "GstBridge", "GstTestSupport",
                "TestSupport",
            ],
            swiftSettings: strict),

        // Tests and what they share.
        .systemLibrary(name: "CGStreamerCheck", path: "Tests/CGStreamerCheck", pkgConfig: "gstreamer-check-1.0"),
        .target(name: "AllocationCounter", path: "Tests/AllocationCounter"),
        .target(name: "SystemFaults", path: "Tests/SystemFaults"),
        .target(name: "CStreamRules", dependencies: ["CGStreamer"], path: "Tests/CStreamRules"),
        .target(
            name: "TestSupport", dependencies: ["DepthKernels", "DepthScene"], path: "Tests/TestSupport",
            swiftSettings: strict),
        .target(
            name: "GstTestSupport",
            dependencies: [
                "CDepthMatte", "CGStreamer", "CGStreamerShims", "CStreamRules", "DepthKernels", "DepthMattePlugin",
                "GstBridge",
            ],
            path: "Tests/GstTestSupport", swiftSettings: strict),
        .testTarget(
            name: "DepthKernelsTests",
            dependencies: ["AllocationCounter", "DepthKernels", "DepthLoops", "TestSupport"],
            exclude: ["Golden"], swiftSettings: strict),
        .testTarget(
            name: "DepthCamerasTests",
            dependencies: ["DepthCameras", "DepthKernels", "SystemFaults", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "DepthSceneTests", dependencies: ["DepthKernels", "DepthScene"], swiftSettings: strict),
        .testTarget(
            name: "GstBridgeTests",
            dependencies: ["CGStreamer", "GstBridge", "GstTestSupport"], swiftSettings: strict),
        .testTarget(
            name: "DepthMattePluginTests",
            dependencies: [
                "AllocationCounter", "CGStreamer", "CGStreamerCheck", "CStreamRules", "DepthCameras", "DepthKernels",
                "DepthMattePlugin",
                "GstBridge", "GstTestSupport", "SystemFaults", "TestSupport",
            ],
            swiftSettings: strict),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "CGStreamer", "CGStreamerShims", "DepthCameras", "DepthKernels", "DepthMattePlugin", "GstBridge",
                "GstTestSupport",
            ],
            path: "Tests/FuzzTargets", swiftSettings: strict),
        .testTarget(
            name: "FuzzTests", dependencies: ["FuzzTargets", "GstTestSupport"], exclude: ["seeds"],
            swiftSettings: strict),
        .testTarget(
            name: "PipelineTests", dependencies: ["DepthKernels", "GstBridge", "GstTestSupport", "TestSupport"],
            swiftSettings: strict),
    ] + fuzzer,
    cLanguageStandard: .c11
)
