//! The fleet's own CA. It signs the certificates of the servers and of the terminals, and revokes them.
//!
//! A terminal's certificate contains the name that the server knows for it. Of the terminal's request only the public
//! key is used, so a terminal cannot choose its name, its rights or its time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pos_broker::tls::{self, Own, TlsError};
use pos_daemon::secret::{SecretError, key_credential, key_file};
use pos_fleet_terms::Id;
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256,
    PublicKeyData, RevocationReason, RevokedCertParams, SerialNumber, SignatureAlgorithm,
};
use ring::digest::{SHA256, digest};
use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, CertificateSigningRequestDer};
use time::OffsetDateTime;
use tokio_postgres::Client;
use x509_cert::Certificate;
use x509_cert::certificate::Rfc5280;
use x509_cert::crl::CertificateList;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::der::{Decode, Encode};
use x509_cert::ext::pkix::SubjectKeyIdentifier;
use x509_cert::request::CertReq;

/// The common name of the consumer's certificate, which the broker's access list names.
pub const CONSUMER: &str = "pos-fleet-consumer";
/// The common name of the desk's certificate.
pub const DESK: &str = "pos-fleet-desk";
/// The lifetime of a terminal's certificate in days. A shop that was closed for a season comes back without a person.
pub const DAYS: u32 = 400;
/// The lifetimes that a setting may choose. A shorter one would leave no time for a renewal.
pub const DAYS_ALLOWED: RangeInclusive<u32> = 30..=3650;

/// The names of the fleet's own programs begin with this. A terminal with such a name would have their rights.
const RESERVED: &str = "pos-fleet";
const DAY: Duration = Duration::from_secs(24 * 3600);
/// The lifetime of the CA. It is long, because a CA is installed by hand.
const CA_LASTS: Duration = Duration::from_secs(20 * 365 * 24 * 3600);
/// The lifetime of a list of revoked certificates. A broker refuses every terminal when its list is too old.
const CRL_LASTS: Duration = Duration::from_secs(20 * 365 * 24 * 3600);
/// The mode of a file that other programs read.
const PUBLIC: u32 = 0o644;
/// The mode of a key.
const PRIVATE: u32 = 0o600;
const CRL_ENDS: &str = "-----END X509 CRL-----";
const EC_PUBLIC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const ECDSA_WITH_SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2");

/// The reason why the CA did not do something. No text contains a key.
#[derive(Debug, thiserror::Error)]
pub enum CaError {
    /// A file with certificates.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The CA's key.
    #[error(transparent)]
    Key(#[from] SecretError),
    /// A file exists, and no one asked to replace it.
    #[error("{}: the file exists; move it away, or ask to replace it", .0.display())]
    Exists(PathBuf),
    /// A file cannot be written.
    #[error("{}: cannot be written: {cause}", file.display())]
    NotWritten {
        /// The file.
        file: PathBuf,
        /// The error from the operating system.
        #[source]
        cause: io::Error,
    },
    /// The certificate and the key are not those of a CA that this module made.
    #[error("{}: no certificate in the file is of this key and was made by pos-fleet ca", .0.display())]
    Foreign(PathBuf),
    /// A host name, or a key of an unknown kind.
    #[error("the certificate cannot be made: {0}")]
    NotMade(#[from] rcgen::Error),
    /// The terminal's name is that of a server.
    #[error("{0}: a terminal's name does not begin with {RESERVED}")]
    Reserved(Id),
    /// The certificate would outlive its CA.
    #[error("the CA ends before the certificate: make a new CA, and let the terminals trust both")]
    CaEnds,
    /// The system gives no random numbers.
    #[error("the system gives no random numbers")]
    NoRandom,
    /// The database.
    #[error("the database: {0}")]
    Database(#[from] tokio_postgres::Error),
}

/// The reason why a certificate request is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The text is not PEM, or not a request.
    #[error("the request is not a certificate request (PKCS#10, PEM)")]
    Malformed,
    /// The key or the signature is of another kind.
    #[error("the request has no key on P-256 with an ECDSA signature with SHA-256")]
    Kind,
    /// The sender does not have the key.
    #[error("the signature of the request is wrong")]
    Signature,
}

/// The public key of a certificate request whose sender has the private key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    point: Vec<u8>,
    digest: Vec<u8>,
}

impl Request {
    /// Reads a request (PEM), and verifies its signature. Everything but the key is ignored.
    ///
    /// # Errors
    /// Fails if the text is not a request, or if its signature is wrong.
    pub fn read(pem: &str) -> Result<Self, RequestError> {
        let der = CertificateSigningRequestDer::from_pem_slice(pem.as_bytes()).map_err(|_| RequestError::Malformed)?;
        let request = CertReq::from_der(&der).map_err(|_| RequestError::Malformed)?;
        let key = &request.info.public_key;
        let curve = key.algorithm.parameters.as_ref().and_then(|it| it.decode_as::<ObjectIdentifier>().ok());
        let is_known = key.algorithm.oid == EC_PUBLIC_KEY && curve == Some(P256);
        if !is_known || request.algorithm.oid != ECDSA_WITH_SHA256 {
            return Err(RequestError::Kind);
        }
        let point = key.subject_public_key.as_bytes().ok_or(RequestError::Kind)?;
        let signed = request.info.to_der().map_err(|_| RequestError::Malformed)?;
        let signature = request.signature.as_bytes().ok_or(RequestError::Signature)?;
        let verified = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point).verify(&signed, signature);
        verified.map_err(|_| RequestError::Signature)?;
        Ok(Self { point: point.to_vec(), digest: digest(&SHA256, point).as_ref().to_vec() })
    }

