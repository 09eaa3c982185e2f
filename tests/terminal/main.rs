//! The whole terminal as in a shop. In `counter`, the agent runs in this process, with real connections to a simulated
//! reader, gateway and printer. In `world`, it runs in virtual time, and the power can be cut.
//!
//! | Module | Subject |
//! |---|---|
//! | `sale` | sales end to end, with the actions of cashier and customer |
//! | `after_the_sale` | follow-ups of a sale that was partially approved, in another currency, or with a tip |
//! | `calls` | every kind of transaction, from the till to the gateway's ledger and back |
//! | `bad_input` | wrong input from outside |
//! | `recovery` | failures of power, reader and gateway at each moment of a sale |
//! | `another_account` | an entity-id that is changed while transactions are open |
//! | `link` | a network without a link |
//! | `fleet` | signed commands of a fleet |
//! | `fleet_settings` | settings from a fleet: a trial that is kept, given back, or tried again, in virtual time |
//! | `flood` | a reader that sends endlessly |
//! | `reader_trust` | readers that may read cards, and a reader that differs from the earlier one |
//! | `printers` | a sale goes on despite any fault of a printer |
//! | `on_demand` | receipts that are printed only on demand |
//! | `one_round_trip` | one round trip after the card |
//! | `old_copy` | a journal that is an outdated copy |
//! | `clock_ahead` | a clock that was a year ahead during one sale |
//! | `close_of_day` | closes of day, compared with the gateway's ledger |
//! | `housekeeping` | the journal stays small |
//! | `journal_gone` | a journal that is lost at each moment of a transaction |
//! | `settled` | a day's journal, compared with the gateway's settlement file, with each kind of difference planted |
//! | `training` | training, which sends no byte to reader or gateway and counts nowhere |
//! | `stored_card` | a card that is stored without a payment, used for a reservation and a charge, and deleted |
//! | `tap_declined` | a tap that the issuer declines, and the chip after it |
//! | `tips` | tips that the till sends, and tips that the customer types or omits |
//! | `probing` | the times of the gateway's probes |
//! | `zvt` | a ZVT payment, cut at each of its points |
//! | `caisse_ap` | a Caisse-AP payment, cut at each of its points |
//! | `cloud` | a sale of a cloud till, cut at each of its points |
//! | `nexo` | a nexo payment, cut at each of its points |
//! | `nexo_again` | a nexo till's message numbers, used again immediately and after days |
//! | `nexo_cloud` | a payment of a nexo till in the cloud form, cut at each of its points |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::{counter, world};

mod after_the_sale;
mod another_account;
mod bad_input;
mod caisse_ap;
mod calls;
mod clock_ahead;
mod close_of_day;
mod cloud;
mod fleet;
mod fleet_settings;
mod flood;
mod housekeeping;
mod journal_gone;
mod link;
mod nexo;
mod nexo_again;
mod nexo_cloud;
mod old_copy;
mod on_demand;
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
