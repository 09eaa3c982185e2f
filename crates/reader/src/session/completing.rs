//! The steps from a read card to its last answer: waiting for the gateway, the gateway's answer for the card, and the
//! card's reaction (readers: 2.5 to 2.7, 3.3; design: path of a sale, 7).

use std::time::Duration;

use super::display::DisplayRow;
use super::line::{PLAIN_ANSWER, ReaderLine};
use super::next::{Next, SaleOver};
use crate::capability::Capability;
use crate::card_answer::{AnswerTemplate, CardElements, TransactionAnswer};
use crate::card_read::ChipInterface;
use crate::family::{CommandFailure, FailureKind, HostAnswer, ReaderQuestion, TransactionData};
use crate::{CardVerdict, Completion, ReaderEvent, ReaderLanguage};
use pos_terms::card::CardFacts;
use pos_terms::emv::{tag, tlv};
use pos_terms::transaction::SaleNumber;

/// The deadline of a chip's last answer. The cardholder takes no part in it, and each issuer script takes less than a
/// second.
const LAST_ANSWER: Duration = Duration::from_secs(30);

/// The longest wait for the agent. The agent always answers for a card, and its own deadlines for the gateway are below
/// a minute. After this wait, the agent must have hung.
const HOST_ANSWER: Duration = Duration::from_secs(300);
/// The transaction type of a refund (9C), for which AAC is the normal answer (design: path of a sale, 7).
const REFUND: u8 = 0x20;

/// A read card, while the agent asks the gateway.
pub(super) struct AwaitingHost {
    /// The facts without secrets. The chip's last answer completes them.
    facts: Option<Box<CardFacts>>,
    say: CardSay,
    /// The deadline for the agent's answer.
    pub(super) until: Duration,
}

/// The card's remaining role in the decision.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CardSay {
    /// A chip in the slot decides.
    Decides,
    /// A tap receives the result but cannot change it.
    IsTold,
    /// The card has no further role: it was swiped, or its chip has already decided.
    Nothing(CardVerdict),
}

impl AwaitingHost {
    pub(super) fn chip(facts: &CardFacts, template: AnswerTemplate, interface: ChipInterface, now: Duration) -> Self {
        let say = match (template, interface) {
            (AnswerTemplate::Declined, _) => CardSay::Nothing(CardVerdict::Refused),
            // NOTE: it is not published whether CONTINUE may follow an E3. The card has given its TC and is finished.
            (AnswerTemplate::Approved | AnswerTemplate::Decision, _) => CardSay::Nothing(CardVerdict::Approved),
            (AnswerTemplate::Online, ChipInterface::Contact) => CardSay::Decides,
            (AnswerTemplate::Online, ChipInterface::Contactless) => CardSay::IsTold,
        };
        Self { facts: Some(Box::new(facts.clone())), say, until: now + HOST_ANSWER }
    }

    pub(super) fn swipe(now: Duration) -> Self {
        Self { facts: None, say: CardSay::Nothing(CardVerdict::Approved), until: now + HOST_ANSWER }
    }

    /// Passes the gateway's answer to the card, if the card still has a role.
    pub(super) fn complete(
        self,
        sale: CompletedSale,
        line: &mut ReaderLine,
        completion: &Completion,
        now: Duration,
    ) -> Next<ContinueTransaction> {
        let Self { facts, say, until: _ } = self;
        let (answer, scripts_dropped) = host_answer(completion, say, &sale.transaction, line);
        let approved = matches!(&completion.arc, b"00" | b"08" | b"10" | b"11");
        let transaction = sale.transaction;
        let running = ContinueTransaction { sale, facts, say, approved, scripts_dropped };
        let (contactless, patience) = match say {
            CardSay::Nothing(verdict) => return running.finish(line, verdict, None),
            // This family's readers take no answer after a tap.
            CardSay::IsTold if !line.speaker.can(Capability::TellsTap) => {
                return running.finish(line, CardVerdict::Approved, None);
            }
            CardSay::Decides => (false, LAST_ANSWER),
            CardSay::IsTold => (true, PLAIN_ANSWER),
        };
        line.ask(&ReaderQuestion::Host { transaction, answer, contactless }, patience, now);
        Next::Stay(running)
    }
}

