//! The reader's driver and the simulated reader, separately and together. Traces (`trace`) play a reader in virtual
//! time.
//!
//! | | what it shows |
//! |---|---|
//! | `miura_link` | the decoder of the link layer: any split, garbage, a peer that sends anything |
//! | `miura_session` | the rules of a reader for a card |
//! | `miura_typing` | amounts, tips and card numbers that are typed |
//! | `miura_faults` | every step of a sale with every fault |
//! | `miura_clear_data` | card data in clear end everything, at any place in an answer |
//! | `miura_port` | a pty and a TCP connection, unplugged and plugged in again |
//! | `sim_reader` | the simulated reader, byte by byte, without the driver |
//! | `reader_pair` | driver and simulated reader over a real pty |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::trace;

mod miura_clear_data;
mod miura_faults;
mod miura_link;
mod miura_port;
mod miura_session;
mod miura_typing;
mod reader_pair;
mod sim_reader;
