//! The picture at the head of a receipt: a PBM file, plain (P1) or raw (P4), with limits on its size.
//!
//! The format is PBM, because reading it takes forty lines of code, and every graphics program writes it. With
//! ImageMagick: `convert shop.png -resize 384x -monochrome logo.pbm`. Any other format would need a picture library on
//! the terminal.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The widest supported paper. At 203 dots per inch, 80 mm paper prints 576 dots.
const MAX_WIDTH: usize = 576;
/// The largest height, which is 48 mm of paper. A higher picture would waste paper. Even 27 KB take half a minute at
/// 9600 baud.
const MAX_HEIGHT: usize = 384;
/// The largest file. A plain file needs two characters per dot and may contain comments.
const MAX_BYTES: usize = 2 * MAX_WIDTH * MAX_HEIGHT + 4096;

/// A picture in black and white dots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logo {
    width: usize,
    height: usize,
    /// Rows of whole bytes. The leftmost dot is the highest bit, 1 is black, and dots beyond the width are white.
    rows: Vec<u8>,
}

/// The reason why a file gives no logo.
#[derive(Debug, thiserror::Error)]
pub enum LogoError {
    /// The file cannot be read.
    #[error("{}: cannot be read ({cause}); put the picture in this file as PBM, readable by the agent's user", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        #[source]
        cause: io::Error,
    },
    /// The file is not a PBM file, or it is damaged.
    #[error("{f}: {wrong}; create it with: convert shop.png -resize 384x -monochrome {f}", f = file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// The problem.
        wrong: String,
    },
}

/// Reads a logo of at most 576 by 384 dots.
///
/// # Errors
/// Every [`LogoError`].
pub fn logo_file(path: &Path) -> Result<Logo, LogoError> {
    let unreadable = |cause| LogoError::Unreadable { file: path.to_owned(), cause };
    let file = File::open(path).map_err(unreadable)?;
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(unreadable(io::Error::other("it is not a regular file")));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    let malformed = |wrong| LogoError::Malformed { file: path.to_owned(), wrong };
    if bytes.len() > MAX_BYTES {
        return Err(malformed(format!("is larger than {MAX_BYTES} bytes")));
    }
    Logo::read(&bytes).map_err(malformed)
}

impl Logo {
    /// Returns the width in dots.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the height in dots.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the rows, each of whole bytes. The leftmost dot is the highest bit, and 1 is black.
    #[must_use]
    pub fn rows(&self) -> &[u8] {
        &self.rows
    }

    /// Reads Netpbm's pbm(5): the magic number, width and height in decimal separated by blanks and comments, then the
    /// dots.
    ///
    /// # Errors
    /// The problem.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let plain = match bytes {
            [b'P', b'1', ..] => true,
            [b'P', b'4', ..] => false,
            _ => return Err("is not PBM (it must begin with P1 or P4)".to_owned()),
        };
        let mut at = 2;
        let mut number = |what: &str, most: usize| {
            let number = decimal(bytes, &mut at).ok_or_else(|| format!("has no {what}"))?;
            if (1..=most).contains(&number) { Ok(number) } else { Err(format!("its {what} is not 1 to {most} dots")) }
        };
        let (width, height) = (number("width", MAX_WIDTH)?, number("height", MAX_HEIGHT)?);
        let row = width.div_ceil(8);
        let rows = if plain {
            plain_dots(&bytes[at..], width, height)
        } else {
            // One blank is followed by exactly the rows. A second picture may follow.
            bytes.get(at + 1..at + 1 + row * height).map(<[u8]>::to_vec)
        };
        let mut rows = rows.ok_or_else(|| format!("ends before its {width} x {height} dots"))?;
        let white = (row * 8 - width) as u32;
        rows.chunks_exact_mut(row).for_each(|row| row[row.len() - 1] &= 0xFF << white);
        Ok(Self { width, height, rows })
    }
}

/// Reads the next number, of at most five digits, after blanks and comments.
fn decimal(bytes: &[u8], at: &mut usize) -> Option<usize> {
    loop {
        match bytes.get(*at)? {
            b'#' => *at += bytes[*at..].iter().position(|byte| *byte == b'\n')?,
            byte if byte.is_ascii_whitespace() => *at += 1,
            _ => break,
        }
    }
    let digits = bytes[*at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = std::str::from_utf8(&bytes[*at..*at + digits.min(5)]).ok()?;
    *at += digits;
    text.parse().ok()
}

/// Reads `0` and `1`, with or without blanks between them.
fn plain_dots(text: &[u8], width: usize, height: usize) -> Option<Vec<u8>> {
    let row = width.div_ceil(8);
    let mut rows = vec![0; row * height];
    let mut dots = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        match dots.next()? {
            b'0' => {}
            b'1' => rows[y * row + x / 8] |= 0x80 >> (x % 8),
            _ => return None,
        }
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the first rows of the example in pbm(5), with a comment, and dots with and without blanks between them.
    #[test]
    fn plain_and_raw_say_the_same() {
        let plain = Logo::read(b"P1\n# feep\n10 2\n0 1 1 1 1 0 0 1 1 1\n0100000100\n").unwrap();
        assert_eq!((plain.width(), plain.height(), plain.rows()), (10, 2, &[0x79, 0xC0, 0x41, 0x00][..]));
        assert_eq!(Logo::read(b"P4 10 2\n\x79\xC0\x41\x00").unwrap(), plain);
        // The bits beyond the width are ignored.
        assert_eq!(Logo::read(b"P4 10 2\n\x79\xFF\x41\x3F").unwrap(), plain);
    }

    #[test]
    fn what_is_no_picture_is_refused_with_the_reason() {
        for (bytes, wrong) in [
            (&b"\x89PNG\r\n"[..], "is not PBM"),
            (b"P5 1 1 255\n\0", "is not PBM"),
            (b"P1", "has no width"),
            (b"P1 # no end", "has no width"),
            (b"P1 8", "has no height"),
            (b"P1 0 8 0", "its width is not 1 to 576"),
            (b"P1 577 8 0", "its width is not 1 to 576"),
            (b"P4 8 385\n", "its height is not 1 to 384"),
            (b"P4 99999999999999999999 1\n", "its width"),
            (b"P4 8 -1\n", "has no height"),
            (b"P4 9 2\n\0\0\0", "ends before its 9 x 2 dots"),
            (b"P1 2 2 0 1 1", "ends before its 2 x 2 dots"),
            (b"P1 2 1 0 2", "ends before"),
        ] {
            let said = Logo::read(bytes).unwrap_err();
            assert!(said.starts_with(wrong), "{said}");
        }
    }
}
