//! Result codes (BMP 27, `06 1E`, `84 xx`), terminal states and intermediate statuses, with their meanings (ZVT
//! PA00P015, chapter 10 and 2.2.6).

/// Approved or done.
pub const OK: u8 = 0x00;
/// Declined by the issuer without a more specific reason.
pub const DECLINED: u8 = 0x05;
/// The card cannot be read.
pub const CARD_UNREADABLE: u8 = 0x64;
/// An error during processing.
pub const PROCESSING: u8 = 0x66;
/// Not permitted for this till or this card.
pub const NOT_ADMITTED: u8 = 0x67;
/// Not registered.
pub const NOT_REGISTERED: u8 = 0x6B;
/// The customer presented no card, or the transaction was cancelled.
pub const CANCELLED: u8 = 0x6C;
/// A currency other than the terminal's.
pub const WRONG_CURRENCY: u8 = 0x6F;
/// An end of day is not possible.
pub const NO_END_OF_DAY: u8 = 0x77;
/// Communication failed: the outcome is unknown.
pub const COMMUNICATION: u8 = 0x7D;
/// The terminal cannot carry out the command.
pub const NOT_POSSIBLE: u8 = 0x83;
/// The APDU violates the protocol, or the outcome is still being looked up.
pub const PROTOCOL: u8 = 0x9A;
/// Dialling or the line failed, or the outcome is still being looked up.
pub const LINE: u8 = 0x9B;
/// Please wait: ask again in two seconds.
pub const BUSY: u8 = 0x9C;
/// In a till's answer: only part of the goods was handed out.
pub const PART: u8 = 0x9D;
/// The gateway is unreachable.
pub const NO_CONNECTION: u8 = 0xA3;
/// The rules for card data forbid it.
pub const FORBIDDEN: u8 = 0xA5;
/// The payment is already reversed.
pub const ALREADY_REVERSED: u8 = 0xB4;
/// The payment cannot be reversed.
pub const NO_REVERSAL: u8 = 0xB5;
/// The amount does not match the reserved amount.
pub const RESERVED_AMOUNT: u8 = 0xB7;
/// There is no such reservation.
pub const NO_RESERVATION: u8 = 0xB8;
/// The amount exceeds the maximum.
pub const TOO_MUCH: u8 = 0xC3;
/// A requested option is not supported.
pub const UNSUPPORTED: u8 = 0xC5;
/// The amount is too small.
pub const TOO_LITTLE: u8 = 0xC8;
/// The printer is not ready.
pub const PRINTER: u8 = 0xCC;
/// Cashback with a payment is not available.
pub const NO_CASHBACK: u8 = 0xCD;
/// The card reader is not ready.
pub const READER: u8 = 0xE2;
/// A fault in the terminal.
pub const SYSTEM: u8 = 0xFF;
/// In a status enquiry: out of order.
pub const OUT_OF_ORDER: u8 = 0xDF;
/// In a status enquiry: a card is in the reader.
pub const CARD_IN: u8 = 0xDC;
/// In a status enquiry: the clock is not set.
pub const CLOCK: u8 = 0x62;

/// Intermediate statuses (`04 FF`).
pub mod intermediate {
    /// Look at the PIN pad.
    pub const PIN_PAD: u8 = 0x01;
    /// The terminal is waiting for the bank.
    pub const HOST: u8 = 0x04;
    /// Insert the card.
    pub const INSERT_CARD: u8 = 0x0A;
    /// Remove the card.
    pub const REMOVE_CARD: u8 = 0x0B;
    /// Please wait.
    pub const WAIT: u8 = 0x0E;
    /// Please wait while the terminal prints or counts.
    pub const STILL_WAIT: u8 = 0x17;
    /// The PIN is wrong.
    pub const WRONG_PIN: u8 = 0x15;
    /// The cashier must act.
    pub const CASHIER: u8 = 0xC8;
}

/// Returns the human-readable meaning of a result code.
#[must_use]
pub fn meaning(code: u8) -> &'static str {
    match code {
        OK => "done",
        0x01..=0x63 => "declined by the bank",
        CARD_UNREADABLE => "the card cannot be read",
        0x65 => "no card data",
        PROCESSING => "processing failed",
        NOT_ADMITTED | 0x68 => "not for this card",
        0x6A => "the turnover file is full",
        NOT_REGISTERED => "not registered",
        CANCELLED => "cancelled, or no card in time",
        0x6E => "the card is blocked",
        WRONG_CURRENCY | 0xC6 => "not the terminal's currency",
        0x72 => "the card's chip is faulty",
        0x75 => "the text is not authentic",
        NO_END_OF_DAY => "no end of day is possible",
        0x78 => "the card has expired",
        0x79 => "the card is not valid yet",
        0x7A => "the card is unknown",
        0x7B | 0x7C | 0x7E => "no fallback is possible",
        COMMUNICATION => "communication failed",
        NOT_POSSIBLE => "not possible at this terminal",
        0x85 => "a key is missing",
        0x89 | 0xED => "the PIN pad is faulty",
        PROTOCOL => "violates the protocol",
        LINE => "the line failed, or the payment is still unconfirmed",
        BUSY => "please wait",
        PART => "only a part was dispensed",
        0xA0 => "the receiver is not ready",
        0xA1 => "the other side does not answer",
        NO_CONNECTION => "no connection",
        FORBIDDEN => "the rules for card data forbid it",
        0xB1 | 0xB2 => "the memory is full",
        ALREADY_REVERSED => "reversed already",
        NO_REVERSAL => "it cannot be reversed",
        RESERVED_AMOUNT => "the amount does not match the reservation",
        NO_RESERVATION => "no such reservation",
        0xC2 => "a diagnosis is required",
        TOO_MUCH => "above the maximum amount",
        UNSUPPORTED => "a requested option is not supported",
        TOO_LITTLE => "the amount is too small",
        PRINTER => "the printer is not ready",
        NO_CASHBACK => "no cashback",
        CARD_IN => "a card is in the reader",
        READER => "the card reader is not ready",
        0xE4 => "activation is required",
        0xF0 => "an end of day is open",
        0xFA => "the offline upload failed",
        0xFC => "a device is missing",
        SYSTEM => "a system fault",
        _ => "unknown code",
    }
}
