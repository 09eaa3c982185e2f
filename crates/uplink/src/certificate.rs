//! The terminal's certificate: its files in the state folder, and when it needs a new one.
//!
//! | file | content |
//! |---|---|
//! | `key.pem`, `certificate.pem` | the pair that has connected |
//! | `next-key.pem`, `next-certificate.pem` | a pair that has not connected yet |
//! | `asked-key.pem` | a key whose certificate has not arrived |
//!
//! A new pair never replaces the old one before the broker has accepted it. A key is on the disk before the server
//! hears of it, so a lost answer or a power cut does not waste a code: the server answers the same key again.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pos_broker::tls::Own;
use pos_fleet_terms::Id;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, PKCS_ECDSA_P256_SHA256, PublicKeyData};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};
use zeroize::Zeroizing;

use crate::signer::ResultSigner;

const KEY: &str = "key.pem";
const CERTIFICATE: &str = "certificate.pem";
const NEXT_KEY: &str = "next-key.pem";
const NEXT_CERTIFICATE: &str = "next-certificate.pem";
const ASKED_KEY: &str = "asked-key.pem";
/// The largest file that is read, in bytes.
const LARGEST: u64 = 64 * 1024;
/// A certificate begins one day before it was signed, for slow clocks.
const EARLY: Duration = Duration::from_secs(24 * 3600);
/// A pair that has not connected for this time is replaced by another one.
const NEXT_WAITS: Duration = Duration::from_secs(7 * 24 * 3600);

/// The time of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// Its begin.
    pub not_before: SystemTime,
    /// Its end.
    pub not_after: SystemTime,
    /// A random number that belongs to the certificate. It spreads the renewals of a fleet.
    pub jitter_share: u32,
}

/// What a terminal needs to stay in its fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing.
    Nothing,
    /// A new certificate, for which the present one is enough.
    Renew,
    /// A code from the fleet's desk. Until then the terminal sells as always, but the server does not see it.
    Code,
}

impl Need {
    /// Decides what a terminal with this certificate needs. A clock before the certificate's begin is wrong, so it says
    /// nothing: the terminal uses the certificate as it is.
    #[must_use]
    pub fn of(certificate: Option<&Validity>, now: SystemTime) -> Self {
        let Some(Validity { not_before, not_after, jitter_share }) = certificate else { return Self::Code };
        match () {
            () if now < *not_before => Self::Nothing,
            () if now >= *not_after => Self::Code,
            () if now >= when_to_renew(*not_before, *not_after, *jitter_share) => Self::Renew,
            () => Self::Nothing,
        }
    }

    /// Decides the same, if a certificate may be there that has not connected yet.
    #[must_use]
    pub fn with_next(present: Option<&Validity>, next: Option<&Validity>, now: SystemTime) -> Self {
        let has_waited = |next: &Validity| now >= next.not_before + EARLY + NEXT_WAITS;
        match (Self::of(present, now), next.map(|next| (Self::of(Some(next), now), has_waited(next)))) {
            // The next one is as good as none.
            (need, None | Some((Self::Code, _))) => need,
            // The broker has not accepted it for long. Perhaps a newer one is better.
            (Self::Nothing | Self::Renew, Some((_, true))) if present.is_some() => Self::Renew,
            (_, Some((need, _))) => need,
        }
    }
}

/// Returns the time of a renewal: after two thirds of the life, and a share of its tenth. `jitter_share` is a part of
/// `u32::MAX`.
#[must_use]
pub fn when_to_renew(not_before: SystemTime, not_after: SystemTime, jitter_share: u32) -> SystemTime {
    let life = not_after.duration_since(not_before).unwrap_or_default();
    let jitter = u128::from(life.as_secs()) / 10 * u128::from(jitter_share) / u128::from(u32::MAX);
    not_before + life * 2 / 3 + Duration::from_secs(jitter.try_into().unwrap_or_default())
}

/// One of the two pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The pair that has connected.
    Present,
    /// The pair that has not connected yet.
    Next,
}

