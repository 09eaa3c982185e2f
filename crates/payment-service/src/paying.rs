//! The result of reading a means of payment. The type is the same for all means.

use serde_json::Value;

use super::answer::CheckLetters;
use super::declined::Declined;
use super::masked_card::MaskedCard;
use super::method::Method;
use super::redirect::PageKind;
use super::test_card::TestCard;

/// A means of payment in one payment: the fields that may be shown, and whether it pays.
pub(super) struct Paying {
    pub method: Method,
    pub masked_card: Option<MaskedCard>,
    /// The fields that an answer shows in addition to the masked card.
    pub shown: Value,
    pub checks: CheckLetters,
    pub declined: Option<Declined>,
    /// The page on which the customer must act.
    pub page: Option<PageKind>,
    /// The card whose holder may have to authenticate.
    pub secure: Option<&'static TestCard>,
    /// The key under which the books hold all its payments.
    pub paid_from: Option<String>,
    /// The fields of a bank account that the settlement contains and no answer shows.
    pub account: Option<Value>,
}

impl Paying {
    /// Makes the value for a means of payment that pays without a further step.
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
