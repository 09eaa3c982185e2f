//! The TLV container of BMP 06: BER-TLV with lengths of one to three bytes, big-endian, unlike those of APDUs (ZVT
//! PA00P015, chapter 9).
//!
//! Tags are read as they stand, one to three bytes as one number. Unknown ones are passed over by whoever asks for
//! those it knows.

/// A tag as its bytes in a row: `0x26`, `0x1F07`.
pub type Tag = u32;

/// Containers within containers that are followed.
const DEEPEST: u8 = 8;

/// Why bytes are no TLVs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlvError {
    /// A tag, a length or a value is not whole.
    #[error("a TLV that begins at byte {at} is not whole")]
    Short {
        /// Where it begins.
        at: usize,
    },
    /// A tag of more than three bytes, or a length of more than two.
    #[error("a TLV that begins at byte {at} has a tag or a length that is too long")]
    Strange {
        /// Where it begins.
        at: usize,
    },
}

/// One data object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tlv<'a> {
    /// Its tag.
    pub tag: Tag,
    /// Its value.
    pub value: &'a [u8],
}

impl Tlv<'_> {
    /// Whether its value is data objects again: bit 20h of the tag's first byte.
    #[must_use]
    pub fn is_constructed(&self) -> bool {
        let first = self.tag.to_be_bytes().into_iter().find(|byte| *byte != 0).unwrap_or(0);
        first & 0x20 != 0
    }
}

/// The data objects of one level, until the end or what cannot be read.
pub fn walk(bytes: &[u8]) -> impl Iterator<Item = Result<Tlv<'_>, TlvError>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let read = one(rest, at);
        at = match &read {
            Ok((_, length)) => at + length,
            Err(_) => bytes.len(),
        };
        Some(read.map(|(tlv, _)| tlv))
    })
}

fn one(bytes: &[u8], at: usize) -> Result<(Tlv<'_>, usize), TlvError> {
    let short = TlvError::Short { at };
    let first = *bytes.first().ok_or(short)?;
    let (mut tag, mut head) = (Tag::from(first), 1);
    if first & 0x1F == 0x1F {
        loop {
            let byte = *bytes.get(head).ok_or(short)?;
            head += 1;
            tag = tag << 8 | Tag::from(byte);
            if byte & 0x80 == 0 {
                break;
            }
            if head == 3 {
                return Err(TlvError::Strange { at });
            }
        }
    }
    let rest = bytes.get(head..).unwrap_or_default();
    if matches!(rest.first(), Some(0x80 | 0x83..)) {
        return Err(TlvError::Strange { at });
    }
    let (value, length) = container(rest).ok_or(short)?;
    Ok((Tlv { tag, value }, head + length))
}

/// The value behind a length; and how many bytes both were.
pub(super) fn container(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let (head, length) = match *bytes.first()? {
        length @ 0..=0x7F => (1, usize::from(length)),
        0x81 => (2, usize::from(*bytes.get(1)?)),
        0x82 => (3, usize::from(u16::from_be_bytes([*bytes.get(1)?, *bytes.get(2)?]))),
        _ => return None,
    };
    Some((bytes.get(head..head + length)?, head + length))
}

/// The first value at this path of tags, each in the one before; `None` when it is not there, or behind something that
/// cannot be read.
#[must_use]
pub fn find<'a>(bytes: &'a [u8], path: &[Tag]) -> Option<&'a [u8]> {
    let (first, rest) = path.split_first()?;
    let found = walk(bytes).map_while(Result::ok).find(|tlv| tlv.tag == *first)?;
    if rest.is_empty() { Some(found.value) } else { find(found.value, rest) }
}

/// Reads all of it, and in it, as deep as is followed.
///
/// # Errors
/// [`TlvError`], the first one.
pub fn check(bytes: &[u8]) -> Result<(), TlvError> {
    fn level(bytes: &[u8], depth: u8) -> Result<(), TlvError> {
        for tlv in walk(bytes) {
            let tlv = tlv?;
            if tlv.is_constructed() && depth < DEEPEST {
                level(tlv.value, depth + 1)?;
            }
        }
        Ok(())
    }
    level(bytes, 0)
}

/// Writes one data object behind others; of a value that is too long, as much as has room.
pub fn push(out: &mut Vec<u8>, tag: Tag, value: &[u8]) {
    out.extend(tag.to_be_bytes().into_iter().skip_while(|byte| *byte == 0));
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    push_length(out, value.len());
    out.extend_from_slice(value);
}

/// Writes a length in its shortest form.
pub(super) fn push_length(out: &mut Vec<u8>, length: usize) {
    match u8::try_from(length) {
        Ok(short @ 0..=0x7F) => out.push(short),
        Ok(byte) => out.extend([0x81, byte]),
        Err(_) => {
            let [high, low] = u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes();
            out.extend([0x82, high, low]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_read_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = check(&bytes);
            let _ = find(&bytes, &[0x2F, 0x1F10]);
            prop_assert!(walk(&bytes).count() <= bytes.len());
        }

        #[test]
        fn what_is_pushed_is_what_is_walked(
            objects in prop::collection::vec(
                (prop::sample::select(vec![0x12, 0x26, 0x2F, 0x1F07, 0x1F8101]),
                 prop::collection::vec(any::<u8>(), 0..300)), 0..6),
        ) {
            let mut bytes = Vec::new();
            for (tag, value) in &objects {
                push(&mut bytes, *tag, value);
            }
            let read: Vec<_> = walk(&bytes).map(|tlv| tlv.unwrap()).map(|tlv| (tlv.tag, tlv.value.to_vec())).collect();
            prop_assert_eq!(read, objects);
        }
    }

    #[test]
    fn paths_lead_into_containers() {
        let bytes = [0x26, 4, 0x0A, 2, 6, 0xD3, 0x1F, 0x04, 1, 0x80];
        assert_eq!(find(&bytes, &[0x26, 0x0A]), Some(&[6, 0xD3][..]));
        assert_eq!(find(&bytes, &[0x1F04]), Some(&[0x80][..]));
        assert_eq!((find(&bytes, &[0x0A]), find(&bytes, &[])), (None, None));
        assert_eq!(check(&[0x26, 4, 0x0A]), Err(TlvError::Short { at: 0 }));
        assert_eq!(check(&[0x1F, 0x81, 0x82, 0x83, 0]), Err(TlvError::Strange { at: 0 }));
        assert_eq!(check(&[0x26, 0x80]), Err(TlvError::Strange { at: 0 }));
        // Deeper than anybody needs is not followed, and no stack grows with it.
        let nested = (0..5000).fold(Vec::new(), |inner, _| {
            let mut outer = Vec::new();
            push(&mut outer, 0x20, &inner);
            outer
        });
        assert_eq!(check(&nested), Ok(()));
    }
}
