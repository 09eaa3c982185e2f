//! The simulated NEO2 reader over a real pty and TCP: raw bytes. These tests neither test the agent's driver nor use
//! any part of it. They read responses by the rules of the link layer (readers: 4.1) and open them with the host's
//! keys.
//!
//! Frames in `frame` are typed from documents (readers: 4.5). They are never edited to make a test pass.

use std::time::Duration;

use pos_sim::keys::cryptogram::{CSU_APPROVED, Issuer};
use pos_sim::keys::tdes_dukpt::{Usage, initial_key, transaction_key};
use pos_sim::keys::{Ksn, TEST_BDK_PIN, TEST_BDK_SRED, TEST_IMK_AC, TEST_KSN_PIN, TEST_KSN_SRED, ZERO_IV, pin_block};
use pos_sim::reader::deck::{Card, CardEntry, DECK, Tap};
use pos_sim::reader::{
    AbortRace, Dukpt, Family, Key, Neo2Settings, Options, Pace, PinPlan, Reader, Script, WaitsFor, card, start,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_serial::SerialPortBuilderExt;

mod frame {
    pub(crate) const PING: &str = "5669564F74656368320018010000B3CD";
    pub(crate) const PING_ANSWER: &str = "5669564F74656368320018000000FA83";
    pub(crate) const POLL_ON_DEMAND: &str = "5669564F7465636832000101000101D734";
    pub(crate) const POLL_ANSWER: &str = "5669564F746563683200010000001253";
    pub(crate) const ACTIVATE: &str =
        "5669564f746563683200024000221e9c01009f02060000000001009f0306000000000000dfef370107dfef3c0301006018d1";
    pub(crate) const VERSION: &str = "5669564F74656368320029000000DEA0";
    pub(crate) const SERIAL: &str = "5669564F7465636832001201000018A5";
    pub(crate) const CANCEL: &str = "5669564F7465636832000501000092EF";
    pub(crate) const RESULT: &str = "5669564F7465636832000340000096E2";
}

const HEADER: &[u8] = b"ViVOtech2\0";
const HEAD: usize = 14;

/// The response to one command.
#[derive(Debug, PartialEq)]
struct Response {
    command: u8,
    status: u8,
    data: Vec<u8>,
}

/// An element of a response. The marker is A1 or C1, or 00 for an element in clear.
#[derive(Debug, PartialEq)]
struct Element {
    tag: u32,
    marker: u8,
    value: Vec<u8>,
}

impl Response {
    fn empty(command: u8, status: u8) -> Self {
        Self { command, status, data: Vec::new() }
    }

    /// Reads the elements, of which some have a marker before their length (readers: 4.4).
    fn elements(&self) -> Vec<Element> {
        // An attribution byte has bit 5 set, and no tag here begins with such a byte.
        let data = match self.data.split_first() {
            Some((first, elements)) if first & 0x20 != 0 => elements,
            _ => &self.data[..],
        };
        let mut rest = data;
        let mut take = |count: usize| {
            let (now, later) = rest.split_at(count);
            rest = later;
            now.to_vec()
        };
        let mut elements = Vec::new();
        let mut left = data.len();
        while left > 0 {
            let mut tag = take(1);
            if tag[0] & 0x1F == 0x1F {
                tag.extend(take(1));
                while tag[tag.len() - 1] & 0x80 != 0 {
                    tag.extend(take(1));
                }
            }
            let mut used = tag.len() + 1;
            let (marker, length) = match take(1)[0] {
                marker @ (0xA1 | 0xC1) => {
                    used += 1;
                    (marker, usize::from(take(1)[0]))
                }
                0x81 => {
                    used += 1;
                    (0, usize::from(take(1)[0]))
                }
                0x82 => {
                    used += 2;
                    let bytes = take(2);
                    (0, usize::from(u16::from_be_bytes([bytes[0], bytes[1]])))
                }
                length => (0, usize::from(length)),
            };
            let value = take(length);
            left -= used + length;
            let tag = tag.iter().fold(0, |tag, byte| tag << 8 | u32::from(*byte));
            elements.push(Element { tag, marker, value });
        }
        elements
    }

    fn find(&self, tag: u32, marker: u8) -> Option<Vec<u8>> {
        self.elements().into_iter().find(|one| (one.tag, one.marker) == (tag, marker)).map(|one| one.value)
    }

    fn hex(&self, tag: u32) -> String {
        hex::encode_upper(self.find(tag, 0).unwrap_or_else(|| panic!("no {tag:X} in {self:?}")))
    }

    /// Returns the KSN, which a swipe has only in its block.
    fn ksn(&self) -> Ksn {
        let of_swipe = || {
            let block = self.find(0xDFEE23, 0).unwrap();
            block[block.len() - 13..block.len() - 3].to_vec()
        };
        let ksn = Ksn::from_bytes(&self.find(0xDFEE12, 0).unwrap_or_else(of_swipe)).unwrap();
        assert_eq!(ksn.initial(), TEST_KSN_SRED);
        ksn
    }

    fn decrypt(&self, sealed: &[u8]) -> Vec<u8> {
        let ksn = self.ksn();
        let key = transaction_key(&initial_key(&TEST_BDK_SRED, ksn), ksn).unwrap().working(Usage::DataRequest);
        key.cbc_decrypt(&ZERO_IV, sealed).unwrap()
    }

    /// Opens an encrypted element.
    fn opened(&self, tag: u32) -> String {
        hex::encode_upper(self.decrypt(&self.find(tag, 0xC1).unwrap()))
    }

    /// Returns the elements in clear as plain TLVs.
    fn clear(&self) -> Vec<u8> {
        let clear = self.elements().into_iter().filter(|one| one.marker == 0 && one.value.len() < 0x80);
        let plain = clear.flat_map(|one| {
            let tag = one.tag.to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect::<Vec<_>>();
            [&tag[..], &[u8::try_from(one.value.len()).unwrap()], &one.value].concat()
        });
        plain.collect()
    }

    fn cryptogram_is_right(&self, card: &Card) -> bool {
        Issuer::new(TEST_IMK_AC).card_key(card.pan, card.psn).unwrap().verify(&self.clear()).unwrap()
    }

    fn approval(&self, card: &Card) -> Vec<u8> {
        let key = Issuer::new(TEST_IMK_AC).card_key(card.pan, card.psn).unwrap();
        key.issuer_authentication(&self.clear(), *b"00", CSU_APPROVED).unwrap().to_vec()
    }
}

fn pin_is(block: &[u8], ksn: &[u8], digits: &str, pan: &str) -> bool {
    let ksn = Ksn::from_bytes(ksn).unwrap();
    assert_eq!(ksn.initial(), TEST_KSN_PIN);
    let key = transaction_key(&initial_key(&TEST_BDK_PIN, ksn), ksn).unwrap().working(Usage::Pin);
    pin_block::decrypt_0(&key, block, pan).unwrap().is(&pin_block::Pin::new(digits).unwrap())
}

fn crc(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xFFFF, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte) << 8, |crc, _| if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 })
    })
}

