//! The responses to commands that end without a result (readers: 4.3).
//!
//! The description says that error data have a code, SW1, SW2 and an RF state (FFEE1F), and that results 3xxx are
//! errors. It names no values, so the values here are UNCERTAIN: a driver must treat them all as a failure.

use super::responses::{FAILED, PIN_PAD, TIMED_OUT, finish};
use super::sealed::{OF_CHIP, attributed};
use super::{activate, session};
use crate::reader::device::Device;
use crate::reader::family::Failure;
use crate::reader::objects;

/// The states in the response to ENCRYPTED PIN (readers: 4.2).
pub(super) const PIN_OK: u8 = 0x00;
pub(super) const KEY_CANCEL: u8 = 0x01;
pub(super) const HOST_CANCEL: u8 = 0x02;
pub(super) const WRONG_PARAMETER: u8 = 0x03;
pub(super) const WRONG_PAN: u8 = 0x04;
pub(super) const NO_KEY: u8 = 0x05;
pub(super) const EXHAUSTED: u8 = 0x06;

/// Ends the accepted command, or lets the card be swiped after its chip has failed.
pub(super) fn failed(device: &mut Device, failure: Failure) {
    let chip_failed = matches!(failure, Failure::UnreadableChip | Failure::UnsupportedCard);
    if chip_failed && session(device).allows_fallback {
        return activate::wait_for_fallback(device);
    }
    session(device).waits_for_host = None;
    if failure == Failure::Aborted && !device.options.neo2.answers_cancelled && !is_pin_pad(device) {
        session(device).pending = None;
        return;
    }
    match failure {
        Failure::TimedOut => finish(device, TIMED_OUT, &[]),
        Failure::NotEntered if is_pin_pad(device) => finish(device, TIMED_OUT, &[]),
        Failure::Aborted if is_pin_pad(device) => finish(device, FAILED, &[HOST_CANCEL]),
        _ => {
            let data = attributed(device, OF_CHIP, error_data(failure));
            finish(device, FAILED, &data);
        }
    }
}

/// Returns whether ENCRYPTED PIN is running. Its second response always has a state.
fn is_pin_pad(device: &mut Device) -> bool {
    session(device).pending == Some(PIN_PAD)
}

/// Returns the result code and the error data of a failure.
fn error_data(failure: Failure) -> Vec<u8> {
    let (result, code): ([u8; 2], u8) = match failure {
        Failure::NoCard => ([0x30, 0x01], 0x01),
        Failure::UnreadableChip => ([0x30, 0x02], 0x02),
        Failure::UnsupportedCard => ([0x30, 0x03], 0x03),
        Failure::BlockedCard => ([0x30, 0x04], 0x04),
        Failure::NeedsContacts => ([0x30, 0x05], 0x05),
        Failure::Cancelled => ([0x30, 0x06], 0x06),
        Failure::Aborted => ([0x30, 0x07], 0x07),
        Failure::CardPulled => ([0x30, 0x08], 0x08),
        Failure::TimedOut | Failure::NotEntered => ([0x30, 0x09], 0x09),
        Failure::NoCardKey | Failure::NoPinKey => ([0x30, 0x0A], 0x0A),
        Failure::InvalidNumber => ([0x30, 0x0B], 0x0B),
    };
    [objects::object(0xDFEE25, &result), objects::object(0xFFEE1F, &[code, 0, 0, 0])].concat()
}
