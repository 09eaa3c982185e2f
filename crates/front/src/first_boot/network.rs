//! The network check of the first boot: the board's address, its clock, and the way to the gateway. Root has no
//! network, so the front makes this check. It sends nothing after the TLS handshake: no token, and no request.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rustls::{CertificateError, ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// The time for the look-up of the gateway's name. A resolver asks its servers for about as long.
const NAME: Duration = Duration::from_secs(10);
/// The time for the connection to one address, and for the handshake.
const CONNECTION: Duration = Duration::from_secs(5);
const HANDSHAKE: Duration = Duration::from_secs(10);
/// The largest number of the gateway's addresses that are tried.
const MOST_ADDRESSES: usize = 4;
/// The largest number of certificates in the CA's file.
const MOST_CAS: usize = 16;

/// The content of a request for a check.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NetworkQuestion {
    /// The gateway's address, once it is known.
    #[serde(default)]
    url: Option<String>,
    /// The CA of the gateway's certificate, PEM. Without it, the check ends with the connection.
    #[serde(default)]
    ca: Option<String>,
}

/// A fault: its word for programs, what is wrong, and the remedy.
#[derive(Debug, PartialEq, Eq)]
struct Found(&'static str, String, &'static str);

/// Makes the check. Returns the findings.
pub(crate) async fn check(question: &NetworkQuestion, addresses: &[IpAddr], clock_is_right: bool) -> Vec<Value> {
    let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let address = match shown.is_empty() {
        false => Ok(shown.join(", ")),
        true => Err(Found(
            "no-address",
            "the board has no address in a network".into(),
            "plug in the network cable, or join the wireless network",
        )),
    };
    let clock = match clock_is_right {
        true => Ok(String::new()),
        false => Err(Found(
            "clock-not-right",
            "the board's clock has not been set by a time server".into(),
            "wait a minute, or name the time servers of your network",
        )),
    };
    let mut findings = vec![finding("address", address), finding("clock", clock)];
    if let Some(url) = &question.url {
        let host = match host(url) {
            Ok(host) => host,
            Err(found) => {
                findings.push(finding("name", Err(found)));
                return findings;
            }
        };
        let addresses = found_addresses(&host).await;
        let shown = addresses.as_ref().map(|found| found[0].ip().to_string()).map_err(|_| unknown_name(&host.0));
        findings.push(finding("name", shown));
        if let Ok(addresses) = addresses {
            findings.push(finding("gateway", reached(&addresses, &host.0, question.ca.as_deref()).await));
        }
    }
    findings
}

fn finding(name: &str, found: Result<String, Found>) -> Value {
    match found {
        Ok(said) => json!({ "name": name, "good": true, "said": said }),
        Err(Found(fault, wrong, remedy)) => {
            json!({ "name": name, "good": false, "fault": fault, "wrong": wrong, "remedy": remedy })
        }
    }
}

/// Returns the host and the port of the gateway's address.
fn host(url: &str) -> Result<(String, u16), Found> {
    let parsed = reqwest::Url::parse(url).ok().filter(|url| url.scheme() == "https");
    let parts = parsed.as_ref().and_then(|url| Some((url.host_str()?, url.port_or_known_default()?)));
    let (host, port) = parts.ok_or_else(|| {
        let wrong = "the gateway's address does not begin with https:// and a name".into();
        Found("bad-url", wrong, "type the address as it is in the gateway's papers")
    })?;
    Ok((host.trim_matches(['[', ']']).to_owned(), port))
}

fn unknown_name(host: &str) -> Found {
    let remedy = "check the spelling, and that the network has a way to the Internet and a name server";
    Found("name-unknown", format!("no address was found for the name {host}"), remedy)
}

/// Looks up a name. The list has at least one address.
async fn found_addresses((host, port): &(String, u16)) -> Result<Vec<SocketAddr>, ()> {
    let found = timeout(NAME, lookup_host((host.as_str(), *port))).await.map_err(|_| ())?;
    let found: Vec<SocketAddr> = found.map_err(|_| ())?.take(MOST_ADDRESSES).collect();
    if found.is_empty() { Err(()) } else { Ok(found) }
}

/// Connects to the first address that answers. Makes the handshake if the CA is known.
async fn reached(addresses: &[SocketAddr], host: &str, ca: Option<&str>) -> Result<String, Found> {
    let config = ca.map(trusting).transpose()?;
    let mut connected = None;
    for address in addresses {
        if let Ok(Ok(stream)) = timeout(CONNECTION, TcpStream::connect(address)).await {
            connected = Some((stream, address));
            break;
        }
    }
    let (stream, address) = connected.ok_or_else(|| {
        let remedy = "check the port in the address, and that a firewall permits this connection";
        Found("not-reached", format!("{host} does not accept a connection"), remedy)
    })?;
    let Some(config) = config else { return Ok(address.to_string()) };
    let name = ServerName::try_from(host.to_owned()).map_err(|_| unknown_name(host))?;
    match timeout(HANDSHAKE, TlsConnector::from(config).connect(name, stream)).await {
        Ok(Ok(_)) => Ok(address.to_string()),
        Ok(Err(error)) => Err(explained(&error, host)),
        Err(_) => Err(no_tls(host)),
    }
}

