//! Reads comments in the source for the manual: the doc comments of the members of enumerations and structures.

use super::without_citations;

/// One member of a type: its comment and its line.
pub(super) struct Member<'a> {
    pub(super) comment: String,
    pub(super) line: &'a str,
}

/// Returns the members of a type, in the order of the source.
pub(super) fn members<'a>(source: &'a str, head: &str) -> Vec<Member<'a>> {
    let (_, body) = source.split_once(&format!("{head} {{\n")).unwrap_or_else(|| panic!("the source has `{head}`"));
    let (body, _) = body.split_once("\n}").expect("a type ends");
    let (mut found, mut comment) = (Vec::new(), String::new());
    for line in body.lines().map(str::trim) {
        if let Some(more) = line.strip_prefix("///") {
            comment += more;
        } else if !line.is_empty() && !line.starts_with("#[") && !line.starts_with("//") {
            found.push(Member { comment: without_citations(comment.trim()), line });
            comment.clear();
        }
    }
    found
}

/// Converts `NotSent` to `not-sent`.
pub(super) fn kebab(name: &str) -> String {
    let mut word = String::new();
    for (at, letter) in name.char_indices() {
        if letter.is_ascii_uppercase() && at > 0 {
            word.push('-');
        }
        word.push(letter.to_ascii_lowercase());
    }
    word
}

pub(super) fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |word, part| {
        let (initial, rest) = part.split_at_checked(1).unwrap_or((part, ""));
        word + &initial.to_ascii_uppercase() + rest
    })
}
