//! The deck: every virtual card, and its behaviour when it is inserted, tapped or swiped.
//!
//! | card | insert | tap | swipe |
//! |---|---|---|---|
//! | `chip-pin` | online PIN, ARQC | no antenna | 201: insert the card |
//! | `chip-no-cvm` | ARQC | no antenna | 201 |
//! | `chip-refuses` | ARQC, then AAC after every answer of the issuer | no antenna | 201 |
//! | `chip-offline` | approves without the issuer (TC) | no antenna | 201 |
//! | `chip-declines` | declines without the issuer (AAC) | no antenna | 201 |
//! | `chip-choice` | two applications, chosen on the reader (DFA204 01) or by the agent (02, E2), ARQC | no antenna | 201 |
//! | `chip-broken` | mute: 9F30, swipe allowed | no antenna | 201: fallback |
//! | `chip-unsupported` | no common application: 9F28, swipe allowed | no antenna | 201: fallback |
//! | `tap` | online PIN, ARQC | ARQC | 201 |
//! | `tap-pin` | online PIN, ARQC | ARQC, online PIN | 201 |
//! | `tap-magstripe` | no chip contacts | magstripe mode, no cryptogram | 101 |
//! | `tap-insert` | online PIN, ARQC | 9FC3: insert the card | 201 |
//! | `swipe` | no chip | no antenna | 101: signature |
//! | `swipe-pin` | no chip | no antenna | 120: online PIN |
//! | `chip-signature` | signature (9F34 1E0300), ARQC | no antenna | 201 |
//! | `chip-scripts` | ARQC; carries out the issuer's scripts 71 and 72, reports them in 9F5B, TC | no antenna | 201 |
//! | `chip-offline-pin` | the chip checks the PIN, which is wrong once and then right, ARQC | no antenna | 201 |
//! | `expired` | TVR "expired application", ARQC, the issuer declines (54) | no antenna | 201 |
//! | `pin-wrong` | online PIN, wrong each time, ARQC, the issuer declines (55) | no antenna | 201 |
//! | `pin-exceeded` | the chip accepts no PIN, as the TVR says, ARQC, the issuer declines (75) | no antenna | 201 |
//! | `blocked` | card blocked: 9F25, no swipe allowed | no antenna | 201 |
//! | `app-blocked` | the first application is blocked, the second is taken without a question, ARQC | no antenna | 201 |
//! | `pan-19` | 19 digits, online PIN, ARQC | no antenna | 201 |
//! | `foreign` | issuer country 840, application currency 840, languages es and en, online PIN, ARQC | no antenna | 201 |
//! | `tap-phone` | no chip contacts | verified by the phone (9F34 010002), ARQC | no stripe |
//! | `debit` | another brand's AID, online PIN, ARQC | ARQC | 201 |
//!
//! Every number is from a brand's public test range and is Luhn-valid. The numbers are unique, so a ledger entry
//! identifies its card. Cards of every brand compute cryptograms of Visa's CVN 12 (hex), which the simulated issuers
//! verify. A real card of another brand would not.

use super::{Application, Applications, Card, Chip, Cvm, First, Second, Tap};

const VISA: &[u8] = &[0xA0, 0x00, 0x00, 0x00, 0x03, 0x10, 0x10];
const MASTERCARD: &[u8] = &[0xA0, 0x00, 0x00, 0x00, 0x04, 0x10, 0x10];
const MAESTRO: &[u8] = &[0xA0, 0x00, 0x00, 0x00, 0x04, 0x30, 0x60];
const ELECTRON: Application = Application { aid: &[0xA0, 0x00, 0x00, 0x00, 0x03, 0x20, 0x10], label: "VISA ELECTRON" };

/// A card with the default values; the table below sets only the differences.
pub(super) const PLAIN: Card = Card {
    name: "",
    pan: "",
    psn: 1,
    expiry: "3112",
    service_code: "201",
    discretionary: "1758989389",
    pin: "1234",
    holder: "TEST CARD/",
    label: "VISA CREDIT",
    aid: VISA,
    applications: Applications::One,
    mistakes: 0,
    tries: 3,
    country: None,
    currency: None,
    languages: None,
    about: "",
    chip: Chip::None,
    tap: Tap::None,
    stripe: true,
};

