package import CGStreamer
import CGStreamerShims

/// The Swift half of one element: made with the C instance, released when GObject finalizes that.
///
/// GStreamer calls it from many threads; each member of a conforming type says what guards it. Every function here has a
/// default, which does what the parent class does.
package protocol Element: AnyObject, MessageSource {
    /// The C half. Not owned: it owns us.
    var instance: ElementPointer { get }

    /// The settings behind the element's properties.
    var properties: any PropertyAccess { get }

    /// The structure that a `StructureProperty` shows now; it passes to the caller. Any thread.
    func structure(_ property: String) -> StructurePointer?

    /// An application emits an action signal. Any thread; no lock is held.
    func perform(_ action: String)

    /// A property took its new value. Called on the setter's thread; no lock is held.
    func propertyChanged(_ name: String)

    /// Handles a change of state; `parent` runs the parent class's handler.
    func changeState(_ transition: GstStateChange, parent: () -> GstStateChangeReturn) -> GstStateChangeReturn

    /// The application sends an event to the element itself; `parent` takes it.
    func sendEvent(_ event: EventPointer, parent: EventHandler) -> Bool
}

extension Element {
    /// Tells whoever watches that the element changed a property of its own accord. Any thread; no lock may be held.
    package func notify(_ property: String) { g_object_notify(instance.cast(to: GObject.self), property) }

    package func structure(_ property: String) -> StructurePointer? { nil }

    package func propertyChanged(_ name: String) {}

    package func perform(_ action: String) {}

    package func changeState(
        _ transition: GstStateChange, parent: () -> GstStateChangeReturn
    ) -> GstStateChangeReturn { parent() }

    package func sendEvent(_ event: EventPointer, parent: EventHandler) -> Bool { parent(event) }
}

/// The definition of an element class: names, pads, properties, and the constructor of the Swift object of an instance.
package struct ElementDefinition: Sendable {
    package enum Parent: Sendable {
        case element, aggregator, transform

        var type: GType {
            switch self {
            case .element: gst_element_get_type()
            case .aggregator: gst_aggregator_get_type()
            case .transform: gst_base_transform_get_type()
            }
        }
    }

    package let typeName: String
    package let factory: String
    package let parent: Parent
    package let longName: String
    package let klass: String
    package let description: String
    /// The plugin's first version with the element, and with its properties that do not say another.
    package let since: String
    package let pads: [PadTemplate]
    package let presets: [Preset]
    /// The address of the element's page, if it is known.
    private(set) var page: String?
    /// Made with the definition, so that `GST_DEBUG` finds it before the first message.
    let log: LogCategory?
    let installProperties: @Sendable (UnsafeMutablePointer<GObjectClass>) -> Void
    /// The names of the signals that an application emits, without arguments and results.
    let actions: [String]
    let make: @Sendable (ElementPointer) -> any Element

    package init<Settings>(
        typeName: String, factory: String, parent: Parent, longName: String, klass: String, description: String,
        since: String = "0.1.0", log: LogCategory? = nil, pads: [PadTemplate], properties: [Property<Settings>],
        defaults: Settings,
        structures: [StructureProperty] = [], actions: [String] = [], presets: [Preset] = [],
        make: @escaping @Sendable (ElementPointer) -> any Element
    ) {
        self.typeName = typeName
        self.factory = factory
        self.parent = parent
        self.longName = longName
        self.klass = klass
        self.description = description
        self.since = since
        self.pads = pads
        self.presets = presets
        self.actions = actions
        self.log = log
        self.make = make
        installProperties = { objectClass in
            for (index, property) in properties.enumerated() {
                g_object_class_install_property(objectClass, propertyID(index), property.spec(defaults))
            }
            for (index, property) in structures.enumerated() {
                g_object_class_install_property(objectClass, propertyID(properties.count + index), property.spec)
            }
        }
    }

    /// Registers the class with GObject and its factory with the plugin. The rank is NONE: nothing picks these
    /// elements for unknown content.
    package func register(in plugin: OpaquePointer?, page: String? = nil) -> Bool {
        var definition = self
        definition.page = page
        return gst_element_register(plugin, factory, GST_RANK_NONE.rawValue, definition.registeredType()) != 0
    }

    private func registeredType() -> GType {
        let known = g_type_from_name(typeName)
        guard known == 0 else { return known }
        let box = owned(DefinitionBox(self))  // lives as long as the type: for ever
        let type = GstBridge.registeredType(typeName, parent.type, initializeClass, initializeInstance, box)
        g_type_set_qdata(type, definitionKey, box)
        if !presets.isEmpty { addPresets(to: type) }
        return type
    }
}

