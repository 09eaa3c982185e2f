//! The commands that concern no card in hand: who are you, the clock, the display, switches, and everything that is
//! typed: an amount, a tip, a card number (readers: 2.2, 2.9, 2.10).
//!
//! Answers are wrapped in E1 throughout (readers: 2.3, note).

use super::chip::Terms;
use super::device::{Device, Key, Running, Typed, Typing};
use super::wire::{self, Command, Sw};

/// Seconds that START CONTACTLESS waits when it is not told (MPI-Dynamic.cfg; readers: 2.6).
pub(super) const DEFAULT_TAP_SECONDS: u16 = 30;

impl Device {
    /// Carries out a command; nothing else is under way, or it is a RESET.
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
            // On mains, full.
            0xD062 => Ok(wire::template(0xE1, &[(0xDFA209, &[0x02]), (0xDFA20A, &[100])])),
            0xD201 => {
                self.show(&String::from_utf8_lossy(command.data));
                Ok(Vec::new())
            }
            0xDE02 => {
                let counter = format!("{:08}", self.next_sequence());
                Ok(wire::template(0xE1, &[(0x9F41, &super::sealing::bytes(&counter))]))
            }
            0xEEE0 => Ok(wire::template(0xE1, &[(0xDFAE01, &[self.p2pe_status()])])),
            0xD204 => return or_refuse(self, |device| device.get_numeric(command)),
            0xD205 => return or_refuse(self, |device| device.get_tip(command)),
            0xD25A => return or_refuse(self, |device| device.get_secure_pan(command)),
            0xD2E0 => return or_refuse(self, |device| device.get_secure_data(command)),
            0xDED1 => return or_refuse(self, |device| device.start(command)),
            0xDEC1 => return or_refuse(self, |device| device.start_contactless(command)),
            0xDED2 => return or_refuse(self, |device| device.go_on_with(command)),
            0xDED6 => return or_refuse(self, |device| device.online_pin(command)),
            _ => Err(Sw::UNKNOWN_COMMAND),
        };
        match done {
            Ok(body) => self.answer(&body, Sw::OK),
            Err(sw) => self.answer(&[], sw),
        }
    }

    fn reset_device(&mut self, how: u8) -> Result<Vec<u8>, Sw> {
        if how > 0x03 {
            return Err(Sw::INVALID_PARAMETER);
        }
        self.reset();
        if how == 0x01 {
            // A reboot forgets what was switched on; the line stays, as it does over RS-232.
            self.switches = super::device::Switches::default();
        }
        let application = wire::template(0xEF, &[(0xDF0D, b"M000-MPI"), (0xDF7F, b"1-51")]);
        let system = wire::template(0xEF, &[(0xDF0D, b"M000-OS"), (0xDF7F, b"9-7")]);
        let serial = wire::object(0x9F1E, self.options.serial.as_bytes());
        Ok(wire::object(0xE1, &[serial, application, system].concat()))
    }

    fn system_clock(&mut self, command: &Command<'_>) -> Result<Vec<u8>, Sw> {
        if command.data.is_empty() {
            let (date, time) = self.clock.split_at(3);
            return Ok(wire::template(0xE1, &[(0x9A, date), (0x9F21, time)]));
        }
        let elements = command.elements()?;
        let date: [u8; 3] = wire::need(elements, 0x9A)?;
        let time: [u8; 3] = wire::need(elements, 0x9F21)?;
        self.clock = [date[0], date[1], date[2], time[0], time[1], time[2]];
        Ok(Vec::new())
    }

    /// Capabilities (readers: 2.2, D002). Their names are not published: these are ours.
    fn device_info(&self) -> Vec<u8> {
        let plain = [&b"Contactless"[..], b"Keypad"];
        let names = plain.into_iter().chain(self.options.extended_apdu.then_some(&b"Extended APDU"[..]));
        let inner: Vec<u8> = names.flat_map(|name| wire::template(0xEF, &[(0xDF0D, name)])).collect();
        wire::object(0xE1, &inner)
    }

    /// Names and versions of configuration files (readers: 2.2, D001).
    fn configuration(&self) -> Vec<u8> {
        let file = |(name, version): &(String, String)| {
            wire::template(0xED, &[(0xDF0D, name.as_bytes()), (0xDF7F, version.as_bytes())])
        };
        wire::object(0xE1, &self.options.configuration.iter().flat_map(file).collect::<Vec<u8>>())
    }

    fn p2pe_status(&self) -> u8 {
        let card_key = self.options.secured && self.sealing.card_keys_are_left() || self.options.claims_card_key;
        let pin_key = self.options.pin_key && self.sealing.pin_keys_are_left();
        0x01 | if pin_key { 0x02 } else { 0 } | if card_key { 0x04 } else { 0 }
    }

    fn get_numeric(&mut self, command: &Command<'_>) -> Result<(), Sw> {
        let elements = command.elements()?;
        let _prompts: [u8; 6] = wire::need(elements, 0xDFA206)?;
        let _format: [u8; 2] = wire::need(elements, 0xDFA207)?;
        self.amount = None;
        self.ask_for_digits("ENTER AMOUNT", Typed::Amount);
        Ok(())
    }

    /// What is typed is given as it is, a tip or (P1 00) the total: percentages are for the person who types.
    fn get_tip(&mut self, command: &Command<'_>) -> Result<(), Sw> {
        let elements = command.elements()?;
        let _percentages: [u8; 4] = wire::need(elements, 0xDFA217)?;
        self.amount = Some(wire::Money::read(elements)?);
        self.ask_for_digits(if command.p1 == 0 { "ENTER TOTAL" } else { "ENTER TIP" }, Typed::Amount);
        Ok(())
    }

    fn get_secure_pan(&mut self, command: &Command<'_>) -> Result<(), Sw> {
        let elements = command.elements()?;
        let [element] = wire::need(elements, 0xDFA210)?;
        let _prompts: [u8; 6] = wire::need(elements, 0xDFA206)?;
        self.typed.clear();
        self.ask_for_digits("ENTER CARD NUMBER", Typed::Secure { element, at_once: true });
        Ok(())
    }

    fn get_secure_data(&mut self, command: &Command<'_>) -> Result<(), Sw> {
        match command.p1 {
            0x00 => {
                self.typed.clear();
                self.answer(&[], Sw::OK);
            }
            0x01 => {
                let elements = command.elements()?;
                let [element] = wire::need(elements, 0xDFA210)?;
                let _prompts: [u8; 6] = wire::need(elements, 0xDFA206)?;
                let question = match element {
                    0x01 => "ENTER CARD NUMBER",
                    0x04 => "ENTER EXPIRY YYMM",
                    0x06 => "ENTER SECURITY CODE",
                    _ => return Err(Sw::INVALID_PARAMETER),
                };
                self.ask_for_digits(question, Typed::Secure { element, at_once: false });
            }
            0x02 => {
                let body = self.seal_typed()?;
                self.answer(&body, Sw::OK);
            }
            _ => return Err(Sw::INVALID_PARAMETER),
        }
        Ok(())
    }

    /// Seals what was typed and forgets it.
    fn seal_typed(&mut self) -> Result<Vec<u8>, Sw> {
        let typed = std::mem::take(&mut self.typed);
        let pan = typed.iter().find(|(element, _)| *element == 0x01).map(|(_, digits)| digits.clone());
        let pan = pan.ok_or(Sw::NOTHING_TYPED)?;
        let (first, last) = (&pan[..6], &pan[pan.len() - 4..]);
        let masked = format!("{first}{}{last}", "*".repeat(pan.len() - 10));
        let sealed = self.sealing.typed(&typed).map_err(|_| Sw::NO_KEY_LEFT)?;
        Ok(wire::template(0xE1, &[(0xDFA208, masked.as_bytes()), (0xDFAE02, &sealed.data), (0xDFAE03, &sealed.ksn)]))
    }

    fn ask_for_digits(&mut self, question: &str, what: Typed) {
        self.show(question);
        self.running = Running::Number(Typing { digits: String::new(), what });
        if !self.number_plan.is_empty() {
            self.due = Some(self.now + self.options.pace.key);
        }
    }

    /// The digits that were planned are typed.
    pub(super) fn number_goes_on(&mut self) {
        if let (Running::Number(typing), Some(plan)) = (&mut self.running, self.number_plan.pop_front()) {
            typing.digits = plan;
            self.number_entered();
        }
    }

    fn number_entered(&mut self) {
        let Running::Number(Typing { digits, what }) = std::mem::replace(&mut self.running, Running::Nothing) else {
            return;
        };
        match what {
            Typed::Amount => self.finish(&wire::template(0xE1, &[(0xDFA208, digits.as_bytes())]), Sw::OK),
            Typed::Secure { element: 0x01, .. } if !(12..=19).contains(&digits.len()) => {
                self.finish(&[], Sw::INVALID_INPUT);
            }
            Typed::Secure { element, at_once } => {
                self.typed.push((element, digits));
                match at_once.then(|| self.seal_typed()) {
                    None => self.finish(&[], Sw::OK),
                    Some(Ok(body)) => self.finish(&body, Sw::OK),
                    Some(Err(sw)) => self.finish(&[], sw),
                }
            }
        }
    }

    /// A key is pressed.
    pub(super) fn key(&mut self, key: Key) {
        match (&mut self.running, key) {
            (Running::Pin(_), _) => self.pin_key(key),
            (Running::Number(typing), Key::Digit(digit)) => {
                typing.digits.push(char::from(b'0' + digit % 10));
                self.show_digits();
            }
            (Running::Number(typing), Key::Clear) => {
                typing.digits.pop();
                self.show_digits();
            }
            (Running::Number(_), Key::Enter) => self.number_entered(),
            (Running::Tap(_) | Running::Number(_), Key::Cancel) => {
                self.finish(&[], Sw::CANCELLED);
                self.show("CANCELLED");
            }
            (Running::Nothing, _) if self.switches.keys => {
                self.event(&wire::template(0xE0, &[(0xDFA205, &[key.code()])]));
            }
            (Running::Nothing | Running::Chip(_) | Running::Tap(_) | Running::Card(_), _) => {}
        }
    }

    /// What was typed so far, below the question: an amount or tip as money, of a card number how many digits.
    fn show_digits(&mut self) {
        let Running::Number(Typing { digits, what }) = &self.running else { return };
        let typed = match (what, self.amount) {
            (Typed::Amount, Some(money)) => money.in_its_currency(digits),
            (Typed::Amount, None) => digits.clone(),
            (Typed::Secure { .. }, _) => "*".repeat(digits.len()),
        };
        let question = self.lines.first().cloned().unwrap_or_default();
        self.show(&format!("{question}\n{typed}"));
    }

    /// START CONTACTLESS waits for a card from now on.
    pub(super) fn wait_for_tap(&mut self, terms: Terms, seconds: u16) {
        self.show("INSERT, TAP OR SWIPE");
        self.running = Running::Tap(terms);
        self.due = Some(self.now + std::time::Duration::from_secs(u64::from(seconds)));
    }
}

impl Key {
    /// As in DFA205 (readers: 2.3).
    fn code(self) -> u8 {
        match self {
            Self::Enter => 0x0D,
            Self::Cancel => 0x1B,
            Self::Clear => 0x7F,
            Self::Digit(digit) => b'0' + digit % 10,
        }
    }
}

fn or_refuse(device: &mut Device, run: impl FnOnce(&mut Device) -> Result<(), Sw>) {
    if let Err(sw) = run(device) {
        device.answer(&[], sw);
    }
}
