//! Bytes that were typed from documents or captured from real devices. They are never edited to make a test pass. They
//! run on ARM too (`.ci/run`).
//!
//! | | what it shows |
//! |---|---|
//! | `golden_miura` | frames as documents have them (readers: 2.13) |
//! | `golden_crypto` | published vectors: keys, BER-TLV, track 2 |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod golden_crypto;
mod golden_miura;
