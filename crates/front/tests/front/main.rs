//! The front as a process, over real sockets: a TLS client that nobody here wrote in front of it, and a stand-in for
//! the agent behind it, whose every answer is in `stand_in.rs`.
//!
//! | file | what is tried |
//! |---|---|
//! | `requests` | what is passed on, and what browsers, proxies and slow peers are made to send |
//! | `away` | the agent is down, comes back, and breaks off in the middle |
//! | `crowds` | strangers and greedy tills beside whoever has work to do |
//! | `signing_in` | the cookie, and what an operator's session reaches |
//! | `pairing` | codes, tokens, and how far a paired till sees |
//! | `webhooks` | receivers that hang, redirect and fail: order, signature, nothing twice |
//! | `verbs` | the command line |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod away;
mod crowds;
mod pairing;
mod process;
mod requests;
mod signing_in;
mod stand_in;
mod verbs;
mod webhooks;