    /// Returns the SHA-256 of the public key.
    #[must_use]
    pub fn digest(&self) -> &[u8] {
        &self.digest
    }
}

impl PublicKeyData for Request {
    fn der_bytes(&self) -> &[u8] {
        &self.point
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

/// A terminal's new certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// The serial number, in hexadecimal.
    pub serial: String,
    /// The certificate.
    pub pem: String,
    /// The end of its validity.
    pub not_after: SystemTime,
}

/// What the server needs of a certificate that a terminal shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The serial number, in hexadecimal.
    pub serial: String,
    /// The common name.
    pub name: String,
    /// The end of its validity.
    pub not_after: SystemTime,
}

impl Shown {
    /// Reads a certificate. It does not decide whether the certificate is trusted.
    #[must_use]
    pub fn read(der: &[u8]) -> Option<Self> {
        let certificate = Certificate::from_der(der).ok()?;
        let signed = certificate.tbs_certificate();
        let not_after = UNIX_EPOCH + signed.validity().not_after.to_unix_duration();
        Some(Self {
            serial: hex::encode(signed.serial_number().as_bytes()),
            name: common_name(&certificate)?,
            not_after,
        })
    }
}

/// Returns the public key of a certificate (PEM), a point on P-256.
#[must_use]
pub(crate) fn point_of(pem: &str) -> Option<Vec<u8>> {
    let der = CertificateDer::from_pem_slice(pem.as_bytes()).ok()?;
    let certificate = Certificate::from_der(&der).ok()?;
    let key = certificate.tbs_certificate().subject_public_key_info();
    let curve = key.algorithm.parameters.as_ref().and_then(|it| it.decode_as::<ObjectIdentifier>().ok());
    let is_known = key.algorithm.oid == EC_PUBLIC_KEY && curve == Some(P256);
    key.subject_public_key.as_bytes().filter(|_| is_known).map(<[u8]>::to_vec)
}

/// The CA, with its key.
pub struct Ca {
    /// All certificates of the file: during a change of the CA these are two.
    certificates: String,
    subject: Vec<u8>,
    ends: SystemTime,
    issuer: Issuer<'static, KeyPair>,
}

impl std::fmt::Debug for Ca {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ca").field("ends", &self.ends).finish_non_exhaustive()
    }
}

impl Ca {
    /// Makes a CA: its certificate, its key, and an empty list of revoked certificates.
    ///
    /// # Errors
    /// Fails if a file exists and `replace` is false, or if one cannot be written.
    pub fn create(files: Own<'_>, crl: &Path, now: SystemTime, replace: bool) -> Result<Self, CaError> {
        absent([files.key, files.certificate, crl], replace)?;
        let mut number = [0; 4];
        getrandom::fill(&mut number).map_err(|_| CaError::NoRandom)?;
        // Two CAs of one fleet have two names, because lists of revoked certificates are found by name.
        let mut params = ca_params(&format!("pos-fleet CA {}", hex::encode(number)))?;
        params.serial_number = Some(random_serial()?);
        (params.not_before, params.not_after) = (date(now - DAY), date(now + CA_LASTS));
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let certificate = params.self_signed(&key)?.pem();
        write(files.key, key.serialize_pem().as_bytes(), PRIVATE, replace)?;
        write(files.certificate, certificate.as_bytes(), PUBLIC, replace)?;
        let ca = Self::open(files)?;
        write(crl, ca.crl(&[], now)?.as_bytes(), PUBLIC, replace)?;
        Ok(ca)
    }

