//! Keeps the English plain, as far as a program can. It finds unusual words, and sentences that are too long to read
//! once. It reads comments, the manual and the other documents, and the words that people see.
//!
//! A sentence ends at a full stop, a question mark, an exclamation mark, a colon or a semicolon. Code in backticks is
//! one word. In tables it checks words but no lengths; it does not read drawings and examples.

use std::fs;
use std::path::{Path, PathBuf};

/// Words that are not plain, each with its replacement.
const NOT_PLAIN: &[(&str, &str)] = &[
    ("whoever", "name who it is"),
    ("whosoever", "name who it is"),
    ("nobody", "\"no one\", or name who does not"),
    ("nobody's", "\"no one's\", or name whose it is not"),
    ("of before", "\"earlier\""),
    ("came of it", "\"the outcome\""),
    ("comes of it", "\"the outcome\""),
    ("all the same", "\"anyway\""),
    ("see to it", "\"handle it\""),
    ("sees to it", "\"handles it\""),
    ("thing that", "name it"),
    ("of theirs", "\"their …\""),
    ("of its own making", "\"its own\""),
];
/// The greatest number of words in a sentence.
const LONGEST: usize = 25;
/// Folders whose comments are read.
const COMMENTED: &[&str] = &["src", "crates", "tests", "benches", "fuzz"];
/// Documents and folders of documents.
const PAPERS: &[&str] = &["docs/src", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "tests/README.md"];
/// Files with the words that people see.
const SEEN: &[&str] = &["crates/words/src/en.ftl", "crates/front/page/words/en.json"];

#[test]
fn every_sentence_is_plain_and_short() {
    let mut faults = Vec::new();
    let mut sentences = 0;
    for file in COMMENTED.iter().flat_map(|place| files(Path::new(place))) {
        let Some(ending @ ("rs" | "js")) = file.extension().and_then(|ending| ending.to_str()) else { continue };
        let _ = ending;
        for (line, text) in comment_blocks(&read(&file)) {
            sentences += judge(&text, &format!("{}:{line}", file.display()), true, &mut faults);
        }
    }
    for paper in PAPERS.iter().flat_map(|place| files(Path::new(place))) {
        for (line, text, is_prose) in paragraphs(&read(&paper)) {
            sentences += judge(&text, &format!("{}:{line}", paper.display()), is_prose, &mut faults);
        }
    }
    for file in SEEN {
        for (at, line) in read(Path::new(file)).lines().enumerate() {
            sentences += judge(line, &format!("{file}:{}", at + 1), true, &mut faults);
        }
    }
    assert!(sentences > 10_000, "{sentences}");
    assert!(faults.is_empty(), "{} of {sentences} sentences:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_planted_sentence_is_found() {
    let faults_of = |text: &str| {
        let mut faults = Vec::new();
        judge(text, "here", true, &mut faults);
        faults
    };
    assert!(faults_of("Checks the operator's role.").is_empty());
    assert_eq!(faults_of("Whether whoever stands there may."), ["here: \"whoever\": name who it is"]);
    let long = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen \
                eighteen nineteen twenty twenty-one twenty-two twenty-three twenty-four twenty-five twenty-six.";
    assert_eq!(faults_of(long), ["here: 26 words: \"one two three four five six …\""]);
    assert!(faults_of(&long.replacen("three ", "three. ", 1)).is_empty());
    let code = format!("The `{}` is one word.", "a ".repeat(40));
    assert!(faults_of(&code).is_empty());
    let blocks = comment_blocks("/// One\n/// two.\nlet a = 1; // three\n// four\n");
    assert_eq!(blocks, [(1, "One two. ".to_owned()), (4, "four ".to_owned())]);
    let read = paragraphs("# Head\n\nOne\ntwo.\n\n```sh\nnobody\n```\n| a | nobody |\n- three\n- four\n");
    let read: Vec<_> = read.iter().map(|(line, text, is_prose)| (*line, text.trim(), *is_prose)).collect();
    assert_eq!(
        read,
        [
            (1, "Head", false),
            (3, "One two.", true),
            (9, "a", false),
            (9, "nobody", false),
            (10, "three", true),
            (11, "four", true)
        ]
    );
}

/// Counts the sentences of a text and adds their faults to `faults`.
fn judge(text: &str, place: &str, is_prose: bool, faults: &mut Vec<String>) -> usize {
    let text = without_code(text);
    let lower = format!(" {} ", text.to_lowercase());
    for (word, instead) in NOT_PLAIN {
        let is_there = lower.match_indices(word).any(|(at, _)| {
            let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
            ends(lower[..at].chars().next_back()) && ends(lower[at + word.len()..].chars().next())
        });
        if is_there {
            faults.push(format!("{place}: \"{word}\": {instead}"));
        }
    }
    let mut count = 0;
    for sentence in text.split_inclusive(['.', '?', '!', ':', ';']).fold(Vec::<String>::new(), joined) {
        let words: Vec<&str> =
            sentence.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).collect();
        count += usize::from(!words.is_empty());
        if is_prose && words.len() > LONGEST {
            faults.push(format!("{place}: {} words: \"{} …\"", words.len(), words[..6].join(" ")));
        }
    }
    count
}

