//! The customer. A card waits until the reader asks for one, or cards present themselves at every payment.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use pos_sim::reader::{Card, CardEntry, PinPlan, Reader, Screen, WaitsFor};
use pos_till_api::client::{Client, Question};
use serde_json::Value;
use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;

/// The time limit for the reader to notice a card.
const NOTICED_WITHIN: Duration = Duration::from_secs(2);
/// The time limit for the agent to name its transaction.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);
/// The pause between two looks at a transaction whose card was refused.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// The number of times that a card presents itself in one transaction.
const MOST_TRIES: u32 = 6;
/// The longest status that is read.
const LONGEST_STATUS: usize = 1 << 20;

/// A card, and how it is presented. It has no `Debug`, because it may contain a PIN.
pub(crate) struct Presentation {
    pub(crate) card: &'static Card,
    pub(crate) entry: CardEntry,
    /// The digits that the customer types; `None` for the right ones.
    pub(crate) pin: Option<String>,
    /// True if the card stays in the slot.
    pub(crate) leave_in: bool,
}

/// The reason why a card is not presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Another card waits for the reader.
    Waits(&'static str),
    /// A card is in the slot.
    InSlot,
}

/// The customer's hands. All clones are the same customer.
#[derive(Clone)]
pub(crate) struct Hands {
    reader: Reader,
    state: Arc<Mutex<State>>,
    changed: Arc<Notify>,
}

/// A card that presented itself, and the transaction in which it did.
struct Tried {
    reference: String,
    card: &'static Card,
    entry: CardEntry,
    times: u32,
}

#[derive(Default)]
struct State {
    waiting: Option<(Presentation, oneshot::Sender<()>)>,
    auto: Option<&'static Card>,
}

/// Returns the way in which people present this card: a tap, if the reader accepts one.
pub(crate) fn usual_way(card: &Card) -> CardEntry {
    card.entries().last().copied().unwrap_or(CardEntry::Insert)
}

