//! The JSON answer about a payment, in the documented formats (data-model: Payment response fields, Point of sale). A
//! pure function of the booked entry and the request's form builds it. `envelope` adds the time stamp.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::brand;
use super::echo::echo;
use super::entry::{Kind, LedgerEntry, State};
use super::envelope::{add, result};
use super::form::Form;
use super::host_rules::HostRules;
use super::masked_card::MaskedCard;
use super::outcomes::Outcome;

/// The value of `pos.statusText` for the outcome with control bytes: ESC/POS initialise and drawer kick, bell, escape
/// sequences, C1.
const HOSTILE_TEXT: &str = "APPROVED\u{1B}@\u{1B}p\u{0}\u{19}\u{FA}\u{7}\r\n\u{1B}[31mTHANK YOU\u{9B}2J\u{7F}\nLINE 3";

/// The parts that make up an answer about a payment.
pub(super) struct AnswerParts<'a> {
    pub entry: &'a LedgerEntry,
    pub form: &'a Form,
    pub outcome: Outcome,
    pub masked_card: Option<&'a MaskedCard>,
    /// The card and brand of the original payment of a follow-up.
    pub as_before: Option<&'a Value>,
    pub icc: Option<&'a str>,
    /// The acquirer's result code.
    pub acquirer: &'a str,
    pub checks: CheckLetters,
    pub instruction: Option<&'a Value>,
    /// The further fields about the means of payment that an answer may show, in addition to the masked card.
    pub shown: Option<&'a Value>,
    /// True if a terminal sent the request.
    pub at_the_counter: bool,
    pub short_id: &'a str,
    pub at: DateTime<Utc>,
    pub host_rules: HostRules,
}

/// The result letters of the checks that were carried out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CheckLetters {
    pub address: Option<&'static str>,
    pub code: Option<&'static str>,
}

/// The fields of a payment's answer that the answer about its follow-up repeats.
const AS_BEFORE: [&str; 6] = ["card", "paymentBrand", "bankAccount", "tokenAccount", "virtualAccount", "giftCard"];

/// Builds the answer about a payment or a follow-up with the given result.
pub(super) fn payment(parts: &AnswerParts<'_>, code: &str, description: &str) -> Value {
    let AnswerParts { entry, form, .. } = parts;
    let mut answer = json!({
        "id": entry.id,
        "paymentType": entry.kind.as_str(),
        "amount": parts.host_rules.amount(&entry.id, &entry.amount),
        "currency": entry.currency,
        "result": result(code, description),
        "resultDetails": { "AcquirerResponse": parts.acquirer, "ShortId": parts.short_id },
    });
    // Only webhooks name the payment that an entry refers to (data-model: Payment response fields).
    if let Some(reference) = &entry.merchant_transaction_id {
        answer["merchantTransactionId"] = json!(reference);
    }
    checks(&mut answer, parts);
    if let Some(masked_card) = parts.masked_card {
        card(&mut answer, masked_card, form);
    }
    if let Some(shown) = parts.shown {
        add(&mut answer, shown);
    }
    if let Some(account) = parts.as_before.and_then(|before| before.pointer("/merchant/bankAccount")) {
        answer["merchant"]["bankAccount"] = account.clone();
    }
    for name in AS_BEFORE {
        if let Some(value) = parts.as_before.and_then(|before| before.get(name)) {
            answer[name] = value.clone();
        }
    }
    if let Some(instruction) = parts.instruction {
        answer["standingInstruction"] = instruction.clone();
        // The interface does not say which field holds the scheme's reference, so both fields hold it.
        if let Some(reference) = instruction.get("initialTransactionId") {
            answer["resultDetails"]["CardholderInitiatedTransactionID"] = reference.clone();
        }
    }
    if parts.at_the_counter {
        answer["pos"] = pos(parts);
    }
    echo(&mut answer, form, parts.at_the_counter);
    answer
}

/// Adds the letters for address and security code, the risk score, and the advice after a decline.
fn checks(answer: &mut Value, parts: &AnswerParts<'_>) {
    let declined = parts.entry.state == State::Declined;
    let unchecked = parts.outcome == Outcome::Unchecked;
    for (name, letter) in [("avsResponse", parts.checks.address), ("cvvResponse", parts.checks.code)] {
        if let Some(letter) = letter {
            answer["result"][name] = json!(if unchecked { "U" } else { letter });
        }
    }
    let for_its_risk = answer["result"]["code"] == "100.400.100";
    let asked_for = parts.entry.kind == Kind::RiskCheck;
    if for_its_risk || asked_for || parts.form.iter().any(|(name, _)| name.starts_with("risk.")) {
        answer["risk"] = json!({ "score": if for_its_risk { "-00900" } else { "+00100" } });
    }
    if declined {
        // 01: send other account data; 02: retry later; 03: do not retry.
        let advice = match parts.acquirer {
            "54" | "55" | "14" => Some("01"),
            "41" | "59" => Some("03"),
            "65" => None,
            _ => Some("02"),
        };
        if let Some(advice) = advice {
            answer["resultDetails"]["MerchantAdviceCode"] = json!(advice);
        }
    }
}

/// Adds the masked card and its brand.
pub(super) fn card(answer: &mut Value, masked_card: &MaskedCard, form: &Form) {
    answer["card"] = json!({ "bin": masked_card.bin, "last4Digits": masked_card.last4 });
    if let Some((year, month)) = masked_card.expiry.as_deref().and_then(|expiry| expiry.split_at_checked(2)) {
        answer["card"]["expiryMonth"] = json!(month);
        answer["card"]["expiryYear"] = json!(format!("20{year}"));
    }
    if let Some(brand) = brand::of(&masked_card.bin) {
        answer["paymentBrand"] = json!(brand);
        if form.get("paymentBrand").is_none() {
            answer["brandResult"] = json!(brand);
        }
    }
}

fn pos(parts: &AnswerParts<'_>) -> Value {
    let entry = parts.entry;
    // Codes that differ for each payment and consist of letters and digits, as documented.
    let digest: u64 = entry.id.bytes().fold(7, |sum, c| sum.wrapping_mul(31).wrapping_add(u64::from(c)));
    let mut pos = json!({
        "merchantId": "SIM0000000000001",
        "timestamp": parts.at.format("%Y-%m-%d %H:%M:%S").to_string(),
        "statusText": match parts.outcome {
            Outcome::ControlBytes => HOSTILE_TEXT,
            // Letters and digits, as documented.
            _ => "SIMULATED",
        },
    });
    if entry.state != State::Declined {
        pos["clearing"] = json!({
            "authorizationAcquirerCode": format!("A{:05}", digest % 100_000),
            "authorizationIssuerCode": format!("{:06}", digest / 7 % 1_000_000),
            "identifier": entry.id[..15].to_uppercase(),
        });
    }
    if let Some(icc) = parts.icc {
        pos["iccDataResponse"] = json!(parts.host_rules.hex(&entry.id, icc));
    }
    pos
}
