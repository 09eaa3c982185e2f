//! What holds for the files of the project themselves.
//!
//! | | what it shows |
//! |---|---|
//! | `layers` | who may use whom, heads, maps |
//! | `crates` | which crate may use which |
//! | `manual` | every citation, link and table of `docs/` leads somewhere and is true |
//! | `names` | the same names on the command line and in HTTP |
//! | `packages` | what may be built in: licences and sources |
//! | `capabilities` | each heading of the interface documents has a row in a table, and each row a test that is there |
//! | `language` | plain words and short sentences in comments, manual and messages |
//! | `boards` | every file of every board is read by what will read it |

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod boards;
mod capabilities;
mod crates;
mod language;
mod layers;
mod manual;
mod names;
mod packages;
