//! The pictures of the manual. A test makes each of them and compares it with the file in `docs/src/pictures`. With the
//! variable `POS_MANUAL_PICTURES=make`, the test writes the file instead.

use std::collections::{BTreeMap, HashMap};
use std::io::Cursor;
use std::path::PathBuf;

const MAKE: &str = "POS_MANUAL_PICTURES";
/// The largest file, in bytes. The package of a board contains the manual.
const LARGEST: usize = 60_000;
/// The number of tiles in each direction, by which two pictures are compared.
const TILES: usize = 32;
/// The least difference of two tiles' mean colours that a person sees: letters of another font version differ by less.
const VISIBLE: i32 = 24;
/// The largest number of different tiles of pictures that are alike: 1 % of all.
const FEW: usize = TILES * TILES / 100;

/// The pixels of a picture, as red, green and blue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub width: usize,
    pub pixels: Vec<[u8; 3]>,
}

/// What must be the same as in the manual's picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Same {
    /// Every pixel: nothing of the machine changes the picture.
    Pixels,
    /// The layout and the colours. The machine's font library draws the letters, so a changed word may be missed.
    Look,
}

impl Picture {
    pub fn read(png: &[u8]) -> Self {
        let mut decoder = png::Decoder::new(Cursor::new(png));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        let pixels = bytes[..info.buffer_size()].chunks(info.color_type.samples()).map(|samples| match samples {
            [grey] | [grey, _] => [*grey; 3],
            [red, green, blue, ..] => [*red, *green, *blue],
            [] => unreachable!("a pixel has a sample"),
        });
        Self { width: info.width as usize, pixels: pixels.collect() }
    }

    pub fn height(&self) -> usize {
        self.pixels.len() / self.width
    }

    /// Returns the picture without the empty rows at its end, except for this many.
    pub fn without_empty_end(mut self, margin: usize) -> Self {
        let last = *self.pixels.last().unwrap();
        let used = self.pixels.chunks(self.width).rposition(|row| row.iter().any(|pixel| *pixel != last));
        let rows = self.height().min(used.map_or(0, |row| row + 1) + margin);
        self.pixels.truncate(rows * self.width);
        self
    }

    /// Returns the picture in half the size.
    pub fn halved(&self) -> Self {
        let (width, height) = (self.width / 2, self.height() / 2);
        let pixel = |x: usize, y: usize| {
            let four =
                [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(dx, dy)| self.pixels[(2 * y + dy) * self.width + 2 * x + dx]);
            mean(&four).map(|channel| u8::try_from(channel).unwrap())
        };
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| pixel(x, y)).collect();
        Self { width, pixels }
    }

    /// Returns a PNG file with the 256 most frequent colours.
    pub fn png(&self) -> Vec<u8> {
        let mut counts = BTreeMap::new();
        for pixel in &self.pixels {
            *counts.entry(*pixel).or_insert(0_usize) += 1;
        }
        let mut colours: Vec<_> = counts.into_iter().collect();
        colours.sort_by_key(|(colour, count)| (std::cmp::Reverse(*count), *colour));
        let palette: Vec<_> = colours.iter().take(256).map(|(colour, _)| *colour).collect();
        let nearest = |colour: [u8; 3]| {
            let distance = |other: [u8; 3]| -> u32 {
                colour.iter().zip(other).map(|(one, other)| u32::from(one.abs_diff(other)).pow(2)).sum()
            };
            let place = (0..palette.len()).min_by_key(|place| distance(palette[*place])).unwrap();
            u8::try_from(place).unwrap()
        };
        let places: HashMap<_, _> = colours.iter().map(|(colour, _)| (*colour, nearest(*colour))).collect();
        let indices: Vec<_> = self.pixels.iter().map(|pixel| places[pixel]).collect();
        let mut bytes = Vec::new();
        let [width, height] = [self.width, self.height()].map(|size| u32::try_from(size).unwrap());
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_palette(palette.concat());
        encoder.set_compression(png::Compression::High);
        encoder.set_filter(png::Filter::NoFilter);
        encoder.write_header().unwrap().write_image_data(&indices).unwrap();
        bytes
    }

    /// Returns whether a person sees the same layout and colours.
    fn looks_like(&self, other: &Self) -> bool {
        let is_near = |one: usize, other: usize| one.abs_diff(other) * 50 <= one;
        let differ = |x, y| {
            let [one, other] = [self, other].map(|picture| picture.tile(x, y));
            one.iter().zip(other).any(|(one, other)| (one - other).abs() > VISIBLE)
        };
        let different =
            (0..TILES).flat_map(|y| (0..TILES).map(move |x| (x, y))).filter(|(x, y)| differ(*x, *y)).count();
        is_near(self.width, other.width) && is_near(self.height(), other.height()) && different <= FEW
    }

    /// Returns the mean colour of a tile.
    fn tile(&self, x: usize, y: usize) -> [i32; 3] {
        let range =
            |tile: usize, size: usize| tile * size / TILES..((tile + 1) * size / TILES).max(tile * size / TILES + 1);
        let columns = range(x, self.width);
        mean(
            &range(y, self.height())
                .flat_map(|row| &self.pixels[row * self.width..][columns.clone()])
                .copied()
                .collect::<Vec<_>>(),
        )
    }
}

