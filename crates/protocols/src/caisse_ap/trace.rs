//! A message as a readable line, without card data.

use super::tlv::{Tag, scan};

/// Length of the longest value that is shown. A card number is longer.
const LONGEST: usize = 12;

/// Writes a message as one line. Values that may contain a card number are replaced by their length.
#[must_use]
pub fn line(bytes: &[u8]) -> String {
    let Ok(scan) = scan(bytes) else { return format!("unreadable, {} bytes", bytes.len()) };
    let mut fields: Vec<String> = scan.fields.iter().map(|(tag, value)| shown(*tag, value)).collect();
    if !scan.rest.iter().all(|byte| matches!(byte, b'\r' | b'\n')) {
        fields.push(format!("and {} bytes of an incomplete field", scan.rest.len()));
    }
    if fields.is_empty() { "nothing".to_owned() } else { fields.join(" ") }
}

fn shown(tag: Tag, value: &str) -> String {
    let is_id = tag == Tag::APPLICATION_ID && value.starts_with("A0000");
    let is_shown = tag != Tag::CARD && (value.len() <= LONGEST || is_id) && tag.0.first() != Some(&b'B');
    match is_shown && value.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        true => format!("{tag}={value}"),
        false => format!("{tag}=…{}", value.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_was_said_and_no_card_number() {
        let request = "CZ0040300CJ012012345678901CA00201CE003978CD0010CB0041250";
        assert_eq!(line(request.as_bytes()), "CZ=0300 CJ=012345678901 CA=01 CE=978 CD=0 CB=1250");
        assert_eq!(line(b"AE00210AA016************1111AC006A12345"), "AE=10 AA=…16 AC=A12345");
        assert_eq!(line(b"XX0164111111111111111"), "XX=…16");
        assert_eq!(line(b"CA0164111111111111111CZ0"), "CA=…16 and 3 bytes of an incomplete field");
        assert_eq!(line(b"\xff4111111111111111"), "unreadable, 17 bytes");
        assert_eq!((line(b"\r\n").as_str(), line(b"").as_str()), ("nothing", "nothing"));
    }
}
