//! Issuer scripts (tags 71 and 72): commands that the issuer sends to its card through the terminal. Each command has a
//! MAC, which proves to the card that its issuer sent the command (EMV Book 3, 10.10; EMV Book 2, 9.2). The card and
//! its issuer have the same key, as in [`super::cryptogram`].
//!
//! ```text
//!  71 or 72 { 9F18 script identifier (4) , 86 CLA INS P1 P2 Lc data MAC(4) , 86 … }
//! ```
//!
//! The MAC covers CLA INS P1 P2 Lc, ATC, ARQC and data, with 80 padding. Its key is the common session key of the ARQC
//! (EMV Book 2, A1.3.1 and 9.2.3.1). Visa's cards use this form. No public test vector was found. So the code for card
//! and issuer is checked only against each other and against the specification.

use subtle::ConstantTimeEq;

use super::cryptogram::{CryptogramError, Issuer};
use super::tdes::{Key, Padding};

/// PIN CHANGE/UNBLOCK with P2 00: the cardholder may enter the PIN again (EMV Book 3, 6.5.10).
pub const PIN_UNBLOCK: [u8; 4] = [0x84, 0x24, 0x00, 0x00];

/// Length of a MAC in bytes. 4 to 8 bytes are allowed, and cards use 4.
const MAC: usize = 4;

/// The key that a card and its issuer share for the scripts of one transaction.
pub struct ScriptKey {
    session: Key,
    atc: [u8; 2],
    arqc: [u8; 8],
}

impl ScriptKey {
    /// Derives, from this ARQC, the session key of the card with this PAN and PAN sequence number. `issuer` holds the
    /// master key for integrity.
    ///
    /// # Errors
    /// Returns [`CryptogramError::BadCard`].
    pub fn new(issuer: &Issuer, pan: &str, psn: u8, atc: [u8; 2], arqc: [u8; 8]) -> Result<Self, CryptogramError> {
        Ok(Self { session: issuer.card_key(pan, psn)?.session_key(arqc), atc, arqc })
    }

    /// Builds, for the issuer, a script with one command, including its template.
    #[must_use]
    pub fn script(&self, template: u8, id: [u8; 4], header: [u8; 4], data: &[u8]) -> Vec<u8> {
        let mac = self.mac(header, data);
        let lc = length(data.len() + MAC);
        let command = [&header[..], &[lc], data, &mac].concat();
        let body = [&[0x9F, 0x18, 0x04], &id[..], &[0x86, length(command.len())], &command].concat();
        [&[template, length(body.len())], &body[..]].concat()
    }

    /// Returns, for the card, whether a command is unchanged and comes from the issuer.
    #[must_use]
    pub fn is_authentic(&self, command: &[u8]) -> bool {
        let [a, b, c, d, lc, rest @ ..] = command else { return false };
        let Some((data, mac)) = rest.len().checked_sub(MAC).map(|at| rest.split_at(at)) else { return false };
        usize::from(*lc) == rest.len() && bool::from(self.mac([*a, *b, *c, *d], data).ct_eq(mac))
    }

    fn mac(&self, header: [u8; 4], data: &[u8]) -> [u8; MAC] {
        let covered = [&header[..], &[length(data.len() + MAC)], &self.atc, &self.arqc, data].concat();
        let [a, b, c, d, ..] = self.session.mac(&covered, Padding::Iso80);
        [a, b, c, d]
    }
}

fn length(bytes: usize) -> u8 {
    // A script has at most 128 bytes (EMV Book 3, 10.10).
    u8::try_from(bytes).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::TEST_IMK_SMI;
    use super::*;

    #[test]
    fn a_script_has_the_form_of_the_book_and_any_change_is_noticed() {
        let issuer = Issuer::new(TEST_IMK_SMI);
        let key = ScriptKey::new(&issuer, "4761739001010119", 1, [0, 7], [1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        let script = key.script(0x71, [0, 0, 0, 1], PIN_UNBLOCK, &[]);
        assert_eq!(hex::encode_upper(&script[..16]), "71129F18040000000186098424000004");
        let command = &script[11..];
        assert!(key.is_authentic(command));
        for bit in 0..command.len() * 8 {
            let mut other = command.to_vec();
            other[bit / 8] ^= 0x80 >> (bit % 8);
            assert!(!key.is_authentic(&other), "bit {bit}");
        }
        for cut in 0..command.len() {
            assert!(!key.is_authentic(&command[..cut]));
        }
        // Another transaction of the card has a different key.
        let later = ScriptKey::new(&issuer, "4761739001010119", 1, [0, 8], [1, 2, 3, 4, 5, 6, 7, 9]).unwrap();
        assert!(!later.is_authentic(command));
    }
}
