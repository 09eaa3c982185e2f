//! The protection of this process's memory. It holds encrypted card data for a short time, the gateway's token, and
//! keys of certificates.

use std::io;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// Forbids core dumps and debuggers. Only root can then read the process's memory, environment or files through
/// `/proc`; another process of the same user cannot (prctl(2), `PR_SET_DUMPABLE`). A new program in a child process
/// begins without this protection. If it is this program, it sets the protection again; other programs receive no
/// secret.
///
/// # Errors
/// When the system refuses, which Linux does not do in normal operation.
pub(super) fn keep_to_ourselves() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}
