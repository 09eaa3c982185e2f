//! The elements of NEO2's answers: BER-TLV, except that a marker may stand before the length (readers: 4.4). The marker
//! says that the value is masked or encrypted.
//!
//! ```text
//! plain      9F02 06 …       57 11 …
//! masked     57 A1 12 …      tag, marker A1, length 12, value
//! encrypted  57 C1 20 …      tag, marker C1, length 20, ciphertext
//! ```
//!
//! A1 and C1 are never BER lengths, because a BER length begins with at most 83 (EMV Book 3, Annex B). For the same
//! reason 81 to 83 are never markers. So this walker and [`tlv`] read a list without markers in the same way.

use pos_terms::emv::{Tag, Tlv, TlvError, tlv};

use super::tags;

/// Before the length of a masked value.
const MASKED: u8 = 0xA1;
/// Before the length of an encrypted value.
const ENCRYPTED: u8 = 0xC1;

/// One element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InlineElement<'a> {
    /// The tag.
    pub tag: Tag,
    /// How the value is to be read.
    pub form: ElementForm,
    /// The value without tag, marker and length.
    pub value: &'a [u8],
    /// Tag, marker, length and value as they are in the input.
    pub raw: &'a [u8],
}

/// The form of an element's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementForm {
    /// In clear.
    Plain,
    /// With its secret digits replaced.
    Masked,
    /// Encrypted. The plaintext is the complete TLV, filled with zeros up to the cipher's block (readers: 4.4).
    Encrypted,
}

// Shows the tag and the length, but never the content, because a value may be card data.
impl std::fmt::Debug for InlineElement<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tag, form, value, raw: _ } = self;
        write!(f, "{tag}[{form:?} {}]", value.len())
    }
}

impl<'a> InlineElement<'a> {
    /// Returns the element as an ordinary object, if its value is in clear.
    #[must_use]
    pub fn plain(&self) -> Option<Tlv<'a>> {
        (self.form == ElementForm::Plain).then_some(Tlv { tag: self.tag, value: self.value, raw: self.raw })
    }
}

/// Calls `see` with every element at every depth, containers before their contents. Only a plain container has
/// contents.
///
/// # Errors
/// Returns the first fault. `see` has received the elements before it.
pub fn each<'a>(bytes: &'a [u8], see: &mut impl FnMut(InlineElement<'a>)) -> Result<(), TlvError> {
    level(bytes, 0, see)
}

fn level<'a>(bytes: &'a [u8], depth: usize, see: &mut impl FnMut(InlineElement<'a>)) -> Result<(), TlvError> {
    if depth == tlv::MAX_DEPTH {
        return Err(TlvError::TooDeep);
    }
    let mut at = 0;
    // 00 fills the space between elements, as in every list of EMV data.
    while let Some(&first) = bytes.get(at) {
        if first == 0 {
            at += 1;
            continue;
        }
        let element = read(bytes, at)?;
        at += element.raw.len();
        see(element);
        if element.form == ElementForm::Plain && tags::is_template(element.tag) {
            level(element.value, depth + 1, see)?;
        }
    }
    Ok(())
}

/// Reads the element that begins at `start`.
fn read(bytes: &[u8], start: usize) -> Result<InlineElement<'_>, TlvError> {
    let truncated = TlvError::Truncated { at: start };
    let mut at = start;
    let mut byte = || {
        let value = *bytes.get(at).ok_or(truncated)?;
        at += 1;
        Ok(value)
    };
    let tag = read_tag(start, &mut byte)?;
    let (form, first) = match byte()? {
        MASKED => (ElementForm::Masked, None),
        ENCRYPTED => (ElementForm::Encrypted, None),
        other => (ElementForm::Plain, Some(other)),
    };
    let length = match first {
        None => usize::from(marked_length(byte()?)),
        Some(short @ 0..=0x7F) => usize::from(short),
        Some(long @ 0x81..=0x83) => {
            let mut length = 0;
            for _ in 0x80..long {
                length = (length << 8) | usize::from(byte()?);
            }
            length
        }
        Some(_) => return Err(TlvError::BadLength { at: start }),
    };
    let end = at.checked_add(length).ok_or(truncated)?;
    let value = bytes.get(at..end).ok_or(truncated)?;
    Ok(InlineElement { tag, form, value, raw: &bytes[start..end] })
}

/// Returns the length after a marker. UNCERTAIN: how a length above 127 is written. Here one byte counts up to 255,
/// because A1 and C1 look like the BER length 81 with a flag. No known element is that long.
const fn marked_length(byte: u8) -> u8 {
    byte
}