impl Hands {
    /// Begins to act as the customer at this reader. `agent` is the agent's socket.
    pub(crate) fn begin(reader: Reader, auto: Option<&'static Card>, agent: PathBuf) -> Self {
        let state = Arc::new(Mutex::new(State { waiting: None, auto }));
        let hands = Self { reader, state, changed: Arc::default() };
        tokio::spawn(hands.clone().present_all(Client::at(agent, ANSWER_WITHIN)));
        hands
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Lets a card wait for the reader. The receiver hears when it is presented.
    pub(crate) fn take(&self, presentation: Presentation) -> Result<oneshot::Receiver<()>, Refused> {
        let mut state = self.state();
        if let Some((waiting, _)) = &state.waiting {
            return Err(Refused::Waits(waiting.card.name));
        }
        if self.reader.watch().borrow().card_in_slot {
            return Err(Refused::InSlot);
        }
        let (done, presented) = oneshot::channel();
        state.waiting = Some((presentation, done));
        drop(state);
        self.changed.notify_one();
        Ok(presented)
    }

    /// Takes back a card that waits, and takes a card out of the slot. Returns whether there was one.
    pub(crate) fn take_back(&self) -> bool {
        let waited = self.state().waiting.take().is_some();
        let is_in_slot = self.reader.watch().borrow().card_in_slot;
        if is_in_slot {
            self.reader.remove();
        }
        waited || is_in_slot
    }

    /// Sets the card that presents itself, or none.
    pub(crate) fn set_auto(&self, card: Option<&'static Card>) {
        self.state().auto = card;
        self.changed.notify_one();
    }

    /// Returns the card that waits, and the card that presents itself.
    pub(crate) fn cards(&self) -> (Option<&'static str>, Option<&'static str>) {
        let state = self.state();
        (state.waiting.as_ref().map(|(waiting, _)| waiting.card.name), state.auto.map(|card| card.name))
    }

    /// Presents cards as the reader asks for them.
    async fn present_all(self, agent: Client) {
        let mut last: Option<Tried> = None;
        loop {
            self.asked(&agent, last.as_ref()).await;
            let (waiting, auto) = {
                let mut state = self.state();
                (state.waiting.take(), state.auto)
            };
            if let Some((presentation, done)) = waiting {
                self.present(&presentation).await;
                last = None;
                // The program that asked may be gone.
                let _ = done.send(());
            } else if let Some(card) = auto {
                let reference = current(&agent).await.0;
                let tried = last.take().filter(|before| before.reference == reference && before.card == card);
                let entry = self.next_way(card, tried.as_ref());
                self.present(&Presentation { card, entry, pin: None, leave_in: false }).await;
                last = Some(Tried { reference, card, entry, times: tried.map_or(1, |before| before.times + 1) });
            } else {
                let moved = self.reader.until(|screen| screen.waits_for != WaitsFor::Card);
                tokio::select! {
                    () = self.changed.notified() => {}
                    () = moved => {}
                }
            }
        }
    }

    /// Waits until the reader asks for a card, or asks again after it has refused the way that was tried.
    async fn asked(&self, agent: &Client, last: Option<&Tried>) {
        let refused = last.filter(|tried| tried.card.after(tried.entry).is_some() && tried.times < MOST_TRIES);
        loop {
            tokio::select! {
                () = self.reader.waits_for(WaitsFor::Card) => return,
                () = tokio::time::sleep(LOOK_EVERY), if refused.is_some() => {
                    let (reference, state) = current(agent).await;
                    let screen = self.reader.watch().borrow().clone();
                    let is_free = screen.waits_for == WaitsFor::Agent && !screen.card_in_slot;
                    let is_same = refused.is_some_and(|tried| tried.reference == reference);
                    if is_free && is_same && state == "waiting-for-card" {
                        return;
                    }
                }
            }
        }
    }

    /// Returns the next way for a card in one transaction: the reader may refuse the first one.
    fn next_way(&self, card: &Card, tried: Option<&Tried>) -> CardEntry {
        let Some(tried) = tried else { return usual_way(card) };
        match card.after(tried.entry) {
            // A reader may ask for the same chip several times before it allows a swipe.
            Some(CardEntry::Swipe) if tried.times < 3 && !shows(&self.reader.watch().borrow(), "SWIPE") => {
                CardEntry::Insert
            }
            Some(next) => next,
            None => tried.entry,
        }
    }

    async fn present(&self, presentation: &Presentation) {
        let Presentation { card, entry, pin, leave_in } = presentation;
        self.reader.plan_pin(pin.clone().map_or(PinPlan::Right, PinPlan::Digits));
        self.reader.set_removes_card(!leave_in);
        self.reader.present(card, *entry);
        // A reader that notices nothing asks again, and then the customer has no card in the hand.
        let noticed = self.reader.until(|screen| screen.waits_for != WaitsFor::Card || screen.card_in_slot);
        let _ = timeout(NOTICED_WITHIN, noticed).await;
        if *entry == CardEntry::Insert && !leave_in {
            // A chip that cannot be read is taken out when the reader says so.
            let reader = self.reader.clone();
            tokio::spawn(async move {
                reader.until(|screen| !screen.card_in_slot || shows(screen, "REMOVE")).await;
                if reader.watch().borrow().card_in_slot {
                    reader.remove();
                }
            });
        }
    }
}

fn shows(screen: &Screen, word: &str) -> bool {
    screen.lines.iter().any(|line| line.to_uppercase().contains(word))
}

/// Returns the reference and the state of the transaction at the reader; empty if the agent does not say them.
async fn current(agent: &Client) -> (String, String) {
    let asked = agent.ask(Question::get("/v1/status", ANSWER_WITHIN), LONGEST_STATUS).await;
    let status: Value = asked.ok().and_then(|(_, body)| serde_json::from_slice(&body).ok()).unwrap_or_default();
    let text = |key: &str| status["current"][key].as_str().unwrap_or_default().to_owned();
    (text("reference"), text("state"))
}
