//! Traces of a session with a scripted peer. Each line has a time in seconds, a direction and a message. The test
//! passes only if every line of the script is used in its order. The words of Miura's traces are here. Those of VIPA
//! are in `vipa_trace`, and those of NEO2 in `neo2_trace`.
//!
//! ```text
//! open · closed CAUSE · arm N · refund N · chip N · manual N · type N WHAT · cancel N · complete N ARC [91 VALUE]
//! [scripts TLVS] show TEXT · tick · keys LEFT                                                                what
//! happens to the session < answer   * unsolicited, without its 9000   ~ unsolicited, with its status   raw bytes
//! what the reader sends > COMMAND [its data]   ! event   reopen SECONDS
//! what the session must do
//! ```

use std::sync::Arc;
use std::time::Duration;

use crate::recording::{self, Recorded};
use crate::{neo2_trace, vipa_trace};

use pos_reader::driver::PortAction;
use pos_reader::miura::MiuraSettings;
use pos_reader::miura::message::MpiCommand;
use pos_reader::neo2::Neo2Settings;
use pos_reader::recording::RECORDING_ENDS;
use pos_reader::session::ReaderSession;
use pos_reader::vipa::VipaSettings;
use pos_reader::{
    AmountToType, Arm, Completion, EntryRequest, LocalTime, ReaderEvent, ReaderFamily, ReaderOrder, ReaderSettings,
    TypeAmount, Unready,
};
use pos_reader_link::apdu_link::{Nad, chain};
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::SaleNumber;

pub const AT: LocalTime = LocalTime { year: 25, month: 1, day: 31, hour: 12, minute: 34, second: 56 };

pub fn settings() -> ReaderSettings {
    ReaderSettings { clock: Arc::new(|| Some(AT)), ..ReaderSettings::new("/dev/reader") }
}

/// The words of a family's traces.
#[derive(Clone, Copy)]
pub struct Words {
    /// The trace of the start-up.
    pub started: &'static str,
    /// Replaces the names in a script with their values.
    pub filled: fn(&str) -> String,
    /// Returns the writes of a reader's message, from its direction and its text.
    pub message: fn(&str, &str) -> Vec<Vec<u8>>,
    /// Returns a command's line, from all its bytes so far. Returns `None` if more bytes belong to the command.
    pub command: fn(&[u8]) -> Option<String>,
}

const MIURA: Words =
    Words { started: STARTED, filled, message: packets, command: |bytes| apdu(bytes).map(|apdu| shown(&apdu)) };

/// Returns the packets of a message that is written in hex. `*` stands for an unsolicited message whose status 9000 is
/// left out, and `~` for one with its status.
pub fn packets(direction: &str, text: &str) -> Vec<Vec<u8>> {
    let message = hex::decode(format!("{text}{}", if direction == "*" { "9000" } else { "" })).unwrap();
    chain(Nad::Reader, direction != "<", &message, 254).unwrap().map(|packet| packet.to_vec()).collect()
}

/// Returns the APDU in one or several packets, or `None` if the last packet has not come.
pub fn apdu(mut packets: &[u8]) -> Option<Vec<u8>> {
    let mut apdu = Vec::new();
    loop {
        let (&[_, pcb, length], rest) = packets.split_first_chunk()?;
        let (part, rest) = rest.split_at(length.into());
        apdu.extend_from_slice(part);
        if pcb & 1 == 0 {
            return Some(apdu);
        }
        packets = &rest[1..];
    }
}

/// A new session, and the words of its traces. The tests set defaults for missing settings.
pub struct Setup(ReaderSettings, ReaderFamily, Words);

impl From<ReaderSettings> for Setup {
    fn from(settings: ReaderSettings) -> Self {
        Self(settings, ReaderFamily::Miura(MiuraSettings::default()), MIURA)
    }
}

impl From<MiuraSettings> for Setup {
    fn from(miura: MiuraSettings) -> Self {
        Self(settings(), ReaderFamily::Miura(miura), MIURA)
    }
}

impl From<VipaSettings> for Setup {
    fn from(vipa: VipaSettings) -> Self {
        Self::from((settings(), vipa))
    }
}

