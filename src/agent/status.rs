//! How the terminal stands: the facts that the agent and its devices have, in the closed words of `till::status`.
//!
//! Each device's own enumeration becomes the till's here, and nowhere else; its sentence comes with it.

use crate::gateway::certificate::Expiring;
use crate::gateway::{Contact, Fault, Soon};
use crate::journal;
use crate::printer::port::{Need, Standing as PrinterStands};
use crate::printer::status::Trouble;
use crate::reader::{ReaderIdentity, Unready};
use crate::sale::Standing;
use crate::till::{
    Attention, AttentionView, ClockState, ClockView, GatewayState, GatewayView, JournalState, JournalView, KeysView,
    PrinterState, PrinterView, ReaderState, ReaderView, StatusView,
};

use super::{Active, Agent};

/// Below this a day of sales does not fit, and something else is filling the disk.
const LITTLE_ROOM: u64 = 16 << 20;

/// The reader, as it was heard last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// Nothing was heard yet.
    Opening,
    Ready(ReaderIdentity),
    Unready(Unready),
}

impl Reader {
    pub(super) fn is_ready(&self) -> bool {
        matches!(self, Self::Ready(_))
    }

    pub(super) fn identity(&self) -> Option<&ReaderIdentity> {
        if let Self::Ready(identity) = self { Some(identity) } else { None }
    }

    /// Why it cannot be used, with what to do.
    pub(super) fn trouble(&self) -> Option<String> {
        match self {
            Self::Ready(_) => None,
            Self::Opening => Some("the reader is being opened".to_owned()),
            Self::Unready(why) => Some(why.to_string()),
        }
    }

    pub(super) fn state(&self) -> ReaderState {
        match self {
            Self::Ready(_) => ReaderState::Ready,
            Self::Opening => ReaderState::Opening,
            Self::Unready(why) => match why {
                Unready::Absent { .. } => ReaderState::Absent,
                Unready::WrongDevice { .. } => ReaderState::OtherDevice,
                Unready::NotListed { .. } => ReaderState::NotListed,
                Unready::NoCardKey { .. } => ReaderState::NoKeys,
                Unready::ClearCardData { .. } => ReaderState::ClearData,
                Unready::NotEncrypting { .. } => ReaderState::NotEncrypting,
                Unready::Flooding { .. } => ReaderState::Flooding,
                Unready::Restarting { .. } => ReaderState::Restarting,
            },
        }
    }
}