/// Returns the data for the card, and whether scripts were left out. Scripts go only to a chip, and only if they are
/// well-formed and fit one command.
fn host_answer<'a>(
    completion: &'a Completion,
    say: CardSay,
    transaction: &TransactionData,
    line: &ReaderLine,
) -> (HostAnswer<'a>, bool) {
    let Completion { arc, issuer_authentication, scripts } = completion;
    // A tap gets only 8A at the end (design: path of a sale, 7).
    let authentication = issuer_authentication.as_deref().filter(|_| say == CardSay::Decides);
    let well_formed = tlv::walk(scripts)
        .all(|script| script.is_ok_and(|script| matches!(script.tag, tag::ISSUER_SCRIPT_1 | tag::ISSUER_SCRIPT_2)));
    let answer = HostAnswer { arc: *arc, authentication, scripts };
    let ask = ReaderQuestion::Host { transaction: *transaction, answer, contactless: false };
    if say == CardSay::Decides && well_formed && line.speaker.encode(&ask, line.extended).is_ok() {
        return (answer, false);
    }
    // 8A and 91 of at most 16 bytes always fit a command.
    let dropped = say == CardSay::Decides && !scripts.is_empty();
    (HostAnswer { arc: *arc, authentication, scripts: &[] }, dropped)
}

/// The data of a transaction that are needed to complete it at the card.
pub(super) struct CompletedSale {
    pub(super) number: SaleNumber,
    pub(super) transaction: TransactionData,
    pub(super) language: ReaderLanguage,
}

/// The stage in which the reader passes the gateway's answer to the card.
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
        answer: Result<TransactionAnswer<'_>, CommandFailure>,
        now: Duration,
    ) -> Next<Self> {
        let verdict = match (&answer, self.say) {
            // A tap cannot change the gateway's decision, so the reader's answer has no effect.
            (_, CardSay::IsTold) => CardVerdict::Approved,
            (_, CardSay::Nothing(verdict)) => verdict,
            (Ok(answer), CardSay::Decides) => match answer.template {
                AnswerTemplate::Approved => CardVerdict::Approved,
                AnswerTemplate::Declined => CardVerdict::Refused,
                AnswerTemplate::Online | AnswerTemplate::Decision => CardVerdict::Lost,
            },
            (Err(_), CardSay::Decides) => CardVerdict::Lost,
        };
        // The card answered with a request for a decision or another E4. It takes no further data.
        if verdict == CardVerdict::Lost && answer.is_ok() {
            line.abort(now);
        }
        if let Err(failure) = answer
            && failure.kind == FailureKind::StateLost
            && self.say == CardSay::Decides
        {
            self.tell(line, verdict, None);
            return Next::reader_has_lost_it(failure);
        }
        let elements = answer.ok().and_then(|answer| answer.elements.ok());
        self.finish(line, verdict, elements.as_ref())
    }

    /// Ends the transaction if no answer came in time. The chip's decision is then unknown.
    pub(super) fn unanswered(self, line: &mut ReaderLine, now: Duration) -> Next<Self> {
        line.abort(now);
        let verdict = if self.say == CardSay::Decides { CardVerdict::Lost } else { CardVerdict::Approved };
        self.finish(line, verdict, None)
    }

    fn finish(self, line: &mut ReaderLine, verdict: CardVerdict, elements: Option<&CardElements<'_>>) -> Next<Self> {
        let CompletedSale { number, transaction, language } = self.sale;
        let result = match (self.say, verdict) {
            // The reader shows the result of a tap itself (readers: 2.6).
            (CardSay::IsTold, _) | (_, CardVerdict::Lost) => None,
            (_, CardVerdict::Refused) if transaction.transaction_type != REFUND => Some(DisplayRow::Declined),
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