fn frame_of(command: u8, sub: u8, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap().to_be_bytes();
    let mut frame = [HEADER, &[command, sub], &length, data].concat();
    frame.extend(crc(&frame).to_le_bytes());
    frame
}

fn unhex(text: &str) -> Vec<u8> {
    hex::decode(text).unwrap()
}

const TERMS: &str = "9C01009F02060000000032509F03060000000000009A032501319F21031234565F2A020826";

/// ACTIVATE with these interfaces, and with or without the fallback.
fn activate(interfaces: u8, fallback: bool) -> Vec<u8> {
    let data = format!("1E{TERMS}DFEF3701{interfaces:02X}DFEF3C030{}0060", u8::from(fallback));
    frame_of(0x02, 0x40, &unhex(&data))
}

fn start_emv(fallback: u8) -> Vec<u8> {
    frame_of(0x60, 0x10, &unhex(&format!("{fallback:02X}001E001E{TERMS}")))
}

fn authenticate() -> Vec<u8> {
    frame_of(0x60, 0x11, &[])
}

fn apply(arc: &str, tag_91: &[u8]) -> Vec<u8> {
    let mut data = [&[0x8A, 2][..], arc.as_bytes()].concat();
    if !tag_91.is_empty() {
        data.extend([0x91, u8::try_from(tag_91.len()).unwrap()]);
        data.extend(tag_91);
    }
    frame_of(0x60, 0x12, &data)
}

fn encrypted_pin(kind: u8, pan: &str, most: u8, least: u8) -> Vec<u8> {
    let length = u8::try_from(pan.len()).unwrap();
    frame_of(0x62, 0x01, &[&[kind, length][..], pan.as_bytes(), &[most, least, 0x01]].concat())
}

/// One end of a connection, read frame by frame.
struct Wire<S>(S);

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    async fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.unwrap();
    }

    async fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        let read = tokio::time::timeout(Duration::from_secs(20), self.0.read_exact(&mut bytes)).await;
        read.expect("the reader says nothing").unwrap();
        bytes
    }

    async fn raw(&mut self) -> Vec<u8> {
        let mut frame = self.bytes(HEAD).await;
        assert!(frame.starts_with(HEADER), "{frame:X?}");
        let length = usize::from(u16::from_be_bytes([frame[12], frame[13]]));
        frame.extend(self.bytes(length + 2).await);
        frame
    }

    async fn response(&mut self) -> Response {
        let frame = self.raw().await;
        let (checked, check) = frame.split_at(frame.len() - 2);
        assert_eq!(crc(checked).to_be_bytes(), check, "CRC, high byte first");
        Response { command: frame[10], status: frame[11], data: checked[HEAD..].to_vec() }
    }

    async fn ask(&mut self, bytes: &[u8]) -> Response {
        self.send(bytes).await;
        self.response().await
    }

    /// Sends a command with two responses, and returns the second.
    async fn ask_twice(&mut self, bytes: &[u8]) -> Response {
        self.send(bytes).await;
        self.second(bytes[10]).await
    }

    async fn second(&mut self, command: u8) -> Response {
        assert_eq!(self.response().await, Response::empty(command, 0x63));
        self.response().await
    }

    /// Activates the antenna, and taps.
    async fn tap(&mut self, reader: &Reader, card: &'static Card) -> Response {
        self.send(&activate(7, false)).await;
        reader.waits_for(WaitsFor::Card).await;
        reader.tap(card);
        self.response().await
    }

    /// Starts the chip, and lets it decide.
    async fn insert(&mut self, reader: &Reader, card: &'static Card) -> Response {
        reader.insert(card);
        let started = self.ask_twice(&start_emv(0)).await;
        assert_eq!((started.status, started.hex(0xDFEE25)), (0x00, "0010".to_owned()), "{}", card.name);
        self.ask_twice(&authenticate()).await
    }
}

type Serial = Wire<tokio_serial::SerialStream>;

fn options() -> Options {
    Options { family: Family::Neo2, ..Options::default() }
}

async fn reader(options: Options) -> (Reader, Serial) {
    let reader = start(options).await.unwrap();
    let wire = Wire(tokio_serial::new(reader.place(), 115_200).open_native_async().unwrap());
    (reader, wire)
}

fn named(name: &str) -> &'static Card {
    card(name).unwrap()
}

