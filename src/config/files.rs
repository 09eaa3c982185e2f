//! Whether the files that a configuration names can be used: certificates, keys, tokens, the logo.

use std::path::Path;

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use super::check::{FaultList, absolute, check, ensure, fault};
use super::secret::{SecretError, credential_is_there, key_file, secret_file};
use super::{Config, ConfigFault, Gateway, Printer, logo_file};

/// Every file that is named is looked at.
pub(super) fn check_all(found: &mut FaultList, config: &Config) {
    let Gateway { ca_file, client_certificate_file, client_key_file, token_file, .. } = &config.gateway;
    found.add(certificates("gateway.ca-file", ca_file, "the gateway's CA certificate"));
    if let Some(file) = client_certificate_file {
        found.add(certificates("gateway.client-certificate-file", file, "our certificate"));
    }
    if let Some(file) = client_key_file {
        found.add(in_words("gateway.client-key-file", key_file(file)).map(drop));
    }
    if let Some(file) = token_file {
        found.add(secret("gateway.token-file", file).map(drop));
    }
    let Gateway { client_key_credential, token_credential, .. } = &config.gateway;
    for (key, name) in
        [("gateway.client-key-credential", client_key_credential), ("gateway.token-credential", token_credential)]
    {
        let Some(name) = name else { continue };
        let lost = credential_is_there(name) == Some(false);
        found.add(ensure(!lost, key, || {
            (
                format!("systemd handed over nothing as the credential \"{name}\""),
                format!(
                    "write it into the file that LoadCredential={name}:… of the unit names (/etc/pos-agent/{name}, unless that was \
                     changed), as root, mode 0600; then systemctl restart pos-agent"
                ),
            )
        }));
    }
    let mut known = Vec::new();
    for (n, entry) in config.till.token.iter().enumerate() {
        let key = format!("till.token[{n}].token-file");
        found.add(secret(&key, &entry.token_file).and_then(|token| {
            let other = !known.contains(&token);
            known.push(token);
            check(other, &key, "two tills have the same token", "give each till its own")
        }));
    }
    for (n, printer) in config.printer.iter().enumerate() {
        found.add(logo(n, printer));
    }
}

/// The picture is there, is one, and fits the paper.
fn logo(n: usize, printer: &Printer) -> Result<(), ConfigFault> {
    let Some(file) = &printer.logo else { return Ok(()) };
    let key = format!("printer[{n}].logo");
    absolute(&key, file)?;
    let logo = logo_file(file).map_err(|error| {
        let text = error.to_string();
        let (wrong, remedy) = text.split_once("; ").unwrap_or((&text, "make the picture again"));
        fault(&key, wrong, remedy)
    })?;
    let dots = printer.dots();
    ensure(logo.width() <= dots, &key, || {
        let wrong = format!("{}: is {} dots wide, and the paper has {dots}", file.display(), logo.width());
        (wrong, format!("make it again with -resize {dots}x"))
    })
}

fn certificates(key: &str, file: &Path, whose: &str) -> Result<(), ConfigFault> {
    let wrong =
        |what: &str| fault(key, &format!("{}: {what}", file.display()), &format!("put {whose} there in PEM form"));
    let found = CertificateDer::pem_file_iter(file).map_err(|error| wrong(&format!("cannot be read ({error})")))?;
    let mut count = 0_usize;
    for certificate in found {
        certificate.map_err(|error| wrong(&format!("is damaged ({error})")))?;
        count += 1;
    }
    if count == 0 { Err(wrong("holds no certificate")) } else { Ok(()) }
}

fn secret(key: &str, file: &Path) -> Result<zeroize::Zeroizing<String>, ConfigFault> {
    in_words(key, secret_file(file))
}

fn in_words<T>(key: &str, read: Result<T, SecretError>) -> Result<T, ConfigFault> {
    read.map_err(|error| {
        let text = error.to_string();
        let (wrong, remedy) = text.split_once("; ").unwrap_or((&text, "write the secret again"));
        fault(key, wrong, remedy)
    })
}
