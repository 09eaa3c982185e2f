//! What this process holds in memory stays its own: sealed cards on their way, the gateway's token, keys of
//! certificates.

use std::io;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// No core dump of it, no debugger on it, and nobody but root reads its memory, environment or files through `/proc`,
/// not even another process of the same user (prctl(2), `PR_SET_DUMPABLE`). A child begins anew: one that is this
/// program does the same again, and no other is given a secret.
///
/// # Errors
/// When the system refuses, which Linux never does by itself.
pub(super) fn keep_to_ourselves() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}
