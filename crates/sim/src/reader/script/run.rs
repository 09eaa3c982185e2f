//! The running script. Events are recorded as they happen, and their rules are carried out before the device continues.
//! All times are the device's times.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use super::{Script, ScriptAction, ScriptEvent};
use crate::reader::cardholder::PinPlan;
use crate::reader::device::{Device, OutgoingBytes};
use crate::reader::faults::Cable;
use crate::reader::kernel::Running;

/// The maximum number of rules at one point in time. With this limit, rules that trigger each other in a loop cannot
/// stop the device.
const MOST_AT_ONCE: usize = 200;

/// The state of a script.
pub(in super::super) struct ScriptRun {
    script: Script,
    /// The number of occurrences of each event.
    counts: HashMap<ScriptEvent, u32>,
    /// Events whose rules are not carried out yet.
    happened: VecDeque<ScriptEvent>,
    /// Later actions, with their times.
    agenda: Vec<(Duration, VecDeque<ScriptAction>)>,
}

impl ScriptRun {
    /// Begins a script at `now`.
    pub(in super::super) fn new(script: Script, now: Duration) -> Self {
        let agenda = script.moments.iter().map(|(time, actions)| (now + *time, actions.clone().into())).collect();
        Self { script, counts: HashMap::new(), happened: VecDeque::new(), agenda }
    }

    /// Returns the time of its next action.
    pub(in super::super) fn deadline(&self) -> Option<Duration> {
        self.agenda.iter().map(|(at, _)| *at).min()
    }

    /// Returns the actions that are due first.
    fn take_due(&mut self, now: Duration) -> Option<VecDeque<ScriptAction>> {
        let first = self.agenda.iter().enumerate().filter(|(_, (at, _))| *at <= now).min_by_key(|(_, (at, _))| *at);
        first.map(|(n, _)| n).map(|n| self.agenda.remove(n).1)
    }

    /// Returns the actions for the next event.
    fn take_happened(&mut self) -> Option<Vec<VecDeque<ScriptAction>>> {
        let when = self.happened.pop_front()?;
        let count = self.counts.entry(when).or_default();
        *count += 1;
        let fits = |nth: Option<u32>| nth.is_none_or(|nth| nth == *count);
        let rules = self.script.rules.iter().filter(|rule| rule.when == when && fits(rule.nth));
        Some(rules.map(|rule| rule.actions.clone().into()).collect())
    }
}

impl Device {
    /// Replaces the current script.
    pub fn run_script(&mut self, script: Script, now: Duration) {
        self.now = now;
        self.faults.begin_script();
        self.script = ScriptRun::new(script, now);
        self.run_due();
    }

    /// Records an event.
    pub(in super::super) fn happens(&mut self, when: ScriptEvent) {
        self.script.happened.push_back(when);
    }

    /// Carries out the rules of all events and all due actions. Returns whether there were any.
    pub(in super::super) fn meet_script(&mut self) -> bool {
        let mut fired = 0;
        loop {
            let todo = match self.script.take_happened() {
                Some(rules) => rules,
                None => match self.script.take_due(self.now) {
                    Some(actions) => vec![actions],
                    None => return fired > 0,
                },
            };
            for actions in todo {
                fired += 1;
                self.faults.effects.acts += 1;
                self.perform(actions);
            }
            if fired > MOST_AT_ONCE {
                tracing::warn!("reader: the script loops; its further actions at this moment are skipped");
                self.script.happened.clear();
                let now = self.now;
                self.script.agenda.retain(|(at, _)| *at > now);
                return false;
            }
        }
    }

    /// Begins a transaction unless one is open.
    pub(in super::super) fn sale_begins(&mut self) {
        if self.kernel.begin_sale() {
            self.happens(ScriptEvent::Sale);
        }
    }

