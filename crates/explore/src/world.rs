//! The world around one sale, as small as it can be: a board with a disk, a reader, a wire, a bank, a till, and two
//! clocks that move to deadlines alone. What may happen next is a list of moves; most are what happens anyway, and some
//! are faults, of which a life has so many.

use std::rc::Rc;
use std::time::Duration;

use pos_core::follow_up::{History, Left};
use pos_core::sale::{
    Answer, ApprovedAmount, Deadlines, Event, Inquiry, Now, Order, Outcome, Reason, ReversalAnswer, Sale, Standing,
};
use pos_terms::card::{CardFacts, Cvm, EntryMode, FirstAnswer, MaskedPan};
use pos_terms::transaction::{Kind, OutcomeWord, Who};

use crate::bank::{Bank, Makes, Request, approval, eur, refusal};
use crate::board::{CutAt, Disk};

pub(crate) const DEADLINES: Deadlines = Deadlines {
    pending: Duration::from_secs(40),
    absence_final: Duration::from_secs(24 * 3600),
    resend: Duration::from_secs(20),
    refuses_repeats: false,
    lists_registrations: true,
    signature: Some(Duration::from_secs(180)),
    till: Duration::from_secs(60),
};
/// So long a gateway may take until it lists what it has booked.
const LISTED_AFTER: Duration = Duration::from_secs(15);
/// Longer than anything may still be on its way.
const LONG: Duration = Duration::from_secs(26 * 3600);

/// The board: what runs on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Running {
    pub(crate) is_on: bool,
    pub(crate) sale: Option<Sale>,
    /// Its last step could not be written.
    pub(crate) stuck: bool,
    /// The sale is recorded, and goes on by itself.
    pub(crate) proceeds: bool,
}

/// What the reader does for the sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReaderDoes {
    Idle,
    /// It waits for a card.
    Armed,
    /// It was told to stop.
    Stopping,
    /// A card waits for the host.
    HoldsCard,
    /// The card was told that the host approved.
    Approved,
    /// The card was told that the host did not.
    Declined,
}

/// A request that has left.
#[derive(Clone, Debug)]
pub(crate) struct OnWire {
    pub(crate) request: Request,
    /// Somebody waits for the answer. Otherwise it may still arrive, or never.
    pub(crate) awaited: bool,
}

/// What the till was told last, where that is an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told(pub(crate) Option<(OutcomeWord, u64)>);

impl Told {
    pub(crate) fn of(sale: Option<&Sale>) -> Self {
        Self(sale.and_then(|sale| match sale.standing() {
            Standing::Ended(outcome @ Outcome::PartiallyApproved { amount }) => Some((outcome.word(), amount.minor())),
            Standing::Ended(outcome) => Some((outcome.word(), sale.amount().minor())),
            _ => None,
        }))
    }
}

/// All of it.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) board: Running,
    pub(crate) disk: Disk,
    pub(crate) reader: ReaderDoes,
    pub(crate) entry: EntryMode,
    pub(crate) wire: Vec<OnWire>,
    pub(crate) bank: Bank,
    pub(crate) told: Told,
    /// The payment that this transaction follows, and the most that the journal would have let another one take of it.
    pub(crate) follows: Option<(Rc<Sale>, u64)>,
    /// Two ends that it was told, one after the other.
    pub(crate) told_otherwise: Option<(OutcomeWord, OutcomeWord)>,
    /// The till may still want to cancel.
    pub(crate) may_cancel: bool,
    pub(crate) now: Now,
    pub(crate) asked_at: Now,
    pub(crate) reversed_at: Duration,
    /// The same reversal left again while the one before may still arrive.
    pub(crate) reversed_again: bool,
    /// The chip refused after the host's approval.
    pub(crate) chip_refused: bool,
    /// The cardholder signs.
    pub(crate) signs: bool,
    /// When the bank booked something last.
    pub(crate) booked_at: Duration,
    /// Faults that may still happen.
    pub(crate) faults: u8,
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    Begins(CutAt),
    Proceeds(CutAt),
    ReadsCard(CutAt),
    NoCard(CutAt),
    CardSays {
        confirms: bool,
        cut: CutAt,
    },
    /// The card that was declined leaves.
    CardGoes(CutAt),
    ReaderLost(CutAt),
    /// The request at this place of the wire is answered.
    Answered {
        at: u8,
        makes: Makes,
        cut: CutAt,
    },
    /// … in a way that proves little.
    Spoilt {
        at: u8,
        makes: Makes,
        how: Spoilt,
    },
    /// What nobody waits for arrives.
    Arrives {
        at: u8,
        makes: Makes,
    },
    /// The bank decides what it has pondered.
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
    /// Time goes on to the deadline of the sale.
    Deadline(CutAt),
    /// Time goes on until nothing can be on its way any more.
    Long(CutAt),
    PowerFails,
    Boots(CutAt),
    /// The disk takes writes again.
    DiskIsBack(CutAt),
}

