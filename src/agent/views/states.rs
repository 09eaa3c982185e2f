//! The states of the devices in the codes of `till::status`, and the attention code for each. Only this module converts
//! a device's own states to the till's.

use crate::till::{Attention, GatewayState, JournalState, PrinterState, ReaderState};
use pos_gateway::certificate::Expiring;
use pos_gateway::{Contact, Fault, Soon};
use pos_printer::port::{PrinterNeed, PrinterStands};
use pos_printer::status::Trouble;
use pos_words::{Message, Sentence};

/// Returns the attention code for a reader's state.
pub(in crate::agent) fn of_reader(state: ReaderState) -> Option<Attention> {
    Some(match state {
        ReaderState::Ready => return None,
        ReaderState::Opening => Attention::ReaderOpening,
        ReaderState::Absent => Attention::ReaderAbsent,
        ReaderState::OtherDevice => Attention::ReaderOtherDevice,
        ReaderState::NotListed => Attention::ReaderNotListed,
        ReaderState::NoKeys => Attention::ReaderNoKeys,
        ReaderState::ClearData => Attention::ReaderClearData,
        ReaderState::NotEncrypting => Attention::ReaderNotEncrypting,
        ReaderState::Flooding => Attention::ReaderFlooding,
        ReaderState::Restarting => Attention::ReaderRestarting,
    })
}

/// Returns the gateway's state.
pub(in crate::agent) fn state_of(contact: &Contact) -> GatewayState {
    match contact {
        Contact::NotAskedYet => GatewayState::NotAskedYet,
        Contact::Connected => GatewayState::Connected,
        Contact::Answers => GatewayState::Answers,
        Contact::Throttles => GatewayState::Throttles,
        Contact::Fault(fault) => match fault {
            Fault::NameNotResolved
            | Fault::NameServerSilent
            | Fault::ConnectionRefused
            | Fault::NoRoute { .. }
            | Fault::ConnectTimedOut { .. }
            | Fault::ConnectionLost { .. } => GatewayState::Unreachable,
            Fault::CertificateExpired => GatewayState::CertificateExpired,
            Fault::CertificateNotValidYet
            | Fault::CertificateOfAnotherHost
            | Fault::CaNotTrusted
            | Fault::CaNotPinned
            | Fault::CertificateRevoked
            | Fault::CertificateNotAcceptable => GatewayState::UntrustedCertificate,
            Fault::OwnCertificateMissing | Fault::OwnCertificateRefused { .. } => GatewayState::OwnCertificateRefused,
            Fault::OwnCertificateExpired => GatewayState::OwnCertificateExpired,
            // A server that closes a connection immediately may answer next time.
            Fault::ClosedAtOnce
            | Fault::AnswerNotWhole
            | Fault::AnswerTooLong { .. }
            | Fault::AnswerTimedOut { .. }
            | Fault::AfterRedirect(_) => GatewayState::NoAnswer,
            Fault::OutOfOrder { .. } => GatewayState::OutOfOrder,
            Fault::TokenRefused { .. } => GatewayState::RefusesToken,
            Fault::TlsVersion
            | Fault::TlsRefused { .. }
            | Fault::TlsFailed
            | Fault::NoHttp
            | Fault::RedirectsElsewhere
            | Fault::RedirectsTwice
            | Fault::MayNotFollow { .. }
            | Fault::NotAPath { .. }
            | Fault::NoHost
            | Fault::Files { .. } => GatewayState::NotUsable,
        },
    }
}

/// Returns the attention code for the gateway's state.
pub(in crate::agent) fn of_gateway(state: GatewayState) -> Option<Attention> {
    Some(match state {
        GatewayState::Answers | GatewayState::Connected | GatewayState::NotAskedYet => return None,
        GatewayState::Throttles => Attention::GatewayThrottles,
        GatewayState::Unreachable => Attention::GatewayUnreachable,
        GatewayState::NoAnswer => Attention::GatewayNoAnswer,
        GatewayState::OutOfOrder => Attention::GatewayOutOfOrder,
        GatewayState::RefusesToken => Attention::GatewayRefusesToken,
        GatewayState::UntrustedCertificate => Attention::GatewayUntrustedCertificate,
        GatewayState::CertificateExpired => Attention::GatewayCertificateExpired,
        GatewayState::OwnCertificateRefused => Attention::GatewayOwnCertificateRefused,
        GatewayState::OwnCertificateExpired => Attention::GatewayOwnCertificateExpired,
        GatewayState::NotUsable => Attention::GatewayNotUsable,
    })
}

