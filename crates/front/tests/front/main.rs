//! Tests of the front as a process, over real sockets. The client is an independent TLS client. A stand-in replaces the
//! agent, and `stand_in.rs` contains all its answers.
//!
//! | file | content |
//! |---|---|
//! | `requests` | requests that are passed on, and requests from misused browsers, proxies and slow peers |
//! | `away` | an agent that is down, comes back, or stops during a request |
//! | `crowds` | unidentified callers and greedy tills, next to callers with real work |
//! | `customer` | the token of the customer's screen, and what its stream says |
//! | `first_boot` | the page that sets up a terminal, with hostile browsers and a hostile root's half |
//! | `browsers` | paired browsers, and what they may do without an operator; the doctor's findings |
//! | `signing_in` | the cookie, and the rights of an operator's session |
//! | `pairing` | codes, tokens, and the data that a paired till can see |
//! | `webhooks` | receivers that hang, redirect and fail; order, signature and duplicates |
//! | `callbacks` | the addresses that tills name for the events of a transaction |
//! | `verbs` | the command line |
//! | `logging` | the log in systemd's journal |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod away;
mod browsers;
mod callbacks;
mod crowds;
mod customer;
mod first_boot;
mod logging;
mod pairing;
mod process;
mod receiver;
mod requests;
mod signing_in;
mod stand_in;
mod verbs;
mod webhooks;