/// Reads a tag of one to four bytes with the rules of [`tlv`].
fn read_tag(start: usize, byte: &mut impl FnMut() -> Result<u8, TlvError>) -> Result<Tag, TlvError> {
    let first = byte()?;
    let mut tag = u32::from(first);
    if first & 0x1F == 0x1F {
        for n in 0.. {
            if n == 3 {
                return Err(TlvError::BadTag { at: start });
            }
            let next = byte()?;
            // FF is no tag, and a tag number does not begin with zeros (ISO/IEC 8825-1, 8.1.2.4.2).
            if n == 0 && (next == 0x80 || (first == 0xFF && next == 0xFF)) {
                return Err(TlvError::BadTag { at: start });
            }
            tag = (tag << 8) | u32::from(next);
            if next & 0x80 == 0 {
                break;
            }
        }
    }
    Ok(Tag(tag))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seen(bytes: &[u8]) -> Result<Vec<(Tag, ElementForm, Vec<u8>)>, TlvError> {
        let mut seen = Vec::new();
        each(bytes, &mut |element| seen.push((element.tag, element.form, element.value.to_vec())))?;
        Ok(seen)
    }

    fn hex(text: &str) -> Vec<u8> {
        hex::decode(text.replace(' ', "")).unwrap()
    }

    #[test]
    fn markers_are_no_lengths_and_lengths_are_no_markers() {
        let list = hex("57A1024761 57C10201029F0201 055A02476100009581 0103");
        let form = |tag, form, value: &str| (Tag(tag), form, hex(value));
        assert_eq!(
            seen(&list).unwrap(),
            [
                form(0x57, ElementForm::Masked, "4761"),
                form(0x57, ElementForm::Encrypted, "0102"),
                form(0x9F02, ElementForm::Plain, "05"),
                form(0x5A, ElementForm::Plain, "4761"),
                form(0x95, ElementForm::Plain, "03"),
            ]
        );
        // A length of 161 or 193 is written as 81 A1 or 81 C1.
        for length in [0xA1, 0xC1] {
            let long = [&[0x57, 0x81, length][..], &vec![7; usize::from(length)]].concat();
            assert_eq!(seen(&long).unwrap(), [(Tag(0x57), ElementForm::Plain, vec![7; usize::from(length)])]);
        }
        for (bytes, fault) in [
            ("57A1", TlvError::Truncated { at: 0 }),
            ("57C10301", TlvError::Truncated { at: 0 }),
            ("57A2000147", TlvError::BadLength { at: 0 }),
            ("57800000", TlvError::BadLength { at: 0 }),
            ("9C01005784", TlvError::BadLength { at: 3 }),
            ("FFFF0100", TlvError::BadTag { at: 0 }),
            ("9F800100", TlvError::BadTag { at: 0 }),
            ("DFEEEEEE0100", TlvError::BadTag { at: 0 }),
        ] {
            assert_eq!(seen(&hex(bytes)), Err(fault), "{bytes}");
        }
    }

    #[test]
    fn only_plain_templates_are_entered_and_not_without_end() {
        // FFEE01 and FF8105 are templates. FFEE1F and FFEE13 are not, although their tags say so.
        let list = hex("FFEE0105DFEE30010C FF81050557A1024761 FFEE1F04306A8210 FFEE1302DFEE E1C10401020304");
        let tags: Vec<u32> = seen(&list).unwrap().iter().map(|(tag, ..)| tag.0).collect();
        assert_eq!(tags, [0xFF_EE01, 0xDF_EE30, 0xFF_8105, 0x57, 0xFF_EE1F, 0xFF_EE13, 0xE1]);
        let mut deep = vec![0x57, 0xC1, 0x00];
        for _ in 1..tlv::MAX_DEPTH {
            deep.splice(0..0, [0xE1, u8::try_from(deep.len()).unwrap()]);
        }
        assert_eq!(seen(&deep).unwrap().len(), tlv::MAX_DEPTH);
        deep.splice(0..0, [0xE1, u8::try_from(deep.len()).unwrap()]);
        assert_eq!(seen(&deep), Err(TlvError::TooDeep));
    }

    proptest! {
        #[test]
        fn a_list_without_markers_is_read_like_any_other(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let ordinary: Result<Vec<_>, _> = tlv::walk(&bytes).map(|object| object.map(|object| object.raw)).collect();
            if let Ok(objects) = ordinary {
                let mut raw = Vec::new();
                let mut at = 0;
                while at < bytes.len() {
                    if bytes[at] == 0 { at += 1; continue; }
                    let element = read(&bytes, at).unwrap();
                    prop_assert_eq!(element.form, ElementForm::Plain);
                    at += element.raw.len();
                    raw.push(element.raw);
                }
                prop_assert_eq!(raw, objects);
            }
        }

        #[test]
        fn no_bytes_make_the_walker_panic_or_run_on(
            bytes in prop::collection::vec(prop_oneof![Just(0x57u8), Just(0xA1), Just(0xC1), Just(0xE1), any::<u8>()], 0..300),
        ) {
            let mut count = 0;
            let _ = each(&bytes, &mut |element| {
                count += 1;
                assert!(element.raw.ends_with(element.value));
            });
            prop_assert!(count <= bytes.len() * tlv::MAX_DEPTH);
        }
    }
}