#[tokio::test]
async fn start_up_goes_by_the_documented_frames() {
    let (reader, mut wire) = reader(options()).await;
    for (command, answer) in [(frame::PING, frame::PING_ANSWER), (frame::POLL_ON_DEMAND, frame::POLL_ANSWER)] {
        wire.send(&unhex(command)).await;
        assert_eq!(hex::encode_upper(wire.raw().await), answer);
    }
    assert_eq!(
        wire.ask(&unhex(frame::SERIAL)).await,
        Response { command: 0x12, status: 0, data: b"30003638".to_vec() }
    );
    let version = wire.ask(&unhex(frame::VERSION)).await;
    assert!(version.status == 0 && version.data.starts_with(b"SIM NEO2"));
    assert!(!wire.ask(&frame_of(0x29, 0x06, &[])).await.data.is_empty());
    assert_eq!(wire.ask(&frame_of(0x01, 0x02, &[1])).await, Response::empty(0x01, 0));
    assert_eq!(wire.ask(&frame_of(0x25, 0x03, &unhex("20250131"))).await, Response::empty(0x25, 0));
    assert_eq!(wire.ask(&frame_of(0x25, 0x01, &unhex("1234"))).await, Response::empty(0x25, 0));
    assert_eq!(wire.ask(&frame_of(0x81, 0x0A, &[])).await.data, TEST_KSN_SRED.with_counter(1).0);
    for (usage, ksn) in [(2, TEST_KSN_SRED), (1, TEST_KSN_PIN)] {
        let state = wire.ask(&frame_of(0x81, 0x0B, &[usage, 0, 0])).await.data;
        assert_eq!(state, [&[1, 10][..], &ksn.with_counter(1).0].concat());
    }
    assert_eq!(wire.ask(&frame_of(0x81, 0x0B, &[5, 0, 0])).await.data, [0xFF]);
    assert_eq!(wire.ask(&frame_of(0x81, 0x0B, &[2])).await, Response::empty(0x81, 0x05));
    assert_eq!(wire.ask(&frame_of(0x81, 0x0C, &[])).await.data, [1, 1, 2, 1]);
    assert_eq!(wire.ask(&frame_of(0xC7, 0xA3, &[])).await.data, [0]);
    assert_eq!(wire.ask(&frame_of(0xC7, 0x37, &[])).await.data, [3]);
    assert_eq!(wire.ask(&frame_of(0x61, 0x01, b"\x01Hello\nYou")).await, Response::empty(0x61, 0));
    assert_eq!(reader.display(), ["Hello", "You"]);
    assert_eq!(wire.ask(&frame_of(0x62, 0x05, b"REMOVE CARD")).await, Response::empty(0x62, 0));
    assert_eq!(reader.display(), ["REMOVE CARD"]);
    // The newer header is repeated.
    let mut newer = frame_of(0x18, 0x01, &[]);
    newer.truncate(newer.len() - 2);
    newer[..10].copy_from_slice(b"ViVOpayV3\0");
    newer.extend(crc(&newer).to_le_bytes());
    wire.send(&newer).await;
    assert!(wire.bytes(16).await.starts_with(b"ViVOpayV3\0\x18\0"));
    assert_eq!(reader.counters().faults, 0);
    assert_eq!(reader.counters().commands[..2], [0x1801, 0x0101]);
}

#[tokio::test]
async fn the_configuration_is_kept_and_used() {
    let (reader, mut wire) = reader(options()).await;
    assert_eq!(wire.ask(&frame_of(0x03, 0x02, &[])).await.hex(0x5F2A), "0826");
    assert_eq!(wire.ask(&frame_of(0x04, 0x02, &unhex("5F2A0209789F1A020250"))).await, Response::empty(0x04, 0));
    let kept = wire.ask(&frame_of(0x03, 0x02, &[])).await;
    assert_eq!((kept.hex(0x5F2A), kept.elements().len()), ("0978".to_owned(), 2));
    assert_eq!(wire.ask(&frame_of(0x04, 0x02, &[0x5F])).await, Response::empty(0x04, 0x07));
    assert_eq!(wire.ask(&frame_of(0x04, 0x02, &[])).await, Response::empty(0x04, 0x05));
    // The documented ACTIVATE names no currency and no date.
    wire.send(&unhex(frame::ACTIVATE)).await;
    reader.waits_for(WaitsFor::Card).await;
    reader.tap(named("tap"));
    let answer = wire.response().await;
    assert_eq!(
        (answer.hex(0x5F2A), answer.hex(0x9A), answer.hex(0x9F02)),
        ("0978".into(), "250131".into(), "000000000100".into())
    );
    assert!(answer.cryptogram_is_right(named("tap")));
}

#[tokio::test]
async fn damaged_frames_are_answered_by_their_fault() {
    let (reader, mut wire) = reader(options()).await;
    let mut wrong = frame_of(0x18, 0x01, &[]);
    wrong[15] ^= 0x04;
    assert_eq!(wire.ask(&wrong).await, Response::empty(0x18, 0x04));
    // The CRC of a command has its low byte first.
    let mut swapped = frame_of(0x18, 0x01, &[]);
    swapped.swap(14, 15);
    assert_eq!(wire.ask(&swapped).await, Response::empty(0x18, 0x04));
    let long = [HEADER, &[0x18, 0x01, 0xFF, 0xFF]].concat();
    assert_eq!(wire.ask(&long).await, Response::empty(0x18, 0x07));
    assert_eq!(reader.counters().faults, 3);
    // Garbage is dropped without a response, and a frame may arrive byte by byte.
    wire.send(b"\xFF\x00AT\r\nViVOt").await;
    for byte in unhex(frame::PING) {
        wire.send(&[byte]).await;
    }
    assert_eq!(wire.response().await, Response::empty(0x18, 0));
    wire.send(&[unhex(frame::PING), unhex(frame::SERIAL)].concat()).await;
    assert_eq!((wire.response().await.command, wire.response().await.command), (0x18, 0x12));
}