fn mean(pixels: &[[u8; 3]]) -> [i32; 3] {
    let sum = |channel: usize| pixels.iter().map(|pixel| i32::from(pixel[channel])).sum::<i32>();
    [0, 1, 2].map(|channel| sum(channel) / i32::try_from(pixels.len()).unwrap())
}

/// Compares a picture with the manual's, or writes it. `remade_by` is the command of the test.
pub fn is_in_the_manual(name: &str, picture: &Picture, same: Same, remade_by: &str) {
    let file =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/pictures")).join(format!("{name}.png"));
    let png = picture.png();
    assert!(png.len() <= LARGEST, "{name}.png has {} bytes, but at most {LARGEST} are permitted", png.len());
    if std::env::var(MAKE).is_ok_and(|wanted| wanted == "make") {
        std::fs::write(&file, png).unwrap();
        return;
    }
    let remedy = format!("look what has changed, and then: {MAKE}=make {remade_by}");
    let manuals = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}; {remedy}", file.display()));
    // What is compared has the colours of the file.
    let (made, manuals) = (Picture::read(&png), Picture::read(&manuals));
    let is_same = if same == Same::Pixels { made == manuals } else { made.looks_like(&manuals) };
    if !is_same {
        let now = std::env::temp_dir().join(format!("{name}.png"));
        std::fs::write(&now, png).unwrap();
        panic!("{} is old: now it looks like {}; {remedy}", file.display(), now.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A white page of 800 by 480 with a dark bar at the top, and grey lines of text from `x` on.
    fn page(x: usize, lines: usize) -> Picture {
        let pixel = |at: usize| match (at % 800, at / 800) {
            (_, 0..40) => [20, 30, 40],
            (column, row) if row % 20 < 8 && row / 20 < 4 + lines && (x..x + 200).contains(&column) => {
                [u8::try_from(column % 2 * 200).unwrap(); 3]
            }
            _ => [255; 3],
        };
        Picture { width: 800, pixels: (0..800 * 480).map(pixel).collect() }
    }

    #[test]
    fn a_picture_is_the_same_after_it_was_written_and_read() {
        let picture = page(100, 6);
        assert_eq!(Picture::read(&picture.png()), picture);
        assert_eq!((picture.halved().width, picture.halved().height()), (400, 240));
        assert_eq!(picture.without_empty_end(10).height(), 20 * 9 + 8 + 10);
    }

    #[test]
    fn rare_colours_become_near_ones() {
        let mut picture = page(100, 6);
        for (n, pixel) in picture.pixels.iter_mut().rev().take(600).enumerate() {
            *pixel = [n % 256, 255 - n % 3, 250].map(|channel| u8::try_from(channel).unwrap());
        }
        let read = Picture::read(&picture.png());
        assert!(read != picture && read.looks_like(&picture));
    }

    #[test]
    fn letters_that_are_drawn_a_little_differently_look_the_same_and_other_content_does_not() {
        let before = page(100, 6);
        assert!(before.looks_like(&before.clone()) && before.looks_like(&page(101, 6)));
        for other in [page(100, 9), page(160, 6), before.halved(), before.clone().without_empty_end(0)] {
            assert!(!before.looks_like(&other));
        }
    }
}
