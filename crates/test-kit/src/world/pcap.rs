//! The traffic of a till's connection, for Wireshark. Each test of a ZVT till writes its streams if `POS_ZVT_STREAMS`
//! names a folder (`bash tests/clients/dissect`). A file has the packets of one stream, without a file header. A header
//! followed by all files of the folder makes one capture.
//!
//! pcap: draft-ietf-opsawg-pcap, 5. The packets are raw IPv4 (link type 101) with TCP. Their checksums are not valid.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// ZVT's port: PA00P016.
const PORT: u16 = 20_007;
/// IPv4, no fragment, TTL 64, TCP. The length is at offset 2.
const IPV4: [u8; 12] = [0x45, 0, 0, 0, 0, 0, 0, 0, 64, 6, 0, 0];
/// A header of five words, with PSH and ACK, and a window of 65,535.
const FLAGS: [u8; 8] = [0x50, 0x18, 0xFF, 0xFF, 0, 0, 0, 0];
const TERMINAL: [u8; 4] = [127, 0, 0, 1];

/// One till's stream.
#[derive(Debug)]
pub struct Stream {
    file: File,
    till: [u8; 4],
    /// The numbers of bytes sent by the till and to it.
    said: u32,
    heard: u32,
}

impl Stream {
    /// Begins a stream; `None` if no streams are written.
    pub fn begin() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let folder = std::env::var_os("POS_ZVT_STREAMS")?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        // Each till has a different address.
        let [_, high, middle, low] = count.to_be_bytes();
        let file = File::create(Path::new(&folder).join(count.to_string())).unwrap();
        Some(Self { file, till: [10, high, middle, low], said: 1, heard: 1 })
    }

    pub fn till_says(&mut self, bytes: &[u8]) {
        self.packets((self.till, 30_000), (TERMINAL, PORT), bytes);
    }

    pub fn terminal_says(&mut self, bytes: &[u8]) {
        self.packets((TERMINAL, PORT), (self.till, 30_000), bytes);
    }

    fn packets(&mut self, from: ([u8; 4], u16), to: ([u8; 4], u16), bytes: &[u8]) {
        for part in bytes.chunks(32_768) {
            let (sequence, acknowledged) =
                if to.1 == PORT { (&mut self.said, self.heard) } else { (&mut self.heard, self.said) };
            let length = u16::try_from(40 + part.len()).unwrap();
            let mut packet = IPV4.to_vec();
            packet[2..4].copy_from_slice(&length.to_be_bytes());
            for address in [from.0, to.0] {
                packet.extend(address);
            }
            packet.extend(from.1.to_be_bytes());
            packet.extend(to.1.to_be_bytes());
            packet.extend(sequence.to_be_bytes());
            packet.extend(acknowledged.to_be_bytes());
            packet.extend(FLAGS);
            packet.extend(part);
            *sequence = sequence.wrapping_add(u32::from(length) - 40);
            // The time is zero, and the whole packet was captured.
            let mut record = vec![0; 8];
            record.extend(u32::from(length).to_le_bytes());
            record.extend(u32::from(length).to_le_bytes());
            record.extend(packet);
            self.file.write_all(&record).unwrap();
        }
    }
}
