//! The parts of the tests of faults (`miura_faults`, `vipa_faults`, `neo2_faults`) that are the same for each family: a
//! stand-in for the agent, and a run of all cases.

use pos_reader::{NoCard, ReaderEvent, ReaderProgress};

/// A stand-in for the agent that checks the events that the agent relies on. It answers a card immediately.
#[derive(Default)]
pub(crate) struct Agent {
    pub(crate) ready: bool,
    pub(crate) sale: u64,
    /// True while a sale is armed or typing is in progress.
    pub(crate) busy: bool,
    pub(crate) waiting: bool,
    pub(crate) card: bool,
    pub(crate) completing: bool,
    pub(crate) typing: bool,
    pub(crate) cards: usize,
    pub(crate) ends: usize,
}

impl Agent {
    pub(crate) fn hears(&mut self, event: &ReaderEvent) {
        match event {
            ReaderEvent::Ready(_) => {
                assert!(!self.ready && !self.busy, "ready while busy");
                self.ready = true;
            }
            ReaderEvent::Unready(_) => {
                self.ends += usize::from(self.busy);
                (self.ready, self.busy, self.waiting, self.card, self.completing, self.typing) = Default::default();
            }
            ReaderEvent::Progress { sale, progress } => {
                assert_eq!(*sale, self.sale, "{progress:?}");
                assert!(self.busy && (self.waiting || *progress == ReaderProgress::RemoveCard), "{progress:?}");
            }
            ReaderEvent::Language { sale, .. } => assert!(*sale == self.sale && self.waiting, "a language of nobody"),
            ReaderEvent::Card { sale, .. } => {
                assert!(*sale == self.sale && std::mem::take(&mut self.waiting), "a card for nobody");
                self.card = true;
                self.cards += 1;
            }
            // A reader that has just become ready may name its keys too.
            ReaderEvent::KeysLeft { .. } => assert!(self.card || (self.ready && !self.busy)),
            ReaderEvent::NoCard { why: NoCard::NotReady, .. } => panic!("not ready"),
            ReaderEvent::NoCard { sale, .. } => {
                assert!(*sale == self.sale && std::mem::take(&mut self.waiting), "a second end");
            }
            ReaderEvent::Completed { sale, .. } => {
                assert!(*sale == self.sale && std::mem::take(&mut self.completing), "a second verdict");
            }
            ReaderEvent::Typed { sale, .. } => {
                assert!(*sale == self.sale && std::mem::take(&mut self.typing), "a second answer");
                self.busy = false;
                self.ends += 1;
            }
            ReaderEvent::Idle => {
                assert!(self.busy && !self.waiting && !self.card && !self.completing, "idle too early");
                self.busy = false;
                self.ends += 1;
            }
        }
    }
}

/// Runs every case and names all that fail.
pub(crate) fn each(cases: impl Iterator<Item = (String, Box<dyn Fn(String)>)>) {
    let mut failed = Vec::new();
    let mut played = 0;
    for (name, case) in cases {
        played += 1;
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(name.clone()))).is_err() {
            failed.push(name);
        }
    }
    assert!(failed.is_empty() && played > 0, "{} of {played} fail:\n{}", failed.len(), failed.join("\n"));
}
