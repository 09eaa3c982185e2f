//! The client of the gateway, the simulated gateway, and the interface that both are held against.
//!
//! | | what it shows |
//! |---|---|
//! | `gateway_client` | what is on the wire, and what each way an exchange can go wrong is taken for |
//! | `tls` | CAs, certificates, pins, and a board whose clock begins in 1970 |
//! | `parameters` | the table of parameters against the interface document, and its command line |
//! | `sim_gateway` | the simulated gateway, asked by clients that know nothing of it |
//! | `gateway_life` | what follows a payment, and what its state allows |
//! | `gateway_cards` | cards that are stored, paid with, typed |
//! | `gateway_groups` | every group of the data model: taken, kept, given back, refused by name |
//! | `gateway_means` | what is paid with away from the counter, one means at a time |
//! | `checkouts` | what the hosted widget asks, and the shop's server after it |
//! | `gateway_manners` | the simulated gateway as a server: throttling, delay, its ledger's file |
//! | `gateway_schedules` | subscriptions: payments by the gateway's clock |
//! | `gateway_settlement` | reports, settlement files, chargebacks, and a clock that is put forward |
//! | `gateway_webhooks` | what a receiver is told, and one that hangs, fails or redirects |
//! | `gateway_redirect` | what waits for its customer on a page |
//! | `gateway_secure` | 3-D Secure: frictionless, challenge, exemptions, proofs from elsewhere |
//! | `gateway_stored` | stored accounts of every means, and what binds them |
//! | `gateway_meets_sim` | client and simulated gateway: two readings of the same documents |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use pos_test_kit::{card_reader, counter, data_model, gateway_counter, https, page_shop, shop_client};

mod checkouts;
mod gateway_cards;
mod gateway_client;
mod gateway_groups;
mod gateway_life;
mod gateway_manners;
mod gateway_means;
mod gateway_meets_sim;
mod gateway_redirect;
mod gateway_schedules;
mod gateway_secure;
mod gateway_settlement;
mod gateway_stored;
mod gateway_webhooks;
mod parameters;
mod sim_gateway;
mod tls;
