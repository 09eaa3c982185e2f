//! The log of the whole process at its finest, without what the simulators and the tills of a test say.

use std::io::{self, Write};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// To be named before anything is started: what is logged before it goes elsewhere.
pub(crate) static LOG: LazyLock<Log> = LazyLock::new(|| {
    let log = Log::default();
    let others = ["pos_sim", "hyper_util::client"].map(|others| (others, LevelFilter::OFF));
    let filter = Targets::new().with_default(LevelFilter::TRACE).with_targets(others);
    let writer = log.clone();
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(move || writer.clone());
    tracing_subscriber::registry().with(filter).with(lines).init();
    log
});

#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// So far, of all tests of this process.
    pub(crate) fn so_far(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
