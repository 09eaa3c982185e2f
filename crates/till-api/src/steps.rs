//! The catalogue of events: the closed list of the words of all steps. The agent checks each step that it announces
//! against this list while it is tested. The manual's table is made from it.

/// What a step is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepAbout {
    /// One transaction of a till.
    Sale,
    /// The reader during one transaction of a till.
    Reader,
    /// The terminal. Every till gets the step.
    Terminal,
    /// One transaction of a till, or the terminal.
    SaleOrTerminal,
}

impl StepAbout {
    /// Returns the words for the manual.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sale => "sale",
            Self::Reader => "reader",
            Self::Terminal => "terminal",
            Self::SaleOrTerminal => "sale or terminal",
        }
    }
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventStep {
    /// The word, as in `event:` and `step`.
    pub word: &'static str,
    /// When the step is announced, for the manual.
    pub when: &'static str,
    /// What the step is about.
    pub about: StepAbout,
    /// True if the event carries the transaction in its new state. Webhooks send these steps by default.
    pub carries_sale: bool,
}

type Row = (&'static str, StepAbout, bool, &'static str);

const fn step((word, about, carries_sale, when): Row) -> EventStep {
    EventStep { word, when, about, carries_sale }
}

/// The word for missed steps. The stream itself announces it.
pub const RESET: &str = "reset";

/// All steps, in the order of a sale.
pub const STEPS: &[EventStep] = {
    use StepAbout::{Reader, Sale, SaleOrTerminal, Terminal};
    &[
        step(("waiting-for-card", Sale, true, "the transaction has begun and waits for a card")),
        step(("choosing-tip", Reader, false, "the customer chooses a tip")),
        step(("present-card", Reader, false, "the reader waits for a card")),
        step(("insert-card", Reader, false, "the customer must insert the card")),
        step(("swipe-card", Reader, false, "the customer must swipe the card")),
        step(("try-again", Reader, false, "the customer must present one card, or another one")),
        step(("type-card", Reader, false, "the card number is typed")),
        step(("choosing-application", Reader, false, "the customer chooses an application of the card")),
        step(("reading-card", Reader, false, "the chip is read")),
        step(("pin-entry", Reader, false, "the customer enters the PIN; again for each digit, if the reader sends it")),
        step(("pin-wrong", Reader, false, "the PIN is wrong")),
        step(("pin-done", Reader, false, "the PIN is entered")),
        step(("reader-text", Reader, false, "the reader shows another text, which is in `text`")),
        step(("remove-card", Reader, false, "the customer must remove the card")),
        step(("authorising", Sale, true, "the gateway is asked (state `in-progress`)")),
        step(("customer-acts", Sale, true, "the customer must act at `redirectUrl` (state `in-progress`)")),
        step(("throttled", Sale, false, "the gateway has too many requests; the agent asks again")),
        step(("awaiting-signature", Sale, true, "the signature must be compared")),
        step(("confirm-needed", Sale, true, "the till must confirm the approval (state `awaiting-till`)")),
        step(("unconfirmed", Sale, true, "the outcome is unknown; the payment is being reversed")),
        step((
            "unconfirmed-finishing",
            Sale,
            true,
            "it is unknown whether a refund, capture, credit or reversal was carried out; the agent finishes it",
        )),
        step(("ended", Sale, true, "the transaction has its outcome")),
        step(("alarm", SaleOrTerminal, false, "a person must act")),
        step(("printer-waits", SaleOrTerminal, false, "a receipt or a close waits for the printer")),
        step(("printer-failed", SaleOrTerminal, false, "a receipt or a close was not printed")),
        step(("reader-ready", Terminal, false, "the reader is ready")),
        step(("reader-unready", Terminal, false, "the reader is not ready; `text` says why")),
        step(("reader-changed", Terminal, false, "another reader is connected")),
        step(("clock-set-back", Terminal, false, "the clock is earlier than the last record")),
        step(("journal-failed", Terminal, false, "the journal cannot be written")),
        step(("idle", Terminal, false, "no transaction is at the reader")),
        step((RESET, Terminal, false, "steps were missed: request the sales and the status again")),
    ]
};

/// Returns the step with this word.
#[must_use]
pub fn find(word: &str) -> Option<&'static EventStep> {
    STEPS.iter().find(|step| step.word == word)
}

/// Checks whether an event with this word has its place in the catalogue. `is_of_terminal` is true if the event names
/// no till.
#[must_use]
pub fn is_listed(word: &str, carries_sale: bool, is_of_terminal: bool) -> bool {
    find(word).is_some_and(|step| {
        let about = match step.about {
            StepAbout::Sale | StepAbout::Reader => !is_of_terminal,
            StepAbout::Terminal => is_of_terminal,
            StepAbout::SaleOrTerminal => true,
        };
        step.carries_sale == carries_sale && about
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_has_one_line_and_its_own_place() {
        for (at, step) in STEPS.iter().enumerate() {
            assert!(STEPS[at + 1..].iter().all(|other| other.word != step.word), "{}", step.word);
        }
        for (word, carries_sale, is_of_terminal, is_listed) in [
            ("ended", true, false, true),
            ("ended", false, false, false),
            ("ended", true, true, false),
            ("idle", false, true, true),
            ("idle", false, false, false),
            ("alarm", false, true, true),
            ("alarm", false, false, true),
            ("test", false, true, false),
        ] {
            assert_eq!(super::is_listed(word, carries_sale, is_of_terminal), is_listed, "{word}");
        }
    }
}
