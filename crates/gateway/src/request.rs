//! A transaction as the form of `POST /v1/payments`: the parameters, their sources and their order. This module sends
//! nothing.
//!
//! The form contains the sealed card data and the PIN block. It is therefore in one buffer that is filled once and
//! never grows, because a growing buffer leaves copies in memory. The buffer is wiped when its last user drops it.

use bytes::Bytes;
use zeroize::Zeroizing;

use super::answer::is_payment_id;
use super::{CardPayment, RequestTarget, WithoutCard};
use crate::config::{self, ID};
use pos_gateway_model::{self as parameter, Misfit};
use pos_terms::card::{Presented, SealedPin};
use pos_terms::money::{Amount, MoneyError};
use pos_terms::transaction::{Kind, PaymentId, SaleNumber};

/// The path of payments.
const PAYMENTS: &str = "/v1/payments";
/// The size of the form's buffer, in bytes. It has room for three values of 2048 hex digits (SRED, PIN, ICC) and for
/// one gateway reference. The reference has 255 characters, which escape to at most 12 bytes each. The names and the
/// short values get 4 KiB. The till's parameters get extra room.
const CAPACITY: usize = 3 * 2048 + 255 * 12 + 4096;
/// The maximum size of a till's parameters in the form, in bytes. It is enough for about two hundred cart items.
pub const MAX_PARAMETERS: usize = 64 * 1024;

/// The reasons why a payment does not fit into a request. Nothing has been sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A value does not fit the interface.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// The amount cannot be written with two decimals.
    #[error(transparent)]
    Amount(#[from] MoneyError),
    /// The reader's KSN or PIN block has a length that no scheme has.
    #[error("{name} from the reader has {found} bytes instead of {expected}; have the reader set up for this program")]
    SealedLength {
        /// The parameter.
        name: &'static str,
        /// The number of bytes found.
        found: usize,
        /// The permitted numbers of bytes.
        expected: &'static str,
    },
    /// The id of the earlier payment or registration is not valid.
    #[error("the id of the earlier payment or registration must be 32 letters and digits")]
    NoId,
    /// The values together are longer than any real request.
    #[error("the request is longer than {CAPACITY} bytes")]
    TooLong,
}

/// A request that is ready to be sent. Before sending it again, the caller must know that it was not processed. Clones
/// share one body.
///
/// The body is in our own buffer, which is wiped. Sending makes other copies. First, hyper copies the body after the
/// request's head into its write buffer. From there, rustls encrypts it into its record buffer (ciphertext). hyper's
/// buffer exists as long as the connection, and the next request overwrites it. It is freed without being wiped, but
/// the card data in it was encrypted by the reader, and the agent never has the keys.
#[derive(Clone)]
pub struct PreparedPayment {
    pub(super) path: String,
    pub(super) body: Bytes,
    pub(super) asked: Expected,
    /// The registration to delete, if the request is a DELETE.
    pub(super) forgets: Option<PaymentId>,
}

impl std::fmt::Debug for PreparedPayment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { path: _, body, asked, forgets: _ } = self;
        f.debug_struct("PreparedPayment").field("body_bytes", &body.len()).field("asked", asked).finish()
    }
}

/// The values with which an answer is compared. An answer with other values does not belong to the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Our gateway reference.
    pub merchant_transaction_id: String,
    /// The requested amount. The transaction judges a different amount in the answer. If the answer has no currency,
    /// its amount is in this amount's currency.
    pub amount: Amount,
    /// `paymentType`.
    pub payment_type: String,
}

/// Builds the form of a payment (interface: Basic payment parameters, Authentication, Point of sale). It also builds
/// the form that stores a card without a payment (Tokenization and registration parameters). That form has no amount
/// and no chip data, because the issuer is not asked.
///
/// # Errors
/// Returns an error for the first value that does not fit.
pub(super) fn payment(
    gateway: &config::Gateway,
    place: &config::PointOfSale,
    payment: &CardPayment<'_>,
) -> Result<PreparedPayment, Error> {
    let presented = payment.presented;
    let stores = payment.kind == Kind::StoreCard;
    let of_shop = gateway.shops_parameters(payment.kind, payment.parameters);
    let mut form = Form::new(&[payment.parameters, &of_shop]);
    basics(&mut form, gateway, payment.kind, payment.amount, payment.merchant_transaction_id)?;
    form.parameters(&[payment.parameters, &of_shop])?;
    if let Some(brand) = brand(gateway, presented) {
        form.text("paymentBrand", brand)?;
    }
    form.text("pos.entryMode", presented.facts.entry.as_str())?;
    form.terminal(place, payment.sequence_number)?;
    // A serial number with letters is not an error, because the parameter is optional and accepts only digits.
    if parameter::find("pos.deviceId").is_some_and(|row| row.format.fits(payment.device_serial)) {
        form.text("pos.deviceId", payment.device_serial)?;
    }
    form.optional("pos.deviceType", gateway.device_type.as_deref())?;
    if let Some(location) = place.location.as_ref().filter(|_| !stores) {
        form.text("pos.location.latitude", &location.latitude)?;
        form.text("pos.location.longitude", &location.longitude)?;
        form.optional("pos.location.accuracy", location.accuracy.as_deref())?;
    }
    if let Some(number) = presented.facts.pan_sequence_number.filter(|_| !stores) {
        form.text("pos.panSequenceNumber", &format!("{number:02}"))?;
    }
    let pin_entry = if payment.pin_entry { "PIN_ENTRY_AVAILABLE" } else { "PIN_ENTRY_UNAVAILABLE" };
    if !stores {
        form.text("pos.pinEntryCapability", pin_entry)?;
    }
    card(&mut form, presented, !stores)?;
    Ok(PreparedPayment {
        path: if stores { gateway.assumptions.registration_path.clone() } else { PAYMENTS.to_owned() },
        forgets: None,
        body: form.finish(),
        asked: Expected {
            merchant_transaction_id: payment.merchant_transaction_id.to_owned(),
            amount: payment.amount,
            payment_type: payment.kind.payment_type().to_owned(),
        },
    })
}

