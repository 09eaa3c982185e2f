//! Card data sealed by the reader, with its key serial number (readers: 4.4, 8.1 and 8.2).

use super::attribution::{AttributionFault, Cipher};
use crate::card_answer::SealedBlock;
use pos_terms::card::MAX_SEALED;
use pos_terms::emv::Tag;

/// One encrypted element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct EncryptedElement<'a> {
    /// The tag of the plaintext.
    pub tag: Tag,
    /// The ciphertext.
    pub value: &'a [u8],
}

// This is card data, although encrypted, so `Debug` shows only the tag and the length.
impl std::fmt::Debug for EncryptedElement<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tag, value } = self;
        write!(f, "{tag}[{} encrypted]", value.len())
    }
}

/// Maximum number of encrypted elements in one answer. There are about ten kinds of sensitive elements (57, 5A, tracks,
/// name, dates), and a tap may give some of them twice.
const MAX_ENCRYPTED: usize = 16;

/// The encrypted elements of one answer, in the order received.
pub type EncryptedElements<'a> = heapless::Vec<EncryptedElement<'a>, MAX_ENCRYPTED>;

/// The reason why an answer gives no sealed card. It never holds data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// No element is encrypted.
    #[error("the answer has no encrypted card data")]
    NothingEncrypted,
    /// There is no KSN, so no one can decrypt the elements.
    #[error("the encrypted card data have no KSN")]
    NoKsn,
    /// There are two different KSNs.
    #[error("the encrypted card data have two KSNs")]
    TwoKsns,
    /// A ciphertext is empty or no multiple of the cipher's block.
    #[error("the ciphertext of tag {0} has a wrong length")]
    Ciphertext(Tag),
    /// The elements are longer than a gateway takes ([`MAX_SEALED`]).
    #[error("the encrypted card data are too long")]
    TooLong,
    /// The answer contradicts itself about interface or cipher.
    #[error(transparent)]
    Attribution(#[from] AttributionFault),
}

/// Makes one sealed block of the encrypted elements: for each of them its tag, the length of its ciphertext, and the
/// ciphertext, in the order received.
///
/// UNCERTAIN: that a gateway wants the block in this form. Other readers give one ciphertext, and this reader encrypts
/// each element for itself, with one KSN for all (readers: 8.1).
///
/// # Errors
/// Returns [`SealError`] if there is nothing to seal, or if a length does not fit the cipher of the KSN.
pub fn sred_block<'a>(elements: &[EncryptedElement<'a>], ksn: &'a [u8]) -> Result<SealedBlock<'a>, SealError> {
    let cipher = Cipher::of_ksn(ksn).ok_or(AttributionFault::KsnLength { bytes: ksn.len() })?;
    if elements.is_empty() {
        return Err(SealError::NothingEncrypted);
    }
    let mut block = SealedBlock::new(&[], ksn).ok_or(SealError::TooLong)?;
    let mut bytes = 0;
    for EncryptedElement { tag, value } in elements {
        if value.is_empty() || !value.len().is_multiple_of(cipher.block()) {
            return Err(SealError::Ciphertext(*tag));
        }
        let head = head(*tag, value.len()).ok_or(SealError::TooLong)?;
        bytes += head.len() + value.len();
        if !block.push(&head, value) || bytes > MAX_SEALED {
            return Err(SealError::TooLong);
        }
    }
    Ok(block)
}

/// Returns the tag and the length of an element.
fn head(tag: Tag, length: usize) -> Option<heapless::Vec<u8, 6>> {
    let mut head = heapless::Vec::new();
    let tag = tag.0.to_be_bytes();
    head.extend_from_slice(&tag[tag.iter().position(|byte| *byte != 0)?..]).ok()?;
    match u16::try_from(length).ok()?.to_be_bytes() {
        [0, low @ 0..=0x7F] => head.push(low).ok()?,
        [0, low] => head.extend_from_slice(&[0x81, low]).ok()?,
        [high, low] => head.extend_from_slice(&[0x82, high, low]).ok()?,
    }
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_terms::emv::tag;

    const KSN: [u8; 10] = [0xFF; 10];

    #[test]
    fn the_block_has_each_element_in_order() {
        let elements = [
            EncryptedElement { tag: tag::TRACK2_EQUIVALENT, value: &[0xAA; 24] },
            EncryptedElement { tag: tag::TRACK1_CLEAR, value: &[0xBB; 8] },
        ];
        let sealed = sred_block(&elements, &KSN).unwrap().to_card().unwrap();
        let expected = [&[0x57, 24][..], &[0xAA; 24], &[0x5F, 0x21, 8], &[0xBB; 8]].concat();
        assert_eq!((sealed.data.expose(), sealed.ksn.expose()), (&expected[..], &KSN[..]));
        assert_eq!(format!("{elements:?}"), "[57[24 encrypted], 5F21[8 encrypted]]");
    }

    #[test]
    fn a_block_that_no_one_can_decrypt_is_refused() {
        let one = |length: usize| [EncryptedElement { tag: tag::PAN, value: &[0xAA; 1200][..length] }];
        let refused = |length, ksn: &[u8]| sred_block(&one(length), ksn).unwrap_err();
        for length in [0, 7, 9] {
            assert_eq!(refused(length, &KSN), SealError::Ciphertext(tag::PAN));
        }
        assert_eq!(refused(8, &[0xFF; 12]), SealError::Ciphertext(tag::PAN));
        assert!(sred_block(&one(16), &[0xFF; 12]).is_ok());
        assert_eq!(refused(8, &KSN[..9]), SealError::Attribution(AttributionFault::KsnLength { bytes: 9 }));
        assert_eq!(refused(1024, &KSN), SealError::TooLong);
        assert_eq!(sred_block(&[], &KSN).unwrap_err(), SealError::NothingEncrypted);
    }
}
