//! How tills find the terminal in the shop's network: multicast DNS (RFC 6762) with service discovery (RFC 6763).
//!
//! The front announces the service `_pos-agent._tcp` at its HTTPS port, on the networks that it listens on. It
//! announces nothing if it listens on loopback only. An announcement proves nothing, because every device in the
//! network can send one. It leads a till to an address; pairing decides whether the till trusts the terminal there.
//!
//! | record | content |
//! |---|---|
//! | PTR | the host name of the board, for people |
//! | SRV | a name that only this terminal has, and the port |
//! | TXT `txtvers` | the version of these keys: 1 |
//! | TXT `api` | the version of the interface: `/v1/` |
//! | TXT `ca` | the SHA-256 fingerprint of the terminal's CA, for a till that already knows it |
//! | A, AAAA | the addresses that the front listens on |
//!
//! A thread of the crate answers the queries. The front never searches, so it asks for no records of other devices.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use mdns_sd::{DaemonEvent, IfKind, ServiceDaemon, ServiceInfo};
use tokio::time::timeout;

use crate::certificate::HostCertificate;
use crate::task;

/// The service, as in the manual.
pub(crate) const SERVICE: &str = "_pos-agent._tcp";
/// The largest length of a label, in bytes (RFC 1035, 2.3.4).
const LONGEST_LABEL: usize = 63;
/// The interval at which the crate looks for new addresses of the board, in seconds.
const ADDRESSES_LOOKED_AT_S: u32 = 15;
/// The time within which the crate tells the network that the terminal is gone.
const GOODBYE: Duration = Duration::from_millis(500);

/// What the front announces, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Announcement {
    /// The name that a person sees in a list of terminals.
    name: String,
    port: u16,
    networks: Networks,
}

/// The networks that hear the announcement.
#[derive(Debug, PartialEq, Eq)]
enum Networks {
    /// Each network of the board, with IPv4 only or also with IPv6.
    All { ipv6: bool },
    /// The networks of these addresses.
    Of(Vec<IpAddr>),
}

impl Announcement {
    /// Returns what to announce for these HTTPS addresses; `None` if no network reaches them. An announcement has one
    /// port: that of the first address.
    pub(crate) fn of(https: &[SocketAddr], host_name: &str) -> Option<Self> {
        let reached: Vec<&SocketAddr> = https.iter().filter(|address| !address.ip().is_loopback()).collect();
        let port = reached.first()?.port();
        let ips: Vec<IpAddr> =
            reached.iter().filter(|address| address.port() == port).map(|address| address.ip()).collect();
        let networks = match ips.iter().any(IpAddr::is_unspecified) {
            // A socket on `::` also accepts IPv4.
            true => Networks::All { ipv6: ips.iter().any(IpAddr::is_ipv6) },
            false => Networks::Of(ips),
        };
        Some(Self { name: label(host_name), port, networks })
    }

    /// Returns the announcement as a person would read it.
    pub(crate) fn shown(&self) -> String {
        format!("{}.{SERVICE}.local, port {}", self.name, self.port)
    }

    fn service(&self, ca: &str, host: &str) -> Result<ServiceInfo, mdns_sd::Error> {
        let host = format!("{host}.");
        let addresses = match &self.networks {
            Networks::All { .. } => Vec::new(),
            Networks::Of(ips) => ips.clone(),
        };
        let texts = [("txtvers", "1"), ("api", "1"), ("ca", ca)];
        let service = format!("{SERVICE}.local.");
        let info = ServiceInfo::new(&service, &self.name, &host, &*addresses, self.port, &texts[..])?;
        Ok(if addresses.is_empty() { info.enable_addr_auto() } else { info })
    }

    fn choose_networks(&self, daemon: &ServiceDaemon) -> Result<(), mdns_sd::Error> {
        match &self.networks {
            Networks::All { ipv6 } => {
                daemon.disable_interface(vec![IfKind::LoopbackV4, IfKind::LoopbackV6])?;
                if !ipv6 {
                    daemon.disable_interface(IfKind::IPv6)?;
                }
                Ok(())
            }
            Networks::Of(ips) => {
                daemon.disable_interface(IfKind::All)?;
                daemon.enable_interface(ips.iter().copied().map(IfKind::Addr).collect::<Vec<_>>())
            }
        }
    }
}