/// Builds the form of a request without a card.
///
/// # Errors
/// Returns an error for the first value that does not fit.
pub(super) fn without_card(
    gateway: &config::Gateway,
    place: &config::PointOfSale,
    asked: &WithoutCard<'_>,
) -> Result<PreparedPayment, Error> {
    let expected = Expected {
        merchant_transaction_id: asked.merchant_transaction_id.to_owned(),
        amount: asked.amount,
        payment_type: asked.kind.payment_type().to_owned(),
    };
    if let RequestTarget::Forget(id) = asked.on {
        // The id alone is enough (interface: Tokenization and registration parameters). The entity goes into the query
        // string.
        let path = with_id(&format!("{}/{ID}", gateway.assumptions.registration_path), id)?;
        return Ok(PreparedPayment { path, body: Bytes::new(), asked: expected, forgets: Some(PaymentId::new(id)) });
    }
    let of_shop = asked.number.map(|_| gateway.shops_parameters(asked.kind, asked.parameters)).unwrap_or_default();
    let mut form = Form::new(&[asked.parameters, &of_shop]);
    basics(&mut form, gateway, asked.kind, asked.amount, asked.merchant_transaction_id)?;
    form.parameters(&[asked.parameters, &of_shop])?;
    if let Some(number) = asked.number.filter(|_| gateway.terminal_with.contains(&asked.kind)) {
        form.terminal(place, number)?;
    }
    let path = match asked.on {
        RequestTarget::Payment(id) => with_id(&gateway.assumptions.follow_up_path, id.as_str())?,
        RequestTarget::Registration(id) => with_id(&gateway.assumptions.registration_payment_path, id)?,
        RequestTarget::Forget(_) => return Err(Error::NoId),
        RequestTarget::Reference { payment, practice } => {
            form.text("referenceUuid", payment.as_str())?;
            form.text("standingInstruction.industryPractice", practice)?;
            PAYMENTS.to_owned()
        }
    };
    Ok(PreparedPayment { path, body: form.finish(), asked: expected, forgets: None })
}

/// Inserts an id into a configured path. The id must have 32 letters and digits (interface: Resources).
fn with_id(path: &str, id: &str) -> Result<String, Error> {
    if is_payment_id(id) { Ok(path.replace(ID, id)) } else { Err(Error::NoId) }
}

/// Builds the form of the terminal's own reversal. The form refers to an earlier payment with paymentType RV, and
/// contains nothing that a strict gateway could refuse (design: Reading the interface documents).
///
/// # Errors
/// Returns an error for the first value that does not fit.
pub(super) fn reversal(
    gateway: &config::Gateway,
    place: &config::PointOfSale,
    payment: &PaymentId,
    amount: Amount,
    merchant_transaction_id: &str,
) -> Result<PreparedPayment, Error> {
    let (kind, on) = (Kind::Reversal, RequestTarget::Payment(payment));
    let asked = WithoutCard { kind, on, amount, merchant_transaction_id, number: None, parameters: &[] };
    without_card(gateway, place, &asked)
}

fn basics(
    form: &mut Form,
    gateway: &config::Gateway,
    kind: Kind,
    amount: Amount,
    merchant_transaction_id: &str,
) -> Result<(), Error> {
    form.text("entityId", &gateway.entity_id)?;
    if kind != Kind::StoreCard {
        form.text("amount", &amount.to_gateway()?)?;
        form.text("currency", amount.currency().code())?;
        form.text("paymentType", kind.payment_type())?;
    }
    form.text("merchantTransactionId", merchant_transaction_id)?;
    let test_mode = gateway.test_mode.map(|mode| match mode {
        config::TestMode::External => "EXTERNAL",
        config::TestMode::Internal => "INTERNAL",
    });
    form.optional("testMode", test_mode)
}

