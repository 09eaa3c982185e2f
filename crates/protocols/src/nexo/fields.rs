//! Every field that the Terminal API documents of a payment and of a reversal, and what becomes of it: it is
//! **obeyed**, **refused** by its name, or **harmless**, which is to say that it changes nothing of what is paid and is
//! passed over.
//!
//! It is one table: what refuses reads it, and the manual's is made from it ([`manual`]). A field that no table of the
//! protocol has is passed over; in `SaleToAcquirerData` a key that is not here is refused.

use std::fmt::Write as _;

use super::envelope::{Fields, ReadError};
use super::number::Decimal;

/// The fields of one object; one that has an entry of its own stands there and not here.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// The name of the field that it is.
    pub name: &'static str,
    /// Fields that are followed. What is in one that cannot be had is refused by its name too.
    pub obeyed: &'static [&'static str],
    /// Fields that are refused, whatever is in them; unless it is nothing.
    pub refused: &'static [&'static str],
    /// Fields that are passed over.
    pub harmless: &'static [&'static str],
}

/// The object whose keys are the acquirer's own.
pub const FOR_ACQUIRER: &str = "SaleToAcquirerData";

/// All of them.
pub const OBJECTS: &[Object] = &[
    Object { name: "PaymentRequest", obeyed: &[], refused: &["LoyaltyData"], harmless: &[] },
    Object {
        name: "ReversalRequest",
        obeyed: &["ReversedAmount"],
        refused: &["CustomerOrder"],
        harmless: &["ReversalReason"],
    },
    Object {
        name: "SaleData",
        obeyed: &["OperatorID", "SaleReferenceID", "TokenRequestedType"],
        refused: &["SponsoredMerchant"],
        harmless: &[
            "CustomerOrderID",
            "CustomerOrderReq",
            "OperatorLanguage",
            "SaleToIssuerData",
            "SaleToPOIData",
            "ShiftNumber",
        ],
    },
    Object { name: "SaleTransactionID", obeyed: &["TimeStamp", "TransactionID"], refused: &[], harmless: &[] },
    Object {
        name: "SaleTerminalData",
        obeyed: &[],
        refused: &[],
        harmless: &["SaleCapabilities", "SaleProfile", "TerminalEnvironment", "TotalsGroupID"],
    },
    Object {
        name: FOR_ACQUIRER,
        obeyed: &["authorisationType", "currency", "manualCapture", "tenderOption"],
        refused: &["additionalData", "merchantAccount", "redemptionType", "split", "ssc", "store"],
        harmless: &[
            "applicationInfo",
            "metadata",
            "recurringContract",
            "recurringDetailName",
            "recurringProcessingModel",
            "recurringTokenService",
            "shopperEmail",
            "shopperReference",
            "shopperStatement",
        ],
    },
    Object { name: "PaymentTransaction", obeyed: &[], refused: &[], harmless: &["SaleItem"] },
    Object {
        name: "AmountsReq",
        obeyed: &["Currency", "MinimumAmountToDeliver", "MinimumSplitAmount", "RequestedAmount", "TipAmount"],
        refused: &["CashBackAmount", "PaidAmount"],
        harmless: &["MaximumCashBackAmount"],
    },
    Object {
        name: "OriginalPOITransaction",
        obeyed: &["POIID", "SaleID"],
        refused: &[],
        harmless: &["AcquirerID", "ApprovalCode", "CustomerLanguage", "HostTransactionID", "ReuseCardDataFlag"],
    },
    Object { name: "POITransactionID", obeyed: &["TimeStamp", "TransactionID"], refused: &[], harmless: &[] },
    Object {
        name: "TransactionConditions",
        obeyed: &["ForceEntryMode", "ForceOnlineFlag", "LoyaltyHandling"],
        refused: &["AcquirerID", "AllowedLoyaltyBrand", "AllowedPaymentBrand", "MerchantCategoryCode"],
        harmless: &["CustomerLanguage", "DebitPreferredFlag"],
    },
    Object {
        name: "PaymentData",
        obeyed: &["PaymentType", "SplitPaymentFlag"],
        refused: &["CardAcquisitionReference", "CustomerOrder", "Instalment"],
        harmless: &["RequestedValidityDate"],
    },
    Object {
        name: "PaymentInstrumentData",
        obeyed: &["PaymentInstrumentType"],
        refused: &["CheckData", "MobileData", "ProtectedCardData", "StoredValueAccountID"],
        harmless: &[],
    },
    Object {
        name: "CardData",
        obeyed: &[],
        refused: &[
            "AllowedProduct",
            "AllowedProductCode",
            "CustomerOrder",
            "MaskedPan",
            "MaskedPAN",
            "PaymentAccountRef",
            "PaymentBrand",
            "ProtectedCardData",
            "SensitiveCardData",
        ],
        harmless: &["CardCountryCode", "EntryMode"],
    },
    Object {
        name: "PaymentToken",
        obeyed: &["TokenValue"],
        refused: &[],
        harmless: &["ExpiryDateTime", "TokenRequestedType"],
    },
];

