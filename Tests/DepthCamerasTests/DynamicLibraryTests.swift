import DepthCameras
import Testing

@Suite struct DynamicLibraryTests {
    @Test func `a library that is not there is named in the error`() {
        let names = ["libnot-there-1.so", "libnot-there-2.so"]
        expectError(CameraError.libraryMissing, names[0], names[1]) { _ = try DynamicLibrary(anyOf: names) }
    }

    @Test func `a function is found and can be called`() throws {
        let library = try DynamicLibrary(anyOf: ["libnot-there-1.so", "libm.so.6"])
        let cosine = try library.function("cos", as: (@convention(c) (Double) -> Double).self)
        #expect(cosine(0) == 1)
        #expect(throws: CameraError.libraryUnsuitable("libm.so.6 has no function rs2_nothing")) {
            try library.function("rs2_nothing", as: (@convention(c) () -> Void).self)
        }
    }
}
