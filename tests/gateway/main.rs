//! The client of the gateway, the simulated gateway, and the interface that both are checked against.
//!
//! | | what it shows |
//! |---|---|
//! | `gateway_client` | the bytes on the wire, and how each fault of an exchange is classified |
//! | `tls` | CAs, certificates, pins, and a board whose clock begins in 1970 |
//! | `parameters` | the table of parameters against the interface document, and its command line |
//! | `sim_gateway` | the simulated gateway with independent clients |
//! | `gateway_life` | follow-up payments, and the ones that a payment's state allows |
//! | `gateway_cards` | cards that are stored, used for payments, typed |
//! | `gateway_groups` | every group of the data model: accepted, kept, returned, refused by name |
//! | `gateway_means` | payments away from the counter, one means at a time |
//! | `checkouts` | the requests of the hosted widget, and of the shop's server after it |
//! | `gateway_manners` | the simulated gateway as a server: throttling, delay, its ledger's file |
//! | `gateway_schedules` | subscriptions: payments by the gateway's clock |
//! | `gateway_settlement` | reports, settlement files, chargebacks, and a clock that is put forward |
//! | `gateway_webhooks` | notifications of a receiver, and one that hangs, fails or redirects |
//! | `gateway_redirect` | payments that wait for their customer on a page |
//! | `gateway_secure` | 3-D Secure: frictionless, challenge, exemptions, proofs from elsewhere |
//! | `gateway_stored` | stored accounts of every means, and the rules that bind them |
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
