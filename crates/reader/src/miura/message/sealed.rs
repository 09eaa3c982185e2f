//! Card data sealed by the reader, with the key serial number (readers: 2.4, 8.1).

use super::element::{each, tags};
use crate::card_answer::SealedBlock;
use pos_terms::emv::TlvError;
use pos_terms::emv::tlv::Tlv;

/// Sealed card data (SRED), unchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SredBlock<'a> {
    /// DFAE02.
    pub data: &'a [u8],
    /// DFAE03.
    pub ksn: &'a [u8],
}

// This is card data, although sealed, so `Debug` shows only lengths.
impl std::fmt::Debug for SredBlock<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { data, ksn } = self;
        write!(f, "SredBlock({} and {} bytes)", data.len(), ksn.len())
    }
}

impl<'a> SredBlock<'a> {
    /// Returns the block in the form of every family.
    pub(in crate::miura) fn sealed(self) -> Option<SealedBlock<'a>> {
        SealedBlock::new(&[self.data], self.ksn)
    }
}

/// Finds the sealed card data while a message is walked. They may occur twice, with consecutive KSNs and the same
/// content (readers: 2.5). The last pair counts.
#[derive(Default)]
pub(super) struct LastSredBlock<'a> {
    data: Option<&'a [u8]>,
    pub(super) block: Option<SredBlock<'a>>,
}

impl<'a> LastSredBlock<'a> {
    pub(super) fn see(&mut self, object: Tlv<'a>) {
        match object.tag {
            tags::SRED_DATA => self.data = Some(object.value),
            tags::SRED_KSN => {
                self.block = self.data.take().map(|data| SredBlock { data, ksn: object.value }).or(self.block);
            }
            _ => {}
        }
    }
}

/// Returns the last sealed card data (DFAE02, DFAE03) of a message.
///
/// # Errors
/// Fails if the body is not BER-TLV.
pub fn last_sealed(body: &[u8]) -> Result<Option<SredBlock<'_>>, TlvError> {
    let mut last = LastSredBlock::default();
    each(body, &mut |object| last.see(object))?;
    Ok(last.block)
}
