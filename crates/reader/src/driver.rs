//! The selection of a reader's family. Only this file names the families. The configuration names one of them, and the
//! task that owns the port runs a session with it.
//!
//! A new family needs a module next to `miura`, a line in each part of this file, and a name in the configuration. Its
//! settings implement [`Family`](crate::family::Family). It is also a Cargo feature, so that a board may leave it out.

use super::ReaderSettings;
#[cfg(feature = "miura")]
use super::miura::{self, MiuraSettings};
#[cfg(feature = "neo2")]
use super::neo2::{self, Neo2Settings};
use super::session::ReaderSession;
#[cfg(feature = "vipa")]
use super::vipa::{self, VipaSettings};
use crate::capability::Capability;
use crate::config::{self, ReaderProtocol, SredForm};
use crate::recording::RecordedWire;

pub use super::outbox::{Frame, PortAction};

#[cfg(not(any(feature = "miura", feature = "vipa", feature = "neo2")))]
compile_error!("choose a family of readers with one of the features miura, vipa and neo2");

/// A family of readers, with its own settings.
#[derive(Clone, Debug)]
pub enum ReaderFamily {
    /// Miura MPI.
    #[cfg(feature = "miura")]
    Miura(MiuraSettings),
    /// Verifone VIPA.
    #[cfg(feature = "vipa")]
    Vipa(VipaSettings),
    /// ID TECH NEO2.
    #[cfg(feature = "neo2")]
    Neo2(Neo2Settings),
}

/// The program was built without the family of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this program was built without the readers of {}; install the complete program", .0.name())]
pub struct FamilyLeftOut(pub ReaderProtocol);

impl ReaderFamily {
    /// Returns the family that the configuration names.
    ///
    /// # Errors
    /// Fails if the program was built without it. The check of the configuration refuses this.
    pub fn of(section: &config::Reader) -> Result<Self, FamilyLeftOut> {
        Ok(match section.protocol {
            #[cfg(feature = "miura")]
            ReaderProtocol::MiuraMpi => Self::Miura(MiuraSettings::of(section)),
            #[cfg(feature = "vipa")]
            ReaderProtocol::VerifoneVipa => Self::Vipa(VipaSettings::of(section)),
            #[cfg(feature = "neo2")]
            ReaderProtocol::IdtechNeo2 => Self::Neo2(Neo2Settings::of(section)),
            #[allow(unreachable_patterns, reason = "a complete program has every family")]
            left_out => return Err(FamilyLeftOut(left_out)),
        })
    }

    /// Returns a family with its default settings, for questions about a reader's identity. `None` if the program was
    /// built without it.
    #[must_use]
    pub fn plain(protocol: ReaderProtocol) -> Option<Self> {
        Some(match protocol {
            #[cfg(feature = "miura")]
            ReaderProtocol::MiuraMpi => Self::Miura(MiuraSettings::default()),
            #[cfg(feature = "vipa")]
            ReaderProtocol::VerifoneVipa => Self::Vipa(VipaSettings::default()),
            #[cfg(feature = "neo2")]
            ReaderProtocol::IdtechNeo2 => Self::Neo2(Neo2Settings::default()),
            #[allow(unreachable_patterns, reason = "a complete program has every family")]
            _ => return None,
        })
    }

    /// Creates a session with a reader of this family.
    #[must_use]
    pub fn session(self, settings: ReaderSettings) -> ReaderSession {
        match self {
            #[cfg(feature = "miura")]
            Self::Miura(miura) => ReaderSession::new(settings, miura),
            #[cfg(feature = "vipa")]
            Self::Vipa(vipa) => ReaderSession::new(settings, vipa),
            #[cfg(feature = "neo2")]
            Self::Neo2(neo2) => ReaderSession::new(settings, neo2),
        }
    }

    /// Returns the family's line for a recording.
    #[must_use]
    pub fn recorded_wire(&self) -> &'static dyn RecordedWire {
        match self {
            #[cfg(feature = "miura")]
            Self::Miura(_) => &miura::RECORDING,
            #[cfg(feature = "vipa")]
            Self::Vipa(_) => &vipa::RECORDING,
            #[cfg(feature = "neo2")]
            Self::Neo2(_) => &neo2::RECORDING,
        }
    }
}

impl Default for ReaderFamily {
    /// Returns the first family of the program, for a device at a port without a configured reader.
    fn default() -> Self {
        let first = ReaderProtocol::ALL.into_iter().find_map(|(protocol, _)| Self::plain(protocol));
        first.expect("a program without a family does not compile")
    }
}

impl ReaderProtocol {
    /// Returns whether the program was built with the family.
    #[must_use]
    pub fn is_included(self) -> bool {
        ReaderFamily::plain(self).is_some()
    }

    /// Returns what the family's readers can do. Of a family that was left out, nothing is known.
    #[must_use]
    pub fn capabilities(self) -> &'static [Capability] {
        match self {
            #[cfg(feature = "miura")]
            Self::MiuraMpi => miura::CAPABILITIES,
            #[cfg(feature = "vipa")]
            Self::VerifoneVipa => vipa::CAPABILITIES,
            #[cfg(feature = "neo2")]
            Self::IdtechNeo2 => neo2::CAPABILITIES,
            #[allow(unreachable_patterns, reason = "a complete program has every family")]
            _ => &[],
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

#[cfg(test)]
mod tests {
    use pos_daemon::settings::FaultList;
    use serde::Deserialize;
    use serde::de::value::{Error, MapDeserializer};

    use super::*;
    use crate::identify::attempts;

    #[test]
    fn a_family_that_was_left_out_is_refused_and_never_asked() {
        for (protocol, name) in ReaderProtocol::ALL {
            let included = match protocol {
                ReaderProtocol::MiuraMpi => cfg!(feature = "miura"),
                ReaderProtocol::VerifoneVipa => cfg!(feature = "vipa"),
                ReaderProtocol::IdtechNeo2 => cfg!(feature = "neo2"),
            };
            let keys = [("protocol", name), ("port", "/dev/ttyACM0")];
            let section = config::Reader::deserialize(MapDeserializer::<_, Error>::new(keys.into_iter())).unwrap();
            assert_eq!(ReaderFamily::of(&section).is_ok(), included, "{name}");
            assert_eq!(attempts("/dev/ttyACM0", None).iter().any(|(asked, _)| *asked == protocol), included, "{name}");
            let mut found = FaultList::default();
            config::check_values(&mut found, &section);
            let is_refused = found.0.iter().any(|fault| fault.key == "reader.protocol");
            assert_eq!(is_refused, !included, "{name}: {:?}", found.0);
        }
    }
}
