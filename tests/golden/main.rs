//! Bytes that were typed from documents or captured from real devices. They are never edited to make a test pass. These
//! tests run on ARM too (`.ci/run`).
//!
//! | Module | Subject |
//! |---|---|
//! | `golden_miura` | frames as shown in documents (readers: 2.13) |
//! | `golden_vipa` | frames of VIPA (readers: 3.7) |
//! | `golden_neo2` | frames of NEO2 as shown in documents (readers: 4.5) |
//! | `golden_crypto` | published vectors: keys, BER-TLV, track 2 |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod golden_crypto;
mod golden_miura;
mod golden_neo2;
mod golden_vipa;
