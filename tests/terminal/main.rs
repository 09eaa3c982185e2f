//! The whole terminal as in a shop. The agent runs in this process, on real wires to a simulated reader, gateway and
//! printer (`counter`). Or it runs in a world of virtual time where the power can be cut (`world`).
//!
//! | | what it shows |
//! |---|---|
//! | `sale` | sales end to end, and the actions of cashier and customer in them |
//! | `after_the_sale` | the rest of a sale that was approved in part, in another currency, with a tip |
//! | `calls` | every kind of transaction, from the till to the gateway's ledger and back |
//! | `bad_input` | wrong input from outside |
//! | `recovery` | power, reader and gateway that fail at each moment of a sale |
//! | `another_account` | an entity-id that was changed while transactions were open |
//! | `flood` | a reader that sends without end blocks no other work |
//! | `reader_trust` | the readers that are trusted with cards, and a reader that differs from the earlier one |
//! | `printers` | a sale goes on with any fault of a printer |
//! | `one_round_trip` | one round trip after the card |
//! | `old_copy` | a journal that is an outdated copy |
//! | `clock_ahead` | a clock that was a year ahead for one sale |
//! | `close_of_day` | closes of day against the gateway's ledger |
//! | `housekeeping` | the journal stays small |
//! | `journal_gone` | a journal that is taken away at each moment of a transaction |
//! | `settled` | the journal of a day against the gateway's settlement file, with each kind of difference planted |
//! | `training` | training sends no byte to reader or gateway, and no count includes it |
//! | `stored_card` | a card that is stored without a payment, used for a reservation and a charge, and deleted |
//! | `tap_declined` | a tap that the issuer declines, and the chip after it |
//! | `tips` | tips that the till names, and those that the customer types or omits |
//! | `probing` | the times of the gateway's probes |
//! | `zvt` | a payment by ZVT, cut at each of its points |
//! | `nexo` | a payment by nexo, cut at each of its points |
//! | `nexo_again` | repeated messages of a nexo till, the same or another one, immediately and after days |

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