impl From<Neo2Settings> for Setup {
    fn from(neo2: Neo2Settings) -> Self {
        Self::from((settings(), neo2))
    }
}

impl From<(ReaderSettings, Neo2Settings)> for Setup {
    fn from((settings, neo2): (ReaderSettings, Neo2Settings)) -> Self {
        Self(settings, ReaderFamily::Neo2(neo2), neo2_trace::WORDS)
    }
}

impl From<(ReaderSettings, VipaSettings)> for Setup {
    fn from((settings, vipa): (ReaderSettings, VipaSettings)) -> Self {
        Self(settings, ReaderFamily::Vipa(vipa), vipa_trace::WORDS)
    }
}

/// Makes one TLV object from hex.
pub fn t(tag: &str, value: &str) -> String {
    let value: String = value.split_whitespace().collect();
    let length = value.len() / 2;
    match length {
        0..=0x7F => format!("{tag}{length:02X}{value}"),
        0x80..=0xFF => format!("{tag}81{length:02X}{value}"),
        _ => format!("{tag}82{length:04X}{value}"),
    }
}

pub const RESET: &str =
    "E1319F1E083034303030323033EF12DF0D084D3030302D4D5049DF7F04312D3531EF10DF0D074D3030302D4F53DF7F03392D379000";
pub const P2PE: &str = "E105DFAE0101079000";
/// Device information with only the basic capabilities.
pub const INFO: &str = "E10EEF0CDF0D09434F4E5441435449439000";
/// A configuration with one file, `A` of version `1`.
pub const CONFIG: &str = "E10AED08DF0D0141DF7F01319000";
pub const NO_CARD: &str = "E10448020000";
pub const CARD_IN: &str = "E10F4802030063093B6500002063CB6800";
pub const OK: &str = "9000";

pub const STARTED: &str = "
    0  open
       > ABORT
       < 9000
       > RESET DEVICE
       < {RESET}
       > P2PE STATUS
       < {P2PE}
       > GET DEVICE INFO
       < {INFO}
       > GET CONFIGURATION
       < {CONFIG}
       > SYSTEM CLOCK E00B9A032501319F2103123456
       < 9000
       > CARD STATUS
       * {NO_CARD}
       > KEYBOARD STATUS
       < 9000
       ! ready 04000203 M000-MPI 1-51 pin-key";

/// The elements of an E4 for 12.34 EUR. Each test changes the elements that it checks.
pub struct E4 {
    pub amount: &'static str,
    pub currency: &'static str,
    pub more: String,
}

impl Default for E4 {
    fn default() -> Self {
        Self { amount: "9F0206000000001234", currency: "5F2A020978", more: String::new() }
    }
}

pub const CRYPTOGRAM: &str = "9F260811223344556677889F270180";
pub const SEALED: &str = "DFAE021892FC2C940487F43AC64AB3DFD54C7B72F445FE409D80FDF5DFAE030AFFFF0102628D1100005F";
pub const SEALED_BEFORE: &str = "DFAE021885D6E511F8844CEA0DC72883180AC081AF4593A8A3C5FDD8DFAE030AFFFF0102628D1100005E";
pub const PIN: &str = "DFAE04088B68AF72199529B8DFAE050AFFFF0102628D12000001";
pub const MASKED: &str = "DFAE5712476173FFFFFFFFF2234D151220114524040F";

impl E4 {
    pub fn tlvs(&self) -> String {
        let Self { amount, currency, more } = self;
        format!("9F0607A0000000031010{currency}{amount}95050000008000{more}")
    }

    pub fn answer(&self, template: &str) -> String {
        format!("{}9000", t(template, &self.tlvs()))
    }
}

/// Makes the E4 of a chip, with the elements of `more`. The cardholder signs, unless a PIN is added.
pub fn e4(more: &str) -> String {
    let verified = if more.contains(PIN) { "9F3403420300" } else { "9F34031E0300" };
    E4 { more: format!("{CRYPTOGRAM}{verified}{SEALED}{MASKED}{more}"), ..E4::default() }.answer("E4")
}

pub const SWIPE_DATA: &str = "72212907C9B93D919511254CA428CE06";

