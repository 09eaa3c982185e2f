//! `pos-fleet`: the server of a fleet of terminals. It shows them, and offers them what people and tills have signed.
//! It can act on none by itself: each terminal checks the signatures.
//!
//! ```text
//!  broker ── log, state, info, metric ──▶ consume ─▶ store ── one transaction ──▶ PostgreSQL
//!     ▲ ▲                                    │                                     │  ▲  │
//!     │ └────────── ack, after the commit ───┘                                     │  │  │
//!     │                                                                            │  │  │
//!     └── cmd, config, keys ── desk ◀── signed documents ──────────────────────────┘  │  │
//!            cmd-result, reported └──── results, signed by the terminal ──────────────┤  │
//!                                       command, keys, settings: sign with a file ────┘  │
//!                  browser, Prometheus ◀── pages, metrics ── serve ◀─────────────────────┘
//! ```
//!
//! | file | content |
//! |---|---|
//! | `config` | `fleet.toml`, and its faults |
//! | `ca` | the fleet's own CA: it signs certificates, and revokes them |
//! | `consume` | messages become rounds, and cursors go back to the terminals |
//! | `database` | the connection to PostgreSQL |
//! | `desk` | offers commands, settings and keys to the terminals, and stores the results |
//! | `documents` | gives settings and command keys |
//! | `enrol` | the port at which a terminal gets its certificate |
//! | `orders` | gives commands, and says what became of them |
//! | `pool` | a few connections to the database for one service |
//! | `rollout` | the rules of a roll-out of settings: waves, soaks, and what stops it |
//! | `rollout_run` | roll-outs in the database |
//! | `serve` | pages for people and metrics for Prometheus: it only shows |
//! | `signing` | the keys that sign commands, settings and keys: files outside the database |
//! | `store` | the database: its shape, and the transaction of a round |
//! | `tills` | the interface of cloud tills, which alone has keys that sign |
//! | `wrong_tries` | limits how often someone may guess a code or a token |

// The configuration file.
pub mod config;
// The fleet's own CA.
pub mod ca;
// From the broker into the database, and the cursors back.
pub mod consume;
// The connection to PostgreSQL.
pub mod database;
// Offers commands, settings and keys, and stores the results.
pub mod desk;
// Settings and command keys for terminals.
pub mod documents;
// The port at which a terminal gets its certificate.
pub mod enrol;
// Commands, and what became of them.
pub mod orders;
// Connections to the database for one service.
mod pool;
// The rules of a roll-out.
pub mod rollout;
// Roll-outs in the database.
pub mod rollout_run;
// Pages for people, and metrics for Prometheus.
pub mod serve;
// The keys that sign.
pub mod signing;
// The database: its shape, and the transaction of a round.
pub mod store;
// The interface of cloud tills.
pub mod tills;
// Limits guesses of codes and tokens.
mod wrong_tries;
