//! The library of `pos-agent`, which makes a board, a card reader and a receipt printer a payment terminal.
//!
//! The modules, in the order in which a transaction passes through them, are:
//!
//! ```text
//!  till ──▶ agent ──▶ transaction (decides) ──▶ journal (records) ──▶ only then the devices act:
//!                          ▲                                          reader · gateway · printer
//!                          └──────────── answers of the devices ◀────────┘
//! ```
//!
//! The path of a transaction through the code takes ten minutes to read:
//!
//! | step | where |
//! |---|---|
//! | a till sends a request | `till/http/guard.rs` identifies the caller, `till/http/sales.rs` `begin` makes a [`till::Command`] |
//! | the request is checked: first whether it has the fields of its kind, later whether it repeats a stored one | `core/wish.rs` `judged`, `is_of` |
//! | the caller's rights are checked | `till/rights.rs` `may`: one table of the rights for each verb, for every connection |
//! | the agent's loop receives the request | `agent.rs` `run`, then `agent/tills.rs` `till_asks` |
//! | the agent checks that the transaction may begin: the terminal's limits, and whether a supervisor must confirm it | `agent/engine/begin.rs` `begin`, `can_begin_now`, `agent/limits.rs` `may_begin`, `may_give`, `agent/operators.rs` `confirmed_author` |
//! | the transaction decides the records to write and the actions to take | [`pos_core::transaction::Transaction::begin`], in `transaction/mod.rs`; later [`pos_core::transaction::Transaction::handle`], in `transaction/decide.rs` |
//! | the records are written; only the write returns the actions | `agent/journal_writer.rs` `write`, [`pos_core::book::commit`] |
//! | the engine owns the open transactions: it takes an event to the core, the step to the journal, and then carries out each action | `agent/engine.rs` `hear`, `act` |
//! | each action goes to its device, or to the trainer in training mode | `agent/devices.rs` `perform` |
//! | the reader asks for a card and reads it | `reader/port.rs` `spawn`, `reader/driver.rs`, `reader/session/machine.rs`, `reader/session/sale.rs` |
//! | the request is made, recorded as sent, and sent once | `agent/engine/hearing.rs` `card_read`, [`pos_gateway::Client::prepare`], [`pos_gateway::Client::pay`] |
//! | the answer is read and judged | `gateway/answer.rs`, then `transaction/gateway_answer.rs` `answered` |
//! | the chip gets the answer and confirms | `reader/session/completing.rs` |
//! | the cardholder signs | `transaction/signature.rs` |
//! | the till confirms how much it accepts, and the rest is refunded | `transaction/awaiting_till.rs`, `agent/tills.rs` `confirm`, `agent/engine/till_words.rs` `take_part` |
//! | there is no answer, or the chip refuses: the look-up, its sending and its repetition | `transaction/gateway_answer.rs` `unknown`, `transaction/reversing.rs` `query`, `agent/devices/gateway.rs` `query`, `transaction/resolution.rs` |
//! | then the amount to reverse, and the conditions for sending a reversal | `transaction/reversing.rs`, `transaction/still_charged.rs`, `agent/engine/leaving.rs`, `follow_up/by_id.rs` |
//! | a capture, refund or reversal: the earlier transaction, its till, the amount left, and what happens without an answer | `agent/earlier.rs`, `follow_up/amount.rs` `follow_up`, `follow_up/mod.rs` `left`, `transaction/finishing.rs` |
//! | the journal is an outdated copy, so nothing is reversed automatically | `agent/old_copy.rs`, `journal/known.rs`, `transaction/held.rs` |
//! | the board's clock was ahead and is right again | `agent/clock.rs`, `agent/engine/hearing.rs` `look_at_the_clocks`, `journal/set_back.rs` |
//! | the result of a look-up before a reversal | `transaction/look_up.rs` |
//! | a command of the fleet is judged, written and carried out | `till/http/fleet.rs` `command`, `agent/fleet.rs` `take_command`, `fleet/judging.rs` `judge`, `till/http/fleet.rs` `act` |
//! | the power fails | `agent/engine/recovery.rs` `resume`, then `transaction/decide.rs` again |
//! | the journal cannot be written: the consequences and the recovery | `agent/journal_writer.rs` `failed`, `agent/engine/recovery.rs` `journal_failed`, `agent.rs` `retry_journal` |
//! | the reason of the outcome, as data | `transaction/reason.rs`, `agent/devices/reader/reasons.rs` |
//! | the sentence for the cashier | `agent/engine/facts.rs` `view`, `agent/views/sale.rs` `sale_view`, `words/cashier.rs` |
//! | an operator signs in, and a supervisor confirms | `till/http/sessions.rs`, `agent/operators.rs`, `core/counter/approvals.rs` |
//! | the terminal's status, as codes of a closed list | `till/status.rs`, `agent/views/status.rs` `status_view`; for the gateway, `gateway/contact.rs` |
//! | the fleet gives settings and keys: the check, the trial, the way back | `till/http/fleet_settings.rs`, `agent/given.rs`, `overlay/standing.rs`, `overlay/keys.rs` |
//! | training takes the same path without reader and gateway | `training/mod.rs`, `agent/training_mode.rs`, `agent/devices/trainer.rs` |
//! | the receipts and their texts | `printer/receipt.rs` `compose`, `words/paper.rs`, `printer/layout.rs`, `printer/escpos.rs`, `printer/port.rs` |
//!
//! A path in the table is relative to `src/`, or to `crates/` if it begins with the name of a crate. The `src/` of the
//! crate may be omitted. The table in `tests/rules/crates.rs` lists which crate may use which other crates. The table
//! in `tests/rules/layers.rs` does the same for this package's modules.

// ---- Parts that a person or a till uses

// The command line, with one file for each verb.
pub mod cli;
// The configuration file and its checks.
pub mod config;
// The known boards.
pub mod board;
// The connections for tills: one command language for all of them, and HTTP.
pub mod till;

// ---- Parts that connect the others

// The agent's loop: the engine, which owns the open transactions, the devices, the views, and one module per other
// subject.
pub mod agent;
// The metrics, for machines.
pub mod metrics;
// The check of the whole terminal, with remedies (`pos-agent doctor`).
pub mod doctor;
// The archive for remote support, without card data (`pos-agent doctor --bundle`).
pub mod support;

// ---- Keys and secrets

// The settings and command keys that a fleet gave, over the terminal's own configuration.
pub mod overlay;

// The keys that may sign the fleet's commands and settings, the check of signatures, and the judgement of commands.
pub mod fleet;

// The digests of operators' PINs and tokens. The core contains the rules for them, but no cryptography.
pub mod operator_secrets;
