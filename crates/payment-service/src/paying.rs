//! The result of reading a means of payment, the same for every means.

use serde_json::Value;

use super::answer::CheckLetters;
use super::declined::Declined;
use super::masked_card::MaskedCard;
use super::method::Method;
use super::redirect::PageKind;
use super::test_card::TestCard;

/// A means in one payment: the fields that may be shown, and whether it pays.
pub(super) struct Paying {
    pub method: Method,
    pub masked_card: Option<MaskedCard>,
    /// The fields that an answer shows in addition to the masked card.
    pub shown: Value,
    pub checks: CheckLetters,
    pub declined: Option<Declined>,
    /// The page on which the customer has to act.
    pub page: Option<PageKind>,
    /// The card whose holder may need authentication.
    pub secure: Option<&'static TestCard>,
    /// The key by which the books find all payments from it.
    pub paid_from: Option<String>,
    /// Of a bank account: the fields that the settlement names and no answer shows.
    pub account: Option<Value>,
}

impl Paying {
    /// Makes the value of a means that pays without a further step.
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
