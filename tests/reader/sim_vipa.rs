//! The simulated VIPA reader over real connections: raw bytes to and from a pty and a TCP port. These tests neither
//! test the agent's driver nor use any part of it. They read answers by the rules of the link layer (readers: 3.1) and
//! open them with the host's keys.
//!
//! Frames in `frame` are typed from documents (readers: 3.7). They are never edited to make a test pass.

use std::time::Duration;

use pos_sim::keys::cryptogram::{CSU_APPROVED, Issuer};
use pos_sim::keys::tdes_dukpt::{Usage, initial_key, transaction_key};
use pos_sim::keys::{Ksn, TEST_BDK_PIN, TEST_BDK_SRED, TEST_IMK_AC, TEST_KSN_PIN, TEST_KSN_SRED, pin_block};
use pos_sim::reader::deck::{Card, CardEntry, DECK, Tap};
use pos_sim::reader::{
    AbortRace, Dukpt, Family, Key, Options, Pace, PinPlan, Reader, Script, VipaSettings, WaitsFor, card, start,
};
use pos_terms::emv::{Tag, luhn, tlv};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_serial::SerialPortBuilderExt;

mod frame {
    pub(crate) const START: &str = "01003BDED1000036E0349C01009F02060000000032509F03060000000000009A032103039F21031957249F1A0208405F2A020840DFA2140101DFA2180100BB";
    pub(crate) const S9F24: &str = "0100029F24B8";
    pub(crate) const LANGUAGE: &str = "010004D2D0000007";
    pub(crate) const RESET_INFO: &str = "010004D0000001D4";
    pub(crate) const CARD_STATUS_AND_KEYS: &str = "010004D0601D03AB";
    pub(crate) const CONTACTLESS_STATUS: &str = "010004C0000100C4";
    pub(crate) const OPEN: &str = "010004C0010000C4";
    pub(crate) const CANCEL: &str = "010004C0C0000005";
    pub(crate) const ABORT: &str = "010004D0FF00002A";
    pub(crate) const IDLE_TEXT: &str = "010004D2010101D6";
    pub(crate) const REMOVE_CARD: &str = "010004D2010E01D9";
    pub(crate) const INSERT_CARD: &str = "010004D2010D01DA";
    pub(crate) const KEY_STATUS: &str = "010004C4110B06DD";
    pub(crate) const CONTACTLESS_START: &str =
        "010028C0A0010023E0219F02060000000001009A032501319C01009F21031234565F2A0208269F1A0208261C";
    pub(crate) const ONLINE_PIN: &str =
        "010031DED602002CE02ADFEC050100DFED050108DFDF1706000000012300DFDF2403504C4EDFDF1C01025A0854133300890000391A";
    pub(crate) const CONTINUE: &str = "01001EDED2000019E0178A023030910A11223344556677883030C00101C202303066";
}

/// One end of a connection, read packet by packet.
struct Wire<S>(S);

/// A whole message.
#[derive(Debug, PartialEq)]
struct Message {
    unsolicited: bool,
    packets: usize,
    body: Vec<u8>,
    status: u16,
}

impl Message {
    /// Returns a solicited answer without a body.
    fn status(status: u16) -> Self {
        Self { unsolicited: false, packets: 1, body: Vec::new(), status }
    }

    fn unsolicited(status: u16) -> Self {
        Self { unsolicited: true, ..Self::status(status) }
    }

    fn find(&self, tag: u32) -> Option<&[u8]> {
        tlv::find(&self.body, Tag(tag)).unwrap()
    }

    fn hex(&self, tag: u32) -> String {
        self.find(tag).map(hex::encode_upper).unwrap_or_else(|| panic!("no {tag:X} in {self:?}"))
    }

    fn template(&self) -> u8 {
        assert_eq!(self.status, 0x9000);
        self.body[0]
    }

    /// Opens FF7F, and checks its padding.
    fn opened(&self) -> (Ksn, Vec<u8>) {
        let block = self.find(0xFF7F).expect("FF7F");
        let find = |tag| tlv::find(block, Tag(tag)).unwrap().unwrap();
        let ksn = Ksn::from_bytes(find(0xDFDF11)).unwrap();
        assert_eq!(ksn.initial(), TEST_KSN_SRED);
        let key = transaction_key(&initial_key(&TEST_BDK_SRED, ksn), ksn).unwrap().working(Usage::DataRequest);
        let mut plain = key.cbc_decrypt(find(0xDFDF12).try_into().unwrap(), find(0xDFDF10)).unwrap();
        while plain.last() == Some(&0) {
            plain.pop();
        }
        assert_eq!(plain.pop(), Some(0x80), "the padding begins with 80");
        (ksn, plain)
    }

    fn pin_is(&self, digits: &str, pan: &str) -> bool {
        pin_is(self.find(0xDFED6C).unwrap(), self.find(0xDFED03).unwrap(), digits, pan)
    }

    fn cryptogram_is_right(&self, card: &Card) -> bool {
        Issuer::new(TEST_IMK_AC).card_key(card.pan, card.psn).unwrap().verify(&self.body).unwrap()
    }
}

fn pin_is(block: &[u8], ksn: &[u8], digits: &str, pan: &str) -> bool {
    let ksn = Ksn::from_bytes(ksn).unwrap();
    assert_eq!(ksn.initial(), TEST_KSN_PIN);
    let key = transaction_key(&initial_key(&TEST_BDK_PIN, ksn), ksn).unwrap().working(Usage::Pin);
    pin_block::decrypt_0(&key, block, pan).unwrap().is(&pin_block::Pin::new(digits).unwrap())
}

fn packet(apdu: &[u8]) -> Vec<u8> {
    chained(apdu, false)
}

fn chained(apdu: &[u8], more: bool) -> Vec<u8> {
    let mut packet = [&[1, u8::from(more), u8::try_from(apdu.len()).unwrap()][..], apdu].concat();
    packet.push(packet.iter().fold(0, |lrc, byte| lrc ^ byte));
    packet
}

fn unhex(text: &str) -> Vec<u8> {
    hex::decode(text).unwrap()
}

/// Makes a command with the elements in E0.
fn command(head: &str, elements: &str) -> Vec<u8> {
    let elements = unhex(elements);
    let length = u8::try_from(elements.len()).unwrap();
    packet(&[&unhex(head)[..], &[length + 2, 0xE0, length], &elements].concat())
}

/// The first CONTINUE: amounts, acquirer, and the decision.
fn decide(c0: &str) -> Vec<u8> {
    command("DED20000", &format!("9F02060000000032509F03060000000000005F2A0208409F1A020840C2023635DFA2180100C001{c0}"))
}

