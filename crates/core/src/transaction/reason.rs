//! Why something happened to a sale, as data: one word of a closed list, and what was said about it from outside.
//!
//! Programs branch on the word, the journal keeps it, and `words` makes sentences of it for cashier, customer and
//! technician. What this is not: a sentence. A detail is foreign text (the gateway's description, the system's error)
//! or a fact (an id, an amount); no text of ours is in it.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// One of a closed list. A word is never given another meaning; words may be added.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason {
            $($(#[$doc])* $name,)*
        }

        impl Reason {
            /// Every reason, in the order of this page.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// As programs and the journal write it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

reasons! {
    // ---- The card, its holder and the shop; nothing is charged

    /// The bank, or the gateway for it, declined; the gateway's description.
    BankDeclined = "bank-declined",
    /// The bank takes no tap for it: the card must be inserted, and the PIN entered; the gateway's description.
    InsertAndPin = "insert-and-pin",
    /// The bank declined, and says that another try with this card will not be approved; the gateway's description.
    DoNotTryAgain = "do-not-try-again",
    /// The chip declined by itself; nothing was sent.
    CardDeclined = "card-declined",
    /// The cancel key of the reader, or the card was taken away.
    CustomerCancelled = "customer-cancelled",
    /// The till, or the cashier, cancelled.
    TillCancelled = "till-cancelled",
    /// The terminal is being stopped.
    TerminalStopped = "terminal-stopped",
    /// No card was presented in time.
    CardTimeout = "card-timeout",
    /// The cardholder was asked for a tip, and typed none in time.
    TipTimeout = "tip-timeout",
    /// The card could not be read by any way that it allows; the reader's words.
    CardUnreadable = "card-unreadable",
    /// The card was gone before the gateway had time for the sale.
    CardGone = "card-gone",
    /// The card of the payment before was not taken out of the reader in time.
    CardLeftIn = "card-left-in",
    /// Amount and tip together cannot be charged; why.
    TipNotPossible = "tip-not-possible",

    // ---- The terminal; nothing has left it

    /// The reader went away in the middle; its trouble.
    ReaderLost = "reader-lost",
    /// The reader is not ready; its trouble.
    ReaderNotReady = "reader-not-ready",
    /// The reader's port cannot be opened; the port and the system's words.
    ReaderAbsent = "reader-absent",
    /// What answers at the reader's port is none, or another kind; the port and what was wrong.
    ReaderOtherDevice = "reader-other-device",
    /// The reader is not one of `[reader] serials`; its serial number.
    ReaderNotListed = "reader-not-listed",
    /// The reader is being restarted after a fault; which.
    ReaderRestarting = "reader-restarting",
    /// The reader sends without end; its port.
    ReaderFlooding = "reader-flooding",
    /// The reader has no key left to encrypt with.
    ReaderNoKeys = "reader-no-keys",
    /// The reader sends card data in clear; its serial number.
    ReaderClearData = "reader-clear-data",
    /// The reader stopped encrypting, or uses a key twice; its serial number.
    ReaderNotEncrypting = "reader-not-encrypting",
    /// The reader signed another amount or currency than was asked for.
    ReaderAmountDiffers = "reader-amount-differs",
    /// The reader says that a PIN was entered, and gave none.
    ReaderPinMissing = "reader-pin-missing",
    /// Card numbers may not, or cannot, be typed on this reader.
    TypingNotPossible = "typing-not-possible",
    /// The terminal was restarted before anything was sent.
    TerminalRestarted = "terminal-restarted",
    /// Neither the board's clock nor the reader's can be right.
    ClockUntrusted = "clock-untrusted",
    /// The request cannot be made, or the gateway refuses it as invalid: a value that it does not take; which.
    RequestNotPossible = "request-not-possible",

    // ---- The way to the gateway; it has not processed the request

    /// No connection to the gateway; the system's words.
    GatewayUnreachable = "gateway-unreachable",
    /// The gateway's certificate is not one to be trusted; what is wrong with it.
    GatewayUntrustedCertificate = "gateway-untrusted-certificate",
    /// The gateway's certificate has expired.
    GatewayCertificateExpired = "gateway-certificate-expired",
    /// The gateway takes no certificate of ours, or wants one that there is not.
    GatewayOwnCertificateRefused = "gateway-own-certificate-refused",
    /// The gateway refuses our certificate, which has expired.
    GatewayOwnCertificateExpired = "gateway-own-certificate-expired",
    /// The gateway refuses the access token.
    GatewayRefusesToken = "gateway-refuses-token",
    /// The gateway has nothing at the address that was asked.
    GatewayWrongAddress = "gateway-wrong-address",
    /// The gateway has too many requests and did not process this one; its description.
    GatewayThrottles = "gateway-throttles",
    /// The gateway does not know it, after all the time in which it could still have come.
    NeverReceived = "never-received",

    // ---- What began a doubt about the money

    /// The request was sent, and no answer came; what happened to the line.
    GatewayNoAnswer = "gateway-no-answer",
    /// The gateway failed; its HTTP status.
    GatewayOutOfOrder = "gateway-out-of-order",
    /// The gateway's answer cannot be read, or contradicts itself; in which way.
    AnswerUnclear = "answer-unclear",
    /// The gateway's result code is on no list; the code.
    CodeUnknown = "code-unknown",
    /// The gateway declined in a way that failures do not come in; its description.
    DeclineInDoubt = "decline-in-doubt",
    /// The gateway answered about another payment, reference or kind of transaction; which.
    AnotherPaymentAnswered = "another-payment-answered",
    /// The gateway did not decide in time.
    NotDecidedInTime = "not-decided-in-time",
    /// The gateway approved another amount or currency; which.
    AnotherAmountApproved = "another-amount-approved",
    /// The gateway approved an amount that cannot be read.
    AmountUnreadable = "amount-unreadable",
    /// The gateway's result and its answer to the chip contradict each other.
    ChipContradicted = "chip-contradicted",
    /// A part was approved, and the till takes no part; how much.
    PartialNotTaken = "partial-not-taken",
    /// The chip refused after the bank had approved.
    CardRefused = "card-refused",
    /// The card or the reader was gone before the chip confirmed the approval.
    CardLost = "card-lost",
    /// The terminal was restarted before the gateway's answer was kept.
    RestartedBeforeAnswer = "restarted-before-answer",
    /// The terminal was restarted before the chip confirmed the approval.
    RestartedBeforeCard = "restarted-before-card",
    /// The signature was refused at the counter.
    SignatureRefused = "signature-refused",
    /// Nobody compared the signature in time.
    SignatureNotChecked = "signature-not-checked",
    /// The till said that it does not take what was approved.
    NotTaken = "not-taken",
    /// The till did not say in time whether it takes what was approved.
    TillSilent = "till-silent",
    /// A person decided, in the place of a journal that is an old copy, that it is taken back.
    TakenBackByPerson = "taken-back-by-person",
    /// It had not been sent when an old copy of the journal was made.
    NotSentInCopy = "not-sent-in-copy",
    /// It was not confirmed when an old copy of the journal was made: it is looked up, and never sent again.
    OpenInCopy = "open-in-copy",
    /// Its signature was being compared when an old copy of the journal was made.
    SignatureInCopy = "signature-in-copy",
    /// The till's word was waited for when an old copy of the journal was made.
    TillInCopy = "till-in-copy",

    // ---- Why a doubt is not settled yet

    /// The gateway cannot be asked what became of it; why.
    GatewayCannotBeAsked = "gateway-cannot-be-asked",
    /// The till has not said yet whether it takes what was approved.
    TillNotHeard = "till-not-heard",
    /// The gateway has not decided yet.
    NotDecidedYet = "not-decided-yet",
    /// The gateway does not know it (yet).
    NotListedYet = "not-listed-yet",
    /// The gateway does not know the reversal (yet).
    ReversalNotListed = "reversal-not-listed",
    /// A reversal that was sent before may still be carried out.
    ReversalOnItsWay = "reversal-on-its-way",
    /// A reversal could not be sent, or has no answer; why.
    ReversalNotAnswered = "reversal-not-answered",
    /// A reversal is held back until it is known whether something else gave the payment back; why.
    ReversalHeldBack = "reversal-held-back",
    /// One try was declined, and an earlier one may still be carried out.
    EarlierTryOpen = "earlier-try-open",
    /// An answer came that belongs to another request.
    StrayAnswer = "stray-answer",

    // ---- Why a person must look

    /// The gateway refuses the reversal; the payment's id and its words.
    ReversalRefused = "reversal-refused",
    /// The gateway reversed, or carried out, another amount than was asked for; the ids.
    AnotherAmountDone = "another-amount-done",
    /// The gateway reversed a part of what it was asked for; how much.
    ReversedInPart = "reversed-in-part",
    /// The gateway lists it as another kind of transaction; the id and the kind.
    AnotherKindListed = "another-kind-listed",
    /// The gateway's lists and answers contradict each other; in what.
    ListContradicts = "list-contradicts",
    /// The gateway approved it and does not list it any more; the id.
    NotListedAnyMore = "not-listed-any-more",
    /// The gateway does not say whose, or of which payment, a transaction is; the id.
    WhoseIsNotSaid = "whose-is-not-said",
    /// The refund of what a till did not take was declined, or could not be made; why.
    RestNotGivenBack = "rest-not-given-back",
    /// The bank gave back less than the till did not take; how much.
    RestGivenBackInPart = "rest-given-back-in-part",
    /// The gateway carried it out twice; the ids.
    DoneTwice = "done-twice",
    /// The gateway holds a second payment besides the one that is kept; the id.
    SecondPayment = "second-payment",
    /// The journal is an old copy, and does not know what became of it; what to do.
    OldCopy = "old-copy",
    /// The payment may have been given back by its id already; what to look for.
    GivenBackById = "given-back-by-id",
    /// It was begun under settings that the terminal does not have any more; which.
    NotSettledHere = "not-settled-here",

    // ---- Records of earlier programs

    /// An earlier program wrote a sentence; it is the detail.
    Recorded = "recorded",
}

impl Reason {
    /// The reason of a word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.as_str() == word)
    }

    /// With what was said about it from outside.
    #[must_use]
    pub fn with(self, detail: impl fmt::Display) -> Cause {
        Cause { reason: self, detail: Some(detail.to_string()).filter(|detail| !detail.is_empty()) }
    }

    /// The card, the till or a person at the counter wanted it so: nobody has anything to mend.
    #[must_use]
    pub fn is_somebodys_wish(self) -> bool {
        matches!(
            self,
            Self::CardGone
                | Self::CardRefused
                | Self::PartialNotTaken
                | Self::SignatureRefused
                | Self::SignatureNotChecked
                | Self::NotTaken
                | Self::TillSilent
                | Self::TakenBackByPerson
        )
    }

    /// A fault of the terminal or of its way to the gateway, which a technician can mend. Neither the customer nor the
    /// bank caused it, so it is never told as "declined" or "cancelled".
    #[must_use]
    pub fn is_terminals_fault(self) -> bool {
        matches!(
            self,
            Self::ReaderLost
                | Self::ReaderNotReady
                | Self::ReaderAbsent
                | Self::ReaderOtherDevice
                | Self::ReaderNotListed
                | Self::ReaderRestarting
                | Self::ReaderFlooding
                | Self::ReaderNotEncrypting
                | Self::ReaderNoKeys
                | Self::ReaderClearData
                | Self::ReaderAmountDiffers
                | Self::ReaderPinMissing
                | Self::TypingNotPossible
                | Self::TerminalRestarted
                | Self::ClockUntrusted
                | Self::RequestNotPossible
                | Self::GatewayUnreachable
                | Self::GatewayUntrustedCertificate
                | Self::GatewayCertificateExpired
                | Self::GatewayOwnCertificateRefused
                | Self::GatewayOwnCertificateExpired
                | Self::GatewayRefusesToken
                | Self::GatewayWrongAddress
                | Self::GatewayThrottles
                | Self::NeverReceived
        )
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A reason, and what was said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The reason.
    pub reason: Reason,
    /// Foreign text or a fact, as the reason's own page says.
    pub detail: Option<String>,
}

impl From<Reason> for Cause {
    fn from(reason: Reason) -> Self {
        Self { reason, detail: None }
    }
}

/// As the journal and the log write it: the word, and behind a colon the detail. Earlier programs, which expect any
/// text there, can read it.
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.detail, self.reason) {
            (Some(detail), Reason::Recorded) => f.write_str(detail),
            (Some(detail), reason) => write!(f, "{reason}: {detail}"),
            (None, reason) => f.write_str(reason.as_str()),
        }
    }
}

