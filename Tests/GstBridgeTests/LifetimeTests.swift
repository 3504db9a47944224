import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// The Swift half lives exactly as long as the GObject.
@Suite struct LifetimeTests {
    @Test(arguments: PropertyTests.factories)
    func `the swift half goes with the last reference to the element`(factory: String) {
        let element = makeElement(factory)
        weak let half: (any Element)? = swiftElement(element)
        #expect(half != nil)
        gst_object_unref(element)
        #expect(half == nil)
    }
}
