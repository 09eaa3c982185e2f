//! BER-TLV: a walker over borrowed bytes and an encoder, without allocation and without unbounded recursion.
//!
//! The rules are deliberately stricter than those of most decoders (security: 1.6; EMV Book 3, Annex B):
//! - Only definite lengths are accepted, with the number in at most three bytes (`83 xx xx xx`). Length forms that are
//!   longer than necessary are read but never written. Tags have at most four bytes, without a superfluous `80` after
//!   the first byte.
//! - `00` padding is skipped between objects, and never read as a tag. `FF` is refused as a tag.
//! - A value that is longer than its container is an error. It is never shortened.
//! - Repeated tags keep their order; [`find`] returns the first.

use super::Tag;

/// The maximum nesting depth of templates that is followed. A real answer has three levels.
pub const MAX_DEPTH: usize = 8;

/// One object: its tag, its value and all its bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Tlv<'a> {
    /// The tag.
    pub tag: Tag,
    /// The value without tag and length.
    pub value: &'a [u8],
    /// Tag, length and value as they are in the input.
    pub raw: &'a [u8],
}

// Shows the tag and the length, but never the content, because a value may be card data.
impl std::fmt::Debug for Tlv<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tag, value, raw: _ } = self;
        write!(f, "{tag}[{}]", value.len())
    }
}

/// The reason why bytes are not BER-TLV as EMV permits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlvError {
    /// The input ends inside a tag, a length or a value.
    #[error("TLV data ends inside an object at byte {at}")]
    Truncated {
        /// Offset of the object in its container.
        at: usize,
    },
    /// A tag of more than four bytes, one that starts with FF FF, or one with a superfluous 80 after its first byte.
    #[error("TLV tag at byte {at} is not an EMV tag")]
    BadTag {
        /// Offset of the object in its container.
        at: usize,
    },
    /// An indefinite length, or a length of more than three bytes after the first.
    #[error("TLV length at byte {at} is not an EMV length")]
    BadLength {
        /// Offset of the object in its container.
        at: usize,
    },
    /// Templates nested deeper than [`MAX_DEPTH`].
    #[error("TLV templates are nested deeper than {MAX_DEPTH}")]
    TooDeep,
    /// The encoder's buffer is full.
    #[error("TLV data does not fit its buffer")]
    Full,
}

/// Walks over the objects of one level, in their order.
#[must_use]
pub fn walk(bytes: &[u8]) -> Walker<'_> {
    Walker { bytes, at: 0 }
}

/// The iterator of [`walk`]. It ends after the first error.
#[derive(Clone)]
pub struct Walker<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Walker<'a> {
    type Item = Result<Tlv<'a>, TlvError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.bytes.get(self.at) == Some(&0) {
            self.at += 1;
        }
        if self.at >= self.bytes.len() {
            return None;
        }
        let start = self.at;
        let object = read(self.bytes, start);
        self.at = match object {
            Ok(tlv) => start + tlv.raw.len(),
            Err(_) => self.bytes.len(),
        };
        Some(object)
    }
}

/// Reads the object that begins at `start`.
fn read(bytes: &[u8], start: usize) -> Result<Tlv<'_>, TlvError> {
    let truncated = TlvError::Truncated { at: start };
    let mut at = start;
    let mut byte = || {
        let value = *bytes.get(at).ok_or(truncated)?;
        at += 1;
        Ok(value)
    };
    let first = byte()?;
    if first == 0xFF && bytes.get(start + 1).is_none_or(|next| *next == 0xFF) {
        return Err(TlvError::BadTag { at: start });
    }
    let mut tag = u32::from(first);
    if first & 0x1F == 0x1F {
        for n in 0.. {
            if n == 3 {
                return Err(TlvError::BadTag { at: start });
            }
            let next = byte()?;
            // A tag number that begins with zeros (ISO/IEC 8825-1, 8.1.2.4.2).
            if n == 0 && next == 0x80 {
                return Err(TlvError::BadTag { at: start });
            }
            tag = (tag << 8) | u32::from(next);
            if next & 0x80 == 0 {
                break;
            }
        }
    }
    let length = match byte()? {
        short @ 0..=0x7F => usize::from(short),
        long @ 0x81..=0x83 => {
            let mut length = 0;
            for _ in 0x80..long {
                length = (length << 8) | usize::from(byte()?);
            }
            length
        }
        _ => return Err(TlvError::BadLength { at: start }),
    };
    let end = at.checked_add(length).ok_or(truncated)?;
    let value = bytes.get(at..end).ok_or(truncated)?;
    Ok(Tlv { tag: Tag(tag), value, raw: &bytes[start..end] })
}

