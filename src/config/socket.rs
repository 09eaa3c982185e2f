//! The Unix socket in the configuration: its path alone, or a table with its path and the rights of whoever may open it
//! and is neither root nor named in a `[[till.peer]]`.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::Rights;

/// The till of whoever is at the socket and stands for no other: the terminal itself.
pub const LOCAL: &str = "local";

/// What the system calls each user that it cannot name where the agent runs (user_namespaces(7); proc_sys_kernel(5),
/// overflowuid).
const NOBODY: u32 = 65_534;

/// Whether this is no user's number, but stands for any.
#[must_use]
pub fn is_nameless(uid: u32) -> bool {
    matches!(uid, NOBODY | u32::MAX)
}

/// The Unix socket for the command line and tills on the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Socket {
    /// Where it is.
    pub path: PathBuf,
    /// What the group that may open it may do. Root and the agent's own user may do everything, whatever is written
    /// here.
    pub rights: Rights,
    /// Whether somebody must be signed in where `[operators] required` asks for it; root too, for what moves money.
    pub operator: bool,
}

impl Default for Socket {
    fn default() -> Self {
        Self::at(Path::new("/run/pos-agent/till.sock"))
    }
}

impl Socket {
    /// A socket that its group may use as usual.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), rights: Rights::group(), operator: true }
    }
}

/// The socket as a table.
#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct Table {
    /// Where it is.
    path: PathBuf,
    /// What the group that may open it may do; without it the set `group`. Root and the agent's own user may do
    /// everything, whatever is written here.
    #[cfg_attr(feature = "docs", schemars(with = "Vec<String>"))]
    rights: Rights,
    /// As `operator` of a `[[till.token]]`, for all who have no `[[till.peer]]`; root too, for what moves money.
    operator: bool,
}

impl Default for Table {
    fn default() -> Self {
        let Socket { path, rights, operator } = Socket::default();
        Self { path, rights, operator }
    }
}

impl<'de> Deserialize<'de> for Socket {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PathOrTable;

        impl<'de> Visitor<'de> for PathOrTable {
            type Value = Socket;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path, or a table [till.socket] with path and rights")
            }

            fn visit_str<E>(self, path: &str) -> Result<Socket, E> {
                Ok(Socket::at(Path::new(path)))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Socket, A::Error> {
                let Table { path, rights, operator } = Table::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Socket { path, rights, operator })
            }
        }

        deserializer.deserialize_any(PathOrTable)
    }
}