/// Joins pieces of a sentence: a mark inside a word, as in `0.5` or `e.g.`, ends no sentence.
fn joined(mut sentences: Vec<String>, piece: &str) -> Vec<String> {
    match sentences.last_mut() {
        Some(last) if !piece.starts_with(char::is_whitespace) => last.push_str(piece),
        _ => sentences.push(piece.to_owned()),
    }
    sentences
}

fn without_code(text: &str) -> String {
    text.split('`').enumerate().map(|(nth, part)| if nth % 2 == 0 { part } else { "x" }).collect()
}

/// Returns the comments that begin a line, consecutive lines joined, each with its first line's number. Leaves out
/// tables and drawings.
fn comment_blocks(source: &str) -> Vec<(usize, String)> {
    let mut blocks: Vec<(usize, String)> = Vec::new();
    let (mut goes_on, mut is_drawing) = (false, false);
    for (at, line) in source.lines().enumerate() {
        let Some(text) = line.trim_start().strip_prefix("//") else {
            goes_on = false;
            continue;
        };
        let text = text.trim_start_matches(['/', '!']).trim();
        if text.starts_with("```") {
            (is_drawing, goes_on) = (!is_drawing, false);
            continue;
        }
        if is_drawing || text.starts_with('|') || text.is_empty() || text.starts_with('#') {
            goes_on = false;
            continue;
        }
        let begins = !goes_on || text.starts_with("- ");
        match blocks.last_mut() {
            Some((_, block)) if !begins => *block += &format!("{text} "),
            _ => blocks.push((at + 1, format!("{text} "))),
        }
        goes_on = true;
    }
    blocks
}

/// Returns paragraphs, list items, headings and cells of a document, each with its first line, and whether it is prose.
fn paragraphs(paper: &str) -> Vec<(usize, String, bool)> {
    let mut found: Vec<(usize, String, bool)> = Vec::new();
    let (mut goes_on, mut is_code) = (false, false);
    for (at, line) in paper.lines().enumerate() {
        let text = line.trim();
        if text.starts_with("```") {
            (is_code, goes_on) = (!is_code, false);
            continue;
        }
        if is_code || text.is_empty() {
            goes_on = false;
            continue;
        }
        if text.starts_with('|') {
            goes_on = false;
            let cells =
                text.trim_matches('|').split(" |").filter(|cell| !cell.trim_matches(['-', ' ', ':']).is_empty());
            found.extend(cells.map(|cell| (at + 1, cell.to_owned(), false)));
            continue;
        }
        if let Some(heading) = text.strip_prefix('#') {
            goes_on = false;
            found.push((at + 1, heading.trim_start_matches('#').to_owned(), false));
            continue;
        }
        let item = text
            .strip_prefix("- ")
            .or_else(|| text.split_once(". ").filter(|(n, _)| n.parse::<u8>().is_ok()).map(|(_, rest)| rest));
        match (found.last_mut(), item) {
            (Some((_, paragraph, _)), None) if goes_on => *paragraph += &format!(" {text}"),
            (_, item) => found.push((at + 1, item.unwrap_or(text).to_owned(), true)),
        }
        goes_on = true;
    }
    found
}

fn files(place: &Path) -> Vec<PathBuf> {
    if place.is_file() {
        return vec![place.to_owned()];
    }
    let mut found: Vec<PathBuf> = fs::read_dir(place)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with("target") && !path.ends_with("golden"))
        .flat_map(|path| files(&path))
        .collect();
    found.sort();
    found
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}
