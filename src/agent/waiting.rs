//! What a sale waits for that has a time limit: how much of it is left, for a countdown. Nothing is decided by it; the
//! deadlines are the core's, the gateway's and the reader's.

use std::time::Duration;

use crate::till::SaleView;
use pos_core::sale::{Sale, Standing};

use super::Agent;
use super::sale_view::utc;

impl Agent {
    /// Its view with what it waits for. A sale of which only the journal is read waits for nobody yet.
    pub(super) fn with_its_wait(&self, sale: &Sale, view: SaleView) -> SaleView {
        let step = self.sales.open.get(&sale.order().number).and_then(|active| active.step);
        let is_running = !matches!(sale.standing(), Standing::Ended(_) | Standing::Unconfirmed { .. });
        let view = SaleView { step: step.filter(|_| is_running).map(ToOwned::to_owned), ..view };
        let now = self.clock.monotonic();
        let Some((until, all)) = self.wait_of(sale).filter(|(until, _)| *until > now) else { return view };
        let left = until - now;
        let unix_ms = self.clock.unix_ms().saturating_add(i64::try_from(left.as_millis()).unwrap_or(i64::MAX));
        let left_s = left.as_millis().div_ceil(1000).try_into().ok();
        SaleView { until: Some(utc(unix_ms)), left_s, wait_s: Some(all.as_secs()), ..view }
    }

    /// Until when it waits, and how long in all.
    fn wait_of(&self, sale: &Sale) -> Option<(Duration, Duration)> {
        let active = self.sales.open.get(&sale.order().number).filter(|active| !active.stuck)?;
        let deadlines = self.sales.deadlines;
        match sale.standing() {
            Standing::Waiting => self
                .reader
                .slot
                .wait_of(sale.order().number)
                .or_else(|| Some((active.card_until?, Duration::from_secs(self.config.terminal.card_timeout_s)))),
            Standing::InProgress if let Some(until) = sale.pending_until() => Some((until, deadlines.pending)),
            Standing::InProgress if sale.may_ask_again() => {
                let all = Duration::from_millis(self.config.gateway.answer_timeout_ms);
                Some((active.times.handed_on_at()? + all, all))
            }
            Standing::AtSignature => Some((active.sale.deadline()?, deadlines.signature?)),
            Standing::AwaitingTill { .. } => Some((active.sale.deadline()?, deadlines.till)),
            Standing::InProgress | Standing::Unconfirmed { .. } | Standing::Ended(_) => None,
        }
    }
}