/// How an answer is spoilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spoilt {
    /// The request never arrives, and nobody knows.
    RequestLost,
    /// The request never left.
    NotSent,
    /// It was not processed: too many requests.
    Throttled,
    /// It was carried out, and the answer is lost.
    AnswerLost,
    /// No answer in time; the request may arrive later.
    Late,
    /// It was carried out with another amount than was asked for.
    Unasked,
    /// The answer says a part of what was booked.
    SaysLess,
    /// The answer names another transaction.
    AnotherId,
    /// Declined, in a way that must be looked up.
    InDoubt,
    /// The look-up does not show what was booked last.
    ListLacks,
}

impl Move {
    /// What is cut in it.
    pub(crate) fn cut(self) -> CutAt {
        match self {
            Self::Begins(cut)
            | Self::Proceeds(cut)
            | Self::ReadsCard(cut)
            | Self::NoCard(cut)
            | Self::CardGoes(cut)
            | Self::CardSays { cut, .. }
            | Self::ReaderLost(cut)
            | Self::Answered { cut, .. }
            | Self::Cancels(cut)
            | Self::Signed { cut, .. }
            | Self::TillTakes { cut, .. }
            | Self::Deadline(cut)
            | Self::Long(cut)
            | Self::Boots(cut)
            | Self::DiskIsBack(cut) => cut,
            Self::Spoilt { .. } | Self::Arrives { .. } | Self::Decides { .. } | Self::PowerFails => CutAt::Not,
        }
    }

    /// How many faults it is.
    pub(crate) fn faults(self) -> u8 {
        let is_fault = matches!(
            self,
            Self::ReaderLost(_) | Self::CardSays { confirms: false, .. } | Self::Spoilt { .. } | Self::PowerFails
        );
        u8::from(is_fault) + u8::from(self.cut() != CutAt::Not)
    }
}

impl World {
    pub(crate) fn new(entry: EntryMode, faults: u8) -> Self {
        let now = Now { monotonic: Duration::from_secs(3600), unix_ms: 1_800_000_000_000 };
        Self {
            board: Running { is_on: true, ..Running::default() },
            disk: Disk::default(),
            reader: ReaderDoes::Idle,
            entry,
            wire: Vec::new(),
            bank: Bank::default(),
            told: Told(None),
            told_otherwise: None,
            follows: None,
            may_cancel: true,
            now,
            asked_at: now,
            reversed_at: Duration::ZERO,
            reversed_again: false,
            chip_refused: false,
            signs: false,
            booked_at: Duration::ZERO,
            faults,
        }
    }

    /// What may happen next.
    pub(crate) fn moves(&self, has_begun: bool) -> Vec<Move> {
        let mut moves = Vec::new();
        if !has_begun {
            return [CutAt::Not]
                .into_iter()
                .chain(CutAt::all(2))
                .map(Move::Begins)
                .filter(|one| one.faults() <= self.faults)
                .collect();
        }
        self.outside(&mut moves);
        if !self.board.is_on {
            moves.push(Move::Boots(CutAt::Not));
        } else if self.board.stuck {
            moves.push(Move::DiskIsBack(CutAt::Not));
            moves.push(Move::PowerFails);
        } else {
            self.inside(&mut moves);
        }
        let mut all = Vec::new();
        for one in moves {
            all.push(one);
            if matches!(one, Move::Boots(_) | Move::DiskIsBack(_)) && one.faults() < self.faults {
                all.extend(CutAt::all(self.actions_of_a_start()).filter_map(|cut| with(one, cut)));
            }
            if let Some(event) = self.event_of(one).filter(|_| one.faults() < self.faults) {
                all.extend(CutAt::all(self.actions_of(event)).filter_map(|cut| with(one, cut)));
            }
        }
        all.retain(|one| one.faults() <= self.faults);
        all
    }