/// The CONTINUE with the issuer's answer.
fn conclude(arc: &str, tag_91: &[u8], c0: &str) -> Vec<u8> {
    let authentication = match tag_91 {
        [] => String::new(),
        value => format!("91{:02X}{}", value.len(), hex::encode(value)),
    };
    command(
        "DED20000",
        &format!(
            "9F02060000000032509F03060000000000005F2A0208409F1A020840C20236358A02{}{authentication}C001{c0}",
            hex::encode(arc)
        ),
    )
}

const ONLINE_PIN: &str = "DFEC050100DFED040104DFED050108DFDF1706000000012300DFDF2403504C4EDFDF1C0102";

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    async fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.unwrap();
    }

    async fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let read = tokio::time::timeout(Duration::from_secs(20), self.0.read_exact(&mut bytes)).await;
        read.expect("the reader says nothing").unwrap();
        bytes
    }

    async fn packet(&mut self) -> Vec<u8> {
        let mut packet = self.bytes::<3>().await.to_vec();
        for _ in 0..=packet[2] {
            packet.extend(self.bytes::<1>().await);
        }
        packet
    }

    async fn message(&mut self) -> Message {
        let mut body = Vec::new();
        for packets in 1.. {
            let packet = self.packet().await;
            assert_eq!(packet.iter().fold(0, |lrc, byte| lrc ^ byte), 0, "LRC");
            assert_eq!(packet[0], 1);
            body.extend(&packet[3..packet.len() - 1]);
            if packet[1] & 1 == 0 {
                let status = u16::from_be_bytes(body.split_off(body.len() - 2).try_into().unwrap());
                return Message { unsolicited: packet[1] & 0x40 != 0, packets, body, status };
            }
        }
        unreachable!()
    }

    /// Reads the next solicited message. Skips unsolicited ones.
    async fn answer(&mut self) -> Message {
        loop {
            let message = self.message().await;
            if !message.unsolicited {
                return message;
            }
        }
    }

    async fn ask(&mut self, bytes: &[u8]) -> Message {
        self.send(bytes).await;
        self.answer().await
    }

    async fn ask_frame(&mut self, frame: &str) -> Message {
        self.ask(&unhex(frame)).await
    }

    /// Waits for a tap, and taps.
    async fn tap(&mut self, reader: &Reader, card: &'static Card) -> Message {
        assert_eq!(self.ask_frame(frame::CONTACTLESS_START).await, Message::status(0x9000));
        reader.waits_for(WaitsFor::Card).await;
        reader.tap(card);
        self.message().await
    }

    /// Inserts a card, and lets it make its first cryptogram. Returns the E2 and the decision.
    async fn insert(&mut self, reader: &Reader, card: &'static Card) -> (Message, Message) {
        reader.insert(card);
        let e2 = self.ask_frame(frame::START).await;
        assert_eq!(e2.template(), 0xE2, "{}", card.name);
        (e2, self.ask(&decide("01")).await)
    }
}

type Serial = Wire<tokio_serial::SerialStream>;

fn options() -> Options {
    Options { family: Family::Vipa, ..Options::default() }
}

async fn reader(options: Options) -> (Reader, Serial) {
    let reader = start(options).await.unwrap();
    let wire = Wire(tokio_serial::new(reader.place(), 57_600).open_native_async().unwrap());
    (reader, wire)
}

/// A reader whose antenna is open.
async fn opened(options: Options) -> (Reader, Serial) {
    let (reader, mut wire) = reader(options).await;
    assert_eq!(wire.ask_frame(frame::OPEN).await, Message::status(0x9000));
    (reader, wire)
}

fn named(name: &str) -> &'static Card {
    card(name).unwrap()
}

fn approval(answer: &Message, card: &Card) -> Vec<u8> {
    let key = Issuer::new(TEST_IMK_AC).card_key(card.pan, card.psn).unwrap();
    key.issuer_authentication(&answer.body, *b"00", CSU_APPROVED).unwrap().to_vec()
}

#[tokio::test]
async fn start_up_goes_by_the_documented_frames() {
    let (reader, mut wire) = reader(options()).await;
    let info = wire.ask_frame(frame::RESET_INFO).await;
    let length = info.body.len() + 2;
    assert_eq!((info.status, info.packets), (0x9000, 4));
    assert!((855..=875).contains(&length), "{length} bytes");
    assert_eq!(info.find(0x9F1E), Some(&b"30003638"[..]));
    assert_eq!(info.find(0xDF8101), Some(&[0][..]));
    let tags: Vec<u32> = tlv::walk(&info.body).map(|object| object.unwrap().tag.0).collect();
    assert_eq!(&tags[..5], [0x9F1C, 0xDFA242, 0xDF8145, 0xEE, 0xF0]);
    assert_eq!(tags[5..], [0xEF; 8]);
    // A reset without the request has no body.
    assert_eq!(wire.ask(&packet(&unhex("D0000000"))).await, Message::status(0x9000));
    assert_eq!(wire.ask(&command("DD100000", "9A032501319F2103123456")).await, Message::status(0x9000));
    assert_eq!(wire.ask(&packet(&unhex("DD100100"))).await.hex(0x9A), "250131");
    assert_eq!(wire.ask_frame(frame::CARD_STATUS_AND_KEYS).await.body, unhex("E00448020000"));
    assert_eq!(wire.ask_frame(frame::LANGUAGE).await.find(0xDFA20C), Some(&b"en"[..]));
    for (frame, line) in
        [(frame::IDLE_TEXT, "WELCOME"), (frame::REMOVE_CARD, "REMOVE CARD"), (frame::INSERT_CARD, "INSERT CARD")]
    {
        assert_eq!(wire.ask_frame(frame).await, Message::status(0x9000));
        assert_eq!(reader.display(), [line]);
    }
    assert_eq!(wire.ask(&packet(&unhex("D2010001070948690A596F75"))).await, Message::status(0x9000));
    assert_eq!(reader.display(), ["Hi", "You"]);
    let keys = wire.ask_frame(frame::KEY_STATUS).await;
    assert_eq!(keys.hex(0xDFED03), hex::encode_upper(TEST_KSN_PIN.with_counter(1).0));
    assert_eq!(keys.hex(0xDFDF11), hex::encode_upper(TEST_KSN_SRED.with_counter(1).0));
    reader.key(Key::Cancel);
    let key = wire.message().await;
    assert_eq!((key.unsolicited, key.body), (true, unhex("E005DFA205011B")));
    reader.insert(named("chip-pin"));
    let event = wire.message().await;
    assert_eq!((event.unsolicited, event.hex(0x48)), (true, "0300".to_owned()));
    reader.remove();
    assert_eq!(wire.message().await.hex(0x48), "0000");
    assert_eq!(reader.counters().faults, 0);
    // The configuration is a list of files.
    let files = wire.ask(&packet(&unhex("D0010000"))).await;
    assert_eq!(tlv::walk(&files.body).count(), 4);
}

