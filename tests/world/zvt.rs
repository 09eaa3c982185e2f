//! A ZVT till in the world: the session of `pos-front` as it is, without a wire. Each answer of the agent and each APDU
//! is a point where the power can go or the line can break; what the till believes then is held against the bank's
//! ledger.

use std::collections::VecDeque;
use std::time::Duration;

use pos_agent::till::{CancelView, Command, Refused, SaleView, Verb};
use pos_agent::transaction::{OnSilence, Reference, Taken, Who};
use pos_protocols::terminal::{self, Ask, Said};
use pos_protocols::zvt::answer::Told;
use pos_protocols::zvt::apdu::Apdu;
use pos_protocols::zvt::bmp::{Fields, Order};
use pos_protocols::zvt::command::{self, Guarded, Password, Registration};
use pos_protocols::zvt::session::{Action, Line, Session, Settings};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, sleep_until};

use super::cut_points::{Fate, Place};
use super::tills::{Confirms, Says, Till};

const LINE: Line = 1;

/// What a till knows of its payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belief {
    /// It must ask.
    Unknown,
    /// The goods are given out.
    Paid(u64),
    NotPaid,
}

/// A till with its terminal's session, as long as the board has power.
pub(crate) struct ZvtTill<'a> {
    till: &'a Till,
    session: Session,
    start: Instant,
    /// What the terminal answered, to be handed over.
    said: VecDeque<(u64, Said)>,
    belief: &'a std::cell::Cell<Belief>,
    /// The amount of `04 0F`, until the end is heard.
    approved: Option<u64>,
    over: bool,
}

impl<'a> ZvtTill<'a> {
    pub(crate) fn new(till: &'a Till, unacknowledged: OnSilence, belief: &'a std::cell::Cell<Belief>) -> Self {
        let unacknowledged = match unacknowledged {
            OnSilence::Reverse => terminal::OnSilence::Reverse,
            OnSilence::Keep => terminal::OnSilence::Keep,
        };
        let settings = Settings {
            password: Some(123_456),
            credit: false,
            unacknowledged,
            order: Order::Table,
            needed_frames_only: true,
            references: format!("zvt-{}", till.world.now().as_millis()),
        };
        let registration =
            Registration { password: Password(0), config: 0x06, currency: None, fields: Fields::default() };
        let data = command::Command::Registration(registration).apdu().data;
        let mut session = Session::new(settings, Some(&data));
        let _ = session.line_opened(LINE);
        Self { till, session, start: Instant::now(), said: VecDeque::new(), belief, approved: None, over: false }
    }

    /// `06 01`, to its end or to the end of its line.
    pub(crate) async fn pays(&mut self, minor: u64) {
        let mut fields = Fields::default();
        fields.set_number(0x04, minor);
        self.does(&command::Command::Authorisation(fields).apdu()).await;
    }

    /// `06 20`, until it is known; gives up after so long.
    pub(crate) async fn learns(&mut self, patience: Duration) {
        let until = Instant::now() + patience;
        while self.belief.get() == Belief::Unknown && Instant::now() < until {
            let mut fields = Fields::default();
            fields.set(0x03, [0x03]);
            let repeat = Guarded { password: Some(Password(123_456)), fields };
            self.does(&command::Command::RepeatReceipt(repeat).apdu()).await;
            sleep(Duration::from_secs(20)).await;
        }
    }

    async fn does(&mut self, apdu: &Apdu) {
        (self.approved, self.over) = (None, false);
        let actions = self.session.heard(LINE, apdu, self.start.elapsed());
        self.act(actions).await;
        // Until it is told the end, or the session has nothing to do any more.
        while !self.over || self.session.is_busy() {
            let actions = if let Some((ticket, said)) = self.said.pop_front() {
                self.session.said(ticket, said, self.start.elapsed())
            } else if let Some(at) = self.session.next_deadline() {
                sleep_until(self.start + at).await;
                self.session.tick(self.start.elapsed())
            } else {
                return;
            };
            self.act(actions).await;
        }
    }

    async fn act(&mut self, actions: Vec<Action>) {
        let mut actions: VecDeque<Action> = actions.into();
        while let Some(action) = actions.pop_front() {
            match action {
                Action::Ask { ticket, ask } => {
                    let said = self.ask(&ask).await;
                    self.said.push_back((ticket, said));
                }
                Action::Send { apdu, .. } if self.arrives().await => {
                    if let Some(answer) = self.told(&Told::read(&apdu).unwrap()) {
                        actions.extend(self.session.heard(LINE, &answer, self.start.elapsed()));
                    }
                }
                // The line has broken: a new one from the next command on.
                Action::Send { .. } => {
                    self.over = true;
                    actions.extend(self.session.line_lost(LINE, self.start.elapsed()));
                    let _ = self.session.line_opened(LINE);
                }
                Action::Hang { .. } | Action::Remember(_) => {}
            }
        }
    }