/// Fields of which some words are served; any other one is refused.
pub const WORDS: &[(&str, &[&str])] =
    &[("LoyaltyHandling", &["Allowed", "Forbidden", "Proposed"]), ("PaymentInstrumentType", &["Card"])];

/// The object of this name.
#[must_use]
pub fn object(name: &str) -> Option<&'static Object> {
    OBJECTS.iter().find(|object| object.name == name)
}

/// The first field of a request's body that is refused; the table's name of it, and nothing of what is in it.
///
/// # Errors
/// Where a name stands twice in an object, or there are too many: which of the two was meant is not guessed.
pub(super) fn refused(name: &'static str, body: &str) -> Result<Option<String>, ReadError> {
    let Some(object) = object(name) else { return Ok(None) };
    let fields = Fields::read(name, body)?;
    for (field, value) in fields.iter().filter(|(_, value)| is_given(value)) {
        let words = WORDS.iter().find(|(known, _)| *known == field).map(|(_, words)| *words);
        let is_served = |words: &[&str]| words.iter().any(|word| value.trim_matches('"') == *word);
        if object.refused.contains(&field) || words.is_some_and(|words| !is_served(words)) {
            return Ok(Some(format!("{name}.{field}")));
        }
        // The acquirer's keys come in several forms, and are judged with what they are to do.
        let within = OBJECTS.iter().find(|object| object.name == field && field != FOR_ACQUIRER);
        if let Some(within) = within.filter(|_| value.starts_with('{'))
            && let Some(found) = refused(within.name, value)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Nothing is as good as absent: some tills write it for every field that they have no value for.
fn is_given(value: &str) -> bool {
    let bare: String = value.chars().filter(|letter| !letter.is_ascii_whitespace()).take(40).collect();
    !matches!(bare.as_str(), "null" | "false" | "\"\"" | "[]" | "{}") && bare.parse::<Decimal>() != Ok(Decimal::ZERO)
}

/// The table of the manual.
#[must_use]
pub fn manual() -> String {
    let mut out = "| in | obeyed | refused by name | harmless: passed over |\n|---|---|---|---|\n".to_owned();
    for object in OBJECTS {
        let column = |names: &[&str]| {
            let with_words = |name: &&str| match WORDS.iter().find(|(known, _)| known == name) {
                Some((_, words)) => format!("{name} ({})", words.join(", ")),
                None => (*name).to_owned(),
            };
            names.iter().map(with_words).collect::<Vec<_>>().join(", ")
        };
        let columns = [column(object.obeyed), column(object.refused), column(object.harmless)];
        // Writing into a String does not fail.
        let _ = writeln!(out, "| {} | {} |", object.name, columns.join(" | "));
    }
    out
}
