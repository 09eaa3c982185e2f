//! The certificates of a fleet, made by another program than `pos-fleet`.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use tempfile::TempDir;

pub(crate) struct Pki {
    dir: TempDir,
    ca: CertifiedIssuer<'static, KeyPair>,
}

impl Pki {
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "a fleet");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        fs::write(dir.path().join("ca.pem"), ca.pem()).unwrap();
        Self { dir, ca }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn ca(&self) -> PathBuf {
        self.dir.path().join("ca.pem")
    }

    /// Makes a certificate with this name. Names of servers are those of this machine.
    pub(crate) fn make(&self, name: &str, is_server: bool) -> (PathBuf, PathBuf) {
        let names = if is_server { vec!["localhost".to_owned(), "127.0.0.1".to_owned()] } else { Vec::new() };
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        let usage = if is_server { ExtendedKeyUsagePurpose::ServerAuth } else { ExtendedKeyUsagePurpose::ClientAuth };
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate().unwrap();
        let (certificate, key_file) = self.files(name);
        fs::write(&certificate, params.signed_by(&key, &self.ca).unwrap().pem()).unwrap();
        fs::write(&key_file, key.serialize_pem()).unwrap();
        (certificate, key_file)
    }

    pub(crate) fn files(&self, name: &str) -> (PathBuf, PathBuf) {
        (self.dir.path().join(format!("{name}.pem")), self.dir.path().join(format!("{name}-key.pem")))
    }
}
