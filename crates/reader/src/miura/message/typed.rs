//! The commands for typing on the reader, and their answers: an amount, a tip, and a card number, which the reader
//! seals (readers: 2.9, 2.10). Amounts and tips come in clear, but card numbers never do.

use super::element::{CommandData, MessageError, need, need_array, parse_seconds, search, tags};
use super::sealed::{SredBlock, last_sealed};
use pos_terms::emv::{tag, tlv};

/// DFA20E, the row that shows the amount. It is UNCERTAIN which rows the prompts leave free. The default prompts fill
/// only the first.
pub const AMOUNT_LINE: u8 = 0x02;

/// GET NUMERIC DATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetNumericData {
    /// Backlight on.
    pub light: bool,
    /// Three indices of signed prompts.
    pub prompts: [u8; 6],
    /// The numbers of integer and fraction digits.
    pub format: [u8; 2],
    /// An amount to show during the entry.
    pub money: Option<ShownAmount>,
    /// The seconds until 9F42.
    pub timeout: Option<u16>,
}

/// An amount that is shown during the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownAmount {
    /// 5F2A: the currency.
    pub currency: [u8; 2],
    /// 5F36: the exponent.
    pub exponent: u8,
    /// 9F02: the amount.
    pub amount: [u8; 6],
    /// DFA20E: the row, 1 to 3.
    pub line: u8,
}

impl GetNumericData {
    pub(super) fn push(&self, out: &mut CommandData) -> Result<(), MessageError> {
        tlv::push(out, tags::PROMPTS, &self.prompts)?;
        tlv::push(out, tags::NUMBER_FORMAT, &self.format)?;
        if let Some(money) = self.money {
            tlv::push(out, tag::CURRENCY_CODE, &money.currency)?;
            tlv::push(out, tag::CURRENCY_EXPONENT, &[money.exponent])?;
            tlv::push(out, tag::AMOUNT_AUTHORISED, &money.amount)?;
            tlv::push(out, tags::AMOUNT_LINE, &[money.line])?;
        }
        push_seconds(out, self.timeout)
    }

    pub(super) fn parse(p2: u8, data: &[u8]) -> Result<Self, MessageError> {
        Ok(Self {
            light: p2 & 1 != 0,
            prompts: need_array(data, tags::PROMPTS)?,
            format: need_array(data, tags::NUMBER_FORMAT)?,
            money: ShownAmount::parse(data)?,
            timeout: parse_seconds(data)?,
        })
    }
}

impl ShownAmount {
    fn parse(data: &[u8]) -> Result<Option<Self>, MessageError> {
        if search(data, tags::AMOUNT_LINE)?.is_none() {
            return Ok(None);
        }
        Ok(Some(Self {
            currency: need_array(data, tag::CURRENCY_CODE)?,
            exponent: need_array::<1>(data, tag::CURRENCY_EXPONENT)?[0],
            amount: need_array(data, tag::AMOUNT_AUTHORISED)?,
            line: need_array::<1>(data, tags::AMOUNT_LINE)?[0],
        }))
    }
}

fn push_seconds(out: &mut CommandData, timeout: Option<u16>) -> Result<(), MessageError> {
    if let Some(seconds) = timeout {
        tlv::push(out, tags::TIMEOUT, &seconds.to_be_bytes())?;
    }
    Ok(())
}

/// GET DYNAMIC TIP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetDynamicTip {
    /// `true` to ask for the total (P1 00), `false` to ask for the tip (P1 01).
    pub total: bool,
    /// Four percentages. [`Self::BLANK`] and [`Self::OTHER`] are not percentages.
    pub percentages: [u8; 4],
    /// DFA218: the template. UNCERTAIN: one byte that names a layout of the signed prompts.
    pub template: u8,
    /// 5F2A: the currency.
    pub currency: [u8; 2],
    /// 5F36: the exponent.
    pub exponent: u8,
    /// 9F02: the bill.
    pub amount: [u8; 6],
}

impl GetDynamicTip {
    /// An empty choice.
    pub const BLANK: u8 = 0xFE;
    /// "Other": the customer types an amount.
    pub const OTHER: u8 = 0xFF;

    pub(super) fn push(&self, out: &mut CommandData) -> Result<(), MessageError> {
        tlv::push(out, tags::TIP_PERCENTAGES, &self.percentages)?;
        tlv::push(out, tags::TIP_TEMPLATE, &[self.template])?;
        tlv::push(out, tag::CURRENCY_CODE, &self.currency)?;
        tlv::push(out, tag::CURRENCY_EXPONENT, &[self.exponent])?;
        tlv::push(out, tag::AMOUNT_AUTHORISED, &self.amount)?;
        Ok(())
    }

