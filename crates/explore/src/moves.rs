//! The possible next moves. Most are normal events. Some are faults, and a course may contain only a limited number of
//! them.

use std::time::Duration;

use pos_core::transaction::{Standing, Transaction};
use pos_terms::transaction::Kind;

use crate::bank::{Makes, Request};
use crate::disk::CutAt;
use crate::life::{JournalCopy, ReaderDoes};
use crate::world::{OnWire, World};

/// An event for the first or the second of two transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) of_other: bool,
    pub(crate) what: What,
}

/// The next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Begins(CutAt),
    /// A second till begins a transaction of this kind.
    OtherBegins(Kind),
    Proceeds(CutAt),
    /// The cardholder types a tip, or declines to give one.
    TypesTip {
        tips: bool,
        cut: CutAt,
    },
    ReadsCard(CutAt),
    /// A card is read, and it declines immediately.
    ReadsRefusal(CutAt),
    NoCard(CutAt),
    CardSays {
        confirms: bool,
        cut: CutAt,
    },
    /// The declined card is removed.
    CardGoes(CutAt),
    ReaderLost(CutAt),
    /// The request at this position of the line is answered.
    Answered {
        at: u8,
        makes: Makes,
        cut: CutAt,
    },
    /// The request at this position is answered with a fault.
    Spoilt {
        at: u8,
        makes: Makes,
        how: Spoilt,
        cut: CutAt,
    },
    /// A request arrives whose answer is no longer awaited.
    Arrives {
        at: u8,
        makes: Makes,
    },
    /// The bank decides a pending transaction.
    Decides {
        approves: bool,
    },
    Cancels(CutAt),
    Signed {
        accepted: bool,
        cut: CutAt,
    },
    TillTakes {
        taken: bool,
        cut: CutAt,
    },
    TakesPart {
        part: u16,
        cut: CutAt,
    },
    /// A person resolves a transaction that is open in an outdated journal copy.
    Settles {
        keep: bool,
        cut: CutAt,
    },
    /// A good moment for a retry: the network is back, or the next transaction begins.
    Nudges(CutAt),
    /// Time advances to the deadline of the transaction.
    Deadline(CutAt),
    /// Time advances until no request can still be in transit.
    Long(CutAt),
    PowerFails,
    Boots(CutAt),
    /// The power fails, and an earlier copy of the journal is restored.
    PutsCopyBack {
        nth: u8,
    },
    /// The disk accepts writes again.
    DiskIsBack(CutAt),
}

/// The fault of a request or its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spoilt {
    /// The request never arrives, and the result is unknown.
    RequestLost,
    /// The request was never sent.
    NotSent,
    /// The request could not be built from the data.
    CannotBeMade,
    /// The gateway did not process the request, because there were too many.
    Throttled,
    /// The request was carried out, but the answer is lost.
    AnswerLost,
    /// No answer came in time, and the request may arrive later.
    Late,
    /// The request was carried out with an amount that differs from the requested one.
    Unasked,
    /// The answer states only a part of the booked amount.
    SaysLess,
    /// The answer states no amount.
    SaysNoAmount,
    /// The answer states an unreadable amount.
    SaysStrangeAmount,
    /// The answer tells the chip the opposite of the result.
    ContradictsChip,
    /// The answer names another transaction.
    AnotherId,
    /// The request is declined in a way that requires a look-up.
    InDoubt,
    /// The request is declined in a way that requires a look-up, and it is never listed.
    InDoubtUnlisted,
    /// The look-up does not show the latest booking.
    ListLacks,
    /// The latest booking is listed with an unknown code.
    ListUnclear,
    /// The list names no references.
    ListUnnamed,
    /// The list names no amounts.
    ListWithoutAmounts,
    /// Another sender has refunded a part in the meantime.
    StrangerRefunded,
    /// The terminal holds the reversal back, because the money may have been returned in another way.
    HeldBack,
    /// The terminal holds the reversal back, and no further look-up can clarify it.
    HeldBackForPerson,
}

