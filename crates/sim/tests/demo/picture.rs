//! The picture of the demo in the manual: the screen of a real demo, drawn with the letters of GNU Unifont.

use pos_test_kit::picture::{Picture, Same, is_in_the_manual};

use crate::terminal::Terminal;

/// The columns and rows of the screen.
const SIZE: (u16, u16) = (110, 30);
/// The width and height of a letter, and of the margin, in pixels.
const LETTER: (usize, usize) = (8, 16);
const MARGIN: usize = 12;
const BACKGROUND: [u8; 3] = [16, 20, 28];
const FOREGROUND: [u8; 3] = [222, 226, 232];
/// The terminal's first sixteen colours.
const COLOURS: [[u8; 3]; 16] = [
    [16, 20, 28],
    [240, 113, 120],
    [126, 211, 133],
    [240, 200, 100],
    [110, 170, 250],
    [214, 140, 230],
    [100, 210, 220],
    [200, 204, 210],
    [110, 116, 126],
    [255, 140, 145],
    [150, 230, 155],
    [255, 220, 130],
    [140, 190, 255],
    [230, 165, 245],
    [130, 230, 240],
    [255, 255, 255],
];

#[test]
fn a_sale_on_the_screen_looks_as_in_the_manual() {
    let mut shop = Terminal::open("xterm-256color", &[]);
    shop.resize(SIZE.0, SIZE.1);
    shop.shows(&["agent ready", "Press n to start a sale.", "WELCOME", "Receipts 0", "q quit"]);
    shop.press("n\r");
    shop.shows(&["demo-1: Waiting for a card to pay 12.34 EUR", "INSERT, TAP OR SWIPE", "i insert  s swipe"]);
    shop.press("i");
    shop.shows(&["demo-1: APPROVED 12.34 EUR", "REMOVE CARD", "It holds chip-pin.", "Receipts 2"]);
    // The receipts have the time and random numbers.
    shop.press("\t");
    shop.shows(&["12.34 EUR  sale 1 by chip: charged", "charged in all: 12.34 EUR", "Tab receipts  ? help  q quit"]);
    let command = "cargo test --package pos-sim --test demo picture::";
    is_in_the_manual("demo", &drawn(shop.emulator.screen()), Same::Look, command);
    shop.press("q");
    shop.ends_and_gives_the_terminal_back();
}

fn drawn(screen: &vt100::Screen) -> Picture {
    let (columns, rows) = (usize::from(SIZE.0), usize::from(SIZE.1));
    let (width, height) = (columns * LETTER.0 + 2 * MARGIN, rows * LETTER.1 + 2 * MARGIN);
    let mut picture = Picture { width, pixels: vec![BACKGROUND; width * height] };
    for (row, column) in (0..SIZE.1).flat_map(|row| (0..SIZE.0).map(move |column| (row, column))) {
        let cell = screen.cell(row, column).expect("the screen has this size");
        let (mut letter, mut ground) = (colour(cell.fgcolor(), FOREGROUND), colour(cell.bgcolor(), BACKGROUND));
        if cell.dim() {
            letter = [0, 1, 2].map(|n| letter[n] / 2 + ground[n] / 2);
        }
        if cell.inverse() {
            (letter, ground) = (ground, letter);
        }
        let glyph = cell.contents().chars().next().and_then(unifont::get_glyph);
        let is_set = |x: usize, y: usize| x < LETTER.0 && glyph.is_some_and(|glyph| glyph.get_pixel(x, y));
        for (x, y) in (0..LETTER.0).flat_map(|x| (0..LETTER.1).map(move |y| (x, y))) {
            // As on the simulated paper, a bold letter is drawn twice, and only where nothing else is.
            let is_bold =
                cell.bold() && x > 0 && is_set(x - 1, y) && cell.contents().chars().all(char::is_alphanumeric);
            let at = (MARGIN + usize::from(row) * LETTER.1 + y) * width + MARGIN + usize::from(column) * LETTER.0 + x;
            picture.pixels[at] = if is_set(x, y) || is_bold { letter } else { ground };
        }
    }
    picture
}

fn colour(colour: vt100::Color, default: [u8; 3]) -> [u8; 3] {
    match colour {
        vt100::Color::Default => default,
        vt100::Color::Idx(number) => COLOURS[usize::from(number % 16)],
        vt100::Color::Rgb(red, green, blue) => [red, green, blue],
    }
}