/// Decides which pair the next connection uses. The next pair is tried first. After a failure the two take turns, so a
/// pair that the broker refuses does not keep the terminal away.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turn {
    next_failed: bool,
}

impl Turn {
    /// Returns the pair to use, if there is one.
    #[must_use]
    pub fn pick(self, has_present: bool, has_next: bool) -> Option<Which> {
        match (has_present, has_next) {
            (true, true) if self.next_failed => Some(Which::Present),
            (_, true) => Some(Which::Next),
            (true, false) => Some(Which::Present),
            (false, false) => None,
        }
    }

    /// Records the end of a connection, and whether the broker had accepted it.
    pub fn ended(&mut self, which: Which, has_connected: bool) {
        self.next_failed = which == Which::Next && !has_connected;
    }
}

/// The reason why a certificate or its files are of no use. No text contains a key.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file cannot be read or written.
    #[error("{}: {cause}; make this user the owner of the folder, with mode 0700, and check the free disk space", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The error from the operating system.
        #[source]
        cause: io::Error,
    },
    /// The content is not a certificate (PEM).
    #[error("the certificate is not one (X.509, PEM)")]
    Malformed,
    /// The certificate is for another key.
    #[error("the certificate is not for the key of this terminal")]
    OtherKey,
    /// The certificate has another name.
    #[error("the certificate is not for the terminal {0}")]
    OtherName(Id),
    /// The key cannot be read or made.
    #[error("the key cannot be used: {0}")]
    Key(#[from] rcgen::Error),
}

/// A key and its certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Which of the two it is.
    pub which: Which,
    /// The file of the certificate.
    pub certificate: PathBuf,
    /// The file of the key.
    pub key: PathBuf,
    /// The time of the certificate.
    pub validity: Validity,
}

impl Pair {
    /// Returns the files, for a connection.
    #[must_use]
    pub fn own(&self) -> Own<'_> {
        Own { certificate: &self.certificate, key: &self.key }
    }
}

/// The state folder. One process uses it at a time.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    terminal: Id,
}

