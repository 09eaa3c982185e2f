//! Is: the outside world on a desk, for tests and `cargo demo`: reader, gateway with its banks, printer, tills, faults.
//! Is not: a part of a board's program, or a user of the agent's code.
//! Invariant: it knows the agent by its wires alone.
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
//! | what happens | where |
//! |---|---|
//! | a shop opens: reader, gateway, printer, and a configuration for the agent | `shop.rs` `open`, `config_text` |
//! | a person sees it | `shop/demo.rs` `run`, `shop/demo/screen.rs` `show`, `shop/demo/screen/view.rs` `draw` |
//! | a key is pressed | `shop/demo/screen/keys.rs` `intent`, `shop/demo/screen/key_pressed.rs` `press` |
//! | what a key does to reader, printer, line and agent | `shop/demo/screen/shop_actions.rs` `act` |
//! | the demo's till asks the agent | `shop/demo/till.rs` `ask` |
//! | bytes come to the reader, and answers go out | `reader/port.rs` `serve`, `reader/device.rs` `bytes`, `reader/outgoing.rs` `answer` |
//! | a command is carried out | `reader/commands.rs` `command` |
//! | a sale is started at the reader | `reader/start_transaction.rs` `start_transaction`, `start_contactless` |
//! | a card is inserted, tapped or swiped; which cards there are | `reader/card_entry.rs` `insert`, `tap`, `swipe`, `reader/deck/cards.rs` |
//! | the cardholder chooses an application, types digits | `reader/application_choice.rs` `choose`, `reader/number_entry.rs` `get_numeric` |
//! | the cardholder types a PIN, and what becomes of it | `reader/pin_entry.rs` `ask_for_pin`, `pin_entered` |
//! | card data and PIN are encrypted under DUKPT | `reader/keys.rs` `seal_chip`, `seal_pin`, `keys/tdes_dukpt.rs` `next` |
//! | the card decides: first, and after the host's answer | `reader/emv_transaction.rs` `first`, `second` |
//! | the host's answer comes to the card | `reader/continue_transaction.rs` `continue_transaction`, `card_hears_host` |
//! | what goes wrong at the reader | `reader/faults.rs`, `reader/flood.rs` |
//! | when it does: a script | `reader/script.rs`, `reader/script/parse.rs`, `reader/script/run.rs` `meet_script` |
//! | a line delays, loses, changes or cuts | `fault.rs` `fate`, `fault/stream.rs`, `fault/proxy.rs` `proxy` |
//! | a till speaks ZVT to a terminal | `till.rs` `run`, `till/zvt.rs` `run` |
//! | a receipt is printed | `printer/mechanism.rs` `print`, `printer/paper.rs` `feed`, `printer/drawing.rs` `png` |
//!
//! What happens at the gateway is in the map of `pos_payment_service`.
//!
//! It speaks the real wires (pty or TCP, TLS, ESC/POS). With the agent it shares what both must agree on and nothing
//! that decides: the reader's packets (`pos_reader_link`), TLV and track 2 (`pos_terms::emv`), money. What is inside a
//! packet or a receipt is written a second time here.

// Delay, drop, one wrong bit, cut: on any line.
pub mod fault;
// The payment gateway as a program of its own.
pub mod gateway_args;
// The receipt printer.
pub mod printer;
// The card reader, its cards and its cardholder.
pub mod reader;
// All of them together, and `cargo demo`.
pub mod shop;
// Tills with a protocol of their own.
pub mod till;
mod typed;

// DUKPT, PIN blocks, card cryptograms, issuer scripts: for public test keys.
pub use pos_keys as keys;
// The payment gateway and the banks behind it.
pub use pos_payment_service as gateway;
