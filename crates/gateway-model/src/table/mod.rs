//! The rows: one file for each chapter of the document (interface: Resources and their fields), in its order.
//!
//! `r`, `c` and `o` create a row that the document marks R, C or O. The rest of this file defines common formats. The
//! rules between several fields are in `rule`.

mod account;
mod airline;
mod asynchronous;
mod billing;
mod card_on_file;
mod cart;
mod custom;
mod customer;
mod gift_card;
mod job;
mod merchant;
mod party;
mod payment;
mod pos;
mod reconciliation;
mod registration;
mod report;
mod resource;
mod response;
mod risk;
mod shipping;
mod three_d_secure;

use super::{Binds, Call, CharacterSet, Copied, Direction, Format, Need, Row, Section};

/// Every section, in the document's order.
pub static SECTIONS: &[Section] = &[
    resource::SECTION,
    payment::BASIC,
    payment::FOREX,
    payment::AUTHENTICATION,
    account::CARD,
    account::WALLETS,
    account::VIRTUAL,
    account::BANK,
    account::TOKEN,
    customer::SECTION,
    customer::SHIPPING,
    billing::SECTION,
    billing::MERCHANT,
    billing::MERCHANT_MORE,
    shipping::SECTION,
    shipping::MERCHANT,
    party::CORPORATE,
    party::SENDER,
    party::RECIPIENT,
    merchant::SECTION,
    cart::ITEMS,
    cart::PAYMENTS,
    cart::MARKETPLACE,
    airline::SECTION,
    registration::SECTION,
    registration::RESPONSE,
    registration::MIGRATION,
    three_d_secure::AUTHENTICATION,
    three_d_secure::PAYMENT,
    three_d_secure::EXEMPTION,
    custom::SECTION,
    asynchronous::REQUEST,
    asynchronous::RESPONSE,
    asynchronous::WEBHOOK,
    pos::REQUEST,
    pos::RESPONSE,
    report::REPORT,
    gift_card::SECTION,
    risk::SECTION,
    job::SECTION,
    response::SECTION,
    response::BANK_ACCOUNT,
    reconciliation::SECTION,
    card_on_file::SECTION,
    report::CHARGEBACK,
    report::QUERY,
];

/// The maximum length of free text for which the document gives none.
const OPEN: u16 = 2048;

const AMOUNT: Format = amount(10);
const BOOL: Format = Format::OneOf(&["true", "false"]);
const CURRENCY: Format = Format::Chars(CharacterSet::UpperLetters, 3, 3);
/// 32 letters and digits, for the ids of payments, registrations and entities.
const ID: Format = Format::Chars(CharacterSet::LettersDigits, 32, 32);
const MONTH: Format = Format::TwoDigits(1, 12);
/// A plus or digit, then telephone characters; 25 characters in all.
const PHONE: Format = Format::Phone(0, 24);

const fn amount(whole: u8) -> Format {
    Format::Decimal { signed: false, whole, decimals: (2, 2), bare: false }
}

/// Creates the format AN: free text.
const fn an(max: u16) -> Format {
    Format::Chars(CharacterSet::Text, 1, max)
}

/// Creates a format of free text with a minimum and a maximum length.
const fn text(min: u16, max: u16) -> Format {
    Format::Chars(CharacterSet::Text, min, max)
}

/// Creates the format N: digits.
const fn n(max: u16) -> Format {
    Format::Chars(CharacterSet::Digits, 1, max)
}

/// Creates a format of at least one character of a set.
const fn of(kind: CharacterSet, max: u16) -> Format {
    Format::Chars(kind, 1, max)
}

const fn letters(count: u16) -> Format {
    Format::Chars(CharacterSet::Letters, count, count)
}

const fn one_of(words: &'static [&'static str]) -> Format {
    Format::OneOf(words)
}

const fn row(name: &'static str, format: Format, need: Need, meaning: &'static str) -> Row {
    Row { name, format, need, needed_in: &[], secret: false, call: None, column: None, meaning }
}

/// Creates a required row.
const fn r(name: &'static str, format: Format, meaning: &'static str) -> Row {
    row(name, format, Need::Required, meaning)
}

/// Creates a conditional row.
const fn c(name: &'static str, format: Format, meaning: &'static str) -> Row {
    row(name, format, Need::Conditional, meaning)
}

/// Creates an optional row.
const fn o(name: &'static str, format: Format, meaning: &'static str) -> Row {
    row(name, format, Need::Optional, meaning)
}

impl Row {
    /// Marks the value as secret, so it is not shown.
    const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// Sets a call that differs from the section's call.
    const fn of(mut self, call: Call) -> Self {
        self.call = Some(call);
        self
    }

    /// Limits the need to these calls.
    const fn needed_in(mut self, calls: &'static [Call]) -> Self {
        self.needed_in = calls;
        self
    }

    /// Sets the name of the column in the reconciliation file.
    const fn column(mut self, column: &'static str) -> Self {
        self.column = Some(column);
        self
    }
}

/// Creates a section of a payment request.
const fn section(group: &'static str, title: &'static str, rows: &'static [Row]) -> Section {
    Section { group, title, direction: Direction::Request, call: Call::Payment, rows, binds: Binds::Used, copied: None }
}

impl Section {
    /// Marks the section as part of a response.
    const fn response(mut self) -> Self {
        self.direction = Direction::Response;
        self
    }

    const fn of(mut self, call: Call) -> Self {
        self.call = call;
        self
    }

    const fn binds(mut self, binds: Binds) -> Self {
        self.binds = binds;
        self
    }

    const fn copied(mut self, from: &'static str, to: &'static str, except: &'static [&'static str]) -> Self {
        self.copied = Some(Copied { from, to, except });
        self
    }
}