fn card(form: &mut Form, presented: &Presented, with_chip: bool) -> Result<(), Error> {
    form.hex("pos.encryptedSred.data", presented.card.data.expose())?;
    form.ksn("pos.encryptedSred.ksn", presented.card.ksn.expose())?;
    if let Some(SealedPin { block, ksn }) = &presented.pin {
        let block = block.expose();
        if !matches!(block.len(), 8 | 16) {
            let name = "pos.encryptedPin.data";
            return Err(Error::SealedLength { name, found: block.len(), expected: "8 or 16" });
        }
        form.hex("pos.encryptedPin.data", block)?;
        form.ksn("pos.encryptedPin.ksn", ksn.expose())?;
    }
    match presented.icc.expose() {
        tlvs if with_chip && !tlvs.is_empty() => form.hex("pos.iccDataRequest", tlvs),
        _ => Ok(()),
    }
}

/// Returns the brand of the longest matching AID prefix in the settings. If none matches, the gateway detects the brand
/// (interface: `paymentBrand`).
fn brand<'a>(gateway: &'a config::Gateway, presented: &Presented) -> Option<&'a str> {
    let aid = presented.facts.aid.as_deref()?;
    let prefixes = gateway.brand_by_aid.iter().filter(|(prefix, _)| aid.starts_with(prefix.as_str()));
    prefixes.max_by_key(|(prefix, _)| prefix.len()).map(|(_, brand)| brand.as_str())
}

/// The unfinished body.
struct Form(Zeroizing<Vec<u8>>);

impl Form {
    /// Reserves room for the parameters of the till and the shop. Each of their bytes takes at most three bytes.
    fn new(parameters: &[&[(String, String)]]) -> Self {
        let added: usize =
            parameters.iter().copied().flatten().map(|(name, value)| 3 * (name.len() + value.len()) + 2).sum();
        Self(Zeroizing::new(Vec::with_capacity(CAPACITY + added.min(2 * MAX_PARAMETERS))))
    }

    fn optional(&mut self, name: &'static str, value: Option<&str>) -> Result<(), Error> {
        value.map_or(Ok(()), |value| self.text(name, value))
    }

    fn text(&mut self, name: &'static str, value: &str) -> Result<(), Error> {
        row(name).check(value)?;
        self.begin(name)?;
        for piece in form_urlencoded::byte_serialize(value.as_bytes()) {
            self.push(piece.as_bytes())?;
        }
        Ok(())
    }

    /// Adds the terminal's id and the transaction's number.
    fn terminal(&mut self, place: &config::PointOfSale, number: SaleNumber) -> Result<(), Error> {
        self.text("pos.terminalId", &place.terminal_id)?;
        self.text("pos.transactionSource", "POS")?;
        self.text("pos.transactionSequenceNumber", &number.to_string())
    }

    /// Adds the parameters of the till and the shop. They were checked when they were requested, or when the settings
    /// were read.
    fn parameters(&mut self, parameters: &[&[(String, String)]]) -> Result<(), Error> {
        let start = self.0.len();
        for (name, value) in parameters.iter().copied().flatten() {
            for (n, part) in [name, value].into_iter().enumerate() {
                self.push(if n == 0 { b"&" } else { b"=" })?;
                for piece in form_urlencoded::byte_serialize(part.as_bytes()) {
                    self.push(piece.as_bytes())?;
                }
            }
        }
        if self.0.len() - start > 2 * MAX_PARAMETERS { Err(Error::TooLong) } else { Ok(()) }
    }

    fn ksn(&mut self, name: &'static str, ksn: &[u8]) -> Result<(), Error> {
        match ksn.len() {
            10 | 12 => self.hex(name, ksn),
            found => Err(Error::SealedLength { name, found, expected: "10 or 12" }),
        }
    }

    /// Writes upper-case hex in place. Hex digits need no escaping, so no other copy of them is made.
    fn hex(&mut self, name: &'static str, bytes: &[u8]) -> Result<(), Error> {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        self.begin(name)?;
        let start = self.0.len();
        for byte in bytes {
            self.push(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 0x0F)]])?;
        }
        let written = std::str::from_utf8(&self.0[start..]).expect("hex digits are ASCII");
        row(name).check(written)?;
        Ok(())
    }

    fn begin(&mut self, name: &'static str) -> Result<(), Error> {
        if !self.0.is_empty() {
            self.push(b"&")?;
        }
        self.push(name.as_bytes())?;
        self.push(b"=")
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if bytes.len() > self.0.capacity() - self.0.len() {
            return Err(Error::TooLong);
        }
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finish(self) -> Bytes {
        Bytes::from_owner(self.0)
    }
}

/// Returns a parameter's row in the table. The names in this file are constants; `tests/gateway/parameters.rs` checks
/// each of them against the table.
fn row(name: &'static str) -> &'static parameter::Row {
    parameter::find(name).expect("every parameter that is sent has a row")
}