#[tokio::test]
async fn a_status_may_be_flagged_as_unsolicited() {
    let vipa = VipaSettings { status_is_unsolicited: true, ..VipaSettings::default() };
    let (_reader, mut wire) = reader(Options { vipa, ..options() }).await;
    wire.send(&unhex(frame::CARD_STATUS_AND_KEYS)).await;
    let status = wire.message().await;
    assert_eq!((status.unsolicited, status.body), (true, unhex("E00448020000")));
}

#[tokio::test]
async fn a_damaged_packet_is_answered_by_its_fault() {
    let (reader, mut wire) = reader(options()).await;
    for (frame, status) in [
        ("010004D0FF00002B", 0x9F01),
        ("020004D0FF000029", 0x9F02),
        ("010404D0FF00002E", 0x9F09),
        ("014004D0FF00006A", 0x9F09),
        ("010204D0FF000028", 0x9F53),
        ("010001D0D0", 0x9F0C),
        ("0100FF00", 0x9F0C),
    ] {
        assert_eq!(wire.ask_frame(frame).await, Message::status(status), "{frame}");
        assert_eq!(wire.ask_frame(frame::ABORT).await, Message::status(0x9000), "{frame}");
    }
    assert_eq!(reader.counters().faults, 7);
    // A command arrives byte by byte, or two arrive at once.
    for byte in unhex(frame::ABORT) {
        wire.send(&[byte]).await;
    }
    assert_eq!(wire.answer().await, Message::status(0x9000));
    wire.send(&[unhex(frame::ABORT), unhex(frame::LANGUAGE)].concat()).await;
    assert_eq!(wire.answer().await, Message::status(0x9000));
    assert!(wire.answer().await.find(0xDFA20C).is_some());
}

#[tokio::test]
async fn a_chain_is_joined_unless_its_last_packet_is_full() {
    let (reader, mut wire) = reader(options()).await;
    let long = |length: usize| {
        let text = "A".repeat(length);
        [&unhex("D2010001")[..], &[u8::try_from(length).unwrap_or(0xFF)], text.as_bytes()].concat()
    };
    let apdu = long(300);
    wire.send(&chained(&apdu[..254], true)).await;
    assert_eq!(wire.ask(&packet(&apdu[254..])).await, Message::status(0x9000));
    assert_eq!(reader.display(), ["A".repeat(21)]);
    // The first packet may be shorter.
    wire.send(&chained(&apdu[..249], true)).await;
    assert_eq!(wire.ask(&packet(&apdu[249..])).await, Message::status(0x9000));
    // 249 bytes of text make exactly 254.
    assert_eq!(wire.ask(&packet(&long(249))).await, Message::status(0x9F08));
    assert_eq!(wire.ask(&packet(&long(248))).await, Message::status(0x9000));
    // A broken chain is forgotten.
    wire.send(&chained(&apdu[..254], true)).await;
    assert_eq!(wire.ask_frame("010004D0FF00002B").await, Message::status(0x9F01));
    assert_eq!(wire.ask_frame(frame::ABORT).await, Message::status(0x9000));
}

#[tokio::test]
async fn a_chip_pays_with_the_pin_after_the_cryptogram() {
    let (reader, mut wire) = reader(options()).await;
    let card = named("chip-pin");
    let (e2, e4) = wire.insert(&reader, card).await;
    let (ksn, plain) = e2.opened();
    assert_eq!(ksn, TEST_KSN_SRED.with_counter(1));
    assert_eq!(hex::encode_upper(plain), "57114761739001010119D311220117589893895A084761739001010119");
    assert_eq!((e2.hex(0x5A), e2.hex(0x57)), ("476173AAAAAA0119".into(), "476173AAAAAA0119D3112201AAAAAAAAAA".into()));
    let first: Vec<u32> = tlv::walk(&e2.body[3..]).map(|object| object.unwrap().tag.0).collect();
    assert_eq!(&first[..3], [0xC1, 0xFF7F, 0x50]);
    assert_eq!((e4.template(), e4.unsolicited, e4.hex(0x9F34)), (0xE4, false, "420300".to_owned()));
    assert!(e4.find(0xFF7F).is_none() && e4.find(0xDFED6C).is_none());
    assert_eq!((e4.hex(0x9F02), e4.hex(0x5F2A), e4.hex(0x9F1A)), ("000000003250".into(), "0840".into(), "0840".into()));
    assert_eq!(e4.hex(0x9F39), "05");
    assert!(e4.cryptogram_is_right(card));
    // The PIN of the card in the slot, of which the host knows no number.
    wire.send(&command("DED60200", ONLINE_PIN)).await;
    let asked = wire.message().await;
    assert_eq!((asked.unsolicited, asked.hex(0xC3)), (true, "0C".to_owned()));
    let pin = wire.answer().await;
    assert_eq!(pin.template(), 0xE0);
    assert!(pin.pin_is("1234", card.pan));
    let e3 = wire.ask(&conclude("00", &approval(&e4, card), "01")).await;
    assert_eq!((e3.template(), e3.find(0x8A), e3.hex(0x9F27)), (0xE3, Some(&b"00"[..]), "40".to_owned()));
    assert!(e3.cryptogram_is_right(card));
    let moments = reader.moments();
    assert!(moments.card_written.unwrap() < moments.continue_read.unwrap());
    // There is no transaction left to continue.
    assert_eq!(wire.ask(&conclude("00", &[], "01")).await, Message::status(0x9F24));
    assert_eq!(reader.counters().answers_of_issuer, 2);
}

