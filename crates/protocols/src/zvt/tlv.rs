//! The TLV container of BMP 06: BER-TLV with lengths of one to three bytes. These lengths are big-endian, unlike those
//! of APDUs (ZVT PA00P015, chapter 9).
//!
//! A tag of one to three bytes is read as one number. Code that reads a container looks for the tags it knows and
//! ignores the rest.

/// The bytes of a tag as one number, such as `0x26` or `0x1F07`.
pub type Tag = u32;

/// Tags that have a meaning in a command, with their human-readable names.
#[rustfmt::skip]
const NAMES: &[(Tag, &str)] = &[
    (0x01, "reversal id"), (0x05, "goods group"), (0x06, "restriction code 1"), (0x07, "text"),
    (0x08, "receipt number"), (0x09, "attribute"), (0x0A, "command"), (0x0D, "restriction code 2"),
    (0x12, "printer width"), (0x14, "character set"), (0x15, "language"), (0x1A, "maximum APDU length"),
    (0x1B, "kind of diagnosis"), (0x20, "fleet card"), (0x21, "permitted goods"), (0x22, "prohibited goods"),
    (0x24, "texts to show"), (0x25, "texts to print"), (0x26, "permitted commands"), (0x27, "character sets"),
    (0x28, "languages"), (0x29, "menus"), (0x2A, "menus"), (0x2F, "payment method"), (0x30, "list of cards"),
    (0x31, "amounts"), (0x34, "terminal's time"), (0x40, "EMV parameters"), (0x41, "card type"),
    (0x43, "application id"), (0x44, "application's name"), (0x45, "receipt data"), (0x46, "customer's receipt data"),
    (0x47, "merchant's receipt data"), (0x49, "network card type"), (0x4A, "card product"), (0x60, "application"),
    (0x61, "applications on a stripe"), (0x62, "applications on a chip"), (0x63, "prepaid"),
    (0x66, "customer's receipt"), (0x67, "merchant's receipt"), (0x69, "reference transaction"),
    (0xC1, "kind of transaction"), (0xC2, "bonus points"), (0xC3, "bonus points left"),
    (0xC5, "value of bonus points"), (0xE1, "bonus points"), (0xE2, "DCC"), (0xE3, "barcode"), (0xE4, "device"),
    (0xE6, "card types"), (0xE8, "value added services"), (0xE9, "reference number"), (0x1F01, "receipt id"),
    (0x1F02, "first receipt"), (0x1F03, "last receipt"), (0x1F04, "receipt options"),
    (0x1F05, "transaction parameter"), (0x1F06, "reservation parameter"), (0x1F07, "kind of receipt"),
    (0x1F08, "track 1"), (0x1F09, "track 2"), (0x1F0A, "track 3"), (0x1F0B, "maximum reservation"),
    (0x1F0D, "data for the host"), (0x1F0E, "date"), (0x1F0F, "time"), (0x1F10, "cardholder authentication"),
    (0x1F12, "card technology"), (0x1F14, "card identification"), (0x1F15, "card reading"), (0x1F1A, "card number"),
    (0x1F1B, "markup"), (0x1F1F, "till's last receipt"), (0x1F20, "total"), (0x1F21, "currency"), (0x1F25, "cashback"),
    (0x1F28, "emergency mode"), (0x1F29, "limit overridden"), (0x1F2B, "trace"), (0x1F2D, "card input"),
    (0x1F30, "top-up"), (0x1F31, "PIN"), (0x1F36, "tip"), (0x1F37, "receipt information"), (0x1F40, "device's name"),
    (0x1F41, "software version"), (0x1F42, "serial number"), (0x1F43, "device's state"), (0x1F44, "terminal"),
    (0x1F51, "mandate"), (0x1F52, "creditor"), (0x1F53, "pre-notification"), (0x1F59, "payment application"),
    (0x1F5B, "wait for a card"), (0x1F5E, "IBAN"), (0x1F5F, "BIC"), (0x1F60, "card technologies"),
    (0x1F62, "reference number's kind"), (0x1F63, "reference number"), (0x1F64, "instalments"),
    (0x1F65, "processing"), (0x1F66, "wallet"), (0x1F67, "retailer"), (0x1F68, "loyalty"), (0x1F69, "voucher"),
    (0x1F6A, "remaining amount"), (0x1F6B, "age verification"), (0x1F6F, "payment type"),
    (0x1F70, "partial approval"), (0x1F73, "message number"), (0xFF01, "coupon"), (0xFF02, "loyalty"),
    (0xFF03, "parking ticket"), (0xFF04, "voucher"),
];

/// Returns the human-readable name of a tag.
#[must_use]
pub fn name(tag: Tag) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| *known == tag).map(|(_, name)| *name)
}

/// Returns all tags that have a name.
pub fn known() -> impl Iterator<Item = Tag> {
    NAMES.iter().map(|(tag, _)| *tag)
}

/// Maximum depth of nested containers that is checked.
const DEEPEST: u8 = 8;

/// The reason why bytes are not TLVs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlvError {
    /// A tag, a length or a value is incomplete.
    #[error("the TLV at byte {at} is incomplete")]
    Short {
        /// The offset of the TLV in bytes.
        at: usize,
    },
    /// A tag has more than three bytes, or a length has more than two.
    #[error("the tag or length of the TLV at byte {at} is too long")]
    Strange {
        /// The offset of the TLV in bytes.
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
    /// Returns whether the value consists of data objects, as bit 20h of the tag's first byte says.
    #[must_use]
    pub fn is_constructed(&self) -> bool {
        let first = self.tag.to_be_bytes().into_iter().find(|byte| *byte != 0).unwrap_or(0);
        first & 0x20 != 0
    }
}

/// Iterates over the data objects of one level, until the end or the first unreadable one.
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

/// Reads a length and the value after it. Returns the value, and the total number of bytes read.
pub(super) fn container(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let (head, length) = match *bytes.first()? {
        length @ 0..=0x7F => (1, usize::from(length)),
        0x81 => (2, usize::from(*bytes.get(1)?)),
        0x82 => (3, usize::from(u16::from_be_bytes([*bytes.get(1)?, *bytes.get(2)?]))),
        _ => return None,
    };
    Some((bytes.get(head..head + length)?, head + length))
}

/// Finds the first value at a path of tags, each inside the previous one. Returns `None` if the value is missing, or if
/// an unreadable object precedes it.
#[must_use]
pub fn find<'a>(bytes: &'a [u8], path: &[Tag]) -> Option<&'a [u8]> {
    let (first, rest) = path.split_first()?;
    let found = walk(bytes).map_while(Result::ok).find(|tlv| tlv.tag == *first)?;
    if rest.is_empty() { Some(found.value) } else { find(found.value, rest) }
}

/// Reads all objects and the objects inside them, down to `DEEPEST` levels.
///
/// # Errors
/// Returns the first [`TlvError`].
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

/// Appends one data object. A value that is too long is cut to the longest possible length.
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
        // Deep nesting is not followed, so it cannot exhaust the stack.
        let nested = (0..5000).fold(Vec::new(), |inner, _| {
            let mut outer = Vec::new();
            push(&mut outer, 0x20, &inner);
            outer
        });
        assert_eq!(check(&nested), Ok(()));
    }
}
