//! One message file, which is read once: its messages in their order, and the insertion of arguments.
//!
//! The format is a part of Project Fluent, read by Fluent's own parser. It permits only text and `{ $argument }`, so
//! every language has each text in one piece. Grammar is not supported: a text that would need a plural is written as
//! two messages.

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};

/// The messages in their order; an attribute counts as a message.
#[derive(Debug)]
pub(super) struct File(pub(super) Vec<Vec<Piece>>);

/// A part of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(Box<str>),
    Argument(Box<str>),
}

/// The reason why a message file cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum MessageFileFault {
    /// The file is not Fluent.
    #[error("a message file is not in the form of Fluent: {0}")]
    NotFluent(String),
    /// A message contains more than text and arguments.
    #[error("message {0}: only text and {{ $argument }} are taken")]
    NotPlain(String),
}

/// Reads a message file. Each message has the name `name` or `name.attribute`.
///
/// # Errors
/// Returns the first [`MessageFileFault`].
pub(super) fn messages(text: &str) -> Result<Vec<(String, Vec<Piece>)>, MessageFileFault> {
    let parsed = fluent_syntax::parser::parse_runtime(text).map_err(|(_, faults)| {
        MessageFileFault::NotFluent(faults.first().map(|fault| format!("{fault:?}")).unwrap_or_default())
    })?;
    let mut messages = Vec::new();
    for entry in parsed.body {
        let Entry::Message(message) = entry else {
            return Err(MessageFileFault::NotPlain(format!("{entry:?}")));
        };
        let name = message.id.name;
        if let Some(value) = &message.value {
            messages.push(read(name.to_owned(), value)?);
        }
        for attribute in &message.attributes {
            messages.push(read(format!("{name}.{}", attribute.id.name), &attribute.value)?);
        }
    }
    Ok(messages)
}

fn read(name: String, pattern: &Pattern<&str>) -> Result<(String, Vec<Piece>), MessageFileFault> {
    let piece = |element: &PatternElement<&str>| match element {
        PatternElement::TextElement { value } => Some(Piece::Text((*value).into())),
        PatternElement::Placeable { expression: Expression::Inline(InlineExpression::VariableReference { id }) } => {
            Some(Piece::Argument(id.name.into()))
        }
        PatternElement::Placeable { .. } => None,
    };
    match pattern.elements.iter().map(piece).collect() {
        Some(pieces) => Ok((name, pieces)),
        None => Err(MessageFileFault::NotPlain(name)),
    }
}

impl File {
    /// Reads a message file.
    ///
    /// # Errors
    /// Returns the first [`MessageFileFault`].
    pub(super) fn read(text: &str) -> Result<Self, MessageFileFault> {
        Ok(Self(messages(text)?.into_iter().map(|(_, pieces)| pieces).collect()))
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
impl Piece {
    pub(super) fn argument(&self) -> Option<&str> {
        match self {
            Self::Argument(name) => Some(name),
            Self::Text(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_arguments_come_in_their_order() {
        let file = File::read("one = a { $x } b\nplain = c\ntwo =\n    .first = { $y }{ $x }.\n").unwrap();
        assert_eq!(file.say(0, &[("x", "1")]), "a 1 b");
        assert_eq!(file.say(2, &[("x", "1"), ("y", "2")]), "21.");
        assert_eq!((file.text(1), file.text(0), file.text(3)), ("c", "", ""));
        assert!(file.is_whole(2, &[("x", "1"), ("y", "2")]) && !file.is_whole(2, &[("x", "1")]));
    }

    #[test]
    fn what_is_not_plain_is_refused() {
        for text in
            ["a = { b }\n", "a = { $n ->\n   *[x] y\n }\n", "-term = x\n", "a = { \"x\" }\n", "a = { NUMBER($n) }\n"]
        {
            assert!(matches!(File::read(text), Err(MessageFileFault::NotPlain(_))), "{text}");
        }
        assert!(matches!(File::read("a = {\n"), Err(MessageFileFault::NotFluent(_))));
    }
}
