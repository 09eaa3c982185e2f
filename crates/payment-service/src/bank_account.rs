//! Bank accounts (data-model: Bank account): direct debits, with or without SEPA, money to an account, and transfers
//! that the customer makes at the bank's own page.
//!
//! Assumed, as the interface is silent: the brands below; a reservation (PA) of a bank account does not exist; the id
//! of a mandate and the day of its signature come together, that day is not in the future, and a SEPA debit without one
//! gets a mandate here, which the answer carries; a due date is not in the past; SEPA is in euros and by IBAN. Of an
//! account its last four characters, its bank and its holder are kept for the settlement, and no answer shows them.
//!
//! Published example accounts only, as of cards: an IBAN that is not here is refused.

use serde_json::{Map, Value, json};

use super::answer::CheckLetters;
use super::declined::Declined;
use super::entry::Kind;
use super::envelope::new_id;
use super::form::Form;
use super::host::Host;
use super::invalid::Invalid;
use super::method::Method;
use super::paying::Paying;
use super::redirect::PageKind;
use super::refusal::{Refusal, rule};

/// A direct debit by account number and bank code, one by IBAN, and a transfer at the bank's page.
const DEBIT: &str = "DIRECTDEBIT";
const SEPA: &str = "DIRECTDEBIT_SEPA";
const TRANSFER: &str = "ONLINETRANSFER";

const IBAN: &str = "bankAccount.iban";
const NUMBER: &str = "bankAccount.number";
const MANDATE: [&str; 2] = ["bankAccount.mandate.id", "bankAccount.mandate.dateOfSignature"];
const DUE: &str = "transactionDueDate";

/// The fewest digits of an account's number that tell which one is meant.
const SHORTEST: usize = 6;

/// The accounts; the last one is closed.
pub(super) const IBANS: [&str; 12] = [
    "DE89370400440532013000",
    "DE02120300000000202051",
    "AT611904300234573201",
    "BE68539007547034",
    "CH9300762011623852957",
    "ES9121000418450200051332",
    "FR1420041010050500013M02606",
    "GB29NWBK60161331926819",
    "IE29AIBK93115212345678",
    "IT60X0542811101000000123456",
    "NL91ABNA0417164300",
    CLOSED,
];
const CLOSED: &str = "DE02100500000054540402";
const ACCOUNT_CLOSED: Declined =
    Declined { code: "800.100.152", description: "transaction declined (account closed)", arc: *b"14" };

const FOREIGN: Refusal =
    rule(IBAN, "100.100.101", "invalid bank account: not one of the public test accounts of this gateway");

impl Host {
    /// The bank account of a form.
    pub(super) fn bank_account(&self, form: &Form, kind: Kind) -> Result<Paying, Refusal> {
        if kind == Kind::PreAuthorisation {
            return Err(Invalid::new("paymentType", "a bank account has nothing to reserve: DB or CD").into());
        }
        let brand = form.required("paymentBrand")?;
        let account = account(form)?;
        let (method, page) = match (brand, kind) {
            (TRANSFER, Kind::Debit) => (Method::OnlineTransfer, Some(PageKind::Account)),
            (DEBIT | SEPA, Kind::Debit | Kind::RiskCheck) => (Method::DirectDebit, None),
            (DEBIT | SEPA, Kind::Credit) => (Method::CreditTransfer, None),
            (TRANSFER, _) => return Err(Invalid::new("paymentType", "an online transfer is DB").into()),
            _ => {
                let why = format!("must be {DEBIT}, {SEPA} or {TRANSFER} with a bank account");
                return Err(Invalid::new("paymentBrand", why).into());
            }
        };
        let foreign = form.get("currency").filter(|currency| *currency != "EUR").map(|_| "currency");
        if let Some(name) = foreign.or(form.get(IBAN).is_none().then_some(IBAN)).filter(|_| brand == SEPA) {
            return Err(Invalid::new(name, "SEPA is by IBAN, in euros").into());
        }
        let mut shown = json!({ "paymentBrand": brand, "bankAccount": shown(form) });
        if method != Method::CreditTransfer {
            shown["merchant"]["bankAccount"] = payee();
        }
        self.debit_rules(form, method, brand, &mut shown)?;
        let declined = (account == CLOSED).then_some(ACCOUNT_CLOSED);
        let account = Some(of_settlement(form, account));
        Ok(Paying { page, declined, account, ..Paying::new(method, shown, CheckLetters::default()) })
    }