/// Makes the event for a swipe with this service code.
pub fn swipe(service_code: &str) -> String {
    let track = hex::encode(format!(";476173******0010=1512{service_code}**********?*"));
    t(
        "E1",
        &format!("48020007{}{}{}", t("DFAE02", SWIPE_DATA), t("DFAE03", "00000200000055400182"), t("DFAE22", &track)),
    )
}

pub const E3: &str = "E31E8A0230309F260811223344556677889F270140950500000000009B02E8009000";
pub const E5: &str = "E5048A025A319000";

/// Replaces the names in a script with their values.
pub fn filled(script: &str) -> String {
    let mut text = script.replace("{E4}", &e4("")).replace("{E4_PIN}", &e4(PIN)).replace("{DISPLAY}", "DISPLAY TEXT");
    for (name, value) in [
        ("RESET", RESET),
        ("P2PE", P2PE),
        ("INFO", INFO),
        ("CONFIG", CONFIG),
        ("NO_CARD", NO_CARD),
        ("CARD_IN", CARD_IN),
        ("OK", OK),
        ("E3", E3),
        ("E5", E5),
    ] {
        text = text.replace(&format!("{{{name}}}"), value);
    }
    text
}

/// Runs `script` after start-up.
pub fn play(script: &str) {
    play_with(settings(), script);
}

/// Runs `script` after start-up with different settings.
pub fn play_with(setup: impl Into<Setup>, script: &str) {
    Player::started(setup).play(script);
}

pub struct Player {
    pub session: ReaderSession,
    pub now: Duration,
    words: Words,
    /// What the session is made of, and its recording. The recording is played at the end.
    setup: (ReaderSettings, ReaderFamily),
    recorded: Recorded,
    /// The last [`ReaderEvent::KeysLeft`]. The command `keys` checks it separately, because it follows every card.
    keys: Option<(Option<u64>, Option<u64>)>,
}

impl Player {
    pub fn new(setup: impl Into<Setup>) -> Self {
        let Setup(settings, family, words) = setup.into();
        let recorded = Recorded::default();
        let session = family.clone().session(recorded.settings(settings.clone()));
        Self { session, now: Duration::ZERO, words, setup: (settings, family), recorded, keys: None }
    }

    /// Returns a peer after start-up.
    pub fn started(setup: impl Into<Setup>) -> Self {
        let mut player = Self::new(setup);
        player.play(player.words.started);
        player
    }

