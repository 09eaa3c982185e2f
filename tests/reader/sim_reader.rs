//! The simulated reader over real connections: raw bytes to and from a pty and a TCP port. These tests neither test the
//! agent's driver nor use any part of it. They read answers by the rules of the link layer (readers: 2.1) and open them
//! with the host's keys.
//!
//! Frames in `frame` and in the tests are typed from documents (readers: 2.13). They are never edited to make a test
//! pass.

use std::time::Duration;

use pos_sim::keys::cryptogram::{CSU_APPROVED, CSU_DECLINED, Issuer};
use pos_sim::keys::issuer_script::{PIN_UNBLOCK, ScriptKey};
use pos_sim::keys::tdes_dukpt::{Usage, initial_key, transaction_key};
use pos_sim::keys::{
    Ksn, TEST_BDK_AES, TEST_BDK_PIN, TEST_BDK_SRED, TEST_IMK_AC, TEST_IMK_SMI, TEST_KSN_PIN, TEST_KSN_SRED, ZERO_IV,
    ZERO_IV_16, aes_dukpt, pin_block,
};
use pos_sim::reader::deck::{Card, CardEntry, DECK};
use pos_sim::reader::{
    AbortRace, ChoicePlan, Dukpt, Key, Options, Pace, PinPlan, Reader, Script, ScriptEvent, WaitsFor, card, start,
};
use pos_terms::emv::{Tag, tlv};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_serial::SerialPortBuilderExt;

mod frame {
    pub(crate) const RESET: &str = "010004D0000000D5";
    pub(crate) const RESET_ANSWER: &str = "010035E1319F1E083034303030323033EF12DF0D084D3030302D4D5049DF7F04312D3531EF10DF0D074D3030302D4F53DF7F03392D37900081";
    pub(crate) const GET_CONFIG: &str = "010004D0010000D4";
    pub(crate) const DEVICE_INFO: &str = "010004D0020000D7";
    pub(crate) const P2PE_STATUS: &str = "010004EEE000000B";
    pub(crate) const P2PE_ALL: &str = "010009E105DFAE01010790000A";
    pub(crate) const CARD_STATUS_ON: &str = "010004D0601F00AA";
    pub(crate) const CARD_STATUS_OFF: &str = "010004D0600000B5";
    pub(crate) const KEYBOARD_ON: &str = "010004D0610101B4";
    pub(crate) const BATTERY: &str = "010004D0620000B7";
    pub(crate) const CLOCK_GET: &str = "010004D0100000C5";
    pub(crate) const CLOCK_SET: &str = "010012D01000000DE00B9A032501319F210312345674";
    pub(crate) const ABORT: &str = "010004D0FF00002A";
    pub(crate) const DISPLAY_HELLO: &str = "01000AD20100010548656C6C6F9E";
    pub(crate) const START: &str =
        "01002DDED1000028E0269C01009F02060000000004569A032501319F2103123456DFA2040101DFA20301005F2A02082687";
    pub(crate) const START_CONTACTLESS: &str =
        "010023DEC100001EE01C9C01009F02060000000004569A032501319F21031234565F2A02082693";
    pub(crate) const CONTINUE_00: &str = "01000BDED2000006E0048A0230306C";
    pub(crate) const CONTINUE_Z1: &str = "01000BDED2000006E0048A025A3107";
    pub(crate) const GET_NUMERIC: &str = "010017D204000112E010DFA20606000100020003DFA20702060222";
    pub(crate) const NUMERIC_123: &str = "01000BE107DFA2080331323390003A";
    pub(crate) const POWERED_ON: &str = "014013E60FC30101C40A506F7765726564204F6E900079";
    pub(crate) const CHIP_INSERTED: &str = "014013E10F4802030063093B6500002063CB68009000B1";
    pub(crate) const CARD_REMOVED: &str = "014008E10448020000900076";
    pub(crate) const KEY_CANCEL: &str = "014009E005DFA205011B90005F";
    pub(crate) const PIN_OK: &str = "014014E610C30102C40650494E204F4BDFA102010290003D";
    pub(crate) const PIN_CANCELLED: &str = "0100030890009A";
    pub(crate) const NO_PIN_KEY: &str = "0100029FE07C";
    pub(crate) const OK: &str = "010002900093";
    pub(crate) const S9F23: &str = "0100029F23BF";
    pub(crate) const S9F30: &str = "0100029F30AC";
    pub(crate) const S9F41: &str = "0100029F41DD";
    pub(crate) const S9F42: &str = "0100029F42DE";
    pub(crate) const S9F43: &str = "0100029F43DF";
    pub(crate) const S9F44: &str = "0100029F44D8";
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

    fn find(&self, tag: u32) -> Option<&[u8]> {
        tlv::find(&self.body, Tag(tag)).unwrap()
    }

    fn all(&self, tag: u32) -> Vec<&[u8]> {
        let mut found = Vec::new();
        tlv::visit(&self.body, &mut |object| {
            if object.tag == Tag(tag) {
                found.push(object.value);
            }
        })
        .unwrap();
        found
    }

    fn template(&self) -> u8 {
        assert_eq!(self.status, 0x9000);
        self.body[0]
    }

    /// Returns the card data of each sealed block, in hex, with the KSNs.
    fn opened(&self) -> Vec<(Ksn, String)> {
        let ksns = self.all(0xDFAE03).into_iter().map(|ksn| Ksn::from_bytes(ksn).unwrap());
        let blocks = self.all(0xDFAE02).into_iter();
        let open = |(block, ksn): (&[u8], Ksn)| {
            let key = transaction_key(&initial_key(&TEST_BDK_SRED, ksn), ksn).unwrap().working(Usage::DataRequest);
            (ksn, hex::encode_upper(key.cbc_decrypt(&ZERO_IV, block).unwrap()))
        };
        blocks.zip(ksns).map(open).collect()
    }

    fn pin_is(&self, digits: &str, card: &Card) -> bool {
        let ksn = Ksn::from_bytes(self.find(0xDFAE05).unwrap()).unwrap();
        assert_eq!(ksn.initial(), TEST_KSN_PIN);
        let key = transaction_key(&initial_key(&TEST_BDK_PIN, ksn), ksn).unwrap().working(Usage::Pin);
        let pin = pin_block::decrypt_0(&key, self.find(0xDFAE04).unwrap(), card.pan).unwrap();
        pin.is(&pin_block::Pin::new(digits).unwrap())
    }

    fn cryptogram_is_right(&self, card: &Card) -> bool {
        Issuer::new(TEST_IMK_AC).card_key(card.pan, card.psn).unwrap().verify(&self.body).unwrap()
    }

    /// Returns CONTINUE with ARC 00 and the issuer's answer to this E4.
    fn approval(&self, card: &Card, csu: [u8; 4]) -> Vec<u8> {
        let key = Issuer::new(TEST_IMK_AC).card_key(card.pan, card.psn).unwrap();
        continue_with(&key.issuer_authentication(&self.body, *b"00", csu).unwrap())
    }
}

fn continue_with(tag_91: &[u8]) -> Vec<u8> {
    continue_with_scripts(tag_91, &[])
}

fn continue_with_scripts(tag_91: &[u8], scripts: &[u8]) -> Vec<u8> {
    let mut data = hex::decode("8A023030").unwrap();
    data.extend([0x91, u8::try_from(tag_91.len()).unwrap()]);
    data.extend(tag_91);
    data.extend(scripts);
    let lc = u8::try_from(data.len()).unwrap();
    let apdu = [&[0xDE, 0xD2, 0, 0, lc + 2, 0xE0, lc][..], &data].concat();
    packet(&apdu)
}

