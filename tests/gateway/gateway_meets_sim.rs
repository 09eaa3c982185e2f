//! The agent's gateway client against the simulated gateway: two readings of the same interface documents, which must
//! agree.
//!
//! Where they disagree, the documents decide. Neither is changed to match the other.

use std::os::unix::fs::PermissionsExt;
use std::time::UNIX_EPOCH;

use crate::card_reader::{ChipRead, Reader};
use pos_agent::config;
use pos_core::transaction::{Answer, ApprovedAmount, Inquiry, ListedState, ReversalAnswer};
use pos_gateway::{CardPayment, Client, Expected, Token};
use pos_sim::gateway::{Certificate, Gateway, Options, Outcome, start};
use pos_terms::card::{CardFacts, EntryMode, FirstAnswer, Presented, SealedCard, SealedPin, Wiped};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Kind, SaleNumber};

#[tokio::test]
async fn a_sale_with_pin_is_approved_and_the_chip_gets_its_answer() {
    let mut shop = Shop::open(Options::default()).await;
    let Answer::Approved(approval) = shop.sell("12.34", "meets-0001").await else { panic!("{:?}", shop.refusals()) };
    assert_eq!(approval.amount, ApprovedAmount::Said(eur("12.34")));
    let chip = &approval.for_chip;
    assert_eq!(
        (chip.arc, chip.issuer_authentication.as_ref().map(|data| data.len()), chip.malformed),
        (Some(*b"00"), Some(8), false)
    );
    let facts = &approval.facts;
    assert_eq!(facts.id.as_ref(), Some(&approval.id));
    assert_eq!((facts.bin.as_deref(), facts.last4.as_deref()), (Some("476173"), Some("0119")));
    assert_eq!(facts.brand.as_deref(), Some("VISA"));
    let cleared = [&facts.acquirer_code, &facts.issuer_code, &facts.clearing_identifier, &facts.merchant_id];
    assert!(cleared.iter().all(|code| code.is_some()), "{facts:?}");
    assert!(facts.pos_timestamp.is_some() && facts.timestamp.is_some() && facts.ndc.is_some());
    assert_eq!(facts.status_text.as_deref(), Some("SIMULATED"));
    assert_eq!(shop.gateway.ledger().charged("meets-0001").len(), 1);
}

#[tokio::test]
async fn every_outcome_is_taken_for_what_it_is() {
    let mut shop = Shop::open(Options::default()).await;
    for (amount, expected, charged) in [
        ("5.51", "declined", 0),
        ("5.60", "approved 2.80", 1),
        ("5.62", "pending", 0),
        ("5.63", "throttled", 0),
        ("5.64", "unknown", 0),
        ("5.65", "unknown", 1),
        ("5.66", "unknown", 1),
        ("5.67", "unknown", 1),
        ("5.68", "unknown", 1),
        ("5.69", "unknown", 1),
        ("5.72", "unknown", 0),
        ("5.73", "unknown", 1),
        ("5.74", "approved 5.74", 1),
        ("5.75", "approved 5.75", 1),
        ("5.78", "approved 5.78", 1),
        ("5.79", "approved 6.79", 1),
        ("5.83", "unknown", 0),
    ] {
        let reference = format!("outcome-{amount}");
        let answer = shop.sell(amount, &reference).await;
        let said = match &answer {
            Answer::Approved(approval) => match approval.amount {
                ApprovedAmount::Said(amount) => format!("approved {}", amount.decimal()),
                other => format!("approved {other:?}"),
            },
            Answer::Declined(_) => "declined".to_owned(),
            Answer::DeclinedInDoubt(_) => "declined in doubt".to_owned(),
            Answer::Pending { .. } => "pending".to_owned(),
            Answer::Throttled(_) => "throttled".to_owned(),
            Answer::NotSent { .. } => "not sent".to_owned(),
            Answer::Unknown { .. } => "unknown".to_owned(),
            Answer::NotOurs { .. } => "not ours".to_owned(),
        };
        assert_eq!(said, expected, "{amount}: {answer:?}");
        assert_eq!(shop.gateway.ledger().charged(&reference).len(), charged, "{amount}");
        if let Answer::Approved(approval) = answer {
            let text = approval.facts.status_text.unwrap_or_default();
            assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{amount}: {text:?}");
        }
    }
}

#[tokio::test]
async fn what_the_issuer_says_of_the_card_arrives() {
    let mut shop = Shop::open(Options::default()).await;
    shop.reader.typed_pin = "9999";
    let Answer::Declined(refusal) = shop.sell("1.00", "meets-wrong-pin").await else { panic!() };
    assert_eq!(refusal.facts.code.as_deref(), Some("800.100.166"));
    assert_eq!(refusal.for_chip.arc, Some(*b"55"));
    shop.reader.typed_pin = "1234";

    let Answer::Approved(approval) = shop.sell("1.77", "meets-contradiction").await else { panic!() };
    assert_eq!(approval.for_chip.arc, Some(*b"05"));
    let Answer::Approved(approval) = shop.sell("1.76", "meets-malformed").await else { panic!() };
    assert!(approval.for_chip.malformed);
}