    /// The world in which another transaction follows: the bank has its books, and what is on its way may still arrive.
    pub(crate) fn for_the_next(&self, faults: u8) -> Self {
        let Self { entry, bank, wire, now, asked_at, reversed_at, booked_at, .. } = self.clone();
        let follows = self.board.sale.clone().map(|sale| (Rc::new(sale), 0));
        Self { bank, wire, now, asked_at, reversed_at, booked_at, follows, ..Self::new(entry, faults) }
    }

    /// A second till wants something back of the same payment: what the journal would allow it by now.
    pub(crate) fn offers(&mut self) {
        let Some((payment, most)) = &mut self.follows else { return };
        let Some(own) = self.disk.sale.as_ref() else { return };
        let later = |of: &Sale| {
            let follows = of.order().number != own.order().number;
            Ok::<_, ()>(if follows { vec![own.clone()] } else { Vec::new() })
        };
        let Ok(history) = History::read(payment, &later) else { return };
        for kind in [Kind::Refund, Kind::Reversal] {
            if let Ok(Left::UpTo(left)) = history.left(kind, None) {
                *most = left.minor().max(*most);
            }
        }
    }

    /// Whether a list may still lack what was booked last.
    pub(crate) fn was_booked_lately(&self) -> bool {
        !self.bank.booked.is_empty() && self.now.monotonic.saturating_sub(self.booked_at) < LISTED_AFTER
    }

    /// Forgets what can make no difference any more: what nobody waits for and is too old to arrive.
    pub(crate) fn forgets(&mut self) {
        if self.is_quiet() {
            self.wire.retain(|on_wire| on_wire.awaited);
        }
    }

    /// Whether whatever was sent is too old to arrive.
    pub(crate) fn is_quiet(&self) -> bool {
        let sent = self.asked_at.monotonic.max(self.reversed_at);
        self.now.monotonic.saturating_sub(sent) >= DEADLINES.absence_final
    }

    /// How many actions the sale does when the board takes it up.
    fn actions_of_a_start(&self) -> usize {
        let mut world = self.clone();
        world.board.sale.clone_from(&self.disk.sale);
        world.actions_of(Event::Restarted)
    }

    /// What happens without the board.
    fn outside(&self, moves: &mut Vec<Move>) {
        for (at, on_wire) in self.wire.iter().enumerate() {
            let at = u8::try_from(at).unwrap_or(u8::MAX);
            if !on_wire.awaited {
                moves.extend([Makes::Approves, Makes::Declines].map(|makes| Move::Arrives { at, makes }));
            }
        }
        if self.bank.ponders() {
            moves.extend([true, false].map(|approves| Move::Decides { approves }));
        }
    }

    /// What the board hears.
    fn inside(&self, moves: &mut Vec<Move>) {
        let Some(sale) = &self.board.sale else { return };
        if self.board.proceeds {
            return moves.push(Move::Proceeds(CutAt::Not));
        }
        match self.reader {
            ReaderDoes::Idle => {}
            ReaderDoes::Armed | ReaderDoes::Stopping => {
                moves.extend([Move::ReadsCard(CutAt::Not), Move::NoCard(CutAt::Not), Move::ReaderLost(CutAt::Not)]);
            }
            ReaderDoes::HoldsCard => moves.push(Move::ReaderLost(CutAt::Not)),
            ReaderDoes::Approved => {
                let says = [true, false].map(|confirms| Move::CardSays { confirms, cut: CutAt::Not });
                moves.extend(says.into_iter().chain([Move::ReaderLost(CutAt::Not)]));
            }
            ReaderDoes::Declined => moves.push(Move::CardGoes(CutAt::Not)),
        }
        for (at, on_wire) in self.wire.iter().enumerate().filter(|(_, on_wire)| on_wire.awaited) {
            let at = u8::try_from(at).unwrap_or(u8::MAX);
            self.answers(at, &on_wire.request, moves);
        }
        match sale.standing() {
            Standing::AtSignature => {
                moves.extend([true, false].map(|accepted| Move::Signed { accepted, cut: CutAt::Not }));
            }
            Standing::AwaitingTill { .. } => {
                moves.extend([true, false].map(|taken| Move::TillTakes { taken, cut: CutAt::Not }));
            }
            _ => {}
        }
        if self.may_cancel && sale.can_be_cancelled() {
            moves.push(Move::Cancels(CutAt::Not));
        }
        // Time goes on when nobody is waited for.
        if !self.wire.iter().any(|on_wire| on_wire.awaited) && sale.deadline().is_some_and(|at| at != Duration::MAX) {
            moves.push(Move::Deadline(CutAt::Not));
            if matches!(sale.standing(), Standing::Unconfirmed { .. }) {
                moves.push(Move::Long(CutAt::Not));
            }
        }
        if !sale.is_settled() {
            moves.push(Move::PowerFails);
        }
    }