fn packet(apdu: &[u8]) -> Vec<u8> {
    let mut packet = [&[1, 0, u8::try_from(apdu.len()).unwrap()][..], apdu].concat();
    packet.push(packet.iter().fold(0, |lrc, byte| lrc ^ byte));
    packet
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    async fn send(&mut self, frame: &str) {
        self.0.write_all(&hex::decode(frame).unwrap()).await.unwrap();
    }

    async fn send_bytes(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.unwrap();
    }

    async fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let read = tokio::time::timeout(Duration::from_secs(20), self.0.read_exact(&mut bytes)).await;
        read.expect("the reader says nothing").unwrap();
        bytes
    }

    /// Reads the whole next packet.
    async fn packet(&mut self) -> Vec<u8> {
        let mut packet = self.bytes::<3>().await.to_vec();
        for _ in 0..=packet[2] {
            packet.extend(self.bytes::<1>().await);
        }
        packet
    }

    async fn expect(&mut self, frame: &str) {
        assert_eq!(hex::encode_upper(self.packet().await), frame);
    }

    /// Sends a frame and checks that the answer is the other frame.
    async fn exchange(&mut self, frame: &str, answer: &str) {
        self.send(frame).await;
        self.expect(answer).await;
    }

    /// Reads the reader's next message (NAD 01).
    async fn message(&mut self) -> Message {
        let mut body = Vec::new();
        for packets in 1.. {
            let packet = self.packet().await;
            assert_eq!(packet.iter().fold(0, |lrc, byte| lrc ^ byte), 0, "LRC");
            if packet[0] == 2 {
                continue;
            }
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

    async fn ask(&mut self, frame: &str) -> Message {
        self.send(frame).await;
        self.answer().await
    }

    /// Sends START or START CONTACTLESS with this card. Returns the answer.
    async fn pay(&mut self, reader: &Reader, card: &'static Card, entry: CardEntry) -> Message {
        match entry {
            CardEntry::Insert => {
                reader.insert(card);
                self.ask(frame::START).await
            }
            CardEntry::Tap => {
                self.send(frame::START_CONTACTLESS).await;
                reader.waits_for(WaitsFor::Card).await;
                reader.tap(card);
                self.answer().await
            }
            CardEntry::Swipe => {
                self.send(frame::CARD_STATUS_ON).await;
                assert_eq!(self.message().await.find(0x48), Some(&[0, 0][..]));
                reader.swipe(card);
                self.message().await
            }
        }
    }
}

type Serial = Wire<tokio_serial::SerialStream>;

fn open(path: &str) -> Serial {
    Wire(tokio_serial::new(path, 115_200).open_native_async().unwrap())
}

async fn reader(options: Options) -> (Reader, Serial) {
    let reader = start(options).await.unwrap();
    let wire = open(&reader.place());
    (reader, wire)
}

fn script(text: &str) -> Script {
    text.parse().unwrap()
}

fn named(name: &str) -> &'static Card {
    card(name).unwrap()
}

#[tokio::test]
async fn start_up_goes_by_the_documented_frames() {
    let (reader, mut wire) = reader(Options { serial: "04000203".to_owned(), ..Options::default() }).await;
    wire.exchange(frame::RESET, frame::RESET_ANSWER).await;
    wire.exchange(frame::P2PE_STATUS, frame::P2PE_ALL).await;
    wire.exchange(frame::CLOCK_SET, frame::OK).await;
    assert_eq!(wire.ask(frame::CLOCK_GET).await.body, hex::decode("E10B9A032501319F2103123456").unwrap());
    wire.exchange(frame::CARD_STATUS_ON, frame::CARD_REMOVED).await;
    wire.exchange(frame::KEYBOARD_ON, frame::OK).await;
    wire.exchange(frame::DISPLAY_HELLO, frame::OK).await;
    assert_eq!(reader.display(), ["Hello"]);
    wire.exchange(frame::ABORT, frame::OK).await;
    assert!(wire.ask(frame::GET_CONFIG).await.find(0xED).is_some());
    assert!(wire.ask(frame::DEVICE_INFO).await.find(0xDF0D).is_some());
    assert_eq!(wire.ask(frame::BATTERY).await.find(0xDFA20A), Some(&[100][..]));
    reader.key(Key::Cancel);
    wire.expect(frame::KEY_CANCEL).await;
    reader.insert(named("chip-pin"));
    wire.expect(frame::CHIP_INSERTED).await;
    reader.remove();
    wire.expect(frame::CARD_REMOVED).await;
    // This INS does not exist.
    wire.send_bytes(&packet(&[0xD0, 0x77, 0, 0])).await;
    assert_eq!(wire.answer().await.status, 0x6D00);
    assert_eq!(reader.counters().faults, 0);
}

#[tokio::test]
async fn over_tcp_the_device_says_that_it_is_on() {
    let reader = start(Options { tcp: Some("127.0.0.1:0".parse().unwrap()), ..Options::default() }).await.unwrap();
    for _ in 0..2 {
        let mut wire = Wire(tokio::net::TcpStream::connect(reader.place()).await.unwrap());
        wire.expect(frame::POWERED_ON).await;
        wire.exchange(frame::P2PE_STATUS, frame::P2PE_ALL).await;
    }
    let mut wire = Wire(tokio::net::TcpStream::connect(reader.place()).await.unwrap());
    wire.expect(frame::POWERED_ON).await;
    reader.unplug();
    assert_eq!(wire.0.read(&mut [0; 8]).await.unwrap_or(0), 0);
    reader.replug().unwrap();
    let mut wire = Wire(tokio::net::TcpStream::connect(reader.place()).await.unwrap());
    wire.expect(frame::POWERED_ON).await;
}

#[tokio::test]
async fn a_chip_pays_with_an_online_pin() {
    let (reader, mut wire) = reader(Options::default()).await;
    let card = named("chip-pin");
    reader.insert(card);
    wire.send(frame::START).await;
    // The reader sends the prompt, four digits and "PIN OK", bit for bit as captured, then the card's answer.
    for digits in 0..=4 {
        let event = wire.message().await;
        assert!(event.unsolicited);
        assert_eq!((event.find(0xC3), event.find(0xDFA201)), (Some(&[2][..]), Some(&[digits][..])));
    }
    wire.expect(frame::PIN_OK).await;
    let e4 = wire.message().await;
    assert_eq!((e4.template(), e4.unsolicited, e4.packets), (0xE4, false, 2));
    // The card has signed the data in START.
    for (tag, value) in [(0x9F02, "000000000456"), (0x5F2A, "0826"), (0x9A, "250131"), (0x9F34, "420300")] {
        assert_eq!(e4.find(tag).map(hex::encode), Some(value.to_owned()), "{tag:X}");
    }
    assert!(e4.find(0x57).is_none() && e4.find(0x5A).is_none());
    assert_eq!(e4.find(0xDFAE5A), Some(&hex::decode("476173FFFFFF0119").unwrap()[..]));
    assert_eq!(
        e4.opened(),
        [(
            TEST_KSN_SRED.with_counter(1),
            "5A08476173900101011957114761739001010119D31122011758989389000000".to_owned()
        )]
    );
    assert!(e4.pin_is("1234", card));
    assert!(e4.cryptogram_is_right(card));
    wire.send_bytes(&e4.approval(card, CSU_APPROVED)).await;
    let e3 = wire.answer().await;
    assert_eq!((e3.template(), e3.find(0x8A), e3.find(0x9F27)), (0xE3, Some(&b"00"[..]), Some(&[0x40][..])));
    assert!(e3.cryptogram_is_right(card));
    assert_ne!(e3.find(0x9F26), e4.find(0x9F26));
    // There is no transaction left to continue.
    assert_eq!(wire.ask(frame::CONTINUE_00).await.status, 0x9F22);
    let moments = reader.moments();
    assert!(moments.card_written.unwrap() < moments.continue_read.unwrap());
}

#[tokio::test]
async fn a_chip_refuses_what_does_not_come_from_its_issuer() {
    let (reader, mut wire) = reader(Options::default()).await;
    for (name, answer, template, tvr) in [
        ("chip-pin", "right", 0xE3, "0000048000"),
        ("chip-pin", "wrong", 0xE5, "0000048040"),
        ("chip-pin", "declining", 0xE5, "0000048000"),
        ("chip-pin", "none", 0xE5, "0000048000"),
        ("chip-pin", "Z1", 0xE5, "0000048000"),
        ("chip-no-cvm", "none", 0xE3, "0000008000"),
        ("chip-no-cvm", "wrong", 0xE5, "0000008040"),
        ("chip-refuses", "right", 0xE5, "0000008000"),
    ] {
        let card = named(name);
        let e4 = wire.pay(&reader, card, CardEntry::Insert).await;
        assert_eq!(e4.template(), 0xE4, "{name}");
        let answer = match answer {
            "right" => e4.approval(card, CSU_APPROVED),
            "declining" => e4.approval(card, CSU_DECLINED),
            "wrong" => continue_with(&hex::decode("1122334400800000").unwrap()),
            "none" => hex::decode(frame::CONTINUE_00).unwrap(),
            _ => hex::decode(frame::CONTINUE_Z1).unwrap(),
        };
        wire.send_bytes(&answer).await;
        let last = wire.answer().await;
        assert_eq!((last.template(), last.find(0x95).map(hex::encode)), (template, Some(tvr.to_owned())), "{name}");
        assert!(last.cryptogram_is_right(card));
        reader.remove();
    }
}