    pub fn play(&mut self, script: &str) {
        let script = (self.words.filled)(script);
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (time, rest) = line.split_once(' ').unwrap_or((line, ""));
            let line = match time.parse() {
                Ok(time) => {
                    self.now = Duration::from_secs_f64(time);
                    rest.trim()
                }
                Err(_) => line,
            };
            // A line may have only a time.
            if !line.is_empty() {
                self.line(line);
            }
        }
        assert_eq!(self.output(), None, "at the end of the script");
    }

    pub fn line(&mut self, line: &str) {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        if matches!(what, ">" | "!" | "reopen") {
            assert_eq!(self.output().as_deref(), Some(line), "after {:?}", self.now);
            return;
        }
        assert_eq!(self.output(), None, "before \"{line}\" at {:?}", self.now);
        let now = self.now;
        match what {
            "open" => self.session.opened(now),
            "closed" => self.session.closed(rest),
            "arm" => self.session.order(ReaderOrder::Arm(arm(rest.parse().unwrap())), now),
            "refund" => {
                let arm = Arm { transaction_type: 0x20, ..arm(rest.parse().unwrap()) };
                self.session.order(ReaderOrder::Arm(arm), now);
            }
            "keys" => assert_eq!(format!("{:?}", self.keys.take()), rest),
            "chip" => {
                let arm = Arm { entry: EntryRequest::Chip, ..arm(rest.parse().unwrap()) };
                self.session.order(ReaderOrder::Arm(arm), now);
            }
            "manual" => {
                let arm = Arm { entry: EntryRequest::Manual, ..arm(rest.parse().unwrap()) };
                self.session.order(ReaderOrder::Arm(arm), now);
            }
            "show" => self.session.order(ReaderOrder::Show { text: rest.replace('/', "\n") }, now),
            "type" => self.session.order(ReaderOrder::TypeAmount(typing(rest)), now),
            "cancel" => self.session.order(ReaderOrder::Cancel { sale: rest.parse().unwrap() }, now),
            "complete" => self.session.order(complete(rest), now),
            "tick" => {
                let deadline = self.session.deadline().expect("a deadline");
                assert!(deadline <= now, "the deadline is at {deadline:?}, not yet at {now:?}");
                self.session.timeout(now);
            }
            "<" | "*" | "~" => {
                for bytes in (self.words.message)(what, rest) {
                    self.session.bytes(&bytes, now);
                }
            }
            "raw" => self.session.bytes(&hex::decode(rest.replace(' ', "")).unwrap(), now),
            _ => panic!("not a line of a script: {line}"),
        }
    }

    pub fn output(&mut self) -> Option<String> {
        let mut output = self.session.poll()?;
        while let PortAction::Report(ReaderEvent::KeysLeft { card, pin }) = output {
            self.keys = Some((card, pin));
            output = self.session.poll()?;
        }
        Some(match output {
            PortAction::Write(bytes) => {
                // A command in several writes is one message of the trace.
                let mut bytes = bytes.to_vec();
                loop {
                    if let Some(line) = (self.words.command)(&bytes) {
                        break line;
                    }
                    let Some(PortAction::Write(more)) = self.session.poll() else { panic!("a command ends early") };
                    bytes.extend_from_slice(&more);
                }
            }
            PortAction::Report(event) => format!("! {}", describe(&event)),
            PortAction::Reopen { after } => format!("reopen {}", after.as_secs_f64()),
        })
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        let text = self.recorded.text();
        // A flood is longer than a recording.
        let is_whole = !text.trim_end().ends_with(RECORDING_ENDS);
        if is_whole && !std::thread::panicking() {
            let (settings, family) = self.setup.clone();
            recording::play(&text, settings, family);
        }
    }
}

/// Returns the line of a Miura command.
fn shown(apdu: &[u8]) -> String {
    let command = MpiCommand::parse(apdu).unwrap();
    let shown = matches!(
        command,
        MpiCommand::Continue(_)
            | MpiCommand::ClockSet(_)
            | MpiCommand::StartTransaction(_)
            | MpiCommand::OnlinePin { .. }
            | MpiCommand::GetNumeric(_)
            | MpiCommand::GetTip(_)
            | MpiCommand::SecureData(_)
            | MpiCommand::SecurePan { .. }
    );
    match command {
        MpiCommand::DisplayText { text, .. } => {
            format!("> DISPLAY TEXT {}", String::from_utf8_lossy(text).replace('\n', "/"))
        }
        MpiCommand::SecureData(_) => format!("> GET SECURE DATA {}", hex::encode_upper(&apdu[2..])),
        MpiCommand::StartContactless { language: Some(language), .. } => {
            format!("> START CONTACTLESS TRANSACTION {}", String::from_utf8_lossy(&language))
        }
        command if shown => {
            let long = apdu[4] == 0;
            format!("> {} {}", command.name(), hex::encode_upper(&apdu[if long { 7 } else { 5 }..]))
        }
        command => format!("> {}", command.name()),
    }
}

pub fn arm(sale: u64) -> Arm {
    let amount = Amount::parse("12.34", Currency::from_code("EUR").unwrap()).unwrap();
    Arm {
        sale: SaleNumber::new(sale),
        amount,
        transaction_type: 0,
        at: AT,
        card_timeout: Duration::from_secs(60),
        entry: EntryRequest::Card,
    }
}

/// Reads `SALE amount CURRENCY` or `SALE tip BILL CURRENCY [PERCENTAGE…]`, and sets a time limit of 30 seconds.
pub fn typing(text: &str) -> TypeAmount {
    let mut words = text.split_whitespace();
    let sale = words.next().unwrap().parse().unwrap();
    let what = match words.next().unwrap() {
        "amount" => AmountToType::Amount { currency: Currency::from_code(words.next().unwrap()).unwrap() },
        _ => {
            let bill = words.next().unwrap();
            let base = Amount::parse(bill, Currency::from_code(words.next().unwrap()).unwrap()).unwrap();
            let (only, percentages): (Vec<&str>, Vec<&str>) = words.partition(|word| *word == "only");
            let percentages = percentages.iter().map(|word| word.parse().unwrap()).collect();
            AmountToType::Tip { base, percentages, other: only.is_empty() }
        }
    };
    TypeAmount { sale, what, timeout: Duration::from_secs(30) }
}