    /// Mandate and due date, which are of direct debits.
    fn debit_rules(&self, form: &Form, method: Method, brand: &str, shown: &mut Value) -> Result<(), Invalid> {
        let today = self.clock.now().format("%Y-%m-%d").to_string();
        if method != Method::DirectDebit {
            let debits = [MANDATE[0], MANDATE[1], DUE].into_iter().find(|name| form.get(name).is_some());
            return debits.map_or(Ok(()), |name| Err(Invalid::new(name, "belongs to a direct debit")));
        }
        // Dates of this form are in their order as texts too.
        if !self.host_rules().books_all() {
            match MANDATE.map(|name| form.get(name)) {
                [Some(_), None] => return Err(Invalid::new(MANDATE[1], "a mandate has an id and a day of signature")),
                [None, Some(_)] => return Err(Invalid::new(MANDATE[0], "a mandate has an id and a day of signature")),
                [_, Some(day)] if day > today.as_str() => {
                    return Err(Invalid::new(MANDATE[1], "is in the future"));
                }
                _ => {}
            }
            if form.get(DUE).is_some_and(|due| due < today.as_str()) {
                return Err(Invalid::new(DUE, "is in the past"));
            }
        }
        if brand == SEPA && form.get(MANDATE[0]).is_none() {
            shown["bankAccount"]["mandate"] = json!({ "id": mandate_id(), "dateOfSignature": today });
        }
        Ok(())
    }
}

/// The account that is meant, among those that there are.
fn account(form: &Form) -> Result<&'static str, Refusal> {
    if let Some(iban) = form.get(IBAN) {
        let known = IBANS.into_iter().find(|known| *known == iban).ok_or(FOREIGN)?;
        let country = form.get("bankAccount.country");
        if country.is_some_and(|country| !known.starts_with(&country.to_ascii_uppercase())) {
            return Err(Invalid::new("bankAccount.country", "is not that of the IBAN").into());
        }
        return Ok(known);
    }
    let number = form.required(NUMBER)?;
    let code = form.get("bankAccount.bankCode").unwrap_or_default();
    // A number of the country is the end of its IBAN.
    let is_it =
        |known: &&str| known.strip_suffix(number).is_some_and(|rest| number.len() >= SHORTEST && rest.contains(code));
    IBANS.into_iter().find(is_it).ok_or(rule(
        NUMBER,
        "100.100.101",
        "invalid bank account: not one of the public test accounts of this gateway",
    ))
}

/// What an answer shows of an account: neither number nor holder.
fn shown(form: &Form) -> Value {
    let mut fields = Map::new();
    for name in ["bankName", "bankCode", "bic", "country"] {
        if let Some(value) = form.get(&format!("bankAccount.{name}")) {
            fields.insert(name.to_owned(), json!(value));
        }
    }
    Value::Object(fields)
}

/// What the settlement names of an account (data-model: Reconciliation file, AccountNumberLast4, BankCode,
/// AccountHolder). A German IBAN holds the bank's code.
fn of_settlement(form: &Form, iban: &str) -> Value {
    let code = form.get("bankAccount.bankCode").or_else(|| iban.starts_with("DE").then(|| iban.get(4..12)).flatten());
    json!({
        "last4Digits": iban.get(iban.len().saturating_sub(4)..),
        "bankCode": code,
        "holder": form.get("bankAccount.holder"),
    })
}

/// Whose account the money goes to (data-model: Payment response fields): the shop's.
fn payee() -> Value {
    json!({ "holder": "Shop of Tests", "number": "DE02120300000000202051", "bic": "BYLADEM1001", "country": "DE" })
}

/// Letters and a hyphen.
fn mandate_id() -> String {
    let letters: String = new_id().bytes().take(12).map(|c| char::from(b'A' + c % 26)).collect();
    format!("SIM-{letters}")
}