#[tokio::test]
async fn a_tap_comes_with_two_sealed_blocks() {
    let (reader, mut wire) = reader(Options::default()).await;
    for (n, name) in (0_u32..).zip(["tap", "tap-pin"]) {
        let card = named(name);
        let e4 = wire.pay(&reader, card, CardEntry::Tap).await;
        assert_eq!((e4.template(), e4.find(0xDF30)), (0xE4, Some(&[3, 1][..])));
        let plain = format!("5711{}D31122011758989389{}", card.pan, "0000000000");
        let ksn = |counter| TEST_KSN_SRED.with_counter(counter);
        assert_eq!(e4.opened(), [(ksn(3 * n + 1), plain.clone()), (ksn(3 * n + 2), plain)]);
        assert!(e4.cryptogram_is_right(card));
        assert_eq!(e4.find(0xDFAE04).is_some(), name == "tap-pin");
        if name == "tap-pin" {
            assert!(e4.pin_is("1234", card));
        }
        assert_eq!(wire.ask(frame::CONTINUE_00).await.template(), 0xE3);
    }
}

#[tokio::test]
async fn every_card_gives_the_documented_answer_at_every_entry() {
    for card in DECK {
        for entry in [CardEntry::Insert, CardEntry::Tap, CardEntry::Swipe] {
            let (reader, mut wire) = reader(Options::default()).await;
            if entry == CardEntry::Swipe && !card.stripe {
                continue;
            }
            if entry == CardEntry::Tap && card.tap == pos_sim::reader::deck::Tap::None {
                wire.send(frame::START_CONTACTLESS).await;
                reader.waits_for(WaitsFor::Card).await;
                reader.tap(card);
                reader.wait_too_long();
                wire.expect(frame::S9F42).await;
                continue;
            }
            let answer = wire.pay(&reader, card, entry).await;
            let said = (answer.body.first().copied(), answer.status);
            let expected = match (card.name, entry) {
                (_, CardEntry::Swipe) => (Some(0xE1), 0x9000),
                ("tap-insert", CardEntry::Tap) => (None, 0x9FC3),
                (_, CardEntry::Tap) => (Some(0xE4), 0x9000),
                ("chip-broken" | "tap-magstripe" | "tap-phone" | "swipe" | "swipe-pin", CardEntry::Insert) => {
                    (None, 0x9F30)
                }
                ("blocked", CardEntry::Insert) => (None, 0x9F25),
                ("chip-unsupported", CardEntry::Insert) => (None, 0x9F28),
                ("chip-offline", CardEntry::Insert) => (Some(0xE3), 0x9000),
                ("chip-declines", CardEntry::Insert) => (Some(0xE5), 0x9000),
                (_, CardEntry::Insert) => (Some(0xE4), 0x9000),
            };
            assert_eq!(said, expected, "{} {entry:?}", card.name);
            // Each way that a card permits works or leads to another way.
            let works = matches!(said.0, Some(0xE1 | 0xE3..=0xE5)) && card.after(entry).is_none();
            assert!(
                works || card.after(entry).is_some() || !card.entries().contains(&entry),
                "{} {entry:?}",
                card.name
            );
            if expected.0.is_some_and(|template| template >= 0xE3) {
                let magstripe = card.name == "tap-magstripe";
                assert_eq!(answer.find(0x9F26).is_none(), magstripe);
                assert!(magstripe || answer.cryptogram_is_right(card));
                assert!(answer.opened().iter().all(|(_, plain)| plain.contains(card.pan)));
            }
        }
    }
}

#[tokio::test]
async fn a_swipe_is_an_event_with_both_tracks_sealed() {
    let (reader, mut wire) = reader(Options::default()).await;
    let event = wire.pay(&reader, named("swipe"), CardEntry::Swipe).await;
    assert!(event.unsolicited);
    assert_eq!(event.find(0x48), Some(&[0, 7][..]));
    assert_eq!(event.find(0xDFAE22), Some(&b";450060******0061=3112101**********?*"[..]));
    let [(ksn, plain)] = &event.opened()[..] else { panic!("one block") };
    assert_eq!(*ksn, TEST_KSN_SRED.with_counter(1));
    let tracks = hex::decode(plain).unwrap();
    let track = |tag| String::from_utf8(tlv::find(&tracks, Tag(tag)).unwrap().unwrap().to_vec()).unwrap();
    assert_eq!(track(0x5F21), "%B4500600000000061^TEST CARD/SWIPE^31121011758989389000000?");
    assert!(track(0x5F22).starts_with(";4500600000000061=31121011758989389?"));
    // Only track 2 is requested (P1 bits 0 and 3).
    wire.send_bytes(&packet(&[0xD0, 0x60, 0x09, 0])).await;
    wire.expect(frame::CARD_REMOVED).await;
    reader.swipe(named("swipe"));
    let event = wire.message().await;
    assert_eq!(event.find(0x48), Some(&[0, 5][..]));
    assert!(event.opened()[0].1.starts_with("5F22"));
    // When CARD STATUS is off, the reader sends no event and uses no key.
    wire.exchange(frame::CARD_STATUS_OFF, frame::CARD_REMOVED).await;
    reader.swipe(named("swipe"));
    let event = wire.pay(&reader, named("swipe"), CardEntry::Swipe).await;
    assert_eq!(event.opened()[0].0, TEST_KSN_SRED.with_counter(3));
}

#[tokio::test]
async fn insertion_and_swipe_end_the_wait_for_a_tap() {
    for events_first in [false, true] {
        let (reader, mut wire) = reader(Options { events_first, ..Options::default() }).await;
        wire.exchange(frame::CARD_STATUS_ON, frame::CARD_REMOVED).await;
        wire.send(frame::START_CONTACTLESS).await;
        reader.waits_for(WaitsFor::Card).await;
        reader.insert(named("chip-pin"));
        let order =
            if events_first { [frame::CHIP_INSERTED, frame::S9F43] } else { [frame::S9F43, frame::CHIP_INSERTED] };
        wire.expect(order[0]).await;
        wire.expect(order[1]).await;
        assert_eq!(wire.ask(frame::START).await.template(), 0xE4);
        reader.remove();
        wire.expect(frame::CARD_REMOVED).await;

        wire.send(frame::START_CONTACTLESS).await;
        reader.waits_for(WaitsFor::Card).await;
        reader.swipe(named("swipe"));
        if !events_first {
            wire.expect(frame::S9F44).await;
        }
        assert!(wire.message().await.find(0xDFAE02).is_some());
        if events_first {
            wire.expect(frame::S9F44).await;
        }
        // The reader gets no card, or the customer presses the cancel key.
        wire.send(frame::START_CONTACTLESS).await;
        reader.waits_for(WaitsFor::Card).await;
        reader.wait_too_long();
        wire.expect(frame::S9F42).await;
        wire.send(frame::START_CONTACTLESS).await;
        reader.waits_for(WaitsFor::Card).await;
        reader.key(Key::Cancel);
        wire.expect(frame::S9F41).await;
    }
}

#[tokio::test]
async fn abort_and_the_card_race_in_both_orders() {
    let (reader, mut wire) = reader(Options::default()).await;
    // ABORT comes first.
    wire.send(frame::START_CONTACTLESS).await;
    reader.waits_for(WaitsFor::Card).await;
    wire.exchange(frame::ABORT, frame::OK).await;
    wire.expect(frame::S9F41).await;
    // The card comes first: its answer is sent first, and the reader waits for CONTINUE.
    reader.plan_abort(AbortRace::CardWins(named("tap")));
    wire.send(frame::START_CONTACTLESS).await;
    reader.waits_for(WaitsFor::Card).await;
    assert_eq!(wire.ask(frame::ABORT).await.template(), 0xE4);
    wire.expect(frame::OK).await;
    assert_eq!(wire.ask(frame::CONTINUE_Z1).await.template(), 0xE5);
    // The same during PIN entry, in both orders. The cardholder is slow.
    let pace = Pace { key: Duration::from_secs(3600), ..Pace::INSTANT };
    let (reader, mut wire) = self::reader(Options { pace, ..Options::default() }).await;
    reader.insert(named("chip-pin"));
    wire.send(frame::START).await;
    reader.waits_for(WaitsFor::Pin).await;
    assert_eq!(wire.ask(frame::ABORT).await, Message::status(0x9000));
    assert_eq!(wire.answer().await, Message::status(0x9F41));
    reader.plan_abort(AbortRace::CardWins(named("tap")));
    wire.send(frame::START).await;
    reader.waits_for(WaitsFor::Pin).await;
    let e4 = wire.ask(frame::ABORT).await;
    assert!(e4.template() == 0xE4 && e4.pin_is("1234", named("chip-pin")));
    assert_eq!(wire.answer().await, Message::status(0x9000));
}