    fn answers(&self, at: u8, request: &Request, moves: &mut Vec<Move>) {
        let answered = |makes| Move::Answered { at, makes, cut: CutAt::Not };
        let spoilt = |makes, how| Move::Spoilt { at, makes, how };
        match request {
            Request::Pay => {
                moves.extend([Makes::Approves, Makes::Declines, Makes::Ponders].map(answered));
                let takes_parts = self.board.sale.as_ref().is_some_and(|sale| sale.order().accept_partial);
                moves.extend(takes_parts.then(|| answered(Makes::ApprovesPart)));
                let both = [Makes::Approves, Makes::Declines];
                let lost = [Makes::Approves, Makes::ApprovesPart, Makes::Declines];
                moves.extend(lost.map(|makes| spoilt(makes, Spoilt::AnswerLost)));
                // Of a bank that gives back more than it was asked for no terminal can take it.
                let takes = self.board.sale.as_ref().is_some_and(|sale| sale.order().kind().is_undone_when_unknown());
                moves.extend(takes.then(|| spoilt(Makes::ApprovesMore, Spoilt::Unasked)));
                moves.extend((!takes_parts).then(|| spoilt(Makes::ApprovesPart, Spoilt::Unasked)));
                moves.extend(both.map(|makes| spoilt(makes, Spoilt::InDoubt)));
                let once = [
                    Spoilt::RequestLost,
                    Spoilt::NotSent,
                    Spoilt::Throttled,
                    Spoilt::Late,
                    Spoilt::SaysLess,
                    Spoilt::AnotherId,
                ];
                moves.extend(once.map(|how| spoilt(Makes::Approves, how)));
            }
            Request::Poll { .. } => {
                moves.push(answered(Makes::Approves));
                let once = [Spoilt::RequestLost, Spoilt::NotSent, Spoilt::Throttled];
                moves.extend(once.map(|how| spoilt(Makes::Approves, how)));
            }
            Request::Query { .. } => {
                moves.push(answered(Makes::Approves));
                moves.push(spoilt(Makes::Approves, Spoilt::RequestLost));
                // A list that is late is so by minutes: what is old is in it.
                moves.extend(self.was_booked_lately().then(|| spoilt(Makes::Approves, Spoilt::ListLacks)));
            }
            Request::Reverse { .. } => {
                moves.push(answered(Makes::Approves));
                let once = [
                    Spoilt::RequestLost,
                    Spoilt::NotSent,
                    Spoilt::AnswerLost,
                    Spoilt::Late,
                    Spoilt::InDoubt,
                    Spoilt::SaysLess,
                ];
                moves.extend(once.map(|how| spoilt(Makes::Approves, how)));
            }
        }
    }

    /// The event that the board hears by a move, where it hears one at once.
    fn event_of(&self, one: Move) -> Option<Event> {
        let mut world = self.clone();
        world.event(one)
    }

    /// Makes a move.
    pub(crate) fn make(&self, one: Move, order: &Order) -> Self {
        let mut world = self.clone();
        world.faults -= one.faults();
        match one {
            Move::Begins(cut) => world.begin(order.clone(), cut),
            Move::PowerFails => world.power_fails(),
            Move::Boots(cut) | Move::DiskIsBack(cut) => world.boots(cut),
            Move::Arrives { at, makes } => {
                let on_wire = world.wire.remove(usize::from(at));
                let _ = world.carried_out(&on_wire.request, makes);
            }
            Move::Decides { approves } => world.bank.decides(approves),
            one => {
                if let Some(event) = world.event(one) {
                    world.hear(event, one.cut());
                }
            }
        }
        world
    }

