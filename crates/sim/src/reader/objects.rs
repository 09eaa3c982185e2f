//! Builds TLV objects, and finds them in a command (readers: 2.4). All families use the same objects.
//!
//! The code is separate from the agent's, so a misreading of the protocol cannot hide on both sides.

use pos_terms::emv::{Tag, tlv};

/// The fault of an element in a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementFault {
    /// The element is missing.
    Missing,
    /// The element has a wrong length or form.
    Malformed,
}

/// Returns the element `tag` of a command, which must have `N` bytes.
pub(super) fn need<const N: usize>(elements: &[u8], tag: u32) -> Result<[u8; N], ElementFault> {
    get(elements, tag)?.ok_or(ElementFault::Missing)
}

/// Returns the element `tag`, which must have `N` bytes if it is present.
pub(super) fn get<const N: usize>(elements: &[u8], tag: u32) -> Result<Option<[u8; N]>, ElementFault> {
    value(elements, tag).map(|value| value.try_into().map_err(|_| ElementFault::Malformed)).transpose()
}

/// Returns the value of the element `tag`.
pub(super) fn value(elements: &[u8], tag: u32) -> Option<&[u8]> {
    tlv::walk(elements).flatten().find(|object| object.tag == Tag(tag)).map(|object| object.value)
}

/// Appends one object.
pub(super) fn put(out: &mut Vec<u8>, tag: u32, value: &[u8]) {
    out.extend(tag.to_be_bytes().into_iter().skip_while(|byte| *byte == 0));
    let [.., high, low] = value.len().to_be_bytes();
    match (high, low) {
        (0, 0..=0x7F) => out.push(low),
        (0, _) => out.extend([0x81, low]),
        _ => out.extend([0x82, high, low]),
    }
    out.extend(value);
}

/// Makes one object.
pub(super) fn object(tag: u32, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, tag, value);
    out
}

/// Makes a template from objects.
pub(super) fn template(tag: u32, objects: &[(u32, &[u8])]) -> Vec<u8> {
    let mut inner = Vec::new();
    for (tag, value) in objects {
        put(&mut inner, *tag, value);
    }
    object(tag, &inner)
}