/// Returns the first value of `tag` at any depth, in document order.
///
/// # Errors
/// Returns the first fault anywhere in `bytes`, even after the tag, because an incomplete list is not trusted.
pub fn find(bytes: &[u8], tag: Tag) -> Result<Option<&[u8]>, TlvError> {
    let mut found = None;
    visit(bytes, &mut |tlv| {
        if found.is_none() && tlv.tag == tag {
            found = Some(tlv.value);
        }
    })?;
    Ok(found)
}

/// Calls `see` with every object at every depth, containers before their contents.
///
/// # Errors
/// Returns the first fault. `see` has received the objects before it.
pub fn visit<'a>(bytes: &'a [u8], see: &mut impl FnMut(Tlv<'a>)) -> Result<(), TlvError> {
    fn level<'a>(bytes: &'a [u8], depth: usize, see: &mut impl FnMut(Tlv<'a>)) -> Result<(), TlvError> {
        if depth == MAX_DEPTH {
            return Err(TlvError::TooDeep);
        }
        for tlv in walk(bytes) {
            let tlv = tlv?;
            see(tlv);
            if tlv.tag.is_constructed() {
                level(tlv.value, depth + 1, see)?;
            }
        }
        Ok(())
    }
    level(bytes, 0, see)
}

/// Appends one object with the shortest length form.
///
/// # Errors
/// Returns [`TlvError::Full`] if `out` has no room or the value is longer than 65,535 bytes. `out` is then unchanged.
pub fn push<const N: usize>(out: &mut heapless::Vec<u8, N>, tag: Tag, value: &[u8]) -> Result<(), TlvError> {
    let before = out.len();
    let write = |out: &mut heapless::Vec<u8, N>| -> Result<(), ()> {
        out.extend_from_slice(&tag.bytes()[4 - tag.size()..]).map_err(|_| ())?;
        let length = u16::try_from(value.len()).map_err(|_| ())?;
        let [high, low] = length.to_be_bytes();
        match (high, low) {
            (0, 0..=0x7F) => out.push(low).map_err(|_| ())?,
            (0, _) => out.extend_from_slice(&[0x81, low]).map_err(|_| ())?,
            _ => out.extend_from_slice(&[0x82, high, low]).map_err(|_| ())?,
        }
        out.extend_from_slice(value).map_err(|_| ())
    };
    write(out).map_err(|()| {
        out.truncate(before);
        TlvError::Full
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Generates any EMV tag that [`push`] accepts.
    fn tags() -> impl Strategy<Value = Tag> {
        let one = (0x01..=0xFE_u32).prop_filter("bits 1-5 all set go on", |tag| tag & 0x1F != 0x1F);
        let first = (0..7_u32).prop_map(|class| (class << 5) | 0x1F);
        let two = (first.clone(), 0..=0x7F_u32).prop_map(|(a, b)| a << 8 | b);
        let three = (first.clone(), 0x81..=0xFF_u32, 0..=0x7F_u32).prop_map(|(a, b, c)| a << 16 | b << 8 | c);
        let four = (first, 0x81..=0xFF_u32, 0x80..=0xFF_u32, 0..=0x7F_u32)
            .prop_map(|(a, b, c, d)| a << 24 | b << 16 | c << 8 | d);
        prop_oneof![one, two, three, four].prop_map(Tag)
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_walker_panic_or_run_on(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let objects = walk(&bytes).count();
            prop_assert!(objects <= bytes.len() / 2 + 1);
            let mut seen = 0;
            let walked = visit(&bytes, &mut |tlv| {
                seen += 1;
                assert!(tlv.raw.ends_with(tlv.value) && tlv.raw.len() >= tlv.value.len() + 2);
            });
            prop_assert!(walked.is_err() || seen >= objects);
            prop_assert_eq!(find(&bytes, Tag(0x9A)).is_ok(), walked.is_ok());
        }

        #[test]
        fn what_is_pushed_is_what_is_walked(
            objects in prop::collection::vec((tags(), prop::collection::vec(any::<u8>(), 0..400)), 0..6),
        ) {
            let mut out = heapless::Vec::<u8, 4096>::new();
            for (tag, value) in &objects {
                push(&mut out, *tag, value).unwrap();
            }
            let walked: Vec<_> = walk(&out).map(|tlv| tlv.map(|tlv| (tlv.tag, tlv.value.to_vec()))).collect();
            prop_assert_eq!(walked, objects.into_iter().map(Ok).collect::<Vec<_>>());
        }

        #[test]
        fn a_full_buffer_is_left_as_it_was(tag in tags(), value in prop::collection::vec(any::<u8>(), 0..20)) {
            let mut out = heapless::Vec::<u8, 16>::from_slice(&[0x9C, 0x01, 0x00]).unwrap();
            let fits = 3 + tag.size() + 1 + value.len() <= 16;
            prop_assert_eq!(push(&mut out, tag, &value).is_ok(), fits);
            prop_assert!(fits || out == [0x9C, 0x01, 0x00]);
        }
    }

    #[test]
    fn lengths_are_written_in_their_shortest_form() {
        for (length, head) in [(0, "9A00"), (127, "9A7F"), (128, "9A8180"), (255, "9A81FF"), (256, "9A820100")] {
            let mut out = heapless::Vec::<u8, 512>::new();
            push(&mut out, Tag(0x9A), &vec![7; length]).unwrap();
            assert_eq!(hex::encode_upper(&out[..out.len() - length]), head);
        }
        let mut out = heapless::Vec::<u8, 70_000>::new();
        assert_eq!(push(&mut out, Tag(0x9A), &[0; 65_536]), Err(TlvError::Full));
        assert!(out.is_empty());
    }

    #[test]
    fn faults_are_named_with_their_place() {
        for (bytes, fault) in [
            ("9C01009F", TlvError::Truncated { at: 3 }),
            ("9C01009A0319", TlvError::Truncated { at: 3 }),
            ("FFFF9A03191105", TlvError::BadTag { at: 0 }),
            ("9F8001FF01", TlvError::BadTag { at: 0 }),
            ("DF81818101", TlvError::BadTag { at: 0 }),
            ("9A80", TlvError::BadLength { at: 0 }),
            ("9A8400000003191105", TlvError::BadLength { at: 0 }),
            ("E0049A03191105", TlvError::Truncated { at: 0 }),
        ] {
            assert_eq!(visit(&hex::decode(bytes).unwrap(), &mut |_| ()), Err(fault), "{bytes}");
        }
    }

    #[test]
    fn eight_levels_are_followed_and_nine_refused() {
        let nested = |levels: usize| {
            let mut bytes = vec![0x9C, 0x00];
            for _ in 1..levels {
                let inner = u8::try_from(bytes.len()).unwrap();
                bytes.splice(0..0, [0x70, inner]);
            }
            bytes
        };
        assert_eq!(find(&nested(8), Tag(0x9C)), Ok(Some(&[][..])));
        assert_eq!(find(&nested(9), Tag(0x9C)), Err(TlvError::TooDeep));
    }
}
