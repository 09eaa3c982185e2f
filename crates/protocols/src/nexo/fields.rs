//! The handling of every field that the Terminal API documents for a payment and a reversal. The session **obeys** a
//! field, **refuses** it by name, or ignores it as **harmless** if it does not change the payment.
//!
//! The code that refuses fields and the table in the manual ([`manual`]) both use this table. A field that the protocol
//! does not document is ignored. In `SaleToAcquirerData`, a key outside this table is refused.

use std::fmt::Write as _;

use super::envelope::{Fields, ReadError};
use super::number::Decimal;

/// The fields of one object. A field that has its own entry is not repeated here.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// The name of the field that holds the object.
    pub name: &'static str,
    /// Fields that are obeyed. An unsupported value in them is refused by name.
    pub obeyed: &'static [&'static str],
    /// Fields that are refused with any value except an empty one.
    pub refused: &'static [&'static str],
    /// Fields that are ignored.
    pub harmless: &'static [&'static str],
}

/// The object with the acquirer's keys.
pub const FOR_ACQUIRER: &str = "SaleToAcquirerData";

/// All objects.
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
        obeyed: &["authorisationType", "currency", "manualCapture", "metadata", "tenderOption"],
        refused: &["additionalData", "merchantAccount", "redemptionType", "split", "ssc", "store"],
        harmless: &[
            "applicationInfo",
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

/// Fields that support only these words. Other words are refused.
pub const WORDS: &[(&str, &[&str])] =
    &[("LoyaltyHandling", &["Allowed", "Forbidden", "Proposed"]), ("PaymentInstrumentType", &["Card"])];

/// Returns the object with this name.
#[must_use]
pub fn object(name: &str) -> Option<&'static Object> {
    OBJECTS.iter().find(|object| object.name == name)
}

/// Finds the first refused field of a request's body. Returns its name in the table, without its content.
///
/// # Errors
/// Fails if a name occurs twice in an object, because its meaning is ambiguous, or if there are too many names.
pub(super) fn refused(name: &'static str, body: &str) -> Result<Option<String>, ReadError> {
    let Some(object) = object(name) else { return Ok(None) };
    let fields = Fields::read(name, body)?;
    for (field, value) in fields.iter().filter(|(_, value)| is_given(value)) {
        let words = WORDS.iter().find(|(known, _)| *known == field).map(|(_, words)| *words);
        let is_served = |words: &[&str]| words.iter().any(|word| value.trim_matches('"') == *word);
        if object.refused.contains(&field) || words.is_some_and(|words| !is_served(words)) {
            return Ok(Some(format!("{name}.{field}")));
        }
        // The acquirer's keys come in several forms, so the session judges them when it reads their values.
        let within = OBJECTS.iter().find(|object| object.name == field && field != FOR_ACQUIRER);
        if let Some(within) = within.filter(|_| value.starts_with('{'))
            && let Some(found) = refused(within.name, value)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Returns whether a value is present. An empty value counts as absent, because some tills send an empty value for each
/// unused field.
fn is_given(value: &str) -> bool {
    let bare: String = value.chars().filter(|letter| !letter.is_ascii_whitespace()).take(40).collect();
    !matches!(bare.as_str(), "null" | "false" | "\"\"" | "[]" | "{}") && bare.parse::<Decimal>() != Ok(Decimal::ZERO)
}

/// Builds the table for the manual.
#[must_use]
pub fn manual() -> String {
    let mut out = "| in | obeyed | refused by name | harmless: ignored |\n|---|---|---|---|\n".to_owned();
    for object in OBJECTS {
        let column = |names: &[&str]| {
            let with_words = |name: &&str| match WORDS.iter().find(|(known, _)| known == name) {
                Some((_, words)) => format!("{name} ({})", words.join(", ")),
                None => (*name).to_owned(),
            };
            names.iter().map(with_words).collect::<Vec<_>>().join(", ")
        };
        let columns = [column(object.obeyed), column(object.refused), column(object.harmless)];
        // Writing to a `String` cannot fail.
        let _ = writeln!(out, "| {} | {} |", object.name, columns.join(" | "));
    }
    out
}
