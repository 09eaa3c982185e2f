//! The tills and their cashiers: their wishes, the messages that they receive, and their reactions. The cardholder is
//! part of the simulated reader (`hardware.rs`).

use std::time::Duration;

use pos_agent::till::{
    Caller, Command, FleetRefused, FleetSettingsRequest, LaterView, ProgressListener, ProgressLog, Refused,
    SaleState as Standing, SaleView, StatusView, Verb, Wanted,
};
use pos_core::wish::{EarlierName, WishFields};
use pos_fleet_terms::Reported;
use pos_journal::Entries;
use pos_terms::money::{Amount, Currency};
use pos_terms::transaction::{Kind, OnSilence, OutcomeWord, PaymentId, Reference, SaleNumber, Taken, Who};
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use super::cut_points::{Fate, PointKind};
use super::{State, World};

/// A transaction that a till wants. Its number is a note in the request to the bank, so each ledger entry can be
/// assigned to its wish.
#[derive(Clone, Debug)]
pub struct Wish {
    pub number: usize,
    pub till: String,
    pub reference: String,
    pub kind: Kind,
    pub minor: u64,
    pub of: Option<Earlier>,
    pub accepts_part: bool,
    /// The till's confirmation of the amount that it accepts.
    pub confirms: Option<Confirms>,
    /// The till's confirmation of a part or of nothing, as the agent reported it to the till. It must not change.
    pub confirmed: Option<Says>,
    /// The last message to the till about the refund of the rest.
    pub rest: Option<TillResult>,
    /// All messages to the till about the wish, in order.
    pub told: Vec<TillResult>,
    /// The transaction's number in the terminal's journal and its payment id, once the till knows them.
    pub in_journal: Option<u64>,
    pub payment: Option<String>,
    /// The id that identified an earlier payment in the till's request.
    pub named: Option<String>,
}

/// The behaviour of a till when the agent asks for a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirms {
    pub says: Says,
    pub on_silence: OnSilence,
}

/// The till's answer. A part is half of the amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    All,
    Part,
    Nothing,
    /// No answer.
    Silent,
}

/// The transaction that a wish refers to.
#[derive(Clone, Debug)]
pub enum Earlier {
    /// A payment of an earlier day, by its id.
    Payment(String),
    /// Another wish, by its number.
    Wish { number: usize, by: By },
}

/// The way in which a till identifies an earlier transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// Its till's reference.
    Reference,
    /// The transaction's number in the terminal's journal.
    Number,
    /// The payment's id.
    Payment,
}

/// A message to a till about a wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TillResult {
    /// The transaction waits or is in progress.
    UnderWay,
    /// The cashier must check the signature.
    Signature,
    /// The till must confirm the approved amount.
    ToConfirm {
        minor: u64,
    },
    /// The outcome is unknown.
    Unconfirmed {
        needs_a_person: bool,
    },
    Approved {
        minor: u64,
    },
    /// Nothing was charged: declined, cancelled, not sent, or reversed.
    Nothing(String),
    /// The transaction is unknown, or was refused before it began.
    Unknown(String),
}

impl TillResult {
    pub fn is_final(&self) -> bool {
        !matches!(
            self,
            Self::UnderWay | Self::Signature | Self::ToConfirm { .. } | Self::Unconfirmed { needs_a_person: false }
        )
    }
}

impl Wish {
    pub fn new(number: usize, kind: Kind, minor: u64) -> Self {
        // A request that stores or deletes a card pays nothing.
        let minor = if kind.moves_money() { minor } else { 0 };
        Self {
            number,
            till: format!("till-{}", number % 3 + 1),
            reference: format!("R{number}"),
            kind,
            minor,
            of: None,
            accepts_part: false,
            confirms: None,
            confirmed: None,
            rest: None,
            told: Vec::new(),
            in_journal: None,
            payment: None,
            named: None,
        }
    }

