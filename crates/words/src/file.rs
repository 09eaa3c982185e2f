//! One message file, read once: its messages, and the way arguments are put into them.
//!
//! The format is a part of Project Fluent, read by Fluent's own parser: only text and `{ $argument }`, so that every
//! language has each text in one piece. Grammar is not supported: a text that would need a plural is written as two
//! messages.

use std::collections::BTreeMap;

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};

/// The messages by their keys: `name`, or `name.attribute`.
#[derive(Debug)]
pub(super) struct File(BTreeMap<String, Vec<Piece>>);

/// A part of a message.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
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
    /// Two messages have one name.
    #[error("message {0} is there twice")]
    Twice(String),
}

impl File {
    /// Reads a message file.
    ///
    /// # Errors
    /// The first [`MessageFileFault`].
    pub(super) fn read(text: &str) -> Result<Self, MessageFileFault> {
        let parsed = fluent_syntax::parser::parse_runtime(text).map_err(|(_, faults)| {
            MessageFileFault::NotFluent(faults.first().map(|fault| format!("{fault:?}")).unwrap_or_default())
        })?;
        let mut file = Self(BTreeMap::new());
        for entry in parsed.body {
            let Entry::Message(message) = entry else {
                return Err(MessageFileFault::NotPlain(format!("{entry:?}")));
            };
            let name = message.id.name;
            if let Some(value) = &message.value {
                file.add(name.to_owned(), value)?;
            }
            for attribute in &message.attributes {
                file.add(format!("{name}.{}", attribute.id.name), &attribute.value)?;
            }
        }
        Ok(file)
    }

    fn add(&mut self, key: String, pattern: &Pattern<&str>) -> Result<(), MessageFileFault> {
        let piece = |element: &PatternElement<&str>| match element {
            PatternElement::TextElement { value } => Some(Piece::Text((*value).into())),
            PatternElement::Placeable {
                expression: Expression::Inline(InlineExpression::VariableReference { id }),
            } => Some(Piece::Argument(id.name.into())),
            PatternElement::Placeable { .. } => None,
        };
        let pieces: Option<Vec<Piece>> = pattern.elements.iter().map(piece).collect();
        let pieces = pieces.ok_or_else(|| MessageFileFault::NotPlain(key.clone()))?;
        match self.0.insert(key.clone(), pieces) {
            None => Ok(()),
            Some(_) => Err(MessageFileFault::Twice(key)),
        }
    }

    /// Returns a message that is one piece of text.
    pub(super) fn text(&self, key: &str) -> &str {
        match self.pieces(key) {
            [Piece::Text(text)] => text,
            _ => "",
        }
    }

    /// Returns a message with its arguments.
    pub(super) fn say(&self, key: &str, arguments: &[(&str, &str)]) -> String {
        let mut said = String::new();
        for piece in self.pieces(key) {
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

    fn pieces(&self, key: &str) -> &[Piece] {
        self.0.get(key).map(Vec::as_slice).unwrap_or_default()
    }
}

#[cfg(test)]
impl Piece {
    fn argument(&self) -> Option<&str> {
        match self {
            Self::Argument(name) => Some(name),
            Self::Text(_) => None,
        }
    }
}

#[cfg(test)]
impl File {
    /// Returns every key with the arguments of its message.
    pub(super) fn arguments(&self) -> BTreeMap<&str, Vec<&str>> {
        self.0.iter().map(|(key, pieces)| (key.as_str(), pieces.iter().filter_map(Piece::argument).collect())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_arguments_come_in_their_order() {
        let file = File::read("one = a { $x } b\nplain = c\ntwo =\n    .first = { $y }{ $x }.\n").unwrap();
        assert_eq!(file.say("one", &[("x", "1")]), "a 1 b");
        assert_eq!(file.say("two.first", &[("x", "1"), ("y", "2")]), "21.");
        assert_eq!((file.text("plain"), file.text("one"), file.text("none")), ("c", "", ""));
    }

    #[test]
    fn what_is_not_plain_is_refused() {
        for text in
            ["a = { b }\n", "a = { $n ->\n   *[x] y\n }\n", "-term = x\n", "a = { \"x\" }\n", "a = { NUMBER($n) }\n"]
        {
            assert!(matches!(File::read(text), Err(MessageFileFault::NotPlain(_))), "{text}");
        }
        assert_eq!(File::read("a = b\na = c\n").unwrap_err(), MessageFileFault::Twice("a".to_owned()));
        assert!(matches!(File::read("a = {\n"), Err(MessageFileFault::NotFluent(_))));
    }
}
