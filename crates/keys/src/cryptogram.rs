//! Application cryptograms of EMV cards (ARQC, TC, AAC) and the issuer's answer to them (ARPC, tag 91).
//!
//! The card and its issuer have the same key, so one [`CardKey`] serves both simulators. Two Visa versions are
//! supported. The cryptogram version number (CVN) in the issuer application data 9F10, `06 KDI CVN 03 CVR(3)`, selects
//! one. The CVN is always given here as a byte, because documents quote it in decimal or in hex (security: 1.5):
//!
//! | CVN | key | data | padding | answer in tag 91 |
//! |---|---|---|---|---|
//! | 0A (CVN 10) | card key | ten fields, CVR | zero | ARPC method 1 (8), ARC (2) |
//! | 12 (CVN 18) | session key of the ATC | ten fields, whole 9F10 | 80 | ARPC method 2 (4), CSU (4) |

use subtle::ConstantTimeEq;

use super::tdes::{Key, Padding, xor};
use pos_terms::emv::{Tag, TlvError, tag, tlv};

/// A CSU with "issuer approves online transaction" set (EMV Book 3, C10: byte 2, bit 8).
pub const CSU_APPROVED: [u8; 4] = [0x00, 0x80, 0x00, 0x00];

/// A CSU that approves nothing and requests nothing from the card.
pub const CSU_DECLINED: [u8; 4] = [0; 4];

/// Maximum number of bytes in the data of a cryptogram: the ten fields (35) and a whole 9F10 (32).
const MAX_DATA: usize = 67;

/// The reason why a list of TLVs has no valid cryptogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CryptogramError {
    /// The list is not BER-TLV.
    #[error("the chip data cannot be read: {0}")]
    Tlv(#[from] TlvError),
    /// A field that the cryptogram covers is missing.
    #[error("the chip data lacks tag {tag}")]
    Missing {
        /// The field.
        tag: Tag,
    },
    /// A field that the cryptogram covers occurs twice.
    #[error("the chip data holds tag {tag} twice")]
    Repeated {
        /// The field.
        tag: Tag,
    },
    /// A field has the wrong length for the cryptogram.
    #[error("tag {tag} of the chip data has {found} bytes")]
    Length {
        /// The field.
        tag: Tag,
        /// The length in bytes.
        found: usize,
    },
    /// The cryptogram version is not simulated.
    #[error("cryptogram version {cvn:02X} (hex) is not simulated; 0A and 12 are")]
    UnknownVersion {
        /// The CVN byte.
        cvn: u8,
    },
    /// The PAN does not have 8 to 19 digits, or the PAN sequence number is above 99.
    #[error("the card has no valid PAN and PAN sequence number")]
    BadCard,
}

/// An issuer with the master key for the keys of its cards.
#[derive(Debug)]
pub struct Issuer {
    master: Key,
}

impl Issuer {
    /// Creates an issuer with the master key `imk` for application cryptograms.
    #[must_use]
    pub fn new(imk: Key) -> Self {
        Self { master: imk }
    }

    /// Derives by option A the key of the card with this PAN and PAN sequence number. The sequence number is 0 to 99,
    /// or 0 if the card has none.
    ///
    /// # Errors
    /// Returns [`CryptogramError::BadCard`].
    pub fn card_key(&self, pan: &str, psn: u8) -> Result<CardKey, CryptogramError> {
        let digits = pan_and_psn(pan, psn)?;
        Ok(self.diversified(option_a(&digits)))
    }

    /// Derives the same key by option B, which differs from option A only for PANs of more than 16 digits (EMV Book 2,
    /// A1.4.2). The issuer of such PANs chooses the option, and card and issuer must use the same one.
    ///
    /// # Errors
    /// Returns [`CryptogramError::BadCard`].
    pub fn card_key_b(&self, pan: &str, psn: u8) -> Result<CardKey, CryptogramError> {
        let digits = pan_and_psn(pan, psn)?;
        Ok(self.diversified(if pan.len() > 16 { option_b(&digits) } else { option_a(&digits) }))
    }