pub fn complete(text: &str) -> ReaderOrder {
    let mut words = text.split_whitespace();
    let sale = words.next().unwrap().parse().unwrap();
    let arc = words.next().unwrap().as_bytes().try_into().unwrap();
    let mut completion = Completion { arc, issuer_authentication: None, scripts: heapless::Vec::new() };
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        let value = hex::decode(value).unwrap();
        match name {
            "91" => completion.issuer_authentication = Some(heapless::Vec::from_slice(&value).unwrap()),
            _ => completion.scripts = heapless::Vec::from_slice(&value).unwrap(),
        }
    }
    ReaderOrder::Complete { sale, completion }
}

pub fn describe(event: &ReaderEvent) -> String {
    match event {
        ReaderEvent::Ready(id) => {
            let keys = if id.pin_key { "pin-key" } else { "no-pin-key" };
            let clock = id.clock.map(|at| format!(" clock {at:?}")).unwrap_or_default();
            format!("ready {} {} {} {keys}{clock}", id.serial, id.model, id.firmware)
        }
        ReaderEvent::Unready(why) => match why {
            Unready::Absent { cause, .. } => format!("unready absent {cause}"),
            Unready::WrongDevice { cause, .. } => format!("unready wrong-device {cause}"),
            Unready::NoCardKey { serial } => format!("unready no-card-key {serial}"),
            Unready::ClearCardData { serial } => format!("unready clear-card-data {serial}"),
            Unready::NotEncrypting { serial, fault } => format!("unready not-encrypting {serial} {fault:?}"),
            Unready::Flooding { wait_s, .. } => format!("unready flooding {wait_s}"),
            Unready::NotListed { serial } => format!("unready not-listed {serial}"),
            Unready::Restarting { cause } => format!("unready restarting {cause}"),
        },
        ReaderEvent::Progress { sale, progress } => format!("{sale} {progress:?}"),
        ReaderEvent::Language { sale, language } => format!("{sale} language {}", language.code()),
        ReaderEvent::Card { sale, presented } => {
            let facts = &presented.facts;
            let pan = facts.pan.as_ref().map_or("no-pan", |pan| pan.as_str());
            let cvm = facts.cvm.map(|cvm| format!("{cvm:?}")).unwrap_or_default();
            let pin = if presented.pin.is_some() { " pin" } else { "" };
            format!(
                "{sale} card {} {pan} {:?} sealed {} ksn {} {cvm}{pin}",
                facts.entry.as_str(),
                presented.first_answer,
                presented.card.data.expose().len(),
                hex::encode_upper(presented.card.ksn.expose()),
            )
            .trim_end()
            .to_owned()
        }
        ReaderEvent::NoCard { sale, why } => format!("{sale} no-card {why:?}"),
        ReaderEvent::Completed { sale, verdict, facts, scripts_dropped } => {
            let cryptogram = facts.as_ref().and_then(|facts| facts.cryptogram);
            let kind = cryptogram.map(|cryptogram| format!(" {:?}", cryptogram.kind)).unwrap_or_default();
            let dropped = if *scripts_dropped { " scripts-dropped" } else { "" };
            format!("{sale} completed {verdict:?}{kind}{dropped}")
        }
        ReaderEvent::KeysLeft { .. } => unreachable!("kept aside"),
        ReaderEvent::Typed { sale, amount: Ok(amount) } => {
            format!("{sale} typed {}", amount.map_or("nothing".to_owned(), |amount| amount.to_string()))
        }
        ReaderEvent::Typed { sale, amount: Err(why) } => format!("{sale} typed-not {why:?}"),
        ReaderEvent::Idle => "idle".to_owned(),
    }
}