/// Returns a host name as one label. A board without a usable name is called `pos-agent`.
fn label(host_name: &str) -> String {
    let first = host_name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let usable = (1..=LONGEST_LABEL).contains(&first.len()) && first.bytes().all(good) && first != "localhost";
    if usable { first } else { "pos-agent".to_owned() }
}

/// A running announcement. Tills find the terminal until `ends` is called.
pub(crate) struct Announcing {
    daemon: ServiceDaemon,
}

impl Announcing {
    /// Begins to announce. A fault is only logged: a till that knows the address needs no announcement.
    pub(crate) fn begin(announcement: &Announcement, certificate: &HostCertificate) -> Option<Self> {
        let begun = || {
            let (ca, host) = (certificate.ca_fingerprint()?, certificate.network_name()?);
            let daemon = ServiceDaemon::new()?;
            daemon.set_ip_check_interval(ADDRESSES_LOOKED_AT_S)?;
            announcement.choose_networks(&daemon)?;
            let events = daemon.monitor()?;
            daemon.register(announcement.service(&ca, &host)?)?;
            Ok::<_, Box<dyn std::error::Error>>((daemon, events))
        };
        let (daemon, events) = match begun() {
            Ok(begun) => begun,
            Err(error) => {
                tracing::error!(%error, "tills cannot find the terminal in the network; give them its address");
                return None;
            }
        };
        tracing::info!(announced = announcement.shown(), "tills in the network find the terminal");
        task::spawn(async move {
            // The channel ends with the crate's thread.
            while let Ok(event) = events.recv_async().await {
                tell(&event);
            }
        });
        Some(Self { daemon })
    }

    /// Tells the network that the terminal is gone.
    pub(crate) async fn ends(self) {
        if let Ok(done) = self.daemon.shutdown() {
            // Without this message, tills show the terminal for up to two minutes more.
            let _ = timeout(GOODBYE, done.recv_async()).await;
        }
    }
}

fn tell(event: &DaemonEvent) {
    match event {
        DaemonEvent::Error(error) => tracing::warn!(%error, "the announcement in the network failed"),
        DaemonEvent::NameChange(change) => tracing::warn!(
            wanted = change.original,
            name = change.new_name,
            "another device in the network has the terminal's name; give each board its own host name"
        ),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(https: &[&str]) -> Option<(u16, Networks)> {
        let https: Vec<SocketAddr> = https.iter().map(|address| address.parse().unwrap()).collect();
        Announcement::of(&https, "kasse").map(|announcement| (announcement.port, announcement.networks))
    }

    #[test]
    fn only_addresses_that_a_network_reaches_are_announced() {
        for loopback in [&[][..], &["127.0.0.1:8443"], &["[::1]:8443", "127.0.0.2:8444"]] {
            assert_eq!(of(loopback), None, "{loopback:?}");
        }
        assert_eq!(of(&["0.0.0.0:8443"]), Some((8443, Networks::All { ipv6: false })));
        assert_eq!(of(&["127.0.0.1:1", "[::]:8443"]), Some((8443, Networks::All { ipv6: true })));
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        assert_eq!(of(&["192.0.2.7:8443"]), Some((8443, Networks::Of(vec![ip("192.0.2.7")]))));
        assert_eq!(
            of(&["192.0.2.7:8443", "192.0.2.8:9443", "[2001:db8::7]:8443"]),
            Some((8443, Networks::Of(vec![ip("192.0.2.7"), ip("2001:db8::7")]))),
            "one port"
        );
    }

    #[test]
    fn a_board_without_a_usable_name_is_called_pos_agent() {
        let long = "k".repeat(64);
        for (host_name, expected) in [
            ("kasse-1", "kasse-1"),
            ("Kasse.shop.example", "kasse"),
            ("", "pos-agent"),
            ("localhost", "pos-agent"),
            ("kasse_1", "pos-agent"),
            (&long, "pos-agent"),
        ] {
            assert_eq!(label(host_name), expected, "{host_name}");
        }
    }
}