#[tokio::test]
async fn an_online_pin_follows_a_swipe() {
    let (reader, mut wire) = reader(Options::default()).await;
    let card = named("swipe-pin");
    let event = wire.pay(&reader, card, CardEntry::Swipe).await;
    let masked = event.find(0xDFAE22).unwrap();
    let ask = |masked: &[u8]| {
        let inner = [&hex::decode("9F02060000000004565004564953415F2A020826DFAE2225").unwrap()[..], masked].concat();
        let length = u8::try_from(inner.len()).unwrap();
        packet(&[&[0xDE, 0xD6, 1, 0, length + 2, 0xE0, length][..], &inner].concat())
    };
    let right = ask(masked);
    wire.send_bytes(&right).await;
    let answer = wire.answer().await;
    assert_eq!((answer.template(), answer.body.len()), (0xE1, 28));
    assert!(answer.pin_is("1234", card));
    assert_eq!(answer.find(0xDFAE05), Some(&TEST_KSN_PIN.with_counter(1).0[..]));
    // The PIN is wrong, cancelled, bypassed, or too short and then abandoned.
    reader.next_pin("9999");
    wire.send_bytes(&right).await;
    assert!(wire.answer().await.pin_is("9999", card));
    reader.next_pin_cancel();
    wire.send_bytes(&right).await;
    assert_eq!(hex::encode_upper(pin_answer(&mut wire).await), frame::PIN_CANCELLED);
    reader.plan_pin(pos_sim::reader::PinPlan::Bypass);
    wire.send_bytes(&right).await;
    assert_eq!(wire.answer().await.body, [0x0C]);
    reader.next_pin("12");
    wire.send_bytes(&right).await;
    reader.waits_for(WaitsFor::Pin).await;
    reader.wait_too_long();
    assert_eq!(wire.answer().await.body, [0x08]);
    // The command names another card's track (the documented frame), or the reader has no PIN key.
    wire.send("010044DED601003FE03D9F02060000000004565004564953415F2A020826DFAE22253B3437363137332A2A2A2A2A2A303031303D313531323230312A2A2A2A2A2A2A2A2A2A3F2A37").await;
    assert_eq!(wire.answer().await.status, 0x9F0F);
    let (_keyless, mut wire) = self::reader(Options { pin_key: false, ..Options::default() }).await;
    wire.send_bytes(&right).await;
    wire.expect(frame::NO_PIN_KEY).await;
}

/// Returns the first solicited packet.
async fn pin_answer(wire: &mut Serial) -> Vec<u8> {
    loop {
        let packet = wire.packet().await;
        if packet[1] & 0x40 == 0 {
            return packet;
        }
    }
}

#[tokio::test]
async fn a_chip_that_fails_may_be_swiped() {
    let (reader, mut wire) = reader(Options::default()).await;
    wire.exchange(frame::CARD_STATUS_ON, frame::CARD_REMOVED).await;
    let card = named("chip-broken");
    reader.insert(card);
    // The card is in the slot, but mute.
    assert_eq!(wire.message().await.find(0x48), Some(&[1, 0][..]));
    wire.exchange(frame::START, frame::S9F30).await;
    reader.remove();
    wire.expect(frame::CARD_REMOVED).await;
    reader.swipe(card);
    let masked = wire.message().await.find(0xDFAE22).unwrap().to_vec();
    assert_eq!(masked, b";411111******1111=3112201**********?*");
}

#[tokio::test]
async fn a_card_may_be_pulled_at_any_moment() {
    let (reader, mut wire) = reader(Options::default()).await;
    // No card is in the slot before START.
    assert_eq!(wire.ask(frame::START).await.status, 0x9F23);
    // The card is removed during PIN entry.
    reader.insert(named("chip-pin"));
    reader.plan_pin(pos_sim::reader::PinPlan::Hesitate);
    wire.send(frame::START).await;
    reader.waits_for(WaitsFor::Pin).await;
    reader.remove();
    assert_eq!(wire.answer().await.status, 0x9F41);
    // The card is removed before CONTINUE, and another card may be inserted instead.
    for other in [None, Some(named("chip-no-cvm"))] {
        assert_eq!(wire.pay(&reader, named("chip-pin"), CardEntry::Insert).await.template(), 0xE4);
        reader.remove();
        other.into_iter().for_each(|card| reader.insert(card));
        assert_eq!(wire.ask(frame::CONTINUE_00).await.status, 0x9F23);
        reader.remove();
    }
}

#[tokio::test]
async fn commands_out_of_turn_are_refused() {
    let (reader, mut wire) = reader(Options::default()).await;
    assert_eq!(wire.ask(frame::CONTINUE_00).await.status, 0x9F22);
    wire.send(frame::START_CONTACTLESS).await;
    reader.waits_for(WaitsFor::Card).await;
    for frame in [frame::START, frame::START_CONTACTLESS, frame::CONTINUE_00, frame::DISPLAY_HELLO] {
        assert_eq!(wire.ask(frame).await.status, 0x9F26);
    }
    // RESET ends the running command, and the reader answers only RESET.
    assert_eq!(wire.ask(frame::RESET).await.template(), 0xE1);
    wire.exchange(frame::ABORT, frame::OK).await;
    // Elements are missing, or the data is not TLV.
    reader.insert(named("chip-no-cvm"));
    for (apdu, status) in [("DED1000005E0039C0100", 0x9F27), ("DED1000004E0029C05", 0x9F21), ("DED10000", 0x9F27)] {
        wire.send_bytes(&packet(&hex::decode(apdu).unwrap())).await;
        assert_eq!(wire.answer().await.status, status, "{apdu}");
    }
}

#[tokio::test]
async fn a_choice_of_applications_comes_as_e2() {
    let (reader, mut wire) = reader(Options::default()).await;
    // With DFA204 01 the customer selects on the reader. With 02 the reader returns the candidates.
    assert_eq!(wire.pay(&reader, named("chip-choice"), CardEntry::Insert).await.template(), 0xE4);
    let start = frame::START.replace("DFA2040101", "DFA2040102");
    let apdu = hex::decode(&start[6..start.len() - 2]).unwrap();
    wire.send_bytes(&packet(&apdu)).await;
    let e2 = wire.answer().await;
    assert_eq!((e2.template(), e2.all(0x4F).len()), (0xE2, 2));
    wire.send_bytes(&packet(&hex::decode("DED2000005E003C00101").unwrap())).await;
    assert_eq!(wire.answer().await.template(), 0xE4);
}

#[tokio::test]
async fn a_number_is_typed() {
    let (reader, mut wire) = reader(Options::default()).await;
    reader.next_number("123");
    wire.exchange(frame::GET_NUMERIC, frame::NUMERIC_123).await;
    wire.send(frame::GET_NUMERIC).await;
    reader.waits_for(WaitsFor::Number).await;
    [Key::Digit(1), Key::Digit(7), Key::Clear, Key::Digit(2), Key::Digit(3), Key::Enter]
        .into_iter()
        .for_each(|key| reader.key(key));
    wire.expect(frame::NUMERIC_123).await;
    wire.send(frame::GET_NUMERIC).await;
    reader.waits_for(WaitsFor::Number).await;
    reader.key(Key::Cancel);
    wire.expect(frame::S9F41).await;
}

