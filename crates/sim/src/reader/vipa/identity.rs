//! Who the reader is: the long answer to RESET, and the versions of its configuration (readers: 3.2). The description
//! names the elements. The values here are this simulator's own.

use crate::reader::device::Device;
use crate::reader::objects::{self, template};

/// DF0D and DF7F in EE.
const MODEL: &[u8] = b"P400";
const SYSTEM: &[u8] = b"release-30830900";

/// A name and a version.
type Named = (&'static str, &'static str);

/// The applications, each with its components. The description names the applications.
const APPLICATIONS: &[(&str, &str, &[Named])] = &[
    ("RELEASE", "6.8.2.23", &[("SIM-BASE", "1.0.4"), ("SIM-UPDATE", "1.2.0")]),
    ("VSD SRED", "6.8.2.23", &[("SIM-DUKPT", "2.1.7")]),
    ("AUTHAPP", "6.8.2.23", &[]),
    ("CICAPP", "6.8.2.23", &[("SIM-KERNELS", "3.4.1")]),
    ("GUIPROXY", "6.8.2.23", &[]),
    ("MAPP", "6.8.2.23", &[("SIM-PROMPTS", "1.1.9")]),
    ("WATCHDOG", "6.8.2.23", &[]),
    ("CARDAPP", "6.8.2.23", &[("SIM-SLOT", "1.0.2")]),
];

/// Returns the answer to RESET with information.
pub(super) fn info(device: &mut Device) -> Vec<u8> {
    let serial = device.options.serial.clone();
    let mut out = objects::object(0x9F1C, serial.as_bytes());
    // The time of the daily reboot, HHMMSS.
    objects::put(&mut out, 0xDFA242, &[0x03, 0x00, 0x00]);
    objects::put(&mut out, 0xDF8145, &[0x00]);
    out.extend(terminal(&serial));
    out.extend(template(
        0xF0,
        &[(0xDF0D, b"SIM-OPTIONS"), (0xDF7F, b"1.0.0.0"), (0xDF8106, b"SIM-VAS"), (0xDF8107, b"0")],
    ));
    for (name, version, components) in APPLICATIONS {
        out.extend(application(name, version, components));
    }
    out
}

fn terminal(serial: &str) -> Vec<u8> {
    template(
        0xEE,
        &[
            (0x9F1E, serial.as_bytes()),
            (0xDF8108, b"ARMv7"),
            (0xDF8109, b"SIM"),
            (0xDF0D, MODEL),
            (0xDF7F, SYSTEM),
            (0xDF8106, b"VAULT"),
            (0xDF8107, b"12.5.3.1"),
            (0xDF8106, b"APPM"),
            (0xDF8107, b"10.2.1.14"),
            (0xDF8106, b"SRED"),
            (0xDF8107, b"7.3.4"),
            (0xDF8106, b"OPENPROTOCOL"),
            (0xDF8107, b"3.2.4.12"),
            // Anti-removal and tamper: nothing has happened.
            (0xDF8102, &[0x00]),
            (0xDF8101, &[0x00]),
            (0xDFEC1F, &[0x00, 0x00]),
        ],
    )
}

fn application(name: &str, version: &str, components: &[(&str, &str)]) -> Vec<u8> {
    let mut inner = objects::object(0xDF0D, name.as_bytes());
    objects::put(&mut inner, 0xDF7F, version.as_bytes());
    for (name, version) in components {
        objects::put(&mut inner, 0xDF8106, name.as_bytes());
        objects::put(&mut inner, 0xDF8107, version.as_bytes());
    }
    let hash = ring::digest::digest(&ring::digest::SHA256, name.as_bytes());
    objects::put(&mut inner, 0xDFDB09, &hash.as_ref()[..28]);
    objects::put(&mut inner, 0xDFDB0E, &[0x00, 0x00, 0x0C, 0x01]);
    objects::object(0xEF, &inner)
}

/// Returns the names and versions of the configuration files (D001).
pub(super) fn configuration(device: &Device) -> Vec<u8> {
    let file =
        |(name, version): &(String, String)| template(0xED, &[(0xDF0D, name.as_bytes()), (0xDF7F, version.as_bytes())]);
    device.options.configuration.iter().flat_map(file).collect()
}