#[tokio::test]
async fn the_host_decides_and_the_issuer_answers() {
    let (reader, mut wire) = reader(options()).await;
    for (name, c0, arc, right, template) in [
        ("chip-no-cvm", "01", "00", false, 0xE3),
        ("chip-scripts", "01", "00", true, 0xE3),
        ("chip-scripts", "01", "00", false, 0xE5),
        ("chip-refuses", "01", "00", true, 0xE5),
        ("chip-no-cvm", "00", "00", false, 0xE5),
        ("chip-no-cvm", "01", "Z1", false, 0xE5),
    ] {
        let card = named(name);
        let (_, e4) = wire.insert(&reader, card).await;
        assert_eq!(e4.template(), 0xE4);
        let tag_91 = if right { approval(&e4, card) } else { Vec::new() };
        let last = wire.ask(&conclude(arc, &tag_91, c0)).await;
        assert_eq!(last.template(), template, "{name} {c0} {arc} {right}");
        assert!(last.cryptogram_is_right(card));
        reader.remove();
    }
    // The host asks for an AAC at once.
    reader.insert(named("chip-no-cvm"));
    assert_eq!(wire.ask_frame(frame::START).await.template(), 0xE2);
    assert_eq!(wire.ask(&decide("00")).await.template(), 0xE5);
    // A reader with the other meaning of C0.
    let vipa = VipaSettings { approves: 0x00, ..VipaSettings::default() };
    let (reader, mut wire) = self::reader(Options { vipa, ..options() }).await;
    reader.insert(named("chip-no-cvm"));
    assert_eq!(wire.ask_frame(frame::START).await.template(), 0xE2);
    assert_eq!(wire.ask(&decide("00")).await.template(), 0xE4);
}

#[tokio::test]
async fn a_newer_reader_has_the_pin_in_the_e4() {
    let vipa = VipaSettings { pin_in_e4: true, ..VipaSettings::default() };
    let (reader, mut wire) = opened(Options { vipa, ..options() }).await;
    let (_, e4) = wire.insert(&reader, named("chip-pin")).await;
    assert!(e4.template() == 0xE4 && e4.pin_is("1234", named("chip-pin").pan));
    reader.remove();
    wire.send(&unhex(frame::CONTACTLESS_START)).await;
    assert_eq!(wire.answer().await, Message::status(0x9000));
    reader.waits_for(WaitsFor::Card).await;
    reader.tap(named("tap-pin"));
    let mut e4 = wire.message().await;
    while e4.body.first() == Some(&0xE6) {
        e4 = wire.message().await;
    }
    assert!(e4.unsolicited && e4.template() == 0xE4 && e4.pin_is("1234", named("tap-pin").pan));
}

#[tokio::test]
async fn the_chip_checks_a_pin_and_the_host_hears_of_it() {
    let (reader, mut wire) = reader(options()).await;
    reader.insert(named("chip-offline-pin"));
    assert_eq!(wire.ask_frame(frame::START).await.template(), 0xE2);
    wire.send(&decide("01")).await;
    let mut texts = Vec::new();
    let e4 = loop {
        let message = wire.message().await;
        if !message.unsolicited {
            break message;
        }
        texts
            .push((String::from_utf8(message.find(0xC4).unwrap().to_vec()).unwrap(), message.find(0xC5).map(|t| t[0])));
    };
    let texts: Vec<_> = texts.iter().map(|(text, tries)| (text.as_str(), *tries)).collect();
    assert_eq!(texts, [("ENTER PIN", Some(3)), ("INCORRECT PIN", Some(2)), ("ENTER PIN", Some(2)), ("PIN OK", None)]);
    assert_eq!((e4.template(), e4.hex(0x9F34)), (0xE4, "440302".to_owned()));
}

#[tokio::test]
async fn a_tap_is_an_unsolicited_result() {
    let (reader, mut wire) = opened(options()).await;
    assert_eq!(wire.ask(&packet(&unhex("C0000000"))).await.body, [1]);
    assert_eq!(wire.ask_frame(frame::CONTACTLESS_STATUS).await.hex(0xDFC023), "01");
    for (counter, name) in [(1, "tap"), (2, "tap-pin"), (3, "debit")] {
        let card = named(name);
        let e4 = wire.tap(&reader, card).await;
        assert!(e4.unsolicited && e4.template() == 0xE4, "{name}");
        let (ksn, plain) = e4.opened();
        assert_eq!(ksn, TEST_KSN_SRED.with_counter(counter));
        assert_eq!(hex::encode_upper(plain), format!("5711{}D31122011758989389{}{}", card.pan, "5A08", card.pan));
        assert!(e4.cryptogram_is_right(card));
        assert_eq!(e4.hex(0x9F39), "07");
        if name == "tap-pin" {
            assert_eq!(e4.hex(0x9F34), "420300");
            assert!(wire.ask(&command("DED60200", ONLINE_PIN)).await.pin_is("1234", card.pan));
        }
        let last = command("C0A10000", "C2023635C001018A023030");
        assert_eq!(wire.ask(&last).await, Message::status(0x9000));
        let e3 = wire.message().await;
        assert!(e3.unsolicited && e3.template() == 0xE3);
        assert_eq!(wire.ask(&last).await, Message::status(0x9F24));
    }
    // The IV is random for each block.
    let ivs: Vec<_> = [wire.tap(&reader, named("tap")).await, wire.tap(&reader, named("tap")).await]
        .iter()
        .map(|e4| e4.hex(0xDFDF12))
        .collect();
    assert_ne!(ivs[0], ivs[1]);
}

#[tokio::test]
async fn the_other_results_of_a_tap() {
    let (reader, mut wire) = opened(options()).await;
    let e7 = wire.tap(&reader, named("tap-magstripe")).await;
    assert!(e7.unsolicited && e7.template() == 0xE7 && e7.find(0x9F26).is_none());
    assert_eq!(e7.hex(0x9F39), "91");
    assert!(String::from_utf8(hex::encode(e7.opened().1).into()).unwrap().contains(named("tap-magstripe").pan));
    assert_eq!(wire.tap(&reader, named("tap-insert")).await, Message::unsolicited(0x9F34));
    // A phone needs a second tap, with or without a new command.
    for again in [false, true] {
        assert_eq!(wire.tap(&reader, named("tap-phone")).await, Message::unsolicited(0x9F35));
        if again {
            assert_eq!(wire.ask_frame(frame::CONTACTLESS_START).await, Message::status(0x9000));
        }
        reader.tap(named("tap-phone"));
        let e4 = wire.message().await;
        assert!(e4.unsolicited && e4.template() == 0xE4 && e4.cryptogram_is_right(named("tap-phone")));
    }
    // A zero amount is accepted, and refused by the result.
    let zero =
        command("C0A00100", "9F02060000000000009F03060000000000009A032501319C01009F21031234565F2A0208269F1A020826");
    assert_eq!(wire.ask(&zero).await, Message::status(0x9000));
    assert_eq!(wire.message().await, Message::unsolicited(0x9F32));
    // The customer cancels, or waits too long.
    for cancel in [true, false] {
        assert_eq!(wire.ask_frame(frame::CONTACTLESS_START).await, Message::status(0x9000));
        reader.waits_for(WaitsFor::Card).await;
        if cancel {
            reader.key(Key::Cancel)
        } else {
            reader.wait_too_long()
        }
        assert_eq!(wire.message().await, Message::unsolicited(0x9F41));
    }
}

