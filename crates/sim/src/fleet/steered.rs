//! The agent of a simulated terminal, as far as the fleet steers it: it takes signed settings, tries them, and keeps
//! them or goes back. Its rules are written a second time here, and do less than those of the agent.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};
use pos_broker::clock::Clock;
use pos_fleet_terms::{DocumentKind, Envelope, Fault, Id, Reported, SettingsDocument, SettingsState, read};
use pos_till_api::client::ClientError;
use pos_uplink::steer::Steering;
use ring::signature::{ED25519, UnparsedPublicKey};
use serde_json::{Value, json};

/// The time after which settings that did no harm are kept.
const TRIAL: Duration = Duration::from_secs(30);
/// A reader does not answer at a lower speed.
const LEAST_BAUD: u64 = 9_600;

/// The agent of one terminal.
#[derive(Clone, Debug)]
pub(crate) struct SteeredAgent(Arc<Mutex<Steered>>);

#[derive(Debug)]
struct Steered {
    org: Id,
    terminal: Id,
    /// The public bytes of the config key.
    key: Vec<u8>,
    clock: Clock,
    connections: u64,
    reported: Reported,
    /// The document that is tried, and the end of the trial.
    trial: Option<(SettingsDocument, SystemTime)>,
    /// The number of documents that came.
    taken: u64,
}

impl SteeredAgent {
    pub(crate) fn new(org: Id, terminal: Id, key: Vec<u8>, clock: Clock) -> Self {
        let (connections, reported, trial, taken) = (0, Reported::default(), None, 0);
        Self(Arc::new(Mutex::new(Steered { org, terminal, key, clock, connections, reported, trial, taken })))
    }

    /// Returns the version in use, and the number of documents that came.
    pub(crate) fn standing(&self) -> (u64, u64) {
        let mut agent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        agent.ends_trial();
        (agent.reported.version, agent.taken)
    }
}

impl Steering for SteeredAgent {
    async fn ask(&self, target: String, body: Option<Vec<u8>>, _: Duration) -> Result<(u16, Vec<u8>), ClientError> {
        let mut agent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        agent.ends_trial();
        let (status, answer) = match (target.as_str(), body) {
            ("/v1/fleet/connection", Some(_)) => (200, agent.connects()),
            ("/v1/fleet/settings", None) | ("/v1/fleet/acks", Some(_)) => (200, agent.reports()),
            ("/v1/fleet/settings", Some(envelope)) => match agent.takes(&envelope) {
                true => (200, agent.reports()),
                false => (403, json!({ "status": 403, "code": "not-signed" })),
            },
            _ => (404, json!({ "status": 404, "code": "not-found" })),
        };
        Ok((status, answer.to_string().into_bytes()))
    }
}

impl Steered {
    fn connects(&mut self) -> Value {
        self.connections += 1;
        json!({ "nonce": format!("{:032x}", self.connections), "counters": {}, "notSigned": 0, "commands": [] })
    }

    fn reports(&self) -> Value {
        serde_json::to_value(&self.reported).unwrap_or_default()
    }

    /// Takes settings. Returns false if the config key has not signed them.
    fn takes(&mut self, envelope: &[u8]) -> bool {
        let Ok(envelope) = Envelope::read(envelope) else { return false };
        let key = UnparsedPublicKey::new(&ED25519, &self.key);
        let is_signed = envelope.signatures.iter().any(|it| key.verify(&envelope.signed_bytes(), &it.bytes).is_ok());
        if envelope.kind != DocumentKind::Settings || !is_signed {
            return false;
        }
        let Ok(document) = read::<SettingsDocument>(&envelope.document) else { return false };
        let is_for_this = document.org == self.org && document.terminal == self.terminal;
        if !is_for_this || document.version <= self.reported.tried {
            // The answer is the report, which says what is in use.
            return true;
        }
        self.taken += 1;
        (self.reported.tried, self.reported.state, self.reported.reason) =
            (document.version, SettingsState::Trial, None);
        self.reported.at = self.now();
        self.trial = Some((document, self.clock.wall() + TRIAL));
        true
    }

    fn ends_trial(&mut self) {
        let Some((document, _)) = self.trial.take_if(|(_, ends)| *ends <= self.clock.wall()) else { return };
        let baud = document.settings.get("reader.baud").and_then(Value::as_u64);
        if baud.is_some_and(|baud| baud < LEAST_BAUD) {
            let text = "The reader did not answer with these settings.".to_owned();
            self.reported.state = SettingsState::Returned;
            self.reported.reason = Some(Fault { code: "reader-not-reached".to_owned(), text });
        } else {
            (self.reported.state, self.reported.version) = (SettingsState::Kept, document.version);
        }
        self.reported.at = self.now();
    }

    fn now(&self) -> String {
        DateTime::<Utc>::from(self.clock.wall()).to_rfc3339_opts(SecondsFormat::Secs, true)
    }
}