    fn diversified(&self, y: [u8; 8]) -> CardKey {
        let key = Key::from_halves(self.master.encrypt_block(y), self.master.encrypt_block(y.map(|byte| !byte)));
        CardKey(key.odd_parity())
    }
}

/// The key that a card and its issuer share (ICC master key for application cryptograms).
#[derive(Clone, Debug)]
pub struct CardKey(Key);

impl CardKey {
    /// Computes the application cryptogram over the fields in `tlvs`, at any depth. ARQC, TC and AAC are computed in
    /// the same way, and differ only by the CVR in 9F10. A missing 9F03 counts as zero, because the terminal sent the
    /// card zeros for it (EMV Book 3, 5.4).
    ///
    /// # Errors
    /// Fails if a field is missing, repeated or of the wrong length, or if the CVN is not one of those above.
    pub fn cryptogram(&self, tlvs: &[u8]) -> Result<[u8; 8], CryptogramError> {
        let transaction = Transaction::read(tlvs)?;
        Ok(match transaction.version {
            Version::Visa10 => self.cryptogram_10(&transaction.data),
            Version::Visa18 => self.cryptogram_18(transaction.atc, &transaction.data),
        })
    }

    /// Returns, for the issuer, whether the cryptogram 9F26 in `tlvs` matches the other fields.
    ///
    /// # Errors
    /// Fails like [`Self::cryptogram`], and if 9F26 is missing.
    pub fn verify(&self, tlvs: &[u8]) -> Result<bool, CryptogramError> {
        let said = sole::<8>(tlvs, tag::APPLICATION_CRYPTOGRAM)?;
        Ok(bool::from(self.cryptogram(tlvs)?.ct_eq(&said)))
    }

    /// Computes, for the issuer, the value of tag 91 that answers the ARQC 9F26 in `tlvs`. CVN 0A uses the response
    /// code `arc`, and CVN 12 uses the card status update `csu`.
    ///
    /// # Errors
    /// Fails like [`Self::verify`].
    pub fn issuer_authentication(&self, tlvs: &[u8], arc: [u8; 2], csu: [u8; 4]) -> Result<Tag91, CryptogramError> {
        let transaction = Transaction::read(tlvs)?;
        let arqc = sole::<8>(tlvs, tag::APPLICATION_CRYPTOGRAM)?;
        Ok(match transaction.version {
            Version::Visa10 => self.arpc_1(arqc, arc).into_iter().chain(arc).collect(),
            Version::Visa18 => self.arpc_2(transaction.atc, arqc, csu, &[]).into_iter().chain(csu).collect(),
        })
    }

    /// Returns, for the card, whether `tag_91` answers the ARQC 9F26 in `tlvs` and comes from the issuer. The caller
    /// reads the ARC or CSU in it.
    ///
    /// # Errors
    /// Fails like [`Self::verify`].
    pub fn accepts(&self, tlvs: &[u8], tag_91: &[u8]) -> Result<bool, CryptogramError> {
        let (arc, csu) = match (Transaction::read(tlvs)?.version, tag_91) {
            (Version::Visa10, [_, _, _, _, _, _, _, _, arc @ ..]) => (arc.try_into().ok(), Some(CSU_DECLINED)),
            (Version::Visa18, [_, _, _, _, csu @ ..]) => (Some([0; 2]), csu.try_into().ok()),
            _ => (None, None),
        };
        let (Some(arc), Some(csu)) = (arc, csu) else { return Ok(false) };
        let expected = self.issuer_authentication(tlvs, arc, csu)?;
        Ok(bool::from(expected.as_slice().ct_eq(tag_91)))
    }

    /// Computes the cryptogram of CVN 0A over any data, with the card key and zero padding.
    #[must_use]
    pub fn cryptogram_10(&self, data: &[u8]) -> [u8; 8] {
        self.0.mac(data, Padding::Zero)
    }

