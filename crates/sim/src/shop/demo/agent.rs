//! The demo's agent: the real `pos-agent`, which runs the transactions. After a power cut in the demo, it is started
//! again.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::shop::Shop;
use crate::shop::program::{Program, ProgramFile};

/// The time limit for the agent to find its devices; a debug build on a slow machine needs a second.
const READY_WITHIN: Duration = Duration::from_secs(20);

/// Starts the agent for this shop, and waits until it is ready for a transaction.
pub(super) async fn start(file: PathBuf, shop: &Shop) -> io::Result<Program> {
    let mut agent = Program::start(ProgramFile::alone(file), shop.config(), shop.folder().join("agent.log"))?;
    let ready = |said: &str| said.contains("\"ready\":true").then_some(());
    agent.until((&["status", "--json"], READY_WITHIN), ready).await?;
    Ok(agent)
}
