//! The cause of a transaction event, as data: one word from a closed list, and an external detail.
//!
//! Programs branch on the word, and the journal keeps it. `words` turns it into sentences for the cashier, the customer
//! and the technician. The word itself is not a sentence. A detail is external text (the gateway's description, the
//! system's error) or a fact (an id, an amount). It contains no text written by the agent.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// The reason: one word of a closed list. The meaning of a word never changes, but words may be added.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason {
            $($(#[$doc])* $name,)*
        }

        impl Reason {
            /// All reasons, in the order of this list.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns the word that programs and the journal use.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

reasons! {
    // ---- The card, its holder and the shop; nothing is charged

    /// The issuer, or the gateway on its behalf, declined. Detail: the gateway's description.
    BankDeclined = "bank-declined",
    /// The issuer refuses a tap, and asks the customer to insert the card and enter the PIN. Detail: the gateway's
    /// description.
    InsertAndPin = "insert-and-pin",
    /// The issuer declined, and will not approve another attempt with this card. Detail: the gateway's description.
    DoNotTryAgain = "do-not-try-again",
    /// The chip declined offline; nothing was sent.
    CardDeclined = "card-declined",
    /// The customer pressed the cancel key of the reader, or removed the card.
    CustomerCancelled = "customer-cancelled",
    /// The till or the cashier cancelled.
    TillCancelled = "till-cancelled",
    /// The terminal is being stopped.
    TerminalStopped = "terminal-stopped",
    /// No card was presented in time.
    CardTimeout = "card-timeout",
    /// The cardholder was asked for a tip, and typed none in time.
    TipTimeout = "tip-timeout",
    /// The card could not be read in any of the ways that it supports. Detail: the reader's words.
    CardUnreadable = "card-unreadable",
    /// The card was removed before the gateway could process the request.
    CardGone = "card-gone",
    /// The card of the previous payment was not removed from the reader in time.
    CardLeftIn = "card-left-in",
    /// The sum of amount and tip cannot be charged. Detail: the explanation.
    TipNotPossible = "tip-not-possible",

    // ---- The terminal; nothing was sent

    /// The connection to the reader was lost during the transaction. Detail: the error.
    ReaderLost = "reader-lost",
    /// The reader is not ready. Detail: the error.
    ReaderNotReady = "reader-not-ready",
    /// The reader's port cannot be opened. Detail: the port and the system's error.
    ReaderAbsent = "reader-absent",
    /// The device at the reader's port is not a reader, or is another kind. Detail: the port and the error.
    ReaderOtherDevice = "reader-other-device",
    /// The reader is not listed in `[reader] serials`. Detail: its serial number.
    ReaderNotListed = "reader-not-listed",
    /// The reader is being restarted after a fault. Detail: the fault.
    ReaderRestarting = "reader-restarting",
    /// The reader sends an endless stream of data. Detail: its port.
    ReaderFlooding = "reader-flooding",
    /// The reader has no encryption key left.
    ReaderNoKeys = "reader-no-keys",
    /// The reader sends card data in clear text. Detail: its serial number.
    ReaderClearData = "reader-clear-data",
    /// The reader stopped encrypting, or used a key twice. Detail: its serial number.
    ReaderNotEncrypting = "reader-not-encrypting",
    /// The reader signed an amount or currency other than the requested one.
    ReaderAmountDiffers = "reader-amount-differs",
    /// The reader reports that a PIN was entered, but sent none.
    ReaderPinMissing = "reader-pin-missing",
    /// Card numbers must not, or cannot, be typed on this reader.
    TypingNotPossible = "typing-not-possible",
    /// The terminal was restarted before anything was sent.
    TerminalRestarted = "terminal-restarted",
    /// Both the terminal's clock and the reader's clock are wrong.
    ClockUntrusted = "clock-untrusted",
    /// The request cannot be built, or the gateway refuses one of its values as invalid. Detail: the value.
    RequestNotPossible = "request-not-possible",

    // ---- The connection to the gateway; the gateway did not process the request

    /// No connection to the gateway. Detail: the system's error.
    GatewayUnreachable = "gateway-unreachable",
    /// The gateway's certificate is not trusted. Detail: the error.
    GatewayUntrustedCertificate = "gateway-untrusted-certificate",
    /// The gateway's certificate has expired.
    GatewayCertificateExpired = "gateway-certificate-expired",
    /// The gateway refuses our certificate, or requires one that is not installed.
    GatewayOwnCertificateRefused = "gateway-own-certificate-refused",
    /// The gateway refuses our certificate, because it has expired.
    GatewayOwnCertificateExpired = "gateway-own-certificate-expired",
    /// The server is not a usable gateway, or the agent's own files for it are not usable. Detail: the error.
    GatewayNotUsable = "gateway-not-usable",
    /// The gateway refuses the access token.
    GatewayRefusesToken = "gateway-refuses-token",
    /// The gateway has nothing at the requested address.
    GatewayWrongAddress = "gateway-wrong-address",
    /// The gateway has too many requests and did not process this one. Detail: its description.
    GatewayThrottles = "gateway-throttles",
    /// The gateway does not know the transaction, and the time in which it could still arrive has passed.
    NeverReceived = "never-received",

    // ---- Why the outcome became unknown

    /// The request was sent, and no answer came. Detail: the error of the connection.
    GatewayNoAnswer = "gateway-no-answer",
    /// The gateway failed. Detail: its HTTP status.
    GatewayOutOfOrder = "gateway-out-of-order",
    /// The gateway's answer cannot be read, or contradicts itself. Detail: the fault.
    AnswerUnclear = "answer-unclear",
    /// The gateway's result code is not on any list. Detail: the code.
    CodeUnknown = "code-unknown",
    /// The gateway declined in an unusual way, so the decline must be confirmed. Detail: its description.
    DeclineInDoubt = "decline-in-doubt",
    /// The gateway answered about another payment, reference or kind of transaction. Detail: what differs.
    AnotherPaymentAnswered = "another-payment-answered",
    /// The gateway did not decide in time.
    NotDecidedInTime = "not-decided-in-time",
    /// The gateway approved another amount or currency. Detail: the amount.
    AnotherAmountApproved = "another-amount-approved",
    /// The gateway approved an amount that cannot be read.
    AmountUnreadable = "amount-unreadable",
    /// The gateway's result and its answer to the chip contradict each other.
    ChipContradicted = "chip-contradicted",
    /// A part was approved, and the till accepts no partial approval. Detail: the amount.
    PartialNotTaken = "partial-not-taken",
    /// The chip refused after the issuer had approved.
    CardRefused = "card-refused",
    /// The card was removed, or the reader was lost, before the chip confirmed the approval.
    CardLost = "card-lost",
    /// The terminal was restarted before it recorded the gateway's answer.
    RestartedBeforeAnswer = "restarted-before-answer",
    /// The terminal was restarted before the chip confirmed the approval.
    RestartedBeforeCard = "restarted-before-card",
    /// The signature was refused at the counter.
    SignatureRefused = "signature-refused",
    /// The signature was not compared in time.
    SignatureNotChecked = "signature-not-checked",
    /// The till answered that it does not accept the approved amount.
    NotTaken = "not-taken",
    /// The till did not answer in time whether it accepts the approved amount.
    TillSilent = "till-silent",
    /// A person decided to reverse the payment, because the journal is an outdated copy.
    TakenBackByPerson = "taken-back-by-person",
    /// The request had not been sent when the outdated copy of the journal was made.
    NotSentInCopy = "not-sent-in-copy",
    /// The transaction was unconfirmed when the outdated copy of the journal was made. It is looked up, and never sent
    /// again.
    OpenInCopy = "open-in-copy",
    /// The signature was being compared when the outdated copy of the journal was made.
    SignatureInCopy = "signature-in-copy",
    /// The agent was waiting for the till's answer when the outdated copy of the journal was made.
    TillInCopy = "till-in-copy",

    // ---- Why an unknown outcome is not resolved yet

    /// The gateway cannot be asked about the outcome. Detail: the error.
    GatewayCannotBeAsked = "gateway-cannot-be-asked",
    /// The till has not answered yet whether it accepts the approved amount.
    TillNotHeard = "till-not-heard",
    /// The gateway has not decided yet.
    NotDecidedYet = "not-decided-yet",
    /// The gateway does not know the transaction, or does not know it yet.
    NotListedYet = "not-listed-yet",
    /// The gateway does not know the reversal, or does not know it yet.
    ReversalNotListed = "reversal-not-listed",
    /// An earlier reversal may still be carried out.
    ReversalOnItsWay = "reversal-on-its-way",
    /// A reversal could not be sent, or has no answer. Detail: the error.
    ReversalNotAnswered = "reversal-not-answered",
    /// A reversal is held back until it is known whether the payment was given back in another way. Detail: the cause.
    ReversalHeldBack = "reversal-held-back",
    /// One attempt was declined, and an earlier one may still be carried out.
    EarlierTryOpen = "earlier-try-open",
    /// An answer arrived that belongs to another request.
    StrayAnswer = "stray-answer",

    // ---- Why a person must decide

    /// The gateway refuses the reversal. Detail: the payment id and the gateway's words.
    ReversalRefused = "reversal-refused",
    /// The gateway reversed or carried out an amount other than the requested one. Detail: the ids.
    AnotherAmountDone = "another-amount-done",
    /// The gateway reversed only a part of the requested amount. Detail: the amount.
    ReversedInPart = "reversed-in-part",
    /// The gateway lists the transaction as another kind. Detail: the id and the kind.
    AnotherKindListed = "another-kind-listed",
    /// The gateway's lists and answers contradict each other. Detail: the id or the reference.
    ListContradicts = "list-contradicts",
    /// The gateway received or approved the transaction and no longer lists it. Detail: the id.
    NotListedAnyMore = "not-listed-any-more",
    /// The gateway does not say to which reference or payment a transaction belongs. Detail: the id.
    WhoseIsNotSaid = "whose-is-not-said",
    /// The refund of the part that the till did not accept was declined, or could not be made. Detail: the cause.
    RestNotGivenBack = "rest-not-given-back",
    /// The gateway refunded less than the part that the till did not accept. Detail: the amount.
    RestGivenBackInPart = "rest-given-back-in-part",
    /// The gateway carried out the transaction twice. Detail: the ids.
    DoneTwice = "done-twice",
    /// The gateway holds a second payment in addition to the one that is kept. Detail: the id.
    SecondPayment = "second-payment",
    /// The journal is an outdated copy and does not know the outcome. Detail: the number of the transaction.
    OldCopy = "old-copy",
    /// The payment may already have been given back by its payment id. Detail: the payment id.
    GivenBackById = "given-back-by-id",
    /// The transaction began under settings that the terminal no longer has. Detail: the reason.
    NotSettledHere = "not-settled-here",

    // ---- Records made by earlier versions

    /// A record made by an earlier version, which wrote a whole sentence. Detail: the sentence.
    Recorded = "recorded",
}

impl Reason {
    /// Returns the reason with this word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.as_str() == word)
    }

    /// Adds an external detail.
    #[must_use]
    pub fn with(self, detail: impl fmt::Display) -> Cause {
        Cause { reason: self, detail: Some(detail.to_string()).filter(|detail| !detail.is_empty()) }
    }

    /// Returns whether the card, the till or a person at the counter caused the event. There is then no fault to
    /// repair.
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

    /// Returns whether the cause is a fault of the terminal or of its connection to the gateway, which a technician can
    /// repair. Neither the customer nor the issuer caused it, so it is never reported as "declined" or "cancelled".
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
                | Self::GatewayNotUsable
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

/// A reason with its detail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The reason.
    pub reason: Reason,
    /// External text or a fact, as the reason's description says.
    pub detail: Option<String>,
}

impl From<Reason> for Cause {
    fn from(reason: Reason) -> Self {
        Self { reason, detail: None }
    }
}

/// Writes the form that the journal and the log use: the word, a colon and the detail. Earlier versions can read it,
/// because they accept any text there.
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.detail, self.reason) {
            (Some(detail), Reason::Recorded) => f.write_str(detail),
            (Some(detail), reason) => write!(f, "{reason}: {detail}"),
            (None, reason) => f.write_str(reason.as_str()),
        }
    }
}

/// Reads the form that [`Cause`]'s `Display` writes, and any sentence written by an earlier version.
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
