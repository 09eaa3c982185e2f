//! Checks any bytes as the gateway's answer: HTTP, JSON, a list of payments. There is no panic, and any split gives the
//! same result. Only a complete answer about this payment can prove that money has moved. Texts for people contain no
//! card number and no control sequence.

use std::sync::LazyLock;

use pos_agent::config::Assumptions;
use pos_core::transaction::{Answer, Cause, Inquiry, ReversalAnswer};
use pos_gateway::Expected;
use pos_gateway::any_answer::{Readings, read};
use pos_terms::card::mask_pans;
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::PaymentId;
use tokio::runtime::{Builder, Runtime};

/// The agent's gateway reference in the seeds.
const REFERENCE: &str = "12345678-7-0123456789abcdef0123456789abcdef";
/// The payment that is looked up.
static PAYMENT: LazyLock<PaymentId> = LazyLock::new(|| PaymentId::new("8ac7a4a1940b8dd301940fbf4a3b5a5e"));

static ASKED: LazyLock<Expected> = LazyLock::new(|| Expected {
    merchant_transaction_id: REFERENCE.to_owned(),
    amount: Amount::parse("12.34", Currency::from_code("EUR").expect("a currency")).expect("an amount"),
    payment_type: "DB".to_owned(),
});
static ASSUMPTIONS: LazyLock<Assumptions> = LazyLock::new(Assumptions::default);

thread_local! {
    static RUNTIME: Runtime = Builder::new_current_thread().build().expect("a runtime of one thread");
}

/// Checks that the conditions above hold for these bytes. The first byte determines the split of the others, and
/// whether they are only the body of an answer.
pub fn holds(input: &[u8]) {
    let Some((&first, bytes)) = input.split_first() else { return };
    let whole = match first {
        // Most inputs that are not HTTP are JSON, so the target puts a head before them.
        128.. => [format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", bytes.len()).as_bytes(), bytes].concat(),
        _ => bytes.to_vec(),
    };
    let readings = readings(&whole, usize::MAX);
    assert_eq!(self::readings(&whole, usize::from(first % 128) + 1), readings);
    if let Some((status, readings)) = readings {
        proves_enough(status, &readings, bytes);
        says_nothing_secret(&readings);
    }
}

fn readings(bytes: &[u8], piece: usize) -> Option<(u16, Readings)> {
    // The kind of the fault may depend on how many bytes have arrived.
    RUNTIME.with(|runtime| runtime.block_on(read(bytes, piece, &PAYMENT, &ASKED, &ASSUMPTIONS)).ok())
}

/// Checks that an answer that says whether money has moved contains a proof.
fn proves_enough(status: u16, readings: &Readings, bytes: &[u8]) {
    let is_said = |word: &str| bytes.windows(word.len()).any(|window| window == word.as_bytes());
    // A word may contain escapes or be split between two chunks.
    let escaped = is_said("\\") || bytes.to_ascii_lowercase().windows(7).any(|window| window == b"chunked");
    match &readings.payment {
        Answer::Approved(approval) => {
            assert_eq!(status, 200);
            assert!(approval.id.as_str().len() == 32 && (escaped || is_said(approval.id.as_str())), "{approval:?}");
        }
        Answer::Declined(_) => assert_eq!(status, 400, "declined"),
        Answer::DeclinedInDoubt(_) => assert!(status < 500 && status != 400, "declined in doubt with HTTP {status}"),
        // With HTTP 400, only a code for an invalid request shows this.
        Answer::NotSent { .. } if status == 400 => assert!(escaped || is_said("200."), "not sent"),
        Answer::NotSent { .. } => assert!(matches!(status, 401 | 403 | 404), "not sent with HTTP {status}"),
        Answer::Throttled(_) => assert!(status < 500 && (escaped || is_said("800.120.100"))),
        Answer::Pending { .. } => assert_eq!(status, 200),
        Answer::Unknown { .. } | Answer::NotOurs { .. } => {}
    }
    if let Answer::Approved(approval) = &readings.retrieval {
        assert!(status == 200 && approval.id == *PAYMENT, "{approval:?}");
    }
    if let ReversalAnswer::Done { id, .. } = &readings.reversal {
        assert!(status == 200 && *id != *PAYMENT, "the payment is no reversal of itself");
    }
    if let Inquiry::Payments(found) = &readings.inquiry {
        for (place, one) in found.iter().enumerate() {
            assert!(found[..place].iter().all(|before| before.id != one.id), "{one:?} twice");
            let strangers = one.reference.as_deref().is_some_and(|reference| reference != REFERENCE);
            assert!(!(strangers && matches!(&*one.payment_type, "DB" | "PA" | "CD")), "{one:?} is a stranger's");
        }
    }
    if let Ok(references) = &readings.references {
        assert!(references.iter().all(|reference| reference.starts_with("12345678-")), "{references:?}");
    }
}

/// Checks the texts for people on paper and on screen.
fn says_nothing_secret(readings: &Readings) {
    let Readings { payment, retrieval, reversal, inquiry, references, shown, found, may_be_sent_elsewhere } = readings;
    for answer in [payment, retrieval] {
        match answer {
            Answer::Approved(approval) => texts(&approval.facts.description, &approval.facts.status_text),
            Answer::Declined(refusal) | Answer::DeclinedInDoubt(refusal) | Answer::Throttled(refusal) => {
                why(&refusal.why);
                texts(&refusal.facts.description, &refusal.facts.status_text);
            }
            Answer::NotSent { why: it } | Answer::Unknown { why: it } | Answer::NotOurs { why: it } => why(it),
            Answer::Pending { .. } => {}
        }
    }
    match reversal {
        ReversalAnswer::Refused { why: it } | ReversalAnswer::NotSent { why: it } => why(it),
        ReversalAnswer::HeldBack { why: it, .. } | ReversalAnswer::Unknown { why: it } => why(it),
        ReversalAnswer::Done { .. } => {}
    }
    if let Inquiry::CannotAsk { why: it } | Inquiry::NotReached { why: it } = inquiry {
        why(it);
    }
    let refused = [references.as_ref().err(), shown.as_ref().err(), found.as_ref().err()];
    refused.into_iter().flatten().chain(may_be_sent_elsewhere.as_ref().err()).for_each(|text| is_harmless(text));
    for fields in shown.iter().chain(found.iter().flatten()) {
        for (name, text) in fields {
            let parts: Vec<&str> = name.split(['.', '[', ']']).collect();
            let is_secret = parts.contains(&"cvv") || parts.windows(2).any(|two| two == ["card", "expiryMonth"]);
            assert!(!is_secret, "{name} is shown");
            is_harmless(text);
        }
    }
}

fn why(why: &Cause) {
    why.detail.iter().for_each(|text| is_harmless(text));
}

fn texts(description: &Option<String>, status_text: &Option<String>) {
    description.iter().chain(status_text).for_each(|text| is_harmless(text));
}

fn is_harmless(text: &str) {
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?} steers a terminal");
    assert_eq!(mask_pans(text), text, "a card number is shown");
    assert!(text.chars().count() < 4096, "{} characters", text.chars().count());
}