#[tokio::test]
async fn a_reader_can_be_bad() {
    // Without an SRED key, the tracks and the tags 57 and 5A are clear.
    let (unsecured, mut wire) = reader(Options { secured: false, ..Options::default() }).await;
    assert_eq!(wire.ask(frame::P2PE_STATUS).await.find(0xDFAE01), Some(&[3][..]));
    let event = wire.pay(&unsecured, named("swipe"), CardEntry::Swipe).await;
    assert!(event.find(0x5F21).is_some() && event.find(0x5F22).is_some() && event.find(0xDFAE02).is_none());
    let e4 = wire.pay(&unsecured, named("chip-no-cvm"), CardEntry::Insert).await;
    assert!(e4.find(0x57).is_some() && e4.find(0x5A).is_some() && e4.find(0xDFAE02).is_none());
    // The reader uses another amount or currency, and the cryptogram covers it.
    let options = Options { amount_override: Some(1), currency_override: Some(978), ..Options::default() };
    let (cheat, mut wire) = reader(options).await;
    let e4 = wire.pay(&cheat, named("chip-no-cvm"), CardEntry::Insert).await;
    assert_eq!(e4.find(0x9F02), Some(&[0, 0, 0, 0, 0, 1][..]));
    assert_eq!(e4.find(0x5F2A), Some(&[0x09, 0x78][..]));
    assert!(e4.cryptogram_is_right(named("chip-no-cvm")));
    // A different device answers.
    let (_other, mut wire) = reader(Options { wrong_device: true, ..Options::default() }).await;
    wire.send(frame::RESET).await;
    assert_eq!(&wire.bytes::<9>().await, b"\r\nERROR\r\n");
    // The answer is damaged.
    let (spoiled, mut wire) = reader(Options::default()).await;
    spoiled.spoil_next();
    wire.send(frame::P2PE_STATUS).await;
    assert_ne!(wire.packet().await.iter().fold(0, |lrc, byte| lrc ^ byte), 0);
    wire.exchange(frame::P2PE_STATUS, frame::P2PE_ALL).await;
}

#[tokio::test]
async fn chains_chatter_and_fragments_change_nothing() {
    for chain_size in [3, 7, 100, 253] {
        let options = Options { chain_size, chatter: true, fragment: Some(61), ..Options::default() };
        let (reader, mut wire) = reader(options).await;
        let card = named("tap-pin");
        let e4 = wire.pay(&reader, card, CardEntry::Tap).await;
        assert!(e4.packets > 2);
        assert!(e4.cryptogram_is_right(card) && e4.pin_is("1234", card));
    }
}

#[tokio::test]
async fn the_cable_can_be_pulled_and_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("reader");
    let (reader, mut wire) = reader(Options { link: Some(link.clone()), ..Options::default() }).await;
    assert_eq!(reader.place(), link.to_string_lossy());
    assert_eq!(wire.pay(&reader, named("chip-no-cvm"), CardEntry::Insert).await.opened()[0].0.counter(), 1);
    reader.unplug();
    assert_eq!(wire.0.read(&mut [0; 8]).await.unwrap_or(0), 0);
    reader.replug().unwrap();
    let mut wire = open(&reader.place());
    // The running transaction is lost, the card is still in the slot, and the key counters continue.
    assert_eq!(wire.ask(frame::CONTINUE_00).await.status, 0x9F22);
    assert_eq!(wire.ask(frame::START).await.opened()[0].0.counter(), 2);
    // Closing and opening the port does not affect the reader.
    drop(wire);
    let mut wire = open(&reader.place());
    wire.exchange(frame::P2PE_STATUS, frame::P2PE_ALL).await;
}

/// Card, way of presenting it, and the content of its E4: 9F34 and 95 (EMV Book 3, C3 and C5), 4F, 5F28.
const SIGNED: &[(&str, CardEntry, &str, &str, &str, &str)] = &[
    ("chip-signature", CardEntry::Insert, "1E0300", "0000008000", "A0000000031010", "0826"),
    ("chip-scripts", CardEntry::Insert, "1F0302", "0000008000", "A0000000031010", "0826"),
    ("chip-offline-pin", CardEntry::Insert, "440302", "0000008000", "A0000000031010", "0826"),
    ("chip-choice", CardEntry::Insert, "1F0302", "0000008000", "A0000000031010", "0826"),
    ("expired", CardEntry::Insert, "1F0302", "0040008000", "A0000000031010", "0826"),
    ("pin-wrong", CardEntry::Insert, "420300", "0000048000", "A0000000031010", "0826"),
    ("pin-exceeded", CardEntry::Insert, "440301", "0000A08000", "A0000000031010", "0826"),
    ("app-blocked", CardEntry::Insert, "1F0302", "0000008000", "A0000000032010", "0826"),
    ("pan-19", CardEntry::Insert, "420300", "0000048000", "A0000000043060", "0826"),
    ("foreign", CardEntry::Insert, "420300", "0000048000", "A0000000031010", "0840"),
    ("tap-phone", CardEntry::Tap, "010002", "0000000000", "A0000000041010", "0826"),
    ("debit", CardEntry::Insert, "420300", "0000048000", "A0000000041010", "0826"),
    ("debit", CardEntry::Tap, "1F0002", "0000000000", "A0000000041010", "0826"),
];

#[tokio::test]
async fn what_each_special_card_signs() {
    for (name, entry, cvm, tvr, aid, country) in SIGNED {
        let (reader, mut wire) = reader(Options::default()).await;
        let card = named(name);
        let e4 = wire.pay(&reader, card, *entry).await;
        assert_eq!(e4.template(), 0xE4, "{name}");
        for (tag, value) in [(0x9F34, cvm), (0x95, tvr), (0x4F, aid), (0x84, aid), (0x5F28, country)] {
            assert_eq!(e4.find(tag).map(hex::encode_upper), Some((*value).to_owned()), "{name} {tag:X}");
        }
        assert!(e4.cryptogram_is_right(card), "{name}");
        // The currency is still the terminal's.
        assert_eq!(e4.find(0x5F2A), Some(&[0x08, 0x26][..]));
        let foreign = (*name == "foreign").then_some(&[0x08, 0x40][..]);
        assert_eq!(e4.find(0x9F42), foreign, "{name}");
        let online = cvm.starts_with("42");
        assert_eq!(e4.find(0xDFAE04).is_some(), online, "{name}");
        if online {
            let typed = if *name == "pin-wrong" { "9999" } else { "1234" };
            assert!(e4.pin_is(typed, card), "{name}");
        }
    }
}

#[tokio::test]
async fn nineteen_digits_are_padded_everywhere() {
    let (reader, mut wire) = reader(Options::default()).await;
    let card = named("pan-19");
    let e4 = wire.pay(&reader, card, CardEntry::Insert).await;
    assert_eq!(
        e4.opened()[0].1,
        "5A0A6799998900000074316F57136799998900000074316D31122011758989389F000000000000000000"[..80].to_owned()
    );
    assert_eq!(e4.find(0xDFAE5A).map(hex::encode_upper), Some("679999FFFFFFFFF4316F".to_owned()));
    assert_eq!(e4.find(0xDFAE57).map(hex::encode_upper), Some("679999FFFFFFFFF4316D31122011758989389F".to_owned()));
    reader.remove();
    let event = wire.pay(&reader, card, CardEntry::Swipe).await;
    assert_eq!(event.find(0xDFAE22), Some(&b";679999*********4316=3112201**********?*"[..]));
}