    /// What the till answers to an APDU.
    fn told(&mut self, told: &Told) -> Option<Apdu> {
        match told {
            Told::Ok => return None,
            // A command was refused: busy.
            Told::Refused(_) => {
                self.over = true;
                return None;
            }
            Told::Status(fields) => {
                self.approved = fields.number(0x04).unwrap().filter(|_| fields.byte(0x27) == Some(0));
                if fields.byte(0x27).is_some_and(|code| code != 0 && code != 0x7D) {
                    self.belief.set(Belief::NotPaid);
                }
            }
            Told::Completion(_) => {
                self.over = true;
                if let Some(minor) = self.approved {
                    self.belief.set(Belief::Paid(minor));
                }
            }
            Told::Aborted { code, .. } => {
                self.over = true;
                if !matches!(code, 0x7D | 0x9B) {
                    self.belief.set(Belief::NotPaid);
                }
            }
            _ => {}
        }
        Some(Apdu::ok())
    }

    /// Whether what is on its way arrives, and then the power may be gone.
    async fn arrives(&self) -> bool {
        match self.till.world.pass(Place::Till) {
            Fate::Happens => true,
            Fate::Last => {
                self.till.world.die();
                true
            }
            Fate::Cut => false,
            Fate::Dead => std::future::pending().await,
        }
    }

    async fn ask(&self, ask: &Ask) -> Said {
        let lost = Said::NoAnswer { may_be_done: true };
        let answer = match ask {
            Ask::Status => {
                let (reply, answer) = oneshot::channel();
                let permit = pos_agent::till::Caller::root(0).may(Verb::Status).unwrap();
                let _ = self.till.commands.send(Command::Status { permit, reply }).await;
                match answer.await {
                    Ok(status) => serde_json::to_vec(&status).unwrap(),
                    Err(_) => return lost,
                }
            }
            Ask::Cancel(reference) => match self
                .sale(|till, reply| Command::Cancel {
                    till,
                    reference: Reference::parse(reference.clone()).unwrap(),
                    by: Who::default(),
                    reply,
                })
                .await
            {
                Ok(sale) => serde_json::to_vec(&CancelView::from(sale)).unwrap(),
                Err(said) => return said,
            },
            _ => match self.one(ask).await {
                Ok(sale) => serde_json::to_vec(&sale).unwrap(),
                Err(said) => return said,
            },
        };
        if self.arrives().await { Said::read(ask, 200, &answer) } else { lost }
    }

    async fn one(&self, ask: &Ask) -> Result<SaleView, Said> {
        match ask {
            Ask::Begin(begin) => {
                let wanted = {
                    let mut state = self.till.world.lock();
                    let on_silence = match begin.confirm {
                        Some(terminal::OnSilence::Keep) => OnSilence::Keep,
                        _ => OnSilence::Reverse,
                    };
                    state.wishes[0].reference.clone_from(&begin.reference);
                    state.wishes[0].confirms = Some(Confirms { says: Says::All, on_silence });
                    state.wanted(0)
                };
                self.sale(|_, reply| Command::Begin { wanted: Box::new(wanted), reply }).await
            }
            Ask::Latest => self.sale(|till, reply| Command::Latest { till, reply }).await,
            Ask::Confirm { reference, taken } => {
                let taken = if *taken == terminal::Taken::All { Taken::All } else { Taken::Nothing };
                let reference = Reference::parse(reference.clone()).unwrap();
                self.sale(|till, reply| Command::Confirm { till, reference, taken, by: Who::default(), reply }).await
            }
            Ask::Show { reference, wait_s } => {
                let until = Instant::now() + Duration::from_secs(u64::from(*wait_s));
                loop {
                    let reference = Reference::parse(reference.clone()).unwrap();
                    let sale = self.sale(|till, reply| Command::Show { till, reference, reply }).await?;
                    let waits = sale.outcome.is_none() && sale.to_confirm.is_none();
                    if !waits || Instant::now() >= until {
                        return Ok(sale);
                    }
                    sleep(Duration::from_millis(100)).await;
                }
            }
            other => panic!("this till asks for no {other:?}"),
        }
    }

    async fn sale(
        &self,
        command: impl FnOnce(String, oneshot::Sender<Result<SaleView, Refused>>) -> Command,
    ) -> Result<SaleView, Said> {
        let (reply, answer) = oneshot::channel();
        let till = self.till.world.lock().wishes[0].till.clone();
        let _ = self.till.commands.send(command(till, reply)).await;
        match answer.await {
            Ok(Ok(sale)) => Ok(sale),
            Ok(Err(refused)) => {
                let detail = refused.to_string();
                let code = if matches!(refused, Refused::NoSuchSale { .. }) { "no-such-sale" } else { "other" };
                Err(Said::Refused(terminal::Problem { code: code.to_owned(), detail, ..terminal::Problem::default() }))
            }
            Err(_) => Err(Said::NoAnswer { may_be_done: true }),
        }
    }
}