#[tokio::test]
async fn an_unknown_is_found_and_reversed_once() {
    let mut shop = Shop::open(Options::default()).await;
    let reference = "meets-unknown";
    assert_eq!(shop.client.query(reference).await, Inquiry::Payments(Vec::new()));
    assert!(matches!(shop.sell("7.80", reference).await, Answer::Unknown { .. }));
    for _ in 0..2 {
        assert_eq!(shop.client.query(reference).await, Inquiry::Payments(Vec::new()), "a late approval");
    }
    let Inquiry::Payments(found) = shop.client.query(reference).await else { panic!() };
    let [payment] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((payment.payment_type.as_str(), payment.state), ("DB", ListedState::Approved));
    assert_eq!(payment.amount, ApprovedAmount::Said(eur("7.80")));
    let (merchant_transaction_id, payment_type) = (reference.to_owned(), "DB".to_owned());
    let expected = Expected { merchant_transaction_id, amount: eur("7.80"), payment_type };
    assert!(matches!(shop.client.payment(&payment.id, &expected).await, Answer::Approved(_)));

    let refused = shop.client.reverse(&payment.id, eur("7.81"), reference).await;
    assert!(matches!(refused, ReversalAnswer::Refused { .. }), "{refused:?}");
    shop.gateway.force(Outcome::ServerError { processed: true });
    let unknown = shop.client.reverse(&payment.id, eur("7.80"), reference).await;
    assert!(matches!(unknown, ReversalAnswer::Unknown { .. }), "{unknown:?}");
    let Inquiry::Payments(found) = shop.client.query(reference).await else { panic!() };
    let reversal = found.iter().find(|found| found.payment_type == "RV").unwrap();
    // Only webhooks name the payment that a reversal refers to.
    assert_eq!((reversal.state, reversal.refers_to.as_ref()), (ListedState::Approved, None));
    assert!(shop.gateway.ledger().charged(reference).is_empty());
}

#[tokio::test]
async fn nothing_is_sent_without_the_right_certificate_or_a_server() {
    for certificate in [Certificate::Expired, Certificate::WrongName, Certificate::OtherCa] {
        let mut shop = Shop::open(Options { certificate, ..Options::default() }).await;
        let answer = shop.sell("1.00", "meets-certificate").await;
        assert!(matches!(answer, Answer::NotSent { .. }), "{certificate:?}: {answer:?}");
        assert_eq!(shop.gateway.counters().requests, 0);
    }
    let mut shop = Shop::open(Options::default()).await;
    shop.gateway.set_offline(true).await.unwrap();
    assert!(matches!(shop.sell("1.00", "meets-offline").await, Answer::NotSent { .. }));
}

#[tokio::test]
async fn after_warming_up_a_payment_needs_no_handshake() {
    let mut shop = Shop::open(Options::default()).await;
    shop.client.warm().await.unwrap();
    while shop.gateway.counters().handshakes == 0 {
        tokio::task::yield_now().await;
    }
    let warm = shop.gateway.counters();
    assert_eq!((warm.connections, warm.handshakes, warm.requests), (1, 1, 0));
    assert!(matches!(shop.sell("1.00", "meets-warm").await, Answer::Approved(_)));
    let paid = shop.gateway.counters();
    assert_eq!((paid.connections, paid.handshakes, paid.requests), (1, 1, warm.requests + 1));
}

/// A simulated gateway, the agent's client for it, and a card reader.
struct Shop {
    gateway: Gateway,
    client: Client,
    reader: Reader,
    _folder: tempfile::TempDir,
}

impl Shop {
    async fn open(options: Options) -> Self {
        let gateway = start(options).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (ca, token) = (folder.path().join("ca.pem"), folder.path().join("token"));
        std::fs::write(&ca, gateway.ca_pem()).unwrap();
        std::fs::write(&token, gateway.token()).unwrap();
        std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
        let settings = format!(
            "url = \"{}\"\nentity-id = \"{}\"\ntoken-file = \"{}\"\nca-file = \"{}\"\ndevice-type = \"MIURA M020\"\n",
            gateway.base_url(),
            gateway.entity_id(),
            token.display(),
            ca.display()
        );
        let settings: config::Gateway = toml::from_str(&settings).unwrap();
        let terminal: config::Terminal =
            toml::from_str("id = \"12345678\"\nmerchant = [\"Corner Shop\"]\ncurrency = \"EUR\"\n").unwrap();
        let client =
            Client::new(&settings, &terminal.point_of_sale(), Token::load(&settings).unwrap(), UNIX_EPOCH).unwrap();
        Self { gateway, client, reader: Reader::new(), _folder: folder }
    }

    async fn sell(&mut self, amount: &str, reference: &str) -> Answer {
        let amount = eur(amount);
        let presented = presented(self.reader.chip(amount.minor(), amount.currency().numeric()));
        let payment = CardPayment {
            amount,
            merchant_transaction_id: reference,
            sequence_number: SaleNumber::new(1),
            device_serial: "01000328",
            kind: Kind::Sale,
            parameters: &[],
            pin_entry: true,
            presented: &presented,
        };
        self.client.pay(self.client.prepare(&payment).unwrap()).await
    }

    fn refusals(&self) -> Vec<String> {
        self.gateway.ledger().refusals().to_vec()
    }
}

fn presented(read: ChipRead) -> Presented {
    Presented {
        facts: CardFacts::from_tlvs(EntryMode::Icc, None, &read.icc).unwrap(),
        card: SealedCard {
            data: Wiped::copy_of(&read.card.data).unwrap(),
            ksn: Wiped::copy_of(&read.card.ksn).unwrap(),
        },
        pin: Some(SealedPin {
            block: Wiped::copy_of(&read.pin.data).unwrap(),
            ksn: Wiped::copy_of(&read.pin.ksn).unwrap(),
        }),
        icc: Wiped::copy_of(&read.icc).unwrap(),
        first_answer: FirstAnswer::GoOnline,
    }
}

fn eur(amount: &str) -> Amount {
    Amount::parse(amount, Currency::from_code("EUR").unwrap()).unwrap()
}
