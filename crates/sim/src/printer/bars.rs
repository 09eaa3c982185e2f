//! A printer's bar codes: the codes of GS k, checked by the tables in the manuals. If a printer cannot draw a code, it
//! prints nothing.

/// The settings of GS h and GS w, which decide whether a code can be drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bars {
    /// The width of the narrowest bar, in dots.
    pub(super) module: usize,
}

impl Default for Bars {
    fn default() -> Self {
        Self { module: 3 }
    }
}

impl Bars {
    /// Returns the name of the code and its content for a scanner, on paper with this many dots; `None` if it cannot be
    /// drawn.
    pub(super) fn read(self, kind: u8, data: &[u8], dots: usize) -> Option<(&'static str, String)> {
        let (name, modules, says) = match kind {
            65 => ("UPC-A", 95, gtin(data, 12)?),
            67 => ("EAN-13", 95, gtin(data, 13)?),
            68 => ("EAN-8", 67, gtin(data, 8)?),
            70 => {
                ("ITF", 0, Some(text(data)?).filter(|says| says.len().is_multiple_of(2) && is_digits(says.as_bytes()))?)
            }
            73 => {
                let says = code128(data)?;
                ("CODE128", (says.len() + 2) * 11 + 13, says)
            }
            _ => return None,
        };
        let width = match kind {
            // Two of five bars are wide. Wide bars have 0.625 mm with narrow bars of 0.25 mm, and 1 mm with narrow bars
            // of 0.375 mm.
            70 if self.module == 2 => says.len() * 16 + 17,
            70 => says.len() * 25 + 26,
            _ => modules * self.module,
        };
        (width <= dots && !says.is_empty()).then_some((name, says))
    }
}

fn is_digits(data: &[u8]) -> bool {
    data.iter().all(u8::is_ascii_digit)
}

fn text(data: &[u8]) -> Option<String> {
    data.iter().all(|byte| (0x20..0x7F).contains(byte)).then(|| String::from_utf8_lossy(data).into_owned())
}

/// Returns the digits if their weighted sum is a multiple of ten. The last digit has the weight 1.
fn gtin(data: &[u8], length: usize) -> Option<String> {
    if data.len() != length || !is_digits(data) {
        return None;
    }
    let weight = |place: usize| if (length - place) % 2 == 1 { 1 } else { 3 };
    let sum: usize = data.iter().enumerate().map(|(place, digit)| usize::from(digit - b'0') * weight(place)).sum();
    if sum.is_multiple_of(10) { text(data) } else { None }
}

/// Reads code set B only; a doubled brace is one brace.
fn code128(data: &[u8]) -> Option<String> {
    let rest = data.strip_prefix(b"{B")?;
    let mut says = String::new();
    let mut letters = text(rest)?.chars().collect::<Vec<_>>().into_iter();
    while let Some(letter) = letters.next() {
        if letter == '{' && letters.next() != Some('{') {
            return None;
        }
        says.push(letter);
    }
    Some(says)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: u8, data: &[u8]) -> Option<String> {
        Bars { module: 2 }.read(kind, data, 384).map(|(name, says)| format!("{name} {says}"))
    }

    #[test]
    fn what_a_printer_would_draw_is_read_and_nothing_else() {
        // These codes are from the packages of real goods, so their check digits come from another source.
        assert_eq!(read(67, b"4006381333931").as_deref(), Some("EAN-13 4006381333931"));
        assert_eq!(read(68, b"96385074").as_deref(), Some("EAN-8 96385074"));
        assert_eq!(read(65, b"036000291452").as_deref(), Some("UPC-A 036000291452"));
        assert_eq!(read(70, b"1234").as_deref(), Some("ITF 1234"));
        assert_eq!(read(73, b"{Ba{{1").as_deref(), Some("CODE128 a{1"));
        for (kind, data) in [
            (67, &b"4006381333932"[..]),
            (67, b"400638133393"),
            (68, b"9638507a"),
            (70, b"123"),
            (73, b"abc"),
            (73, b"{Ba{1"),
            (73, b"{B\x1B@"),
            (73, b"{B"),
            (69, b"1"),
        ] {
            assert_eq!(read(kind, data), None, "{kind} {data:?}");
        }
        // With the narrowest bars, 15 characters are 396 dots wide.
        assert_eq!(read(73, b"{B12345678901234").as_deref(), Some("CODE128 12345678901234"));
        assert_eq!(read(73, b"{B123456789012345"), None);
        assert!(read(70, b"1234567890123456789012").is_some() && read(70, b"123456789012345678901234").is_none());
    }
}