    /// Describes the till's answer (or silence) when the agent asked for a confirmation, and the request's rule for
    /// silence.
    pub fn was_asked_to_confirm(&self) -> Option<String> {
        let asked = self.told.iter().any(|told| matches!(told, TillResult::ToConfirm { .. }));
        self.confirms
            .filter(|_| asked)
            .map(|Confirms { says, on_silence }| format!("{says:?}, {}", on_silence.as_str()))
    }

    /// Returns the `paymentType` at the bank.
    pub fn payment_type(&self) -> &'static str {
        match self.kind {
            Kind::Sale | Kind::ByRegistration => "DB",
            Kind::PreAuthorisation | Kind::PreAuthorisationByRegistration | Kind::Increment | Kind::Reauthorisation => {
                "PA"
            }
            Kind::Credit => "CD",
            Kind::StoreCard => "RG",
            Kind::ForgetCard => "DR",
            Kind::Capture => "CP",
            Kind::Refund => "RF",
            Kind::Reversal => "RV",
        }
    }

    /// Returns whether the wish uses stored card data instead of the card.
    fn is_by_registration(&self) -> bool {
        matches!(self.kind, Kind::ByRegistration | Kind::PreAuthorisationByRegistration)
    }

    fn wanted(&self, of: Option<EarlierName>) -> Wanted {
        let currency = Currency::from_code("EUR").unwrap();
        let amount = self.kind.moves_money().then(|| Amount::from_minor(self.minor, currency).unwrap());
        let note: serde_json::Value = format!("wish number {}", self.number).into();
        let parameters = match self.kind {
            Kind::StoreCard => vec![("customer.givenName", note), ("customer.surname", "Poe".into())],
            Kind::ForgetCard => Vec::new(),
            _ => vec![("merchantMemo", note)],
        };
        let fields = WishFields {
            of,
            registration: match self.kind {
                // The id contains the number of the wish, because a DELETE has no note.
                Kind::ForgetCard => Some(format!("f{:0>31}", self.number)),
                _ => self.is_by_registration().then(|| "f".repeat(32)),
            },
            amount,
            accept_partial: self.accepts_part.then_some(true),
            till_confirms: self.confirms.map(|confirms| confirms.on_silence),
            ..WishFields::new(self.kind)
        };
        Wanted {
            till: self.till.clone(),
            reference: Reference::parse(self.reference.clone()).unwrap(),
            wish: fields.judged().unwrap(),
            caller: Caller::root(0),
            training: None,
            parameters: parameters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            till_side: Default::default(),
        }
    }
}

/// A till's connection to the agent.
pub struct Till {
    pub(super) world: World,
    pub(super) commands: mpsc::Sender<Command>,
    progress: ProgressLog,
    listener: ProgressListener,
}

impl Till {
    pub(super) fn new(world: World, commands: mpsc::Sender<Command>, progress: &ProgressLog) -> Self {
        Self { world, commands, progress: progress.clone(), listener: progress.listen() }
    }

    pub fn another(&self) -> Self {
        Self::new(self.world.clone(), self.commands.clone(), &self.progress)
    }

    /// Waits until the terminal is ready for a transaction, for a few minutes at most.
    pub async fn until_ready(&self) {
        let mut pause = Duration::from_millis(100);
        for _ in 0..150 {
            if self.is_ready().await {
                return;
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(2));
        }
    }

    /// Returns whether the terminal is ready for a transaction, and no transaction uses the reader.
    pub async fn is_ready(&self) -> bool {
        self.status().await.is_some_and(|status| status.ready && !status.busy)
    }

    /// Returns the terminal's messages that need a person.
    pub async fn attention(&self) -> Vec<String> {
        let status = self.status().await;
        status.map_or_else(Vec::new, |status| status.attention.into_iter().map(|one| one.text).collect())
    }

    async fn status(&self) -> Option<StatusView> {
        let (reply, answer) = oneshot::channel();
        let _ = self.commands.send(Command::Status { permit: Caller::root(0).may(Verb::Status).unwrap(), reply }).await;
        answer.await.ok()
    }

