//! Rules for the project's files.
//!
//! | Module | Subject |
//! |---|---|
//! | `layers` | the permitted uses between modules, and the heads and maps of files |
//! | `crates` | the permitted dependencies between crates |
//! | `manual` | every citation, link and table of `docs/` is valid |
//! | `names` | the same names on the command line and in HTTP |
//! | `packages` | packages that may be built in: licences and sources |
//! | `capabilities` | each heading of the interface documents has a row in a table, and each row an existing test |
//! | `language` | plain words and short sentences in comments, manual and messages |
//! | `boards` | every file of every board is valid for the program that reads it |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod boards;
mod capabilities;
mod crates;
mod language;
mod layers;
mod manual;
mod names;
mod packages;