#[tokio::test]
async fn a_chip_carries_out_the_scripts_of_its_issuer_only() {
    // In the first row both MACs are correct, so the card runs both scripts. In the second row, the MAC of the script
    // before the final cryptogram is wrong. In the third, the MAC of the script after it is wrong.
    for (spoilt, results, tvr) in [
        (None, "20000000012000000002", "0000008000"),
        (Some(0x71), "11000000012000000002", "0000008020"),
        (Some(0x72), "20000000011100000002", "0000008010"),
    ] {
        let (reader, mut wire) = reader(Options::default()).await;
        let card = named("chip-scripts");
        let e4 = wire.pay(&reader, card, CardEntry::Insert).await;
        let atc = e4.find(0x9F36).unwrap().try_into().unwrap();
        let arqc = e4.find(0x9F26).unwrap().try_into().unwrap();
        let key = ScriptKey::new(&Issuer::new(TEST_IMK_SMI), card.pan, card.psn, atc, arqc).unwrap();
        let mut scripts = Vec::new();
        for (template, header, data) in [(0x71, PIN_UNBLOCK, &[][..]), (0x72, [0x84, 0xDA, 0x9F, 0x58], &[5][..])] {
            let mut script = key.script(template, [0, 0, 0, template & 3], header, data);
            if template == 0x71 {
                script[8] = 1;
            }
            if Some(template) == spoilt {
                *script.last_mut().unwrap() ^= 1;
            }
            scripts.extend(script);
        }
        let issuer = Issuer::new(TEST_IMK_AC).card_key(card.pan, card.psn).unwrap();
        let tag_91 = issuer.issuer_authentication(&e4.body, *b"00", CSU_APPROVED).unwrap();
        wire.send_bytes(&continue_with_scripts(&tag_91, &scripts)).await;
        let e3 = wire.answer().await;
        assert_eq!(e3.template(), 0xE3, "{spoilt:?}");
        assert_eq!(e3.find(0x9F5B).map(hex::encode_upper), Some(results.to_owned()), "{spoilt:?}");
        assert_eq!(e3.find(0x95).map(hex::encode_upper), Some(tvr.to_owned()), "{spoilt:?}");
        // TSI byte 1 bit 3 shows that scripts were processed.
        assert_eq!(e3.find(0x9B).unwrap()[0] & 0x04, 0x04);
        // The final cryptogram does not cover a later failure.
        assert_eq!(e3.cryptogram_is_right(card), spoilt != Some(0x72), "{spoilt:?}");
    }
    // The documented CONTINUE has a 91 and a 72 that do not come from the issuer (readers: 2.13).
    let (reader, mut wire) = reader(Options::default()).await;
    assert_eq!(wire.pay(&reader, named("chip-scripts"), CardEntry::Insert).await.template(), 0xE4);
    let last = wire
        .ask("01002BDED2000026E0248A023030910A1122334455667788303072129F1804000000018609842400000411223344D2")
        .await;
    assert_eq!((last.template(), last.find(0x95).map(hex::encode_upper)), (0xE5, Some("0000008050".to_owned())));
}

#[tokio::test]
async fn the_cardholder_chooses_an_application_on_thereader() {
    let (reader, mut wire) = reader(Options::default()).await;
    let card = named("chip-choice");
    reader.insert(card);
    reader.plan_choice(ChoicePlan::Hesitate);
    wire.send(frame::START).await;
    let event = wire.message().await;
    assert_eq!((event.unsolicited, event.find(0xC3)), (true, Some(&[3][..])));
    reader.waits_for(WaitsFor::Choice).await;
    assert_eq!(reader.display(), ["1 VISA CREDIT", "2 VISA ELECTRON"]);
    // A number outside the list has no effect.
    reader.key(Key::Digit(3));
    reader.waits_for(WaitsFor::Choice).await;
    reader.key(Key::Digit(2));
    let e4 = wire.answer().await;
    assert_eq!(e4.find(0x4F).map(hex::encode_upper), Some("A0000000032010".to_owned()));
    assert_eq!((e4.find(0x50), e4.find(0x9F06)), (Some(&b"VISA ELECTRON"[..]), e4.find(0x4F)));
    assert!(e4.cryptogram_is_right(card));
    // The choice is planned, cancelled, timed out, or ended by removing the card.
    reader.plan_choice(ChoicePlan::Number(2));
    assert_eq!(wire.ask(frame::START).await.find(0x50), Some(&b"VISA ELECTRON"[..]));
    for gives_up in [|reader: &Reader| reader.key(Key::Cancel), Reader::wait_too_long, Reader::remove] {
        reader.insert(card);
        reader.plan_choice(ChoicePlan::Hesitate);
        wire.send(frame::START).await;
        reader.waits_for(WaitsFor::Choice).await;
        gives_up(&reader);
        assert_eq!(wire.answer().await, Message::status(0x9F41));
    }
}

#[tokio::test]
async fn the_agent_chooses_an_application() {
    let (reader, mut wire) = reader(Options::default()).await;
    reader.insert(named("chip-choice"));
    let start = frame::START.replace("DFA2040101", "DFA2040102");
    let start = packet(&hex::decode(&start[6..start.len() - 2]).unwrap());
    for (chosen, label) in [
        ("4F07A0000000032010", Some("VISA ELECTRON")),
        ("500D5649534120454C454354524F4E", Some("VISA ELECTRON")),
        ("4F07A0000000031010500B5649534120435245444954", Some("VISA CREDIT")),
        ("C00101", Some("VISA CREDIT")),
        ("4F07A0000000041010", None),
        ("C00107", None),
    ] {
        wire.send_bytes(&start).await;
        let e2 = wire.answer().await;
        assert_eq!(e2.template(), 0xE2);
        assert_eq!(
            e2.all(0x4F).iter().map(hex::encode_upper).collect::<Vec<_>>(),
            ["A0000000031010", "A0000000032010"]
        );
        assert_eq!(e2.all(0x50), [&b"VISA CREDIT"[..], b"VISA ELECTRON"]);
        let chosen = hex::decode(chosen).unwrap();
        let length = u8::try_from(chosen.len()).unwrap();
        wire.send_bytes(&packet(&[&[0xDE, 0xD2, 0, 0, length + 2, 0xE0, length][..], &chosen].concat())).await;
        let answer = wire.answer().await;
        match label {
            Some(label) => assert_eq!(answer.find(0x50), Some(label.as_bytes())),
            None => assert_eq!(answer, Message::status(0x9F21)),
        }
    }
    wire.send_bytes(&start).await;
    assert_eq!(wire.answer().await.template(), 0xE2);
    wire.send_bytes(&packet(&hex::decode("DED2000005E003C00100").unwrap())).await;
    assert_eq!(wire.answer().await, Message::status(0x9F41));
}

#[tokio::test]
async fn a_chip_checks_the_pin_and_counts_the_tries() {
    let (reader, mut wire) = reader(Options::default()).await;
    let card = named("chip-offline-pin");
    reader.insert(card);
    wire.send(frame::START).await;
    let mut said = Vec::new();
    let e4 = loop {
        let message = wire.message().await;
        if !message.unsolicited {
            break message;
        }
        said.push((
            String::from_utf8(message.find(0xC4).unwrap().to_vec()).unwrap(),
            message.find(0xC5).map(|c5| c5[0]),
        ));
    };
    let enter = |tries| ("ENTER PIN".to_owned(), Some(tries));
    let mut expected = vec![enter(3); 5];
    expected.push(("INCORRECT PIN".to_owned(), Some(2)));
    expected.extend(vec![enter(2); 5]);
    expected.push(("PIN OK".to_owned(), None));
    assert_eq!(said, expected);
    assert_eq!(e4.find(0x9F34), Some(&[0x44, 3, 2][..]));
    assert!(e4.find(0xDFAE04).is_none() && e4.cryptogram_is_right(card));
    // The PIN is wrong three times. The chip then accepts no PIN in this payment or the next one.
    reader.run_script(script("on pin: type wrong"));
    for _ in 0..2 {
        let e4 = wire.ask(frame::START).await;
        assert_eq!(e4.find(0x9F34), Some(&[0x44, 3, 1][..]));
        assert_eq!(e4.find(0x95), Some(&[0, 0, 0xA0, 0x80, 0][..]));
    }
    // The PIN is bypassed. The same method fails, and the TVR shows that no PIN was entered.
    let (reader, mut wire) = self::reader(Options::default()).await;
    reader.insert(card);
    reader.plan_pin(PinPlan::Bypass);
    let e4 = wire.ask(frame::START).await;
    assert_eq!((e4.find(0x9F34), e4.find(0x95)), (Some(&[0x44, 3, 1][..]), Some(&[0, 0, 8, 0x80, 0][..])));
}

/// Returns the card data of a block under AES DUKPT in hex.
fn opened_aes(message: &Message) -> (aes_dukpt::Ksn, String) {
    let ksn = aes_dukpt::Ksn::from_bytes(message.find(0xDFAE03).unwrap()).unwrap();
    let key = aes_dukpt::transaction_key(&aes_dukpt::initial_key(&TEST_BDK_AES, ksn), ksn).unwrap().data_key();
    (ksn, hex::encode_upper(key.cbc_decrypt(&ZERO_IV_16, message.find(0xDFAE02).unwrap()).unwrap()))
}

