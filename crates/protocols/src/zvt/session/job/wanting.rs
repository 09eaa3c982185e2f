//! The steps from a command to the request to the terminal. They check permission, compare the last receipt of both
//! sides, find the earlier transaction, and determine the amount.

use super::super::earlier::{Next, Search, Wanted};
use super::super::flow::Flow;
use super::super::outcome::{self, code_of, code_of_refusal, decimal, minor};
use super::super::{Action, is_allowed, wants_container, wants_version, wishes};
use super::{Earlier, Job, Payment, Question, Stage, Undoing, WATCH_S, fields_of, state_of};
use crate::zvt::answer;
use crate::zvt::apdu::{Apdu, Control};
use crate::zvt::bmp::Fields;
use crate::zvt::code;
use crate::zvt::command::{Command, LastReceipt, ReceiptNumber, Registration, last_receipt, receipt_number};
use pos_till_api::follow::{Follower, Heard};
use pos_till_api::{Ask, Begin, Kind, Outcome, Said, Sale, State, Status};

/// Number of a till's latest transactions in which the session searches for the last one the till knows. Reversed
/// transactions and their reversals may be newer.
const LOOKED_BACK: u8 = 16;

/// The approvals that the till does not know.
enum Unheard {
    /// One approval, by its reference.
    One(String),
    /// No approval, or several.
    NotOne,
    /// The last transaction that the till knows is not in the list.
    Unknown,
}

/// Finds the approvals after the till's last known receipt. `sales` begins with the newest.
fn unheard(sales: &[Sale], heard: u16) -> Unheard {
    let mut above = None;
    for sale in sales {
        if sale.receipt_number == heard {
            return above.map_or(Unheard::NotOne, Unheard::One);
        }
        let stands = matches!(sale.outcome, Some(Outcome::Approved | Outcome::PartiallyApproved));
        let by_card = matches!(sale.kind, Kind::Sale | Kind::PreAuthorisation);
        if stands && by_card && above.replace(sale.reference.clone()).is_some() {
            return Unheard::NotOne;
        }
    }
    Unheard::Unknown
}

impl Job {
    pub(super) fn status(&mut self, status: &Status, flow: &mut Flow<'_>) {
        match self.command.clone() {
            Command::Registration(registration) => self.register(registration, flow),
            Command::StatusEnquiry(fields) => {
                let version = wants_version(&fields).then_some(status.version.as_str());
                let container = wants_container(&fields).then(|| outcome::about_terminal(status));
                let apdu = answer::completion_of_enquiry(version, state_of(status), container.as_deref());
                self.last(apdu, flow);
            }
            Command::Diagnosis(_) | Command::SelfTest | Command::Initialisation(_) | Command::PrintConfiguration => {
                self.print_state(status, flow);
                match state_of(status) {
                    code::OK => self.end(flow),
                    code => self.end_with(code, flow),
                }
            }
            Command::Reset | Command::SetTime(_) => self.end(flow),
            Command::Reprint { password, from, to } => self.reprint(password, (from, to.unwrap_or(from)), flow),
            Command::RepeatReceipt(guarded) => self.repeat(&guarded.fields, flow),
            Command::Totals(_) => self.ask(Ask::OpenPeriod, Stage::Period, flow),
            Command::EndOfDay(guarded) => {
                if !is_allowed(flow.settings, &guarded) {
                    return self.end_with(code::NOT_POSSIBLE, flow);
                }
                let print = flow.prints_administration();
                self.ask(Ask::Close { reference: flow.new_reference(), print }, Stage::Period, flow);
            }
            command => self.wanted(&command, flow),
        }
    }

    pub(super) fn register(&mut self, registration: Registration, flow: &mut Flow<'_>) {
        let currency = flow.facts.currency;
        if registration.currency.is_some() && currency.is_some() && registration.currency != currency {
            let mut data = vec![code::WRONG_CURRENCY];
            data.extend(currency.iter().flatten());
            flow.send(self.till.line, Apdu::new(Control(0x84, 0x1E), data));
            return;
        }
        let mut fields = Fields::default();
        fields.set(0x19, [0]);
        fields.set(0x29, outcome::terminal_id(&flow.facts.terminal_id));
        if let Some(currency) = currency {
            fields.set(0x49, currency);
        }
        if let Some(charset) = registration.charset() {
            fields.set_tlv(0x14, &[charset.tag14()]);
        }
        flow.send(self.till.line, Apdu::ok());
        flow.registered = Some(registration);
        self.last(answer::completion(&fields), flow);
    }