    fn perform(&mut self, mut actions: VecDeque<ScriptAction>) {
        while let Some(action) = actions.pop_front() {
            match action {
                ScriptAction::Present(entry, card) => self.present(card, entry),
                ScriptAction::Remove => self.remove(),
                ScriptAction::Type(plan) => self.plan_typing_by_script(plan),
                ScriptAction::Choose(number) => self.plan_choice_by_script(number),
                ScriptAction::Key(key) => self.press(key),
                ScriptAction::TooLong => self.waited_too_long(),
                ScriptAction::Unplug(time) => {
                    self.unplugged();
                    self.faults.move_cable(Cable::Out);
                    if let Some(time) = time {
                        self.script.agenda.push((self.now + time, [ScriptAction::Plug].into()));
                    }
                }
                ScriptAction::Plug => self.faults.move_cable(Cable::In),
                ScriptAction::Reboot(time) => self.reboot(time.unwrap_or(self.options.pace.boot)),
                ScriptAction::Garbage(count) => {
                    let bytes = (0..count).map(|_| self.next_random().to_be_bytes()[0]).collect();
                    self.outgoing.push_back(OutgoingBytes { bytes, card: false });
                }
                ScriptAction::Spoil => self.faults.damages_next = true,
                ScriptAction::Silent(None) => self.faults.loses_next = true,
                ScriptAction::Silent(Some(time)) => self.faults.silent_until = Some(self.now + time),
                ScriptAction::Delay(time) => self.faults.held_until = Some(self.now + time),
                ScriptAction::Clear => self.keys.encrypts_card_data = false,
                ScriptAction::Amount(amount) => self.options.amount_override = amount,
                ScriptAction::Flood(flood) => self.faults.flood = flood,
                ScriptAction::Serial(serial) => self.options.serial = serial,
                ScriptAction::Version(name, version) => {
                    match self.options.configuration.iter_mut().find(|(known, _)| *known == name) {
                        Some((_, known)) => *known = version,
                        None => self.options.configuration.push((name, version)),
                    }
                }
                ScriptAction::Wait(time) => return self.script.agenda.push((self.now + time, actions)),
            }
        }
    }

    /// Types at the current prompt or, without one, at the next prompt.
    fn plan_typing_by_script(&mut self, plan: PinPlan) {
        match (&mut self.kernel.running, plan) {
            (Running::Pin(_), plan) => self.change_pin_plan(plan),
            (Running::Number(_), PinPlan::Digits(digits)) => {
                self.cardholder.number_plans.push_back(digits);
                self.kernel.due = Some(self.now + self.options.pace.key);
            }
            (_, plan) => self.cardholder.pin_plan = plan,
        }
    }

    /// Switches the reader off and on. Running steps and switches are lost; keys, counters and the card in the slot are
    /// kept.
    pub(in super::super) fn reboot(&mut self, time: Duration) {
        self.protocol().powering_off(self);
        self.lose_power();
        self.display.go_dark();
        self.faults.off_until = Some(self.now + time);
        self.faults.effects.reboots += 1;
    }