    /// Opens a CA. The file of certificates may contain another CA too: terminals then trust both.
    ///
    /// # Errors
    /// Fails if a file cannot be used, or if others can read the key.
    pub fn open(files: Own<'_>) -> Result<Self, CaError> {
        let is_credential = std::env::var_os("CREDENTIALS_DIRECTORY").is_some_and(|it| files.key.starts_with(it));
        let key = if is_credential { key_credential(files.key)? } else { key_file(files.key)? };
        let foreign = || CaError::Foreign(files.certificate.to_owned());
        let key = KeyPair::from_pem(std::str::from_utf8(&key).map_err(|_| foreign())?)?;
        let certificates = tls::certificates(files.certificate)?;
        let own = certificates.iter().filter_map(|der| Certificate::from_der(der).ok());
        let is_own = |it: &Certificate| {
            it.tbs_certificate().subject_public_key_info().to_der().is_ok_and(|it| it == key.subject_public_key_info())
        };
        let own = own.into_iter().find(is_own).ok_or_else(foreign)?;
        let params = ca_params(&common_name(&own).ok_or_else(foreign)?)?;
        // A certificate that is signed by another name or identifier than the CA's would be refused by all.
        let made = params.self_signed(&key)?;
        let made = Certificate::from_der(made.der()).map_err(|_| foreign())?;
        if names(&made) != names(&own) {
            return Err(foreign());
        }
        let ends = UNIX_EPOCH + own.tbs_certificate().validity().not_after.to_unix_duration();
        let (subject, _) = names(&own);
        let certificates = fs::read_to_string(files.certificate)
            .map_err(|error| TlsError::File { path: files.certificate.to_owned(), why: error.to_string() })?;
        Ok(Self { certificates, subject, ends, issuer: Issuer::new(params, key) })
    }

    /// Returns the certificates that terminals trust (PEM).
    #[must_use]
    pub fn certificates(&self) -> &str {
        &self.certificates
    }

    /// Makes the certificate of a server, for its host names and addresses.
    ///
    /// # Errors
    /// Fails if a file exists and `replace` is false, or if a name is not one.
    pub fn server(
        &self,
        files: Own<'_>,
        names: &[String],
        days: u32,
        now: SystemTime,
        replace: bool,
    ) -> Result<(), CaError> {
        let mut params = CertificateParams::new(names.to_vec())?;
        params.distinguished_name = name(names.first().map_or("pos-fleet", String::as_str));
        self.pair(files, params, ExtendedKeyUsagePurpose::ServerAuth, days, now, replace)
    }

    /// Makes the certificate with which the consumer connects to the broker.
    ///
    /// # Errors
    /// Fails if a file exists and `replace` is false.
    pub fn consumer(&self, files: Own<'_>, days: u32, now: SystemTime, replace: bool) -> Result<(), CaError> {
        self.client(CONSUMER, files, days, now, replace)
    }

    /// Makes the certificate with which the desk connects to the broker.
    ///
    /// # Errors
    /// Fails if a file exists and `replace` is false.
    pub fn desk(&self, files: Own<'_>, days: u32, now: SystemTime, replace: bool) -> Result<(), CaError> {
        self.client(DESK, files, days, now, replace)
    }

    fn client(
        &self,
        common_name: &str,
        files: Own<'_>,
        days: u32,
        now: SystemTime,
        replace: bool,
    ) -> Result<(), CaError> {
        let mut params = CertificateParams::new(vec![])?;
        params.distinguished_name = name(common_name);
        self.pair(files, params, ExtendedKeyUsagePurpose::ClientAuth, days, now, replace)
    }

