//! The requests of a till's protocol to the terminal in the world, passed to the agent without a connection. At each
//! answer, the power or the connection can be cut.

use std::time::Duration;

use pos_agent::till::{CancelView, Command, Refused, SaleView, Verb};
use pos_terms::transaction::{OnSilence, Reference, SaleNumber, Taken, Who};
use pos_till_api::{Ask, Said};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use super::cut_points::{Fate, PointKind};
use super::tills::{Confirms, Says, Till};

/// A till's knowledge about its payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Belief {
    /// The till must ask for the outcome.
    Unknown,
    /// The till assumes that this amount is paid, and the shop hands over the goods.
    Paid(u64),
    NotPaid,
}

/// The agent as the receiver of a till protocol's requests.
pub struct Terminal<'a>(pub &'a Till);

impl Terminal<'_> {
    /// Returns whether a message arrives. The power may be cut right after it.
    pub async fn arrives(&self) -> bool {
        match self.0.world.pass(PointKind::Till) {
            Fate::Happens => true,
            Fate::Last => {
                self.0.world.die();
                true
            }
            Fate::Cut => false,
            Fate::Dead => std::future::pending().await,
        }
    }

    pub async fn ask(&self, ask: &Ask) -> Said {
        let lost = Said::NoAnswer { may_be_done: true };
        let answer = match ask {
            Ask::Status => {
                let (reply, answer) = oneshot::channel();
                let permit = pos_agent::till::Caller::root(0).may(Verb::Status).unwrap();
                let _ = self.0.commands.send(Command::Status { permit, reply }).await;
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
            Ask::Referenced { part, .. } => match self.referenced(part).await {
                Ok(sales) => serde_json::to_vec(&serde_json::json!({ "sales": sales })).unwrap(),
                Err(said) => return said,
            },
            Ask::Receipt { .. } => return Said::Refused(pos_till_api::Problem::default()),
            _ => match self.one(ask).await {
                Ok(sale) => serde_json::to_vec(&sale).unwrap(),
                Err(said) => return said,
            },
        };
        if self.arrives().await { Said::read(ask, 200, &answer) } else { lost }
    }

    async fn referenced(&self, part: &str) -> Result<Vec<SaleView>, Said> {
        let (reply, answer) = oneshot::channel();
        let till = Some(self.0.world.lock().wishes[0].till.clone());
        let (above, below) = (SaleNumber::BEFORE_ALL, SaleNumber::AFTER_ALL);
        let reference = Some(part.to_owned());
        let list = Command::ListNewest { till, above, below, reference, limit: 10, reply };
        let _ = self.0.commands.send(list).await;
        match answer.await {
            Ok(Ok(sales)) => Ok(sales),
            _ => Err(Said::NoAnswer { may_be_done: false }),
        }
    }

    async fn one(&self, ask: &Ask) -> Result<SaleView, Said> {
        match ask {
            Ask::Begin(begin) => {
                let wanted = {
                    let mut state = self.0.world.lock();
                    let on_silence = begin.confirm.map(|confirm| match confirm {
                        pos_till_api::OnSilence::Keep => OnSilence::Keep,
                        pos_till_api::OnSilence::Reverse => OnSilence::Reverse,
                    });
                    state.wishes[0].reference.clone_from(&begin.reference);
                    state.wishes[0].confirms = on_silence.map(|on_silence| Confirms { says: Says::All, on_silence });
                    state.wanted(0)
                };
                self.sale(|_, reply| Command::Begin { wanted: Box::new(wanted), reply }).await
            }
            Ask::Latest => self.sale(|till, reply| Command::Latest { till, reply }).await,
            Ask::Confirm { reference, taken } => {
                let taken = if *taken == pos_till_api::Taken::All { Taken::All } else { Taken::Nothing };
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
        let till = self.0.world.lock().wishes[0].till.clone();
        let _ = self.0.commands.send(command(till, reply)).await;
        match answer.await {
            Ok(Ok(sale)) => Ok(sale),
            Ok(Err(refused)) => {
                let detail = refused.to_string();
                let code = if matches!(refused, Refused::NoSuchSale { .. }) { "no-such-sale" } else { "other" };
                Err(Said::Refused(pos_till_api::Problem {
                    code: code.to_owned(),
                    detail,
                    ..pos_till_api::Problem::default()
                }))
            }
            Err(_) => Err(Said::NoAnswer { may_be_done: true }),
        }
    }
}
