//! Dispatches the commands by their codes, and carries out those without card and keys: device information, clock,
//! display, the agent's switches, and key information (readers: 2.2).
//!
//! All answers are wrapped in E1 (readers: 2.3, note).

use super::device::{Device, Switches};
use super::keys;
use super::message::{self, Command, StatusWord};

impl Device {
    /// Carries out a command. No other command is running, unless this one is a RESET.
    pub(super) fn command(&mut self, command: &Command<'_>) {
        let done = match command.code {
            0xD000 => self.reset_device(command.p1),
            0xD001 => Ok(self.configuration()),
            0xD002 => Ok(self.device_info()),
            0xD010 => self.system_clock(command),
            0xD060 => return self.card_status(command.p1),
            0xD061 => {
                if command.p1 != 0xFF {
                    self.switches.keys = command.p1 == 0x01;
                }
                Ok(Vec::new())
            }
            // The device has mains power and a full battery.
            0xD062 => Ok(message::template(0xE1, &[(0xDFA209, &[0x02]), (0xDFA20A, &[100])])),
            0xD201 => {
                self.display.show(&String::from_utf8_lossy(command.data));
                Ok(Vec::new())
            }
            0xDE02 => {
                let counter = format!("{:08}", self.kernel.next_sequence());
                Ok(message::template(0xE1, &[(0x9F41, &keys::bytes(&counter))]))
            }
            0xEEE0 => Ok(message::template(0xE1, &[(0xDFAE01, &[self.keys.p2pe_status()])])),
            0xD204 => return or_refuse(self, |device| device.get_numeric(command)),
            0xD205 => return or_refuse(self, |device| device.get_tip(command)),
            0xD25A => return or_refuse(self, |device| device.get_secure_pan(command)),
            0xD2E0 => return or_refuse(self, |device| device.get_secure_data(command)),
            0xDED1 => return or_refuse(self, |device| device.start_transaction(command)),
            0xDEC1 => return or_refuse(self, |device| device.start_contactless(command)),
            0xDED2 => return or_refuse(self, |device| device.continue_transaction(command)),
            0xDED6 => return or_refuse(self, |device| device.online_pin(command)),
            _ => Err(StatusWord::UNKNOWN_COMMAND),
        };
        match done {
            Ok(body) => self.answer(&body, StatusWord::OK),
            Err(sw) => self.answer(&[], sw),
        }
    }

    fn reset_device(&mut self, how: u8) -> Result<Vec<u8>, StatusWord> {
        if how > 0x03 {
            return Err(StatusWord::INVALID_PARAMETER);
        }
        self.reset();
        if how == 0x01 {
            // A reboot clears the switches, but the connection stays, as over RS-232.
            self.switches = Switches::default();
        }
        let application = message::template(0xEF, &[(0xDF0D, b"M000-MPI"), (0xDF7F, b"1-51")]);
        let system = message::template(0xEF, &[(0xDF0D, b"M000-OS"), (0xDF7F, b"9-7")]);
        let serial = message::object(0x9F1E, self.options.serial.as_bytes());
        Ok(message::object(0xE1, &[serial, application, system].concat()))
    }

    fn system_clock(&mut self, command: &Command<'_>) -> Result<Vec<u8>, StatusWord> {
        if command.data.is_empty() {
            let (date, time) = self.clock.split_at(3);
            return Ok(message::template(0xE1, &[(0x9A, date), (0x9F21, time)]));
        }
        let elements = command.elements()?;
        let date: [u8; 3] = message::need(elements, 0x9A)?;
        let time: [u8; 3] = message::need(elements, 0x9F21)?;
        self.clock = [date[0], date[1], date[2], time[0], time[1], time[2]];
        Ok(Vec::new())
    }

    /// Returns the capabilities (readers: 2.2, D002). Their names are not published, so the names here are ours.
    fn device_info(&self) -> Vec<u8> {
        let plain = [&b"Contactless"[..], b"Keypad"];
        let names = plain.into_iter().chain(self.options.extended_apdu.then_some(&b"Extended APDU"[..]));
        let inner: Vec<u8> = names.flat_map(|name| message::template(0xEF, &[(0xDF0D, name)])).collect();
        message::object(0xE1, &inner)
    }

    /// Returns the names and versions of the configuration files (readers: 2.2, D001).
    fn configuration(&self) -> Vec<u8> {
        let file = |(name, version): &(String, String)| {
            message::template(0xED, &[(0xDF0D, name.as_bytes()), (0xDF7F, version.as_bytes())])
        };
        message::object(0xE1, &self.options.configuration.iter().flat_map(file).collect::<Vec<u8>>())
    }
}

fn or_refuse(device: &mut Device, run: impl FnOnce(&mut Device) -> Result<(), StatusWord>) {
    if let Err(sw) = run(device) {
        device.answer(&[], sw);
    }
}
