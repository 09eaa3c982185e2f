//! The library behind `pos-agent`: a payment terminal from a board, a card reader and a receipt printer.
//!
//! The map, in the order a sale meets the rooms:
//!
//! ```text
//!  till ──▶ agent ──▶ transaction (decides) ──▶ journal (remembers) ──▶ then, and only then, the devices act:
//!                       ▲                                          reader · gateway · printer
//!                       └──────────── what the devices answer ◀────┘
//! ```
//!
//! The path of a sale, to be read in ten minutes:
//!
//! | step | where |
//! |---|---|
//! | a till asks | `till/http/guard.rs` finds out who, `till/http/sales.rs` `begin` makes a [`till::Command`] |
//! | its wish is judged: what this kind needs; later, whether it is the same again | `core/wish.rs` `judged`, `is_of` |
//! | whether it may | `till/rights.rs` `may`: one table from verb to right, for every way in |
//! | the agent's one loop hears it | `agent.rs` `run`, then `agent/tills.rs` `till_asks` |
//! | whether it may begin now: the terminal's limits, and whether a supervisor must confirm it | `agent/engine/begin.rs` `begin`, `can_begin_now`, `agent/limits.rs` `may_begin`, `may_give`, `agent/operators.rs` `confirmed_author` |
//! | the sale says what to write and what to do | [`pos_core::transaction::Transaction::begin`], in `transaction/mod.rs`; later [`pos_core::transaction::Transaction::handle`], in `transaction/decide.rs` |
//! | it is written; only that gives out what to do | `agent/journal_writer.rs` `write`, [`pos_core::book::commit`] |
//! | the engine owns the open sales: an event, the core's step, the book, and then each action | `agent/engine.rs` `hear`, `act` |
//! | each action goes to its device, or in training to the trainer | `agent/devices.rs` `perform` |
//! | the reader is armed, a card is read | `reader/port.rs` `spawn`, `reader/driver.rs`, `reader/miura/machine.rs`, `reader/miura/sale.rs` |
//! | the request is made, written down as asked, and sent once | `agent/engine/hearing.rs` `card_read`, [`pos_gateway::Client::prepare`], [`pos_gateway::Client::pay`] |
//! | the answer, read and judged | `gateway/answer.rs`, then `transaction/gateway_answer.rs` `answered` |
//! | the chip hears it and confirms | `reader/miura/completing.rs` |
//! | the cardholder signs | `transaction/signature.rs` |
//! | the till says whether it takes it; of a part the rest is refunded | `transaction/awaiting_till.rs`, `agent/tills.rs` `confirm`, `agent/engine/till_words.rs` `take_part` |
//! | no answer, or the chip refuses: what is asked, by whom, and when again | `transaction/gateway_answer.rs` `unknown`, `transaction/reversing.rs` `query`, `agent/devices/gateway.rs` `query`, `transaction/resolution.rs` |
//! | … what goes back, and what a reversal waits for before it leaves | `transaction/reversing.rs`, `transaction/still_charged.rs`, `agent/engine/leaving.rs`, `follow_up/by_id.rs` |
//! | a capture, refund or reversal: which, whose, and what is left; without an answer | `agent/earlier.rs`, `follow_up/amount.rs` `follow_up`, `follow_up/mod.rs` `left`, `transaction/finishing.rs` |
//! | the journal is an old copy: nothing is reversed by itself | `agent/old_copy.rs`, `journal/known.rs`, `transaction/held.rs` |
//! | the board's clock was ahead, and is right again | `agent/clock.rs`, `agent/engine/hearing.rs` `look_at_the_clocks`, `journal/set_back.rs` |
//! | what a look-up shows of a payment that is to be reversed | `transaction/look_up.rs` |
//! | the power fails | `agent/engine/recovery.rs` `resume`, then `transaction/decide.rs` again |
//! | the journal cannot be written: what stops, and how it comes back | `agent/journal_writer.rs` `failed`, `agent/engine/recovery.rs` `journal_failed`, `agent.rs` `retry_journal` |
//! | why it ended so, as data | `transaction/reason.rs`, `agent/devices/reader/reasons.rs` |
//! | the sentence that the cashier reads | `agent/engine/facts.rs` `view`, `agent/views/sale.rs` `sale_view`, `words/cashier.rs` |
//! | a person is put in, and confirms | `till/http/sessions.rs`, `agent/operators.rs`, `core/counter/approvals.rs` |
//! | how the terminal stands, in closed words | `till/status.rs`, `agent/views/status.rs` `status_view`; of the gateway, `gateway/contact.rs` |
//! | somebody trains: the same path without reader and gateway | `training/mod.rs`, `agent/training_mode.rs`, `agent/devices/trainer.rs` |
//! | the receipts, and the words on them | `printer/receipt.rs` `compose`, `words/paper.rs`, `printer/layout.rs`, `printer/escpos.rs`, `printer/port.rs` |
//!
//! A path begins in `src/`, with the name of a crate in `crates/`, or in such a crate's `src/`. Which crate may use
//! which is a table in `tests/rules/crates.rs`; which room of this package may use which, one in
//! `tests/rules/layers.rs`.

// ---- What a person or a till touches

// The command line: one file for each verb.
pub mod cli;
// The configuration file, checked.
pub mod config;
// The boards that are known.
pub mod board;
// Tills: the one language of every way in, and HTTP.
pub mod till;

// ---- What wires it together

// One loop around the engine, which owns the open sales; the devices, the views, and a part for each other thing.
pub mod agent;
// What is counted and measured, for machines.
pub mod metrics;
// Looks at all of it and says what to do: `pos-agent doctor`.
pub mod doctor;
// One file for somebody who helps from afar, without card data: `pos-agent doctor --bundle`.
pub mod support;

// ---- What it takes and keeps of operators

// The digests of operators' PINs and tokens: the core has the rules about them, and no cryptography.
pub mod operator_secrets;
