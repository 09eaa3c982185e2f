//! Checks any bytes at the simulated printer. There is no panic, any split gives the same paper, and printed lines have
//! at most the roll's number of columns.

use pos_sim::printer::paper::Paper;

/// The number of characters per line.
const COLUMNS: usize = 32;
/// Characters that mark a replacement text. The text for a picture, a QR code or an unknown command may be longer than
/// its line on paper.
const MARKS: [char; 2] = ['[', '<'];

/// Checks that the conditions above hold for these bytes. The first byte determines the split of the others.
pub fn holds(input: &[u8]) {
    let Some((&piece, bytes)) = input.split_first() else { return };
    let (mut whole, mut split) = (Paper::new(COLUMNS), Paper::new(COLUMNS));
    let said = whole.feed(bytes);
    let said_split: Vec<u8> = bytes.chunks(usize::from(piece).max(1)).flat_map(|piece| split.feed(piece)).collect();
    assert_eq!(said_split, said);
    assert_eq!((split.errors(), split.fed(), split.uncut()), (whole.errors(), whole.fed(), whole.uncut()));
    assert!(said.len() <= bytes.len(), "it says more than it hears");
    let cut = whole.take_cut();
    assert_eq!(split.take_cut(), cut);
    for receipt in cut {
        for line in receipt.text.lines().filter(|line| !line.contains(MARKS)) {
            assert!(line.chars().count() <= COLUMNS, "{line:?}");
        }
    }
}