impl Spoilt {
    /// Returns whether no gateway should behave in this way, so that a person may have to act.
    pub(crate) fn is_strange(self, request: &Request) -> bool {
        match self {
            Self::Unasked
            | Self::SaysLess
            | Self::SaysStrangeAmount
            | Self::AnotherId
            | Self::ListUnclear
            | Self::ListUnnamed
            | Self::ListWithoutAmounts
            | Self::StrangerRefunded
            | Self::HeldBackForPerson => true,
            Self::InDoubt => matches!(request, Request::Reverse { .. }),
            _ => false,
        }
    }
}

impl What {
    /// Returns the cut during the move.
    pub(crate) fn cut(mut self) -> CutAt {
        self.place_of_cut().map_or(CutAt::Not, |cut| *cut)
    }

    /// Returns the same move with this cut; `None` if the move cannot have one.
    pub(crate) fn with(mut self, cut: CutAt) -> Option<Self> {
        *self.place_of_cut()? = cut;
        Some(self)
    }

    fn place_of_cut(&mut self) -> Option<&mut CutAt> {
        match self {
            Self::Begins(cut)
            | Self::Proceeds(cut)
            | Self::TypesTip { cut, .. }
            | Self::ReadsCard(cut)
            | Self::ReadsRefusal(cut)
            | Self::NoCard(cut)
            | Self::CardGoes(cut)
            | Self::CardSays { cut, .. }
            | Self::ReaderLost(cut)
            | Self::Answered { cut, .. }
            | Self::Spoilt { cut, .. }
            | Self::Cancels(cut)
            | Self::Signed { cut, .. }
            | Self::TillTakes { cut, .. }
            | Self::TakesPart { cut, .. }
            | Self::Settles { cut, .. }
            | Self::Nudges(cut)
            | Self::Deadline(cut)
            | Self::Long(cut)
            | Self::Boots(cut)
            | Self::DiskIsBack(cut) => Some(cut),
            Self::Arrives { .. }
            | Self::Decides { .. }
            | Self::OtherBegins(_)
            | Self::PutsCopyBack { .. }
            | Self::PowerFails => None,
        }
    }

    /// Returns the number of faults in the move.
    pub(crate) fn faults(self) -> u8 {
        let is_fault = matches!(
            self,
            Self::ReaderLost(_)
                | Self::CardSays { confirms: false, .. }
                | Self::Spoilt { .. }
                | Self::PutsCopyBack { .. }
                | Self::PowerFails
                // This is not a fault, but it is as rare as one.
                | Self::Nudges(_)
        );
        u8::from(is_fault) + u8::from(self.cut() != CutAt::Not)
    }
}

impl World {
    /// Returns the possible next moves, without cuts.
    pub(crate) fn moves(&self) -> Vec<Move> {
        let mut moves = self.moves_of(false);
        if self.other.is_some() {
            let mut swapped = self.clone();
            swapped.swaps();
            moves.extend(swapped.moves_of(true));
        }
        moves
    }

    fn moves_of(&self, of_other: bool) -> Vec<Move> {
        let mut moves = Vec::new();
        if !self.life.has_begun {
            return vec![Move { of_other, what: What::Begins(CutAt::Not) }];
        }
        if !of_other {
            self.outside(&mut moves);
        }
        if !self.is_on {
            moves.extend((!of_other).then_some(What::Boots(CutAt::Not)));
        } else if self.life.stuck {
            moves.push(What::DiskIsBack(CutAt::Not));
            moves.push(What::PowerFails);
        } else {
            self.inside(&mut moves);
        }
        moves.retain(|one| one.faults() <= self.faults);
        moves.into_iter().map(|what| Move { of_other, what }).collect()
    }

    /// Adds the moves outside the terminal.
    fn outside(&self, moves: &mut Vec<What>) {
        for (at, on_wire) in self.wire.iter().enumerate() {
            let at = u8::try_from(at).unwrap_or(u8::MAX);
            if !on_wire.awaited {
                moves.extend([Makes::Approves, Makes::Declines].map(|makes| What::Arrives { at, makes }));
            }
        }
        if self.bank.ponders() {
            moves.extend([true, false].map(|approves| What::Decides { approves }));
        }
        if self.life.copy == JournalCopy::No {
            let copies = self.disk.before.iter().flatten().zip(0..).map(|(_, nth)| What::PutsCopyBack { nth });
            moves.extend(copies);
        }
    }

