//! Reads the text of the panes from the demo's screen.

use std::collections::BTreeSet;

/// The corners of a pane or a sheet.
const CORNERS: [[&str; 5]; 2] = [["╭", "╮", "╰", "╯", "│"], ["╔", "╗", "╚", "╝", "║"]];

/// The position of a pane, as the columns and rows of its border.
struct Pane {
    left: u16,
    right: u16,
    top: u16,
    bottom: u16,
    side: &'static str,
}

fn symbol(screen: &vt100::Screen, row: u16, column: u16) -> String {
    screen.cell(row, column).map(|cell| cell.contents().to_owned()).unwrap_or_default()
}

/// Returns every pane that has its four corners.
fn borders(screen: &vt100::Screen) -> Vec<Pane> {
    let (height, width) = screen.size();
    let mut panes = Vec::new();
    for (top, left) in (0..height.get()).flat_map(|row| (0..width.get()).map(move |column| (row, column))) {
        let Some([_, right, bottom, last, side]) =
            CORNERS.iter().find(|corners| symbol(screen, top, left) == corners[0])
        else {
            continue;
        };
        let right = (left..width.get()).find(|column| symbol(screen, top, *column) == *right);
        let bottom = (top..height.get()).find(|row| symbol(screen, *row, left) == *bottom);
        if let (Some(right), Some(bottom)) = (right, bottom)
            && symbol(screen, bottom, right) == *last
        {
            panes.push(Pane { left, right, top, bottom, side });
        }
    }
    panes
}

/// Returns the text of each pane and of the whole screen, as words separated by one blank.
pub(crate) fn panes(screen: &vt100::Screen) -> Vec<String> {
    let in_one = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let pane = |Pane { left, right, top, bottom, .. }: &Pane| {
        let rows = (top + 1..*bottom).map(|row| {
            (left + 1..*right)
                .map(|column| symbol(screen, row, column))
                .map(|text| if text.is_empty() { " ".to_owned() } else { text })
                .collect::<String>()
        });
        in_one(rows.collect::<Vec<_>>().join(" "))
    };
    let mut all: Vec<String> = borders(screen).iter().map(pane).collect();
    all.push(in_one(screen.contents()));
    all
}

/// Checks that no pane covers another. The border of each pane must be complete, and no two panes may share a cell.
pub(crate) fn panes_are_whole(screen: &vt100::Screen) {
    let panes = borders(screen);
    assert!(!panes.is_empty(), "no pane:\n{}", screen.contents());
    let mut taken = BTreeSet::new();
    for Pane { left, right, top, bottom, side } in panes {
        for row in top + 1..bottom {
            for column in [left, right] {
                assert_eq!(symbol(screen, row, column), side, "row {row}, column {column}:\n{}", screen.contents());
            }
        }
        for cell in (top..=bottom).flat_map(|row| (left..=right).map(move |column| (row, column))) {
            assert!(taken.insert(cell), "two panes at {cell:?}:\n{}", screen.contents());
        }
    }
}

/// Returns the words on the screen: the text between blanks and borders. Paths are omitted, because they are longer
/// than a line.
pub(crate) fn words(screen: &vt100::Screen) -> BTreeSet<String> {
    let border = |c: char| c.is_whitespace() || ('─'..='╿').contains(&c) || "▲▼▏›…".contains(c);
    let is_word = |word: &&str| word.contains(char::is_alphabetic) && !word.contains('/') && !word.contains("pos-shop");
    screen.contents().split(border).filter(is_word).map(str::to_owned).collect()
}