    /// Computes the cryptogram of CVN 12 over any data, with the session key of the ATC and 80 padding.
    #[must_use]
    pub fn cryptogram_18(&self, atc: [u8; 2], data: &[u8]) -> [u8; 8] {
        self.session_key_of_atc(atc).mac(data, Padding::Iso80)
    }

    /// Computes ARPC method 1 under the card key (EMV Book 2, 8.2.1; Visa CVN 10).
    #[must_use]
    pub fn arpc_1(&self, arqc: [u8; 8], arc: [u8; 2]) -> [u8; 8] {
        arpc_1(&self.0, arqc, arc)
    }

    /// Computes ARPC method 2 under the session key of the ATC (EMV Book 2, 8.2.2; Visa CVN 18).
    #[must_use]
    pub fn arpc_2(&self, atc: [u8; 2], arqc: [u8; 8], csu: [u8; 4], proprietary: &[u8]) -> [u8; 4] {
        arpc_2(&self.session_key_of_atc(atc), arqc, csu, proprietary)
    }

    /// Derives the common session key from a diversification value (EMV Book 2, A1.3). The third byte of the value
    /// becomes F0 and then 0F.
    #[must_use]
    pub fn session_key(&self, mut r: [u8; 8]) -> Key {
        let mut half = |marker| {
            r[2] = marker;
            self.0.encrypt_block(r)
        };
        Key::from_halves(half(0xF0), half(0x0F)).odd_parity()
    }

    /// Returns the card key itself.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.0
    }

    fn session_key_of_atc(&self, atc: [u8; 2]) -> Key {
        self.session_key([atc[0], atc[1], 0, 0, 0, 0, 0, 0])
    }
}

/// The value of tag 91, the issuer authentication data.
pub type Tag91 = heapless::Vec<u8, 16>;

/// Computes ARPC method 1: the encryption of the ARQC XOR the ARC.
#[must_use]
pub fn arpc_1(key: &Key, arqc: [u8; 8], arc: [u8; 2]) -> [u8; 8] {
    key.encrypt_block(xor(arqc, [arc[0], arc[1], 0, 0, 0, 0, 0, 0]))
}

/// Computes ARPC method 2, which is the first four bytes of the MAC over ARQC, CSU and proprietary data.
#[must_use]
pub fn arpc_2(session: &Key, arqc: [u8; 8], csu: [u8; 4], proprietary: &[u8]) -> [u8; 4] {
    let data = [&arqc[..], &csu, proprietary].concat();
    let [a, b, c, d, ..] = session.mac(&data, Padding::Iso80);
    [a, b, c, d]
}

/// The two cryptogram versions.
#[derive(Clone, Copy)]
enum Version {
    Visa10,
    Visa18,
}

/// The data of a cryptogram from the chip's TLVs.
struct Transaction {
    version: Version,
    atc: [u8; 2],
    data: heapless::Vec<u8, MAX_DATA>,
}

impl Transaction {
    fn read(tlvs: &[u8]) -> Result<Self, CryptogramError> {
        let iad = sole_value(tlvs, tag::ISSUER_APPLICATION_DATA)?
            .ok_or(CryptogramError::Missing { tag: tag::ISSUER_APPLICATION_DATA })?;
        // The layout is 06, key index and CVN, followed by four bytes: the CVR with its length byte.
        let (cvn, cvr) = match iad {
            [_, _, cvn, cvr @ ..] if cvr.len() >= 4 && iad.len() <= 32 => (*cvn, &cvr[..4]),
            _ => return Err(CryptogramError::Length { tag: tag::ISSUER_APPLICATION_DATA, found: iad.len() }),
        };
        let (version, last) = match cvn {
            0x0A => (Version::Visa10, cvr),
            0x12 => (Version::Visa18, iad),
            cvn => return Err(CryptogramError::UnknownVersion { cvn }),
        };
        let atc = sole::<2>(tlvs, tag::ATC)?;
        let other = match sole_value(tlvs, tag::AMOUNT_OTHER)? {
            Some(_) => sole::<6>(tlvs, tag::AMOUNT_OTHER)?,
            None => [0; 6],
        };
        let mut data = heapless::Vec::new();
        let fields: [&[u8]; 11] = [
            &sole::<6>(tlvs, tag::AMOUNT_AUTHORISED)?,
            &other,
            &sole::<2>(tlvs, tag::TERMINAL_COUNTRY_CODE)?,
            &sole::<5>(tlvs, tag::TVR)?,
            &sole::<2>(tlvs, tag::CURRENCY_CODE)?,
            &sole::<3>(tlvs, tag::TRANSACTION_DATE)?,
            &sole::<1>(tlvs, tag::TRANSACTION_TYPE)?,
            &sole::<4>(tlvs, tag::UNPREDICTABLE_NUMBER)?,
            &sole::<2>(tlvs, tag::AIP)?,
            &atc,
            last,
        ];
        for field in fields {
            data.extend_from_slice(field).expect("MAX_DATA counts the fields and the longest 9F10");
        }
        Ok(Self { version, atc, data })
    }
}