    fn pair(
        &self,
        files: Own<'_>,
        mut params: CertificateParams,
        usage: ExtendedKeyUsagePurpose,
        days: u32,
        now: SystemTime,
        replace: bool,
    ) -> Result<(), CaError> {
        absent([files.key, files.certificate], replace)?;
        self.limit(&mut params, usage, days, now)?;
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let certificate = params.signed_by(&key, &self.issuer)?.pem();
        write(files.key, key.serialize_pem().as_bytes(), PRIVATE, replace)?;
        write(files.certificate, certificate.as_bytes(), PUBLIC, replace)
    }

    /// Signs the key of a request for this terminal.
    ///
    /// # Errors
    /// Fails if the name belongs to a server, or if the CA ends earlier than the certificate.
    pub fn sign(&self, terminal: &Id, request: &Request, days: u32, now: SystemTime) -> Result<Signed, CaError> {
        if is_reserved(terminal) {
            return Err(CaError::Reserved(terminal.clone()));
        }
        let mut params = CertificateParams::new(vec![])?;
        params.distinguished_name = name(terminal.as_str());
        let (serial, not_after) = self.limit(&mut params, ExtendedKeyUsagePurpose::ClientAuth, days, now)?;
        let pem = params.signed_by(request, &self.issuer)?.pem();
        Ok(Signed { serial: hex::encode(serial.to_bytes()), pem, not_after })
    }

    /// Sets what a certificate may do, and its time. It begins one day early, for devices whose clocks are slow.
    fn limit(
        &self,
        params: &mut CertificateParams,
        usage: ExtendedKeyUsagePurpose,
        days: u32,
        now: SystemTime,
    ) -> Result<(SerialNumber, SystemTime), CaError> {
        let now = whole_seconds(now);
        let ends = now + DAY * days;
        if ends > self.ends {
            return Err(CaError::CaEnds);
        }
        let serial = random_serial()?;
        params.serial_number = Some(serial.clone());
        params.use_authority_key_identifier_extension = true;
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![usage];
        (params.not_before, params.not_after) = (date(now - DAY), date(ends));
        Ok((serial, ends))
    }

    /// Writes the list of revoked certificates, by serial number and time. The lists of other CAs in the file stay.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write_crl(&self, path: &Path, revoked: &[(String, SystemTime)], now: SystemTime) -> Result<(), CaError> {
        let earlier = fs::read_to_string(path).unwrap_or_default();
        let is_foreign = |block: &&str| {
            let der = CertificateRevocationListDer::from_pem_slice(block.as_bytes()).ok();
            let list = der.and_then(|der| CertificateList::<Rfc5280>::from_der(&der).ok());
            list.and_then(|list| list.tbs_cert_list.issuer.to_der().ok()).is_some_and(|issuer| issuer != self.subject)
        };
        let mut all = self.crl(revoked, now)?;
        for block in earlier.split_inclusive(CRL_ENDS).filter(is_foreign) {
            all.push_str(block.trim());
            all.push('\n');
        }
        write(path, all.as_bytes(), PUBLIC, true)
    }

    fn crl(&self, revoked: &[(String, SystemTime)], now: SystemTime) -> Result<String, CaError> {
        let revoked = revoked.iter().map(|(serial, at)| RevokedCertParams {
            // The database has only serial numbers that this CA wrote.
            serial_number: SerialNumber::from_slice(&hex::decode(serial).unwrap_or_default()),
            revocation_time: date(*at),
            reason_code: Some(RevocationReason::CessationOfOperation),
            invalidity_date: None,
        });
        let number = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let list = CertificateRevocationListParams {
            this_update: date(now - DAY),
            next_update: date(now + CRL_LASTS),
            crl_number: SerialNumber::from(number),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        Ok(list.signed_by(&self.issuer)?.pem()?)
    }
}

/// Revokes the certificates and the unused codes of a terminal, and writes the list that the broker reads. Returns the
/// number of certificates. A second call writes the list again.
///
/// mosquitto reads the list at its start and at SIGHUP. A connection that exists lasts until it ends.
///
/// # Errors
/// Fails if the database refuses, or if the file cannot be written.
pub async fn revoke(client: &mut Client, ca: &Ca, terminal: &Id, crl: &Path, now: SystemTime) -> Result<u64, CaError> {
    let at = date(now);
    let change = client.transaction().await?;
    let expire = "update enrolment_code set expires = least(expires, $2) where terminal = $1";
    change.execute(expire, &[&terminal.as_str(), &at]).await?;
    let update = "update certificate set revoked = $2 where terminal = $1 and revoked is null and not_after > $2";
    let count = change.execute(update, &[&terminal.as_str(), &at]).await?;
    change.commit().await?;
    write_crl(client, ca, crl, now).await?;
    Ok(count)
}