    pub(super) fn parse(p1: u8, data: &[u8]) -> Result<Self, MessageError> {
        Ok(Self {
            total: p1 == 0,
            percentages: need_array(data, tags::TIP_PERCENTAGES)?,
            template: need_array::<1>(data, tags::TIP_TEMPLATE)?[0],
            currency: need_array(data, tag::CURRENCY_CODE)?,
            exponent: need_array::<1>(data, tag::CURRENCY_EXPONENT)?[0],
            amount: need_array(data, tag::AMOUNT_AUTHORISED)?,
        })
    }
}

/// GET SECURE DATA: a card number in three steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GetSecureData {
    /// P1 00: delete the typed data.
    Clear,
    /// P1 01: ask for one element.
    Ask {
        /// DFA210: [`Self::PAN`], [`Self::EXPIRY`], [`Self::VERIFICATION_VALUE`].
        element: u8,
        /// P2: bit 0 backlight, 1 key light, 2 an empty entry is allowed, 3 the PAN in groups. The other bits are not
        /// published.
        flags: u8,
        /// Three indices of signed prompts.
        prompts: [u8; 6],
        /// The amount that the cardholder pays.
        money: Option<ShownAmount>,
        /// The seconds until 9F42.
        timeout: Option<u16>,
    },
    /// P1 02: seal all typed data.
    Encrypt,
}

impl GetSecureData {
    /// The card number.
    pub const PAN: u8 = 0x01;
    /// Expiry date, YYMM.
    pub const EXPIRY: u8 = 0x04;
    /// Card verification value.
    pub const VERIFICATION_VALUE: u8 = 0x06;

    pub(super) fn head(self) -> [u8; 4] {
        match self {
            Self::Clear => [0xD2, 0xE0, 0x00, 0x00],
            Self::Ask { flags, .. } => [0xD2, 0xE0, 0x01, flags],
            Self::Encrypt => [0xD2, 0xE0, 0x02, 0x00],
        }
    }

    pub(super) fn push(&self, out: &mut CommandData) -> Result<(), MessageError> {
        let Self::Ask { element, flags: _, prompts, money, timeout } = *self else { return Ok(()) };
        tlv::push(out, tags::SECURE_ELEMENT, &[element])?;
        tlv::push(out, tags::PROMPTS, &prompts)?;
        if let Some(money) = money {
            tlv::push(out, tag::AMOUNT_AUTHORISED, &money.amount)?;
            tlv::push(out, tag::CURRENCY_CODE, &money.currency)?;
            tlv::push(out, tag::CURRENCY_EXPONENT, &[money.exponent])?;
            tlv::push(out, tags::AMOUNT_LINE, &[money.line])?;
        }
        push_seconds(out, timeout)
    }

    pub(super) fn parse(p1: u8, p2: u8, data: &[u8]) -> Result<Self, MessageError> {
        Ok(match p1 {
            0x00 => Self::Clear,
            0x02 => Self::Encrypt,
            _ => Self::Ask {
                element: need_array::<1>(data, tags::SECURE_ELEMENT)?[0],
                flags: p2,
                prompts: need_array(data, tags::PROMPTS)?,
                money: ShownAmount::parse(data)?,
                timeout: parse_seconds(data)?,
            },
        })
    }
}

/// The answer with a sealed card number (D2E0 P1 02, D25A).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TypedCardAnswer<'a> {
    /// DFA208: the masked PAN, ASCII.
    pub masked_pan: &'a [u8],
    /// DFAE02 and DFAE03.
    pub sealed: Option<SredBlock<'a>>,
}

// This is card data, although masked or sealed, so `Debug` shows only lengths.
impl std::fmt::Debug for TypedCardAnswer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { masked_pan, sealed } = self;
        write!(f, "TypedCard({} places, sealed {})", masked_pan.len(), sealed.is_some())
    }
}

impl<'a> TypedCardAnswer<'a> {
    /// Reads the body.
    ///
    /// # Errors
    /// Fails if the masked PAN is missing.
    pub fn parse(body: &'a [u8]) -> Result<Self, MessageError> {
        Ok(Self { masked_pan: need(body, tags::NUMERIC_DATA)?, sealed: last_sealed(body)? })
    }
}