    /// Returns the journal's first entries, with its identity.
    pub async fn entries(&self) -> Entries {
        let (reply, answer) = oneshot::channel();
        let _ = self.commands.send(Command::ListEntries { after: 0, limit: 200, reply }).await;
        answer.await.unwrap().unwrap()
    }

    /// Passes on what the fleet signed, or an acknowledgement, and returns the terminal's report.
    pub async fn fleet_settings(
        &self,
        request: impl FnOnce(oneshot::Sender<Result<Reported, FleetRefused>>) -> FleetSettingsRequest,
    ) -> Option<Result<Reported, FleetRefused>> {
        let (reply, answer) = oneshot::channel();
        let _ = self.commands.send(Command::FleetSettings(request(reply))).await;
        answer.await.ok()
    }

    /// Sends the request for a wish, or gets its outcome.
    pub async fn ask(&self, wish: usize) {
        let wanted = self.world.lock().wanted(wish);
        let (reply, answer) = oneshot::channel();
        let _ = self.commands.send(Command::Begin { wanted: Box::new(wanted), reply }).await;
        if let Ok(answer) = answer.await {
            self.hear(wish, &answer);
        }
    }

    /// Returns the till of a wish, and its reference.
    fn named(&self, wish: usize) -> (String, Reference) {
        let state = self.world.lock();
        let wish = &state.wishes[wish];
        (wish.till.clone(), Reference::parse(wish.reference.clone()).unwrap())
    }

    /// Looks up the state of a wish.
    pub async fn look(&self, wish: usize) {
        let (till, reference) = self.named(wish);
        let (reply, answer) = oneshot::channel();
        let _ = self.commands.send(Command::Show { till, reference, reply }).await;
        if let Ok(answer) = answer.await {
            self.hear(wish, &answer);
        }
    }

    /// Accepts the signature.
    async fn accept_signature(&self, wish: usize) {
        let (till, reference) = self.named(wish);
        let (reply, answer) = oneshot::channel();
        let _ =
            self.commands.send(Command::Signature { till, reference, accepted: true, by: Who::default(), reply }).await;
        if let Ok(answer) = answer.await {
            self.hear(wish, &answer);
        }
        // The connection was cut, so the till sends the request again a little later.
        sleep(Duration::from_secs(1)).await;
    }

    /// Sends the till's confirmation of an approved amount, unless the till is silent.
    async fn confirm(&self, wish: usize, minor: u64) {
        let (till, reference, confirms) = {
            let state = self.world.lock();
            let wish = &state.wishes[wish];
            (wish.till.clone(), wish.reference.clone(), wish.confirms.unwrap())
        };
        let taken = match confirms.says {
            Says::All => Taken::All,
            Says::Part => {
                Taken::Part { amount: Amount::from_minor(minor / 2, Currency::from_code("EUR").unwrap()).unwrap() }
            }
            Says::Nothing => Taken::Nothing,
            Says::Silent => return,
        };
        let reference = Reference::parse(reference).unwrap();
        let (reply, answer) = oneshot::channel();
        let _ = self.commands.send(Command::Confirm { till, reference, taken, by: Who::default(), reply }).await;
        if let Ok(answer) = answer.await {
            self.hear(wish, &answer);
        }
        // The connection was cut, so the till sends the confirmation again a little later.
        sleep(Duration::from_secs(1)).await;
    }

