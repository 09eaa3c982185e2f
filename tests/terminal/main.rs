//! The whole terminal as a shop has it: the agent in this process, on real wires to a simulated reader, gateway and
//! printer (`counter`), or in a world of virtual time where the power can go (`world`).
//!
//! | | what it shows |
//! |---|---|
//! | `sale` | sales end to end, and what cashier and customer may do in them |
//! | `after_the_sale` | what is left of a sale that was approved in part, in another currency, with a tip |
//! | `calls` | every kind of transaction, from the till to the gateway's ledger and back |
//! | `bad_input` | whatever can be wrong with what comes from outside |
//! | `recovery` | power, reader and gateway that fail at each moment of a sale |
//! | `another_account` | an entity-id that was changed while transactions were open |
//! | `flood` | a reader that sends without end starves nobody |
//! | `reader_trust` | which reader is asked for cards, and one that is another than before |
//! | `printers` | a sale goes on whatever printers do |
//! | `one_round_trip` | one round trip after the card |
//! | `old_copy` | a journal that is an old copy of itself |
//! | `clock_ahead` | a clock that was a year ahead for one sale |
//! | `close_of_day` | closes of day against the bank's ledger |
//! | `housekeeping` | the journal stays small |
//! | `journal_gone` | a journal that is taken away at each moment of a transaction |
//! | `settled` | the journal of a day against the gateway's settlement file, with each kind of difference planted |
//! | `training` | no byte of what is trained reaches reader or gateway, and nothing counts it |
//! | `stored_card` | a card that is stored without a payment, reserved on, charged and forgotten |
//! | `tap_declined` | a tap that the issuer does not take, and the chip after it |
//! | `tips` | tips that the till names, and those that the customer types or does not |
//! | `probing` | when the gateway is asked whether it answers |
//! | `zvt` | a payment by ZVT, cut at each of its points |
//! | `nexo` | a payment by nexo, cut at each of its points |
//! | `nexo_again` | messages of a nexo till that come again, as the same one or another one, at once and after days |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::{counter, world};

mod after_the_sale;
mod another_account;
mod bad_input;
mod calls;
mod clock_ahead;
mod close_of_day;
mod flood;
mod housekeeping;
mod journal_gone;
mod nexo;
mod nexo_again;
mod old_copy;
mod one_round_trip;
mod printers;
mod probing;
mod reader_trust;
mod recovery;
mod sale;
mod settled;
mod stored_card;
mod tap_declined;
mod tips;
mod training;
mod zvt;
