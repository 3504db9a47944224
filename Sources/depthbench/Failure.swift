/// What ends the program before its work is done.
enum Failure: Error {
    /// The arguments are wrong; the text names the one.
    case usage(String)
    /// Something that was asked for cannot be done here.
    case cannot(String)
}