    /// Looks up the refund of the rest until the refund has ended, for this long at most.
    pub async fn until_rest_is_final(&self, wish: usize, patience: Duration) {
        let until = tokio::time::Instant::now() + patience;
        loop {
            let (till, reference) = {
                let state = self.world.lock();
                let wish = &state.wishes[wish];
                if wish.confirms.is_none_or(|confirms| confirms.says != Says::Part) {
                    return;
                }
                (wish.till.clone(), format!("{}-rest", wish.reference))
            };
            let (reply, answer) = oneshot::channel();
            let reference = Reference::parse(reference).unwrap();
            let _ = self.commands.send(Command::Show { till, reference, reply }).await;
            let Ok(answer) = answer.await else { return };
            let told = told(&answer);
            let is_over = told.is_final();
            self.world.lock().wishes[wish].rest = Some(told);
            if is_over || tokio::time::Instant::now() > until {
                return;
            }
            sleep(Duration::from_secs(60)).await;
        }
    }

    pub async fn cancel(&self, wish: usize) {
        let (till, reference) = self.named(wish);
        let (reply, answer) = oneshot::channel();
        let _ = self.commands.send(Command::Cancel { till, reference, by: Who::default(), reply }).await;
        // Every till also gets the answer to a cancellation as an event.
        let _ = answer.await;
    }

    /// Sends the request for a wish, and waits for its end. If no event arrives, looks it up.
    pub async fn wants(&mut self, wish: usize) {
        self.ask(wish).await;
        self.until_final(wish, Duration::from_secs(4 * 3600)).await;
    }

    /// Waits for events until a wish has ended, for this long at most.
    pub async fn until_final(&mut self, wish: usize, patience: Duration) {
        let until = tokio::time::Instant::now() + patience;
        let mut pause = Duration::from_secs(1);
        while !self.is_final(wish) && tokio::time::Instant::now() < until {
            let last = self.world.lock().wishes[wish].told.last().cloned();
            let says = self.world.lock().wishes[wish].confirms.map(|confirms| confirms.says);
            if let Some(TillResult::ToConfirm { minor }) = last
                && says != Some(Says::Silent)
            {
                self.confirm(wish, minor).await;
                continue;
            }
            if last == Some(TillResult::Signature) {
                self.accept_signature(wish).await;
                continue;
            }
            tokio::select! {
                biased;
                heard = self.listener.next() => {
                    let Some(view) = heard.ok().and_then(|step| step.sale.clone()) else { continue };
                    let number = self.world.lock().wishes.iter().position(|one| view.reference == one.reference.as_str());
                    if let Some(number) = number {
                        self.hear(number, &Ok(*view));
                    }
                }
                () = sleep(pause) => {
                    pause = (pause * 2).min(Duration::from_secs(120));
                    self.look(wish).await;
                }
            }
        }
    }

    /// Sends a person's decision about a transaction in an outdated journal copy.
    pub async fn settle(&self, wish: usize, keep: bool) {
        let number = self.world.lock().wishes[wish].in_journal.unwrap();
        let (reply, answer) = oneshot::channel();
        let _ = self
            .commands
            .send(Command::Settle { number: SaleNumber::new(number), keep, by: Who::default(), reply })
            .await;
        if let Ok(answer) = answer.await {
            self.hear(wish, &answer);
        }
    }

    fn is_final(&self, wish: usize) -> bool {
        self.world.lock().wishes[wish].told.last().is_some_and(TillResult::is_final)
    }

    /// Delivers a message to the till, unless its connection is cut.
    fn hear(&self, wish: usize, answer: &Result<SaleView, Refused>) {
        let fate = self.world.pass(PointKind::Till);
        if matches!(fate, Fate::Happens | Fate::Last) {
            let mut state = self.world.lock();
            if let Ok(view) = answer {
                let wish = &mut state.wishes[wish];
                wish.in_journal = Some(view.number.get());
                // This is the id in the bank's answer. Only the request names a card that was not deleted.
                let answered = view.registration.clone().filter(|_| view.outcome == Some(OutcomeWord::Approved));
                wish.payment = view.payment_id.as_ref().map(ToString::to_string).or(answered);
                wish.confirmed = confirmed(wish, view).or(wish.confirmed);
            }
            state.tell(wish, told(answer));
        }
        if fate == Fate::Last {
            self.world.die();
        }
    }
}

