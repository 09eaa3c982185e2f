//! The checksum of a frame: CRC-16/KERMIT (reflected 0x8408, initial value 0, no final XOR). The document (ZVT
//! PA00P016, 3) calls it "CRC-XModem", which is a different checksum. Captured frames show that KERMIT is right.

/// Computes the checksum of `bytes`.
#[must_use]
pub fn crc(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| next(crc, *byte))
}

/// Returns the checksum after one more byte.
pub(super) const fn next(crc: u16, byte: u8) -> u16 {
    let mut crc = crc ^ (byte as u16);
    let mut bit = 0;
    while bit < 8 {
        crc = if crc & 1 == 0 { crc >> 1 } else { (crc >> 1) ^ 0x8408 };
        bit += 1;
    }
    crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_is_kermit_s() {
        assert_eq!(crc(b"123456789"), 0x2189);
        assert_eq!(crc(b""), 0);
    }
}
