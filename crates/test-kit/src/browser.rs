//! The browser of a cashier or a shopper: Debian's Chromium without a window, controlled through chromedriver.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use fantoccini::actions::{InputSource, KeyAction, KeyActions};
use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::within;

/// The pause between two checks of a condition.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The maximum number of attempts to start the driver on a free port.
const STARTS: u32 = 10;
/// The script that marks a document before the browser leaves it.
const LEFT: &str = "window.wasLeft = true";
/// The condition that another document is loaded.
const ARRIVED: &str = "!window.wasLeft && document.readyState !== 'loading'";

/// Keys without a letter, as the protocol encodes them.
pub const ENTER: char = '\u{e006}';
/// The Enter key of the number pad.
pub const NUMPAD_ENTER: char = '\u{e007}';
pub const TAB: char = '\u{e004}';
pub const ESCAPE: char = '\u{e00c}';

/// The driver's process. When this value is dropped, the driver and its browsers end.
pub struct Driver {
    _child: Child,
    url: String,
}

impl Driver {
    pub async fn start() -> Self {
        let mut said = String::new();
        for _ in 0..STARTS {
            match Self::try_start().await {
                Ok(driver) => return driver,
                Err(why) => said = why,
            }
        }
        panic!("chromedriver does not start: {said}");
    }

    /// Starts the driver on a port that is free on `::1`. The driver ends if another socket has the same port on
    /// `127.0.0.1`. The error contains the driver's output.
    async fn try_start() -> Result<Self, String> {
        let mut child = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("chromedriver starts: Debian's packages chromium and chromium-driver are needed");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut said = String::new();
        let port = loop {
            let Some(line) = lines.next_line().await.unwrap() else { return Err(said) };
            if let Some((_, port)) = line.split_once("successfully on port ") {
                break port.trim_end_matches('.').to_owned();
            }
            said = line;
        };
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self { _child: child, url: format!("http://127.0.0.1:{port}") })
    }

    /// Opens a browser with an empty profile.
    pub async fn browser(&self) -> Browser {
        self.browser_with(&[]).await
    }

    /// Opens a browser with further arguments.
    pub async fn browser_with(&self, more: &[&str]) -> Browser {
        let arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
        let arguments = [&arguments, more].concat();
        let wanted = json!({
            // The driver does not wait for pages, because it may wait forever for a frame that a click has removed.
            "pageLoadStrategy": "none",
            "goog:loggingPrefs": { "browser": "ALL" },
            "goog:chromeOptions": { "args": arguments },
        });
        let wanted: Capabilities = serde_json::from_value(wanted).unwrap();
        let client = ClientBuilder::new(HttpConnector::new()).capabilities(wanted).connect(&self.url).await;
        Browser { client: client.expect("Chromium starts") }
    }
}

/// One browser with one page.
pub struct Browser {
    client: Client,
}

/// A command with its path: one of Chromium's commands, or one that the client does not list.
#[derive(Debug)]
struct Chromium {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Chromium {
    fn endpoint(&self, base: &reqwest::Url, session: Option<&str>) -> Result<reqwest::Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &reqwest::Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}

impl Browser {
    /// Opens the page in this language and window size.
    pub async fn open(&self, url: &str, language: &str, size: (u32, u32)) {
        self.resize(size).await;
        self.go(&format!("{url}/assets/counter.svg")).await;
        self.run(&format!("document.cookie = 'pos_language={language}; Path=/'")).await;
        self.go(url).await;
    }

