//! Accounts at a provider (data-model: Virtual account). The customer signs in at the provider and pays. Any account id
//! is valid. The customer's action on the page and the cents decide the payment.

use serde_json::json;

use super::answer::CheckLetters;
use super::entry::Kind;
use super::form::Form;
use super::invalid::Invalid;
use super::method::Method;
use super::paying::Paying;
use super::redirect::PageKind;

/// Reads the account from a form. A payout to it needs no action of the customer.
pub(super) fn virtual_account(form: &Form, kind: Kind) -> Result<Paying, Invalid> {
    let account = form.required("virtualAccount.accountId")?;
    let brand = form.required("paymentBrand")?;
    let shown = json!({ "paymentBrand": brand, "virtualAccount": { "accountId": account } });
    let page = (kind != Kind::Credit).then_some(PageKind::Account);
    Ok(Paying { page, ..Paying::new(Method::VirtualAccount, shown, CheckLetters::default()) })
}