// MARK: - The C side

/// The type of that name; registered, with the parent's size, if there is none.
func registeredType(
    _ name: String, _ parent: GType, _ initializeClass: GClassInitFunc?, _ initializeInstance: GInstanceInitFunc?,
    _ classData: UnsafeRawPointer?
) -> GType {
    let known = g_type_from_name(name)
    guard known == 0 else { return known }
    var query = GTypeQuery()
    g_type_query(parent, &query)
    var info = GTypeInfo()
    info.class_size = guint16(truncatingIfNeeded: query.class_size)
    info.instance_size = guint16(truncatingIfNeeded: query.instance_size)
    info.class_data = classData
    info.class_init = initializeClass
    info.instance_init = initializeInstance
    return g_type_register_static(parent, name, &info, GTypeFlags(rawValue: 0))
}

/// GObject counts properties from 1.
private func propertyID(_ index: Int) -> guint { guint(truncatingIfNeeded: index &+ 1) }

private final class DefinitionBox: @unchecked Sendable {  // guard: class_init writes, before there are instances
    let definition: ElementDefinition
    /// The class that ours is derived from. An instance's own class may be of a type derived from ours, so it does not tell.
    var parentClass: UnsafeMutableRawPointer?

    init(_ definition: ElementDefinition) { self.definition = definition }
}

/// The data under a key of an instance's type, or of the nearest type that it is derived from.
func typeData(_ key: GQuark, of instance: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    guard let instanceClass = instance.assumingMemoryBound(to: GTypeInstance.self).pointee.g_class else { return nil }
    var type = instanceClass.pointee.g_type
    while type != 0 {
        if let data = g_type_get_qdata(type, key) { return data }
        type = g_type_parent(type)
    }
    return nil
}

private func definitionBox(of instance: UnsafeMutableRawPointer) -> DefinitionBox? {
    lent(typeData(definitionKey, of: instance))
}

/// The presets of an instance's type.
func presets(of instance: UnsafeMutableRawPointer) -> [Preset] { definitionBox(of: instance)?.definition.presets ?? [] }

private let definitionKey = g_quark_from_static_string("depthmatte-element-definition")
private let elementKey = g_quark_from_static_string("depthmatte-element")

/// Owns the Swift object of a GObject instance, with the casts that the C side needs; stored as qdata.
private final class InstanceBox {
    let element: any Element
    let aggregator: (any Aggregator)?
    let parentClass: UnsafeMutableRawPointer?

    init(_ element: any Element, parentClass: UnsafeMutableRawPointer?) {
        self.element = element
        self.parentClass = parentClass
        aggregator = element as? any Aggregator
    }
}

private func instanceBox(_ instance: UnsafeMutableRawPointer?) -> InstanceBox? {
    instance.flatMap { lent(g_object_get_qdata($0.cast(to: GObject.self), elementKey)) }
}

/// The Swift half of a C instance; nil for an object that is not ours, or no longer.
package func swiftElement(_ instance: UnsafeMutableRawPointer?) -> (any Element)? { instanceBox(instance)?.element }

func swiftAggregator(_ instance: UnsafeMutableRawPointer?) -> (any Aggregator)? { instanceBox(instance)?.aggregator }