#[tokio::test]
async fn an_insertion_during_the_wait_needs_a_cancel() {
    let (reader, mut wire) = opened(options()).await;
    assert_eq!(wire.ask_frame(frame::CARD_STATUS_AND_KEYS).await.hex(0x48), "0000");
    assert_eq!(wire.ask_frame(frame::CONTACTLESS_START).await, Message::status(0x9000));
    reader.waits_for(WaitsFor::Card).await;
    reader.insert(named("chip-no-cvm"));
    assert_eq!(wire.message().await.hex(0x48), "0300");
    assert_eq!(hex::encode_upper(wire.ask_packet(frame::START).await), frame::S9F24);
    // Texts are allowed meanwhile.
    assert_eq!(wire.ask_frame(frame::IDLE_TEXT).await, Message::status(0x9000));
    wire.send(&unhex(frame::CANCEL)).await;
    assert_eq!(wire.message().await, Message::status(0x9000));
    assert_eq!(wire.message().await, Message::unsolicited(0x9F43));
    assert_eq!(wire.ask_frame(frame::START).await.template(), 0xE2);
    assert_eq!(wire.ask(&decide("01")).await.template(), 0xE4);
}

#[tokio::test]
async fn a_swipe_has_masked_and_encrypted_tracks() {
    let (reader, mut wire) = reader(options()).await;
    let card = named("swipe");
    reader.swipe(card);
    assert_eq!(wire.ask_frame("010004D0601D00A8").await.hex(0x48), "0000");
    reader.swipe(card);
    let event = wire.message().await;
    assert_eq!((event.unsolicited, event.template(), event.hex(0x48)), (true, 0xE0, "0007".to_owned()));
    let masked = event.find(0xDFDB06).unwrap();
    assert!(masked.starts_with(b";450060\xAA\xAA\xAA\xAA\xAA\xAA0061=3112101\xAA\xAA"), "{masked:X?}");
    assert!(masked[masked.len() - 3..].starts_with(b"\xAA?"));
    assert!(event.find(0xDFDB05).unwrap().starts_with(b"%B450060\xAA\xAA\xAA\xAA\xAA\xAA0061^TEST CARD/SWIPE^3112101"));
    let (ksn, plain) = event.opened();
    assert_eq!(ksn, TEST_KSN_SRED.with_counter(1), "the first swipe used no key");
    let track = |tag| String::from_utf8(tlv::find(&plain, Tag(tag)).unwrap().unwrap().to_vec()).unwrap();
    assert!(track(0xDFDB05).starts_with("%B4500600000000061^TEST CARD/SWIPE^31121011758989389000000?"));
    assert_eq!(track(0xDFDB05).len(), card.track1().len() + 1);
    assert_eq!(track(0xDFDB06), card.track2());
    // The wait for a tap goes on after a swipe.
    assert_eq!(wire.ask_frame(frame::OPEN).await, Message::status(0x9000));
    assert_eq!(wire.ask_frame(frame::CONTACTLESS_START).await, Message::status(0x9000));
    reader.waits_for(WaitsFor::Card).await;
    reader.swipe(named("swipe-pin"));
    assert!(wire.message().await.find(0xFF7F).is_some());
    assert_eq!(wire.ask_frame(frame::CANCEL).await, Message::status(0x9000));
    assert_eq!(wire.message().await, Message::unsolicited(0x9F43));
    // The PIN of the last swipe.
    assert!(wire.ask(&command("DED60200", ONLINE_PIN)).await.pin_is("1234", named("swipe-pin").pan));
}

#[tokio::test]
async fn every_card_gives_the_documented_answer_at_every_entry() {
    for card in DECK {
        let (reader, mut wire) = opened(options()).await;
        reader.insert(card);
        let start = wire.ask_frame(frame::START).await;
        let refused = match card.name {
            "chip-broken" | "tap-magstripe" | "tap-phone" | "swipe" | "swipe-pin" => Some(0x9F25),
            "chip-unsupported" => Some(0x9F28),
            "blocked" => Some(0x9F2D),
            _ => None,
        };
        match refused {
            Some(status) => assert_eq!(start, Message::status(status), "{}", card.name),
            None => {
                assert_eq!(start.template(), 0xE2, "{}", card.name);
                assert!(hex::encode(start.opened().1).contains(card.pan), "{}", card.name);
                let decision = wire.ask(&decide("01")).await;
                let template = match card.name {
                    "chip-offline" => 0xE3,
                    "chip-declines" => 0xE5,
                    _ => 0xE4,
                };
                assert_eq!(decision.template(), template, "{}", card.name);
                assert!(decision.cryptogram_is_right(card), "{}", card.name);
            }
        }
        reader.remove();
        if card.tap != Tap::None {
            let result = wire.tap(&reader, card).await;
            let expected = match card.name {
                "tap-insert" => (None, 0x9F34),
                "tap-phone" => (None, 0x9F35),
                "tap-magstripe" => (Some(0xE7), 0x9000),
                _ => (Some(0xE4), 0x9000),
            };
            assert_eq!((result.body.first().copied(), result.status), expected, "{}", card.name);
            wire.send(&unhex(frame::CANCEL)).await;
            assert_eq!(wire.answer().await.status, 0x9000);
        }
        if card.stripe {
            let (reader, mut wire) = self::reader(options()).await;
            assert_eq!(wire.ask_frame(frame::CARD_STATUS_AND_KEYS).await.status, 0x9000);
            reader.present(card, CardEntry::Swipe);
            let event = wire.message().await;
            assert_eq!(event.hex(0x48), "0007", "{}", card.name);
            let plain = event.opened().1;
            assert_eq!(tlv::find(&plain, Tag(0xDFDB06)).unwrap(), Some(card.track2().as_bytes()), "{}", card.name);
        }
    }
}

