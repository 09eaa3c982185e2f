//! The journal in real files, and the accounts based on it.
//!
//! | Module | Subject |
//! |---|---|
//! | `journal` | written steps survive a power failure |
//! | `journal_book` | a verification finds rows that were altered, removed, added or moved |
//! | `journal_closes` | closes of day are in the chain, and uncounted transactions stay |
//! | `journal_damage` | a damaged, full or read-only journal: no new payment, and no byte overwritten |
//! | `journal_entries` | the entries of the chain by number |
//! | `journal_gone` | a journal that is removed or replaced while the agent runs |
//! | `journal_names` | one lock under every name |
//! | `journal_payments` | the index of payments and references by their ids |
//! | `journal_receipts` | receipts are kept, removed and moved with their sale |
//! | `journal_set_back` | times that a wrong clock wrote |
//! | `journal_swap` | a swapped board, and a restored backup |
//! | `reconcile` | the gateway's settlement file, compared with the journal |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::{book, counter, program};

mod journal;
mod journal_book;
mod journal_closes;
mod journal_damage;
mod journal_entries;
mod journal_gone;
mod journal_names;
mod journal_payments;
mod journal_receipts;
mod journal_set_back;
mod journal_swap;
mod reconcile;