private let initializeClass: GClassInitFunc = { classPointer, data in
    guard let classPointer, let box = lent(data, as: DefinitionBox.self) else { return }
    box.parentClass = UnsafeMutableRawPointer(g_type_class_peek_parent(classPointer))
    let definition = box.definition

    let objectClass = classPointer.assumingMemoryBound(to: GObjectClass.self)
    installObjectFunctions(objectClass)
    definition.installProperties(objectClass)
    for action in definition.actions { addAction(action, to: objectClass.pointee.g_type_class.g_type) }

    let elementClass = classPointer.assumingMemoryBound(to: GstElementClass.self)
    gst_element_class_set_metadata(
        elementClass, definition.longName, definition.klass, definition.description,
        "The gst-depthmatte authors")
    gst_element_class_add_metadata(elementClass, "since", definition.since)
    if let page = definition.page { gst_element_class_add_metadata(elementClass, GST_ELEMENT_METADATA_DOC_URI, page) }
    installElementFunctions(elementClass)
    for template in definition.pads {
        template.add(to: elementClass, padType: definition.parent == .aggregator ? gst_aggregator_pad_get_type() : nil)
    }
    switch definition.parent {
    case .element: break
    case .aggregator: installAggregatorFunctions(classPointer.assumingMemoryBound(to: GstAggregatorClass.self))
    case .transform: installTransformFunctions(classPointer.assumingMemoryBound(to: GstBaseTransformClass.self))
    }
}

/// Adds an action signal to a type.
private func addAction(_ name: String, to type: GType) {
    let callback: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = { instance, name in
        guard let name: Box<String> = lent(name) else { return }
        swiftElement(instance)?.perform(name.value)
    }
    // The name lives as long as the type: for ever.
    let closure = g_cclosure_new(unsafeBitCast(callback, to: GCallback.self), owned(Box(name)), nil)
    g_signal_newv(
        name, type, GSignalFlags(rawValue: G_SIGNAL_RUN_LAST.rawValue | G_SIGNAL_ACTION.rawValue), closure, nil, nil,
        nil,
        GSTSHIMS_TYPE_NONE, 0, nil)
}

private let initializeInstance: GInstanceInitFunc = { instance, _ in
    guard let instance else { return }
    let raw = UnsafeMutableRawPointer(instance)
    guard let box = definitionBox(of: raw) else { return }
    let element = box.definition.make(raw.assumingMemoryBound(to: GstElement.self))
    let half = InstanceBox(element, parentClass: box.parentClass)
    g_object_set_qdata_full(raw.cast(to: GObject.self), elementKey, owned(half), releaseOwned)
}

/// The class that our class is derived from, GStreamer's own.
func parentClass(_ instance: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? { instanceBox(instance)?.parentClass }

private func installObjectFunctions(_ table: UnsafeMutablePointer<GObjectClass>) {
    table.pointee.set_property = { object, id, value, _ in
        guard let value, let element = swiftElement(object),
            let name = element.properties.set(Int(id) &- 1, from: value)
        else { return }
        element.propertyChanged(name)
    }
    table.pointee.get_property = { object, id, value, spec in
        guard let value, let element = swiftElement(object) else { return }
        if element.properties.get(Int(id) &- 1, into: value) { return }
        guard let name = g_param_spec_get_name(spec).map({ String(cString: $0) }) else { return }
        g_value_take_boxed(value, element.structure(name).map { UnsafeMutableRawPointer($0) })
    }
}

private func installElementFunctions(_ table: UnsafeMutablePointer<GstElementClass>) {
    table.pointee.change_state = { instance, transition in
        guard let instance else { return GST_STATE_CHANGE_FAILURE }
        let callParent = {
            parentClass(instance)?.cast(to: GstElementClass.self).pointee.change_state?(instance, transition)
                ?? GST_STATE_CHANGE_FAILURE
        }
        return swiftElement(instance)?.changeState(transition, parent: callParent) ?? callParent()
    }
    table.pointee.send_event = { instance, event in
        guard let instance, let event else { return 0 }
        let callParent = { (event: EventPointer) -> Bool in
            parentClass(instance)?.cast(to: GstElementClass.self).pointee.send_event?(instance, event) ?? 0 != 0
        }
        return gboolean(swiftElement(instance)?.sendEvent(event, parent: callParent) ?? callParent(event))
    }
}