#[tokio::test]
async fn a_reader_seals_under_aes() {
    let (reader, mut wire) = reader(Options { dukpt: Dukpt::AES, ..Options::default() }).await;
    let card = named("chip-pin");
    let e4 = wire.pay(&reader, card, CardEntry::Insert).await;
    let (ksn, plain) = opened_aes(&e4);
    assert_eq!(ksn.to_string(), "123456789012341100000001");
    assert_eq!(plain, "5A08476173900101011957114761739001010119D31122011758989389000000");
    // The PIN has format 4, sixteen bytes and its own key set.
    let ksn = aes_dukpt::Ksn::from_bytes(e4.find(0xDFAE05).unwrap()).unwrap();
    assert_eq!(ksn.to_string(), "123456789012341200000001");
    let key = aes_dukpt::transaction_key(&aes_dukpt::initial_key(&TEST_BDK_AES, ksn), ksn).unwrap().pin_key();
    let pin = pin_block::decrypt_4(&key, e4.find(0xDFAE04).unwrap(), card.pan).unwrap();
    assert!(pin.is(&pin_block::Pin::new("1234").unwrap()));
    assert!(e4.cryptogram_is_right(card));
    wire.send_bytes(&e4.approval(card, CSU_APPROVED)).await;
    let e3 = wire.answer().await;
    assert_eq!((e3.template(), opened_aes(&e3).0.counter()), (0xE3, 2));
    reader.remove();
    // A swipe is followed by the PIN.
    let event = wire.pay(&reader, named("swipe-pin"), CardEntry::Swipe).await;
    assert!(opened_aes(&event).1.starts_with("5F21"));
    assert_eq!(event.find(0xDFAE02).unwrap().len() % 16, 0);
    // The two blocks of a tap use two keys.
    wire.exchange(frame::CARD_STATUS_OFF, frame::CARD_REMOVED).await;
    let e4 = wire.pay(&reader, named("tap"), CardEntry::Tap).await;
    let counters: Vec<_> =
        e4.all(0xDFAE03).iter().map(|ksn| aes_dukpt::Ksn::from_bytes(ksn).unwrap().counter()).collect();
    assert_eq!(counters, [4, 5]);
}

#[tokio::test]
async fn key_sets_are_used_up() {
    for (kind, last) in [(Dukpt::TDES, "FFFF0102628D111FF800"), (Dukpt::AES, "1234567890123411FFFF0000")] {
        let (reader, mut wire) = reader(Options { dukpt: kind.with_keys_left(2), ..Options::default() }).await;
        wire.exchange(frame::P2PE_STATUS, frame::P2PE_ALL).await;
        let e4 = wire.pay(&reader, named("chip-pin"), CardEntry::Insert).await;
        assert_eq!(e4.template(), 0xE4);
        wire.send_bytes(&e4.approval(named("chip-pin"), CSU_APPROVED)).await;
        let e3 = wire.answer().await;
        assert_eq!(e3.find(0xDFAE03).map(hex::encode_upper), Some(last.to_owned()));
        // No SRED key is left. Its bit is off, and no payment begins.
        assert_eq!(wire.ask(frame::P2PE_STATUS).await.find(0xDFAE01), Some(&[3][..]));
        for frame in [frame::START, frame::START_CONTACTLESS] {
            assert_eq!(wire.ask(frame).await, Message::status(0x9FE5));
        }
    }
    // E4 uses the last key. The card's final answer still arrives, without sealed data.
    let (reader, mut wire) = reader(Options { dukpt: Dukpt::AES.with_keys_left(1), ..Options::default() }).await;
    let e4 = wire.pay(&reader, named("chip-pin"), CardEntry::Insert).await;
    assert_eq!(wire.ask(frame::P2PE_STATUS).await.find(0xDFAE01), Some(&[1][..]), "the PIN's key too");
    wire.send_bytes(&e4.approval(named("chip-pin"), CSU_APPROVED)).await;
    let e3 = wire.answer().await;
    assert!(e3.template() == 0xE3 && e3.find(0xDFAE02).is_none());
    // Only the PIN keys are used up.
    let worn = Dukpt::Tdes { card: TEST_KSN_SRED, pin: TEST_KSN_PIN.with_keys_left(0) };
    let (reader, mut wire) = self::reader(Options { dukpt: worn, ..Options::default() }).await;
    assert_eq!(wire.ask(frame::P2PE_STATUS).await.find(0xDFAE01), Some(&[5][..]));
    assert_eq!(wire.pay(&reader, named("chip-pin"), CardEntry::Insert).await, Message::status(0x9FE0));
    reader.remove();
    assert_eq!(wire.pay(&reader, named("chip-no-cvm"), CardEntry::Insert).await.template(), 0xE4);
}

/// Checks a card that is pulled at each step, and the answer of the running command: START, or later CONTINUE.
#[tokio::test]
async fn a_card_is_pulled_at_each_named_step() {
    for (when, name, start, after) in [
        (ScriptEvent::Start, "chip-no-cvm", 0x9F41, None),
        (ScriptEvent::Choice, "chip-choice", 0x9F41, None),
        (ScriptEvent::Pin, "chip-pin", 0x9F41, None),
        (ScriptEvent::Answer, "chip-no-cvm", 0x9F41, None),
        (ScriptEvent::Asked, "chip-no-cvm", 0x9000, Some(frame::S9F23)),
        (ScriptEvent::Continue, "chip-no-cvm", 0x9000, Some(frame::S9F23)),
    ] {
        let (reader, mut wire) = reader(Options::default()).await;
        reader.remove_at(when);
        reader.insert(named(name));
        assert_eq!(wire.ask(frame::START).await.status, start, "{when:?}");
        match after {
            Some(status) => wire.exchange(frame::CONTINUE_00, status).await,
            None => assert_eq!(wire.ask(frame::CONTINUE_00).await.status, 0x9F22, "{when:?}"),
        }
        assert!(!reader.watch().borrow().card_in_slot, "{when:?}");
    }
    // The card is pulled while the reader waits for one (it is inserted first), or after the card's final answer. The
    // answer stays valid, and the slot is empty.
    let (reader, mut wire) = reader(Options::default()).await;
    reader.remove_at(ScriptEvent::Inserted);
    wire.send(frame::START_CONTACTLESS).await;
    reader.waits_for(WaitsFor::Card).await;
    reader.insert(named("chip-no-cvm"));
    wire.expect(frame::S9F43).await;
    wire.exchange(frame::START, frame::S9F23).await;
    reader.remove_at(ScriptEvent::Ended);
    reader.insert(named("chip-no-cvm"));
    assert_eq!(wire.ask(frame::START).await.template(), 0xE4);
    assert_eq!(wire.ask(frame::CONTINUE_00).await.template(), 0xE3);
    reader.until(|screen| !screen.card_in_slot).await;
    // Two cards are used one after the other.
    for name in ["chip-no-cvm", "chip-pin"] {
        assert_eq!(wire.pay(&reader, named(name), CardEntry::Insert).await.template(), 0xE4);
        reader.remove();
    }
}

#[tokio::test]
async fn a_script_presents_cards_and_types() {
    let text = "on waiting 1: tap tap\non waiting 2: insert chip-pin\non waiting 3: swipe swipe\non waiting 4: too-long\n\
                on waiting 5: key cancel\non sale 6: type 9999, amount 7\non waiting 6: tap tap-pin\non sale 7: amount right\n\
                on waiting 7: tap tap-pin\non number: type 42\non choice: choose 2\n";
    let (reader, mut wire) = reader(Options { script: script(text), ..Options::default() }).await;
    let first = wire.ask(frame::START_CONTACTLESS).await;
    assert_eq!((first.template(), first.find(0x57).is_none()), (0xE4, true));
    assert_eq!(wire.ask(frame::CONTINUE_00).await.template(), 0xE3);
    wire.exchange(frame::START_CONTACTLESS, frame::S9F43).await;
    assert!(wire.ask(frame::START).await.pin_is("1234", named("chip-pin")));
    // The card stays in the slot, so the reader does not wait.
    wire.exchange(frame::START_CONTACTLESS, frame::S9F43).await;
    reader.remove();
    for status in [frame::S9F44, frame::S9F42, frame::S9F41] {
        wire.exchange(frame::START_CONTACTLESS, status).await;
    }
    let wrong = wire.ask(frame::START_CONTACTLESS).await;
    assert_eq!((wrong.template(), wrong.pin_is("9999", named("tap-pin"))), (0xE4, true));
    assert_eq!(wrong.find(0x9F02), Some(&[0, 0, 0, 0, 0, 7][..]), "another amount is signed");
    assert_eq!(wire.ask(frame::CONTINUE_Z1).await.template(), 0xE5);
    let right = wire.ask(frame::START_CONTACTLESS).await;
    assert!(right.pin_is("1234", named("tap-pin")));
    assert_eq!(right.find(0x9F02), Some(&[0, 0, 0, 0, 4, 0x56][..]));
    assert_eq!(wire.ask(frame::CONTINUE_Z1).await.template(), 0xE5);
    assert_eq!(wire.ask(frame::GET_NUMERIC).await.find(0xDFA208), Some(&b"42"[..]));
    reader.insert(named("chip-choice"));
    assert_eq!(wire.ask(frame::START).await.find(0x50), Some(&b"VISA ELECTRON"[..]));
}

