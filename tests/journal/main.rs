//! The journal on real files, and the accounts that are drawn from it.
//!
//! | | what it shows |
//! |---|---|
//! | `journal` | what is written is there after the power fails |
//! | `journal_book` | what was altered, taken out, put in or moved is found |
//! | `journal_closes` | closes of day are in the chain, and nothing leaves that none has counted |
//! | `journal_damage` | damaged, full or read-only: no new payment, and not one byte overwritten |
//! | `journal_gone` | taken away from under the agent, or not what it should be |
//! | `journal_names` | one lock, whatever name it is opened by |
//! | `journal_payments` | payments and references, found by their ids |
//! | `journal_receipts` | receipts stay, leave and move with their sale |
//! | `journal_set_back` | times that a clock gone wrong has written |
//! | `journal_swap` | a board is swapped; a backup is put back |
//! | `reconcile` | the gateway's settlement file against the journal |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::{book, counter, program};

mod journal;
mod journal_book;
mod journal_closes;
mod journal_damage;
mod journal_gone;
mod journal_names;
mod journal_payments;
mod journal_receipts;
mod journal_set_back;
mod journal_swap;
mod reconcile;