#[tokio::test]
async fn a_chip_pays_in_three_commands() {
    let (reader, mut wire) = reader(options()).await;
    let card = named("chip-pin");
    let answer = wire.insert(&reader, card).await;
    assert_eq!((answer.status, answer.hex(0xDFEE25)), (0, "0004".to_owned()));
    assert_eq!(answer.ksn(), TEST_KSN_SRED.with_counter(1));
    assert_eq!(
        (answer.hex(0xDFEE26), answer.hex(0x9F39), answer.hex(0xFFEE01)),
        ("E001".into(), "05".into(), "DFEE300101".into())
    );
    assert_eq!(answer.opened(0x57), "57114761739001010119D311220117589893890000000000");
    assert_eq!(answer.opened(0x5A), "5A084761739001010119000000000000");
    assert_eq!(hex::encode_upper(answer.find(0x5A, 0xA1).unwrap()), "476173CCCCCC0119");
    assert!(answer.find(0x57, 0).is_none() && answer.find(0x5A, 0).is_none());
    assert!(pin_is(&unhex(&answer.hex(0x99)), &unhex(&answer.hex(0xDFEE51)), "1234", card.pan));
    assert!(answer.cryptogram_is_right(card));
    let last = wire.ask_twice(&apply("00", &answer.approval(card))).await;
    assert_eq!(
        (last.status, last.hex(0xDFEE25), last.hex(0x8A), last.hex(0x9F27)),
        (0, "0002".into(), "3030".into(), "40".into())
    );
    assert!(last.find(0xDFEE12, 0).is_none() && last.cryptogram_is_right(card));
    let moments = reader.moments();
    assert!(moments.card_written.unwrap() < moments.continue_read.unwrap());
    assert_eq!(wire.ask(&apply("00", &[])).await, Response::empty(0x60, 0x0B));
    reader.remove();
    for (name, arc, right, result) in [
        ("chip-no-cvm", "00", false, "0002"),
        ("chip-scripts", "00", true, "0002"),
        ("chip-scripts", "00", false, "0003"),
        ("chip-refuses", "00", true, "0003"),
        ("chip-no-cvm", "Z1", false, "0003"),
    ] {
        let card = named(name);
        let answer = wire.insert(&reader, card).await;
        let tag_91 = if right { answer.approval(card) } else { Vec::new() };
        assert_eq!(wire.ask_twice(&apply(arc, &tag_91)).await.hex(0xDFEE25), result, "{name} {arc}");
        reader.remove();
    }
}

#[tokio::test]
async fn every_card_gives_the_documented_answer_at_every_entry() {
    for card in DECK {
        let (reader, mut wire) = reader(options()).await;
        reader.insert(card);
        let started = wire.ask_twice(&start_emv(0)).await;
        let fails = matches!(
            card.name,
            "chip-broken" | "chip-unsupported" | "blocked" | "tap-magstripe" | "tap-phone" | "swipe" | "swipe-pin"
        );
        assert_eq!((started.command, started.status), (0x60, if fails { 0x0A } else { 0x00 }), "{}", card.name);
        assert_eq!(started.hex(0xDFEE25).starts_with('3'), fails, "{}", card.name);
        if !fails {
            let answer = wire.ask_twice(&authenticate()).await;
            let result = match card.name {
                "chip-offline" => "0002",
                "chip-declines" => "0003",
                _ => "0004",
            };
            assert_eq!(answer.hex(0xDFEE25), result, "{}", card.name);
            assert!(answer.opened(0x5A).contains(card.pan) && answer.opened(0x57).contains(card.pan), "{}", card.name);
            assert!(answer.cryptogram_is_right(card), "{}", card.name);
        }
        reader.remove();
        let (reader, mut wire) = self::reader(options()).await;
        if card.tap != Tap::None {
            let answer = wire.tap(&reader, card).await;
            let (status, mode) = match card.name {
                "tap-insert" => (0x0A, None),
                "tap-magstripe" => (0x00, Some(("91", "F101"))),
                _ => (0x23, Some(("07", "E101"))),
            };
            assert_eq!((answer.command, answer.status), (0x02, status), "{}", card.name);
            if let Some((mode, attribution)) = mode {
                assert_eq!(
                    (answer.hex(0x9F39), answer.hex(0xDFEE26)),
                    (mode.into(), attribution.into()),
                    "{}",
                    card.name
                );
                assert!(answer.opened(0x57).contains(card.pan), "{}", card.name);
                assert_eq!(answer.find(0x9F26, 0).is_none(), card.name == "tap-magstripe");
            }
        }
        if card.stripe {
            wire.send(&activate(1, false)).await;
            reader.waits_for(WaitsFor::Card).await;
            reader.present(card, CardEntry::Swipe);
            let answer = wire.response().await;
            assert_eq!((answer.status, answer.hex(0x9F39), answer.hex(0xDFEE26)), (0, "90".into(), "E801".into()));
            assert_eq!(swiped(&answer).1, card.track2(), "{}", card.name);
        }
    }
}

/// Returns both decrypted tracks of a swipe, and checks the block.
fn swiped(answer: &Response) -> (String, String) {
    let block = answer.find(0xDFEE23, 0).unwrap();
    assert_eq!((block[0], block[block.len() - 1]), (0x02, 0x03));
    let inside = &block[3..block.len() - 3];
    assert_eq!(usize::from(u16::from_le_bytes([block[1], block[2]])), inside.len());
    assert_eq!(block[block.len() - 3], inside.iter().fold(0, |sum, byte| sum ^ byte));
    assert_eq!(block[block.len() - 2], inside.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)));
    let [one, two, three] = [2, 3, 4].map(|at| usize::from(inside[at]));
    assert_eq!(three, 0);
    let sealed = 7 + one + two;
    let middle = sealed + one.next_multiple_of(8);
    let end = middle + two.next_multiple_of(8);
    let text = |sealed: &[u8], length: usize| {
        let clear = answer.decrypt(sealed);
        assert!(clear[length..].iter().all(|byte| *byte == 0));
        String::from_utf8(clear[..length].to_vec()).unwrap()
    };
    assert_eq!(inside.len(), end + 2 * 20 + 10 + 10);
    assert_eq!(&inside[inside.len() - 10..], answer.ksn().0);
    (text(&inside[sealed..middle], one), text(&inside[middle..end], two))
}

