//! The link of the board's network, from the system's files (`/sys/class/net`). Without a link, no request can reach
//! the gateway, so the agent asks for no card. Only a proven fault counts, because an error here would stop all sales:
//! every interface must report that it has no link. A gateway on this board needs none.

use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use crate::agent::surroundings::LinkLook;
use pos_gateway::Fault;

/// The folder with one folder for each interface.
const INTERFACES: &str = "/sys/class/net";
/// The types of interfaces that never lead to a gateway: loopback and CAN (Linux, `ARPHRD_LOOPBACK`, `ARPHRD_CAN`).
const OTHERS: [&str; 2] = ["772", "280"];

/// The link, and its last state in the log.
pub(in crate::agent) struct Link {
    /// The look at the link, or `None` if the gateway needs no link.
    look: Option<LinkLook>,
    was_down: bool,
}

impl Link {
    /// Creates the link to a gateway. With `look`, the state comes from there.
    pub(in crate::agent) fn to(url: &str, look: Option<LinkLook>) -> Self {
        let system: LinkLook = Arc::new(|| without_link(Path::new(INTERFACES)));
        let look = look.unwrap_or(system);
        Self { look: (!is_on_this_board(url)).then_some(look), was_down: false }
    }

    /// Creates the link of a gateway whose connection is supplied, or of no gateway at all.
    pub(in crate::agent) fn not_needed() -> Self {
        Self { look: None, was_down: false }
    }

    /// Returns the fault, if the network has no link.
    pub(in crate::agent) fn fault(&self) -> Option<Fault> {
        let interfaces = self.look.as_ref()?()?;
        Some(Fault::NoRoute { cause: format!("the network has no link ({interfaces})") })
    }

    /// Logs when the link is lost and when it is back. Returns true if it is back.
    pub(super) fn is_back(&mut self) -> bool {
        let fault = self.fault();
        let is_back = self.was_down && fault.is_none();
        match &fault {
            Some(fault) if !self.was_down => tracing::warn!(fault = fault.as_str(), "{fault}"),
            None if is_back => tracing::info!("the network has a link again"),
            _ => {}
        }
        self.was_down = fault.is_some();
        is_back
    }
}

fn is_on_this_board(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = match rest.strip_prefix('[') {
        Some(address) => address.split(']').next(),
        None => rest.split([':', '/']).next(),
    };
    host.is_some_and(|host| host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()))
}

/// Returns the names of the interfaces, if there are any and none of them has a link.
fn without_link(interfaces: &Path) -> Option<String> {
    let mut names = Vec::new();
    for interface in fs::read_dir(interfaces).ok()? {
        let interface = interface.ok()?;
        let says = |file: &str| fs::read_to_string(interface.path().join(file)).map(|text| text.trim().to_owned());
        // Not every entry is an interface.
        let Ok(kind) = says("type") else { continue };
        if OTHERS.contains(&kind.as_str()) {
            continue;
        }
        // An interface that is switched off has no carrier to read.
        let is_down = match says("carrier") {
            Ok(carrier) => carrier == "0",
            Err(_) => says("operstate").is_ok_and(|state| state == "down" || state == "notpresent"),
        };
        if !is_down {
            return None;
        }
        names.push(interface.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    (!names.is_empty()).then(|| names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The interfaces of a board: name, type, carrier and state. An interface without a carrier cannot be asked for it.
    fn looked_at(interfaces: &[(&str, &str, &str, &str)]) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("bonding_masters"), "\n").unwrap();
        for (name, kind, carrier, state) in interfaces {
            let folder = folder.path().join(name);
            fs::create_dir(&folder).unwrap();
            for (file, text) in [("type", kind), ("carrier", carrier), ("operstate", state)] {
                if !text.is_empty() {
                    fs::write(folder.join(file), format!("{text}\n")).unwrap();
                }
            }
        }
        without_link(folder.path())
    }

    #[test]
    fn only_a_board_on_which_every_interface_says_so_has_no_link() {
        let (own, plugged, out) = (("lo", "772", "1", "unknown"), ("eth0", "1", "1", "up"), ("eth0", "1", "0", "down"));
        let (off, radio) = (("wlan0", "1", "", "down"), ("wlan0", "1", "1", "up"));
        assert_eq!(looked_at(&[own, out]), Some("eth0".to_owned()));
        assert_eq!(looked_at(&[own, out, ("can0", "280", "1", "up")]), Some("eth0".to_owned()));
        assert_eq!(looked_at(&[own, out, off]), Some("eth0, wlan0".to_owned()));
        assert_eq!(looked_at(&[own, ("wwan0", "65534", "", "notpresent")]), Some("wwan0".to_owned()));
        for up in [
            &[own, plugged][..],
            &[own, plugged, off],
            &[own, out, radio],
            // A tunnel or a modem that does not know.
            &[own, out, ("ppp0", "512", "", "unknown")],
            &[own, out, ("wg0", "65534", "1", "unknown")],
            &[own, out, ("odd0", "1", "", "")],
            &[own, out, ("odd0", "1", "maybe", "down")],
            // Without an interface, nothing is proven.
            &[own],
            &[],
        ] {
            assert_eq!(looked_at(up), None, "{up:?}");
        }
        assert_eq!(without_link(Path::new("/nonexistent")), None);
    }

    #[test]
    fn a_gateway_on_this_board_needs_no_link() {
        let down = || -> Option<LinkLook> { Some(Arc::new(|| Some("eth0".to_owned()))) };
        for (url, needs) in [
            ("https://gateway.example/v1", true),
            ("https://192.0.2.7:8443", true),
            ("https://localhost.example/v1", true),
            ("https://127.example", true),
            ("https://localhost:8443", false),
            ("https://127.0.0.1", false),
            ("https://[::1]:8443", false),
        ] {
            assert_eq!(Link::to(url, down()).fault().is_some(), needs, "{url}");
        }
        let fault = Link::to("https://gateway.example", down()).fault().unwrap().to_string();
        assert_eq!(fault, "no connection to the gateway: the network has no link (eth0); check the network");
    }
}
