//! The protection of this process's memory, which holds the gateway's token, the keys of certificates and, for a short
//! time, encrypted card data.

use std::io;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// Forbids core dumps and debuggers. Only root can then read the process's memory, environment or files through
/// `/proc`; another process of the same user cannot (prctl(2), `PR_SET_DUMPABLE`). A program that a child process
/// starts is not protected. If it is this program, it protects itself again; other programs receive no secret.
///
/// # Errors
/// Returns an error if the system refuses, which Linux does not do in normal operation.
pub(super) fn keep_to_ourselves() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}