#[tokio::test]
async fn a_script_has_the_pin_wrong_cancelled_bypassed_and_left_alone() {
    for (plan, status) in [("wrong", 0x9000), ("bypass", 0x9000), ("cancel", 0x9F41), ("nothing, too-long", 0x9F41)] {
        let (reader, mut wire) = reader(Options::default()).await;
        reader.run_script(script(&format!("on pin: type {plan}")));
        let answer = wire.pay(&reader, named("chip-pin"), CardEntry::Insert).await;
        assert_eq!(answer.status, status, "{plan}");
        match plan {
            "wrong" => assert!(answer.pin_is("9999", named("chip-pin"))),
            "bypass" => assert_eq!(answer.find(0x9F34), Some(&[0x42, 3, 1][..])),
            _ => {}
        }
    }
    // The keys are pressed later, by the device's own time.
    let (reader, mut wire) = reader(Options::default()).await;
    reader.run_script(script("on pin: type nothing, wait 20ms, key 1, key 2, key 3, key 4, key enter"));
    assert!(wire.pay(&reader, named("chip-pin"), CardEntry::Insert).await.pin_is("1234", named("chip-pin")));
    reader.remove();
    reader.run_script(script("after 20ms: insert chip-no-cvm"));
    reader.until(|screen| screen.card_in_slot).await;
}

#[tokio::test]
async fn a_script_disturbs_the_line() {
    let (reader, mut wire) = reader(Options::default()).await;
    // Garbage precedes the first answer, the second has a wrong LRC, and the third is lost.
    reader.run_script(script("on frame 1: garbage 40\non frame 2: spoil\non frame 3: silent"));
    wire.send(frame::P2PE_STATUS).await;
    let garbage = wire.bytes::<40>().await;
    assert!(garbage.iter().any(|byte| *byte != garbage[0]));
    wire.expect(frame::P2PE_ALL).await;
    wire.send(frame::P2PE_STATUS).await;
    assert_ne!(wire.packet().await.iter().fold(0, |lrc, byte| lrc ^ byte), 0);
    wire.send(frame::P2PE_STATUS).await;
    // The third command gets no answer, so the next message answers the fourth.
    assert!(wire.ask(frame::BATTERY).await.find(0xDFA20A).is_some());
    wire.exchange(frame::P2PE_STATUS, frame::P2PE_ALL).await;
    assert_eq!(reader.counters().commands, [0xEEE0, 0xEEE0, 0xEEE0, 0xD062, 0xEEE0]);
}

#[tokio::test]
async fn a_script_stops_encrypting() {
    let (reader, mut wire) = reader(Options { script: script("on sale 2: clear"), ..Options::default() }).await;
    wire.exchange(frame::CARD_STATUS_ON, frame::CARD_REMOVED).await;
    wire.send(frame::START_CONTACTLESS).await;
    reader.waits_for(WaitsFor::Card).await;
    reader.swipe(named("swipe"));
    wire.expect(frame::S9F44).await;
    let event = wire.message().await;
    assert!(event.find(0xDFAE02).is_some() && event.find(0x5F22).is_none());
    wire.send(frame::START_CONTACTLESS).await;
    reader.waits_for(WaitsFor::Card).await;
    reader.swipe(named("swipe"));
    wire.expect(frame::S9F44).await;
    let event = wire.message().await;
    assert!(event.find(0xDFAE02).is_none() && event.find(0x5F21).is_some() && event.find(0x5F22).is_some());
    assert_eq!(wire.ask(frame::P2PE_STATUS).await.find(0xDFAE01), Some(&[3][..]));
}

#[tokio::test]
async fn a_script_pulls_the_cable_and_puts_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("reader");
    let options = Options { link: Some(link), script: script("on continue 1: unplug 50ms"), ..Options::default() };
    let (reader, mut wire) = reader(options).await;
    reader.insert(named("chip-no-cvm"));
    assert_eq!(wire.ask(frame::START).await.template(), 0xE4);
    let before = std::fs::read_link(reader.place()).unwrap();
    wire.send(frame::CONTINUE_00).await;
    // The connection ends without an answer. After a while, the link leads to another pty.
    assert_eq!(wire.0.read(&mut [0; 8]).await.unwrap_or(0), 0);
    let back = async {
        while !std::fs::read_link(reader.place()).is_ok_and(|now| now != before) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), back).await.expect("the cable is not put back");
    let mut wire = open(&reader.place());
    assert_eq!(wire.ask(frame::CONTINUE_00).await.status, 0x9F22);
    assert_eq!(wire.ask(frame::START).await.template(), 0xE4);
    // Over TCP the address stays the same. Meanwhile, it refuses connections.
    let tcp = Some("127.0.0.1:0".parse().unwrap());
    let reader = start(Options { tcp, script: script("on frame 1: unplug\nafter 50ms: plug"), ..Options::default() });
    let reader = reader.await.unwrap();
    let mut wire = Wire(tokio::net::TcpStream::connect(reader.place()).await.unwrap());
    wire.expect(frame::POWERED_ON).await;
    wire.send(frame::P2PE_STATUS).await;
    assert_eq!(wire.0.read(&mut [0; 8]).await.unwrap_or(0), 0);
    reader.replug().unwrap();
    let mut wire = Wire(tokio::net::TcpStream::connect(reader.place()).await.unwrap());
    wire.expect(frame::POWERED_ON).await;
    wire.exchange(frame::P2PE_STATUS, frame::P2PE_ALL).await;
}

// The unsolicited message E6 { C3 0A "Powering Off" }, by the rules of the link layer (readers: 2.1) and 2.3.
const POWERING_OFF: &str = "014015E611C3010AC40C506F776572696E67204F6666900063";

#[tokio::test]
async fn a_reboot_loses_everything_but_the_line_the_keys_and_the_card_in_the_slot() {
    let boot = Pace { boot: Duration::from_millis(50), ..Pace::INSTANT };
    let (reader, mut wire) = reader(Options { pace: boot, ..Options::default() }).await;
    wire.exchange(frame::CARD_STATUS_ON, frame::CARD_REMOVED).await;
    let e4 = wire.pay(&reader, named("chip-no-cvm"), CardEntry::Insert).await;
    assert_eq!(e4.opened()[0].0.counter(), 1);
    reader.reboot();
    wire.expect(POWERING_OFF).await;
    // A command sent meanwhile is lost.
    wire.send(frame::P2PE_STATUS).await;
    wire.expect(frame::POWERED_ON).await;
    assert_eq!(wire.ask(frame::CONTINUE_00).await.status, 0x9F22);
    // CARD STATUS is off, so the reader does not report the card.
    reader.remove();
    reader.insert(named("chip-no-cvm"));
    assert_eq!(wire.ask(frame::START).await.opened()[0].0.counter(), 2);
    // A script reboots the reader in the middle of PIN entry. START is never answered.
    reader.remove();
    reader.run_script(script("on pin: reboot 10ms\non powered-on: insert chip-no-cvm"));
    reader.insert(named("chip-pin"));
    wire.send(frame::START).await;
    assert_eq!(wire.message().await.find(0xC4), Some(&b"ENTER PIN"[..]));
    wire.expect(POWERING_OFF).await;
    wire.expect(frame::POWERED_ON).await;
    wire.exchange(frame::P2PE_STATUS, frame::P2PE_ALL).await;
}

#[tokio::test]
async fn a_script_in_a_circle_does_not_stop_thereader() {
    let text = "on inserted: remove\non removed: insert chip-pin, wait 0ms, remove";
    let (reader, mut wire) = reader(Options { script: script(text), ..Options::default() }).await;
    reader.insert(named("chip-pin"));
    wire.exchange(frame::P2PE_STATUS, frame::P2PE_ALL).await;
}
