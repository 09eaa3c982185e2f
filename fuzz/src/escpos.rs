//! Any bytes at the simulated printer: no panic; the same paper in any split; and what it prints has no more columns
//! than the roll.

use pos_sim::printer::paper::Paper;

/// Characters of a line.
const COLUMNS: usize = 32;
/// What stands for a picture, a QR code or an unknown command is longer than its line on paper.
const MARKS: [char; 2] = ['[', '<'];

/// What must hold for any bytes. The first of them says how the others are split.
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
