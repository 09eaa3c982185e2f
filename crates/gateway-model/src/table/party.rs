//! Parties of a transfer (interface: Corporate, Sender, Recipient).

use super::{CharacterSet, Format, Section, an, n, o, of, one_of, section};

const NAME_100: Format = of(CharacterSet::LettersDigitsSpaces, 100);
const NAME_50: Format = of(CharacterSet::LettersDigitsSpaces, 50);
const NAME_48: Format = of(CharacterSet::LettersDigitsSpaces, 48);
const COUNTRY_3: Format = an(3);
const BIRTH_COUNTRY: Format = of(CharacterSet::Letters, 3);

pub(super) const CORPORATE: Section = section(
    "corporate",
    "Corporate",
    &[
        o("corporate.name", an(30), "name of the company"),
        o("corporate.description", an(160), "what the company does"),
        o("corporate.street", an(100), "street"),
        o("corporate.address", an(100), "second line of the address"),
        o("corporate.city", an(80), "town"),
        o("corporate.state", an(50), "state or county"),
        o("corporate.postCode", an(16), "postcode"),
        o("corporate.suite", an(30), "suite"),
        o("corporate.postboxNumber", an(15), "number of the post-office box"),
        o("corporate.purchase", one_of(&["Y", "N"]), "whether the company is the buyer"),
        o("corporate.phone", n(25), "telephone"),
        o("corporate.fax", n(25), "fax"),
        o("corporate.vatId", an(255), "VAT number"),
    ],
);

pub(super) const SENDER: Section = section(
    "sender",
    "Sender",
    &[
        o("sender.name", NAME_100, "full name of the payer"),
        o("sender.givenName", NAME_50, "given name"),
        o("sender.middleName", NAME_50, "middle name"),
        o("sender.surname", NAME_50, "surname"),
        o("sender.birthDate", Format::Day, "date of birth"),
        o("sender.accountNumber", an(32), "account that pays").secret(),
        o("sender.street", an(100), "street"),
        o("sender.city", NAME_50, "town"),
        o("sender.state", NAME_50, "state or county"),
        o("sender.country", COUNTRY_3, "country, ISO 3166-1 alpha-3"),
        o("sender.postcode", an(30), "postcode"),
        o(
            "sender.accountNumberType",
            one_of(&["OTHER", "RTN_AND_BANK_ACCOUNT", "IBAN", "IBAN_AND_BIC", "CARD_ACCOUNT"]),
            "kind of account",
        ),
        o(
            "sender.sourceOfFunds",
            Format::TwoDigits(1, 9),
            "where the money comes from: 01 credit, 02 debit, 03 prepaid, 04 cash, 05 other debit, 06 other credit, \
             07 deposit, 08 mobile money, 09 something else",
        ),
        o("sender.entityType", an(50), "person or business"),
        o("sender.nationality", of(CharacterSet::LettersSpaces, 50), "nationality"),
        o("sender.occupation", an(50), "occupation"),
        o("sender.birthCountry", BIRTH_COUNTRY, "country of birth"),
    ],
);

pub(super) const RECIPIENT: Section = section(
    "recipient",
    "Recipient",
    &[
        o("recipient.givenName", NAME_48, "given name of the payee"),
        o("recipient.middleName", NAME_48, "middle name"),
        o("recipient.surname", NAME_48, "surname"),
        o("recipient.birthDate", Format::Day, "date of birth"),
        o("recipient.phone", Format::Phone(7, 25), "telephone"),
        o("recipient.accountNumber", an(32), "account that receives the payment").secret(),
        o("recipient.street", an(100), "street"),
        o("recipient.city", an(50), "town"),
        o("recipient.state", an(50), "state or county"),
        o("recipient.country", COUNTRY_3, "country, ISO 3166-1 alpha-3"),
        o("recipient.postcode", an(30), "postcode"),
        o(
            "recipient.accountNumberType",
            one_of(&[
                "OTHER",
                "RTN_AND_BANK_ACCOUNT",
                "IBAN",
                "PHONE_NUMBER",
                "BAN_AND_BIC",
                "WALLET_ID",
                "SOCIAL_NETWORK_ID",
            ]),
            "kind of account",
        ),
        o("recipient.nationality", of(CharacterSet::LettersSpaces, 50), "nationality"),
        o("recipient.identificationType", an(50), "kind of identification"),
        o("recipient.identificationValue", an(50), "number of the identification").secret(),
        o("recipient.entityType", an(50), "person or business"),
        o("recipient.relationship", an(50), "relationship of the recipient to the sender"),
        o("recipient.occupation", an(50), "occupation"),
        o("recipient.birthCountry", BIRTH_COUNTRY, "country of birth"),
    ],
);