    /// Adds the moves that the terminal receives.
    fn inside(&self, moves: &mut Vec<What>) {
        let Some(sale) = &self.life.sale else { return };
        if self.life.proceeds {
            return moves.push(What::Proceeds(CutAt::Not));
        }
        if let Some(kind) = self.rival.filter(|kind| self.left(*kind).is_some()) {
            moves.push(What::OtherBegins(kind));
        }
        self.reader_says(sale, moves);
        let own = self.wire.iter().enumerate().filter(|(_, one)| one.awaited && one.whose == self.life.order.number);
        for (at, on_wire) in own {
            let at = u8::try_from(at).unwrap_or(u8::MAX);
            self.answers(at, &on_wire.request, moves);
        }
        self.people_say(sale, moves);
        // Time advances only when no answer is awaited.
        let is_awaited = self.wire.iter().any(|on_wire| on_wire.awaited);
        // With two transactions, time advances to the earlier deadline.
        let others = self.other.as_ref().and_then(|other| other.sale.as_ref()?.deadline());
        let is_first = |at| at != Duration::MAX && others.is_none_or(|others| at <= others);
        if !is_awaited && sale.deadline().is_some_and(is_first) {
            moves.push(What::Deadline(CutAt::Not));
            if let Standing::Unconfirmed { quarantined, .. } = sale.standing() {
                moves.push(What::Long(CutAt::Not));
                moves.extend(quarantined.is_none().then_some(What::Nudges(CutAt::Not)));
            }
        }
        if !sale.is_settled() {
            moves.push(What::PowerFails);
        }
    }

    fn reader_says(&self, sale: &Transaction, moves: &mut Vec<What>) {
        let not = CutAt::Not;
        match self.life.reader {
            ReaderDoes::Idle => {}
            ReaderDoes::AsksTip | ReaderDoes::StopsTyping => {
                moves.extend([true, false].map(|tips| What::TypesTip { tips, cut: not }));
                moves.extend([What::NoCard(not), What::ReaderLost(not)]);
            }
            ReaderDoes::Armed | ReaderDoes::Stopping => {
                moves.extend([What::ReadsCard(not), What::NoCard(not), What::ReaderLost(not)]);
                let refuses = self.life.entry.card_confirms() && sale.order().kind().needs_card();
                moves.extend(refuses.then_some(What::ReadsRefusal(not)));
            }
            ReaderDoes::HoldsCard => moves.push(What::ReaderLost(not)),
            ReaderDoes::Approved => {
                let says = [true, false].map(|confirms| What::CardSays { confirms, cut: not });
                moves.extend(says.into_iter().chain([What::ReaderLost(not)]));
            }
            ReaderDoes::Declined => moves.push(What::CardGoes(not)),
        }
    }

    fn people_say(&self, sale: &Transaction, moves: &mut Vec<What>) {
        let cut = CutAt::Not;
        if sale.is_held() {
            moves.extend([true, false].map(|keep| What::Settles { keep, cut }));
            return;
        }
        match sale.standing() {
            Standing::AtSignature => moves.extend([true, false].map(|accepted| What::Signed { accepted, cut })),
            Standing::AwaitingTill { approved } => {
                moves.extend([true, false].map(|taken| What::TillTakes { taken, cut }));
                // The part is seven tenths, so neither the accepted nor the refunded amount is half.
                let part = u16::try_from(approved.minor() * 7 / 10).unwrap_or(u16::MAX);
                let is_part = self.takes_part && self.other.is_none();
                moves.extend(is_part.then_some(What::TakesPart { part, cut }));
            }
            _ => {}
        }
        if self.life.may_cancel && sale.can_be_cancelled() {
            moves.push(What::Cancels(cut));
        }
    }