#[tokio::test]
async fn a_swipe_is_a_block_with_masked_and_encrypted_tracks() {
    let (reader, mut wire) = reader(options()).await;
    let card = named("swipe");
    // Without a command, and without its interface, a swipe has no effect.
    reader.swipe(card);
    wire.send(&activate(6, false)).await;
    reader.waits_for(WaitsFor::Card).await;
    reader.swipe(card);
    assert_eq!(wire.ask(&unhex(frame::CANCEL)).await, Response::empty(0x05, 0));
    wire.send(&activate(7, false)).await;
    reader.waits_for(WaitsFor::Card).await;
    reader.swipe(card);
    let answer = wire.response().await;
    let (one, two) = swiped(&answer);
    assert!(one.starts_with("%B4500600000000061^TEST CARD/SWIPE^31121011758989389000000?"));
    assert_eq!((one.len(), two), (card.track1().len() + 1, card.track2()));
    let block = answer.find(0xDFEE23, 0).unwrap();
    let masked = String::from_utf8(block[10..10 + one.len() + card.track2().len()].to_vec()).unwrap();
    assert!(masked.starts_with("%*4500********0061^TEST CARD/SWIPE^3112*"), "{masked}");
    assert!(masked.contains(";4500********0061=3112****"), "{masked}");
    assert_eq!((answer.hex(0xFFEE01), answer.hex(0xDFEE25)), ("DFEE30010C".into(), "0011".into()));
    // The result can be asked for again, once.
    let again = wire.ask(&unhex(frame::RESULT)).await;
    assert_eq!((again.command, again.status, &again.data), (0x03, 0, &answer.data));
    assert_eq!(wire.ask(&unhex(frame::RESULT)).await, Response::empty(0x03, 0x0A));
}

#[tokio::test]
async fn a_failed_chip_may_be_swiped_in_the_same_command() {
    let (reader, mut wire) = reader(options()).await;
    for name in ["chip-broken", "chip-unsupported"] {
        wire.send(&activate(7, true)).await;
        reader.waits_for(WaitsFor::Card).await;
        reader.insert(named(name));
        reader
            .until(|screen| screen.lines.iter().any(|line| line.contains("PLEASE WAIT") || line.contains("SWIPE")))
            .await;
        reader.remove();
        assert_eq!(reader.display(), ["SWIPE CARD"]);
        reader.swipe(named(name));
        let answer = wire.response().await;
        assert_eq!((answer.command, answer.hex(0x9F39)), (0x02, "80".to_owned()), "{name}");
        assert_eq!(answer.hex(0xDFEE25), "0007");
        assert_eq!(swiped(&answer).1, named(name).track2());
        // The same with START.
        reader.insert(named(name));
        wire.send(&start_emv(1)).await;
        assert_eq!(wire.response().await, Response::empty(0x60, 0x63));
        reader.waits_for(WaitsFor::Card).await;
        reader.remove();
        reader.swipe(named(name));
        assert_eq!(wire.response().await.hex(0x9F39), "80");
    }
    // A blocked card may not be swiped.
    reader.insert(named("blocked"));
    assert_eq!(wire.ask_twice(&start_emv(1)).await.status, 0x0A);
}

#[tokio::test]
async fn activation_with_a_chip_starts_it() {
    let (reader, mut wire) = reader(options()).await;
    let card = named("chip-no-cvm");
    wire.send(&activate(7, true)).await;
    reader.waits_for(WaitsFor::Card).await;
    reader.insert(card);
    let started = wire.response().await;
    assert_eq!((started.command, started.status, started.hex(0xDFEE25)), (0x02, 0, "0010".to_owned()));
    assert_eq!(wire.ask_twice(&authenticate()).await.hex(0xDFEE25), "0004");
    // A host may also start the chip itself. A card in the slot is read at once.
    assert_eq!(wire.ask_twice(&start_emv(0)).await.hex(0xDFEE25), "0010");
    assert_eq!(wire.ask(&activate(4, false)).await.hex(0xDFEE25), "0010");
    // The card is taken out before AUTHENTICATE, or before the host's answer.
    reader.remove();
    assert_eq!(wire.ask_twice(&authenticate()).await.status, 0x0A);
    assert_eq!(wire.insert(&reader, card).await.hex(0xDFEE25), "0004");
    reader.remove();
    assert_eq!(wire.ask_twice(&apply("00", &[])).await.status, 0x0A);
    // START waits for the card, at most for its time.
    wire.send(&start_emv(0)).await;
    assert_eq!(wire.response().await, Response::empty(0x60, 0x63));
    reader.waits_for(WaitsFor::Card).await;
    reader.tap(named("tap"));
    reader.wait_too_long();
    assert_eq!(wire.response().await, Response::empty(0x60, 0x08));
}

