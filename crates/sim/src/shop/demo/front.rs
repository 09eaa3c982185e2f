//! The demo's front: the real `pos-front`. It serves the cashier's page on this machine only, and sends requests to the
//! demo's agent.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::shop::Shop;
use crate::shop::program::{Program, ProgramFile};

/// The time limit for the front to listen.
const READY_WITHIN: Duration = Duration::from_secs(20);

/// A running front. It is killed when this value is dropped.
pub(super) struct Front {
    pub(super) program: Program,
    /// The address of the page.
    pub(super) url: String,
}

impl Front {
    /// Starts the front for this shop, and waits until the page can be opened.
    pub(super) async fn start(file: PathBuf, shop: &Shop) -> io::Result<Self> {
        let at = |name: &str| shop.folder().join(name);
        let config = format!(
            "agent = {:?}\nstate = {:?}\ncontrol = {:?}\n\n[listen]\nhttp = [\"127.0.0.1:0\"]\n",
            shop.socket(),
            at("front"),
            at("front.sock")
        );
        std::fs::write(at("front.toml"), config)?;
        let mut program = Program::start(ProgramFile::alone(file), at("front.toml"), at("front.log"))?;
        let url = program.until((&["status"], READY_WITHIN), listens_at).await?;
        Ok(Self { program, url })
    }
}

/// Returns the address in the output of `pos-front status`.
fn listens_at(status: &str) -> Option<String> {
    let status: Value = serde_json::from_str(status).ok()?;
    Some(status["listens"][0].as_str()?.to_owned())
}
