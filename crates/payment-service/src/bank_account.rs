//! Bank accounts (data-model: Bank account): direct debits with or without SEPA, payouts to an account, and transfers
//! that the customer makes on the bank's page.
//!
//! Where the interface is silent, the gateway assumes the following:
//!
//! - The only brands are the constants below.
//! - A pre-authorisation (PA) of a bank account is impossible.
//! - The id of a mandate and its signature date must be sent together, and the date must not be in the future.
//! - For a SEPA debit without a mandate, the gateway makes one and returns it in the answer.
//! - A due date must not be in the past.
//! - SEPA payments must be in euros and name an IBAN.
//! - The settlement needs the last four characters of the account, its bank and its holder. The books keep these data,
//!   and no answer shows them.
//!
//! As with cards, only published example accounts exist. An unknown IBAN is refused.

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

/// The brands: a direct debit by account number and bank code, a direct debit by IBAN, and a transfer on the bank's
/// page.
const DEBIT: &str = "DIRECTDEBIT";
const SEPA: &str = "DIRECTDEBIT_SEPA";
const TRANSFER: &str = "ONLINETRANSFER";

const IBAN: &str = "bankAccount.iban";
const NUMBER: &str = "bankAccount.number";
const MANDATE: [&str; 2] = ["bankAccount.mandate.id", "bankAccount.mandate.dateOfSignature"];
const DUE: &str = "transactionDueDate";

/// The fewest digits of an account number that can identify an account.
const SHORTEST: usize = 6;

/// The known accounts; the last one is closed.
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
    rule(IBAN, "100.100.101", "invalid bank account: not one of this gateway's public test accounts");

impl Host {
    /// Finds the bank account that a form names.
    pub(super) fn bank_account(&self, form: &Form, kind: Kind) -> Result<Paying, Refusal> {
        if kind == Kind::PreAuthorisation {
            return Err(Invalid::new("paymentType", "a bank account allows no reservation: use DB or CD").into());
        }
        let brand = form.required("paymentBrand")?;
        let account = account(form)?;
        let (method, page) = match (brand, kind) {
            (TRANSFER, Kind::Debit) => (Method::OnlineTransfer, Some(PageKind::Account)),
            (DEBIT | SEPA, Kind::Debit | Kind::RiskCheck) => (Method::DirectDebit, None),
            (DEBIT | SEPA, Kind::Credit) => (Method::CreditTransfer, None),
            (TRANSFER, _) => return Err(Invalid::new("paymentType", "an online transfer must be DB").into()),
            _ => {
                let why = format!("must be {DEBIT}, {SEPA} or {TRANSFER} with a bank account");
                return Err(Invalid::new("paymentBrand", why).into());
            }
        };
        let foreign = form.get("currency").filter(|currency| *currency != "EUR").map(|_| "currency");
        if let Some(name) = foreign.or(form.get(IBAN).is_none().then_some(IBAN)).filter(|_| brand == SEPA) {
            return Err(Invalid::new(name, "SEPA needs an IBAN and euros").into());
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

    /// Checks the mandate and the due date, which are allowed only for direct debits.
    fn debit_rules(&self, form: &Form, method: Method, brand: &str, shown: &mut Value) -> Result<(), Invalid> {
        let today = self.clock.now().format("%Y-%m-%d").to_string();
        if method != Method::DirectDebit {
            let debits = [MANDATE[0], MANDATE[1], DUE].into_iter().find(|name| form.get(name).is_some());
            return debits.map_or(Ok(()), |name| Err(Invalid::new(name, "belongs to a direct debit")));
        }
        // Dates in this format also sort correctly as text.
        if !self.host_rules().books_all() {
            match MANDATE.map(|name| form.get(name)) {
                [Some(_), None] => {
                    return Err(Invalid::new(MANDATE[1], "a mandate needs an id and a signature date"));
                }
                [None, Some(_)] => {
                    return Err(Invalid::new(MANDATE[0], "a mandate needs an id and a signature date"));
                }
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

/// Finds the known account that a form names.
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
    // A national account number is the last part of its IBAN.
    let is_it =
        |known: &&str| known.strip_suffix(number).is_some_and(|rest| number.len() >= SHORTEST && rest.contains(code));
    IBANS.into_iter().find(is_it).ok_or(rule(
        NUMBER,
        "100.100.101",
        "invalid bank account: not one of this gateway's public test accounts",
    ))
}

/// Returns the account fields that an answer may show, without number and holder.
fn shown(form: &Form) -> Value {
    let mut fields = Map::new();
    for name in ["bankName", "bankCode", "bic", "country"] {
        if let Some(value) = form.get(&format!("bankAccount.{name}")) {
            fields.insert(name.to_owned(), json!(value));
        }
    }
    Value::Object(fields)
}

/// Returns the account fields for the settlement (data-model: Reconciliation file, AccountNumberLast4, BankCode,
/// AccountHolder). A German IBAN contains the bank code.
fn of_settlement(form: &Form, iban: &str) -> Value {
    let code = form.get("bankAccount.bankCode").or_else(|| iban.starts_with("DE").then(|| iban.get(4..12)).flatten());
    json!({
        "last4Digits": iban.get(iban.len().saturating_sub(4)..),
        "bankCode": code,
        "holder": form.get("bankAccount.holder"),
    })
}

/// Returns the shop's account, which receives the money (data-model: Payment response fields).
fn payee() -> Value {
    json!({ "holder": "Shop of Tests", "number": "DE02120300000000202051", "bic": "BYLADEM1001", "country": "DE" })
}

/// Makes a mandate id of letters and a hyphen.
fn mandate_id() -> String {
    let letters: String = new_id().bytes().take(12).map(|c| char::from(b'A' + c % 26)).collect();
    format!("SIM-{letters}")
}