    fn answers(&self, at: u8, request: &Request, moves: &mut Vec<What>) {
        let answered = |makes| What::Answered { at, makes, cut: CutAt::Not };
        let spoilt = |makes, how| What::Spoilt { at, makes, how, cut: CutAt::Not };
        let once = |how: &[Spoilt]| how.iter().map(|how| spoilt(Makes::Approves, *how)).collect::<Vec<_>>();
        match request {
            Request::Pay { kind, .. } => {
                moves.extend([Makes::Approves, Makes::Declines].map(answered));
                // If two transactions race, the bank decides each immediately.
                let is_alone = self.rival.is_none() && self.other.is_none();
                moves.extend(is_alone.then(|| answered(Makes::Ponders)));
                let moves_money = kind.moves_money();
                let takes_parts = self.life.order.accept_partial;
                moves.extend(takes_parts.then(|| answered(Makes::ApprovesPart)));
                let both = [Makes::Approves, Makes::Declines];
                let lost = [Makes::Approves, Makes::ApprovesPart, Makes::Declines];
                let lost = lost.into_iter().filter(|makes| moves_money || *makes != Makes::ApprovesPart);
                moves.extend(lost.map(|makes| spoilt(makes, Spoilt::AnswerLost)));
                // If a bank pays out more than requested, a terminal cannot get the money back.
                moves.extend(kind.is_undone_when_unknown().then(|| spoilt(Makes::ApprovesMore, Spoilt::Unasked)));
                moves.extend((moves_money && !takes_parts).then(|| spoilt(Makes::ApprovesPart, Spoilt::Unasked)));
                moves.extend(both.map(|makes| spoilt(makes, Spoilt::InDoubt)));
                moves.extend(
                    kind.needs_card()
                        .then_some(both)
                        .into_iter()
                        .flatten()
                        .map(|makes| spoilt(makes, Spoilt::ContradictsChip)),
                );
                use Spoilt::{
                    AnotherId, CannotBeMade, InDoubtUnlisted, Late, NotSent, RequestLost, SaysNoAmount, Throttled,
                };
                moves.extend(once(&[RequestLost, NotSent, CannotBeMade, Throttled, Late, AnotherId, SaysNoAmount]));
                moves.extend(once(&[InDoubtUnlisted]));
                if moves_money {
                    moves.extend(once(&[Spoilt::SaysLess, Spoilt::SaysStrangeAmount]));
                }
            }
            Request::Poll { .. } => {
                moves.push(answered(Makes::Approves));
                moves.extend(once(&[Spoilt::RequestLost, Spoilt::NotSent, Spoilt::Throttled, Spoilt::AnotherId]));
            }
            Request::Query { references } => {
                moves.push(answered(Makes::Approves));
                moves.extend(once(&[Spoilt::RequestLost, Spoilt::NotSent]));
                // A list may be late by a few seconds. It always includes older bookings, and another sender's refund
                // that it has already shown.
                let may_lack = self.was_booked_lately() && !self.bank.ends_with_a_strangers();
                moves.extend(may_lack.then(|| spoilt(Makes::Approves, Spoilt::ListLacks)));
                if self.bank.booked.iter().any(|one| references.contains(&one.reference)) {
                    moves.extend(once(&[Spoilt::ListUnclear, Spoilt::ListUnnamed]));
                    // A terminal cannot stop a request in transit that may still return the full amount.
                    let goes_back = |one: &OnWire| matches!(one.request, Request::Reverse { .. });
                    let is_payment = self.life.order.kind().is_undone_when_unknown();
                    let is_calm = is_payment && !self.wire.iter().any(goes_back);
                    let may_refund = is_calm && self.bank.has_paid().is_some();
                    moves.extend(may_refund.then(|| spoilt(Makes::Approves, Spoilt::StrangerRefunded)));
                    // A list without amounts is useful only if every amount equals the requested one.
                    let asked = self.life.sale.as_ref().map(Transaction::amount);
                    let is_whole = self.bank.booked.iter().all(|one| Some(one.amount) == asked);
                    moves.extend(is_whole.then(|| spoilt(Makes::Approves, Spoilt::ListWithoutAmounts)));
                }
            }
            Request::Reverse { .. } => {
                moves.push(answered(Makes::Approves));
                use Spoilt::{AnswerLost, HeldBack, HeldBackForPerson, InDoubt, Late, NotSent, RequestLost};
                moves.extend(once(&[RequestLost, NotSent, AnswerLost, Late, InDoubt, HeldBack, HeldBackForPerson]));
                moves.extend(once(&[Spoilt::SaysLess, Spoilt::SaysNoAmount, Spoilt::SaysStrangeAmount]));
            }
        }
    }
}