    pub async fn resize(&self, (width, height): (u32, u32)) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.chromium("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    /// Sets the colour scheme: `light` or `dark`.
    pub async fn scheme(&self, scheme: &str) {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.chromium("Emulation.setEmulatedMedia", features).await;
    }

    /// Lets the page save files in this folder, without a question.
    pub async fn saves_in(&self, folder: &Path) {
        let allowed = json!({ "behavior": "allow", "downloadPath": folder });
        self.chromium("Browser.setDownloadBehavior", allowed).await;
    }

    /// Slows the network down to this time until an answer begins, and to this number of bytes per second.
    pub async fn slow_network(&self, latency: Duration, bytes_per_s: u32) {
        let (latency, bytes) = (latency.as_millis() as u64, bytes_per_s);
        let slow =
            json!({ "offline": false, "latency": latency, "downloadThroughput": bytes, "uploadThroughput": bytes });
        self.chromium("Network.enable", json!({})).await;
        self.chromium("Network.emulateNetworkConditions", slow).await;
    }

    /// Makes all requests fail whose address matches one of these patterns, in which `*` is any text.
    pub async fn block(&self, patterns: &[&str]) {
        self.chromium("Network.enable", json!({})).await;
        self.chromium("Network.setBlockedURLs", json!({ "urls": patterns })).await;
    }

    /// Empties the cache of files.
    pub async fn forget_files(&self) {
        self.chromium("Network.clearBrowserCache", json!({})).await;
    }

    /// Runs a script in each later document, before the document's own scripts.
    pub async fn run_first(&self, script: &str) {
        self.chromium("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script })).await;
    }

    async fn chromium(&self, command: &str, parameters: Value) {
        let body = json!({ "cmd": command, "params": parameters });
        self.client.issue_cmd(Chromium { path: "goog/cdp/execute", body }).await.unwrap();
    }

    /// Returns the page's errors since the last call, except for failed requests.
    pub async fn complaints(&self) -> Vec<String> {
        let log = self.client.issue_cmd(Chromium { path: "se/log", body: json!({ "type": "browser" }) }).await.unwrap();
        let all = log.as_array().cloned().unwrap_or_default();
        let serious = all.iter().filter(|entry| entry["level"] == "SEVERE" && entry["source"] != "network");
        serious.map(|entry| entry["message"].to_string()).collect()
    }

    /// Opens an address in any state of the page, and waits until its document is loaded.
    pub async fn go(&self, url: &str) {
        self.run(LEFT).await;
        self.client.goto(url).await.unwrap();
        self.until(ARRIVED).await;
    }

    /// Makes later commands apply to this frame or, without one, to the whole page.
    pub async fn enter(&self, frame: Option<&str>) {
        self.client.issue_cmd(Chromium { path: "frame", body: json!({ "id": null }) }).await.unwrap();
        if let Some(frame) = frame {
            self.until(&format!("document.querySelector({frame:?})")).await;
            self.client.find(Locator::Css(frame)).await.unwrap().enter_frame().await.unwrap();
        }
    }

    /// Waits for a field, and replaces its text with this text.
    pub async fn fill(&self, selector: &str, text: &str) {
        self.until(&format!("document.querySelector({selector:?})")).await;
        let filled = async {
            loop {
                let written = async {
                    let field = self.client.find(Locator::Css(selector)).await?;
                    field.clear().await?;
                    field.send_keys(text).await
                };
                match written.await {
                    // The page has drawn the field again meanwhile.
                    Err(error) if error.is_stale_element_reference() || error.is_element_not_interactable() => {}
                    written => break written.unwrap(),
                }
            }
        };
        within(&format!("the text in {selector}"), filled).await;
    }

    /// Chooses a file of this machine in a field for files.
    pub async fn choose_file(&self, selector: &str, file: &Path) {
        self.until(&format!("document.querySelector({selector:?})")).await;
        let field = self.client.find(Locator::Css(selector)).await.unwrap();
        field.send_keys(&file.display().to_string()).await.unwrap();
    }

    pub async fn reload(&self) {
        self.run(LEFT).await;
        self.client.refresh().await.unwrap();
        self.until(ARRIVED).await;
    }

    /// Runs a script that ends with `return …`, and returns its value or null.
    pub async fn run(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.unwrap_or_else(|error| panic!("{error}: {script:.200}"))
    }

    /// Returns the value of a promise.
    pub async fn promised(&self, script: &str) -> Value {
        let script =
            format!("const done = arguments[arguments.length - 1]; ({script}).then(done, (e) => done(String(e)));");
        self.client.execute_async(&script, Vec::new()).await.unwrap()
    }

    /// Waits until this expression is true. After the time-out, the panic shows the screen.
    pub async fn until(&self, what: &str) {
        self.until_within(crate::PATIENCE, what).await;
    }

    /// The same with another time-out.
    pub async fn until_within(&self, patience: Duration, what: &str) {
        let asked = async {
            // Between two documents, no script can run.
            while !self.client.execute(&format!("return !!({what})"), Vec::new()).await.is_ok_and(|is| is == true) {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        if tokio::time::timeout(patience, asked).await.is_err() {
            let shown = self.run("return document.body.dataset.screen + ': ' + document.body.innerText").await;
            panic!("never came: {what}; shown is {shown}");
        }
    }

    pub async fn until_screen(&self, name: &str) {
        self.until(&format!("document.body.dataset.screen === {name:?}")).await;
    }

    /// Waits for the page's connection state: `up`, `lost` or `agent-down`.
    pub async fn until_link(&self, word: &str) {
        self.until(&format!("document.body.dataset.link === {word:?}")).await;
    }

    pub async fn screen(&self) -> String {
        self.run("return document.body.dataset.screen ?? ''").await.as_str().unwrap_or_default().to_owned()
    }

    /// Presses the keys one after the other.
    pub async fn keys(&self, keys: &str) {
        let one =
            |actions: KeyActions, key| actions.then(KeyAction::Down { value: key }).then(KeyAction::Up { value: key });
        self.client.perform_actions(keys.chars().fold(KeyActions::new("keyboard".to_owned()), one)).await.unwrap();
    }

    /// Waits until an element is enabled, and presses it with the pointer, or with Tab and Enter.
    pub async fn press(&self, selector: &str, by: By) {
        let there = format!(
            "(() => {{ const e = document.querySelector({selector:?}); \
             return e && e.offsetParent && e.getAttribute('aria-disabled') !== 'true'; }})()"
        );
        self.until(&there).await;
        match by {
            // If the element was redrawn between the search and the click, the click had no effect.
            By::Pointer => loop {
                match self.client.find(Locator::Css(selector)).await.unwrap().click().await {
                    Err(error) if error.is_stale_element_reference() => self.until(&there).await,
                    clicked => break clicked.unwrap(),
                }
            },
            By::Keyboard => {
                let reached = async {
                    while self.run(&format!("return !!document.activeElement?.matches({selector:?})")).await != true {
                        self.keys(&TAB.to_string()).await;
                    }
                };
                within(&format!("the focus on {selector}"), reached).await;
                self.keys(&ENTER.to_string()).await;
            }
        }
    }

    /// Returns a screenshot of the page.
    pub async fn picture(&self) -> Vec<u8> {
        self.client.screenshot().await.unwrap()
    }

    pub async fn close(self) {
        self.client.close().await.unwrap();
    }
}

/// The cashier's input device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Pointer,
    Keyboard,
}
