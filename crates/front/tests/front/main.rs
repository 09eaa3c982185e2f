//! Tests of the front as a process over real sockets. In front of it is an independent TLS client. Behind it is a
//! stand-in for the agent; all answers of the stand-in are in `stand_in.rs`.
//!
//! | file | content |
//! |---|---|
//! | `requests` | requests that are passed on, and requests of abused browsers, proxies and slow peers |
//! | `away` | the agent is down, returns, and breaks off during a request |
//! | `crowds` | unidentified callers and greedy tills next to callers with real work |
//! | `signing_in` | the cookie, and the rights of an operator's session |
//! | `pairing` | codes, tokens, and the view of a paired till |
//! | `webhooks` | receivers that hang, redirect and fail: order, signature, no duplicates |
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
