//! Card data and PIN blocks sealed by the reader, each with its key serial number (readers: 2.4, 8.1).

use super::element::{each, tags};
use pos_terms::card::{SealedCard, SealedPin, Wiped};
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

impl SredBlock<'_> {
    /// Creates a copy that is wiped when dropped. Returns `None` if the data is empty, or if the KSN does not have 10
    /// or 12 bytes.
    pub(in crate::miura) fn to_card(self) -> Option<SealedCard> {
        if self.data.is_empty() || !matches!(self.ksn.len(), 10 | 12) {
            return None;
        }
        Some(SealedCard { data: Wiped::copy_of(self.data)?, ksn: Wiped::copy_of(self.ksn)? })
    }
}

/// A sealed PIN, unchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PinBlock<'a> {
    /// DFAE04.
    pub block: &'a [u8],
    /// DFAE05.
    pub ksn: &'a [u8],
}

// This is a PIN, although sealed, so `Debug` shows only lengths.
impl std::fmt::Debug for PinBlock<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { block, ksn } = self;
        write!(f, "PinBlock({} and {} bytes)", block.len(), ksn.len())
    }
}

impl PinBlock<'_> {
    /// Creates a copy that is wiped when dropped. Returns `None` if block or KSN has an invalid length.
    pub(in crate::miura) fn to_pin(self) -> Option<SealedPin> {
        if !matches!(self.block.len(), 8 | 16) || !matches!(self.ksn.len(), 10 | 12) {
            return None;
        }
        Some(SealedPin { block: Wiped::copy_of(self.block)?, ksn: Wiped::copy_of(self.ksn)? })
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
