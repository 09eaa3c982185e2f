//! Access to a Unix socket by its mode and its group, and the remedy for a user without access.
//!
//! Groups are read from `/etc/group` and `/etc/passwd`, because a static program does not contain the C library's
//! functions for them.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// The group's write permission, which is needed to connect to a socket.
const CONNECT: u32 = 0o020;
/// The group's execute permission, which is needed to reach a file in a folder.
const ENTER: u32 = 0o010;

/// The owner, group and mode of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketAccess {
    /// The permission bits.
    pub mode: u32,
    /// The uid of the owner.
    pub owner: u32,
    /// The gid of the group.
    pub group: u32,
}

impl SocketAccess {
    /// Reads the access data of a socket, without following a link.
    ///
    /// # Errors
    /// Returns an error if the socket does not exist, or if this user may not enter its folder.
    pub fn of(path: &Path) -> io::Result<Self> {
        let facts = fs::symlink_metadata(path)?;
        Ok(Self { mode: facts.permissions().mode() & 0o777, owner: facts.uid(), group: facts.gid() })
    }

    /// Checks whether the users of the socket's group may connect.
    #[must_use]
    pub fn is_open_to_its_group(self) -> bool {
        self.mode & CONNECT != 0
    }

    /// Returns the name of the socket's group, or its number if it has no name.
    #[must_use]
    pub fn group_name(self) -> String {
        called(&read("/etc/group"), self.group)
    }

    /// Checks whether the files of this board name a user in the group in addition to the owner. A service may be in
    /// the group only through its unit.
    #[must_use]
    pub fn has_a_user_in_its_group(self) -> bool {
        has_a_user(&read("/etc/group"), &read("/etc/passwd"), self)
    }
}

/// Returns the remedy for a user who may not use this socket.
#[must_use]
pub fn way_in(socket: &Path) -> String {
    let root = "run this command as root";
    let seen = SocketAccess::of(socket).map(|socket| (socket, CONNECT)).or_else(|error| match socket.parent() {
        Some(folder) => SocketAccess::of(folder).map(|folder| (folder, ENTER)),
        None => Err(error),
    });
    match seen {
        Ok((place, needed)) if place.group != 0 && place.mode & needed != 0 => {
            let user = user_name(&read("/etc/passwd"), rustix::process::geteuid().as_raw());
            let group = place.group_name();
            format!("join its group {group}: as root, run usermod -aG {group} {user}, then log in again; or {root}")
        }
        _ => root.to_owned(),
    }
}

/// Returns the uid of the user with this name.
#[must_use]
pub fn user_number(name: &str) -> Option<u32> {
    number_of(&read("/etc/passwd"), name)
}

/// Returns the uid of the user with this name, and the number of its own group.
#[must_use]
pub fn user_and_group(name: &str) -> Option<(u32, u32)> {
    let users = read("/etc/passwd");
    let user = number_of(&users, name)?;
    Some((user, fields_of(&users, user)?.get(3)?.parse().ok()?))
}

/// Returns the name of the user with this uid, or the number if it has no name.
#[must_use]
pub fn user_called(number: u32) -> String {
    called(&read("/etc/passwd"), number)
}

/// Reads a file. A board without the file has no names.
fn read(file: &str) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// Returns the fields of the line whose third field is this number.
fn fields_of(file: &str, number: u32) -> Option<Vec<&str>> {
    let lines = file.lines().map(|line| line.split(':').collect::<Vec<_>>());
    lines.into_iter().find(|fields| fields.get(2).is_some_and(|field| field.parse() == Ok(number)))
}

fn number_of(users: &str, name: &str) -> Option<u32> {
    let mut lines = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    lines.find(|fields| fields.first() == Some(&name))?.get(2)?.parse().ok()
}

/// Returns the name of a group or user, or its number if it has no name.
fn called(names: &str, number: u32) -> String {
    let found = fields_of(names, number).and_then(|fields| fields.first().copied());
    found.map_or_else(|| number.to_string(), str::to_owned)
}

/// Returns the name of a user, for a command that a person copies.
fn user_name(users: &str, number: u32) -> String {
    let found = fields_of(users, number).and_then(|fields| fields.first().copied());
    found.map_or_else(|| "NAME".to_owned(), str::to_owned)
}

fn has_a_user(groups: &str, users: &str, place: SocketAccess) -> bool {
    let named = fields_of(groups, place.group).and_then(|fields| fields.get(3).copied());
    let owner = user_name(users, place.owner);
    let named = named.is_some_and(|users| users.split(',').any(|user| !user.trim().is_empty() && user != owner));
    let by_number = |line: &str| {
        let fields: Vec<&str> = line.split(':').collect();
        let number = |place: usize| fields.get(place).and_then(|field| field.parse::<u32>().ok());
        number(3) == Some(place.group) && number(2).is_some_and(|user| user != place.owner)
    };
    named || users.lines().any(by_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUPS: &str = "root:x:0:\npos-agent:x:990:\ntills:x:991:pos-agent,anna\nown:x:992:pos-agent\n";
    const USERS: &str = "root:x:0:0::/root:/bin/sh\npos-agent:x:980:990::/:/bin/false\npos-front:x:981:993::/:\n";

    fn place(group: u32) -> SocketAccess {
        SocketAccess { mode: 0o660, owner: 980, group }
    }

    #[test]
    fn a_group_is_called_by_its_name() {
        assert_eq!(called(GROUPS, 990), "pos-agent");
        assert_eq!(called(GROUPS, 4711), "4711");
        assert_eq!((number_of(USERS, "pos-front"), number_of(USERS, "pos")), (Some(981), None));
        assert_eq!((user_name(USERS, 980).as_str(), user_name(USERS, 5).as_str()), ("pos-agent", "NAME"));
    }

    #[test]
    fn a_group_without_anybody_is_told_from_one_with_somebody() {
        for (group, has) in [(990, false), (991, true), (992, false), (993, true), (4711, false)] {
            assert_eq!(has_a_user(GROUPS, USERS, place(group)), has, "{group}");
        }
    }

    #[test]
    fn a_socket_that_its_group_may_not_use_is_for_root_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("till.sock");
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(!SocketAccess::of(&path).unwrap().is_open_to_its_group());
        assert_eq!(way_in(&path), "run this command as root");
        assert_eq!(way_in(&folder.path().join("nothing/here")), "run this command as root");
    }
}
