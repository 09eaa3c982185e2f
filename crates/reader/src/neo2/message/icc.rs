//! The chip's data for the issuer (`pos.iccDataRequest`), selected from a card's answer.

use zeroize::Zeroize;

use super::attribution;
use super::inline::{self, ElementForm};
use super::tags;
use pos_terms::card::{MAX_SEALED, Wiped};
use pos_terms::emv::{Tag, TlvError};

/// Selects the elements of an answer for `pos.iccDataRequest`. It takes the plain elements from every depth, each tag
/// once. It leaves out card data, and ID TECH's own elements unless they are in `private`.
///
/// # Errors
/// Returns an error if the data are no list of elements, or if more than [`MAX_SEALED`] bytes are left.
pub fn icc_data(data: &[u8], private: &[Tag]) -> Result<Wiped<MAX_SEALED>, TlvError> {
    let (_, elements) = attribution::split(data);
    let mut out = heapless::Vec::<u8, MAX_SEALED>::new();
    let mut taken = heapless::Vec::<Tag, { MAX_SEALED / 2 }>::new();
    let mut is_full = false;
    let walked = inline::each(elements, &mut |element| {
        let tag = element.tag;
        let is_own = tag.is_private() && !private.contains(&tag);
        let is_template = tags::is_template(tag);
        if element.form != ElementForm::Plain || is_template || is_own || tag.is_sensitive() || taken.contains(&tag) {
            return;
        }
        is_full |= taken.push(tag).is_err() || out.extend_from_slice(element.raw).is_err();
    });
    let copy = Wiped::copy_of(&out);
    out.as_mut_slice().zeroize();
    walked?;
    copy.filter(|_| !is_full).ok_or(TlvError::Full)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        hex::decode(text.replace(' ', "")).unwrap()
    }

    #[test]
    fn the_host_gets_each_plain_element_once() {
        let data = hex(
            "C1 DFEE120AFFFF9876543210E00001 5AA1084761CCCCCCCC0119 5AC108AAAAAAAAAAAAAAAA 9F020601 0203040506 FF810510 9F020601 0203040506 9505 0000000080 5F2001 41 5A0147 DFEE30010C",
        );
        let sent = |private: &[Tag]| hex::encode_upper(icc_data(&data, private).unwrap().expose());
        assert_eq!(sent(&[]), "9F020601020304050695050000000080");
        assert_eq!(sent(&[tags::TRACK_SOURCE]), "9F020601020304050695050000000080DFEE30010C");
        assert!(icc_data(&hex("9F02"), &[]).is_err());
        let long = [&hex("8682044C")[..], &[7; 1100]].concat();
        assert_eq!(icc_data(&long, &[]).unwrap_err(), TlvError::Full);
    }
}
