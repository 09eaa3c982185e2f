//! Draws a receipt as a picture: it turns strips of paper into dots, and the dots into a PNG.
//!
//! The picture has two pixels for each dot of the paper. A character of 12 by 24 dots is thus a letter of GNU Unifont
//! (8 by 16), enlarged three times. Bold letters are drawn twice, one dot apart, as on real printers.

use qrcodegen::{QrCode, QrCodeEcc, QrSegment, Version};

/// The alignment of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Centre,
    Right,
}

/// One letter on the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) c: char,
    pub(super) bold: bool,
    pub(super) wide: usize,
    pub(super) high: usize,
}

/// A strip as wide as the paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Strip {
    /// A line of text, which may be empty.
    Text { cells: Vec<Cell>, align: Align },
    /// Rows of whole bytes, where 1 is black.
    Picture { bytes_in_row: usize, bits: Vec<u8>, align: Align },
    /// `level` is a digit from 0 (L) to 3 (H); `module` is in dots.
    Qr { content: Vec<u8>, level: u8, module: usize, align: Align },
}

/// The pixels for one dot, in each direction.
const SCALE: usize = 2;
/// The size of a character in font A, in dots: its width, and the height of its line.
const CELL: (usize, usize) = (12, 24);
const LINE: usize = 30;
/// The white margin around the print, in dots.
const MARGIN: usize = 24;
/// The pixels for one dot of the font; 8 of them make a character cell of 12 dots.
const LETTER: usize = CELL.0 * SCALE / 8;

/// The pixels, where true is black.
struct Canvas {
    width: usize,
    rows: Vec<Vec<bool>>,
}

/// Draws the strips as a PNG file with one bit per pixel, for paper with `columns` characters per line.
pub(super) fn png(strips: &[Strip], columns: usize) -> Result<Vec<u8>, png::EncodingError> {
    let dots = if columns == 42 { 512 } else { columns * CELL.0 };
    let mut canvas = Canvas { width: (dots + 2 * MARGIN) * SCALE, rows: Vec::new() };
    canvas.feed(MARGIN);
    for strip in strips {
        canvas.strip(strip, dots);
    }
    canvas.feed(MARGIN);
    canvas.png()
}

impl Canvas {
    fn feed(&mut self, dots: usize) {
        self.rows.resize_with(self.rows.len() + dots * SCALE, || vec![false; self.width]);
    }

    /// Draws a strip below the earlier ones.
    fn strip(&mut self, strip: &Strip, dots: usize) {
        let top = self.rows.len();
        match strip {
            Strip::Text { cells, align } => {
                let high = cells.iter().map(|cell| cell.high).max().unwrap_or(1);
                self.feed(LINE + (high - 1) * CELL.1);
                let width = cells.iter().map(|cell| cell.wide * CELL.0).sum();
                let mut x = left(*align, width, dots);
                for cell in cells {
                    // Letters of different heights share one baseline.
                    self.letter(*cell, x * SCALE, top + (high - cell.high) * CELL.1 * SCALE);
                    x += cell.wide * CELL.0;
                }
            }
            Strip::Picture { bytes_in_row, bits, align } => {
                self.feed(bits.len() / bytes_in_row);
                let x = left(*align, bytes_in_row * 8, dots);
                for (n, byte) in bits.iter().enumerate() {
                    for bit in (0..8).filter(|bit| byte & (0x80 >> bit) != 0) {
                        self.dot(x + n % bytes_in_row * 8 + bit, top / SCALE + n / bytes_in_row);
                    }
                }
            }
            Strip::Qr { content, level, module, align } => self.qr(content, *level, *module, *align, dots),
        }
    }

    fn qr(&mut self, content: &[u8], level: u8, module: usize, align: Align, dots: usize) {
        let level = [QrCodeEcc::Low, QrCodeEcc::Medium, QrCodeEcc::Quartile, QrCodeEcc::High][usize::from(level % 4)];
        let segments = [QrSegment::make_bytes(content)];
        // As on real printers, this is the requested level, not the best level that fits.
        let Ok(code) = QrCode::encode_segments_advanced(&segments, level, Version::MIN, Version::MAX, None, false)
        else {
            return;
        };
        let (size, top) = (usize::try_from(code.size()).unwrap_or_default(), self.rows.len() / SCALE);
        self.feed(size * module);
        let x = left(align, size * module, dots);
        for (column, row) in (0..code.size()).flat_map(|column| (0..code.size()).map(move |row| (column, row))) {
            if code.get_module(column, row) {
                let (column, row) = (column.unsigned_abs() as usize * module, row.unsigned_abs() as usize * module);
                for (dx, dy) in (0..module).flat_map(|dx| (0..module).map(move |dy| (dx, dy))) {
                    self.dot(x + column + dx, top + row + dy);
                }
            }
        }
    }

