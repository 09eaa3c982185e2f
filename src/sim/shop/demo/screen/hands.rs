//! The hands: carry out in the shop what a key asked for.

use std::io;
use std::time::Duration;

use super::super::agent::Agent;
use super::super::till::Till;
use super::model::{Act, PrinterIs};
use crate::sim::fault::{BOTH, Faults};
use crate::sim::printer::Sensors;
use crate::sim::reader::PinPlan;
use crate::sim::shop::Shop;

/// A PIN that no card of the deck has.
const WRONG_PIN: &str = "9999";
/// How long a slow line holds up each piece of data, each way.
const SLOW: Duration = Duration::from_millis(900);

/// Everything that hands reach.
pub(super) struct Hands<'a> {
    pub(super) shop: &'a mut Shop,
    pub(super) agent: &'a mut Agent,
    pub(super) till: Till,
    /// The line between agent and gateway.
    pub(super) line: Faults,
}

impl Hands<'_> {
    /// Does it.
    ///
    /// # Errors
    /// When the shop breaks in a way that was not asked for: a port is taken, the agent does not start.
    pub(super) async fn act(&mut self, act: Act) -> io::Result<()> {
        let Shop { reader, gateway, printer, .. } = &*self.shop;
        match act {
            Act::Present(card, entry) => reader.present(card, entry),
            Act::Remove => reader.remove(),
            Act::Key(key) => reader.key(key),
            Act::WrongPin(true) => reader.plan_pin(PinPlan::Digits(WRONG_PIN.to_owned())),
            Act::WrongPin(false) => reader.plan_pin(PinPlan::Right),
            Act::Till(asked) => self.till.ask(asked),
            Act::Totals => self.till.ask_totals(),
            Act::Cable(true) => reader.unplug(),
            Act::Cable(false) => reader.replug()?,
            Act::Printer(is) => {
                printer.set_dead(is == PrinterIs::Off).await;
                let (paper_out, cover_open) = (is == PrinterIs::PaperOut, is == PrinterIs::CoverOpen);
                printer.set_sensors(Sensors { paper_out, cover_open, ..Sensors::default() });
            }
            Act::Network(off) => gateway.set_offline(off).await?,
            Act::Slow(slow) => {
                let delay = if slow { SLOW } else { Duration::ZERO };
                BOTH.iter().for_each(|way| self.line.delay(*way, delay));
            }
            Act::Power(false) => self.agent.cut_power().await?,
            Act::Power(true) => self.agent.power_on(self.shop)?,
            Act::Quit => {}
        }
        Ok(())
    }
}
