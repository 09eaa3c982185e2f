//! The kinds of transactions, and what is true of each: one table, from which every question about a kind is answered
//! (design: Reading the interface documents, payment types at the counter).

use serde::{Deserialize, Serialize};

/// What kind of transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A card pays.
    #[default]
    Sale,
    /// A card's money is reserved; captures take it.
    PreAuthorisation,
    /// A card gets money without an earlier payment.
    Credit,
    /// Stored card data pay.
    ByRegistration,
    /// Money of stored card data is reserved; captures take it.
    PreAuthorisationByRegistration,
    /// A card is read and kept for later payments; nothing is paid.
    StoreCard,
    /// Stored card data are deleted; nothing is paid.
    ForgetCard,
    /// What was reserved is taken, in whole or in part.
    Capture,
    /// What was paid goes back, in whole or in part.
    Refund,
    /// An earlier transaction is undone.
    Reversal,
    /// More is reserved under an earlier pre-authorisation.
    Increment,
    /// What was reserved is reserved anew.
    Reauthorisation,
}

/// A row of the table.
struct Facts {
    /// As programs write it.
    word: &'static str,
    /// `paymentType` at the gateway.
    payment_type: &'static str,
    source: Source,
    money: Money,
    without_answer: WithoutAnswer,
}

/// What it is charged to, or refers to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// A card that is presented at the reader.
    Card,
    /// Card data that the gateway keeps.
    StoredCard,
    /// An earlier transaction.
    Earlier,
}

/// What becomes of the cardholder's money.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Money {
    Taken,
    Reserved,
    Given,
    /// None moves: it is no payment, and in no sum.
    Untouched,
}

