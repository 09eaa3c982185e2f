//! The messages of one language, which are read once: their order, and the insertion of arguments. The build has packed
//! them (`piece.rs`), so that the program needs no parser of message files.

use crate::piece::{ARGUMENT, END, Piece};

/// The messages in their order; an attribute counts as a message.
#[derive(Debug)]
pub(super) struct File(pub(super) Vec<Vec<Piece>>);

impl File {
    /// Reads the packed form, which the build has written.
    pub(super) fn read(packed: &str) -> Self {
        let piece = |(n, text): (usize, &str)| match n % 2 {
            0 if text.is_empty() => None,
            0 => Some(Piece::Text(text.into())),
            _ => Some(Piece::Argument(text.into())),
        };
        let message = |text: &str| text.split(ARGUMENT).enumerate().filter_map(piece).collect();
        Self(packed.split_terminator(END).map(message).collect())
    }

    /// Returns the message at this position, which must be one piece of text.
    pub(super) fn text(&self, place: usize) -> &str {
        match self.pieces(place) {
            [Piece::Text(text)] => text,
            _ => "",
        }
    }

    /// Returns the message at this position, with its arguments inserted.
    pub(super) fn say(&self, place: usize, arguments: &[(&str, &str)]) -> String {
        let mut said = String::new();
        for piece in self.pieces(place) {
            match piece {
                Piece::Text(text) => said.push_str(text),
                Piece::Argument(name) => {
                    let given = arguments.iter().find(|(argument, _)| **argument == **name);
                    said.push_str(given.map_or("", |(_, value)| value));
                }
            }
        }
        said
    }

    /// Returns whether every argument of the message at this position is given.
    pub(super) fn is_whole(&self, place: usize, arguments: &[(&str, &str)]) -> bool {
        self.pieces(place).iter().all(|piece| match piece {
            Piece::Argument(name) => arguments.iter().any(|(argument, _)| **argument == **name),
            Piece::Text(_) => true,
        })
    }

    fn pieces(&self, place: usize) -> &[Piece] {
        self.0.get(place).map(Vec::as_slice).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_arguments_come_in_their_order() {
        let file = File::read("a \u{1}x\u{1} b\u{2}c\u{2}\u{1}y\u{1}\u{1}x\u{1}.\u{2}");
        assert_eq!(file.say(0, &[("x", "1")]), "a 1 b");
        assert_eq!(file.say(2, &[("x", "1"), ("y", "2")]), "21.");
        assert_eq!((file.text(1), file.text(0), file.text(3)), ("c", "", ""));
        assert!(file.is_whole(2, &[("x", "1"), ("y", "2")]) && !file.is_whole(2, &[("x", "1")]));
        assert_eq!(file.0.len(), 3);
    }
}
