//! The settings of the Unix socket: its path alone, or a table with its path and rights. The rights are for users who
//! may open the socket and are neither root nor named in a `[[till.peer]]`.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};

use pos_daemon::settings::{ConfigFault, check};
use pos_till_api::is_till_name;

use super::Rights;

/// The till of callers at the socket that act for no other till. It means the terminal itself.
pub const LOCAL: &str = "local";

/// The number that the system reports for users who have no number in the agent's user namespace (user_namespaces(7);
/// proc_sys_kernel(5), overflowuid).
const NOBODY: u32 = 65_534;

/// Returns whether this number may stand for any user.
#[must_use]
pub fn is_nameless(uid: u32) -> bool {
    matches!(uid, NOBODY | u32::MAX)
}

/// Checks the name of a till.
pub(super) fn till_name(key: &str, name: &str) -> Result<(), ConfigFault> {
    check(is_till_name(name), key, "must be 1 to 32 letters, digits, - or _", "write it as \"till-1\"")
}

/// The Unix socket for the command line and for tills on the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Socket {
    /// The path of the socket.
    pub path: PathBuf,
    /// The rights of the group that may open the socket. Root and the agent's own user always have every right.
    pub rights: Rights,
    /// True if an operator must be signed in when `[operators] required` demands it. This includes root, for anything
    /// that moves money.
    pub operator: bool,
}

impl Default for Socket {
    fn default() -> Self {
        Self::at(Path::new("/run/pos-agent/till.sock"))
    }
}

impl Socket {
    /// Returns a socket with the usual rights for its group.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), rights: Rights::group(), operator: true }
    }
}

/// The settings of the socket as a table.
#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct Table {
    /// The path of the socket.
    path: PathBuf,
    /// The rights of the group that may open the socket. The default is the set `group`. Root and the agent's own user
    /// always have every right.
    #[cfg_attr(feature = "docs", schemars(with = "Vec<String>"))]
    rights: Rights,
    /// Like `operator` of a `[[till.token]]`, for all callers without a `[[till.peer]]`. This includes root, for
    /// anything that moves money.
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