/// What is done when nobody knows what became of it (design: path of a sale, 9).
#[derive(Clone, Copy, PartialEq, Eq)]
enum WithoutAnswer {
    /// It is reversed: nothing may stay charged.
    Undone,
    /// It is carried out if it was not: it was decided, and undoing it is no safer than finishing it. A credit stands
    /// as it is found: money that was paid out is not taken back by itself (design: invariant 11).
    Finished,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::Sale,
        Self::PreAuthorisation,
        Self::Credit,
        Self::ByRegistration,
        Self::PreAuthorisationByRegistration,
        Self::StoreCard,
        Self::ForgetCard,
        Self::Capture,
        Self::Refund,
        Self::Reversal,
        Self::Increment,
        Self::Reauthorisation,
    ];

    fn facts(self) -> Facts {
        use Money::{Given, Reserved, Taken, Untouched};
        use Source::{Card, Earlier, StoredCard};
        use WithoutAnswer::{Finished, Undone};
        let facts = |word, payment_type, source, money, without_answer| Facts {
            word,
            payment_type,
            source,
            money,
            without_answer,
        };
        match self {
            Self::Sale => facts("sale", "DB", Card, Taken, Undone),
            Self::PreAuthorisation => facts("pre-authorisation", "PA", Card, Reserved, Undone),
            Self::Credit => facts("credit", "CD", Card, Given, Finished),
            Self::ByRegistration => facts("by-registration", "DB", StoredCard, Taken, Undone),
            Self::PreAuthorisationByRegistration => {
                facts("pre-authorisation-by-registration", "PA", StoredCard, Reserved, Undone)
            }
            // RG and DR are types of the query (interface: Query parameters); no request names them.
            Self::StoreCard => facts("store-card", "RG", Card, Untouched, Finished),
            Self::ForgetCard => facts("forget-card", "DR", StoredCard, Untouched, Finished),
            Self::Capture => facts("capture", "CP", Earlier, Taken, Finished),
            Self::Refund => facts("refund", "RF", Earlier, Given, Finished),
            Self::Reversal => facts("reversal", "RV", Earlier, Given, Finished),
            // With `referenceUuid`.
            Self::Increment => facts("increment", "PA", Earlier, Reserved, Undone),
            Self::Reauthorisation => facts("reauthorisation", "PA", Earlier, Reserved, Undone),
        }
    }

    /// As programs write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.facts().word
    }

    /// `paymentType` at the gateway.
    #[must_use]
    pub fn payment_type(self) -> &'static str {
        self.facts().payment_type
    }

    /// Whether a card is presented at the reader.
    #[must_use]
    pub fn needs_card(self) -> bool {
        self.facts().source == Source::Card
    }

    /// Whether it refers to an earlier transaction.
    #[must_use]
    pub fn has_earlier(self) -> bool {
        self.facts().source == Source::Earlier
    }

    /// Whether it is about card data that the gateway keeps.
    #[must_use]
    pub fn has_stored_card(self) -> bool {
        self.facts().source == Source::StoredCard
    }

    /// Whether an unknown outcome is reversed; otherwise it is finished.
    #[must_use]
    pub fn is_undone_when_unknown(self) -> bool {
        self.facts().without_answer == WithoutAnswer::Undone
    }

    /// Whether a lower approval is the till's to take or to leave: here somebody stands at the counter, and what is
    /// missing must be settled another way. What was decided before (captures, refunds, …) takes what it gets, and says
    /// so.
    #[must_use]
    pub fn till_may_refuse_a_part(self) -> bool {
        self.is_undone_when_unknown()
    }

    /// Whether the card has a say after the host's approval. Where a card gets money, its AAC is the normal answer
    /// (design: path of a sale, 7); where it is stored, the gateway has stored it, whatever the card says of that.
    #[must_use]
    pub fn card_has_a_say(self) -> bool {
        self.needs_card() && (self.takes_money() || self.reserves_money())
    }

    /// Whether the card's own refusal, before anything is sent, is the end.
    #[must_use]
    pub fn card_may_decline(self) -> bool {
        self.needs_card() && !self.gives_money()
    }

    /// Whether it is about money at all: where it is not, nothing is paid, summed or settled.
    #[must_use]
    pub fn moves_money(self) -> bool {
        self.facts().money != Money::Untouched
    }

    /// Whether the cardholder pays: a refund may follow.
    #[must_use]
    pub fn takes_money(self) -> bool {
        self.facts().money == Money::Taken
    }

    /// Whether money is reserved and not taken.
    #[must_use]
    pub fn reserves_money(self) -> bool {
        self.facts().money == Money::Reserved
    }

    /// Whether the cardholder gets money, or gets it back.
    #[must_use]
    pub fn gives_money(self) -> bool {
        self.facts().money == Money::Given
    }

    /// Whether money of an earlier transaction goes back.
    #[must_use]
    pub fn gives_back(self) -> bool {
        self.gives_money() && self.has_earlier()
    }

    /// Whether it is a reservation by itself, of which captures take; an increment is a part of one.
    #[must_use]
    pub fn is_reservation(self) -> bool {
        self.reserves_money() && self != Self::Increment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_written_as_serde_writes_it() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }

    #[test]
    fn the_table_answers_every_question() {
        type Question = fn(Kind) -> bool;
        use Kind::*;
        let table: [(&str, Question, &[Kind]); 11] = [
            ("card", Kind::needs_card, &[Sale, PreAuthorisation, Credit, StoreCard]),
            ("stored", Kind::has_stored_card, &[ByRegistration, PreAuthorisationByRegistration, ForgetCard]),
            ("earlier", Kind::has_earlier, &[Capture, Refund, Reversal, Increment, Reauthorisation]),
            (
                "undone",
                Kind::is_undone_when_unknown,
                &[Sale, PreAuthorisation, ByRegistration, PreAuthorisationByRegistration, Increment, Reauthorisation],
            ),
            ("a say", Kind::card_has_a_say, &[Sale, PreAuthorisation]),
            ("takes", Kind::takes_money, &[Sale, ByRegistration, Capture]),
            (
                "reserves",
                Kind::reserves_money,
                &[PreAuthorisation, PreAuthorisationByRegistration, Increment, Reauthorisation],
            ),
            ("gives", Kind::gives_money, &[Credit, Refund, Reversal]),
            ("may decline", Kind::card_may_decline, &[Sale, PreAuthorisation, StoreCard]),
            ("no money", |kind| !kind.moves_money(), &[StoreCard, ForgetCard]),
            ("gives back", Kind::gives_back, &[Refund, Reversal]),
        ];
        for (name, question, yes) in table {
            let found: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| question(*kind)).collect();
            assert_eq!(found, yes, "{name}");
        }
    }
}