/// Returns a TLS configuration that trusts only these CAs, as the agent's will.
fn trusting(pem: &str) -> Result<Arc<ClientConfig>, Found> {
    let bad = || {
        let wrong = "the gateway's CA is no certificate in PEM form".into();
        Found("bad-ca", wrong, "choose the file with the line -----BEGIN CERTIFICATE----- from the gateway's papers")
    };
    let mut roots = RootCertStore::empty();
    for der in CertificateDer::pem_slice_iter(pem.as_bytes()).take(MOST_CAS) {
        roots.add(der.map_err(|_| bad())?).map_err(|_| bad())?;
    }
    if roots.is_empty() {
        return Err(bad());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = versions.expect("ring has the versions of TLS");
    Ok(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

fn no_tls(host: &str) -> Found {
    Found("no-tls", format!("{host} does not speak TLS at this port"), "check the address in the gateway's papers")
}

/// Names the fault of a failed handshake.
fn explained(error: &std::io::Error, host: &str) -> Found {
    use CertificateError as C;
    let error = error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>());
    let Some(rustls::Error::InvalidCertificate(fault)) = error else { return no_tls(host) };
    match fault {
        C::Expired | C::ExpiredContext { .. } => {
            let remedy = "check the board's date; if it is right, tell the gateway's support";
            Found("expired", format!("the certificate of {host} has expired"), remedy)
        }
        C::NotValidYet | C::NotValidYetContext { .. } => {
            let remedy = "check the board's date, and wait until a time server has set it";
            Found("not-yet-valid", format!("the certificate of {host} is not valid yet"), remedy)
        }
        C::NotValidForName | C::NotValidForNameContext { .. } => {
            let remedy = "check the address; another device in the network may answer in its place";
            Found("other-host", format!("the certificate is not for {host}"), remedy)
        }
        _ => {
            let remedy = "choose the CA's file of this gateway; if it is right, another device in the network answers";
            Found("ca-not-trusted", format!("the certificate of {host} was not signed by this CA"), remedy)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use tokio::io::AsyncReadExt;
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    use super::*;
    use crate::certificate::{HostCertificate, Purpose};
    use crate::state::StateFolder;

    #[allow(clippy::disallowed_methods, reason = "a certificate must be valid now")]
    fn certificate(folder: &tempfile::TempDir, names: &[&str], ahead: Duration) -> HostCertificate {
        let state = StateFolder::open(folder.path()).unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        HostCertificate::open(&state, &Purpose::page(), &names, SystemTime::now() + ahead).unwrap()
    }

    /// A gateway that makes a handshake with each caller. It panics if it hears anything after that.
    async fn gateway(certificate: &HostCertificate) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let acceptor = TlsAcceptor::from(certificate.tls().unwrap());
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                if let Ok(mut stream) = acceptor.accept(stream).await {
                    let mut heard = Vec::new();
                    let _ = stream.read_to_end(&mut heard).await;
                    assert!(heard.is_empty(), "{heard:?}");
                }
            }
        });
        port
    }

    async fn found(url: String, ca: Option<&str>) -> Vec<(String, String)> {
        let question = NetworkQuestion { url: Some(url), ca: ca.map(str::to_owned) };
        let findings = check(&question, &[[192, 0, 2, 7].into()], true).await;
        let word = |finding: &Value| match finding["good"].as_bool().unwrap() {
            true => "good".to_owned(),
            false => {
                assert!(["wrong", "remedy"].iter().all(|key| finding[key].as_str().unwrap().len() > 10), "{finding}");
                finding["fault"].as_str().unwrap().to_owned()
            }
        };
        findings.iter().map(|it| (it["name"].as_str().unwrap().to_owned(), word(it))).collect()
    }

    #[tokio::test]
    async fn the_way_to_the_gateway_is_tried_up_to_the_handshake_and_each_fault_has_its_name() {
        let place = tempfile::tempdir().unwrap();
        let own = certificate(&place, &["localhost"], Duration::ZERO);
        let port = gateway(&own).await;
        let last = async |url: String, ca| found(url, ca).await.pop().unwrap();
        let at = |fault: &str| ("gateway".to_owned(), fault.to_owned());
        let ca = Some(own.ca_pem());
        assert_eq!(last(format!("https://localhost:{port}/v1"), ca).await, at("good"));
        assert_eq!(last(format!("https://localhost:{port}"), None).await, at("good"));
        assert_eq!(last(format!("https://127.0.0.1:{port}"), ca).await, at("other-host"));
        let other = tempfile::tempdir().unwrap();
        let other = certificate(&other, &["localhost"], Duration::ZERO);
        assert_eq!(last(format!("https://localhost:{port}"), Some(other.ca_pem())).await, at("ca-not-trusted"));
        let early = tempfile::tempdir().unwrap();
        let early = certificate(&early, &["localhost"], Duration::from_secs(30 * 24 * 3600));
        let port_of_early = gateway(&early).await;
        let url = format!("https://localhost:{port_of_early}");
        assert_eq!(last(url, Some(early.ca_pem())).await, at("not-yet-valid"));
        for bad in ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            assert_eq!(last(format!("https://localhost:{port}"), Some(bad)).await, at("bad-ca"));
        }
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        assert_eq!(last(format!("https://localhost:{closed}"), ca).await, at("not-reached"));
        let name = |fault: &str| ("name".to_owned(), fault.to_owned());
        for bad in ["http://localhost", "gateway.example", "https://", ""] {
            assert_eq!(last(bad.to_owned(), ca).await, name("bad-url"), "{bad}");
        }
        assert_eq!(last("https://no.such.name.invalid/".to_owned(), ca).await, name("name-unknown"));
    }

    #[tokio::test]
    async fn a_board_without_an_address_or_a_clock_is_told_so() {
        let question = NetworkQuestion { url: None, ca: None };
        let findings = check(&question, &[], false).await;
        let faults: Vec<&str> = findings.iter().map(|it| it["fault"].as_str().unwrap()).collect();
        assert_eq!(faults, ["no-address", "clock-not-right"]);
        let findings = check(&question, &[[192, 0, 2, 7].into()], true).await;
        assert!(findings.len() == 2 && findings[0]["said"] == "192.0.2.7", "{findings:?}");
    }
}