/// Writes the list of all revoked certificates whose time has not ended.
///
/// # Errors
/// Fails if the database does not answer, or if the file cannot be written.
pub async fn write_crl(client: &Client, ca: &Ca, crl: &Path, now: SystemTime) -> Result<(), CaError> {
    let select =
        "select serial, revoked from certificate where revoked is not null and not_after > $1 order by revoked";
    let rows = client.query(select, &[&date(now)]).await?;
    let at = |row: &tokio_postgres::Row| SystemTime::from(row.get::<_, OffsetDateTime>(1));
    let revoked: Vec<_> = rows.iter().map(|row| (row.get(0), at(row))).collect();
    ca.write_crl(crl, &revoked, now)
}

/// True if a terminal may not have this name.
#[must_use]
pub fn is_reserved(terminal: &Id) -> bool {
    terminal.as_str().starts_with(RESERVED)
}

/// Returns the time for a certificate or for the database.
pub(crate) fn date(time: SystemTime) -> OffsetDateTime {
    OffsetDateTime::from(whole_seconds(time))
}

/// A certificate's dates have whole seconds, and so has each time that is compared with them.
fn whole_seconds(time: SystemTime) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
}

/// Returns the name and the permitted uses of a CA. The caller sets the lifetime and the key.
fn ca_params(common_name: &str) -> Result<CertificateParams, CaError> {
    let mut params = CertificateParams::new(vec![])?;
    params.distinguished_name = name(common_name);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

fn name(text: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, text);
    name
}

/// Returns the common name, if the subject has one and nothing else.
fn common_name(certificate: &Certificate) -> Option<String> {
    let subject = certificate.tbs_certificate().subject().to_string();
    let name = subject.strip_prefix("CN=")?;
    (!name.contains([',', '+', '\\'])).then(|| name.to_owned())
}

/// Returns the encoded name and the key's identifier, which the certificates of a CA repeat.
fn names(certificate: &Certificate) -> (Vec<u8>, Option<SubjectKeyIdentifier>) {
    let signed = certificate.tbs_certificate();
    let identifier = signed.get_extension::<SubjectKeyIdentifier>().ok().flatten().map(|(_, identifier)| identifier);
    (signed.subject().to_der().unwrap_or_default(), identifier)
}

/// Returns a random serial number of 16 bytes, which is positive and does not begin with zero.
fn random_serial() -> Result<SerialNumber, CaError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| CaError::NoRandom)?;
    bytes[0] = bytes[0] & 0x7f | 0x40;
    Ok(SerialNumber::from_slice(&bytes))
}

fn absent<const N: usize>(files: [&Path; N], replace: bool) -> Result<(), CaError> {
    match files.into_iter().find(|file| !replace && file.symlink_metadata().is_ok()) {
        Some(file) => Err(CaError::Exists(file.to_owned())),
        None => Ok(()),
    }
}

