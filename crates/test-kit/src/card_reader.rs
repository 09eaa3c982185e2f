//! A card reader with one test card, as bytes: its encrypted data and the chip's answers. It is for tests that talk to
//! the simulated gateway without a reader's protocol.

use pos_sim::keys::cryptogram::{CardKey, Issuer};
use pos_sim::keys::pin_block::{Pin, encrypt_0};
use pos_sim::keys::tdes_dukpt::{Device, Usage, initial_key};
use pos_sim::keys::{Ksn, TEST_BDK_PIN, TEST_BDK_SRED, TEST_IMK_AC, TEST_KSN_PIN, TEST_KSN_SRED, ZERO_IV};

pub const PAN: &str = "4761739001010119";
const TAG_57: &str = "57124761739001010119D311220112345678900F";

/// The reader with its card (PAN sequence number 1).
pub struct Reader {
    sred: Device,
    pin: Device,
    pub card: CardKey,
    /// The card's transaction counter (ATC) in its last transaction.
    pub atc: u16,
    /// The PIN that the cardholder types; the right PIN is 1234.
    pub typed_pin: &'static str,
}

/// A ciphertext and its KSN.
pub struct Sealed {
    pub data: Vec<u8>,
    pub ksn: Vec<u8>,
}

/// The data of a chip transaction with online PIN.
pub struct ChipRead {
    pub card: Sealed,
    pub pin: Sealed,
    pub icc: Vec<u8>,
}

impl Reader {
    pub fn new() -> Self {
        let device = |bdk, ksn: Ksn| Device::new(&initial_key(bdk, ksn), ksn);
        Self {
            sred: device(&TEST_BDK_SRED, TEST_KSN_SRED),
            pin: device(&TEST_BDK_PIN, TEST_KSN_PIN),
            card: Issuer::new(TEST_IMK_AC).card_key(PAN, 1).unwrap(),
            atc: 0,
            typed_pin: "1234",
        }
    }

    /// Makes the chip sign `minor` units of the currency with this ISO 4217 number.
    pub fn chip(&mut self, minor: u64, numeric: u16) -> ChipRead {
        self.atc += 1;
        let fields = format!(
            "5F2A02{numeric:04}5F340101820218008407A0000000031010950580000480009A032611209C01009F0206{minor:012}\
             9F03060000000000009F100706011203A0B8009F1A0202809F2701809F34034203009F3602{:04X}9F370452BF4585",
            self.atc
        );
        let mut icc = hex::decode(fields).unwrap();
        let arqc = self.card.cryptogram(&icc).unwrap();
        icc.extend([0x9F, 0x26, 8]);
        icc.extend(arqc);
        let card = self.tap();
        ChipRead { card, pin: self.pin(self.typed_pin, PAN), icc }
    }

    /// Encrypts a typed PIN for this card number.
    pub fn pin(&mut self, typed: &str, pan: &str) -> Sealed {
        let (ksn, key) = self.pin.next().unwrap();
        let block = encrypt_0(&key.working(Usage::Pin), &Pin::new(typed).unwrap(), pan).unwrap();
        Sealed { data: block.to_vec(), ksn: ksn.0.to_vec() }
    }

    /// Encrypts the track 2 equivalent data.
    pub fn tap(&mut self) -> Sealed {
        self.seal(&hex::decode(TAG_57).unwrap())
    }

    /// Encrypts both tracks with this service code.
    pub fn swipe(&mut self, service_code: &str) -> Sealed {
        let track1 = format!("%B{PAN}^TEST CARD^3112{service_code}1234567890000000?");
        let mut track2 = format!(";{PAN}=3112{service_code}1234567890?");
        track2.push(char::from(0x30 + track2.bytes().fold(0, |lrc, c| lrc ^ (c & 0x0F))));
        self.stripe(&track1, &track2)
    }

    /// Encrypts these tracks.
    pub fn stripe(&mut self, track1: &str, track2: &str) -> Sealed {
        let mut clear = vec![0x5F, 0x21, u8::try_from(track1.len()).unwrap()];
        clear.extend(track1.bytes());
        clear.extend([0x5F, 0x22, u8::try_from(track2.len()).unwrap()]);
        clear.extend(track2.bytes());
        self.seal(&clear)
    }

    /// Encrypts any bytes.
    pub fn seal(&mut self, clear: &[u8]) -> Sealed {
        let (ksn, key) = self.sred.next().unwrap();
        let data = key.working(Usage::DataRequest).cbc_encrypt_zero_padded(&ZERO_IV, clear);
        Sealed { data, ksn: ksn.0.to_vec() }
    }
}
