//! The states of the devices in the codes of `till::status`, and the attention that each needs. Only this module
//! converts a device's own enumeration to the till's.

use crate::till::{Attention, GatewayState, JournalState, PrinterState, ReaderState};
use pos_gateway::certificate::Expiring;
use pos_gateway::{Contact, Fault, Soon};
use pos_printer::port::{PrinterNeed, PrinterStands};
use pos_printer::status::Trouble;

/// Returns the attention that a reader's state needs.
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
            // A server that closes a connection immediately may answer the next time.
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
            | Fault::Files { .. } => GatewayState::CannotBeAsked,
        },
    }
}

/// Returns the attention that the gateway's state needs.
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
        GatewayState::CannotBeAsked => Attention::GatewayCannotBeAsked,
    })
}

/// Returns the attention for what expires soon, or does not match.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::devices::HeardReader;
    use pos_reader::{NotEncrypting, Unready};

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
            (Fault::TlsVersion, "tls-version", S::CannotBeAsked),
            (Fault::TlsRefused { alert: alert() }, "tls-refused", S::CannotBeAsked),
            (Fault::TlsFailed, "tls-failed", S::CannotBeAsked),
            (Fault::NoHttp, "no-http", S::CannotBeAsked),
            (Fault::ClosedAtOnce, "closed-at-once", S::NoAnswer),
            (Fault::AnswerNotWhole, "answer-not-whole", S::NoAnswer),
            (Fault::AnswerTooLong { most: 1 }, "answer-too-long", S::NoAnswer),
            (Fault::AnswerTimedOut { ms: 1 }, "answer-timed-out", S::NoAnswer),
            (Fault::RedirectsElsewhere, "redirects-elsewhere", S::CannotBeAsked),
            (Fault::RedirectsTwice, "redirects-twice", S::CannotBeAsked),
            (Fault::MayNotFollow { why: cause() }, "may-not-follow", S::CannotBeAsked),
            (Fault::AfterRedirect(Box::new(Fault::ConnectionRefused)), "after-redirect", S::NoAnswer),
            (Fault::TokenRefused { status: 401 }, "token-refused", S::RefusesToken),
            (Fault::OutOfOrder { status: 503 }, "out-of-order", S::OutOfOrder),
            (Fault::NotAPath { path: cause() }, "not-a-path", S::CannotBeAsked),
            (Fault::NoHost, "no-host", S::CannotBeAsked),
            (Fault::Files { why: cause() }, "files", S::CannotBeAsked),
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