#[tokio::test]
async fn applications_are_chosen_by_the_host_or_on_the_reader() {
    let (reader, mut wire) = reader(options()).await;
    let by_host = "9C01009F02060000000032509F03060000000000009A032103039F21031957249F1A0208405F2A020840DFA2040101";
    let pick = "500D5649534120454C454354524F4E9F0607A0000000032010";
    reader.insert(named("chip-choice"));
    let list = wire.ask(&command("DED10000", by_host)).await;
    assert_eq!(list.template(), 0xE2);
    let tags: Vec<u32> = tlv::walk(&list.body[2..]).map(|object| object.unwrap().tag.0).collect();
    assert_eq!(tags, [0x50, 0x9F06, 0x50, 0x9F06]);
    // Without one of the two, or with an application that is not offered.
    assert_eq!(wire.ask(&command("DED20000", "9F0607A0000000032010")).await, Message::status(0x9F27));
    assert_eq!(wire.ask(&command("DED20000", "5001419F0607A0000000032010")).await, Message::status(0x9F21));
    let e2 = wire.ask(&command("DED20000", pick)).await;
    assert!(e2.template() == 0xE2 && e2.find(0xFF7F).is_some());
    assert_eq!(e2.find(0x50), Some(&b"VISA ELECTRON"[..]));
    assert_eq!(wire.ask(&decide("01")).await.find(0x50), Some(&b"VISA ELECTRON"[..]));
    // The choice and the decision in one command.
    assert_eq!(wire.ask(&command("DED10000", by_host)).await.template(), 0xE2);
    let both = format!("{pick}9F02060000000032509F03060000000000005F2A0208409F1A020840C2023635C00101");
    assert_eq!(wire.ask(&command("DED20000", &both)).await.template(), 0xE4);
    reader.remove();
    // Without DFA204, the cardholder chooses.
    let (e2, e4) = wire.insert(&reader, named("chip-choice")).await;
    assert_eq!((e2.find(0x50), e4.find(0x50)), (Some(&b"VISA CREDIT"[..]), Some(&b"VISA CREDIT"[..])));
}

#[tokio::test]
async fn a_pin_may_be_for_another_number_bypassed_or_cancelled() {
    let (reader, mut wire) = reader(options()).await;
    // No card was presented, and no number is given. The documented frame gives one.
    assert_eq!(wire.ask(&command("DED60200", ONLINE_PIN)).await, Message::status(0x9F23));
    assert!(wire.ask_frame(frame::ONLINE_PIN).await.pin_is("1234", "5413330089000039"));
    let unnamed = ONLINE_PIN.replace("DFDF1C0102", "");
    assert_eq!(wire.ask(&command("DED60200", &unnamed)).await, Message::status(0x9F27));
    let of = |pan: &str| command("DED60200", &format!("{ONLINE_PIN}5A0A{pan}"));
    reader.next_pin("4315");
    assert!(wire.ask(&of("6799998900000074316F")).await.pin_is("4315", "6799998900000074316"));
    // A masked number is no number.
    assert_eq!(wire.ask(&of("679999AAAAAAAAA4316F")).await, Message::status(0x9F21));
    for (plan, status) in [(PinPlan::Bypass, 0x9015), (PinPlan::Cancel, 0x9F41)] {
        reader.plan_pin(plan);
        assert_eq!(wire.ask(&of("6799998900000074316F")).await, Message::status(status));
    }
    // The host ends the entry: by VERIFY PIN, by ONLINE PIN with P2 01, and by ABORT.
    for (end, status) in [("DED5FF01", 0x9015), ("DED50000", 0x9F41), ("DED60201", 0x9F41), ("D0FF0000", 0x9F43)] {
        reader.plan_pin(PinPlan::Hesitate);
        wire.send(&of("6799998900000074316F")).await;
        reader.waits_for(WaitsFor::Pin).await;
        assert_eq!(wire.ask_frame(frame::IDLE_TEXT).await, Message::status(0x9FFF));
        assert_eq!(wire.ask(&packet(&unhex(end))).await, Message::status(0x9000), "{end}");
        assert_eq!(wire.answer().await, Message::status(status), "{end}");
        let again = if end == "D0FF0000" { 0x9000 } else { 0x9F24 };
        assert_eq!(wire.ask(&packet(&unhex(end))).await, Message::status(again), "{end}");
    }
    // The PIN is finished just before the end.
    reader.plan_abort(AbortRace::CardWins(named("tap")));
    let pace = Pace { key: Duration::from_secs(3600), ..Pace::INSTANT };
    let slow = Options { pace, race: AbortRace::CardWins(named("tap")), ..options() };
    let (reader, mut wire) = self::reader(slow).await;
    wire.send(&of("6799998900000074316F")).await;
    reader.waits_for(WaitsFor::Pin).await;
    assert!(wire.ask_frame(frame::ABORT).await.pin_is("1234", "6799998900000074316"));
    assert_eq!(wire.answer().await, Message::status(0x9000));
    // Other versions.
    let vipa = VipaSettings { pin_in_ff7f: true, bypass_is_empty: true, ..VipaSettings::default() };
    let (reader, mut wire) = self::reader(Options { vipa, ..options() }).await;
    let pin = wire.ask(&of("6799998900000074316F")).await;
    let block = pin.find(0xFF7F).unwrap();
    let find = |tag| tlv::find(block, Tag(tag)).unwrap().unwrap();
    assert!(pin_is(find(0xDFDF10), find(0xDFDF11), "1234", "6799998900000074316"));
    reader.plan_pin(PinPlan::Bypass);
    assert_eq!(wire.ask(&of("6799998900000074316F")).await, Message::status(0x9000));
    // No PIN key.
    let (_keyless, mut wire) = self::reader(Options { pin_key: false, ..options() }).await;
    assert_eq!(wire.ask(&of("6799998900000074316F")).await, Message::status(0x9F19));
    assert!(wire.ask_frame(frame::KEY_STATUS).await.find(0xDFED03).is_none());
}

#[tokio::test]
async fn an_abort_of_the_pin_leaves_the_transaction_open() {
    let (reader, mut wire) = reader(options()).await;
    let (_, e4) = wire.insert(&reader, named("chip-pin")).await;
    assert_eq!(e4.template(), 0xE4);
    reader.plan_pin(PinPlan::Hesitate);
    wire.send(&command("DED60200", ONLINE_PIN)).await;
    reader.waits_for(WaitsFor::Pin).await;
    assert_eq!(wire.ask_frame(frame::ABORT).await, Message::status(0x9000));
    assert_eq!(wire.answer().await, Message::status(0x9F43));
    assert_eq!(wire.ask(&conclude("Z3", &[], "00")).await.template(), 0xE5);
}

