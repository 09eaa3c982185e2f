//! The check of a journal's WAL before SQLite opens it. It finds out whether a power cut can explain the state of the
//! WAL. SQLite treats an unreadable part as the end of the log and overwrites it.
//!
//! The format is SQLite's (File Format, 4: The Write-Ahead Log). A header of 32 bytes is followed by frames of 24 bytes
//! and a page. Each frame has the salts of the header and a running checksum. A power cut can damage only the last
//! SQLite transaction, because each commit is synced before the next begins. If two commits follow a damaged frame, the
//! cause was not a power cut.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

const HEADER: usize = 32;
const FRAME: usize = 24;
/// The magic number. Checksums use big-endian words if its lowest bit is set.
const MAGIC: u32 = 0x377F_0682;
/// The format version, of which only one exists.
const VERSION: u32 = 3_007_000;

/// Returns the fault of the WAL, or `None` if it is usable or does not exist.
pub(super) fn fault(wal: &Path) -> io::Result<Option<&'static str>> {
    match File::open(wal) {
        Ok(file) => look(BufReader::with_capacity(1 << 16, file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn look(mut file: impl Read) -> io::Result<Option<&'static str>> {
    let mut header = [0; HEADER];
    // A file that was created but not written is empty or contains zeros.
    if !fill(&mut file, &mut header)? || header == [0; HEADER] {
        return Ok(None);
    }
    let big = word(&header, 0) & 1 == 1;
    let mut sum = [0; 2];
    add(&mut sum, &header[..24], big);
    let page = word(&header, 2) as usize;
    let right = word(&header, 0) & !1 == MAGIC
        && word(&header, 1) == VERSION
        && (512..=65536).contains(&page)
        && page.is_power_of_two()
        && sum == [word(&header, 6), word(&header, 7)];
    if !right {
        return Ok(Some("its -wal file has a wrong beginning"));
    }
    let mut frame = vec![0; FRAME + page];
    let (mut broken, mut commits_behind) = (false, 0);
    while fill(&mut file, &mut frame)? {
        if frame[8..16] != header[16..24] {
            // This frame was written before the log was restarted, so the log ends here.
            if !broken {
                break;
            }
            continue;
        }
        if !broken {
            add(&mut sum, &frame[..8], big);
            add(&mut sum, &frame[FRAME..], big);
            broken = sum != [word(&frame, 4), word(&frame, 5)];
        }
        commits_behind += u32::from(broken && word(&frame, 1) != 0);
    }
    Ok((commits_behind > 1).then_some("its -wal file is damaged before its last commits"))
}

/// Adds bytes to SQLite's checksum. They are read as pairs of words, and each word is added to one half of the checksum
/// together with the other half.
fn add(sum: &mut [u32; 2], bytes: &[u8], big: bool) {
    for pair in bytes.as_chunks::<8>().0 {
        let [a, b, c, d, e, f, g, h] = *pair;
        let read = if big { u32::from_be_bytes } else { u32::from_le_bytes };
        sum[0] = sum[0].wrapping_add(read([a, b, c, d])).wrapping_add(sum[1]);
        sum[1] = sum[1].wrapping_add(read([e, f, g, h])).wrapping_add(sum[0]);
    }
}

/// Returns the nth word of a header.
fn word(bytes: &[u8], n: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[n * 4..n * 4 + 4]);
    u32::from_be_bytes(word)
}

/// Fills `buffer`, and returns whether there was enough data.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
