//! The handle of a running reader. People and tests use it to present cards, press keys, pull the cable, and watch the
//! display.

use std::io;
use std::sync::Arc;

use tokio::sync::watch;

use super::cardholder::{ChoicePlan, Key, PersonAction, PinPlan};
use super::deck::{Card, CardEntry};
use super::device::LineCounters;
use super::display::{Screen, WaitsFor};
use super::faults::{AbortRace, ScriptEffects};
use super::port::{EndWithHandle, Moments, Shared};
use super::script::{Script, ScriptAction, ScriptEvent};

/// The handle of a running reader. All clones control the same reader, which ends when the last clone is dropped.
#[derive(Clone)]
pub struct Reader {
    pub(super) shared: Arc<Shared>,
    pub(super) _task: Arc<EndWithHandle>,
}

impl Reader {
    /// Returns the reader's address: the path of the pty (or of its link), or the TCP address with port.
    #[must_use]
    pub fn place(&self) -> String {
        self.shared.lock().place.clone()
    }

    /// Inserts a card.
    pub fn insert(&self, card: &'static Card) {
        self.present(card, CardEntry::Insert);
    }

    /// Taps a card. A tap has no effect unless the reader waits for one: see [`Self::waits_for`].
    pub fn tap(&self, card: &'static Card) {
        self.present(card, CardEntry::Tap);
    }

    /// Swipes a card.
    pub fn swipe(&self, card: &'static Card) {
        self.present(card, CardEntry::Swipe);
    }

    /// Presents a card in this way.
    pub fn present(&self, card: &'static Card, entry: CardEntry) {
        self.person_does(PersonAction::Present(card, entry));
    }

    /// Sets whether the cardholder takes the card out after its final decision.
    pub fn set_removes_card(&self, removes: bool) {
        self.shared.act(|device, _| device.set_removes_card(removes));
    }

    /// Takes the card out of the slot.
    pub fn remove(&self) {
        self.person_does(PersonAction::Remove);
    }

    /// Takes the card out at the next event of this kind, like a script with this one rule.
    pub fn remove_at(&self, when: ScriptEvent) {
        self.run_script(Script::default().on(when, Some(1), &[ScriptAction::Remove]));
    }

    /// Replaces the script. The new script counts events from this call.
    pub fn run_script(&self, script: Script) {
        self.shared.act(|device, now| device.run_script(script, now));
    }

    /// Switches the reader off and on ([`super::Pace::boot`]). The connection stays.
    pub fn reboot(&self) {
        self.person_does(PersonAction::Reboot);
    }

    /// Presses a key.
    pub fn key(&self, key: Key) {
        self.person_does(PersonAction::Key(key));
    }

    /// Lets the time-out of the reader's current wait expire (9F42, or a PIN not entered).
    pub fn wait_too_long(&self) {
        self.person_does(PersonAction::WaitTooLong);
    }

    /// Sets the digits that the cardholder types at the next PIN prompt, instead of the right PIN.
    pub fn next_pin(&self, digits: &str) {
        self.plan_pin(PinPlan::Digits(digits.to_owned()));
    }

    /// Lets the cardholder press cancel at the next PIN prompt.
    pub fn next_pin_cancel(&self) {
        self.plan_pin(PinPlan::Cancel);
    }

    /// Sets the cardholder's action at the next PIN prompt.
    pub fn plan_pin(&self, plan: PinPlan) {
        self.shared.act(|device, _| device.cardholder.pin_plan = plan);
    }

    /// Sets the cardholder's action at the next application choice.
    pub fn plan_choice(&self, plan: ChoicePlan) {
        self.shared.act(|device, _| device.cardholder.choice_plan = plan);
    }

    /// Sets the digits that the cardholder types at the next GET NUMERIC.
    pub fn next_number(&self, digits: &str) {
        self.shared.act(|device, _| device.cardholder.number_plans.push_back(digits.to_owned()));
    }

    /// Sets the result of an ABORT during a running command.
    pub fn plan_abort(&self, race: AbortRace) {
        self.shared.act(|device, _| device.faults.abort_race = race);
    }

    /// Damages one bit of the next message.
    pub fn spoil_next(&self) {
        self.shared.act(|device, _| device.faults.damages_next = true);
    }

    /// Pulls the cable, so the other side reads the end of file. The device loses running steps, but keeps its keys and
    /// counters.
    pub fn unplug(&self) {
        self.shared.act(|device, _| device.unplugged());
        self.shared.pull(&mut self.shared.lock());
        self.shared.wake.notify_one();
    }

    /// Puts the cable back: at the same TCP address, or as a new pty under the same link. Without a link,
    /// [`Self::place`] changes.
    ///
    /// # Errors
    ///
    /// Fails like [`start`](super::port::start).
    pub fn replug(&self) -> io::Result<()> {
        self.shared.put_back(&mut self.shared.lock())?;
        self.shared.wake.notify_one();
        Ok(())
    }

    /// Returns the lines of the display.
    #[must_use]
    pub fn display(&self) -> Vec<String> {
        self.shared.screen.borrow().lines.clone()
    }

    /// Returns the display and the reader's current wait, with a signal for changes.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Screen> {
        self.shared.screen.subscribe()
    }

    /// Returns what the current script has done so far, with a signal for changes.
    #[must_use]
    pub fn effects(&self) -> watch::Receiver<ScriptEffects> {
        self.shared.effects.subscribe()
    }

    /// Waits until the reader waits for this input.
    pub async fn waits_for(&self, what: WaitsFor) {
        self.until(|screen| screen.waits_for == what).await;
    }

    /// Waits until the screen satisfies a condition.
    pub async fn until(&self, wanted: impl FnMut(&Screen) -> bool + Send) {
        // `self.shared` keeps the sender, so waiting cannot fail.
        let _ = self.watch().wait_for(wanted).await;
    }

    /// Returns the number of flood bytes that were taken so far ([`ScriptAction::Flood`]).
    #[must_use]
    pub fn flooded(&self) -> u64 {
        self.shared.lock().device.flooded()
    }

    /// Returns the counters of the input.
    #[must_use]
    pub fn counters(&self) -> LineCounters {
        self.shared.lock().device.counters().clone()
    }

    /// Calls `told` each time CONTINUE TRANSACTION was read, before any answer is written. There can be only one
    /// listener: returns false if one is already set.
    pub fn at_continue(&self, told: impl Fn() + Send + Sync + 'static) -> bool {
        self.shared.at_continue.set(Box::new(told)).is_ok()
    }

    /// Returns the times of the latest transaction.
    #[must_use]
    pub fn moments(&self) -> Moments {
        self.shared.lock().moments
    }

    fn person_does(&self, action: PersonAction) {
        self.shared.act(|device, now| device.person_does(action, now));
    }
}
