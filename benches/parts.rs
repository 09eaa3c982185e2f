//! The small parts of every sale: walking through TLV, decoding packets, encoding forms. `sale.rs` measures the whole
//! sale.

#![allow(missing_docs, reason = "criterion's macros make public functions")]

use std::hint::black_box;
use std::time::SystemTime;

use criterion::{Criterion, criterion_group, criterion_main};
use pos_agent::config::Config;
use pos_core::transaction::{Order, Record};
use pos_gateway::{CardPayment, Client, Token};
use pos_journal::Db;
use pos_reader_link::apdu_link::Decoder;
use pos_sim::gateway as sim;
use pos_terms::card::{CardFacts, EntryMode, FirstAnswer, Presented, SealedCard, Wiped};
use pos_terms::emv::tlv;
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Kind, Operation, Reference, SaleNumber};

/// The 136-byte field 55 of the vector e2e-field55-cvn18.
const FIELD_55: &str = "5F2A0201245F340100820218008407A0000000031010950580000480009A031911059C01019F02060000000040009F0306\
    0000000000009F0902008C9F100706011203A0B8009F1A0201249F1E0831323334353637389F26087A788EA6B8A3E7339F2701809F3303E0F8C89F3403\
    4103029F3501229F3602001C9F370452BF45859F410400000001";

/// A captured contactless E4 (readers: 2.13) in two packets.
const TWO_PACKETS: &str = "0101FEE4820123500D5649534120454C454354524F4E5F20175649534120434445542032312F434152443035202020205F2A\
    0208405F340111820200008407A00000000320109A031505119C01009F02060000000006959F0607A00000000320109F090200019F100706011103A000\
    009F1A0200569F1C0831323334353637389F1E0831303030333236389F260852A5A96394EDA96D9F2701809F3303E0B8C89F3501229F360200069F3704\
    A4428D7A9F410400000289DF280100DF30020301DFAE021885D6E511F8844CEA0DC72883180AC081AF4593A8A3C5FDD8DFAE030AFFFF0102628D110000\
    5EDFAE5712476173FFFFFFFFF2234D151220114524040FDFD001002BAE021892FC2C940487F43AC64AB3DFD54C7B72F445FE409D80FDF5DFAE030AFFFF\
    0102628D1100005F900025";

fn bytes(hex: &str) -> Vec<u8> {
    hex::decode(hex.replace(' ', "")).expect("typed in hex")
}

fn tlv_walk(criterion: &mut Criterion) {
    let field = bytes(FIELD_55);
    assert_eq!((field.len(), tlv::walk(&field).flatten().count()), (136, 21));
    criterion.bench_function("TLV walk, field 55 of 136 bytes, 21 objects", |bencher| {
        bencher.iter(|| tlv::walk(black_box(&field)).flatten().fold(0, |sum, tlv| sum + tlv.value.len()));
    });
}

fn packet_decode(criterion: &mut Criterion) {
    let packets = bytes(TWO_PACKETS);
    criterion.bench_function("packet decode, E4 of 293 bytes in two packets", |bencher| {
        bencher.iter(|| {
            let (mut decoder, mut messages) = (Decoder::default(), 0);
            decoder.feed(black_box(&packets), |_| messages += 1);
            messages
        });
    });
}

fn form_encoding(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the system has threads");
    let gateway = runtime.block_on(sim::start(sim::Options::default())).expect("a free port");
    let client = client(&gateway);
    let presented = presented();
    let payment = CardPayment {
        amount: Amount::from_minor(1234, Currency::from_code("EUR").expect("EUR is a currency")).expect("not zero"),
        merchant_transaction_id: "12345678-7-00112233445566778899aabbccddeeff",
        sequence_number: SaleNumber::new(7),
        device_serial: "30003638",
        kind: Kind::Sale,
        parameters: &[],
        pin_entry: true,
        presented: &presented,
    };
    criterion.bench_function("form encoding, chip sale", |bencher| {
        bencher.iter(|| client.prepare(black_box(&payment)).is_ok());
    });
}

/// Returns a client for the simulated gateway. It sends no request.
fn client(gateway: &sim::Gateway) -> Client {
    let folder = tempfile::tempdir().expect("a writable temporary folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a writable temporary folder");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&path, mode).expect("our own file");
        path.display().to_string()
    };
    let text = format!(
        "[terminal]\nid = \"12345678\"\nmerchant = [\"Shop\"]\ncurrency = \"EUR\"\n[reader]\nprotocol = \"miura-mpi\"\n\
         port = \"/dev/null\"\n[gateway]\nurl = \"{}\"\nentity-id = \"{}\"\ntoken-file = \"{}\"\nca-file = \"{}\"\n",
        gateway.base_url(),
        gateway.entity_id(),
        file("token", gateway.token()),
        file("ca.pem", gateway.ca_pem()),
    );
    let config: Config = toml::from_str(&text).expect("the keys are those of the README");
    let token = Token::load(&config.gateway).expect("written above");
    Client::new(&config.gateway, &config.terminal.point_of_sale(), token, SystemTime::UNIX_EPOCH)
        .expect("written above")
}

fn presented() -> Presented {
    let sealed = |length| Wiped::copy_of(&vec![0xA5; length]).expect("shorter than the buffer");
    let field = bytes(FIELD_55);
    Presented {
        facts: CardFacts::from_tlvs(EntryMode::Icc, None, &field).expect("a vector"),
        card: SealedCard { data: sealed(32), ksn: Wiped::copy_of(&[0x11; 10]).expect("fits") },
        pin: None,
        icc: Wiped::copy_of(&field).expect("fits"),
        first_answer: FirstAnswer::GoOnline,
    }
}

/// Measures the first two steps of a sale on a memory file system, which is the cost of the journal without the disk.
fn journal_commit(criterion: &mut Criterion) {
    let folder = tempfile::tempdir_in("/dev/shm").expect("a memory file system");
    let (mut db, _) = Db::open(&folder.path().join("journal.db")).expect("a writable folder");
    let mut number = 0;
    criterion.bench_function("journal, two commits in memory", |bencher| {
        bencher.iter(|| {
            number += 1;
            let order = Order {
                account: None,
                operation: Operation::Sale,
                parameters: Vec::new(),
                number: SaleNumber::new(number),
                till: "till-1".to_owned(),
                reference: Reference::parse(format!("R{number}")).expect("one"),
                by: None,
                amount: Amount::from_minor(1234, Currency::from_code("EUR").expect("a currency")).expect("not zero"),
                ask_tip: false,
                manual: false,
                chip_alone: false,
                accept_partial: false,
                till_confirms: None,
                gives_rest: false,
                till_prints: false,
                till_data: Default::default(),
                tip: None,
                training: None,
                terminal_id: "12345678".to_owned(),
                merchant_transaction_id: format!("12345678-{number}-00112233445566778899aabbccddeeff"),
                started_unix_ms: 1_800_000_000_000,
                local_time: "2027-01-15 09:00:00".to_owned(),
            };
            db.write(SaleNumber::new(number), 0, 0, &[Record::Started { order }]).expect("written");
            let asked = Record::Asked { card: Some(presented().facts), again_unix_ms: None };
            db.write(SaleNumber::new(number), 1, 0, &[asked]).expect("written");
            // This is about as often as in the agent, which does it every ten sales or so.
            if number % 20 == 0 {
                db.checkpoint().expect("written");
            }
        });
    });
}

criterion_group!(parts, tlv_walk, packet_decode, form_encoding, journal_commit);
criterion_main!(parts);
