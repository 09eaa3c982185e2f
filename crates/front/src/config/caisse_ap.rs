//! `[[caisse-ap]]`: tills that speak Caisse-AP over IP. Each till's name at the agent is configured here and never
//! comes from its connection.

use std::net::{IpAddr, SocketAddr};

use pos_till_api::OnSilence;

use super::section::Section;
use super::till_lines::{ON_SILENCE, judge_open};
use super::zvt::Wrong;

/// The port that tills use unless they are set differently.
const PORT: u16 = 8888;

/// One till that speaks Caisse-AP over IP.
#[derive(Clone, Debug)]
pub(crate) struct CaisseApConfig {
    /// The till's name at the agent.
    pub(crate) till: String,
    /// The address to listen on.
    pub(crate) listen: SocketAddr,
    /// The addresses that may connect.
    pub(crate) from: Vec<IpAddr>,
    /// The action after an approval that the till does not get.
    pub(crate) unacknowledged: OnSilence,
    /// True when the till may pay out without an earlier payment, with a supervisor at the terminal.
    pub(crate) credit: bool,
}

impl CaisseApConfig {
    pub(super) fn read(table: &mut Section<'_>) -> Self {
        Self {
            till: table.needed_text("till"),
            listen: table.address("listen").unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], PORT))),
            from: table.ips("from"),
            unacknowledged: table.word("unacknowledged", &ON_SILENCE).unwrap_or(OnSilence::Reverse),
            credit: table.flag("credit").unwrap_or(false),
        }
    }

    /// Finds the faults that concern only this till.
    pub(super) fn judge(&self) -> Vec<(String, Wrong)> {
        let key = format!("caisse-ap {:?}", self.till);
        judge_open(&self.listen, &self.from).map(|wrong| (key, wrong)).into_iter().collect()
    }
}
