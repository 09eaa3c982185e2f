//! From the card that was read to the empty slot: waiting for the host, CONTINUE TRANSACTION, "remove card" (readers:
//! 2.5 to 2.7; design: path of a sale, 7).

use std::time::Duration;

use super::line::{Ask, CARD_STATUS_ON, CARDHOLDER, Line, PLAIN_ANSWER, Pending};
use super::message::{Command, Continue, Outcome, P2peStatus, Status, Template};
use super::reading::Interface;
use super::sale::{Sale, Stage, display};
use super::session::{State, lost, restart};
use super::words::Words;
use crate::card::CardFacts;
use crate::emv::{tag, tlv};
use crate::reader::link::MAX_COMMAND_DATA;
use crate::reader::{CardVerdict, Completion, Event, Language, Step, Unready};
use crate::transaction::SaleNumber;

/// The agent always answers a card; its own deadlines for the host are below a minute. Beyond this it has hung.
const HOST_ANSWER: Duration = Duration::from_secs(300);
/// A card that stays in the slot: ask anew whether it does, in case its removal was told on a disturbed line.
const REMOVE_CHECK: Duration = Duration::from_secs(30);
/// Transaction type of a refund (9C), for which AAC is the normal answer (design: path of a sale, 7).
const REFUND: u8 = 0x20;

/// A card that was read, while the host is asked.
pub(super) struct Reading {
    /// The facts without secrets, to be completed by the chip's last answer.
    facts: Option<Box<CardFacts>>,
    say: Say,
    /// When the agent must have answered.
    pub(super) until: Duration,
}

/// What the card still has to say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Say {
    /// A chip in the slot decides.
    Decides,
    /// A tap is closed with the result, which it cannot change.
    IsTold,
    /// Nothing: a swipe, or a chip that has decided by itself.
    Nothing(CardVerdict),
}

impl Reading {
    pub(super) fn chip(facts: &CardFacts, template: Template, interface: Interface, now: Duration) -> Self {
        let say = match (template, interface) {
            (Template::Declined, _) => Say::Nothing(CardVerdict::Refused),
            // NOTE: whether CONTINUE may follow an E3 is not published; the card has given its TC and is done.
            (Template::Approved | Template::Decision, _) => Say::Nothing(CardVerdict::Approved),
            (Template::Online, Interface::Contact) => Say::Decides,
            (Template::Online, Interface::Contactless) => Say::IsTold,
        };
        Self { facts: Some(Box::new(facts.clone())), say, until: now + HOST_ANSWER }
    }

    pub(super) fn swipe(now: Duration) -> Self {
        Self { facts: None, say: Say::Nothing(CardVerdict::Approved), until: now + HOST_ANSWER }
    }

    pub(super) fn complete(
        self,
        mut sale: Box<Sale>,
        line: &mut Line,
        completion: &Completion,
        now: Duration,
    ) -> State {
        let Self { facts, say, until: _ } = self;
        let (host, scripts_dropped) = host_answer(completion, say, line.extended);
        let approved = matches!(&completion.arc, b"00" | b"08" | b"10" | b"11");
        let completing = Completing {
            sale: sale.number(),
            refund: sale.arm.transaction_type == REFUND,
            facts,
            say,
            approved,
            scripts_dropped,
            language: sale.language,
        };
        match say {
            Say::Nothing(verdict) => return completing.finish(line, verdict, None, now),
            Say::Decides => line.ask(Ask::Continue, &Command::Continue(host), CARDHOLDER, now),
            Say::IsTold => line.ask(Ask::Continue, &Command::Continue(host), PLAIN_ANSWER, now),
        }
        sale.stage = Stage::Completing(completing);
        State::Sale(sale)
    }
}

/// What goes to the card, and whether scripts were left out: those of a chip only, well-formed, and within one command.
fn host_answer(completion: &Completion, say: Say, extended: bool) -> (Continue<'_>, bool) {
    let Completion { arc, issuer_authentication, scripts } = completion;
    // A tap is closed by 8A alone (design: path of a sale, 7).
    let authentication = issuer_authentication.as_deref().filter(|_| say == Say::Decides);
    let well_formed = tlv::walk(scripts)
        .all(|script| script.is_ok_and(|script| matches!(script.tag, tag::ISSUER_SCRIPT_1 | tag::ISSUER_SCRIPT_2)));
    let whole = Continue::Host { arc: *arc, authentication, scripts };
    if say == Say::Decides && well_formed && Command::Continue(whole).packets(extended).is_ok() {
        return (whole, false);
    }
    // 8A and 91 of at most 16 bytes always fit into MAX_COMMAND_DATA.
    const { assert!(4 + 18 + 2 <= MAX_COMMAND_DATA) };
    let dropped = say == Say::Decides && !scripts.is_empty();
    (Continue::Host { arc: *arc, authentication, scripts: &[] }, dropped)
}

