//! The selection of a reader's family. Only this file names the families. The configuration names one of them, and the
//! task that owns the port runs a session with it.
//!
//! A new family needs a module next to `miura`, a line in each part of this file, and a name in the configuration. Its
//! settings implement [`Family`](crate::family::Family).

use super::ReaderSettings;
use super::miura::{self, MiuraSettings};
use super::neo2::{self, Neo2Settings};
use super::session::ReaderSession;
use super::vipa::{self, VipaSettings};
use crate::capability::Capability;
use crate::config::{self, ReaderProtocol, SredForm};
use crate::recording::RecordedWire;

pub use super::outbox::{Frame, PortAction};

/// A family of readers, with its own settings.
#[derive(Clone, Debug)]
pub enum ReaderFamily {
    /// Miura MPI.
    Miura(MiuraSettings),
    /// Verifone VIPA.
    Vipa(VipaSettings),
    /// ID TECH NEO2.
    Neo2(Neo2Settings),
}

impl ReaderFamily {
    /// Returns the family that the configuration names.
    #[must_use]
    pub fn of(section: &config::Reader) -> Self {
        match section.protocol {
            ReaderProtocol::MiuraMpi => Self::Miura(MiuraSettings::of(section)),
            ReaderProtocol::VerifoneVipa => Self::Vipa(VipaSettings::of(section)),
            ReaderProtocol::IdtechNeo2 => Self::Neo2(Neo2Settings::of(section)),
        }
    }

    /// Returns a family with its default settings, for questions about a reader's identity.
    #[must_use]
    pub fn plain(protocol: ReaderProtocol) -> Self {
        match protocol {
            ReaderProtocol::MiuraMpi => Self::Miura(MiuraSettings::default()),
            ReaderProtocol::VerifoneVipa => Self::Vipa(VipaSettings::default()),
            ReaderProtocol::IdtechNeo2 => Self::Neo2(Neo2Settings::default()),
        }
    }

    /// Creates a session with a reader of this family.
    #[must_use]
    pub fn session(self, settings: ReaderSettings) -> ReaderSession {
        match self {
            Self::Miura(miura) => ReaderSession::new(settings, miura),
            Self::Vipa(vipa) => ReaderSession::new(settings, vipa),
            Self::Neo2(neo2) => ReaderSession::new(settings, neo2),
        }
    }

    /// Returns the family's line for a recording.
    #[must_use]
    pub fn recorded_wire(&self) -> &'static dyn RecordedWire {
        match self {
            Self::Miura(_) => &miura::RECORDING,
            Self::Vipa(_) => &vipa::RECORDING,
            Self::Neo2(_) => &neo2::RECORDING,
        }
    }
}

impl Default for ReaderFamily {
    /// Returns the default family, for a device at a port without a configured reader.
    fn default() -> Self {
        Self::Miura(MiuraSettings::default())
    }
}

impl ReaderProtocol {
    /// Returns what the family's readers can do.
    #[must_use]
    pub fn capabilities(self) -> &'static [Capability] {
        match self {
            Self::MiuraMpi => miura::CAPABILITIES,
            Self::VerifoneVipa => vipa::CAPABILITIES,
            Self::IdtechNeo2 => neo2::CAPABILITIES,
        }
    }

    /// Returns the forms of sealed card data from which the configuration must choose, with their names. None if the
    /// family has only one.
    #[must_use]
    pub fn sred_forms(self) -> &'static [(SredForm, &'static str)] {
        match self {
            Self::MiuraMpi => &[],
            Self::VerifoneVipa => &[(SredForm::IvFirst, "iv-first"), (SredForm::DataOnly, "data-only")],
            Self::IdtechNeo2 => &[(SredForm::Elements, "elements")],
        }
    }

    /// Returns the name of a form in the configuration, if the protocol has it.
    #[must_use]
    pub fn name_of_form(self, form: SredForm) -> Option<&'static str> {
        self.sred_forms().iter().find(|(known, _)| *known == form).map(|(_, name)| *name)
    }

    /// Returns the line speeds of the family's readers at a tty in baud, the usual one first (readers: 3.1, 4.1).
    #[must_use]
    pub fn speeds(self) -> &'static [u32] {
        match self {
            Self::MiuraMpi => &[115_200],
            Self::VerifoneVipa => &[57_600, 115_200],
            Self::IdtechNeo2 => &[115_200, 38_400, 9_600],
        }
    }

    /// Returns the usual line speed of a tty, in baud.
    #[must_use]
    pub fn usual_baud(self) -> u32 {
        self.speeds().first().copied().unwrap_or_else(pos_daemon::settings::default_baud)
    }

    /// Returns what a till may ask for and the family's readers cannot do, after "cannot".
    #[must_use]
    pub fn limits(self) -> Vec<&'static str> {
        let capabilities = self.capabilities();
        let missing = Capability::OF_TILLS.iter().filter(|needed| !capabilities.contains(needed));
        missing.map(|needed| needed.words()).collect()
    }

    /// Returns whether no sale with a real reader of the family is known yet.
    #[must_use]
    pub fn is_experimental(self) -> bool {
        self != Self::MiuraMpi
    }
}
