//! Track 2 and tag 57: PAN, expiry, service code. The agent uses only the masked form ([`MaskedTrack2`]). The
//! simulators use the clear form ([`Track2`]) with test cards.
//!
//! ```text
//!  tag 57   4761739001010119 D 2212 201 1143804400000 F      packed nibbles, one F where a nibble is left over
//!  stripe  ;4761739001010119 = 2212 201 1143804400000 ?
//!            PAN, 8 to 19     YYMM  service code, discretionary data      (ISO/IEC 7813; EMV Book 3, Annex A)
//! ```

use std::fmt;

use zeroize::Zeroize;

use super::luhn;

/// The maximum number of characters between the sentinels of track 2 (ISO/IEC 7813), and therefore of nibbles in tag 57
/// (19 bytes).
const MAX_LENGTH: usize = 38;

/// The minimum and maximum number of digits in a PAN (ISO/IEC 7812-1).
const PAN_DIGITS: std::ops::RangeInclusive<usize> = 8..=19;

/// The reason why track 2 data is refused. It names the fault, but never the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Track2Error {
    /// More than 38 characters.
    #[error("track 2 is longer than 38 characters")]
    TooLong,
    /// No separator (`D` in tag 57, `=` on the stripe).
    #[error("track 2 has no separator after the PAN")]
    NoSeparator,
    /// A PAN that does not have 8 to 19 digits.
    #[error("track 2 has no PAN of 8 to 19 digits")]
    Pan,
    /// The last digit of the PAN is not the check digit of the others.
    #[error("the check digit of the PAN on track 2 is wrong")]
    CheckDigit,
    /// The expiry is not a year and a month.
    #[error("track 2 has no expiry date")]
    Expiry,
    /// The service code of three digits is missing.
    #[error("track 2 has no service code")]
    ServiceCode,
    /// There is a character other than a digit after the service code, or any character after the pad.
    #[error("track 2 has a non-digit after the service code")]
    Discretionary,
    /// The stripe lacks its start or end sentinel.
    #[error("track 2 has no start or end sentinel")]
    Sentinel,
}

/// Track 2 in clear text. It is wiped when dropped and never printed, so no log can contain a PAN.
pub struct Track2 {
    /// The PAN, the separator `=` and the rest, without sentinels, in ASCII.
    characters: heapless::Vec<u8, MAX_LENGTH>,
    separator: usize,
}

impl Track2 {
    /// Parses the value of tag 57.
    ///
    /// # Errors
    /// Returns an error for the first part that is not track 2.
    pub fn from_tag57(value: &[u8]) -> Result<Self, Track2Error> {
        let mut track = Self { characters: heapless::Vec::new(), separator: 0 };
        for nibble in value.iter().flat_map(|byte| [byte >> 4, byte & 0x0F]) {
            let c = match nibble {
                0..=9 => b'0' + nibble,
                0xD => b'=',
                0xF => b'F',
                _ => b'?',
            };
            track.characters.push(c).map_err(|_| Track2Error::TooLong)?;
        }
        // A single F at the end fills the last byte (EMV Book 3, Annex A). Anywhere else, it is a fault.
        if track.characters.last() == Some(&b'F') {
            track.characters.pop();
        }
        track.checked()
    }

    /// Parses the stripe's form with its sentinels, with or without the LRC character that readers leave after them.
    ///
    /// # Errors
    /// Returns an error for the first part that is not track 2.
    pub fn from_magstripe(stripe: &str) -> Result<Self, Track2Error> {
        let (inner, after) =
            stripe.strip_prefix(';').and_then(|rest| rest.split_once('?')).ok_or(Track2Error::Sentinel)?;
        if after.chars().count() > 1 {
            return Err(Track2Error::Sentinel);
        }
        let characters = heapless::Vec::from_slice(inner.as_bytes()).map_err(|_| Track2Error::TooLong)?;
        Self { characters, separator: 0 }.checked()
    }

