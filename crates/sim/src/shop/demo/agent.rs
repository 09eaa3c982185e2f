//! The demo's agent: the real `pos-agent`, which takes the sales. When its power was cut here it gets it back.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::program::Program;
use crate::shop::Shop;

/// How long it may take to find its devices; a debug build on a slow machine needs a second.
const READY_WITHIN: Duration = Duration::from_secs(20);

/// Starts the agent for this shop and waits until it can take a sale.
pub(super) async fn start(file: PathBuf, shop: &Shop) -> io::Result<Program> {
    let mut agent = Program::start(file, shop.config(), shop.folder().join("agent.log"))?;
    let ready = |said: &str| said.contains("\"ready\":true").then_some(());
    agent.until((&["status", "--json"], READY_WITHIN), ready).await?;
    Ok(agent)
}
