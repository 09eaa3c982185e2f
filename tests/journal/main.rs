//! The journal on real files, and the accounts that are made from it.
//!
//! | | what it shows |
//! |---|---|
//! | `journal` | written steps survive a power failure |
//! | `journal_book` | rows that were altered, taken out, put in or moved are found |
//! | `journal_closes` | closes of day are in the chain, and uncounted transactions stay |
//! | `journal_damage` | damaged, full or read-only: no new payment, and not one byte overwritten |
//! | `journal_gone` | removed from under the agent, or replaced by another file |
//! | `journal_names` | one lock under every name |
//! | `journal_payments` | payments and references, found by their ids |
//! | `journal_receipts` | receipts stay, leave and move with their sale |
//! | `journal_set_back` | times that a wrong clock has written |
//! | `journal_swap` | a board is swapped; a backup is restored |
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