    /// Finds the separator and checks every element.
    fn checked(mut self) -> Result<Self, Track2Error> {
        let characters = self.characters.as_slice();
        if !characters.is_ascii() {
            return Err(Track2Error::Discretionary);
        }
        self.separator = characters.iter().position(|c| *c == b'=').ok_or(Track2Error::NoSeparator)?;
        let (pan, rest) = (self.pan(), &self.text()[self.separator + 1..]);
        let are_digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
        if !PAN_DIGITS.contains(&pan.len()) || !are_digits(pan) {
            return Err(Track2Error::Pan);
        }
        if !luhn::is_valid(pan) {
            return Err(Track2Error::CheckDigit);
        }
        let month = rest.get(2..4).unwrap_or_default();
        if !rest.get(..4).is_some_and(are_digits) || !("01"..="12").contains(&month) {
            return Err(Track2Error::Expiry);
        }
        if rest.get(4..7).and_then(ServiceCode::new).is_none() {
            return Err(Track2Error::ServiceCode);
        }
        if !rest.get(7..).is_some_and(are_digits) {
            return Err(Track2Error::Discretionary);
        }
        Ok(self)
    }

    /// Returns the PAN, 8 to 19 digits.
    #[must_use]
    pub fn pan(&self) -> &str {
        &self.text()[..self.separator]
    }

    /// Returns the year and the month of expiry, `YYMM`.
    #[must_use]
    pub fn expiry_yymm(&self) -> &str {
        &self.text()[self.separator + 1..self.separator + 5]
    }

    /// Returns the service code.
    #[must_use]
    pub fn service_code(&self) -> ServiceCode {
        ServiceCode::new(&self.text()[self.separator + 5..self.separator + 8]).expect("checked when the track was read")
    }

    /// Returns the issuer's digits after the service code.
    #[must_use]
    pub fn discretionary(&self) -> &str {
        &self.text()[self.separator + 8..]
    }

    /// Returns the stripe's form with its sentinels and without LRC.
    #[must_use]
    pub fn magstripe_form(&self) -> zeroize::Zeroizing<String> {
        format!(";{}?", self.text()).into()
    }

    /// Returns the value of tag 57.
    #[must_use]
    pub fn tag57(&self) -> zeroize::Zeroizing<Vec<u8>> {
        let nibble = |c: u8| if c == b'=' { 0xD } else { c - b'0' };
        let pairs = self.characters.chunks(2);
        pairs.map(|pair| (nibble(pair[0]) << 4) | pair.get(1).map_or(0xF, |c| nibble(*c))).collect::<Vec<u8>>().into()
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.characters).expect("checked to be ASCII when the track was read")
    }
}

impl Drop for Track2 {
    fn drop(&mut self) {
        // This wipes the whole capacity, not only the used part.
        self.characters.clear();
        let _ = self.characters.resize(MAX_LENGTH, 0);
        self.characters.as_mut_slice().zeroize();
    }
}

impl fmt::Debug for Track2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[track 2 of {} characters]", self.characters.len())
    }
}

/// Track 2 as a secured reader shows it: the PAN is masked, and the service code is in clear text (readers: 2.4,
/// DFAE22).
///
/// It gives no expiry date, because the agent does not need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskedTrack2<'a> {
    /// The PAN as the reader sent it, with `*` for each masked digit. `card::MaskedPan` masks the digits that the
    /// reader did not mask.
    pub pan: &'a str,
    /// The service code.
    pub service_code: ServiceCode,
}

impl<'a> MaskedTrack2<'a> {
    /// Parses the ASCII form `;476173******0010=1512201**********?*`. The start sentinel and the characters after the
    /// end sentinel may be missing.
    ///
    /// # Errors
    /// Returns an error for the first part that is not masked track 2. A PAN of 13 or more digits without a masked
    /// position is refused.
    pub fn from_ascii(value: &'a [u8]) -> Result<Self, Track2Error> {
        let text = std::str::from_utf8(value).map_err(|_| Track2Error::Discretionary)?;
        let inner = text.strip_prefix(';').unwrap_or(text);
        let inner = inner.split_once('?').map_or(inner, |(inner, _lrc)| inner);
        let (pan, rest) = inner.split_once('=').ok_or(Track2Error::NoSeparator)?;
        let are_places = |text: &str| text.bytes().all(|c| c.is_ascii_digit() || c == b'*');
        if !PAN_DIGITS.contains(&pan.len()) || !are_places(pan) || !pan.contains('*') {
            return Err(Track2Error::Pan);
        }
        if !rest.get(..4).is_some_and(are_places) {
            return Err(Track2Error::Expiry);
        }
        let service_code = rest.get(4..7).and_then(ServiceCode::new).ok_or(Track2Error::ServiceCode)?;
        if !rest.get(7..).is_some_and(are_places) {
            return Err(Track2Error::Discretionary);
        }
        Ok(Self { pan, service_code })
    }
}

