//! Checks any bytes as an envelope of the fleet, and as a document that a known key has signed. Without a signature
//! there is no signer. A command is accepted only by a key of its kind, in time, once, and with the nonce if it can
//! move money.

use std::convert::Infallible;
use std::sync::LazyLock;

use chrono::DateTime;
use pos_agent::config::Fleet;
use pos_agent::fleet::{AskedCommand, CommandVerdict, FleetKeys, JudgingNow, OwnPlace, judge};
use pos_core::fleet::UsedCounters;
use pos_fleet_terms::{DocumentKind, DocumentSignature, Envelope, FleetCommand, read, write};
use ring::signature::{Ed25519KeyPair, KeyPair};

/// 2026-11-30, 10:00:00 UTC.
const NOW: i64 = 1_796_032_800_000;
/// The nonce in the seeds.
const NONCE: &str = "0123456789abcdef0123456789abcdef";
/// The counters 3 and 5 are used.
const USED: UsedCounters = UsedCounters { highest: 5, bits: 0b101 };

/// The keys: a till, a desk and a config key.
static PAIRS: LazyLock<Vec<Ed25519KeyPair>> = LazyLock::new(|| {
    let pair = |seed| Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).expect("a seed has 32 bytes");
    (1..=3).map(pair).collect()
});

static KEYS: LazyLock<FleetKeys> = LazyLock::new(|| {
    let key = |(pair, kind): (&Ed25519KeyPair, &str)| {
        let till = if kind == "till" { "web" } else { "" };
        let public = hex::encode(pair.public_key());
        serde_json::json!({ "name": kind, "kind": kind, "public": public, "till": Some(till).filter(|it| !it.is_empty()) })
    };
    let keys: Vec<_> = PAIRS.iter().zip(["till", "desk", "config"]).map(key).collect();
    let fleet = serde_json::json!({ "org": "o", "terminal": "t", "key": keys });
    FleetKeys::own(&serde_json::from_value::<Fleet>(fleet).expect("a section of the configuration"))
});

/// Checks that the conditions above hold for these bytes.
pub fn holds(bytes: &[u8]) {
    if let Ok(envelope) = Envelope::read(bytes) {
        assert_eq!(Envelope::read(&envelope.write()), Ok(envelope.clone()));
        // No seed has a signature of these keys.
        assert!(KEYS.signers_of(&envelope).is_empty(), "{envelope:?}");
    }
    for (at, pair) in PAIRS.iter().enumerate() {
        let signature = pair.sign(&DocumentKind::Command.signed_bytes(bytes)).as_ref().to_vec();
        let signatures = vec![DocumentSignature { key: KEYS.all()[at].id.clone(), bytes: signature }];
        let envelope = Envelope { kind: DocumentKind::Command, document: bytes.to_vec(), signatures };
        let signers = KEYS.signers_of(&envelope);
        assert!(signers == [&KEYS.all()[at]], "the key that signed, and no other");
        let Ok(command) = read::<FleetCommand>(bytes) else { return };
        assert_eq!(read::<FleetCommand>(&write(&command).expect("a command")), Ok(command.clone()));
        let asked = AskedCommand { command, sha256: String::new() };
        let own = OwnPlace { org: "o".parse().expect("a name"), terminal: "t".parse().expect("a name") };
        let now = JudgingNow { unix_ms: Some(NOW), nonce: Some(NONCE) };
        let judged = judge(&asked, &signers, &own, None, now, |_| Ok::<_, Infallible>(USED));
        let Ok(CommandVerdict::Accepted { kind, key, used }) = judged else { continue };
        let command = asked.command;
        assert_eq!((command.org.as_str(), command.terminal.as_str(), command.v), ("o", "t", 1));
        assert_eq!((kind.word(), kind.key()), (command.kind.as_str(), key.kind));
        assert!(!kind.is_about_money() || command.nonce.as_deref() == Some(NONCE));
        let expires = DateTime::parse_from_rfc3339(&command.expires).expect("it was judged").timestamp_millis();
        assert!((1..=kind.longest_s().cast_signed() * 1000).contains(&(expires - NOW)));
        assert!(command.counter > 0 && ![3, 5].contains(&command.counter) && used.highest >= 5);
    }
}
