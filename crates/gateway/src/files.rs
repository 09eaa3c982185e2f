//! The current content of the files that the settings name: CAs, our certificate and its key, the access token. All are
//! read again when one of them has changed, so replacing a file needs no restart.
//!
//! The client checks the files when a transaction begins, before a look-up or a reversal, and before each new
//! connection. It never checks them between a card and its request while a connection is open. New files are used
//! either all together or not at all. While they do not fit together (a new certificate with the old key), the earlier
//! ones stay in use, and the status says so. Files from systemd (`LoadCredential=`) change only with a restart.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::certificate::{Expiring, Expiry};
use super::clock::CertificateClock;
use super::tls::{self, Tls};
use super::token::{self, Token};
use super::verifier::Seen;
use super::{Certificate, Error};
use crate::config;

/// The files of one gateway.
#[derive(Debug)]
pub(super) struct Files {
    gateway: config::Gateway,
    credentials: Option<PathBuf>,
    clock: CertificateClock,
    seen: Seen,
    in_use: Mutex<InUse>,
}

#[derive(Debug)]
struct InUse {
    tls: Arc<Tls>,
    token: Option<Token>,
    /// A number that grows with each new set of files. A connection that was opened with a lower number is not used
    /// again.
    edition: u64,
    stamps: Vec<Stamp>,
    /// The reason why changed files are not in use.
    trouble: Option<String>,
}

/// The data that shows whether a file was replaced; `None` if the file cannot be read.
type Stamp = Option<(u64, u64, i64, i64)>;

impl Files {
    /// Reads all files except the token, which the caller has read.
    pub(super) fn new(
        gateway: &config::Gateway,
        credentials: Option<PathBuf>,
        token: Option<Token>,
        clock: CertificateClock,
    ) -> Result<Self, Error> {
        let seen = Seen::default();
        // The stamps are taken before the files are read, so that a change during the reading is noticed.
        let stamps = stamps(gateway, credentials.as_deref());
        let tls = tls::load(gateway, credentials.as_deref(), clock.clone(), seen.clone())?;
        let in_use = Mutex::new(InUse { tls: Arc::new(tls), token, edition: 0, stamps, trouble: None });
        Ok(Self { gateway: gateway.clone(), credentials, clock, seen, in_use })
    }

    /// Returns the settings of a new connection and their edition.
    pub(super) fn tls(&self) -> (Arc<Tls>, u64) {
        let in_use = self.in_use();
        (Arc::clone(&in_use.tls), in_use.edition)
    }

    pub(super) fn token(&self) -> Option<Token> {
        self.in_use().token.clone()
    }

    pub(super) fn edition(&self) -> u64 {
        self.in_use().edition
    }

    /// Reads the files again if one has changed.
    pub(super) fn refresh(&self) {
        let credentials = self.credentials.as_deref();
        let mut in_use = self.in_use();
        let stamps = stamps(&self.gateway, credentials);
        if stamps == in_use.stamps {
            return;
        }
        // Each change is tried only once, even if the files cannot be used. The next change has another stamp.
        in_use.stamps = stamps;
        let tls = tls::load(&self.gateway, credentials, self.clock.clone(), self.seen.clone());
        let read = tls.and_then(|tls| Ok((tls, Token::load_from(&self.gateway, credentials)?)));
        match read {
            Ok((tls, token)) => {
                tracing::info!("the gateway's changed files (CA, certificate, key, token) are now in use");
                in_use.tls = Arc::new(tls);
                in_use.token = Some(token);
                in_use.edition += 1;
                in_use.trouble = None;
            }
            Err(error) => {
                tracing::warn!(%error, "the gateway's changed files cannot be used; the earlier ones stay in use");
                in_use.trouble = Some(format!("changed files cannot be used, the earlier ones stay in use: {error}"));
            }
        }
    }

    /// Returns the reason why changed files are not in use.
    pub(super) fn trouble(&self) -> Option<String> {
        self.in_use().trouble.clone()
    }

    /// Returns the latest chain that the gateway showed.
    pub(super) fn chain(&self) -> Vec<Certificate> {
        self.seen.chain()
    }

    /// Returns every item that expires.
    pub(super) fn expiries(&self) -> Vec<Expiry> {
        let chain = self.chain();
        let in_use = self.in_use();
        let expiry = |what| move |certificate: &Certificate| Expiry { what, at: certificate.not_after };
        let root = |certificate: &&Certificate| in_use.tls.anchors.iter().all(|anchor| anchor.pin != certificate.pin);
        let mut found: Vec<Expiry> = chain.first().map(expiry(Expiring::Gateway)).into_iter().collect();
        found.extend(chain.iter().skip(1).filter(root).map(expiry(Expiring::Intermediate)));
        // An old CA may expire when the next one is already in the file, so only the latest expiry matters.
        let last = in_use.tls.anchors.iter().map(|anchor| anchor.not_after).max();
        found.extend(last.map(|at| Expiry { what: Expiring::Ca, at }));
        found.extend(in_use.tls.client.as_ref().map(expiry(Expiring::Client)));
        let token = in_use.token.as_ref().and_then(Token::expires);
        found.extend(token.map(|at| Expiry { what: Expiring::Token, at }));
        found
    }

    /// Returns every item that expires soon or has expired, with a sentence and its remedy.
    pub(super) fn warnings(&self) -> Vec<(Expiring, String)> {
        let (now, days) = (self.clock.unix_s(), self.gateway.expiry_warning_days);
        self.expiries().iter().filter_map(|expiry| Some((expiry.what, expiry.warning(now, days)?))).collect()
    }

    fn in_use(&self) -> MutexGuard<'_, InUse> {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stamps(gateway: &config::Gateway, credentials: Option<&Path>) -> Vec<Stamp> {
    let files = [
        Some(gateway.ca_file.clone()),
        gateway.client_certificate_file.clone(),
        gateway.client_key_file.clone(),
        token::place(gateway, credentials).ok(),
    ];
    let stamp = |path: PathBuf| {
        let facts = std::fs::metadata(path).ok()?;
        Some((facts.ino(), facts.len(), facts.ctime(), facts.ctime_nsec()))
    };
    files.into_iter().map(|path| path.and_then(stamp)).collect()
}