    fn letter(&mut self, cell: Cell, x: usize, y: usize) {
        // A character that the font lacks appears as a box.
        let Some(glyph) = unifont::get_glyph(cell.c).or_else(|| unifont::get_glyph('\u{25A1}')) else { return };
        let strokes = if cell.bold { SCALE } else { 0 };
        for (gx, gy) in
            (0..8).flat_map(|gx| (0..16).map(move |gy| (gx, gy))).filter(|(gx, gy)| glyph.get_pixel(*gx, *gy))
        {
            let (wide, high) = (LETTER * cell.wide, LETTER * cell.high);
            for (dx, dy) in (0..wide + strokes).flat_map(|dx| (0..high).map(move |dy| (dx, dy))) {
                self.pixel(x + gx * wide + dx, y + gy * high + dy);
            }
        }
    }

    fn dot(&mut self, x: usize, y: usize) {
        for (dx, dy) in (0..SCALE).flat_map(|dx| (0..SCALE).map(move |dy| (dx, dy))) {
            self.pixel(x * SCALE + dx, y * SCALE + dy);
        }
    }

    /// Sets a pixel, unless it is outside the paper.
    fn pixel(&mut self, x: usize, y: usize) {
        if let Some(pixel) = self.rows.get_mut(y).and_then(|row| row.get_mut(x)) {
            *pixel = true;
        }
    }

    fn png(&self) -> Result<Vec<u8>, png::EncodingError> {
        let [width, height] = [self.width, self.rows.len()].map(|size| u32::try_from(size).unwrap_or(u32::MAX));
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::One);
        let rows = self.rows.iter().flat_map(|row| row.chunks(8));
        // In PNG, 1 is white, even beyond the last pixel of a row.
        let packed = rows
            .map(|chunk| !chunk.iter().zip(0..).fold(0_u8, |byte, (black, bit)| byte | u8::from(*black) << (7 - bit)));
        encoder.write_header()?.write_image_data(&packed.collect::<Vec<u8>>())?;
        Ok(bytes)
    }
}

/// Returns the distance in dots between the picture's edge and an object that is `width` dots wide.
fn left(align: Align, width: usize, dots: usize) -> usize {
    let free = dots.saturating_sub(width);
    MARGIN
        + match align {
            Align::Left => 0,
            Align::Centre => free / 2,
            Align::Right => free,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the black pixels, read with the PNG decoder of the same crate.
    fn drawn(strips: &[Strip]) -> (usize, Vec<Vec<bool>>) {
        let bytes = png(strips, 32).unwrap();
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        let rows = pixels.chunks(info.width as usize).map(|row| row.iter().map(|grey| *grey == 0).collect());
        (info.width as usize, rows.collect())
    }

    #[test]
    fn the_paper_is_as_wide_as_its_columns_and_white_where_nothing_is_printed() {
        let (width, rows) = drawn(&[]);
        assert_eq!(width, (384 + 48) * 2);
        assert!(rows.concat().iter().all(|black| !black));
    }

    #[test]
    fn a_picture_stands_where_the_commands_say() {
        let picture = |align| Strip::Picture { bytes_in_row: 1, bits: vec![0x80, 0x01], align };
        for (align, x) in [(Align::Left, 24), (Align::Centre, 24 + 188), (Align::Right, 24 + 376)] {
            let (_, rows) = drawn(&[picture(align)]);
            let black: Vec<_> = (0..rows.len())
                .flat_map(|y| (0..rows[y].len()).map(move |x| (x, y)))
                .filter(|(x, y)| rows[*y][*x] && x % 2 == 0 && y % 2 == 0)
                .map(|(x, y)| (x / 2, y / 2))
                .collect();
            assert_eq!(black, [(x, 24), (x + 7, 25)]);
        }
    }

    #[test]
    fn letters_are_drawn_and_bold_ones_are_darker() {
        let ink = |c, bold| {
            let cells = vec![Cell { c, bold, wide: 1, high: 1 }];
            drawn(&[Strip::Text { cells, align: Align::Left }]).1.concat().iter().filter(|black| **black).count()
        };
        assert!(ink('A', false) > 0 && ink('A', true) > ink('A', false));
        // The shapes all differ, so no character that shops need is drawn as a box.
        for c in "żЖΩ€".chars() {
            assert_ne!(ink(c, false), ink('\u{25A1}', false), "{c}");
        }
    }

    #[test]
    fn a_qr_code_has_its_three_corners() {
        let strip = Strip::Qr { content: b"A=B".to_vec(), level: b'1', module: 8, align: Align::Left };
        let (_, rows) = drawn(&[strip]);
        // Version 1 has 21 modules. In the middle of each corner pattern (ISO/IEC 18004, 6.3.3), 3 x 3 modules are
        // black.
        let black = |column: usize, row: usize| rows[(24 + row * 8 + 4) * 2][(24 + column * 8 + 4) * 2];
        for (column, row) in [(3, 3), (17, 3), (3, 17)] {
            assert!(black(column, row) && !black(column, row - 2), "{column} {row}");
        }
        assert!(!black(17, 17) || !black(17, 15));
    }
}