#[tokio::test]
async fn taps_pay_with_and_without_a_pin() {
    let (reader, mut wire) = reader(options()).await;
    for (counter, name) in [(1, "tap"), (2, "tap-pin"), (3, "tap-phone"), (4, "debit")] {
        let card = named(name);
        let answer = wire.tap(&reader, card).await;
        assert_eq!((answer.status, answer.ksn()), (0x23, TEST_KSN_SRED.with_counter(counter)), "{name}");
        assert!(answer.cryptogram_is_right(card));
        assert_eq!(answer.find(0x99, 0).is_some(), name == "tap-pin");
        if name == "tap-pin" {
            assert!(pin_is(&unhex(&answer.hex(0x99)), &unhex(&answer.hex(0xDFEE51)), "1234", card.pan));
        }
    }
    assert_eq!(wire.ask(&apply("00", &[])).await, Response::empty(0x60, 0x0B), "a tapped card is gone");
    // Without the antenna, a tap has no effect.
    wire.send(&activate(5, false)).await;
    reader.waits_for(WaitsFor::Card).await;
    reader.tap(named("tap"));
    reader.tap(named("tap-insert"));
    reader.wait_too_long();
    assert_eq!(wire.response().await, Response::empty(0x02, 0x08));
}

#[tokio::test]
async fn a_cancel_and_the_card_race_in_both_orders() {
    let (reader, mut wire) = reader(options()).await;
    wire.send(&activate(7, false)).await;
    reader.waits_for(WaitsFor::Card).await;
    // The cancelled command gets no response.
    assert_eq!(wire.ask(&unhex(frame::CANCEL)).await, Response::empty(0x05, 0));
    assert_eq!(wire.ask(&unhex(frame::PING)).await, Response::empty(0x18, 0));
    reader.plan_abort(AbortRace::CardWins(named("tap")));
    wire.send(&activate(7, false)).await;
    reader.waits_for(WaitsFor::Card).await;
    assert_eq!(wire.ask(&unhex(frame::CANCEL)).await.status, 0x23);
    assert_eq!(wire.response().await, Response::empty(0x05, 0));
    assert_eq!(wire.ask(&unhex(frame::CANCEL)).await, Response::empty(0x05, 0));
    // The customer cancels.
    wire.send(&activate(7, false)).await;
    reader.waits_for(WaitsFor::Card).await;
    reader.key(Key::Cancel);
    assert_eq!(wire.response().await.status, 0x0A);
    // Another version answers the cancelled command too, and a third has no attribution byte.
    let neo2 = Neo2Settings { answers_cancelled: true, activate_has_two_responses: true, ..Neo2Settings::default() };
    let (reader, mut wire) = self::reader(Options { neo2, ..options() }).await;
    wire.send(&activate(7, false)).await;
    assert_eq!(wire.response().await, Response::empty(0x02, 0x63));
    reader.waits_for(WaitsFor::Card).await;
    assert_eq!(wire.ask(&unhex(frame::CANCEL)).await, Response::empty(0x05, 0));
    let ended = wire.response().await;
    assert_eq!((ended.command, ended.status, ended.find(0xFFEE1F, 0).map(|data| data.len())), (0x02, 0x0A, Some(4)));
    let neo2 = Neo2Settings { attributes: false, shows_service_code: true, ..Neo2Settings::default() };
    let (reader, mut wire) = self::reader(Options { neo2, ..options() }).await;
    let answer = wire.tap(&reader, named("tap")).await;
    assert!(answer.data.starts_with(&[0xDF, 0xEE, 0x25]) && answer.cryptogram_is_right(named("tap")));
    wire.send(&activate(1, false)).await;
    reader.waits_for(WaitsFor::Card).await;
    reader.swipe(named("swipe"));
    let block = wire.response().await.find(0xDFEE23, 0).unwrap();
    assert!(block.windows(16).any(|shown| shown == b"0061=3112101****"));
}

#[tokio::test]
async fn a_pin_is_a_text_of_hexadecimal_digits() {
    let (reader, mut wire) = reader(options()).await;
    let pan = "6799998900000074316";
    let state = |answer: &Response| (answer.command, answer.status, answer.data.first().copied());
    // The reader has no card of its own yet.
    assert_eq!(state(&wire.ask_twice(&encrypted_pin(0x01, "", 12, 4)).await), (0x62, 0x0A, Some(0x04)));
    let answer = wire.ask_twice(&encrypted_pin(0x11, pan, 12, 4)).await;
    assert_eq!((state(&answer), answer.data.len()), ((0x62, 0, Some(0x00)), 1 + 20 + 16));
    let text = |range: std::ops::Range<usize>| hex::decode(&answer.data[range]).unwrap();
    assert!(pin_is(&text(21..37), &text(1..21), "1234", pan));
    // The card of the last swipe.
    wire.send(&activate(1, false)).await;
    reader.waits_for(WaitsFor::Card).await;
    reader.swipe(named("swipe-pin"));
    assert_eq!(wire.response().await.status, 0);
    let answer = wire.ask_twice(&encrypted_pin(0x01, "", 12, 4)).await;
    let text = |range: std::ops::Range<usize>| hex::decode(&answer.data[range]).unwrap();
    assert!(pin_is(&text(21..37), &text(1..21), "1234", named("swipe-pin").pan));
    for (plan, expected) in [(PinPlan::Bypass, 0x00), (PinPlan::Cancel, 0x01)] {
        reader.plan_pin(plan);
        assert_eq!(wire.ask_twice(&encrypted_pin(0x11, pan, 12, 4)).await.data, [expected]);
    }
    for (kind, wrong, most, least, expected) in
        [(0x11, "47AA", 12, 4, 0x04), (0x11, pan, 3, 4, 0x03), (0x05, pan, 12, 4, 0x04)]
    {
        assert_eq!(wire.ask_twice(&encrypted_pin(kind, wrong, most, least)).await.data, [expected], "{kind} {wrong}");
    }
    // The host cancels, in both orders.
    reader.plan_pin(PinPlan::Hesitate);
    wire.send(&encrypted_pin(0x11, pan, 12, 4)).await;
    reader.waits_for(WaitsFor::Pin).await;
    assert_eq!(wire.response().await, Response::empty(0x62, 0x63));
    assert_eq!(wire.ask(&unhex(frame::PING)).await, Response::empty(0x18, 0x0B));
    assert_eq!(wire.ask(&frame_of(0x62, 0x00, &[])).await, Response::empty(0x62, 0));
    assert_eq!(wire.response().await, Response { command: 0x62, status: 0x0A, data: vec![0x02] });
    let pace = Pace { key: Duration::from_secs(3600), ..Pace::INSTANT };
    let slow = Options { pace, race: AbortRace::CardWins(named("tap")), ..options() };
    let (reader, mut wire) = self::reader(slow).await;
    wire.send(&encrypted_pin(0x11, pan, 12, 4)).await;
    reader.waits_for(WaitsFor::Pin).await;
    assert_eq!(wire.response().await, Response::empty(0x62, 0x63));
    assert_eq!(wire.ask(&frame_of(0x62, 0x00, &[])).await.data.len(), 37);
    assert_eq!(wire.response().await, Response::empty(0x62, 0));
    // Without a key, or without a key that is left.
    let (_keyless, mut wire) = self::reader(Options { pin_key: false, ..options() }).await;
    assert_eq!(wire.ask_twice(&encrypted_pin(0x11, pan, 12, 4)).await.data, [0x05]);
    let worn = Dukpt::Tdes { card: TEST_KSN_SRED, pin: TEST_KSN_PIN.with_keys_left(0) };
    let (_worn, mut wire) = self::reader(Options { dukpt: worn, ..options() }).await;
    assert_eq!(wire.ask_twice(&encrypted_pin(0x11, pan, 12, 4)).await.data, [0x06]);
}