/// The card is being told the host's answer.
pub(super) struct Completing {
    sale: SaleNumber,
    refund: bool,
    facts: Option<Box<CardFacts>>,
    say: Say,
    approved: bool,
    scripts_dropped: bool,
    language: Language,
}

impl Completing {
    pub(super) fn answered(self, line: &mut Line, outcome: Result<Outcome<'_>, Status>, now: Duration) -> State {
        let verdict = match (&outcome, self.say) {
            // A tap cannot change what the host said, whatever the reader answers.
            (_, Say::IsTold) => CardVerdict::Approved,
            (_, Say::Nothing(verdict)) => verdict,
            (Ok(outcome), Say::Decides) => match outcome.template {
                Template::Approved => CardVerdict::Approved,
                Template::Declined => CardVerdict::Refused,
                Template::Online | Template::Decision => CardVerdict::Lost,
            },
            (Err(_), Say::Decides) => CardVerdict::Lost,
        };
        // A decision or another E4 after the host's answer: nothing more can be said to the card.
        if verdict == CardVerdict::Lost && outcome.is_ok() {
            line.abort(now);
        }
        if let Err(status @ (Status::NOT_READY | Status::NOT_ALLOWED)) = outcome
            && self.say == Say::Decides
        {
            self.tell(line, verdict, None);
            return lost(line, status, now);
        }
        let tlvs = outcome.ok().map(|outcome| outcome.tlvs());
        self.finish(line, verdict, tlvs, now)
    }

    /// No answer in time: nobody knows what the chip decided.
    pub(super) fn unanswered(self, line: &mut Line, now: Duration) -> State {
        line.abort(now);
        let verdict = if self.say == Say::Decides { CardVerdict::Lost } else { CardVerdict::Approved };
        self.finish(line, verdict, None, now)
    }

    fn finish(self, line: &mut Line, verdict: CardVerdict, tlvs: Option<&[u8]>, now: Duration) -> State {
        let Self { sale, refund, say, approved, language, .. } = self;
        self.tell(line, verdict, tlvs);
        let result = match (say, verdict) {
            // The reader itself shows the result of a tap (readers: 2.6).
            (Say::IsTold, _) | (_, CardVerdict::Lost) => None,
            (_, CardVerdict::Refused) if !refund => Some(Words::Declined),
            _ if approved => Some(Words::Approved),
            _ => Some(Words::Declined),
        };
        Removing::start(line, sale, result, language, now)
    }

    fn tell(self, line: &mut Line, verdict: CardVerdict, tlvs: Option<&[u8]>) {
        let Self { sale, facts, scripts_dropped, .. } = self;
        let facts = match (facts, tlvs) {
            (Some(mut facts), Some(tlvs)) => facts.complete(tlvs).is_ok().then_some(facts),
            _ => None,
        };
        line.emit(Event::Completed { sale, verdict, facts, scripts_dropped });
    }
}

/// The sale is over; its card may still be in the slot.
pub(super) struct Removing {
    check_at: Duration,
}

impl Removing {
    /// Shows the result, and asks for the card when it is in the slot.
    pub(super) fn start(
        line: &mut Line,
        sale: SaleNumber,
        result: Option<Words>,
        language: Language,
        now: Duration,
    ) -> State {
        let remove = line.slot.then_some(Words::RemoveCard);
        let words: Vec<Words> = result.into_iter().chain(remove).collect();
        if !words.is_empty() {
            display(line, &words, language, now);
        }
        if line.slot {
            line.step(sale, Step::RemoveCard);
        }
        State::Removing(Self { check_at: now + REMOVE_CHECK })
    }

    /// After a sale that ended for want of a key the reader has said which keys it still holds. Other answers change
    /// nothing.
    pub(super) fn answered(
        self,
        line: &mut Line,
        pending: Pending,
        body: &[u8],
        status: Status,
        now: Duration,
    ) -> State {
        if pending.ask != Ask::P2peStatus {
            return State::Removing(self);
        }
        match P2peStatus::parse(body) {
            Ok(p2pe) if status == Status::OK && p2pe.card_key() => {
                if let Some(identity) = &mut line.identity {
                    identity.pin_key = p2pe.pin_key();
                }
                State::Removing(self)
            }
            Ok(_) if status == Status::OK => {
                let serial = line.serial();
                restart(line, Unready::NoCardKey { serial }, now)
            }
            _ => restart(line, Unready::Restarting { cause: "it did not say which keys it holds".to_owned() }, now),
        }
    }

    pub(super) fn timeout(mut self, line: &mut Line, overdue: Option<Pending>, now: Duration) -> State {
        if let Some(pending) = overdue {
            line.reopen(Unready::Restarting { cause: format!("no answer to {}", pending.name) });
            return State::Closed;
        }
        if now >= self.check_at {
            self.check_at = now + REMOVE_CHECK;
            if line.is_free() {
                line.ask(Ask::CardStatus, &CARD_STATUS_ON, PLAIN_ANSWER, now);
            }
        }
        State::Removing(self)
    }

    pub(super) fn deadline(&self) -> Duration {
        self.check_at
    }
}
