//! From the card that was read to its last word: waiting for the host, CONTINUE TRANSACTION with the host's answer, and
//! what the card makes of it (readers: 2.5 to 2.7; design: path of a sale, 7).

use std::time::Duration;

use super::card_read::ChipInterface;
use super::display::DisplayRow;
use super::line::{CARDHOLDER, CommandPurpose, PLAIN_ANSWER, ReaderLine};
use super::message::{AnswerTemplate, CardElements, ContinueData, MpiCommand, StatusWord, TransactionAnswer};
use super::next::{Next, SaleOver};
use crate::{CardVerdict, Completion, ReaderEvent, ReaderLanguage};
use pos_reader_link::apdu_link::MAX_COMMAND_DATA;
use pos_terms::card::CardFacts;
use pos_terms::emv::{tag, tlv};
use pos_terms::transaction::SaleNumber;

/// The agent always answers a card; its own deadlines for the host are below a minute. Beyond this it has hung.
const HOST_ANSWER: Duration = Duration::from_secs(300);
/// Transaction type of a refund (9C), for which AAC is the normal answer (design: path of a sale, 7).
const REFUND: u8 = 0x20;

/// A card that was read, while the host is asked.
pub(super) struct AwaitingHost {
    /// The facts without secrets, to be completed by the chip's last answer.
    facts: Option<Box<CardFacts>>,
    say: CardSay,
    /// When the agent must have answered.
    pub(super) until: Duration,
}

/// What the card still has to say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CardSay {
    /// A chip in the slot decides.
    Decides,
    /// A tap is closed with the result, which it cannot change.
    IsTold,
    /// Nothing: a swipe, or a chip that has decided by itself.
    Nothing(CardVerdict),
}

impl AwaitingHost {
    pub(super) fn chip(facts: &CardFacts, template: AnswerTemplate, interface: ChipInterface, now: Duration) -> Self {
        let say = match (template, interface) {
            (AnswerTemplate::Declined, _) => CardSay::Nothing(CardVerdict::Refused),
            // NOTE: whether CONTINUE may follow an E3 is not published; the card has given its TC and is done.
            (AnswerTemplate::Approved | AnswerTemplate::Decision, _) => CardSay::Nothing(CardVerdict::Approved),
            (AnswerTemplate::Online, ChipInterface::Contact) => CardSay::Decides,
            (AnswerTemplate::Online, ChipInterface::Contactless) => CardSay::IsTold,
        };
        Self { facts: Some(Box::new(facts.clone())), say, until: now + HOST_ANSWER }
    }

    pub(super) fn swipe(now: Duration) -> Self {
        Self { facts: None, say: CardSay::Nothing(CardVerdict::Approved), until: now + HOST_ANSWER }
    }

    /// The host has answered: the card is told, where it still has a say.
    pub(super) fn complete(
        self,
        sale: CompletedSale,
        line: &mut ReaderLine,
        completion: &Completion,
        now: Duration,
    ) -> Next<ContinueTransaction> {
        let Self { facts, say, until: _ } = self;
        let (host, scripts_dropped) = host_answer(completion, say, line.extended);
        let approved = matches!(&completion.arc, b"00" | b"08" | b"10" | b"11");
        let running = ContinueTransaction { sale, facts, say, approved, scripts_dropped };
        match say {
            CardSay::Nothing(verdict) => return running.finish(line, verdict, None),
            CardSay::Decides => line.ask(CommandPurpose::Continue, &MpiCommand::Continue(host), CARDHOLDER, now),
            CardSay::IsTold => line.ask(CommandPurpose::Continue, &MpiCommand::Continue(host), PLAIN_ANSWER, now),
        }
        Next::Stay(running)
    }
}