/// Returns the attention code for a certificate, key or token that expires soon or does not match.
pub(in crate::agent) fn of_soon(soon: Soon) -> Attention {
    match soon {
        Soon::FilesUnused => Attention::GatewayFilesUnused,
        Soon::Ends(Expiring::Gateway | Expiring::Intermediate) => Attention::GatewayCertificateEnds,
        Soon::Ends(Expiring::Ca) => Attention::CaCertificateEnds,
        Soon::Ends(Expiring::Client) => Attention::OwnCertificateEnds,
        Soon::Ends(Expiring::Token) => Attention::TokenEnds,
    }
}

/// Returns a printer's state.
pub(in crate::agent) fn state_of_printer(stands: &PrinterStands) -> PrinterState {
    match stands {
        PrinterStands::NotUsedYet => PrinterState::NotUsedYet,
        PrinterStands::Ready => PrinterState::Ready,
        PrinterStands::Needs(need) => match need {
            PrinterNeed::PaperNearEnd => PrinterState::PaperLow,
            PrinterNeed::Unreachable { .. } => PrinterState::Absent,
            PrinterNeed::Interrupted { .. } => PrinterState::Interrupted,
            PrinterNeed::Silent => PrinterState::Silent,
            PrinterNeed::Trouble(trouble) => match trouble {
                Trouble::CoverOpen => PrinterState::CoverOpen,
                Trouble::PaperOut => PrinterState::NoPaper,
                Trouble::Cutter => PrinterState::PaperJam,
                Trouble::Broken => PrinterState::Error,
                Trouble::Pausing => PrinterState::Pausing,
                Trouble::Offline => PrinterState::Offline,
            },
        },
    }
}

pub(in crate::agent) fn of_printer(state: PrinterState) -> Option<Attention> {
    Some(match state {
        PrinterState::Ready | PrinterState::NotUsedYet => return None,
        PrinterState::NoPaper => Attention::PrinterNoPaper,
        PrinterState::PaperLow => Attention::PrinterPaperLow,
        PrinterState::CoverOpen => Attention::PrinterCoverOpen,
        PrinterState::PaperJam => Attention::PrinterPaperJam,
        PrinterState::Error => Attention::PrinterError,
        PrinterState::Pausing => Attention::PrinterPausing,
        PrinterState::Offline => Attention::PrinterOffline,
        PrinterState::Absent => Attention::PrinterAbsent,
        PrinterState::Interrupted => Attention::PrinterInterrupted,
        PrinterState::Silent => Attention::PrinterSilent,
    })
}

pub(in crate::agent) fn of_journal(state: JournalState) -> Option<Attention> {
    match state {
        JournalState::Ready => None,
        JournalState::NearlyFull => Some(Attention::JournalNearlyFull),
        JournalState::Full => Some(Attention::JournalFull),
        JournalState::CannotBeWritten => Some(Attention::JournalCannotBeWritten),
    }
}

/// Returns the journal's state after a failed write.
pub(in crate::agent) fn state_of_journal(error: &pos_journal::Error) -> JournalState {
    if error.is_full() { JournalState::Full } else { JournalState::CannotBeWritten }
}

/// Returns the sentence for a device's attention code, with the device's own words.
pub(in crate::agent) fn sentence_of(code: Option<Attention>, why: Sentence) -> Sentence {
    match code {
        Some(code) => message_of(code).with("why", why),
        None => why,
    }
}