#[tokio::test]
async fn a_cancel_and_the_tap_race_in_both_orders() {
    let (reader, mut wire) = opened(options()).await;
    assert_eq!(wire.ask_frame(frame::CONTACTLESS_START).await, Message::status(0x9000));
    reader.waits_for(WaitsFor::Card).await;
    // ABORT does not end the wait.
    assert_eq!(wire.ask_frame(frame::ABORT).await, Message::status(0x9000));
    assert_eq!(wire.ask_frame(frame::CONTACTLESS_START).await, Message::status(0x9F24));
    wire.send(&unhex(frame::CANCEL)).await;
    assert_eq!(wire.message().await, Message::status(0x9000));
    assert_eq!(wire.message().await, Message::unsolicited(0x9F43));
    reader.plan_abort(AbortRace::CardWins(named("tap")));
    assert_eq!(wire.ask_frame(frame::CONTACTLESS_START).await, Message::status(0x9000));
    reader.waits_for(WaitsFor::Card).await;
    wire.send(&unhex(frame::CANCEL)).await;
    let e4 = wire.message().await;
    assert!(e4.unsolicited && e4.template() == 0xE4);
    assert_eq!(wire.message().await, Message::status(0x9000));
    assert_eq!(wire.ask(&command("C0A10000", "C2023635C001008A025A31")).await, Message::status(0x9000));
    assert_eq!(wire.message().await.template(), 0xE5);
}

#[tokio::test]
async fn commands_out_of_turn_are_refused() {
    let (reader, mut wire) = reader(options()).await;
    let status = |text: &str| unhex(text);
    // The antenna is closed, a transaction has not begun, or the slot is empty.
    assert_eq!(wire.ask_frame(frame::CONTACTLESS_START).await, Message::status(0x9F22));
    assert_eq!(wire.ask(&decide("01")).await, Message::status(0x9F24));
    assert_eq!(hex::encode_upper(wire.ask_packet(frame::CONTINUE).await), frame::S9F24);
    assert_eq!(wire.ask(&command("C0A10000", "C2023635C001018A023030")).await, Message::status(0x9F24));
    assert_eq!(wire.ask_frame(frame::START).await, Message::status(0x9F23));
    // The instruction is unknown, or known and missing here. P1 is wrong.
    assert_eq!(wire.ask(&packet(&status("D0770000"))).await, Message::status(0x9F0F));
    assert_eq!(wire.ask(&packet(&status("D2C00000"))).await, Message::status(0x9F11));
    for wrong in ["D0000300", "D0610100", "D2017701", "C0000200"] {
        assert_eq!(wire.ask(&packet(&status(wrong))).await, Message::status(0x9F10), "{wrong}");
    }
    assert_eq!(wire.ask(&packet(&status("D20100010541"))).await, Message::status(0x6700));
    assert_eq!(wire.ask(&packet(&status("C4110706"))).await, Message::status(0x9F19));
    reader.insert(named("chip-no-cvm"));
    // Elements are missing, or the data is not TLV.
    for (apdu, status) in [("DED1000005E0039C0100", 0x9F27), ("DED1000004E0029C05", 0x9F21), ("DED10000", 0x9F27)] {
        assert_eq!(wire.ask(&packet(&unhex(apdu))).await, Message::status(status), "{apdu}");
    }
    assert_eq!(wire.ask_frame(frame::START).await.template(), 0xE2);
    for missing in ["9F0206000000003250", "9F0306000000000000", "5F2A020840", "9F1A020840", "C2023635", "C00101"] {
        let all = "9F02060000000032509F03060000000000005F2A0208409F1A020840C2023635C00101";
        let answer = wire.ask(&command("DED20000", &all.replace(missing, ""))).await;
        assert_eq!(answer, Message::status(0x9F27), "{missing}");
    }
    assert_eq!(wire.ask(&decide("02")).await, Message::status(0x9F21));
    // The card is taken out before the decision.
    reader.remove();
    assert_eq!(wire.ask(&decide("01")).await, Message::status(0x9F23));
    assert_eq!(wire.ask_frame(frame::RESET_INFO).await.status, 0x9000);
}

#[tokio::test]
async fn a_card_number_is_typed() {
    let (reader, mut wire) = reader(options()).await;
    let ask = command("D2140B03", "DFAA01045041 4E31DFAA0203504147DFAA03024F4B".replace(' ', "").as_str());
    let pan = "4111111111111111";
    assert!(luhn::is_valid(pan));
    for digits in [pan, "3112", "123"] {
        reader.next_number(digits);
    }
    let answer = wire.ask(&ask).await;
    assert_eq!(answer.find(0xDFDB01), Some(&b"411111\xAA\xAA\xAA\xAA\xAA\xAA1111"[..]));
    assert_eq!((answer.hex(0xDFDB02), answer.find(0xDFDB03)), ("AAAAAA".to_owned(), Some(&b"3112"[..])));
    let plain = answer.opened().1;
    assert_eq!(tlv::find(&plain, Tag(0xDFDB01)).unwrap(), Some(pan.as_bytes()));
    assert_eq!(tlv::find(&plain, Tag(0xDFDB02)).unwrap(), Some(&b"123"[..]));
    // Too short, cancelled, or without a screen.
    reader.next_number("4111");
    assert_eq!(wire.ask(&ask).await, Message::status(0x9F14));
    wire.send(&ask).await;
    reader.waits_for(WaitsFor::Number).await;
    reader.key(Key::Cancel);
    assert_eq!(wire.answer().await, Message::status(0x9F41));
    assert_eq!(wire.ask(&command("D2140B03", "DFAA02023131")).await, Message::status(0x9F27));
    reader.next_number("123");
    let numeric = command("D2040101", "DFA20606000100020003DFA207020602");
    assert_eq!(wire.ask(&numeric).await.find(0xDFA208), Some(&b"123"[..]));
}