    /// Switches the reader on after a reboot.
    pub(in super::super) fn powers_on(&mut self) {
        self.faults.off_until = None;
        self.display.show("WELCOME");
        self.protocol().powered_on(self);
        self.happens(ScriptEvent::PoweredOn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::Options;

    /// P2PE STATUS and its answer, copied by hand from documents (readers: 2.13).
    const STATUS: &str = "010004EEE000000B";
    const ANSWER: &str = "010009E105DFAE01010790000A";

    fn device(text: &str) -> Device {
        Device::new(Options { script: text.parse().unwrap(), ..Options::default() })
    }

    /// Sends P2PE STATUS at this time in milliseconds, and returns the answer.
    fn ask(device: &mut Device, at: u64) -> Vec<String> {
        device.bytes(&hex::decode(STATUS).unwrap(), Duration::from_millis(at));
        said(device)
    }

    fn said(device: &mut Device) -> Vec<String> {
        std::iter::from_fn(|| device.output()).map(|output| hex::encode_upper(output.bytes)).collect()
    }

    #[test]
    fn silence_has_an_end() {
        let mut device = device("on frame 1: silent 1s");
        assert_eq!(ask(&mut device, 100), [""; 0]);
        assert_eq!(ask(&mut device, 1_099), [""; 0]);
        assert_eq!(ask(&mut device, 1_100), [ANSWER]);
    }

    #[test]
    fn what_is_held_back_comes_at_its_time() {
        let mut device = device("on frame 1: delay 300ms");
        assert_eq!(ask(&mut device, 100), [""; 0]);
        assert_eq!(device.deadline(), Some(Duration::from_millis(400)));
        device.timer(Duration::from_millis(399));
        assert_eq!(said(&mut device), [""; 0]);
        device.timer(Duration::from_millis(400));
        assert_eq!(said(&mut device), [ANSWER]);
        assert_eq!((ask(&mut device, 500), device.deadline()), (vec![ANSWER.to_owned()], None));
    }

    #[test]
    fn moments_and_waits_go_by_the_devices_time() {
        let mut device = device("after 2s: insert chip-pin, wait 500ms, remove");
        assert_eq!(device.deadline(), Some(Duration::from_secs(2)));
        for (at, card_in_slot, next) in [(1_999, false, Some(2_000)), (2_000, true, Some(2_500)), (2_500, false, None)]
        {
            device.timer(Duration::from_millis(at));
            assert_eq!(device.screen().card_in_slot, card_in_slot, "{at}");
            assert_eq!(device.deadline(), next.map(Duration::from_millis), "{at}");
        }
    }

    #[test]
    fn a_reboot_takes_its_time_and_is_deaf_meanwhile() {
        let mut device = device("on frame 1: reboot 2s");
        assert_eq!(ask(&mut device, 0).len(), 1, "only that it powers off");
        assert_eq!(ask(&mut device, 1_999), [""; 0]);
        device.timer(Duration::from_secs(2));
        assert_eq!(said(&mut device), ["014013E60FC30101C40A506F7765726564204F6E900079"]);
        assert_eq!(ask(&mut device, 2_001), [ANSWER]);
    }

    #[test]
    fn a_test_learns_what_the_script_has_done() {
        let mut device = device("on frame 1: silent\non frame 3: reboot 1s");
        let effects = |device: &Device| (device.effects().acts, device.effects().lost, device.effects().reboots);
        assert_eq!(effects(&device), (0, 0, 0));
        assert_eq!(ask(&mut device, 0), [""; 0]);
        assert_eq!(effects(&device), (1, 1, 0));
        assert_eq!(ask(&mut device, 1), [ANSWER]);
        assert_eq!(effects(&device), (1, 1, 0));
        // What is lost because the reader is off is no silence.
        assert_eq!(ask(&mut device, 2).len(), 1, "only that it powers off");
        assert_eq!(effects(&device), (2, 1, 1));
        device.run_script(Script::default(), Duration::from_millis(3));
        assert_eq!(effects(&device), (0, 0, 0), "a new script begins");
    }

    #[test]
    fn the_cable_is_asked_for_in_order() {
        let mut device = device("on frame 2: unplug 1s");
        assert_eq!(ask(&mut device, 0), [ANSWER]);
        assert_eq!(ask(&mut device, 10), [""; 0], "the command goes down with the cable");
        assert_eq!((device.take_cable(), device.take_cable()), (Some(Cable::Out), None));
        device.timer(Duration::from_millis(1_010));
        assert_eq!(device.take_cable(), Some(Cable::In));
    }

    #[test]
    fn the_same_script_gives_the_same_bytes() {
        let run = || {
            let mut device = device("on frame: garbage 100");
            (ask(&mut device, 0), ask(&mut device, 1))
        };
        assert_eq!(run(), run());
        assert_eq!(run().0[0].len(), 200);
    }
}
