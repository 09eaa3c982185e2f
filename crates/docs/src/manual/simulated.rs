//! The tables of test cards and test amounts, from the simulators.

use std::fmt::Write as _;

use pos_sim::gateway::outcomes;
use pos_sim::reader::deck::DECK;
use pos_sim::shop::demo::card_menu;

use super::cell;

/// Returns the table of the test cards.
pub(super) fn cards() -> String {
    let mut table = "| card | can be | PIN | what it does |\n|---|---|---|---|\n".to_owned();
    for card in DECK {
        let row = (card_menu::words_of_ways(card), card.pin, cell(card_menu::description(card)));
        let _ = writeln!(table, "| `{}` | {} | {} | {} |", card.name, row.0, row.1, row.2);
    }
    table
}

/// Returns the table of the amounts, whose cents choose the bank's answer.
pub(super) fn amounts() -> String {
    let mut table = "| amount | the bank's answer |\n|---|---|\n".to_owned();
    for (cents, _, what) in outcomes::TABLE {
        let _ = writeln!(table, "| `5.{cents:02}` | {} |", cell(what));
    }
    let _ = writeln!(table, "| any other | approved, if card, PIN and cryptogram are right |");
    table
}
