import DepthCameras
import Testing

@Suite struct DynamicLibraryTests {
    @Test func `a library that is not there is named in the error`() {
        #expect {
            _ = try DynamicLibrary(anyOf: ["libnot-there-1.so", "libnot-there-2.so"])
        } throws: { error in
            guard case .libraryMissing(let sentence)? = error as? CameraError else { return false }
            return sentence.contains("libnot-there-1.so") && sentence.contains("libnot-there-2.so")
        }
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