/// What goes to the card, and whether scripts were left out: those of a chip only, well-formed, and within one command.
fn host_answer(completion: &Completion, say: CardSay, extended: bool) -> (ContinueData<'_>, bool) {
    let Completion { arc, issuer_authentication, scripts } = completion;
    // A tap is closed by 8A alone (design: path of a sale, 7).
    let authentication = issuer_authentication.as_deref().filter(|_| say == CardSay::Decides);
    let well_formed = tlv::walk(scripts)
        .all(|script| script.is_ok_and(|script| matches!(script.tag, tag::ISSUER_SCRIPT_1 | tag::ISSUER_SCRIPT_2)));
    let whole = ContinueData::Host { arc: *arc, authentication, scripts };
    if say == CardSay::Decides && well_formed && MpiCommand::Continue(whole).packets(extended).is_ok() {
        return (whole, false);
    }
    // 8A and 91 of at most 16 bytes always fit into MAX_COMMAND_DATA.
    const { assert!(4 + 18 + 2 <= MAX_COMMAND_DATA) };
    let dropped = say == CardSay::Decides && !scripts.is_empty();
    (ContinueData::Host { arc: *arc, authentication, scripts: &[] }, dropped)
}

/// What completing a card needs to know of its sale.
pub(super) struct CompletedSale {
    pub(super) number: SaleNumber,
    /// EMV transaction type (9C).
    pub(super) transaction_type: u8,
    pub(super) language: ReaderLanguage,
}

/// CONTINUE TRANSACTION runs: the card is being told the host's answer.
pub(super) struct ContinueTransaction {
    sale: CompletedSale,
    facts: Option<Box<CardFacts>>,
    say: CardSay,
    approved: bool,
    scripts_dropped: bool,
}

impl ContinueTransaction {
    pub(super) fn answered(
        self,
        line: &mut ReaderLine,
        answer: Result<TransactionAnswer<'_>, StatusWord>,
        now: Duration,
    ) -> Next<Self> {
        let verdict = match (&answer, self.say) {
            // A tap cannot change what the host said, whatever the reader answers.
            (_, CardSay::IsTold) => CardVerdict::Approved,
            (_, CardSay::Nothing(verdict)) => verdict,
            (Ok(answer), CardSay::Decides) => match answer.template {
                AnswerTemplate::Approved => CardVerdict::Approved,
                AnswerTemplate::Declined => CardVerdict::Refused,
                AnswerTemplate::Online | AnswerTemplate::Decision => CardVerdict::Lost,
            },
            (Err(_), CardSay::Decides) => CardVerdict::Lost,
        };
        // A decision or another E4 after the host's answer: nothing more can be said to the card.
        if verdict == CardVerdict::Lost && answer.is_ok() {
            line.abort(now);
        }
        if let Err(status @ (StatusWord::NOT_READY | StatusWord::NOT_ALLOWED)) = answer
            && self.say == CardSay::Decides
        {
            self.tell(line, verdict, None);
            return Next::reader_has_lost_it(status);
        }
        let elements = answer.ok().and_then(|answer| answer.elements.ok());
        self.finish(line, verdict, elements.as_ref())
    }

    /// No answer in time: nobody knows what the chip decided.
    pub(super) fn unanswered(self, line: &mut ReaderLine, now: Duration) -> Next<Self> {
        line.abort(now);
        let verdict = if self.say == CardSay::Decides { CardVerdict::Lost } else { CardVerdict::Approved };
        self.finish(line, verdict, None)
    }

    fn finish(self, line: &mut ReaderLine, verdict: CardVerdict, elements: Option<&CardElements<'_>>) -> Next<Self> {
        let CompletedSale { number, transaction_type, language } = self.sale;
        let result = match (self.say, verdict) {
            // The reader itself shows the result of a tap (readers: 2.6).
            (CardSay::IsTold, _) | (_, CardVerdict::Lost) => None,
            (_, CardVerdict::Refused) if transaction_type != REFUND => Some(DisplayRow::Declined),
            _ if self.approved => Some(DisplayRow::Approved),
            _ => Some(DisplayRow::Declined),
        };
        self.tell(line, verdict, elements);
        Next::SaleOver(SaleOver { sale: number, result, language, ask_for_keys: false })
    }

    fn tell(self, line: &mut ReaderLine, verdict: CardVerdict, elements: Option<&CardElements<'_>>) {
        let Self { sale, facts, scripts_dropped, .. } = self;
        let facts = facts.zip(elements).map(|(mut facts, elements)| {
            facts.complete(&elements.chip);
            facts
        });
        line.report(ReaderEvent::Completed { sale: sale.number, verdict, facts, scripts_dropped });
    }
}
