//! Dispatches the commands by their codes, and carries out those without card and keys: device information, clock,
//! display, the agent's switches, and key information (readers: 2.2).
//!
//! All answers are wrapped in E1 (readers: 2.3, note).

use super::message::{self, Command, StatusWord};
use super::{answers, card_events, number_entry, session, transaction};
use crate::reader::device::Device;
use crate::reader::keys;
use crate::reader::objects;

/// Carries out a command. No other command is running, unless this one is a RESET.
pub(super) fn carry_out(device: &mut Device, command: &Command<'_>) {
    let done = match command.code {
        0xD000 => reset_device(device, command.p1),
        0xD001 => Ok(configuration(device)),
        0xD002 => Ok(device_info(device)),
        0xD010 => system_clock(device, command),
        0xD060 => return card_events::card_status(device, command.p1),
        0xD061 => {
            if command.p1 != 0xFF {
                session(device).keys = command.p1 == 0x01;
            }
            Ok(Vec::new())
        }
        // The device has mains power and a full battery.
        0xD062 => Ok(objects::template(0xE1, &[(0xDFA209, &[0x02]), (0xDFA20A, &[100])])),
        0xD201 => {
            device.display.show(&String::from_utf8_lossy(command.data));
            Ok(Vec::new())
        }
        0xDE02 => {
            let counter = format!("{:08}", device.kernel.next_sequence());
            Ok(objects::template(0xE1, &[(0x9F41, &keys::bytes(&counter))]))
        }
        0xEEE0 => Ok(objects::template(0xE1, &[(0xDFAE01, &[device.keys.p2pe_status()])])),
        0xD204 => return or_refuse(device, |device| number_entry::get_numeric(device, command)),
        0xD205 => return or_refuse(device, |device| number_entry::get_tip(device, command)),
        0xD25A => return or_refuse(device, |device| number_entry::get_secure_pan(device, command)),
        0xD2E0 => return or_refuse(device, |device| number_entry::get_secure_data(device, command)),
        0xDED1 => return or_refuse(device, |device| transaction::start(device, command)),
        0xDEC1 => return or_refuse(device, |device| transaction::start_contactless(device, command)),
        0xDED2 => return or_refuse(device, |device| transaction::continue_transaction(device, command)),
        0xDED6 => return or_refuse(device, |device| transaction::online_pin(device, command)),
        _ => Err(StatusWord::UNKNOWN_COMMAND),
    };
    match done {
        Ok(body) => answers::answer(device, &body, StatusWord::OK),
        Err(sw) => answers::answer(device, &[], sw),
    }
}

fn reset_device(device: &mut Device, how: u8) -> Result<Vec<u8>, StatusWord> {
    if how > 0x03 {
        return Err(StatusWord::INVALID_PARAMETER);
    }
    device.reset();
    if how == 0x01 {
        // A reboot clears the switches, but the connection stays, as over RS-232.
        (session(device).card_status, session(device).keys) = (0, false);
    }
    let application = objects::template(0xEF, &[(0xDF0D, b"M000-MPI"), (0xDF7F, b"1-51")]);
    let system = objects::template(0xEF, &[(0xDF0D, b"M000-OS"), (0xDF7F, b"9-7")]);
    let serial = objects::object(0x9F1E, device.options.serial.as_bytes());
    Ok(objects::object(0xE1, &[serial, application, system].concat()))
}

fn system_clock(device: &mut Device, command: &Command<'_>) -> Result<Vec<u8>, StatusWord> {
    if command.data.is_empty() {
        let (date, time) = device.clock.split_at(3);
        return Ok(objects::template(0xE1, &[(0x9A, date), (0x9F21, time)]));
    }
    let elements = command.elements()?;
    let date: [u8; 3] = message::need(elements, 0x9A)?;
    let time: [u8; 3] = message::need(elements, 0x9F21)?;
    device.clock = [date[0], date[1], date[2], time[0], time[1], time[2]];
    Ok(Vec::new())
}

/// Returns the capabilities (readers: 2.2, D002). Their names are not published, so the names here are ours.
fn device_info(device: &Device) -> Vec<u8> {
    let plain = [&b"Contactless"[..], b"Keypad"];
    let names = plain.into_iter().chain(device.options.extended_apdu.then_some(&b"Extended APDU"[..]));
    let inner: Vec<u8> = names.flat_map(|name| objects::template(0xEF, &[(0xDF0D, name)])).collect();
    objects::object(0xE1, &inner)
}

/// Returns the names and versions of the configuration files (readers: 2.2, D001).
fn configuration(device: &Device) -> Vec<u8> {
    let file = |(name, version): &(String, String)| {
        objects::template(0xED, &[(0xDF0D, name.as_bytes()), (0xDF7F, version.as_bytes())])
    };
    objects::object(0xE1, &device.options.configuration.iter().flat_map(file).collect::<Vec<u8>>())
}

fn or_refuse(device: &mut Device, run: impl FnOnce(&mut Device) -> Result<(), StatusWord>) {
    if let Err(sw) = run(device) {
        answers::answer(device, &[], sw);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::reader::{Key, Options, PersonAction};

    #[test]
    fn a_tip_that_is_typed_is_seen_as_money() {
        let mut device = Device::new(Options::default());
        let elements = "E0169F02060000000012345F2A020978DFA21704050A0F00";
        let body = hex::decode(elements).unwrap();
        let command = Command { code: 0xD205, p1: 1, extended: false, data: &body };
        carry_out(&mut device, &command);
        for key in [Key::Digit(2), Key::Digit(5), Key::Digit(0), Key::Digit(0), Key::Clear] {
            device.person_does(PersonAction::Key(key), Duration::ZERO);
        }
        let screen = device.screen();
        assert_eq!(screen.amount.as_deref(), Some("12.34 EUR"));
        assert_eq!(screen.lines, ["ENTER TIP", "2.50 EUR"]);
    }
}
