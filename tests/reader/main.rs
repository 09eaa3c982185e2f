//! The reader's driver and the simulated reader, separately and together. Traces (`trace`) stand in for a reader in
//! virtual time.
//!
//! | Module | Subject |
//! |---|---|
//! | `miura_link` | the link layer's decoder: any split of the stream, garbage, arbitrary bytes |
//! | `miura_session` | a reader's rules for a card |
//! | `miura_typing` | typed amounts, tips and card numbers |
//! | `miura_faults` | every step of a sale with every fault |
//! | `miura_clear_data` | clear card data anywhere in an answer ends the sale |
//! | `fault_cases` | what the tests of faults share |
//! | `neo2_clear_data` | clear card data, wrong encryption and repeated keys of a NEO2 reader end the sale |
//! | `neo2_faults` | every step of a sale with every fault of a NEO2 reader |
//! | `neo2_session` | a NEO2 reader's rules for a card |
//! | `neo2_link` | the decoder of NEO2 frames: any split of the stream, noise, wrong lengths |
//! | `miura_port` | a pty and a TCP connection, unplugged and plugged in again |
//! | `vipa_clear_data` | clear card data from a VIPA reader ends the sale |
//! | `vipa_faults` | every step of a sale with every fault of a VIPA reader |
//! | `vipa_link` | VIPA's packets on the same link |
//! | `identify` | the search for the family of a reader |
//! | `vipa_port` | a VIPA reader in a network, which may open the connection itself |
//! | `vipa_session` | a VIPA reader's rules for a card |
//! | `sim_reader` | the simulated Miura reader, byte by byte, without the driver |
//! | `sim_neo2` | the simulated NEO2 reader, byte by byte, without the driver |
//! | `sim_vipa` | the simulated VIPA reader, byte by byte, without the driver |
//! | `reader_pair` | driver and simulated reader over a real pty |
//! | `recordings` | recordings of readers, played to a session without the reader |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::{neo2_trace, trace, vipa_trace};

mod fault_cases;
mod identify;
mod miura_clear_data;
mod miura_faults;
mod miura_link;
mod miura_port;
mod miura_session;
mod miura_typing;
mod neo2_clear_data;
mod neo2_faults;
mod neo2_link;
mod neo2_session;
mod reader_pair;
mod recordings;
mod sim_neo2;
mod sim_reader;
mod sim_vipa;
mod vipa_clear_data;
mod vipa_faults;
mod vipa_link;
mod vipa_port;
mod vipa_session;
