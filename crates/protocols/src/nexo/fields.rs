//! The handling of every field that the Terminal API documents for a payment and a reversal. The session **obeys** a
//! field, **refuses** it by its name, or ignores it as **harmless**, because it does not change what is paid.
//!
//! The code that refuses fields and the table in the manual ([`manual`]) both use this one table. A field that is in no
//! table of the protocol is ignored. In `SaleToAcquirerData`, a key outside this table is refused.

use std::fmt::Write as _;

use super::envelope::{Fields, ReadError};
use super::number::Decimal;

/// The fields of one object. A field with its own entry is not repeated here.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// The name of the field that holds the object.
    pub name: &'static str,
    /// Fields that are obeyed. An unsupported value in them is also refused by name.
    pub obeyed: &'static [&'static str],
    /// Fields that are refused with any value, unless the value is empty.
    pub refused: &'static [&'static str],
    /// Fields that are ignored.
    pub harmless: &'static [&'static str],
}

/// The object with the acquirer's own keys.
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

/// Fields of which only these words are supported; others are refused.
pub const WORDS: &[(&str, &[&str])] =
    &[("LoyaltyHandling", &["Allowed", "Forbidden", "Proposed"]), ("PaymentInstrumentType", &["Card"])];

/// Returns the object of this name.
#[must_use]
pub fn object(name: &str) -> Option<&'static Object> {
    OBJECTS.iter().find(|object| object.name == name)
}

/// Finds the first refused field of a request's body. Returns its name in the table, without its content.
///
/// # Errors
/// Fails when a name occurs twice in an object, or when there are too many; the code does not guess which one was
/// meant.
pub(super) fn refused(name: &'static str, body: &str) -> Result<Option<String>, ReadError> {
    let Some(object) = object(name) else { return Ok(None) };
    let fields = Fields::read(name, body)?;
    for (field, value) in fields.iter().filter(|(_, value)| is_given(value)) {
        let words = WORDS.iter().find(|(known, _)| *known == field).map(|(_, words)| *words);
        let is_served = |words: &[&str]| words.iter().any(|word| value.trim_matches('"') == *word);
        if object.refused.contains(&field) || words.is_some_and(|words| !is_served(words)) {
            return Ok(Some(format!("{name}.{field}")));
        }
        // The acquirer's keys come in several forms; the session judges them when it reads their values.
        let within = OBJECTS.iter().find(|object| object.name == field && field != FOR_ACQUIRER);
        if let Some(within) = within.filter(|_| value.starts_with('{'))
            && let Some(found) = refused(within.name, value)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Tells whether a value is present. An empty value counts as absent, because some tills send all fields without a
/// value as empty.
fn is_given(value: &str) -> bool {
    let bare: String = value.chars().filter(|letter| !letter.is_ascii_whitespace()).take(40).collect();
    !matches!(bare.as_str(), "null" | "false" | "\"\"" | "[]" | "{}") && bare.parse::<Decimal>() != Ok(Decimal::ZERO)
}

/// Builds the table of the manual.
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
        // Writing to a String cannot fail.
        let _ = writeln!(out, "| {} | {} |", object.name, columns.join(" | "));
    }
    out
}