/// Returns the value of the only object with this tag, at any depth, or `None` if there is none.
fn sole_value(tlvs: &[u8], tag: Tag) -> Result<Option<&[u8]>, CryptogramError> {
    let mut found = None;
    let mut repeated = false;
    tlv::visit(tlvs, &mut |object| {
        if object.tag == tag {
            repeated |= found.replace(object.value).is_some();
        }
    })?;
    if repeated { Err(CryptogramError::Repeated { tag }) } else { Ok(found) }
}

/// Returns the value of the only object with this tag, which must have exactly `N` bytes.
fn sole<const N: usize>(tlvs: &[u8], tag: Tag) -> Result<[u8; N], CryptogramError> {
    let value = sole_value(tlvs, tag)?.ok_or(CryptogramError::Missing { tag })?;
    value.try_into().map_err(|_| CryptogramError::Length { tag, found: value.len() })
}

/// Returns the PAN and the PAN sequence number as one sequence of digits (nibbles).
fn pan_and_psn(pan: &str, psn: u8) -> Result<Vec<u8>, CryptogramError> {
    if !(8..=19).contains(&pan.len()) || !pan.bytes().all(|c| c.is_ascii_digit()) || psn > 99 {
        return Err(CryptogramError::BadCard);
    }
    Ok(pan.bytes().map(|c| c - b'0').chain([psn / 10, psn % 10]).collect())
}

/// Applies option A (EMV Book 2, A1.4.1): the rightmost 16 digits, with leading zeros if there are fewer.
fn option_a(digits: &[u8]) -> [u8; 8] {
    let last = &digits[digits.len().saturating_sub(16)..];
    let mut nibbles = [0; 16];
    nibbles[16 - last.len()..].copy_from_slice(last);
    bcd(&nibbles)
}

/// Applies option B (EMV Book 2, A1.4.2): 16 decimal digits from the SHA-1 of all digits. If it has too few, its
/// letters A to F follow as 0 to 5.
fn option_b(digits: &[u8]) -> [u8; 8] {
    let mut even = vec![0; digits.len() % 2];
    even.extend_from_slice(digits);
    let packed: Vec<u8> = even.chunks(2).map(|pair| (pair[0] << 4) | pair[1]).collect();
    let hash = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, &packed);
    let nibbles = || hash.as_ref().iter().flat_map(|byte| [byte >> 4, byte & 0x0F]);
    let decimal = nibbles().filter(|nibble| *nibble <= 9);
    let letters = nibbles().filter(|nibble| *nibble > 9).map(|letter| letter - 10);
    let mut taken = decimal.chain(letters);
    let chosen = std::array::from_fn::<u8, 16, _>(|_| taken.next().expect("SHA-1 has forty hex digits"));
    bcd(&chosen)
}

fn bcd(nibbles: &[u8; 16]) -> [u8; 8] {
    std::array::from_fn(|n| (nibbles[2 * n] << 4) | nibbles[2 * n + 1])
}
