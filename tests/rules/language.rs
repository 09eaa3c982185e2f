//! A check for plain English, as far as a program can check it. It finds unusual words, and sentences that are too long
//! to understand at the first reading. It reads:
//! - the comments in programs, scripts and settings, and the heads of planted mistakes;
//! - the manual and the other documents;
//! - the words that people see, and the string literals in programs.
//!
//! A sentence ends at a full stop, a question mark, an exclamation mark, a colon or a semicolon. Code in backticks is
//! one word. In tables it checks words but not lengths. It skips drawings and examples.

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
    ("anew", "\"again\""),
    ("is to be had", "name who offers it"),
    ("none but", "\"only\""),
];
/// The greatest number of words in a sentence.
const LONGEST: usize = 25;
/// Folders with comments to check.
const COMMENTED: &[&str] = &["src", "crates", "tests", "benches", "fuzz"];
/// Documents to check, and folders of documents.
const PAPERS: &[&str] = &[
    "docs/src",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "tests",
    "packages",
    "board",
    "crates/front/page/README.md",
];
/// Scripts and settings whose comments begin with `#`, and folders of them.
const SCRIPTS: &[&str] = &[".ci", ".github", "Cargo.toml", "packages", "board", "systemd", "tests", "crates"];
/// The smallest number of words in a string literal that counts as a sentence for people.
const SHORTEST_TEXT: usize = 3;
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
    for file in ["src", "crates"].iter().flat_map(|place| files(Path::new(place))).filter(|file| is_program(file)) {
        for (line, text) in texts(&read(&file)) {
            let place = format!("{}:{line}", file.display());
            // A text of several lines is a table or an example. The words of each line are checked, not its length.
            let is_prose = !text.contains('\n') && !text.starts_with("SELECT ");
            sentences += text.lines().map(|line| judge(line, &place, is_prose, &mut faults)).sum::<usize>();
        }
    }
    for file in SCRIPTS.iter().flat_map(|place| files(Path::new(place))).filter(|file| is_script(file)) {
        for (line, text) in hash_comments(&read(&file)) {
            sentences += judge(&text, &format!("{}:{line}", file.display()), true, &mut faults);
        }
    }
    for paper in PAPERS.iter().flat_map(|place| files(Path::new(place))) {
        if paper.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
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
    let code = "// \"no text of a program\"\nlet a = \"nobody \\\"may\\\" \\\n try\"; let b = '\"';\nx.expect(\"it was read before\");\nlet c = \
                r#\"one \"two\" three\"#;\n#[cfg(test)]\nmod tests {}\"a b c d\"";
    let read: Vec<_> = texts(code).into_iter().map(|(line, text)| (line, text.replace('\n', ""))).collect();
    assert_eq!(read, [(2, "nobody \\\"may\\\" try".to_owned()), (5, "one \"two\" three\"#".to_owned())]);
    let patch = hash_comments("What: one\nCost: two\n\n--- a/x\n+++ b/x\n+ # three\n");
    assert_eq!(patch, [(1, "What: one Cost: two ".to_owned())]);
    assert_eq!(hash_comments("#!/bin/sh\n# one\n# two\nthree\n"), [(2, "one two ".to_owned())]);
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

/// Counts the sentences in a text and adds their faults to `faults`.
fn judge(text: &str, place: &str, is_prose: bool, faults: &mut Vec<String>) -> usize {
    let text = without_code(text);
    let lower = format!(" {} ", text.to_lowercase());
    for (word, instead) in NOT_PLAIN {
        let is_there = lower.match_indices(word).any(|(at, _)| {
            // A message name is one word with hyphens.
            let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '-');
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

/// Joins the pieces of a sentence. A mark inside a word, as in `0.5` or `e.g.`, does not end a sentence.
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

/// Returns the comments that begin a line, each with the number of its first line. Consecutive lines are joined. Leaves
/// out tables and drawings.
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

/// Returns whether a file belongs to a program and is not a test.
fn is_program(file: &Path) -> bool {
    let is_test = file.iter().any(|part| part == "tests" || part == "benches" || part == "tests.rs");
    !is_test && file.extension().is_some_and(|ending| ending == "rs")
}

fn is_script(file: &Path) -> bool {
    match file.extension().and_then(|ending| ending.to_str()) {
        None => read(file).starts_with("#!"),
        Some(ending) => {
            ["bash", "sh", "toml", "yml", "service", "socket", "conf", "rules", "py", "patch"].contains(&ending)
        }
    }
}

/// Returns the comments after `#` and the head of a patch, as [`comment_blocks`] does.
fn hash_comments(source: &str) -> Vec<(usize, String)> {
    let head = source.split("\n--- a/").next().filter(|head| head.len() < source.len()).unwrap_or_default();
    let lines: Vec<String> = source
        .lines()
        .enumerate()
        .map(|(at, line)| match line.trim_start().strip_prefix("# ") {
            // A comment with columns is a table.
            Some(text) if text.trim().contains("  ") => format!("// | {text}"),
            Some(text) => format!("// {text}"),
            None if at < head.lines().count() && ["What: ", "Cost: "].iter().any(|key| line.starts_with(key)) => {
                format!("// {line}")
            }
            None => String::new(),
        })
        .collect();
    comment_blocks(&lines.join("\n"))
}

/// Returns the string literals in a program, each with its first line. Leaves out those for developers: the reason of
/// an `expect` or of a lint, tests, and texts of fewer than [`SHORTEST_TEXT`] words.
fn texts(source: &str) -> Vec<(usize, String)> {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut found = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let (before, from) = rest.split_at(at);
        line += before.matches('\n').count();
        let length = if from.starts_with("//") {
            from.find('\n').unwrap_or(from.len())
        } else if from.starts_with('"') {
            let raw = before.ends_with("r#");
            let length = if raw { from.find("\"#").map_or(from.len(), |end| end + 2) } else { length_of_text(from) };
            let text = joined_lines(&from[1..length]).replace("\\n", "\n");
            let is_for_developers = ["expect(", "reason = "].iter().any(|call| before.trim_end().ends_with(call));
            if !is_for_developers && text.split_whitespace().count() >= SHORTEST_TEXT {
                found.push((line, text.trim_end_matches('"').to_owned()));
            }
            length
        } else if from.starts_with("'\"'") || from.starts_with("'\\\"'") {
            from[1..].find("'").map_or(1, |end| end + 2)
        } else {
            1
        };
        line += from[..length].matches('\n').count();
        rest = &from[length..];
    }
    found
}

/// Removes each line break that a backslash hides, with the blanks after it.
fn joined_lines(text: &str) -> String {
    let mut pieces = text.split("\\\n");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |joined, piece| joined + piece.trim_start())
}

/// Returns the length in bytes of a quoted text, including both quotation marks.
fn length_of_text(from: &str) -> usize {
    let mut is_escaped = false;
    let end = from.bytes().enumerate().skip(1).find(|(_, byte)| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(from.len(), |(at, _)| at + 1)
}

/// Returns the paragraphs, list items, headings and cells of a document. Each has its first line and a flag for prose.
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
