//! Generates the tables and programs in the manual (`docs/`), so that no fact is written twice.
//!
//! A page marks the place of each table with `<!-- generated: NAME -->` and `<!-- end of NAME -->`. The text between
//! the marks is replaced; the rest of the page is not changed.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) mod configuration;
mod simulated;
mod source;
mod tables;

/// A function that makes a table.
type Make = fn() -> String;

/// Every table, with the name in its mark.
const TABLES: &[(&str, Make)] = &[
    ("configuration", configuration::tables),
    ("reader families", tables::reader_families),
    ("exit codes", tables::exit_codes),
    ("codes", tables::codes),
    ("problems", tables::problems),
    ("reasons", tables::reasons),
    ("parameters", tables::parameters),
    ("metrics", tables::metrics),
    ("routes", tables::routes),
    ("events", tables::events),
    ("test cards", simulated::cards),
    ("test amounts", simulated::amounts),
    ("fields of a sale", tables::fields_of_a_sale),
    ("fields of a close", tables::fields_of_a_close),
    ("sale.sh", || tables::example("sh", include_str!("../../../tests/examples/sale.sh"))),
    ("sale.py", || tables::example("python", include_str!("../../../tests/examples/sale.py"))),
    ("sale.mjs", || tables::example("javascript", include_str!("../../../tests/examples/sale.mjs"))),
    ("sale.rs", || tables::example("rust,ignore", include_str!("../../../tests/examples/sale.rs"))),
];

/// Updates the tables in the pages of a folder. With `check`, it writes nothing and fails if a table is out of date.
pub(super) fn update(folder: &Path, check: bool) -> Result<(), Box<dyn Error>> {
    let mut stale = Vec::new();
    let mut places = 0;
    for page in pages(folder)? {
        let text = fs::read_to_string(&page)?;
        let (fresh, found) = filled(&text).map_err(|wrong| format!("{}: {wrong}", page.display()))?;
        places += found;
        if fresh != text {
            if !check {
                fs::write(&page, fresh)?;
            }
            stale.push(page.display().to_string());
        }
    }
    if places < TABLES.len() {
        return Err(format!("{}: {places} marks for {} tables", folder.display(), TABLES.len()).into());
    }
    if check && !stale.is_empty() {
        let pages = stale.join(", ");
        return Err(format!(
            "{pages}: does not match the program; run: cargo run --package pos-docs -- manual docs/src"
        )
        .into());
    }
    Ok(())
}

fn pages(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    Ok(pages)
}

/// Returns a page with its current tables, and the number of tables.
fn filled(page: &str) -> Result<(String, usize), String> {
    let (mut fresh, mut rest, mut found) = (String::with_capacity(page.len()), page, 0);
    while let Some((before, after)) = rest.split_once("<!-- generated: ") {
        let (name, after) = after.split_once(" -->").ok_or("a mark has no end")?;
        let (_, table) = TABLES.iter().find(|(known, _)| *known == name).ok_or(format!("no table is called {name}"))?;
        let end = format!("<!-- end of {name} -->");
        let (_, after) = after.split_once(&end).ok_or(format!("{end} is missing"))?;
        fresh += &format!("{before}<!-- generated: {name} -->\n\n{}\n\n{end}", table().trim());
        (rest, found) = (after, found + 1);
    }
    Ok((fresh + rest, found))
}

/// Converts a text to one line for a table cell, without characters that would end the cell.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|").replace('<', "&lt;")
}

/// Removes the citations from a source comment, for readers of the manual.
fn without_citations(comment: &str) -> String {
    let mut text = comment.to_owned();
    for book in [" (interface: ", " (readers: ", " (design: ", " (security: ", " (tills: "] {
        while let Some((before, after)) = text.split_once(book) {
            let after = after.split_once(')').map_or("", |(_, after)| after);
            text = format!("{before}{after}");
        }
    }
    text
}