/// What a reader needs attention for.
pub(super) fn of_reader(state: ReaderState) -> Option<Attention> {
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

/// The gateway's state.
pub(super) fn state_of(contact: &Contact) -> GatewayState {
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
            // What was closed at once was closed by somebody who may answer the next time.
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

/// What the gateway needs attention for.
pub(super) fn of_gateway(state: GatewayState) -> Option<Attention> {
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

/// What ends soon, or does not fit.
fn of_soon(soon: Soon) -> Attention {
    match soon {
        Soon::FilesUnused => Attention::GatewayFilesUnused,
        Soon::Ends(Expiring::Gateway | Expiring::Intermediate) => Attention::GatewayCertificateEnds,
        Soon::Ends(Expiring::Ca) => Attention::CaCertificateEnds,
        Soon::Ends(Expiring::Client) => Attention::OwnCertificateEnds,
        Soon::Ends(Expiring::Token) => Attention::TokenEnds,
    }
}

/// A printer's state.
fn state_of_printer(stands: &PrinterStands) -> PrinterState {
    match stands {
        PrinterStands::NotUsedYet => PrinterState::NotUsedYet,
        PrinterStands::Ready => PrinterState::Ready,
        PrinterStands::Needs(need) => match need {
            Need::PaperNearEnd => PrinterState::PaperLow,
            Need::Unreachable { .. } => PrinterState::Absent,
            Need::Interrupted { .. } => PrinterState::Interrupted,
            Need::Silent => PrinterState::Silent,
            Need::Trouble(trouble) => match trouble {
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

fn of_printer(state: PrinterState) -> Option<Attention> {
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

/// What the last write that failed makes of the journal, or the room on its disk.
fn journal_view(trouble: Option<(JournalState, String)>, free_bytes: Option<u64>) -> JournalView {
    let (state, text) = match (trouble, free_bytes) {
        (Some(trouble), _) => trouble,
        (None, Some(free)) if free < LITTLE_ROOM => {
            let text = format!(
                "the journal's disk has {} MiB left; free space on it (df -h, journalctl --vacuum-size=50M), and never delete the journal",
                free >> 20
            );
            (JournalState::NearlyFull, text)
        }
        (None, _) => (JournalState::Ready, "written".to_owned()),
    };
    JournalView { state, text, free_bytes }
}

pub(super) fn of_journal(state: JournalState) -> Option<Attention> {
    match state {
        JournalState::Ready => None,
        JournalState::NearlyFull => Some(Attention::JournalNearlyFull),
        JournalState::Full => Some(Attention::JournalFull),
        JournalState::CannotBeWritten => Some(Attention::JournalCannotBeWritten),
    }
}

/// What a failed write says of the journal.
pub(super) fn state_of_journal(error: &journal::Error) -> JournalState {
    if error.is_full() { JournalState::Full } else { JournalState::CannotBeWritten }
}

impl Agent {
    /// The terminal's state for somebody who `hears` of some tills: of the others' sales nothing is told.
    pub(super) fn status(&self, hears: impl Fn(&str) -> bool) -> StatusView {
        let is_theirs = |active: &&Active| hears(&active.sale.order().till);
        let theirs = || self.sales.values().filter(is_theirs);
        let current = self.at_reader.and_then(|number| self.sales.get(&number)).filter(is_theirs);
        let unconfirmed: Vec<_> =
            theirs().map(|active| self.view_of(&active.sale)).filter(|view| view.state.is_unconfirmed()).collect();
        let (reader, gateway, printers) = (self.reader_view(), self.gateway_view(), self.printer_views());
        let (clock, journal) = (self.clock_view(), self.journal_view());

        let mut attention: Vec<AttentionView> = Vec::new();
        let mut device = |code: Option<Attention>, text: &str| {
            attention.extend(code.map(|code| AttentionView::new(code, text)));
        };
        device(of_reader(reader.state), &reader.text);
        device(of_journal(journal.state), &journal.text);
        device((clock.state == ClockState::Untrusted).then_some(Attention::ClockUntrusted), &clock.text);
        device(of_gateway(gateway.state), &gateway.text);
        for printer in &printers {
            let name =
                if printers.len() == 1 { "the printer".to_owned() } else { format!("the printer {}", printer.name) };
            device(of_printer(printer.state), &format!("{name} is {}", printer.text));
        }
        for view in &unconfirmed {
            let code =
                if view.needs_person.is_some() { Attention::SaleNeedsPerson } else { Attention::SaleUnconfirmed };
            let text = format!("sale {} of till {}: {}", view.reference, view.till, view.text);
            attention.push(of_sale(code, text, view.reference.as_str(), &view.till));
        }
        attention.extend(self.old_copy.attention());
        let soon = self.gateway.attention();
        attention.extend(soon.into_iter().map(|(soon, text)| AttentionView::new(of_soon(soon), text)));
        attention.extend(self.clocks_differ().map(|text| AttentionView::new(Attention::ClocksDiffer, text)));
        for active in theirs().filter(|active| active.sale.standing() == Standing::AtSignature) {
            let order = active.sale.order();
            let text =
                format!("sale {} of till {} waits for its signature to be compared", order.reference, order.till);
            attention.push(of_sale(Attention::SignatureAwaited, text, order.reference.as_str(), &order.till));
        }
        attention.extend(self.keys_run_out().map(|text| AttentionView::new(Attention::ReaderKeysLow, text)));
        StatusView {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            terminal_id: self.config.terminal.id.clone(),
            currency: Some(self.config.terminal.currency.clone()),
            ready: reader.state == ReaderState::Ready
                && !matches!(journal.state, JournalState::Full | JournalState::CannotBeWritten)
                && clock.state != ClockState::Untrusted
                && !gateway.state.stops_sales(),
            busy: self.at_reader.is_some() || self.typing.is_some(),
            attention,
            reader,
            gateway,
            printers,
            clock,
            journal,
            // Those who serve it say how it stands.
            http: None,
            logging: self.log_view(),
            health: Some(self.health()),
            current: current.map(|active| self.view_of(&active.sale)),
            unconfirmed,
        }
    }

    /// The gateway.
    fn gateway_view(&self) -> GatewayView {
        let contact = self.gateway.contact();
        let text = match &contact {
            Contact::NotAskedYet => "not asked yet".to_owned(),
            Contact::Connected => "connected".to_owned(),
            Contact::Answers => "answers".to_owned(),
            Contact::Throttles => "the gateway has too many requests; wait a moment".to_owned(),
            Contact::Fault(fault) => fault.to_string(),
        };
        GatewayView {
            state: state_of(&contact),
            text,
            url: self.config.gateway.url.clone(),
            cause: contact.fault().map(|fault| fault.as_str().to_owned()),
        }
    }

    fn printer_views(&self) -> Vec<PrinterView> {
        let view = |(config, printer): (&crate::config::Printer, &crate::printer::Handle)| PrinterView {
            name: config.name.clone(),
            port: config.port.clone(),
            state: state_of_printer(&printer.standing()),
            text: printer.state(),
            waiting: printer.waiting(),
        };
        self.printers().map(view).collect()
    }

    /// A printer's state, for a receipt that is on its way to it.
    pub(super) fn printer_state(printer: &crate::printer::Handle) -> PrinterState {
        state_of_printer(&printer.standing())
    }

    fn clock_view(&self) -> ClockView {
        let time = self.clock.local();
        let (state, text) = match (&time, self.clock.trusted_board(), self.clocks_differ()) {
            (None, ..) => (ClockState::Untrusted, self.clock.untrusted()),
            (Some(_), _, Some(differ)) => (ClockState::Differs, differ),
            (Some(_), Some(_), None) => (ClockState::Ready, "the board's".to_owned()),
            (Some(_), None, None) => {
                (ClockState::ReaderServes, "the reader's serves: the board's cannot be right".to_owned())
            }
        };
        ClockView { state, text, time: time.map(|time| time.to_rfc3339_opts(chrono::SecondsFormat::Secs, false)) }
    }

    fn journal_view(&self) -> JournalView {
        let fault = self.journal_fault.as_ref().map(|fault| (fault.state, fault.why.clone()));
        journal_view(fault.or_else(|| self.answered.trouble()), self.journal.free_bytes())
    }

    /// Keys are used up one by one, and a reader without them takes no card: warned of while there is time to inject
    /// new ones.
    pub(super) fn keys_run_out(&self) -> Option<String> {
        let KeysView { card, pin } = self.keys_left?;
        let fewest = card.into_iter().chain(pin).min()?;
        (fewest < self.config.reader.warn_keys_left)
            .then(|| format!("the reader has keys for {fewest} more payments: have new ones injected"))
    }

    /// The reader and its latest change.
    fn reader_view(&self) -> ReaderView {
        let state = self.reader_state.state();
        match self.reader_state.identity() {
            None => ReaderView::new(state, self.reader_state.trouble().unwrap_or_default()),
            Some(identity) => self.with_its_change(
                identity,
                ReaderView {
                    serial: Some(identity.serial.clone()),
                    model: Some(identity.model.clone()),
                    firmware: Some(identity.firmware.clone()),
                    keys_left: self.keys_left,
                    ..ReaderView::new(
                        state,
                        format!("{} {}, serial {}", identity.model, identity.firmware, identity.serial),
                    )
                },
            ),
        }
    }
}

fn of_sale(code: Attention, text: String, reference: &str, till: &str) -> AttentionView {
    AttentionView { sale: Some(reference.to_owned()), till: Some(till.to_owned()), ..AttentionView::new(code, text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::NotEncrypting;

    fn text(word: &str) -> String {
        word.to_owned()
    }

    #[test]
    fn each_fault_of_the_gateway_has_its_state() {
        use GatewayState as S;
        let cause = || text("os error 101");
        let alert = || crate::gateway::Alert(rustls::AlertDescription::UnknownCA);
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
            let reader = Reader::Unready(unready);
            assert_eq!(reader.state(), state, "{reader:?}");
        }
        assert_eq!(Reader::Opening.state(), ReaderState::Opening);
    }

    #[test]
    fn each_look_of_a_printer_has_its_state() {
        let unreachable = Need::Unreachable { port: text("x"), cause: text("y") };
        let interrupted = Need::Interrupted { port: text("x"), cause: text("y") };
        for (need, state) in [
            (Need::PaperNearEnd, PrinterState::PaperLow),
            (unreachable, PrinterState::Absent),
            (interrupted, PrinterState::Interrupted),
            (Need::Silent, PrinterState::Silent),
            (Need::Trouble(Trouble::CoverOpen), PrinterState::CoverOpen),
            (Need::Trouble(Trouble::PaperOut), PrinterState::NoPaper),
            (Need::Trouble(Trouble::Cutter), PrinterState::PaperJam),
            (Need::Trouble(Trouble::Broken), PrinterState::Error),
            (Need::Trouble(Trouble::Pausing), PrinterState::Pausing),
            (Need::Trouble(Trouble::Offline), PrinterState::Offline),
        ] {
            assert_eq!(state_of_printer(&PrinterStands::Needs(need)), state);
        }
        assert_eq!(state_of_printer(&PrinterStands::NotUsedYet), PrinterState::NotUsedYet);
        assert_eq!(state_of_printer(&PrinterStands::Ready), PrinterState::Ready);
    }

    #[test]
    fn the_journal_is_full_by_sqlites_word_and_nearly_so_by_the_disks() {
        let failed = |cause: &str| journal::Error::Failed { cause: text(cause) };
        assert_eq!(state_of_journal(&failed("database or disk is full")), JournalState::Full);
        assert_eq!(state_of_journal(&failed("disk I/O error")), JournalState::CannotBeWritten);
        let view = |free| journal_view(None, free).state;
        assert_eq!((view(None), view(Some(LITTLE_ROOM))), (JournalState::Ready, JournalState::Ready));
        assert_eq!(view(Some(LITTLE_ROOM - 1)), JournalState::NearlyFull);
        let full = journal_view(Some((JournalState::Full, text("full"))), Some(0));
        assert_eq!((full.state, full.text.as_str()), (JournalState::Full, "full"), "what failed counts more");
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
