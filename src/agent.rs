//! (to be written)

use std::future::Future;

use crate::config::Config;

/// (to be written)
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// (to be written)
    #[error("the agent is not built yet")]
    NotBuilt,
}

/// (to be written)
///
/// # Errors
/// (to be written)
pub async fn run(_config: Config, _shutdown: impl Future<Output = ()>) -> Result<(), Error> {
    Err(Error::NotBuilt)
}