/// The service code of a magnetic stripe: three digits (ISO/IEC 7813).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ServiceCode([u8; 3]);

/// The PIN rule of a service code (readers: 2.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinRule {
    /// Third digit 0, 3 or 5: the PIN is required.
    Required,
    /// Third digit 6 or 7: the PIN is requested if there is a PIN pad.
    IfPinPad,
    /// Any other digit: the PIN is not requested.
    NotAsked,
}

impl ServiceCode {
    /// Takes three digits.
    #[must_use]
    pub fn new(digits: &str) -> Option<Self> {
        let code = digits.as_bytes().try_into().ok().map(Self)?;
        code.0.iter().all(u8::is_ascii_digit).then_some(code)
    }

    /// Returns the three digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("three ASCII digits")
    }

    /// Returns whether the card has a chip, which must be tried first. The first digit is then 2 or 6.
    #[must_use]
    pub fn has_chip(self) -> bool {
        matches!(self.0[0], b'2' | b'6')
    }

    /// Returns whether a swipe needs a PIN.
    #[must_use]
    pub fn wants_pin(self) -> PinRule {
        match self.0[2] {
            b'0' | b'3' | b'5' => PinRule::Required,
            b'6' | b'7' => PinRule::IfPinPad,
            _ => PinRule::NotAsked,
        }
    }
}

impl fmt::Debug for ServiceCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_masked_track_of_a_swipe_gives_pan_and_service_code() {
        // A swipe's DFAE22 (readers: 2.13, swipe event).
        let track = MaskedTrack2::from_ascii(b";476173******0010=1512201**********?*").unwrap();
        assert_eq!((track.pan, track.service_code.as_str()), ("476173******0010", "201"));
        assert!(track.service_code.has_chip());
        assert_eq!(track.service_code.wants_pin(), PinRule::NotAsked);
        assert!(MaskedTrack2::from_ascii(b"476173******0010=****620").is_ok());
    }

    #[test]
    fn a_masked_track_is_refused_when_it_is_clear_or_broken() {
        for (given, why) in [
            (&b";4761739001010010=15122011143857589?<"[..], Track2Error::Pan),
            (b";476173******0010?", Track2Error::NoSeparator),
            (b";47*=1512201***?", Track2Error::Pan),
            (b";476173**********0010=1512201***?", Track2Error::Pan),
            (b";476173******0010=151?", Track2Error::Expiry),
            (b";476173******0010=151220?", Track2Error::ServiceCode),
            (b";476173******0010=1512***?", Track2Error::ServiceCode),
            (b";476173******0010=1512201A?", Track2Error::Discretionary),
            (b"\xFF\xFE", Track2Error::Discretionary),
            (b"", Track2Error::NoSeparator),
        ] {
            assert_eq!(MaskedTrack2::from_ascii(given), Err(why));
        }
    }

    #[test]
    fn the_service_code_decides_about_chip_and_pin() {
        for (code, chip, pin) in [
            ("101", false, PinRule::NotAsked),
            ("120", false, PinRule::Required),
            ("201", true, PinRule::NotAsked),
            ("203", true, PinRule::Required),
            ("221", true, PinRule::NotAsked),
            ("525", false, PinRule::Required),
            ("606", true, PinRule::IfPinPad),
            ("127", false, PinRule::IfPinPad),
        ] {
            let code = ServiceCode::new(code).unwrap();
            assert_eq!((code.has_chip(), code.wants_pin()), (chip, pin), "{code:?}");
        }
        for wrong in ["", "20", "2011", "2A1", "２"] {
            assert!(ServiceCode::new(wrong).is_none());
        }
    }

    #[test]
    fn a_stripe_is_read_with_its_lrc_and_never_printed() {
        // A published swipe (readers: 8.4, M1).
        let track = Track2::from_magstripe(";4761739001010010=15122011143857589?<").unwrap();
        assert_eq!((track.pan(), track.discretionary()), ("4761739001010010", "1143857589"));
        assert_eq!(format!("{track:?}"), "[track 2 of 34 characters]");
        for wrong in ["4761739001010010=1512201?", ";4761739001010010=1512201", ";4761739001010010=1512201?<<"] {
            assert_eq!(Track2::from_magstripe(wrong).err(), Some(Track2Error::Sentinel));
        }
    }
}
