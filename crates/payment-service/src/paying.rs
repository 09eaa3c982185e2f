//! What a means of payment comes to, whichever it is.

use serde_json::Value;

use super::answer::CheckLetters;
use super::declined::Declined;
use super::masked_card::MaskedCard;
use super::method::Method;
use super::redirect::PageKind;
use super::test_card::TestCard;

/// A means in one payment: what may be shown of it, and whether it pays.
pub(super) struct Paying {
    pub method: Method,
    pub masked_card: Option<MaskedCard>,
    /// What an answer shows beside the card's digits.
    pub shown: Value,
    pub checks: CheckLetters,
    pub declined: Option<Declined>,
    /// The page on which the customer has to act.
    pub page: Option<PageKind>,
    /// The card whose holder may have to be authenticated.
    pub secure: Option<&'static TestCard>,
    /// By which the books find everything that was paid from it.
    pub paid_from: Option<String>,
    /// Of a bank account: what the settlement names and no answer shows.
    pub account: Option<Value>,
}

impl Paying {
    /// What pays at once.
    pub(super) fn new(method: Method, shown: Value, checks: CheckLetters) -> Self {
        Self {
            method,
            masked_card: None,
            shown,
            checks,
            declined: None,
            page: None,
            secure: None,
            paid_from: None,
            account: None,
        }
    }
}