    /// What the world makes of a move, and the event that the board hears.
    fn event(&mut self, one: Move) -> Option<Event> {
        Some(match one {
            Move::Proceeds(_) => {
                self.board.proceeds = false;
                Event::Proceed
            }
            Move::ReadsCard(_) => {
                self.reader = ReaderDoes::HoldsCard;
                Event::CardRead { facts: facts(self.entry, self.signs), first_answer: FirstAnswer::GoOnline }
            }
            Move::NoCard(_) => {
                let reason =
                    if self.reader == ReaderDoes::Stopping { Reason::TillCancelled } else { Reason::CardTimeout };
                self.reader = ReaderDoes::Idle;
                Event::NoCard { why: reason.into() }
            }
            Move::CardSays { confirms, .. } => {
                self.chip_refused |= !confirms;
                self.reader = ReaderDoes::Idle;
                Event::CardSaid { confirmed: confirms, facts: Some(Box::new(facts(self.entry, self.signs))) }
            }
            Move::CardGoes(_) => {
                self.reader = ReaderDoes::Idle;
                Event::CardSaid { confirmed: false, facts: Some(Box::new(facts(self.entry, self.signs))) }
            }
            Move::ReaderLost(_) => {
                self.reader = ReaderDoes::Idle;
                Event::ReaderLost
            }
            Move::Answered { at, makes, .. } => {
                let on_wire = self.wire.remove(usize::from(at));
                self.carried_out(&on_wire.request, makes)
            }
            Move::Spoilt { at, makes, how } => self.spoilt(usize::from(at), makes, how),
            Move::Cancels(_) => {
                self.may_cancel = false;
                Event::CancelAsked { by: Some(Who::default()) }
            }
            Move::Signed { accepted, .. } => Event::SignatureChecked { accepted, by: Some(Who::default()) },
            Move::TillTakes { taken, .. } => Event::TillAnswered { taken, by: Some(Who::default()) },
            Move::Deadline(_) => {
                let deadline = self.board.sale.as_ref().and_then(Sale::deadline)?;
                self.passes(deadline.saturating_sub(self.now.monotonic));
                Event::DeadlinePassed
            }
            Move::Long(_) => {
                self.passes(LONG);
                // Nothing is on its way for so long.
                self.wire.clear();
                Event::DeadlinePassed
            }
            _ => return None,
        })
    }

    /// The bank carries a request out; the event is its answer.
    fn carried_out(&mut self, request: &Request, makes: Makes) -> Event {
        match request {
            Request::Pay => Event::Answered(self.pays(makes)),
            Request::Poll { payment } => Event::Answered(self.bank.answer(payment)),
            Request::Query { references } => Event::Inquired(self.bank.lists(references, false)),
            Request::Reverse { payment, amount, reference } => {
                self.booked_at = self.now.monotonic;
                let reversal = self.bank.reverses(payment, *amount, reference);
                Event::ReversalAnswered { reference: reference.clone(), reversal }
            }
        }
    }

    fn pays(&mut self, makes: Makes) -> Answer {
        let Some(sale) = self.board.sale.as_ref().or(self.disk.sale.as_ref()) else {
            return Answer::Unknown { why: Reason::GatewayNoAnswer.into() };
        };
        let order = sale.order();
        let of = order.transaction.of().map(|of| of.payment.clone());
        self.booked_at = self.now.monotonic;
        self.bank.pays(&order.merchant_transaction_id, order.kind(), sale.amount(), of, makes)
    }