impl Folder {
    /// Opens the folder, and creates it if it does not exist. What a power cut has left half done is finished or
    /// undone.
    ///
    /// # Errors
    /// Fails if the folder cannot be used.
    pub fn open(path: &Path, terminal: &Id) -> Result<Self, CertificateError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|cause| CertificateError::File { file: path.to_owned(), cause })?;
        let folder = Self { path: path.to_owned(), terminal: terminal.clone() };
        folder.mend()?;
        Ok(folder)
    }

    /// Looks at the folder of a running uplink, and changes nothing.
    #[must_use]
    pub fn look(path: &Path, terminal: &Id) -> Self {
        Self { path: path.to_owned(), terminal: terminal.clone() }
    }

    /// Returns the pair, or `None` if there is none.
    ///
    /// # Errors
    /// Fails if a file is damaged, or if the certificate is not for this key and this terminal.
    pub fn pair(&self, which: Which) -> Result<Option<Pair>, CertificateError> {
        let (key, certificate) = match which {
            Which::Present => (KEY, CERTIFICATE),
            Which::Next => (NEXT_KEY, NEXT_CERTIFICATE),
        };
        let (Some(secret), Some(pem)) = (self.read(key)?, self.read(certificate)?) else { return Ok(None) };
        let validity = self.judge(&KeyPair::from_pem(&secret)?, &pem)?;
        Ok(Some(Pair { which, certificate: self.path.join(certificate), key: self.path.join(key), validity }))
    }

    /// Returns the key of a pair, to sign results. Every key that this folder makes can sign.
    #[must_use]
    pub fn signer(&self, which: Which) -> Option<ResultSigner> {
        let key = match which {
            Which::Present => KEY,
            Which::Next => NEXT_KEY,
        };
        ResultSigner::read(&self.read(key).ok().flatten()?)
    }

    /// Returns when the next pair was stored, if there is one.
    #[must_use]
    pub fn next_stored_at(&self) -> Option<SystemTime> {
        fs::metadata(self.path.join(NEXT_CERTIFICATE)).and_then(|file| file.modified()).ok()
    }

    /// Returns what the terminal needs now. A damaged pair counts as none.
    #[must_use]
    pub fn need(&self, now: SystemTime) -> Need {
        let validity = |which| self.pair(which).ok().flatten().map(|pair| pair.validity);
        Need::with_next(validity(Which::Present).as_ref(), validity(Which::Next).as_ref(), now)
    }

    /// Records that the broker has accepted a pair. The next one then replaces the present one.
    ///
    /// # Errors
    /// Fails if the folder cannot be written.
    pub fn has_connected(&self, which: Which) -> Result<(), CertificateError> {
        if which == Which::Next {
            self.rename(NEXT_KEY, KEY)?;
            self.rename(NEXT_CERTIFICATE, CERTIFICATE)?;
        }
        Ok(())
    }

    /// Returns a certificate request (PEM) for the key that the server may know already, or for a new key.
    ///
    /// # Errors
    /// Fails if the folder cannot be written.
    pub fn request(&self) -> Result<String, CertificateError> {
        let kept = self.read(ASKED_KEY)?.and_then(|pem| KeyPair::from_pem(&pem).ok());
        let key = match kept {
            Some(key) => key,
            None => {
                let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
                self.write(ASKED_KEY, &Zeroizing::new(key.serialize_pem()))?;
                key
            }
        };
        let mut params = CertificateParams::new(vec![])?;
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, self.terminal.as_str());
        Ok(params.serialize_request(&key)?.pem()?)
    }

    /// Stores the answer to a request as the next pair. A wrong answer changes no file.
    ///
    /// # Errors
    /// Fails if the certificate is not for the requested key and this terminal, or if the folder cannot be written.
    pub fn store_next(&self, pem: &str) -> Result<Validity, CertificateError> {
        let secret = self.read(ASKED_KEY)?.ok_or(CertificateError::OtherKey)?;
        let validity = self.judge(&KeyPair::from_pem(&secret)?, pem)?;
        // After a cut between the two, the next key has no certificate, and becomes the asked one again.
        self.rename(ASKED_KEY, NEXT_KEY)?;
        self.write(NEXT_CERTIFICATE, pem)?;
        Ok(validity)
    }

    /// Finishes or undoes what a power cut has interrupted.
    fn mend(&self) -> Result<(), CertificateError> {
        let (key, next) = (self.read(NEXT_KEY)?, self.read(NEXT_CERTIFICATE)?);
        let fits = |key: &str, pem: &str| KeyPair::from_pem(key).is_ok_and(|key| self.judge(&key, pem).is_ok());
        match (key, next) {
            (None, None) => Ok(()),
            (Some(key), Some(next)) if fits(&key, &next) => Ok(()),
            // The certificate of this key has not arrived.
            (Some(_), next) => {
                self.rename(NEXT_KEY, ASKED_KEY)?;
                if next.is_some() { self.remove(NEXT_CERTIFICATE) } else { Ok(()) }
            }
            // The broker has accepted the pair, and its key is in its place.
            (None, Some(next)) if self.read(KEY)?.is_some_and(|key| fits(&key, &next)) => {
                self.rename(NEXT_CERTIFICATE, CERTIFICATE)
            }
            (None, Some(_)) => self.remove(NEXT_CERTIFICATE),
        }
    }

    /// Checks that a certificate is for this key and this terminal.
    fn judge(&self, key: &KeyPair, pem: &str) -> Result<Validity, CertificateError> {
        let malformed = |_| CertificateError::Malformed;
        let der = CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|_| CertificateError::Malformed)?;
        let certificate = Certificate::from_der(&der).map_err(malformed)?;
        let signed = certificate.tbs_certificate();
        if signed.subject_public_key_info().to_der().map_err(malformed)? != key.subject_public_key_info() {
            return Err(CertificateError::OtherKey);
        }
        if signed.subject().to_string() != format!("CN={}", self.terminal) {
            return Err(CertificateError::OtherName(self.terminal.clone()));
        }
        let validity = signed.validity();
        let serial = signed.serial_number().as_bytes();
        // The CA's serial numbers are random, and their end is a number that stays with the certificate.
        let random = serial.last_chunk().map_or(0, |last| u32::from_be_bytes(*last));
        Ok(Validity {
            not_before: UNIX_EPOCH + validity.not_before.to_unix_duration(),
            not_after: UNIX_EPOCH + validity.not_after.to_unix_duration(),
            jitter_share: random,
        })
    }

    fn read(&self, name: &str) -> Result<Option<Zeroizing<String>>, CertificateError> {
        let file = self.path.join(name);
        let wrong = |cause| CertificateError::File { file: file.clone(), cause };
        match file.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Ok(facts) if facts.len() > LARGEST => return Err(wrong(io::ErrorKind::FileTooLarge.into())),
            facts => facts.map_err(wrong)?,
        };
        // A damaged file is no text, and no certificate either.
        let bytes = Zeroizing::new(fs::read(&file).map_err(wrong)?);
        Ok(Some(Zeroizing::new(String::from_utf8_lossy(&bytes).into_owned())))
    }

    /// Replaces a file as a whole. It is on the disk when this returns.
    fn write(&self, name: &str, text: &str) -> Result<(), CertificateError> {
        let new = self.path.join(format!("{name}.new"));
        let written = || {
            // A file that an earlier power cut left behind may have any mode.
            let _ = fs::remove_file(&new);
            let mut opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
            // A file that root writes belongs to the user of the folder, as one of the service does.
            if fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0) {
                let folder = fs::metadata(&self.path)?;
                fchown(&opened, Some(folder.uid()), Some(folder.gid()))?;
            }
            opened.write_all(text.as_bytes())?;
            opened.sync_all()?;
            fs::rename(&new, self.path.join(name))?;
            self.sync()
        };
        written().map_err(|cause| CertificateError::File { file: self.path.join(name), cause })
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), CertificateError> {
        let renamed = fs::rename(self.path.join(from), self.path.join(to)).and_then(|()| self.sync());
        renamed.map_err(|cause| CertificateError::File { file: self.path.join(from), cause })
    }

    fn remove(&self, name: &str) -> Result<(), CertificateError> {
        let removed = fs::remove_file(self.path.join(name)).and_then(|()| self.sync());
        removed.map_err(|cause| CertificateError::File { file: self.path.join(name), cause })
    }

    fn sync(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rcgen::{Issuer, SerialNumber};
    use tempfile::TempDir;
    use time::OffsetDateTime;

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    fn begin() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_795_000_000)
    }

    fn lasting(days: u32) -> Validity {
        Validity { not_before: begin(), not_after: begin() + DAY * days, jitter_share: 0 }
    }

    fn id() -> Id {
        "shop-0042".parse().unwrap()
    }

    fn opened() -> (TempDir, Folder) {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::open(&parent.path().join("uplink"), &id()).unwrap();
        (parent, folder)
    }

    /// Signs the asked key for this name.
    fn signed(folder: &Folder, name: &str) -> String {
        folder.request().unwrap();
        let key = KeyPair::from_pem(&folder.read(ASKED_KEY).unwrap().unwrap()).unwrap();
        certificate(&key, name)
    }

    fn certificate(key: &KeyPair, name: &str) -> String {
        let ca = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        let ca = Issuer::new(CertificateParams::new(vec![]).unwrap(), ca);
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.serial_number = Some(SerialNumber::from_slice(&[1, 2, 3, 4, 5]));
        (params.not_before, params.not_after) =
            (OffsetDateTime::from(begin()), OffsetDateTime::from(begin() + DAY * 400));
        params.signed_by(key, &ca).unwrap().pem()
    }

    /// A folder with a present pair, and another that has not connected.
    fn with_next() -> (TempDir, Folder) {
        let (parent, folder) = opened();
        folder.store_next(&signed(&folder, "shop-0042")).unwrap();
        folder.has_connected(Which::Next).unwrap();
        folder.store_next(&signed(&folder, "shop-0042")).unwrap();
        (parent, folder)
    }

    fn text(folder: &Folder, name: &str) -> Option<String> {
        folder.read(name).unwrap().map(|text| text.to_string())
    }

    #[test]
    fn a_certificate_is_renewed_after_two_thirds_of_its_life_and_up_to_a_tenth_more() {
        let ends = begin() + DAY * 300;
        assert_eq!(when_to_renew(begin(), ends, 0), begin() + DAY * 200);
        assert_eq!(when_to_renew(begin(), ends, u32::MAX), begin() + DAY * 230);
        let half = when_to_renew(begin(), ends, u32::MAX / 2);
        assert!(half > begin() + DAY * 214 && half < begin() + DAY * 216);
        assert_eq!(when_to_renew(ends, begin(), u32::MAX), ends, "a wrong certificate needs no arithmetic");
    }

    #[test]
    fn the_need_follows_from_the_certificate_and_the_clock() {
        let certificate = lasting(300);
        let need = |now| Need::of(Some(&certificate), now);
        assert_eq!(Need::of(None, begin()), Need::Code);
        assert_eq!(need(begin() + DAY * 200 - Duration::from_secs(1)), Need::Nothing);
        assert_eq!(need(begin() + DAY * 200), Need::Renew);
        assert_eq!(need(begin() + DAY * 300 - Duration::from_secs(1)), Need::Renew);
        assert_eq!(need(begin() + DAY * 300), Need::Code);
        for wrong in [UNIX_EPOCH, UNIX_EPOCH + DAY, begin() - Duration::from_secs(1)] {
            assert_eq!(need(wrong), Need::Nothing, "a clock without the time decides nothing");
        }
    }

    #[test]
    fn a_next_pair_is_enough_until_it_has_waited_too_long() {
        let present = lasting(300);
        let renewed = Validity { not_before: begin() + DAY * 200, not_after: begin() + DAY * 600, jitter_share: 0 };
        let need = |days: u32| Need::with_next(Some(&present), Some(&renewed), begin() + DAY * days);
        assert_eq!((need(201), need(207)), (Need::Nothing, Need::Nothing));
        assert_eq!(need(208), Need::Renew, "the broker has not accepted it for a week");
        assert_eq!(need(310), Need::Nothing, "the present one cannot renew any more");
        assert_eq!(need(700), Need::Code);
        assert_eq!(Need::with_next(Some(&present), Some(&renewed), UNIX_EPOCH), Need::Nothing);
        assert_eq!(Need::with_next(None, Some(&renewed), begin() + DAY * 210), Need::Nothing);
        assert_eq!(Need::with_next(Some(&renewed), Some(&present), begin() + DAY * 310), Need::Nothing);
    }

    #[test]
    fn the_next_pair_is_tried_first_and_the_two_take_turns_after_a_failure() {
        let mut turn = Turn::default();
        assert_eq!(turn.pick(false, false), None);
        assert_eq!(turn.pick(true, true), Some(Which::Next));
        turn.ended(Which::Next, false);
        assert_eq!(turn.pick(true, true), Some(Which::Present));
        assert_eq!(turn.pick(false, true), Some(Which::Next), "there is no other");
        turn.ended(Which::Present, false);
        assert_eq!(turn.pick(true, true), Some(Which::Next));
        turn.ended(Which::Next, true);
        assert_eq!(turn.pick(true, false), Some(Which::Present));
    }

    #[test]
    fn the_next_pair_replaces_the_present_one_when_it_has_connected() {
        let (parent, folder) = with_next();
        let (present, next) = (folder.pair(Which::Present).unwrap(), folder.pair(Which::Next).unwrap());
        assert_eq!(present.unwrap().validity.jitter_share, 0x0203_0405);
        let next = next.unwrap();
        let certificate = fs::read_to_string(next.own().certificate).unwrap();
        for file in fs::read_dir(parent.path().join("uplink")).unwrap() {
            assert_eq!(file.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        folder.has_connected(Which::Present).unwrap();
        assert!(folder.pair(Which::Next).unwrap().is_some());
        folder.has_connected(Which::Next).unwrap();
        assert_eq!(text(&folder, CERTIFICATE), Some(certificate));
        assert!(folder.pair(Which::Next).unwrap().is_none() && folder.pair(Which::Present).unwrap().is_some());
        assert_eq!(folder.need(begin()), Need::Nothing);
    }

    #[test]
    fn a_wrong_answer_changes_no_file() {
        let (_parent, folder) = with_next();
        let names = [KEY, CERTIFICATE, NEXT_KEY, NEXT_CERTIFICATE, ASKED_KEY];
        let other = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        let wrong_name = signed(&folder, "shop-0043");
        let before = names.map(|name| text(&folder, name));
        assert!(matches!(folder.store_next(&wrong_name), Err(CertificateError::OtherName(name)) if name == id()));
        let other = folder.store_next(&certificate(&other, "shop-0042"));
        assert!(matches!(other, Err(CertificateError::OtherKey)));
        assert!(matches!(folder.store_next("no certificate"), Err(CertificateError::Malformed)));
        assert_eq!(names.map(|name| text(&folder, name)), before);
        // The two with another key or name are refused as files too.
        folder.write(CERTIFICATE, &wrong_name).unwrap();
        assert!(folder.pair(Which::Present).is_err());
        fs::remove_file(folder.path.join(NEXT_CERTIFICATE)).unwrap();
        assert_eq!(folder.need(begin()), Need::Code);
    }

    #[test]
    fn a_lost_answer_is_asked_again_with_the_same_key() {
        let (parent, folder) = opened();
        let key = |folder: &Folder| text(folder, ASKED_KEY);
        folder.request().unwrap();
        let first = key(&folder);
        let folder = Folder::open(&parent.path().join("uplink"), &id()).unwrap();
        folder.request().unwrap();
        assert_eq!(key(&folder), first);
        folder.store_next(&signed(&folder, "shop-0042")).unwrap();
        assert_eq!(key(&folder), None);
        folder.request().unwrap();
        assert_ne!(key(&folder), first, "each certificate has a key of its own");
    }

    #[test]
    fn a_power_cut_at_any_step_leaves_a_pair_or_its_key() {
        let reopen = |folder: &Folder| Folder::open(&folder.path, &id()).unwrap();
        // A cut while the next pair replaces the present one.
        let (_parent, folder) = with_next();
        let certificate = text(&folder, NEXT_CERTIFICATE);
        folder.rename(NEXT_KEY, KEY).unwrap();
        assert!(folder.pair(Which::Present).is_err());
        let folder = reopen(&folder);
        assert_eq!(text(&folder, CERTIFICATE), certificate);
        assert!(folder.pair(Which::Present).unwrap().is_some() && folder.pair(Which::Next).unwrap().is_none());
        // A cut while an answer is stored, over a next pair and without one.
        for has_next in [true, false] {
            let (_parent, folder) = if has_next { with_next() } else { opened() };
            folder.request().unwrap();
            let asked = text(&folder, ASKED_KEY);
            folder.rename(ASKED_KEY, NEXT_KEY).unwrap();
            let folder = reopen(&folder);
            assert_eq!(text(&folder, ASKED_KEY), asked);
            assert!(folder.pair(Which::Next).unwrap().is_none());
            assert_eq!(folder.pair(Which::Present).unwrap().is_some(), has_next);
            // A cut while this is mended.
            folder.write(NEXT_CERTIFICATE, "half").unwrap();
            let folder = reopen(&folder);
            assert_eq!((text(&folder, ASKED_KEY), text(&folder, NEXT_CERTIFICATE)), (asked, None));
        }
    }
}
