//! Checks any bytes at the enrol port and in its answer: as a certificate request, as the body of a request, and as
//! changes of a good request and of a good certificate. A request that is read has the key that signed it. A terminal
//! stores a certificate only if it is for its key and its name, and otherwise changes no file.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use pos_broker::tls::Own;
use pos_fleet::ca::{Ca, Request, Shown};
use pos_fleet::enrol::read_body;
use pos_uplink::certificate::{Folder, Which};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, CertificateSigningRequestDer};
use tempfile::TempDir;

/// The number of bytes in an edit: two for an offset, and one for the change.
const EDIT: usize = 3;
const MOST_EDITS: usize = 64;
/// The file of a key whose certificate has not arrived.
const ASKED_KEY: &str = "asked-key.pem";
/// 2026-11-20, 12:00 UTC.
const NOON: Duration = Duration::from_secs(1_795_176_000);

/// A terminal's request, and the CA's answer.
struct Good {
    key: String,
    request: Vec<u8>,
    certificate: Vec<u8>,
    digest: Vec<u8>,
}

static GOOD: LazyLock<Good> = LazyLock::new(make);

fn make() -> Good {
    let folder = folder();
    let terminal = Folder::open(&folder.path().join("t-1"), &"t-1".parse().expect("a name")).expect("a folder");
    let asked = terminal.request().expect("a request");
    let request = Request::read(&asked).expect("a good request");
    let (certificate, key, crl) =
        (folder.path().join("ca.pem"), folder.path().join("ca-key.pem"), folder.path().join("crl.pem"));
    let files = Own { certificate: &certificate, key: &key };
    let now = SystemTime::UNIX_EPOCH + NOON;
    let ca = Ca::create(files, &crl, now, false).expect("a CA");
    let signed = ca.sign(&"t-1".parse().expect("a name"), &request, 90, now).expect("a certificate");
    Good {
        key: fs::read_to_string(folder.path().join("t-1").join(ASKED_KEY)).expect("a key"),
        request: CertificateSigningRequestDer::from_pem_slice(asked.as_bytes()).expect("PEM").to_vec(),
        certificate: CertificateDer::from_pem_slice(signed.pem.as_bytes()).expect("PEM").to_vec(),
        digest: request.digest().to_vec(),
    }
}

/// Creates a folder in memory, where syncs cost nothing.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    folder.expect("a folder")
}

/// Checks that the conditions above hold for these bytes.
pub fn holds(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for request in [Request::read(&text).ok(), Request::read(&pem("CERTIFICATE REQUEST", bytes)).ok()] {
        assert!(request.is_none_or(|request| request.digest().len() == 32));
    }
    if let Ok((code, request)) = read_body(bytes) {
        assert_eq!((code.len(), request.digest().len()), (32, 32));
    }
    let _ = Shown::read(bytes);
    let changed = pem("CERTIFICATE REQUEST", &edited(&GOOD.request, bytes));
    if let Ok(request) = Request::read(&changed) {
        assert_eq!(request.digest(), GOOD.digest, "nobody signed this request");
    }
    let certificate = edited(&GOOD.certificate, bytes);
    let _ = Shown::read(&certificate);
    is_stored_or_refused(&text);
    is_stored_or_refused(&pem("CERTIFICATE", &certificate));
}

/// Gives a certificate to the terminal that has asked.
fn is_stored_or_refused(answer: &str) {
    let folder = folder();
    fs::write(folder.path().join(ASKED_KEY), &GOOD.key).expect("a file of the test");
    let terminal = Folder::look(folder.path(), &"t-1".parse().expect("a name"));
    let stored = terminal.store_next(answer);
    for days in [0, 60, 400, 40_000] {
        let _ = terminal.need(SystemTime::UNIX_EPOCH + NOON + Duration::from_secs(days * 24 * 3600));
    }
    match stored {
        Ok(validity) => {
            let pair = terminal.pair(Which::Next).expect("a stored pair").expect("a stored pair");
            assert_eq!(pair.validity, validity);
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            let names: Vec<_> = fs::read_dir(folder.path()).expect("a folder").flatten().collect();
            assert!(names.len() == 1 && names[0].file_name() == ASKED_KEY, "{error}, and yet a file was changed");
        }
    }
}

fn edited(good: &[u8], edits: &[u8]) -> Vec<u8> {
    let mut changed = good.to_vec();
    for edit in edits.chunks_exact(EDIT).take(MOST_EDITS) {
        let place = (usize::from(edit[0]) << 8 | usize::from(edit[1])) % changed.len();
        changed[place] ^= edit[2];
    }
    changed
}

/// Writes bytes as PEM (RFC 7468).
fn pem(label: &str, der: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = format!("-----BEGIN {label}-----\n");
    for line in der.chunks(48) {
        for three in line.chunks(3) {
            let bits = three.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - three.len()));
            for sign in 0..4 {
                let is_there = sign <= three.len();
                text.push(if is_there { char::from(SIGNS[bits >> (18 - 6 * sign) & 63]) } else { '=' });
            }
        }
        text.push('\n');
    }
    text + &format!("-----END {label}-----\n")
}
