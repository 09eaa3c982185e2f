//! The kinds of transactions and their properties. One table defines every property of a kind (design: Reading the
//! interface documents, payment types at the counter).

use serde::{Deserialize, Serialize};

/// The kind of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A payment with a card.
    #[default]
    Sale,
    /// A reservation of money on a card, to be charged by captures.
    PreAuthorisation,
    /// A payment to a card without an earlier payment.
    Credit,
    /// A payment with a stored card.
    ByRegistration,
    /// A reservation of money on a stored card, to be charged by captures.
    PreAuthorisationByRegistration,
    /// A card is read and stored for later payments; nothing is paid.
    StoreCard,
    /// A stored card is deleted; nothing is paid.
    ForgetCard,
    /// Reserved money is charged, in full or in part.
    Capture,
    /// Paid money is refunded, in full or in part.
    Refund,
    /// An earlier transaction is reversed.
    Reversal,
    /// More money is reserved under an earlier pre-authorisation.
    Increment,
    /// A reservation is renewed.
    Reauthorisation,
}

/// A row of the table.
struct Facts {
    /// The word that programs use.
    word: &'static str,
    /// `paymentType` at the gateway.
    payment_type: &'static str,
    source: Source,
    money: Money,
    without_answer: WithoutAnswer,
}

/// The card or transaction that the kind charges or refers to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// A card that is presented at the reader.
    Card,
    /// A stored card, kept by the gateway.
    StoredCard,
    /// An earlier transaction.
    Earlier,
}

/// The effect on the cardholder's money.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Money {
    Taken,
    Reserved,
    Given,
    /// No money moves. The transaction is not a payment, and no sum includes it.
    Untouched,
}

/// The handling of an unknown outcome (design: path of a sale, 9).
#[derive(Clone, Copy, PartialEq, Eq)]
enum WithoutAnswer {
    /// The transaction is reversed. Nothing may stay charged.
    Undone,
    /// The transaction is carried out if this has not happened yet. It was decided earlier, and reversing it is no
    /// safer than finishing it. A credit stays as it is found, because money that was paid out is not reversed
    /// automatically (design: invariant 11).
    Finished,
}

impl Kind {
    /// All kinds.
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
            // RG and DR are types in the query (interface: Query parameters). No request names them.
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

    /// Returns the word that programs use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.facts().word
    }

    /// Returns the `paymentType` at the gateway.
    #[must_use]
    pub fn payment_type(self) -> &'static str {
        self.facts().payment_type
    }

    /// Returns whether a card is presented at the reader.
    #[must_use]
    pub fn needs_card(self) -> bool {
        self.facts().source == Source::Card
    }

    /// Returns whether the kind refers to an earlier transaction.
    #[must_use]
    pub fn has_earlier(self) -> bool {
        self.facts().source == Source::Earlier
    }

    /// Returns whether the kind uses a stored card.
    #[must_use]
    pub fn has_stored_card(self) -> bool {
        self.facts().source == Source::StoredCard
    }

    /// Returns whether the transaction is reversed if its outcome is unknown. Otherwise, it is finished.
    #[must_use]
    pub fn is_undone_when_unknown(self) -> bool {
        self.facts().without_answer == WithoutAnswer::Undone
    }

    /// Returns whether the till may accept or refuse a partial approval. At the counter, the missing amount can be paid
    /// in another way. Kinds that were decided earlier (captures, refunds, …) accept the approved amount and report it.
    #[must_use]
    pub fn till_may_refuse_a_part(self) -> bool {
        self.is_undone_when_unknown()
    }

    /// Returns whether the card must confirm the gateway's approval. For a credit, an AAC is the normal answer (design:
    /// path of a sale, 7). A card to store has been stored by the gateway, regardless of the chip's answer.
    #[must_use]
    pub fn card_has_a_say(self) -> bool {
        self.needs_card() && (self.takes_money() || self.reserves_money())
    }

    /// Returns whether the transaction ends if the card refuses before anything is sent.
    #[must_use]
    pub fn card_may_decline(self) -> bool {
        self.needs_card() && !self.gives_money()
    }

    /// Returns whether the kind moves money at all. If not, nothing is paid, summed or settled.
    #[must_use]
    pub fn moves_money(self) -> bool {
        self.facts().money != Money::Untouched
    }

    /// Returns whether the cardholder pays, so that a refund may follow.
    #[must_use]
    pub fn takes_money(self) -> bool {
        self.facts().money == Money::Taken
    }

    /// Returns whether money is reserved but not charged.
    #[must_use]
    pub fn reserves_money(self) -> bool {
        self.facts().money == Money::Reserved
    }

    /// Returns whether the cardholder receives money: in a credit, a refund or a reversal.
    #[must_use]
    pub fn gives_money(self) -> bool {
        self.facts().money == Money::Given
    }

    /// Returns whether money of an earlier transaction is returned.
    #[must_use]
    pub fn gives_back(self) -> bool {
        self.gives_money() && self.has_earlier()
    }

    /// Returns whether the kind is a separate reservation, to which captures refer. An increment is part of another
    /// reservation.
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