    fn spoilt(&mut self, at: usize, makes: Makes, how: Spoilt) -> Event {
        let mut on_wire = self.wire.remove(at);
        let no_answer = Reason::GatewayNoAnswer;
        match how {
            Spoilt::AnswerLost => drop(self.carried_out(&on_wire.request, makes)),
            Spoilt::Unasked => return self.carried_out(&on_wire.request, makes),
            Spoilt::Late => {
                on_wire.awaited = false;
                self.wire.push(on_wire.clone());
            }
            Spoilt::SaysLess => {
                if let Request::Reverse { payment, amount, reference } = &on_wire.request {
                    // A part alone goes back.
                    self.booked_at = self.now.monotonic;
                    let reversal = self.bank.reverses(payment, eur(amount.minor() / 3), reference);
                    return Event::ReversalAnswered { reference: reference.clone(), reversal };
                }
                let Event::Answered(Answer::Approved(approved)) = self.carried_out(&on_wire.request, makes) else {
                    return unknown(&on_wire.request, no_answer);
                };
                return Event::Answered(approval(&approved.id, ApprovedAmount::Said(eur(100))));
            }
            Spoilt::AnotherId => {
                let _ = self.carried_out(&on_wire.request, makes);
                return Event::Answered(Answer::NotOurs { why: Reason::AnotherPaymentAnswered.into() });
            }
            Spoilt::InDoubt => {
                if let Request::Reverse { reference, .. } = &on_wire.request {
                    let reversal = ReversalAnswer::Refused { why: Reason::BankDeclined.into() };
                    return Event::ReversalAnswered { reference: reference.clone(), reversal };
                }
                let _ = self.carried_out(&on_wire.request, makes);
                return Event::Answered(Answer::DeclinedInDoubt(Box::new(refusal(None))));
            }
            Spoilt::ListLacks => {
                let Request::Query { references } = &on_wire.request else {
                    return unknown(&on_wire.request, no_answer);
                };
                return Event::Inquired(self.bank.lists(references, true));
            }
            Spoilt::Throttled => return Event::Answered(Answer::Throttled(Box::new(refusal(None)))),
            Spoilt::NotSent => {
                let why = Reason::GatewayUnreachable;
                return match &on_wire.request {
                    Request::Reverse { reference, .. } => Event::ReversalAnswered {
                        reference: reference.clone(),
                        reversal: ReversalAnswer::NotSent { why: why.into() },
                    },
                    _ => Event::Answered(Answer::NotSent { why: why.into() }),
                };
            }
            Spoilt::RequestLost => {}
        }
        unknown(&on_wire.request, no_answer)
    }
}

fn unknown(request: &Request, reason: Reason) -> Event {
    let why = reason.into();
    match request {
        Request::Pay | Request::Poll { .. } => Event::Answered(Answer::Unknown { why }),
        Request::Query { .. } => Event::Inquired(Inquiry::CannotAsk { why }),
        Request::Reverse { reference, .. } => {
            Event::ReversalAnswered { reference: reference.clone(), reversal: ReversalAnswer::Unknown { why } }
        }
    }
}

/// The same move, with something cut in it.
fn with(one: Move, cut: CutAt) -> Option<Move> {
    Some(match one {
        Move::Proceeds(_) => Move::Proceeds(cut),
        Move::ReadsCard(_) => Move::ReadsCard(cut),
        Move::NoCard(_) => Move::NoCard(cut),
        Move::CardSays { confirms, .. } => Move::CardSays { confirms, cut },
        Move::CardGoes(_) => Move::CardGoes(cut),
        Move::ReaderLost(_) => Move::ReaderLost(cut),
        Move::Answered { at, makes, .. } => Move::Answered { at, makes, cut },
        Move::Cancels(_) => Move::Cancels(cut),
        Move::Signed { accepted, .. } => Move::Signed { accepted, cut },
        Move::TillTakes { taken, .. } => Move::TillTakes { taken, cut },
        Move::Deadline(_) => Move::Deadline(cut),
        Move::Long(_) => Move::Long(cut),
        Move::Boots(_) => Move::Boots(cut),
        Move::DiskIsBack(_) => Move::DiskIsBack(cut),
        _ => return None,
    })
}

fn facts(entry: EntryMode, signs: bool) -> CardFacts {
    CardFacts {
        entry,
        pan: MaskedPan::new("476173******0119"),
        pan_sequence_number: None,
        aid: None,
        label: None,
        cvm: signs.then_some(Cvm::Signature),
        cryptogram: None,
        tvr: None,
        tsi: None,
        iad: None,
    }
}

/// Whether a kind's request may be carried out only once, and is looked up and finished.
pub(crate) fn is_finished(kind: Kind) -> bool {
    !kind.is_undone_when_unknown()
}