fn told(answer: &Result<SaleView, Refused>) -> TillResult {
    let view = match answer {
        Ok(view) => view,
        // The agent cannot read the journal.
        Err(Refused::Journal { .. }) => return TillResult::Unconfirmed { needs_a_person: false },
        Err(refused) => return TillResult::Unknown(refused.to_string()),
    };
    match (view.state, view.outcome) {
        (Standing::Ended, Some(OutcomeWord::Approved | OutcomeWord::PartiallyApproved)) => {
            TillResult::Approved { minor: minor_of(view.approved_amount.as_deref()) }
        }
        (Standing::Ended, _) => TillResult::Nothing(view.text.clone()),
        (state, _) if state.is_unconfirmed() => TillResult::Unconfirmed { needs_a_person: view.needs_person.is_some() },
        (Standing::AwaitingSignature, _) => TillResult::Signature,
        (Standing::AwaitingTill, _) => {
            let amount = view.to_confirm.as_ref().map(|to_confirm| to_confirm.amount.as_str());
            TillResult::ToConfirm { minor: minor_of(amount) }
        }
        _ => TillResult::UnderWay,
    }
}

/// Converts decimals to an amount in minor units.
fn minor_of(amount: Option<&str>) -> u64 {
    let digits: String = amount.into_iter().flat_map(str::chars).filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// Returns the till's confirmation, as the agent reports it.
fn confirmed(wish: &Wish, view: &SaleView) -> Option<Says> {
    let rest =
        |one: &LaterView| one.reference.as_ref().is_some_and(|one| *one == format!("{}-rest", wish.reference).as_str());
    match view.reason.as_deref() {
        Some("not-taken") => Some(Says::Nothing),
        _ => view.later.iter().any(rest).then_some(Says::Part),
    }
}

impl State {
    /// Returns whether the earlier transaction of a wish has ended, as far as the wish's till knows.
    pub fn earlier_has_ended(&self, wish: usize) -> bool {
        match &self.wishes[wish].of {
            Some(Earlier::Wish { number, .. }) => {
                let earlier = self.wishes.iter().find(|earlier| earlier.number == *number);
                let last = earlier.and_then(|earlier| earlier.told.last());
                last.is_some_and(|told| told.is_final() && !matches!(told, TillResult::Unknown(_)))
            }
            _ => true,
        }
    }

    /// Makes the till's request for a wish. All requests of a wish identify its earlier transaction in the same way.
    pub(super) fn wanted(&mut self, wish: usize) -> Wanted {
        let of = match self.wishes[wish].of.clone() {
            None => None,
            Some(Earlier::Payment(id)) => Some(EarlierName::Payment(PaymentId::new(id))),
            Some(Earlier::Wish { number, by }) => {
                let earlier = self.wishes.iter().find(|earlier| earlier.number == number).unwrap();
                // A till does not use the id of a stored card as the id of a payment.
                let known = earlier.payment.clone().filter(|_| earlier.kind.moves_money());
                let named = self.wishes[wish].named.clone().or(known);
                Some(match (by, earlier.in_journal, named) {
                    (By::Number, Some(number), _) => EarlierName::Number(SaleNumber::new(number)),
                    (By::Payment, _, Some(id)) => {
                        self.wishes[wish].named = Some(id.clone());
                        EarlierName::Payment(PaymentId::new(id))
                    }
                    // The till can use only an identifier that it knows.
                    _ => EarlierName::Reference {
                        till: earlier.till.clone(),
                        reference: Reference::parse(earlier.reference.clone()).unwrap(),
                    },
                })
            }
        };
        self.wishes[wish].wanted(of)
    }

    /// Records a message to a till about a wish, and judges it immediately.
    fn tell(&mut self, wish: usize, told: TillResult) {
        if self.wishes[wish].told.last() != Some(&told) {
            self.wishes[wish].told.push(told);
        }
        self.judge_what_was_told(wish);
    }
}
