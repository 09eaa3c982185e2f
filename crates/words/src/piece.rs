//! The parts of a message, and the packed form of a language's messages: their texts in the order of the file. A mark
//! ends each message, and a mark stands before and after each argument's name.

/// A part of a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A text.
    Text(Box<str>),
    /// The name of an argument.
    Argument(Box<str>),
}

/// The mark before and after the name of an argument. No text contains a control character.
pub(crate) const ARGUMENT: char = '\u{1}';
/// The mark at the end of a message.
pub(crate) const END: char = '\u{2}';