#[tokio::test]
async fn the_chip_checks_a_pin_within_authenticate() {
    let (reader, mut wire) = reader(options()).await;
    let answer = wire.insert(&reader, named("chip-offline-pin")).await;
    assert_eq!((answer.hex(0x9F34), answer.find(0x99, 0)), ("440302".to_owned(), None));
    reader.remove();
    reader.plan_pin(PinPlan::Cancel);
    assert_eq!(wire.insert(&reader, named("chip-pin")).await.status, 0x0A);
    reader.remove();
    reader.plan_pin(PinPlan::Hesitate);
    reader.insert(named("chip-pin"));
    assert_eq!(wire.ask_twice(&start_emv(0)).await.status, 0);
    wire.send(&authenticate()).await;
    reader.waits_for(WaitsFor::Pin).await;
    reader.remove();
    assert_eq!(wire.second(0x60).await.status, 0x0A);
}

#[tokio::test]
async fn a_kernel_text_waits_for_the_host() {
    let neo2 = Neo2Settings { sends_texts: true, ..Neo2Settings::default() };
    let (reader, mut wire) = reader(Options { neo2, ..options() }).await;
    reader.insert(named("chip-no-cvm"));
    assert_eq!(wire.ask_twice(&start_emv(0)).await.status, 0);
    wire.send(&authenticate()).await;
    assert_eq!(wire.response().await, Response::empty(0x60, 0x63));
    let text = wire.raw().await;
    assert_eq!((text[10], text[11], &text[HEAD + 1..text.len() - 2]), (0x61, 0x01, &b"PLEASE WAIT"[..]));
    assert_eq!(wire.ask(&unhex(frame::PING)).await, Response::empty(0x18, 0x0B));
    assert_eq!(wire.ask(&frame_of(0x61, 0x01, &[0])).await.hex(0xDFEE25), "0004");
}

#[tokio::test]
async fn a_card_number_is_typed() {
    let (reader, mut wire) = reader(options()).await;
    let ask = frame_of(0x83, 0x41, &[0, 30, 0, 1]);
    for digits in ["4111111111111111", "3112", "123"] {
        reader.next_number(digits);
    }
    let answer = wire.ask(&ask).await;
    assert_eq!((answer.command, answer.status, answer.hex(0x5F24)), (0x83, 0, "311231".to_owned()));
    assert_eq!(answer.opened(0x5A), "5A084111111111111111000000000000");
    assert_eq!(hex::encode_upper(answer.find(0x5A, 0xA1).unwrap()), "411111CCCCCC1111");
    assert!(!answer.data.windows(3).any(|three| three == b"123"));
    reader.next_number("4111");
    assert_eq!(wire.ask(&ask).await.status, 0x0A);
    wire.send(&ask).await;
    reader.waits_for(WaitsFor::Number).await;
    assert_eq!(wire.ask(&unhex(frame::CANCEL)).await, Response::empty(0x05, 0));
    assert_eq!(wire.ask(&unhex(frame::PING)).await, Response::empty(0x18, 0));
}

#[tokio::test]
async fn commands_out_of_turn_are_refused() {
    let (reader, mut wire) = reader(options()).await;
    for (frame, status) in [
        (frame_of(0x99, 0x01, &[]), 0x02),
        (frame_of(0x18, 0x77, &[]), 0x03),
        (frame_of(0x60, 0x06, &[]), 0x06),
        (frame_of(0x01, 0x01, &[2]), 0x05),
        (frame_of(0x01, 0x01, &[]), 0x05),
        (frame_of(0x02, 0x40, &[]), 0x05),
        (frame_of(0x02, 0x40, &unhex("1E9C0100")), 0x05),
        (frame_of(0x02, 0x40, &unhex("1E9C01009F0206000000000100DFEF370100")), 0x05),
        (frame_of(0x60, 0x10, &unhex("00001E")), 0x05),
        (frame_of(0x60, 0x11, &[]), 0x0B),
        (frame_of(0x60, 0x12, &unhex("8A023030")), 0x0B),
        (frame_of(0x60, 0x12, &unhex("910112")), 0x05),
        (frame_of(0x62, 0x01, &unhex("0100")), 0x05),
        (frame_of(0x83, 0x41, &[0]), 0x05),
        (frame_of(0x61, 0x01, &[0]), 0x05),
    ] {
        let command = frame[10];
        assert_eq!(wire.ask(&frame).await, Response::empty(command, status), "{}", hex::encode(&frame));
    }
    // One command at a time.
    wire.send(&activate(7, false)).await;
    reader.waits_for(WaitsFor::Card).await;
    for frame in [unhex(frame::PING), activate(7, false), start_emv(0)] {
        assert_eq!(wire.ask(&frame).await.status, 0x0B);
    }
    assert_eq!(wire.ask(&unhex(frame::CANCEL)).await, Response::empty(0x05, 0));
    // A reader that polls by itself cannot be activated.
    assert_eq!(wire.ask(&frame_of(0x01, 0x01, &[0])).await, Response::empty(0x01, 0));
    assert_eq!(wire.ask(&activate(7, false)).await, Response::empty(0x02, 0x0B));
}