/// Returns the sentence for an attention code. Some codes have a second sentence for other facts.
pub(in crate::agent) fn message_of(code: Attention) -> Message {
    use Attention as A;
    use Message as M;
    match code {
        A::ReaderOpening => M::AttentionReaderOpening,
        A::ReaderAbsent => M::AttentionReaderAbsent,
        A::ReaderOtherDevice => M::AttentionReaderOtherDevice,
        A::ReaderNotListed => M::AttentionReaderNotListed,
        A::ReaderNoKeys => M::AttentionReaderNoKeys,
        A::ReaderClearData => M::AttentionReaderClearData,
        A::ReaderNotEncrypting => M::AttentionReaderNotEncrypting,
        A::ReaderFlooding => M::AttentionReaderFlooding,
        A::ReaderRestarting => M::AttentionReaderRestarting,
        A::ReaderCardLeft => M::AttentionReaderCardLeft,
        A::ReaderKeysLow => M::AttentionReaderKeysLow,
        A::GatewayUnreachable => M::AttentionGatewayUnreachable,
        A::GatewayNoAnswer => M::AttentionGatewayNoAnswer,
        A::GatewayOutOfOrder => M::AttentionGatewayOutOfOrder,
        A::GatewayThrottles => M::AttentionGatewayThrottles,
        A::GatewayRefusesRequest => M::AttentionGatewayRefusesRequest,
        A::GatewayRefusesToken => M::AttentionGatewayRefusesToken,
        A::GatewayUntrustedCertificate => M::AttentionGatewayUntrustedCertificate,
        A::GatewayCertificateExpired => M::AttentionGatewayCertificateExpired,
        A::GatewayOwnCertificateRefused => M::AttentionGatewayOwnCertificateRefused,
        A::GatewayOwnCertificateExpired => M::AttentionGatewayOwnCertificateExpired,
        A::GatewayNotUsable => M::AttentionGatewayNotUsable,
        A::GatewayCertificateEnds => M::AttentionGatewayCertificateEnds,
        A::CaCertificateEnds => M::AttentionCaCertificateEnds,
        A::OwnCertificateEnds => M::AttentionOwnCertificateEnds,
        A::TokenEnds => M::AttentionTokenEnds,
        A::GatewayFilesUnused => M::AttentionGatewayFilesUnused,
        A::PrinterNoPaper => M::AttentionPrinterNoPaper,
        A::PrinterPaperLow => M::AttentionPrinterPaperLow,
        A::PrinterCoverOpen => M::AttentionPrinterCoverOpen,
        A::PrinterPaperJam => M::AttentionPrinterPaperJam,
        A::PrinterError => M::AttentionPrinterError,
        A::PrinterPausing => M::AttentionPrinterPausing,
        A::PrinterOffline => M::AttentionPrinterOffline,
        A::PrinterAbsent => M::AttentionPrinterAbsent,
        A::PrinterInterrupted => M::AttentionPrinterInterrupted,
        A::PrinterSilent => M::AttentionPrinterSilent,
        A::ClockUntrusted => M::AttentionClockUntrusted,
        A::ClocksDiffer => M::AttentionClocksDiffer,
        A::JournalFull => M::AttentionJournalFull,
        A::JournalNearlyFull => M::AttentionJournalNearlyFull,
        A::JournalCannotBeWritten => M::AttentionJournalCannotBeWritten,
        A::JournalOldCopy => M::AttentionJournalOldCopy,
        A::JournalNotCompared => M::AttentionJournalNotCompared,
        A::JournalBeganAnew => M::AttentionJournalBeganAnew,
        A::SaleUnconfirmed | A::SaleNeedsPerson => M::AttentionSaleUnconfirmed,
        A::SignatureAwaited => M::AttentionSignatureAwaited,
        A::ConfirmationAwaited => M::AttentionConfirmationAwaited,
        A::TillPortClosed => M::AttentionTillPortClosed,
        A::FleetMessage => M::AttentionFleetMessage,
        A::FleetSettingsTrial => M::AttentionFleetSettingsTrial,
        A::FleetSettingsReturned => M::AttentionFleetSettingsReturned,
        A::FleetSettingsDrift => M::AttentionFleetSettingsDrift,
        A::FleetSettingsUnusable => M::AttentionFleetSettingsUnusable,
        A::FleetKeysUnusable => M::AttentionFleetKeysUnusable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::devices::HeardReader;
    use pos_reader::{NotEncrypting, Unready};
    use pos_words::{Language, Words};

    fn text(word: &str) -> String {
        word.to_owned()
    }

    #[test]
    fn each_fault_of_the_gateway_has_its_state() {
        use GatewayState as S;
        let cause = || text("os error 101");
        let alert = || pos_gateway::Alert(rustls::AlertDescription::UnknownCA);
        for (fault, word, state) in [
            (Fault::NameNotResolved, "name-not-resolved", S::Unreachable),
            (Fault::NameServerSilent, "name-server-silent", S::Unreachable),
            (Fault::ConnectionRefused, "connection-refused", S::Unreachable),
            (Fault::NoRoute { cause: cause() }, "no-route", S::Unreachable),
            (Fault::ConnectTimedOut { ms: 5000 }, "connect-timed-out", S::Unreachable),
            (Fault::ConnectionLost { cause: cause() }, "connection-lost", S::Unreachable),
            (Fault::CertificateExpired, "certificate-expired", S::CertificateExpired),
            (Fault::CertificateNotValidYet, "certificate-not-valid-yet", S::UntrustedCertificate),
            (Fault::CertificateOfAnotherHost, "certificate-of-another-host", S::UntrustedCertificate),
            (Fault::CaNotTrusted, "ca-not-trusted", S::UntrustedCertificate),
            (Fault::CaNotPinned, "ca-not-pinned", S::UntrustedCertificate),
            (Fault::CertificateRevoked, "certificate-revoked", S::UntrustedCertificate),
            (Fault::CertificateNotAcceptable, "certificate-not-acceptable", S::UntrustedCertificate),
            (Fault::OwnCertificateMissing, "own-certificate-missing", S::OwnCertificateRefused),
            (Fault::OwnCertificateRefused { alert: alert() }, "own-certificate-refused", S::OwnCertificateRefused),
            (Fault::OwnCertificateExpired, "own-certificate-expired", S::OwnCertificateExpired),
            (Fault::TlsVersion, "tls-version", S::NotUsable),
            (Fault::TlsRefused { alert: alert() }, "tls-refused", S::NotUsable),
            (Fault::TlsFailed, "tls-failed", S::NotUsable),
            (Fault::NoHttp, "no-http", S::NotUsable),
            (Fault::ClosedAtOnce, "closed-at-once", S::NoAnswer),
            (Fault::AnswerNotWhole, "answer-not-whole", S::NoAnswer),
            (Fault::AnswerTooLong { most: 1 }, "answer-too-long", S::NoAnswer),
            (Fault::AnswerTimedOut { ms: 1 }, "answer-timed-out", S::NoAnswer),
            (Fault::RedirectsElsewhere, "redirects-elsewhere", S::NotUsable),
            (Fault::RedirectsTwice, "redirects-twice", S::NotUsable),
            (Fault::MayNotFollow { why: cause() }, "may-not-follow", S::NotUsable),
            (Fault::AfterRedirect(Box::new(Fault::ConnectionRefused)), "after-redirect", S::NoAnswer),
            (Fault::TokenRefused { status: 401 }, "token-refused", S::RefusesToken),
            (Fault::OutOfOrder { status: 503 }, "out-of-order", S::OutOfOrder),
            (Fault::NotAPath { path: cause() }, "not-a-path", S::NotUsable),
            (Fault::NoHost, "no-host", S::NotUsable),
            (Fault::Files { why: cause() }, "files", S::NotUsable),
        ] {
            assert_eq!((fault.as_str(), state_of(&Contact::Fault(fault.clone()))), (word, state), "{fault}");
            assert!(of_gateway(state).is_some(), "{fault} needs somebody");
        }
    }

    #[test]
    fn each_trouble_of_the_reader_has_its_state() {
        let (port, cause, serial) = (|| text("/dev/x"), || text("gone"), || text("30003638"));
        for (unready, state) in [
            (Unready::Absent { port: port(), cause: cause() }, ReaderState::Absent),
            (Unready::WrongDevice { port: port(), protocol: "x", cause: cause() }, ReaderState::OtherDevice),
            (Unready::NotListed { serial: serial() }, ReaderState::NotListed),
            (Unready::NoCardKey { serial: serial() }, ReaderState::NoKeys),
            (Unready::ClearCardData { serial: serial() }, ReaderState::ClearData),
            (Unready::NotEncrypting { serial: serial(), fault: NotEncrypting::Zeros }, ReaderState::NotEncrypting),
            (Unready::Flooding { port: port(), wait_s: 1 }, ReaderState::Flooding),
            (Unready::Restarting { cause: cause() }, ReaderState::Restarting),
        ] {
            let reader = HeardReader::Unready(unready);
            assert_eq!(reader.state(), state, "{reader:?}");
        }
        assert_eq!(HeardReader::Opening.state(), ReaderState::Opening);
    }

    #[test]
    fn each_look_of_a_printer_has_its_state() {
        let unreachable = PrinterNeed::Unreachable { port: text("x"), cause: text("y") };
        let interrupted = PrinterNeed::Interrupted { port: text("x"), cause: text("y") };
        for (need, state) in [
            (PrinterNeed::PaperNearEnd, PrinterState::PaperLow),
            (unreachable, PrinterState::Absent),
            (interrupted, PrinterState::Interrupted),
            (PrinterNeed::Silent, PrinterState::Silent),
            (PrinterNeed::Trouble(Trouble::CoverOpen), PrinterState::CoverOpen),
            (PrinterNeed::Trouble(Trouble::PaperOut), PrinterState::NoPaper),
            (PrinterNeed::Trouble(Trouble::Cutter), PrinterState::PaperJam),
            (PrinterNeed::Trouble(Trouble::Broken), PrinterState::Error),
            (PrinterNeed::Trouble(Trouble::Pausing), PrinterState::Pausing),
            (PrinterNeed::Trouble(Trouble::Offline), PrinterState::Offline),
        ] {
            assert_eq!(state_of_printer(&PrinterStands::Needs(need)), state);
        }
        assert_eq!(state_of_printer(&PrinterStands::NotUsedYet), PrinterState::NotUsedYet);
        assert_eq!(state_of_printer(&PrinterStands::Ready), PrinterState::Ready);
    }

    /// Checks that a device's own words are always shown. In German, they follow a sentence about the state. The test
    /// fails if a message lacks one of its arguments.
    #[test]
    fn each_attention_has_a_sentence_in_each_language() {
        let why = "no route to host";
        let devices = ReaderState::ALL.iter().map(|state| of_reader(*state));
        let devices = devices.chain(GatewayState::ALL.iter().map(|state| of_gateway(*state)));
        let devices = devices.chain([JournalState::Full, JournalState::CannotBeWritten].map(of_journal));
        let soon = [Expiring::Gateway, Expiring::Intermediate, Expiring::Ca, Expiring::Client, Expiring::Token];
        let soon = soon.map(Soon::Ends).into_iter().chain([Soon::FilesUnused]).map(|soon| Some(of_soon(soon)));
        let devices: Vec<_> = devices.chain(soon).flatten().collect();
        let printers: Vec<_> = PrinterState::ALL.iter().filter_map(|state| of_printer(*state)).collect();
        // These codes have other facts, or none.
        let others = |code: &&Attention| !devices.contains(code) && !printers.contains(code);
        let others: Vec<_> = Attention::ALL.iter().filter(others).copied().collect();
        for language in Language::ALL {
            let words = Words::new(*language);
            let has_its_own = |text: &str| *language == Language::English || text.len() > why.len() + 5;
            for code in &devices {
                let text = words.tell(&sentence_of(Some(*code), why.into()));
                let is_waiting = matches!(code, Attention::ReaderOpening | Attention::GatewayThrottles);
                assert!((is_waiting || text.contains(why)) && has_its_own(&text), "{code:?}: {text}");
            }
            for code in &printers {
                let text = words.tell(&message_of(*code).with("name", " bar").with("why", why));
                assert!(text.contains(why) && text.contains(" bar") && has_its_own(&text), "{code:?}: {text}");
            }
            let facts = ["why", "detail", "count", "free", "seconds", "reference", "till", "state", "author", "text"];
            let facts = facts.into_iter().chain(["version", "settings"]);
            for code in &others {
                let said = facts.clone().fold(message_of(*code).into(), |said: Sentence, name| said.with(name, "7"));
                assert!(words.tell(&said).len() > 10 || *code == Attention::TillPortClosed, "{code:?}");
            }
        }
    }

    #[test]
    fn what_needs_attention_has_the_word_of_its_part_and_state() {
        let word = |part: &str, state: &str| format!("{part}-{state}");
        for state in ReaderState::ALL {
            let code = of_reader(*state).map(Attention::as_str);
            assert!(code.is_none_or(|code| code == word("reader", state.as_str())), "{code:?}");
        }
        for state in GatewayState::ALL {
            let code = of_gateway(*state).map(Attention::as_str);
            assert!(code.is_none_or(|code| code == word("gateway", state.as_str())), "{code:?}");
            assert!(code.is_some() || !state.stops_sales(), "not ready, and nobody hears why: {state:?}");
        }
        for state in PrinterState::ALL {
            let code = of_printer(*state).map(Attention::as_str);
            assert!(code.is_none_or(|code| code == word("printer", state.as_str())), "{code:?}");
        }
        for state in JournalState::ALL {
            let code = of_journal(*state).map(Attention::as_str);
            assert!(code.is_none_or(|code| code == word("journal", state.as_str())), "{code:?}");
        }
    }
}
