//! Who the terminal is at the broker. The certificate can change while the uplink runs.

use std::sync::Arc;
use std::time::SystemTime;

use rustls::ClientConfig;

use crate::signer::ResultSigner;

/// The certificate for the next connection.
#[derive(Clone, Debug)]
pub struct Pass {
    /// The trusted CA, and the certificate with its key.
    pub tls: Arc<ClientConfig>,
    /// The end of the certificate.
    pub ends: SystemTime,
    /// The certificate's key, for results. Without it the terminal takes no commands.
    pub signer: Option<Arc<ResultSigner>>,
}

/// Who the terminal is.
pub trait Identity: Send {
    /// Returns the certificate to try next, or the reason why there is none. The next wait for a change may then end
    /// it.
    fn pass(&mut self) -> Result<Pass, String>;
    /// Records that the broker has accepted this certificate.
    fn accepted(&mut self);
    /// Records that no connection was made with this certificate.
    fn not_accepted(&mut self);
    /// Waits until there is another certificate. Dropping the future loses nothing.
    fn changed(&mut self) -> impl Future<Output = ()> + Send;
}

impl Identity for Pass {
    fn pass(&mut self) -> Result<Pass, String> {
        Ok(self.clone())
    }

    fn accepted(&mut self) {}

    fn not_accepted(&mut self) {}

    async fn changed(&mut self) {
        std::future::pending().await
    }
}
