//! The till's data for the acquirer. Each key is obeyed, refused by name, or ignored. An unknown key is refused,
//! because it may change the payment. The till's settings can declare a key as meaningless.

use super::Settings;
use super::metadata::{self, METADATA};
use super::refusal::because;
use crate::nexo::additional::SaleToAcquirerData;
use crate::nexo::enums::{ErrorCondition, has_many_digits};
use crate::nexo::fields::{FOR_ACQUIRER, object};
use crate::nexo::shared::Outcome;

/// Maximum number of characters of a key in an answer.
const LONGEST_KEY: usize = 40;
/// Words of `tenderOption` that do not change the payment.
const HARMLESS_OPTIONS: [&str; 2] = ["GetAdditionalData", "ReceiptHandler"];

/// The requests in the data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// `true` reserves the amount, and `false` does not. `None` means that the data do not say.
    pub(super) reserves: Option<bool>,
    /// The reader asks the customer for a tip.
    pub(super) asks_tip: bool,
    /// The till accepts a partial approval.
    pub(super) in_part: bool,
    /// The currency of the amounts.
    pub(super) currency: Option<String>,
    /// The texts that the answer gives back, as pairs.
    pub(super) metadata: String,
}

/// Returns whether a till's settings may declare this key as meaningless.
#[must_use]
pub fn may_be_ignored(key: &str) -> bool {
    let root = key.split(['.', '[']).next().unwrap_or(key);
    let changes = |root: &str| root != METADATA && object(FOR_ACQUIRER).is_some_and(|it| it.obeyed.contains(&root));
    root != "split" && !changes(root)
}

/// Reads the till's requests, or returns the refusal of a key.
pub(super) fn read(data: Option<&SaleToAcquirerData>, settings: &Settings) -> Result<Asked, Outcome> {
    let Some(data) = data else { return Ok(Asked::default()) };
    let entries = data.entries().ok_or_else(|| {
        let why = format!("{FOR_ACQUIRER}: must be pairs or a JSON object, without duplicate keys");
        because(ErrorCondition::MessageFormat, &why)
    })?;
    let mut asked = Asked { metadata: metadata::read(data, settings)?, ..Asked::default() };
    for (key, value) in &entries {
        match (key.as_str(), value.as_str()) {
            ("authorisationType", "PreAuth") | ("manualCapture", "true") => reserve(&mut asked, true, key)?,
            ("authorisationType", "FinalAuth") | ("manualCapture", "false") => reserve(&mut asked, false, key)?,
            ("tenderOption", options) => tender(&mut asked, options)?,
            ("currency", currency) => asked.currency = Some(currency.to_owned()),
            (key, _) if is_passed_over(key, settings) => {}
            _ => return Err(refused(key)),
        }
    }
    Ok(asked)
}

fn reserve(asked: &mut Asked, reserves: bool, key: &str) -> Result<(), Outcome> {
    // Two keys that contradict each other are refused.
    if *asked.reserves.get_or_insert(reserves) == reserves { Ok(()) } else { Err(refused(key)) }
}

fn tender(asked: &mut Asked, options: &str) -> Result<(), Outcome> {
    for option in options.split(',').map(str::trim).filter(|option| !option.is_empty()) {
        match option {
            "AskGratuity" => asked.asks_tip = true,
            "AllowPartialAuthorisation" => asked.in_part = true,
            option if HARMLESS_OPTIONS.contains(&option) => {}
            option => return Err(refused(&format!("tenderOption={option}"))),
        }
    }
    Ok(())
}

fn is_passed_over(key: &str, settings: &Settings) -> bool {
    let harmless = object(FOR_ACQUIRER).map_or(&[][..], |object| object.harmless);
    is_below(key, METADATA)
        || harmless.iter().any(|known| is_below(key, known))
        || may_be_ignored(key) && settings.ignore.iter().any(|known| is_below(key, known))
}

/// Returns whether this key is the known one, or a key below it.
pub(super) fn is_below(key: &str, known: &str) -> bool {
    key.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Returns a key for an answer. A key that may contain a card number is not shown.
pub(super) fn named(key: &str) -> String {
    if has_many_digits(key) { "…".to_owned() } else { key.chars().take(LONGEST_KEY).collect() }
}

/// Refuses a key by name.
pub(super) fn refused(key: &str) -> Outcome {
    let why = format!("{FOR_ACQUIRER}: {}: this terminal does not support it; omit it", named(key));
    because(ErrorCondition::NotAllowed, &why)
}