/// Writes a file as a whole. It is on the disk when this returns.
fn write(file: &Path, bytes: &[u8], mode: u32, replace: bool) -> Result<(), CaError> {
    let mut new = file.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    let written = || {
        // An earlier try may have left the file, with any mode.
        let _ = fs::remove_file(&new);
        let mut opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(&new)?;
        opened.write_all(bytes)?;
        opened.sync_all()?;
        if replace {
            fs::rename(&new, file)?;
        } else {
            // Unlike a rename, a link never replaces a file.
            let linked = fs::hard_link(&new, file);
            fs::remove_file(&new)?;
            linked?;
        }
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()
    };
    written().map_err(|cause| match cause.kind() {
        io::ErrorKind::AlreadyExists => CaError::Exists(file.to_owned()),
        _ => CaError::NotWritten { file: file.to_owned(), cause },
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use tempfile::TempDir;

    use super::*;

    fn now() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_795_000_000)
    }

    struct Made {
        folder: TempDir,
        ca: Ca,
    }

    impl Made {
        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }
    }

    fn made() -> Made {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let files = (path("ca.pem"), path("ca-key.pem"));
        let ca = Ca::create(Own { certificate: &files.0, key: &files.1 }, &path("crl.pem"), now(), false).unwrap();
        Made { folder, ca }
    }

    fn request(name: &str) -> (KeyPair, String) {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
        let mut params = CertificateParams::new(vec!["broker.example".to_owned()]).unwrap();
        params.distinguished_name = super::name(name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let pem = params.serialize_request(&key).unwrap().pem().unwrap();
        (key, pem)
    }

    fn id(text: &str) -> Id {
        text.parse().unwrap()
    }

    fn der(pem: &str) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
    }

    #[test]
    fn of_a_request_only_the_key_is_used() {
        let made = made();
        let (key, pem) = request("pos-fleet-consumer");
        let signed = made.ca.sign(&id("shop-0042"), &Request::read(&pem).unwrap(), 400, now()).unwrap();
        let der = der(&signed.pem);
        let certificate = Certificate::from_der(&der).unwrap();
        let tbs = certificate.tbs_certificate();
        assert_eq!(tbs.subject().to_string(), "CN=shop-0042");
        assert_eq!(tbs.subject_public_key_info().to_der().unwrap(), key.subject_public_key_info());
        let begins = UNIX_EPOCH + tbs.validity().not_before.to_unix_duration();
        assert_eq!((begins, signed.not_after), (now() - DAY, now() + DAY * 400));
        let shown = Shown::read(&der).unwrap();
        let expected = Shown { serial: signed.serial, name: "shop-0042".to_owned(), not_after: signed.not_after };
        assert_eq!(shown, expected);
        let file = made.path("shop.pem");
        fs::write(&file, &signed.pem).unwrap();
        let text = Command::new("openssl").args(["x509", "-noout", "-text", "-in"]).arg(&file).output().unwrap();
        let text = String::from_utf8(text.stdout).unwrap();
        assert!(text.contains("TLS Web Client Authentication") && !text.contains("Server Authentication"), "{text}");
        assert!(text.contains("CA:FALSE") && !text.contains("broker.example"), "{text}");
    }

    #[test]
    fn a_request_without_its_key_or_of_another_kind_is_refused() {
        let (_, pem) = request("shop-0042");
        let mut der = CertificateSigningRequestDer::from_pem_slice(pem.as_bytes()).unwrap().to_vec();
        let last = der.len() - 1;
        der[last] ^= 1;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("request.der");
        fs::write(&file, &der).unwrap();
        let openssl = |args: &[&str]| {
            let out = Command::new("openssl").args(args).current_dir(&folder).output().unwrap();
            String::from_utf8(out.stdout).unwrap()
        };
        let broken = openssl(&["req", "-inform", "DER", "-in", "request.der"]);
        assert_eq!(Request::read(&broken), Err(RequestError::Signature));
        let make = ["req", "-new", "-nodes", "-subj", "/CN=a", "-keyout", "key.pem", "-newkey"];
        for other in [&["rsa:2048"][..], &["ec", "-pkeyopt", "ec_paramgen_curve:P-384"], &["ed25519"]] {
            let pem = openssl(&[&make[..], other].concat());
            assert!(pem.contains("REQUEST"), "{other:?}");
            assert_eq!(Request::read(&pem), Err(RequestError::Kind), "{other:?}");
        }
        let own = openssl(&[&make[..], &["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]].concat());
        assert!(Request::read(&own).is_ok(), "another program's request with the right key");
        for wrong in ["", "x", "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"] {
            assert_eq!(Request::read(wrong), Err(RequestError::Malformed));
        }
    }

    #[test]
    fn no_terminal_is_named_like_a_server_and_none_outlives_the_ca() {
        let made = made();
        let request = Request::read(&request("a").1).unwrap();
        for name in [CONSUMER, "pos-fleet", "pos-fleet-desk"] {
            assert!(matches!(made.ca.sign(&id(name), &request, 400, now()), Err(CaError::Reserved(_))), "{name}");
        }
        let late = now() + CA_LASTS - DAY * 399;
        assert!(matches!(made.ca.sign(&id("shop-0042"), &request, 400, late), Err(CaError::CaEnds)));
        assert!(made.ca.sign(&id("shop-0042"), &request, 399, late).is_ok());
    }

    #[test]
    fn files_are_replaced_only_on_demand_and_keys_are_closed() {
        let made = made();
        let (certificate, key, crl) = (made.path("ca.pem"), made.path("ca-key.pem"), made.path("crl.pem"));
        let files = Own { certificate: &certificate, key: &key };
        let before = fs::read(&key).unwrap();
        let again = Ca::create(files, &crl, now(), false);
        assert!(matches!(again, Err(CaError::Exists(file)) if file == key));
        assert_eq!(fs::read(&key).unwrap(), before);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&key), mode(&certificate), mode(&crl)), (0o600, 0o644, 0o644));
        Ca::create(files, &crl, now(), true).unwrap();
        assert_ne!(fs::read(&key).unwrap(), before);
        fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(Ca::open(files), Err(CaError::Key(SecretError::Open { .. }))));
    }

    #[test]
    fn openssl_accepts_every_certificate_for_its_purpose_and_no_other() {
        let made = made();
        let (server, consumer) = (made.path("broker.pem"), made.path("consumer.pem"));
        let key = made.path("k1");
        let names = ["broker.example".to_owned(), "192.0.2.7".to_owned()];
        made.ca.server(Own { certificate: &server, key: &key }, &names, 800, now(), false).unwrap();
        let key = made.path("k2");
        made.ca.consumer(Own { certificate: &consumer, key: &key }, 800, now(), false).unwrap();
        let shop = made.path("shop.pem");
        let request = Request::read(&request("a").1).unwrap();
        fs::write(&shop, made.ca.sign(&id("shop-0042"), &request, 400, now()).unwrap().pem).unwrap();
        let verify = |file: &Path, more: &[&str]| {
            let mut command = Command::new("openssl");
            command.args(["verify", "-x509_strict", "-attime", "1795000000", "-CAfile"]).arg(made.path("ca.pem"));
            command.args(more).arg(file).output().unwrap().status.success()
        };
        let (as_server, as_client) = (["-purpose", "sslserver"], ["-purpose", "sslclient"]);
        assert!(verify(&server, &as_server) && !verify(&server, &as_client));
        assert!(verify(&consumer, &as_client) && !verify(&consumer, &as_server));
        assert!(verify(&shop, &as_client) && !verify(&shop, &as_server));
        assert!(verify(&server, &["-verify_hostname", "broker.example"]));
        assert!(verify(&server, &["-verify_ip", "192.0.2.7"]) && !verify(&server, &["-verify_ip", "192.0.2.8"]));
        let crl = made.path("crl.pem");
        let with_crl = ["-crl_check", "-CRLfile", crl.to_str().unwrap()];
        assert!(verify(&shop, &with_crl));
        let serial = Shown::read(&der(&fs::read_to_string(&shop).unwrap())).unwrap().serial;
        made.ca.write_crl(&crl, &[(serial, now())], now()).unwrap();
        assert!(!verify(&shop, &with_crl));
        assert!(verify(&consumer, &with_crl));
    }

    #[test]
    fn a_ca_that_is_being_changed_keeps_the_list_of_the_other() {
        let (old, new) = (made(), made());
        let both = fs::read_to_string(old.path("ca.pem")).unwrap() + &fs::read_to_string(new.path("ca.pem")).unwrap();
        fs::write(new.path("ca.pem"), &both).unwrap();
        let (certificate, key, crl) = (new.path("ca.pem"), new.path("ca-key.pem"), new.path("crl.pem"));
        let ca = Ca::open(Own { certificate: &certificate, key: &key }).unwrap();
        assert_eq!((ca.certificates(), &ca.subject), (both.as_str(), &new.ca.subject));
        let lists = |path: &Path| fs::read_to_string(path).unwrap().matches(CRL_ENDS).count();
        ca.write_crl(&crl, &[], now()).unwrap();
        assert_eq!(lists(&crl), 1);
        fs::copy(old.path("crl.pem"), &crl).unwrap();
        for _ in 0..2 {
            ca.write_crl(&crl, &[], now()).unwrap();
            assert_eq!(lists(&crl), 2);
        }
        assert!(matches!(
            Ca::open(Own { certificate: &old.path("ca.pem"), key: &key }),
            Err(CaError::Foreign(file)) if file == old.path("ca.pem")
        ));
    }
}