#[tokio::test]
async fn a_reader_can_be_bad() {
    let (reader, mut wire) = reader(Options { secured: false, ..options() }).await;
    let answer = wire.tap(&reader, named("tap")).await;
    assert_eq!(answer.hex(0x5A), named("tap").pan);
    assert!(answer.find(0xDFEE12, 0).is_none());
    wire.send(&activate(1, false)).await;
    reader.waits_for(WaitsFor::Card).await;
    reader.swipe(named("swipe"));
    assert!(wire.response().await.find(0x5F22, 0).is_some());
    assert_eq!(wire.ask(&frame_of(0x81, 0x0A, &[])).await, Response::empty(0x81, 0x0A));
    assert_eq!(wire.ask(&frame_of(0xC7, 0x37, &[])).await.data, [0]);
    let (cheat, mut wire) = self::reader(Options { amount_override: Some(1), ..options() }).await;
    let answer = wire.tap(&cheat, named("tap")).await;
    assert!(answer.hex(0x9F02) == "000000000001" && answer.cryptogram_is_right(named("tap")));
    let (worn, mut wire) = self::reader(Options { dukpt: Dukpt::TDES.with_keys_left(1), ..options() }).await;
    assert_eq!(wire.tap(&worn, named("tap")).await.status, 0x23);
    assert_eq!(wire.ask(&activate(7, false)).await.status, 0x0A);
    let (aes, mut wire) = self::reader(Options { dukpt: Dukpt::AES, ..options() }).await;
    let answer = wire.tap(&aes, named("tap")).await;
    assert_eq!((answer.hex(0xDFEE26), answer.find(0xDFEE12, 0).map(|ksn| ksn.len())), ("E301".to_owned(), Some(12)));
    assert_eq!(answer.find(0x5A, 0xC1).map(|sealed| sealed.len()), Some(16));
    // A damaged answer, and a lost one.
    let (spoiled, mut wire) = self::reader(options()).await;
    spoiled.run_script("on frame 1: spoil\non frame 2: silent".parse::<Script>().unwrap());
    wire.send(&unhex(frame::PING)).await;
    assert_ne!(hex::encode_upper(wire.raw().await), frame::PING_ANSWER);
    wire.send(&unhex(frame::PING)).await;
    assert_eq!(wire.ask(&unhex(frame::SERIAL)).await.command, 0x12);
}

#[tokio::test]
async fn a_flood_is_of_frames() {
    let (reader, mut wire) = reader(Options { fragment: Some(50), ..options() }).await;
    for (kind, command, status) in [("status", 0x01, 0x0E), ("cards", 0x02, 0x00), ("answers", 0x18, 0x00)] {
        reader.run_script(format!("after 0ms: flood {kind}").parse::<Script>().unwrap());
        for _ in 0..100 {
            let response = wire.response().await;
            assert_eq!((response.command, response.status), (command, status), "{kind}");
        }
        reader.run_script("after 0ms: flood nothing".parse::<Script>().unwrap());
        let mut last = wire.ask(&unhex(frame::SERIAL)).await;
        while last.command != 0x12 {
            last = wire.response().await;
        }
    }
}

#[tokio::test]
async fn a_script_drives_a_sale_and_a_reboot_forgets_it() {
    let text = "on waiting 1: insert chip-choice\non choice: choose 2\non waiting 2: tap tap-pin\non pin: type 9999";
    let (reader, mut wire) = reader(Options { script: text.parse().unwrap(), ..options() }).await;
    assert_eq!(wire.ask(&activate(7, false)).await.find(0x50, 0), Some(b"VISA ELECTRON".to_vec()));
    assert_eq!(wire.ask_twice(&authenticate()).await.hex(0xDFEE25), "0004");
    assert_eq!(wire.ask_twice(&apply("00", &[])).await.hex(0xDFEE25), "0003");
    reader.remove();
    let answer = wire.ask(&activate(7, false)).await;
    assert!(pin_is(&unhex(&answer.hex(0x99)), &unhex(&answer.hex(0xDFEE51)), "9999", named("tap-pin").pan));
    wire.send(&activate(7, false)).await;
    reader.waits_for(WaitsFor::Card).await;
    reader.reboot();
    reader.until(|screen| screen.lines == ["WELCOME"]).await;
    assert_eq!(wire.ask(&unhex(frame::PING)).await, Response::empty(0x18, 0), "the running command is lost");
    // The same over TCP.
    let tcp = Some("127.0.0.1:0".parse().unwrap());
    let reader = start(Options { tcp, ..options() }).await.unwrap();
    let mut wire = Wire(tokio::net::TcpStream::connect(reader.place()).await.unwrap());
    assert_eq!(wire.ask(&unhex(frame::PING)).await, Response::empty(0x18, 0));
}