/// What [`Cause`]'s `Display` wrote, and any sentence of an earlier program.
impl From<&str> for Cause {
    fn from(text: &str) -> Self {
        let (word, detail) = match text.split_once(": ") {
            Some((word, detail)) => (word, Some(detail)),
            None => (text, None),
        };
        match Reason::of(word) {
            Some(reason) => Self { reason, detail: detail.map(str::to_owned) },
            None => Reason::Recorded.with(text),
        }
    }
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Cause {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from(String::deserialize(deserializer)?.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_one_reason_and_comes_back() {
        for reason in Reason::ALL {
            let word = reason.as_str();
            assert!(word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{word}");
            assert_eq!(Reason::ALL.iter().filter(|one| one.as_str() == word).count(), 1, "{word}");
            for why in [Cause::from(*reason), reason.with("said: by others"), reason.with("")] {
                if *reason == Reason::Recorded {
                    continue;
                }
                let written = serde_json::to_string(&why).unwrap();
                assert_eq!(serde_json::from_str::<Cause>(&written).unwrap(), why, "{written}");
            }
        }
    }

    #[test]
    fn a_sentence_of_an_earlier_program_is_kept_as_it_is() {
        for sentence in ["the card declined", "HTTP 500: the gateway failed", "", "declined", ": "] {
            let why: Cause = serde_json::from_value(sentence.into()).unwrap();
            assert_eq!(why.reason, Reason::Recorded, "{sentence:?}");
            assert_eq!(serde_json::to_value(&why).unwrap(), if sentence.is_empty() { "recorded" } else { sentence });
        }
    }
}