const fn chip(cvm: Cvm, first: First, second: Second) -> Chip {
    Chip::Works { cvm, first, second }
}

const CHIP_AND_PIN: Chip = chip(Cvm::OnlinePin, First::Asks, Second::NeedsIssuer);

/// All cards.
pub static DECK: &[Card] = &[
    Card {
        name: "chip-pin",
        about: "the everyday card: chip and PIN",
        pan: "4761739001010119",
        holder: "TEST CARD/CHIP PIN",
        chip: CHIP_AND_PIN,
        ..PLAIN
    },
    Card {
        name: "chip-no-cvm",
        about: "chip without PIN",
        pan: "4761739001010010",
        holder: "TEST CARD/NO CVM",
        chip: chip(Cvm::None, First::Asks, Second::TakesNoIssuer),
        ..PLAIN
    },
    Card {
        name: "chip-refuses",
        about: "its chip refuses after the bank has approved",
        pan: "4761739001010135",
        holder: "TEST CARD/REFUSES",
        chip: chip(Cvm::None, First::Asks, Second::Refuses),
        ..PLAIN
    },
    Card {
        name: "chip-offline",
        about: "its chip approves before anyone is asked",
        pan: "4761739001010143",
        holder: "TEST CARD/OFFLINE",
        chip: chip(Cvm::None, First::Approves, Second::TakesNoIssuer),
        ..PLAIN
    },
    Card {
        name: "chip-declines",
        about: "its chip declines before anyone is asked",
        pan: "4012888888881881",
        holder: "TEST CARD/DECLINES",
        chip: chip(Cvm::None, First::Declines, Second::Refuses),
        ..PLAIN
    },
    Card {
        name: "chip-choice",
        about: "two applications on one chip",
        pan: "4012001037141112",
        holder: "TEST CARD/CHOICE",
        applications: Applications::Choice(ELECTRON),
        chip: chip(Cvm::None, First::Asks, Second::NeedsIssuer),
        ..PLAIN
    },
    Card {
        name: "chip-broken",
        about: "its chip is dead: insert, then swipe",
        pan: "4111111111111111",
        holder: "TEST CARD/BROKEN",
        chip: Chip::Mute,
        ..PLAIN
    },
    Card {
        name: "chip-unsupported",
        about: "a chip that the reader does not know: insert, then swipe",
        pan: "4012000033330026",
        holder: "TEST CARD/FOREIGN",
        chip: Chip::Foreign,
        ..PLAIN
    },
    Card {
        name: "tap",
        about: "contactless without PIN",
        pan: "4005519200000004",
        holder: "TEST CARD/TAP",
        chip: CHIP_AND_PIN,
        tap: Tap::Emv(Cvm::None),
        ..PLAIN
    },
    Card {
        name: "tap-pin",
        about: "contactless with PIN",
        pan: "4009348888881881",
        holder: "TEST CARD/TAP PIN",
        chip: CHIP_AND_PIN,
        tap: Tap::Emv(Cvm::OnlinePin),
        ..PLAIN
    },
    Card {
        name: "tap-magstripe",
        about: "contactless, sends magnetic stripe data",
        pan: "4012000077777777",
        holder: "TEST CARD/TAP MSD",
        service_code: "101",
        tap: Tap::Magstripe,
        ..PLAIN
    },
    Card {
        name: "tap-insert",
        about: "after a tap, it must be inserted",
        pan: "4217651111111119",
        holder: "TEST CARD/INSERT ME",
        chip: CHIP_AND_PIN,
        tap: Tap::Insert,
        ..PLAIN
    },
    Card {
        name: "swipe",
        about: "stripe only: signature",
        pan: "4500600000000061",
        holder: "TEST CARD/SWIPE",
        service_code: "101",
        ..PLAIN
    },
    Card {
        name: "swipe-pin",
        about: "stripe only: PIN",
        pan: "4000111111111115",
        holder: "TEST CARD/SWIPE PIN",
        service_code: "120",
        ..PLAIN
    },
    Card {
        name: "chip-signature",
        about: "chip and signature",
        pan: "4761739001010127",
        holder: "TEST CARD/SIGNATURE",
        chip: chip(Cvm::Signature, First::Asks, Second::NeedsIssuer),
        ..PLAIN
    },
    Card {
        name: "chip-scripts",
        about: "its issuer sends it scripts",
        pan: "4761739001010168",
        holder: "TEST CARD/SCRIPTS",
        chip: chip(Cvm::None, First::Asks, Second::NeedsIssuer),
        ..PLAIN
    },
    Card {
        name: "chip-offline-pin",
        about: "its chip checks the PIN: wrong once, then right",
        pan: "4761739001010176",
        holder: "TEST CARD/OFFLINE PIN",
        mistakes: 1,
        chip: chip(Cvm::OfflinePin, First::Asks, Second::NeedsIssuer),
        ..PLAIN
    },
    Card {
        name: "expired",
        about: "too old: its issuer declines",
        pan: "4761739001010184",
        expiry: "2012",
        holder: "TEST CARD/EXPIRED",
        chip: chip(Cvm::None, First::Asks, Second::NeedsIssuer),
        ..PLAIN
    },
    Card {
        name: "pin-wrong",
        about: "chip and a PIN that its holder does not know",
        pan: "4761739001010192",
        holder: "TEST CARD/PIN WRONG",
        mistakes: 1,
        chip: CHIP_AND_PIN,
        ..PLAIN
    },
    Card {
        name: "pin-exceeded",
        about: "its chip no longer takes a PIN",
        pan: "4761739001010200",
        holder: "TEST CARD/PIN BLOCKED",
        tries: 0,
        chip: chip(Cvm::OfflinePin, First::Asks, Second::NeedsIssuer),
        ..PLAIN
    },
    Card {
        name: "blocked",
        about: "blocked by its issuer",
        pan: "4761739001010218",
        holder: "TEST CARD/BLOCKED",
        chip: Chip::Blocked,
        ..PLAIN
    },
    Card {
        name: "app-blocked",
        about: "its first application is blocked, the second is used",
        pan: "4761739001010226",
        holder: "TEST CARD/APP BLOCKED",
        applications: Applications::OnlyOther(ELECTRON),
        chip: chip(Cvm::None, First::Asks, Second::NeedsIssuer),
        ..PLAIN
    },
    Card {
        name: "pan-19",
        about: "a number of 19 digits",
        pan: "6799998900000074316",
        holder: "TEST CARD/NINETEEN",
        label: "MAESTRO",
        aid: MAESTRO,
        chip: CHIP_AND_PIN,
        ..PLAIN
    },
    Card {
        name: "foreign",
        about: "from another country, with another currency and language",
        pan: "4761739001010234",
        holder: "TEST CARD/ABROAD",
        country: Some([0x08, 0x40]),
        currency: Some([0x08, 0x40]),
        languages: Some("esen"),
        chip: CHIP_AND_PIN,
        ..PLAIN
    },
    Card {
        name: "tap-phone",
        about: "a phone, which has verified its owner",
        pan: "2223003122003222",
        holder: "TEST CARD/PHONE",
        label: "MASTERCARD",
        aid: MASTERCARD,
        tap: Tap::Emv(Cvm::OwnDevice),
        stripe: false,
        ..PLAIN
    },
    Card {
        name: "debit",
        about: "a debit card of another brand",
        pan: "5555555555554444",
        holder: "TEST CARD/DEBIT",
        label: "DEBIT MASTERCARD",
        aid: MASTERCARD,
        chip: CHIP_AND_PIN,
        tap: Tap::Emv(Cvm::None),
        ..PLAIN
    },
];
