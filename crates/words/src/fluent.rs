//! The message files as they are written: a part of Project Fluent, read by Fluent's own parser. It permits only text
//! and `{ $argument }`, so every language has each text in one piece. Grammar is not supported: a text that would need
//! a plural is written as two messages.
//!
//! The build and the tests read them. The program has only the packed form.

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};

use super::piece::Piece;

/// The reason why a message file cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MessageFileFault {
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
pub(crate) fn messages(text: &str) -> Result<Vec<(String, Vec<Piece>)>, MessageFileFault> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_arguments_come_in_their_order() {
        let read = messages("one = a { $x } b\ntwo =\n    .first = { $y }{ $x }.\n").unwrap();
        let (text, argument) = (|text: &str| Piece::Text(text.into()), |name: &str| Piece::Argument(name.into()));
        let one = vec![text("a "), argument("x"), text(" b")];
        let two = vec![argument("y"), argument("x"), text(".")];
        assert_eq!(read, [("one".to_owned(), one), ("two.first".to_owned(), two)]);
    }

    #[test]
    fn what_is_not_plain_is_refused() {
        for text in
            ["a = { b }\n", "a = { $n ->\n   *[x] y\n }\n", "-term = x\n", "a = { \"x\" }\n", "a = { NUMBER($n) }\n"]
        {
            assert!(matches!(messages(text), Err(MessageFileFault::NotPlain(_))), "{text}");
        }
        assert!(matches!(messages("a = {\n"), Err(MessageFileFault::NotFluent(_))));
    }
}
