//! Is: a simulator of the devices and services around the agent, for tests and `cargo demo`: reader, gateway with its
//! issuers, printer, tills, faults. Is not: a part of the agent, or a user of the agent's code. Invariant: it knows the
//! agent only through connections.
//!
//! ```text
//!                          ┌─────────┐  pty or TCP
//!                          │         │◀──────────────────────────────▶ reader: cardholder, kernel, keys, faults
//!   demo's till ─▶ socket ▶│  agent  │  TLS
//!   (shop, demo)           │ (real)  │◀────── fault: delay, drop, ────▶ gateway: form, host, issuer, books
//!                          │         │        wrong bit, cut
//!                          │         │  TCP or pty
//!                          └─────────┘◀──────────────────────────────▶ printer: paper, picture
//! ```
//!
//! | step | code |
//! |---|---|
//! | a shop opens with reader, gateway, printer, and a configuration for the agent | `shop.rs` `open`, `config_text` |
//! | the shop is drawn on the terminal | `shop/demo.rs` `run`, `shop/demo/screen.rs` `show`, `shop/demo/screen/view.rs` `draw` |
//! | a key is pressed | `shop/demo/screen/keys.rs` `intent`, `shop/demo/screen/key_pressed.rs` `press` |
//! | a key acts on reader, printer, connection and agent | `shop/demo/screen/shop_actions.rs` `act` |
//! | the demo's till asks the agent | `shop/demo/till.rs` `ask` |
//! | the reader receives bytes and sends answers | `reader/port.rs` `serve`, `reader/device.rs` `bytes`, `reader/outgoing.rs` `send` |
//! | a family of readers decodes a command, and says what happened | `reader/family.rs` `hear`, `decided`, `failed` |
//! | a VIPA reader carries out a command | `reader/vipa/commands.rs` `carry_out`, `reader/vipa/contactless.rs` `start`, `reader/vipa/contact.rs` `decide` |
//! | a NEO2 reader carries out a command | `reader/neo2/commands.rs` `carry_out`, `reader/neo2/activate.rs` `activate`, `reader/neo2/contact.rs` `authenticate` |
//! | a Miura reader carries out a command | `reader/miura/commands.rs` `carry_out`, `reader/miura/answers.rs` `answer` |
//! | a transaction is started at the reader | `reader/start_transaction.rs` `start_chip`, `wait_for_tap` |
//! | a card from the deck is inserted, tapped or swiped | `reader/card_entry.rs` `insert`, `tap`, `swipe`, `reader/deck/cards.rs` |
//! | the cardholder chooses an application or types digits | `reader/application_choice.rs` `choose`, `reader/number_entry.rs` `ask_for_digits` |
//! | the cardholder types a PIN, and it is processed | `reader/pin_entry.rs` `ask_for_pin`, `pin_entered` |
//! | card data and PIN are encrypted under DUKPT | `reader/keys.rs` `seal`, `seal_pin`, `keys/tdes_dukpt.rs` `next` |
//! | the card makes its first decision, and its decision after the issuer's answer | `reader/emv_transaction.rs` `first`, `second` |
//! | the issuer's answer reaches the card | `reader/continue_transaction.rs` `issuer_answers`, `card_hears_host` |
//! | the reader has faults | `reader/faults.rs`, `reader/flood.rs` |
//! | a script sets the time of actions | `reader/script.rs`, `reader/script/parse.rs`, `reader/script/run.rs` `meet_script` |
//! | a connection delays, drops or changes bytes, or is cut | `fault.rs` `fate`, `fault/stream.rs`, `fault/proxy.rs` `proxy` |
//! | many terminals show themselves to a fleet's server | `fleet.rs` `run`, `fleet/journal.rs` `grow` |
//! | a till speaks ZVT to a terminal | `till.rs` `run`, `till/zvt.rs` `run` |
//! | a till speaks Caisse-AP over IP to a terminal | `till/caisse_ap.rs` `run` |
//! | a receipt is printed | `printer/mechanism.rs` `print`, `printer/paper.rs` `feed`, `printer/drawing.rs` `png` |
//!
//! The table in `pos_payment_service` describes the gateway.
//!
//! The simulator uses the real protocols (pty or TCP, TLS, ESC/POS). It shares only basic code with the agent: the
//! reader's packets (`pos_reader_link`), TLV and track 2 (`pos_terms::emv`), and money. It has its own code for the
//! content of packets and receipts.

// Delay, drop, wrong bit and cut on any connection.
pub mod fault;
// Many terminals at the broker of a fleet.
pub mod fleet;
// The payment gateway as a program.
pub mod gateway_args;
// The receipt printer.
pub mod printer;
// The card reader, its cards and its cardholder.
pub mod reader;
// All devices together, and `cargo demo`.
pub mod shop;
// Tills with their own protocols.
pub mod till;
mod typed;

// DUKPT, PIN blocks, card cryptograms and issuer scripts, for public test keys.
pub use pos_keys as keys;
// The payment gateway and its issuers.
pub use pos_payment_service as gateway;
