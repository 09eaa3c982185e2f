//! The gateway client, the simulated gateway, and the interface that both must follow.
//!
//! | Module | Subject |
//! |---|---|
//! | `gateway_client` | the bytes that the client sends, and how it classifies each fault of an exchange |
//! | `tls` | CAs, certificates, pins, and a board whose clock begins in 1970 |
//! | `parameters` | the table of parameters, compared with the interface document, and its command line |
//! | `sim_gateway` | the simulated gateway with independent clients |
//! | `gateway_life` | follow-up payments, and which of them a payment's state allows |
//! | `gateway_cards` | cards that are stored, used for payments, or typed |
//! | `gateway_groups` | every group of the data model: accepting, keeping, returning and refusing it |
//! | `gateway_means` | payments away from the counter, one means of payment at a time |
//! | `checkouts` | the requests of the hosted widget, and of the shop's server after it |
//! | `gateway_manners` | the simulated gateway as a server: throttling, delay, its ledger's file |
//! | `gateway_schedules` | subscriptions: payments by the gateway's clock |
//! | `gateway_settlement` | reports, settlement files, chargebacks, and a clock that is moved forward |
//! | `gateway_webhooks` | notifications of a receiver, and receivers that hang, fail or redirect |
//! | `gateway_redirect` | payments that wait for their customer on a page |
//! | `gateway_secure` | 3-D Secure: frictionless, challenge, exemptions, proofs from elsewhere |
//! | `gateway_stored` | stored accounts of every means, and the rules for them |
//! | `gateway_meets_sim` | the client and the simulated gateway: two readings of the same documents |

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