#[tokio::test]
async fn a_reader_can_be_bad() {
    // Without an SRED key, everything is in clear.
    let (reader, mut wire) = opened(Options { secured: false, ..options() }).await;
    assert!(wire.ask_frame(frame::KEY_STATUS).await.find(0xDFDF11).is_none());
    assert_eq!(wire.ask_frame(frame::CARD_STATUS_AND_KEYS).await.status, 0x9000);
    reader.swipe(named("swipe"));
    let event = wire.message().await;
    assert!(event.find(0x5F21).is_some() && event.find(0x5F22).is_some() && event.find(0xFF7F).is_none());
    reader.insert(named("chip-no-cvm"));
    let e2 = wire.ask_frame(frame::START).await;
    assert!(e2.find(0xFF7F).is_none());
    assert_eq!(e2.hex(0x5A), named("chip-no-cvm").pan);
    // The card signs another amount.
    let cheat = Options { amount_override: Some(1), ..options() };
    let (reader, mut wire) = self::reader(cheat).await;
    let (_, e4) = wire.insert(&reader, named("chip-no-cvm")).await;
    assert_eq!(e4.hex(0x9F02), "000000000001");
    assert!(e4.cryptogram_is_right(named("chip-no-cvm")));
    // No keys at all.
    let (_keyless, mut wire) = self::reader(Options { secured: false, pin_key: false, ..options() }).await;
    assert_eq!(wire.ask_frame(frame::KEY_STATUS).await, Message::status(0x9F19));
    let (worn, mut wire) = opened(Options { dukpt: Dukpt::TDES.with_keys_left(1), ..options() }).await;
    assert_eq!(wire.tap(&worn, named("tap")).await.template(), 0xE4);
    assert_eq!(wire.ask_frame(frame::CONTACTLESS_START).await, Message::status(0x9F19));
    // A damaged, a lost and a late answer, and chatter.
    let (reader, mut wire) = self::reader(Options { chatter: true, ..options() }).await;
    assert!(wire.ask_frame(frame::LANGUAGE).await.find(0xDFA20C).is_some());
    reader.run_script("on frame 1: garbage 40, unplug".parse::<Script>().unwrap());
    wire.send(&unhex(frame::ABORT)).await;
    let mut left = Vec::new();
    let _ = wire.0.read_to_end(&mut left).await;
    assert!(left.len() < 60, "the cable is out");
}

#[tokio::test]
async fn small_packets_and_floods_are_packets_too() {
    for chain_size in [3, 21, 100] {
        let small = Options { chain_size, fragment: Some(50), chatter: true, ..options() };
        let (reader, mut wire) = reader(small).await;
        let card = named("chip-no-cvm");
        let (e2, e4) = wire.insert(&reader, card).await;
        assert!(e2.packets > 1 && e4.packets > 1 && e4.cryptogram_is_right(card), "{chain_size}");
        assert!(hex::encode(e2.opened().1).contains(card.pan));
    }
    let (reader, mut wire) = reader(options()).await;
    for (kind, body) in [("status", 0xE6), ("cards", 0xE0), ("keys", 0xE0)] {
        reader.run_script(format!("after 0ms: flood {kind}").parse::<Script>().unwrap());
        for _ in 0..100 {
            let message = wire.message().await;
            assert_eq!((message.unsolicited, message.template()), (true, body), "{kind}");
        }
        reader.run_script("after 0ms: flood nothing".parse::<Script>().unwrap());
        wire.send(&unhex(frame::ABORT)).await;
        assert_eq!(wire.answer().await, Message::status(0x9000), "{kind}");
    }
}

#[tokio::test]
async fn a_script_stops_encrypting_and_holds_back() {
    let (reader, mut wire) = opened(options()).await;
    reader.run_script("on frame 1: delay 30ms\non frame 2: silent\non frame 3: clear".parse::<Script>().unwrap());
    assert_eq!(wire.ask_frame(frame::ABORT).await, Message::status(0x9000));
    wire.send(&unhex(frame::LANGUAGE)).await;
    assert!(wire.ask_frame(frame::KEY_STATUS).await.find(0xDFDF11).is_none(), "the second answer is lost");
    let e4 = wire.tap(&reader, named("tap")).await;
    assert!(e4.find(0xFF7F).is_none() && e4.hex(0x5A) == named("tap").pan);
}

#[tokio::test]
async fn a_reboot_closes_the_antenna_and_says_nothing() {
    let boot = Pace { boot: Duration::from_millis(30), ..Pace::INSTANT };
    let (reader, mut wire) = opened(Options { pace: boot, ..options() }).await;
    assert_eq!(wire.ask_frame(frame::CONTACTLESS_START).await, Message::status(0x9000));
    reader.run_script("on frame 1: reboot 20ms".parse::<Script>().unwrap());
    wire.send(&unhex(frame::ABORT)).await;
    reader.until(|screen| screen.lines == ["WELCOME"]).await;
    assert_eq!(wire.ask_frame(frame::CONTACTLESS_START).await, Message::status(0x9F22));
}

#[tokio::test]
async fn a_script_drives_a_sale() {
    let text = "on waiting 1: insert chip-no-cvm\non waiting 2: tap tap-phone\non waiting 3: tap tap-phone\n\
                on pin: type 9999\non asked 2: remove";
    let (reader, mut wire) = opened(Options { script: text.parse().unwrap(), ..options() }).await;
    assert_eq!(wire.ask_frame(frame::CARD_STATUS_AND_KEYS).await.status, 0x9000);
    assert_eq!(wire.ask_frame(frame::CONTACTLESS_START).await, Message::status(0x9000));
    assert_eq!(wire.message().await.hex(0x48), "0300");
    wire.send(&unhex(frame::CANCEL)).await;
    assert_eq!((wire.message().await.status, wire.message().await.status), (0x9000, 0x9F43));
    assert_eq!(wire.ask_frame(frame::START).await.template(), 0xE2);
    assert_eq!(wire.ask(&decide("01")).await.template(), 0xE4);
    assert!(wire.ask(&command("DED60200", ONLINE_PIN)).await.pin_is("9999", named("chip-no-cvm").pan));
    assert_eq!(wire.ask(&conclude("00", &[], "01")).await.template(), 0xE3);
    reader.remove();
    assert_eq!(wire.message().await.hex(0x48), "0000");
    assert_eq!(wire.ask_frame(frame::CONTACTLESS_START).await, Message::status(0x9000));
    assert_eq!(wire.message().await, Message::unsolicited(0x9F35));
    assert_eq!(wire.message().await.template(), 0xE4);
}

#[tokio::test]
async fn a_reader_may_be_the_client_or_the_server() {
    let host = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let connect = Some(host.local_addr().unwrap());
    let reader = start(Options { connect, ..options() }).await.unwrap();
    for _ in 0..2 {
        let (stream, _) = host.accept().await.unwrap();
        let mut wire = Wire(stream);
        assert_eq!(wire.ask_frame(frame::ABORT).await, Message::status(0x9000));
        reader.unplug();
        assert_eq!(wire.0.read(&mut [0; 8]).await.unwrap_or(0), 0);
        reader.replug().unwrap();
    }
    let tcp = Some("127.0.0.1:0".parse().unwrap());
    let reader = start(Options { tcp, ..options() }).await.unwrap();
    let mut wire = Wire(tokio::net::TcpStream::connect(reader.place()).await.unwrap());
    assert_eq!(wire.ask_frame(frame::ABORT).await, Message::status(0x9000));
}

impl Serial {
    /// Sends a frame, and returns the next packet.
    async fn ask_packet(&mut self, frame: &str) -> Vec<u8> {
        self.send(&unhex(frame)).await;
        self.packet().await
    }
}