    /// Handles a command that moves money. Compares the last receipt first, then finds the earlier transaction.
    pub(super) fn wanted(&mut self, command: &Command, flow: &mut Flow<'_>) {
        let guarded = match command {
            Command::Reversal(it) | Command::Refund(it) => Some(it),
            _ => None,
        };
        let credit = matches!(command, Command::Refund(_));
        let allowed = guarded.is_none_or(|it| is_allowed(flow.settings, it)) && (!credit || flow.settings.credit);
        let Some(fields) = fields_of(command).filter(|_| allowed) else {
            return self.end_with(code::NOT_POSSIBLE, flow);
        };
        if fields.had_card() {
            // Card data must come from the reader only.
            return self.end_with(code::FORBIDDEN, flow);
        }
        let judged = wishes::judge(command, fields);
        flow.actions.extend(judged.notes.into_iter().map(Action::Note));
        if let Some(code) = judged.refused {
            return self.end_with(code, flow);
        }
        let terminal = &flow.facts.terminal_id;
        if fields.get(0x29).is_some_and(|id| id != outcome::terminal_id(terminal))
            || fields.get(0x2A).is_some_and(|id| id != outcome::padded(terminal))
        {
            // The command is for another terminal or another merchant.
            return self.end_with(code::NOT_ADMITTED, flow);
        }
        let currency = fields.get(0x49);
        if currency.is_some()
            && flow.facts.currency.is_some()
            && currency != flow.facts.currency.as_ref().map(|it| &it[..])
        {
            return self.end_with(code::WRONG_CURRENCY, flow);
        }
        match (last_receipt(fields), fields.tlv(&[0x1F1F])) {
            (Some(LastReceipt::Is(_)), _) => self.ask(Ask::Newest(2), Stage::InStep(2), flow),
            // The till's last receipt is unreadable.
            (None, Some(_)) => self.end_with(code::PROTOCOL, flow),
            (Some(LastReceipt::None) | None, _) => self.find_or_begin(flow),
        }
    }

    /// Checks whether the till is one receipt behind. Such a till does not know its last approval, so that approval is
    /// reversed first (ZVT PA00P015, 2.2.8 and 4).
    ///
    /// This compares the till's own transactions, because other tills use numbers of the same terminal.
    pub(super) fn in_step(&mut self, asked: u8, said: Said, flow: &mut Flow<'_>) {
        let heard = fields_of(&self.command).and_then(last_receipt);
        if let (Said::Sales { sales, .. }, Some(LastReceipt::Is(heard))) = (said, heard) {
            match unheard(&sales, heard) {
                Unheard::One(reference) => return self.undo(reference, Kind::Reversal, flow),
                Unheard::Unknown if asked < LOOKED_BACK && sales.len() == usize::from(asked) => {
                    return self.ask(Ask::Newest(LOOKED_BACK), Stage::InStep(LOOKED_BACK), flow);
                }
                _ => {}
            }
        }
        self.find_or_begin(flow);
    }

    fn undo(&mut self, of: String, kind: Kind, flow: &mut Flow<'_>) {
        let begin = Begin { of: Some(of.clone()), ..Begin::new(&flow.new_reference(), kind, None) };
        let follower = Follower::begin(begin, WATCH_S);
        self.ask(follower.ask(), Stage::Undoing(Undoing { of, kind, follower }), flow);
    }

    pub(super) fn undoing(&mut self, mut undoing: Undoing, said: Said, flow: &mut Flow<'_>) {
        match undoing.follower.said(said, flow.now) {
            Heard::Stands(sale) => self.undone(undoing, &sale, flow),
            Heard::Next { at, ask } => self.ask_at(at, ask, Stage::Undoing(undoing), flow),
            Heard::Refused(problem) => self.end_with(code_of_refusal(&problem), flow),
            Heard::Silent { .. } => self.end_with(code::COMMUNICATION, flow),
            Heard::WasThere(_) | Heard::Stopped { .. } => self.end_with(code::SYSTEM, flow),
        }
    }

    fn undone(&mut self, mut undoing: Undoing, sale: &Sale, flow: &mut Flow<'_>) {
        match code_of(sale) {
            None if sale.state != State::Ended => {
                self.ask(undoing.follower.watch(), Stage::Undoing(undoing), flow);
            }
            // If the issuer declines the reversal, the session begins a refund, as after `06 30`.
            Some(code::DECLINED) if undoing.kind == Kind::Reversal => self.undo(undoing.of, Kind::Refund, flow),
            // The unknown payment remains valid, so after another payment the customer would have paid twice.
            Some(code) if !matches!(code, code::OK | code::COMMUNICATION) => self.end_with(code::PROCESSING, flow),
            _ => self.find_or_begin(flow),
        }
    }

    pub(super) fn find_or_begin(&mut self, flow: &mut Flow<'_>) {
        if !self.till.is_up {
            return;
        }
        let Some(fields) = fields_of(&self.command).cloned() else { return self.end_with(code::SYSTEM, flow) };
        let (amount, receipt) = match (fields.number(0x04), receipt_number(&fields)) {
            (Ok(amount), Ok(receipt)) => (amount, receipt),
            _ => return self.end_with(code::PROTOCOL, flow),
        };
        let wanted = match &self.command {
            Command::Reversal(_) => Wanted::Payment,
            Command::PartialReversal(_) | Command::BookTotal(_) | Command::PreAuthorisationReversal(_) => {
                Wanted::Reservation
            }
            _ => return self.begin_payment(&fields, amount, flow),
        };
        match (receipt, wanted) {
            (Some(ReceiptNumber::Is(number)), wanted) => {
                let must_equal = amount.filter(|_| wanted == Wanted::Payment);
                let (search, ticket) = Search::begin(wanted, number, must_equal, flow);
                self.search(search, ticket);
            }
            (Some(ReceiptNumber::Any), Wanted::Reservation) => self.ask(Ask::OpenPeriod, Stage::Period, flow),
            (_, Wanted::Reservation) => self.end_with(code::NO_RESERVATION, flow),
            (_, Wanted::Payment) => self.end_with(code::NO_REVERSAL, flow),
        }
    }

