//! Carries out a key's action in the shop, on the reader, the printer, the connections and the agent.

use std::io;
use std::time::Duration;

use super::super::till::Till;
use super::model::{PrinterIs, ShopAction};
use crate::fault::{BOTH_DIRECTIONS, LineFaults};
use crate::printer::Sensors;
use crate::reader::PinPlan;
use crate::shop::Shop;
use crate::shop::program::Program;

/// A PIN that no card of the deck has.
const WRONG_PIN: &str = "9999";
/// The delay of each chunk of data on a slow connection, in each direction.
const SLOW: Duration = Duration::from_millis(900);

/// The parts of the shop that keys act on.
pub(super) struct ShopControls<'a> {
    pub(super) shop: &'a mut Shop,
    pub(super) agent: &'a mut Program,
    pub(super) till: Till,
    /// The connection between agent and gateway.
    pub(super) line: LineFaults,
}

impl ShopControls<'_> {
    /// Carries out an action.
    ///
    /// # Errors
    ///
    /// Fails if the shop has an unplanned fault: a port is in use, or the agent does not start.
    pub(super) async fn act(&mut self, act: ShopAction) -> io::Result<()> {
        let Shop { reader, gateway, printer, .. } = &*self.shop;
        match act {
            ShopAction::Present(card, entry) => reader.present(card, entry),
            ShopAction::Remove => reader.remove(),
            ShopAction::Key(key) => reader.key(key),
            ShopAction::WrongPin(true) => reader.plan_pin(PinPlan::Digits(WRONG_PIN.to_owned())),
            ShopAction::WrongPin(false) => reader.plan_pin(PinPlan::Right),
            ShopAction::Till(asked) => self.till.ask(asked),
            ShopAction::Totals => self.till.ask_totals(),
            ShopAction::Cable(true) => reader.unplug(),
            ShopAction::Cable(false) => reader.replug()?,
            ShopAction::Printer(is) => {
                printer.set_dead(is == PrinterIs::Off).await;
                let (paper_out, cover_open) = (is == PrinterIs::PaperOut, is == PrinterIs::CoverOpen);
                printer.set_sensors(Sensors { paper_out, cover_open, ..Sensors::default() });
            }
            ShopAction::Network(off) => gateway.set_offline(off).await?,
            ShopAction::Slow(slow) => {
                let delay = if slow { SLOW } else { Duration::ZERO };
                BOTH_DIRECTIONS.iter().for_each(|way| self.line.delay(*way, delay));
            }
            ShopAction::Power(false) => self.agent.kill().await?,
            ShopAction::Power(true) => self.agent.start_again()?,
            ShopAction::Quit => {}
        }
        Ok(())
    }
}
