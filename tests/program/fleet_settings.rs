//! Settings and keys from a fleet over the real socket: the program restarts itself with them, keeps them, or starts
//! with its own again.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pos_fleet_terms::{Reported, SettingsState};
use pos_sim::reader::{CardEntry, card};
use pos_sim::shop::{Options, Shop};
use pos_test_kit::{signed, within};
use reqwest::Client;
use serde_json::{Value, json};

/// A shop, and the program in it.
struct Place {
    shop: Shop,
    http: Client,
    program: Option<Child>,
}

impl Place {
    async fn open() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let shop = Shop::open(Options::default()).await.unwrap();
        let text = fs::read_to_string(shop.config()).unwrap() + &signed::section();
        fs::write(shop.config(), text).unwrap();
        let http = Client::builder().unix_socket(shop.socket()).no_proxy().pool_max_idle_per_host(0).build().unwrap();
        Self { shop, http, program: None }
    }

    /// Starts the program without systemd. It then starts itself again when it restarts.
    fn start(&mut self) {
        let log = fs::File::options().create(true).append(true).open(self.shop.folder().join("agent.log")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_pos-agent"));
        command
            .args(["run", "--config"])
            .arg(self.shop.config())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        command.env_remove("CREDENTIALS_DIRECTORY").env_remove("NOTIFY_SOCKET").env_remove("RUST_LOG");
        self.program = Some(command.spawn().unwrap());
    }

    /// Ends the program as a power cut does.
    fn cut(&mut self) {
        let mut program = self.program.take().unwrap();
        program.kill().unwrap();
        program.wait().unwrap();
    }

    /// Sends a request, again until the program answers.
    async fn asks(&self, method: &str, path: &str, body: Vec<u8>) -> (u16, Value) {
        let asked = async {
            loop {
                let request = self.http.request(method.parse().unwrap(), format!("http://till{path}"));
                let request = request.header("content-type", "application/json").body(body.clone());
                if let Ok(answer) = request.send().await {
                    let status = answer.status().as_u16();
                    if let Ok(bytes) = answer.bytes().await {
                        return (status, serde_json::from_slice(&bytes).unwrap());
                    }
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        within(path, asked).await
    }

    async fn report(&self) -> Reported {
        serde_json::from_value(self.asks("GET", "/v1/fleet/settings", Vec::new()).await.1).unwrap()
    }

    async fn until_state(&self, state: SettingsState) -> Reported {
        let reported = async {
            loop {
                let report = self.report().await;
                if report.state == state {
                    return report;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        within(&format!("{state:?}"), reported).await
    }

    async fn gives(&self, settings: Vec<u8>) -> Reported {
        let (status, report) = self.asks("POST", "/v1/fleet/settings", settings).await;
        assert_eq!(status, 200, "{report}");
        serde_json::from_value(report).unwrap()
    }

    async fn acknowledges(&self, number: i64) -> Reported {
        let (_, entries) = self.asks("GET", "/v1/journal", Vec::new()).await;
        let ack = json!({ "journal": entries["journal"], "number": number }).to_string();
        serde_json::from_value(self.asks("POST", "/v1/fleet/acks", ack.into_bytes()).await.1).unwrap()
    }

    async fn until_ready(&self) {
        while self.status().await["ready"] != true {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn status(&self) -> Value {
        self.asks("GET", "/v1/status", Vec::new()).await.1
    }

    /// Returns the output of `pos-agent check`.
    fn check(&self) -> String {
        let output =
            Command::new(env!("CARGO_BIN_EXE_pos-agent")).arg("check").arg(self.shop.config()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.program.is_some() {
            self.cut();
        }
    }
}

#[tokio::test]
async fn the_program_restarts_with_good_settings_and_keeps_them() {
    let mut place = Place::open().await;
    place.start();
    assert_eq!(
        place.report().await,
        Reported { keys: signed::own_keys(), at: place.report().await.at, ..Reported::default() }
    );
    let bytes = signed::settings(7, json!({ "terminal.merchant": ["Fleet Shop"], "terminal.language": "de" }));
    place.gives(bytes.clone()).await;
    let trial = place.until_state(SettingsState::Trial).await;
    assert_eq!((trial.version, trial.tried), (7, 7));
    let said = place.check();
    assert!(said.contains("terminal.language = \"de\", from the fleet, version 7, on trial"), "{said}");
    let status = place.status().await;
    assert_eq!((&status["merchant"], &status["language"]), (&json!(["Fleet Shop"]), &json!("de")));
    // Reader and gateway may still be on their way.
    let kept = async {
        while place.acknowledges(trial.entry).await.state != SettingsState::Kept {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    within("kept", kept).await;
    place.cut();
    place.start();
    assert_eq!(place.report().await.state, SettingsState::Kept);
    assert_eq!(place.status().await["merchant"], json!(["Fleet Shop"]));
    assert_eq!(place.gives(bytes).await.version, 7);
    // The journal tells who gave them, with which key, and when.
    let (_, entries) = place.asks("GET", "/v1/journal?limit=200", Vec::new()).await;
    let marks: Vec<&Value> = entries["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["what"])
        .filter(|what| what["is"] == "fleet-settings")
        .collect();
    let steps: Vec<_> =
        marks.iter().map(|mark| (mark["step"].as_str().unwrap(), mark["keys"][0].as_str().unwrap())).collect();
    assert_eq!(steps, [("begun", "config a"), ("kept", "config a")]);
    // A technician edits the file: the local value wins, and everyone is told.
    let text = fs::read_to_string(place.shop.config()).unwrap();
    fs::write(place.shop.config(), text.replace("\"Corner Shop\"", "\"Corner Shop 2\"")).unwrap();
    place.cut();
    place.start();
    assert_eq!(place.report().await.drift, ["terminal.merchant"]);
    assert!(place.status().await["attention"].to_string().contains("fleet-settings-drift"));
    let said = place.check();
    assert!(said.contains("terminal.merchant: the file's, which was edited"), "{said}");
    // The remedy of the manual: without the folder, the terminal uses its own settings.
    place.cut();
    fs::remove_dir_all(place.shop.folder().join("fleet")).unwrap();
    place.start();
    assert_eq!(place.status().await["language"], "en");
    assert_eq!(
        place.gives(signed::settings(7, json!({ "terminal.language": "nl" }))).await.version,
        0,
        "not undone by an old message"
    );
}

#[tokio::test]
async fn three_starts_that_fail_lead_back() {
    let mut place = Place::open().await;
    place.start();
    place.gives(signed::settings(1, json!({ "terminal.language": "fr" }))).await;
    place.until_state(SettingsState::Trial).await;
    for _ in 0..2 {
        place.cut();
        place.start();
        assert_eq!(place.report().await.state, SettingsState::Trial);
    }
    place.cut();
    place.start();
    let back = place.until_state(SettingsState::Returned).await;
    assert_eq!((back.version, back.reason.unwrap().code.as_str()), (0, "failed-starts"));
    let status = place.status().await;
    assert_eq!(status["language"], "en");
    assert!(status["attention"].to_string().contains("fleet-settings-returned"), "{status}");
}

#[tokio::test]
async fn a_sale_holds_the_trial_up_and_an_unconfirmed_one_does_not() {
    let mut place = Place::open().await;
    place.start();
    within("ready", place.until_ready()).await;
    let sale = json!({ "reference": "R1", "amount": "12.34", "currency": "EUR" }).to_string();
    assert_eq!(place.asks("POST", "/v1/sales", sale.into_bytes()).await.0, 201);
    let report = place.gives(signed::settings(1, json!({ "terminal.language": "es" }))).await;
    assert_eq!(report.state, SettingsState::Waiting);
    for _ in 0..20 {
        assert_eq!(place.report().await.state, SettingsState::Waiting);
        assert_eq!(place.asks("GET", "/v1/sales/R1", Vec::new()).await.1["reference"], "R1");
    }
    place.asks("POST", "/v1/sales/R1/cancel", Vec::new()).await;
    place.until_state(SettingsState::Trial).await;
    // A sale whose outcome the gateway does not tell. It holds up neither the next version nor the way back.
    let trial = place.report().await;
    let kept = async {
        while place.acknowledges(trial.entry).await.state != SettingsState::Kept {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    within("kept", kept).await;
    within("ready", place.until_ready()).await;
    let sale = json!({ "reference": "R2", "amount": "10.70", "currency": "EUR" }).to_string();
    assert_eq!(place.asks("POST", "/v1/sales", sale.into_bytes()).await.0, 201);
    place.shop.reader.present(card("tap").unwrap(), CardEntry::Tap);
    let unconfirmed = async {
        while !place.asks("GET", "/v1/sales/R2", Vec::new()).await.1["state"].to_string().contains("unconfirmed") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    within("unconfirmed", unconfirmed).await;
    place.gives(signed::settings(2, json!({ "terminal.language": "it" }))).await;
    assert_eq!(place.until_state(SettingsState::Trial).await.version, 2);
}

#[tokio::test]
async fn what_is_not_signed_or_not_for_a_fleet_gets_a_problem() {
    let mut place = Place::open().await;
    place.start();
    let stranger = signed::signed(pos_fleet_terms::DocumentKind::Settings, b"{}".to_vec(), &[9]);
    let (status, problem) = place.asks("POST", "/v1/fleet/settings", stranger.clone()).await;
    assert_eq!((status, problem["code"].as_str()), (403, Some("not-signed")), "{problem}");
    assert_eq!(place.asks("POST", "/v1/fleet/keys", stranger).await.0, 400, "settings are no keys");
    assert_eq!(place.asks("POST", "/v1/fleet/settings", b"{}".to_vec()).await.0, 400);
    assert_eq!(place.asks("POST", "/v1/fleet/settings", vec![b' '; 48 * 1024 + 1]).await.0, 413);
    let one = signed::keys(1, signed::own_keys(), &[signed::CONFIG_A]);
    let (status, report) = place.asks("POST", "/v1/fleet/keys", one).await;
    assert_eq!((status, report["keysRefused"]["code"].as_str()), (200, Some("one-signature")));
    let desk = signed::signed(
        pos_fleet_terms::DocumentKind::Settings,
        pos_fleet_terms::write(&pos_fleet_terms::SettingsDocument {
            v: 1,
            org: "corner-shops".parse().unwrap(),
            terminal: "shop-17-1".parse().unwrap(),
            version: 3,
            settings: Default::default(),
            over_local: Vec::new(),
            author: "eve".to_owned(),
        })
        .unwrap(),
        &[signed::DESK],
    );
    let report = place.gives(desk).await;
    assert_eq!((report.tried, report.reason.unwrap().code.as_str()), (0, "key-not-allowed"));
    // Two keys in force without the desk key: it signs nothing any more, also after a restart.
    let fewer: Vec<_> = signed::own_keys().into_iter().filter(|key| key.name != "desk").collect();
    let keys = signed::keys(2, fewer.clone(), &[signed::CONFIG_A, signed::CONFIG_B]);
    assert_eq!(place.asks("POST", "/v1/fleet/keys", keys).await.1["keysVersion"], 2);
    place.cut();
    place.start();
    assert_eq!(place.report().await.keys, fewer);
    let command = signed::signed(pos_fleet_terms::DocumentKind::Command, b"{}".to_vec(), &[signed::DESK]);
    let (status, problem) = place.asks("POST", "/v1/fleet/commands", command).await;
    assert_eq!((status, problem["code"].as_str()), (403, Some("not-signed")), "a removed key signs no command");
    // A file that is damaged closes the door for keys, and stops no sale.
    place.cut();
    fs::write(place.shop.folder().join("fleet/keys"), "[]").unwrap();
    place.start();
    assert!(place.report().await.keys.is_empty());
    assert!(place.status().await["attention"].to_string().contains("fleet-keys-unusable"));
    // Without the section, there is no fleet.
    place.cut();
    let text = fs::read_to_string(place.shop.config()).unwrap().replace(&signed::section(), "");
    fs::write(place.shop.config(), text).unwrap();
    place.start();
    for (method, path) in [("GET", "/v1/fleet/settings"), ("POST", "/v1/fleet/acks")] {
        let body = json!({ "journal": "x", "number": 1 }).to_string();
        let (status, problem) = place.asks(method, path, body.into_bytes()).await;
        assert_eq!((status, problem["code"].as_str()), (409, Some("no-fleet")), "{method} {path}");
    }
}
