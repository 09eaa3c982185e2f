//! Checks any bytes as the picture at the head of a receipt. There is no panic. A readable picture fits the paper and
//! stays the same when it is written again, in the plain and in the raw form.

use std::fmt::Write;

use pos_agent::config::Logo;

/// Checks that the conditions above hold for these bytes.
pub fn holds(bytes: &[u8]) {
    let Ok(logo) = Logo::read(bytes) else { return };
    let (width, height) = (logo.width(), logo.height());
    assert!((1..=576).contains(&width) && (1..=384).contains(&height));
    let row = width.div_ceil(8);
    assert_eq!(logo.rows().len(), row * height);
    let raw = [format!("P4 {width} {height}\n").as_bytes(), logo.rows()].concat();
    assert_eq!(Logo::read(&raw).as_ref(), Ok(&logo));
    let mut plain = format!("P1 # {height} rows\n{width} {height}\n");
    for row in logo.rows().chunks(row) {
        for x in 0..width {
            write!(plain, "{}", row[x / 8] >> (7 - x % 8) & 1).expect("a text takes all");
        }
        plain.push('\n');
    }
    assert_eq!(Logo::read(plain.as_bytes()), Ok(logo));
}