    /// Sets the stage of a search. The question of a search is asked only once.
    fn search(&mut self, search: Search, ticket: u64) {
        (self.stage, self.question) = (Stage::Finding(search), Some(Question::Open { ticket, ask: None }));
    }

    pub(super) fn finding(&mut self, mut search: Search, said: Said, flow: &mut Flow<'_>) {
        match search.said(said, flow) {
            Next::Asks(ticket) => self.search(search, ticket),
            Next::Found(sale) => self.follow(&sale, flow),
            Next::Nothing(code) => self.end_with(code, flow),
        }
    }

    /// Begins the transaction that refers to an earlier one.
    pub(super) fn follow(&mut self, earlier: &Sale, flow: &mut Flow<'_>) {
        if !fields_of(&self.command).is_some_and(|fields| wishes::agree(fields, earlier)) {
            let void = matches!(self.command, Command::Reversal(_));
            return self.end_with(if void { code::NO_REVERSAL } else { code::NO_RESERVATION }, flow);
        }
        let decimals = flow.facts.decimals;
        let amount = fields_of(&self.command).and_then(|fields| fields.number(0x04).ok().flatten());
        let left = earlier.left.as_deref().and_then(|left| minor(left, decimals)).unwrap_or(0);
        if left == 0 && !matches!(self.command, Command::Reversal(_)) {
            return self.end_with(code::NO_RESERVATION, flow);
        }
        let (kind, amount) = match (&self.command, amount) {
            (Command::Reversal(_), _) if earlier.outcome == Some(Outcome::Reversed) => {
                return self.end_with(code::ALREADY_REVERSED, flow);
            }
            (Command::Reversal(_), _) => (Kind::Reversal, None),
            (Command::PreAuthorisationReversal(_), Some(asked)) if asked != left => {
                return self.end_with(code::RESERVED_AMOUNT, flow);
            }
            (Command::PreAuthorisationReversal(_), _) => (Kind::Reversal, None),
            // The command states the unused part, and the rest is captured. If the whole reservation is unused, it is
            // reversed.
            (Command::PartialReversal(_), Some(unused)) if unused == left => (Kind::Reversal, None),
            (Command::PartialReversal(_), Some(unused)) if unused < left => (Kind::Capture, Some(left - unused)),
            (Command::PartialReversal(_), _) => return self.end_with(code::RESERVED_AMOUNT, flow),
            (_, Some(used)) if used > left || used == 0 => return self.end_with(code::RESERVED_AMOUNT, flow),
            (_, used) => (Kind::Capture, used),
        };
        let amount = amount.map(|amount| decimal(amount, decimals));
        let mut begin =
            Begin { of: Some(earlier.reference.clone()), ..Begin::new(&flow.new_reference(), kind, amount) };
        if kind == Kind::Capture {
            begin.parameters.insert("sequence".to_owned(), "FINAL".to_owned());
        }
        let earlier = Some(Earlier { reference: earlier.reference.clone(), number: earlier.number });
        self.begin_it(begin, earlier, flow);
    }

    pub(super) fn begin_payment(&mut self, fields: &Fields, amount: Option<u64>, flow: &mut Flow<'_>) {
        let Some(amount) = amount.filter(|amount| *amount > 0) else { return self.end_with(code::TOO_LITTLE, flow) };
        let kind = match self.command {
            Command::Authorisation(_) => Kind::Sale,
            Command::PreAuthorisation(_) => Kind::PreAuthorisation,
            _ => Kind::Credit,
        };
        let amount = decimal(amount, flow.facts.decimals);
        let mut begin = Begin::new(&flow.new_reference(), kind, Some(amount));
        if kind != Kind::Credit {
            begin.confirm = Some(flow.unacknowledged(last_receipt(fields).is_some()));
            let says_no = |value: &[u8]| !value.is_empty() && value.iter().all(|byte| *byte == 0);
            begin.accept_partial = fields.tlv(&[0x1F70]).is_some_and(|value| !says_no(value));
        }
        self.begin_it(begin, None, flow);
    }

    pub(super) fn begin_it(&mut self, mut begin: Begin, earlier: Option<Earlier>, flow: &mut Flow<'_>) {
        begin.till_prints = !flow.prints_payments();
        let confirm = begin.confirm;
        let follower = Follower::begin(begin, WATCH_S);
        self.ask(follower.ask(), Stage::Following(Payment { confirm, earlier, ..Payment::new(follower) }), flow);
    }
}
