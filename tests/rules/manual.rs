//! A check of the manual (`docs/`) and its citations. Every citation in a comment must point to a place in the manual,
//! and every link in the documents must lead to a place. `pos-docs` checks the manual's tables.
//!
//! A citation is in round brackets: the name of a page, a colon, and a place on it, such as `readers: 2.1` or
//! `design: path of a sale, 7` (`CONTRIBUTING.md` describes the form). The place is an anchor of that page.
//! Its `id` consists of the page's name and the place, in lower case, with `-` between the words. Commas, "and" or "to"
//! separate several places. A place that does not exist alone is part of the preceding place. After a semicolon,
//! another page or another publisher's document may follow.
//!
//! Only comments are read. Quoted text and the copies in `tests/mutations` are left out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The pages that comments cite.
const CITED: &[&str] = &["design", "interface", "readers", "security", "tills"];
/// Prefixes of citations of other publishers' documents.
const OF_OTHERS: &[&str] = &["EMV ", "ISO", "ANSI ", "X9.", "RFC "];
/// Files and folders with comments to check.
const COMMENTED: &[&str] =
    &["src", "crates", "tests", "benches", "fuzz", "systemd", "packages", "board", ".ci", "build.rs", "Cargo.toml"];
/// File extensions with which `#` begins a comment. In Rust, `//` does.
const WITH_HASHES: &[&str] = &["", "bash", "bb", "conf", "rules", "service", "sh", "socket", "toml"];
/// Documents with links, in addition to the manual.
const PAPERS: &[&str] = &[
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "packages/README.md",
    "packages/UPDATE.md",
    "tests/README.md",
    "tests/board/README.md",
];
/// The greatest number of lines in the README. It is read in a few minutes, and longer text belongs in the manual.
const LONGEST_README: usize = 120;

#[test]
fn every_citation_points_to_a_place_in_the_manual() {
    let anchors = anchors_of_the_manual();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for file in COMMENTED.iter().flat_map(|place| files(Path::new(place))) {
        let Some(comments) = comments(&file) else { continue };
        for (line, comment) in comments {
            let (cited, faults) = citations(&comment, &anchors);
            count += cited;
            wrong.extend(faults.iter().map(|fault| format!("{}:{line}: {fault}", file.display())));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    assert!(count > 250, "only {count} citations were found");
}

#[test]
fn a_citation_without_a_place_is_found() {
    let anchors = ["design-invariant-1", "design-path-of-a-sale", "design-path-of-a-sale-7", "readers-2.1"];
    let anchors: BTreeSet<String> = anchors.map(str::to_owned).into();
    for (comment, count, faults) in [
        ("Sent once (design: invariant 1).", 1, 0),
        ("(readers: 2.1; design: path of a sale, 7; EMV Book 3, 5.4)", 2, 0),
        ("(design: path of a sale, 7; invariant 1)", 1, 0),
        ("(readers: 2.1 to 2.1 and 2.1)", 1, 0),
        ("(readers: 2.2)", 1, 1),
        ("(design: invariant 1, 7)", 1, 1),
        ("(design: Invariants)", 1, 1),
        ("(readers: 2.1; design: invariant 2)", 2, 1),
        ("(readers: 2.1", 1, 1),
        ("See readers: 2.1.", 0, 1),
        ("Typed from readers 2.1.", 0, 1),
        ("What is wrong with the readers: nothing.", 0, 0),
    ] {
        let (cited, found) = citations(comment, &anchors);
        assert_eq!((cited, found.len()), (count, faults), "{comment}: {found:?}");
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut wrong = Vec::new();
    let pages = files(Path::new("docs/src"));
    let papers = pages.iter().cloned().chain(PAPERS.iter().map(PathBuf::from));
    for page in papers.filter(|page| page.extension().is_some_and(|extension| extension == "md")) {
        let inside = page.starts_with("docs/src");
        for link in links(&read(&page)) {
            wrong.extend(fault_of(&page, &link, inside).map(|fault| format!("{}: {link}: {fault}", page.display())));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    let contents = links(&read(Path::new("docs/src/SUMMARY.md")));
    let is_page = |page: &&PathBuf| page.extension().is_some_and(|extension| extension == "md");
    for page in pages.iter().filter(is_page).filter(|page| !page.ends_with("SUMMARY.md")) {
        let name = page.file_name().expect("a page has a name").to_string_lossy();
        assert!(contents.iter().any(|link| *link == name), "docs/src/SUMMARY.md does not list {name}");
    }
}

/// A test compares each picture with what the programs show, so a picture without a test could become old.
#[test]
fn every_picture_is_made_by_a_test_and_is_shown_with_a_sentence() {
    let pages = files(Path::new("docs/src")).into_iter().chain([PathBuf::from("README.md")]);
    let pages: Vec<_> = pages.filter(|page| page.extension().is_some_and(|extension| extension == "md")).collect();
    let shown: Vec<_> = pages.iter().flat_map(|page| images(&read(page))).collect();
    let tests = files(Path::new("crates")).into_iter().chain(files(Path::new("tests")));
    let is_test = |file: &PathBuf| file.components().any(|part| part.as_os_str() == "tests");
    let tests: String = tests
        .filter(is_test)
        .filter(|file| file.extension().is_some_and(|e| e == "rs"))
        .map(|file| read(&file))
        .collect();
    let pictures = files(Path::new("docs/src/pictures"));
    assert!(pictures.len() > 8, "only {pictures:?} were found");
    let mut wrong = Vec::new();
    for picture in pictures {
        let name = picture.file_name().expect("a picture has a name").to_string_lossy().into_owned();
        if !shown.iter().any(|(_, file)| file.ends_with(&name)) {
            wrong.push(format!("{name}: no page shows it"));
        }
        if !tests.contains(&format!("{:?}", name.trim_end_matches(".png"))) {
            wrong.push(format!("{name}: no test makes it"));
        }
    }
    for (alternative, file) in shown {
        if !alternative.ends_with('.') || alternative.split_whitespace().count() < 5 {
            wrong.push(format!("{file}: {alternative:?} is no sentence that says what is to be seen"));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn no_place_has_the_name_of_another() {
    for page in files(Path::new("docs/src")) {
        let ids = ids(&read(&page));
        let mut seen = BTreeSet::new();
        let again: Vec<_> = ids.iter().filter(|id| !seen.insert(id.as_str())).collect();
        assert!(again.is_empty(), "{}: {again:?}", page.display());
    }
}

#[test]
fn the_readme_is_short() {
    let lines = read(Path::new("README.md")).lines().count();
    assert!(lines <= LONGEST_README, "README.md has {lines} lines; at most {LONGEST_README}, the rest is the manual's");
}

// ---- Citations

/// Counts the citations in a comment and returns their faults.
fn citations(comment: &str, anchors: &BTreeSet<String>) -> (usize, Vec<String>) {
    let (mut count, mut wrong) = (0, Vec::new());
    for page in CITED {
        let begin = format!("{page}: ");
        for (at, _) in comment.match_indices(&begin) {
            let (before, rest) = (&comment[..at], &comment[at + begin.len()..]);
            if before.ends_with('(') || (before.ends_with("; ") && opened(before)) {
                count += 1;
                match rest.split_once(')') {
                    Some((places, _)) => wrong.extend(faults(page, places, anchors)),
                    None => wrong.push(format!("({begin}{rest}: the bracket is not closed")),
                }
            } else if is_place(rest) && !before.ends_with(|c: char| c.is_alphanumeric() || c == '`' || c == '"') {
                wrong.push(format!("{begin}{}: a citation stands in round brackets", first_words(rest)));
            }
        }
    }
    for page in CITED {
        let begin = format!(" {page} ");
        let bare = comment.match_indices(&begin).map(|(at, _)| &comment[at + begin.len()..]);
        let numbers = bare.filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()) && first_words(rest).len() < 3);
        wrong.extend(numbers.map(|rest| format!("{page} {rest}: a citation has a colon and stands in round brackets")));
    }
    (count, wrong)
}

/// Returns whether a bracket is still open at the end of a text.
fn opened(text: &str) -> bool {
    text.rfind('(') > text.rfind(')')
}

/// Returns whether a text is a place rather than a sentence.
fn is_place(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        || text.starts_with("invariant ")
        || text.starts_with("path of a sale")
}

fn first_words(text: &str) -> &str {
    text.split(['.', ',', ';']).next().unwrap_or_default()
}

/// Returns the faults of one page's places in a citation, compared with the anchors.
fn faults(page: &str, places: &str, anchors: &BTreeSet<String>) -> Vec<String> {
    let mut wrong = Vec::new();
    for part in places.split("; ") {
        let is_of_another = CITED.iter().any(|other| part.starts_with(&format!("{other}: ")));
        if is_of_another {
            break;
        }
        if OF_OTHERS.iter().any(|other| part.starts_with(other)) {
            continue;
        }
        let mut around = String::new();
        for place in part.split(", ").flat_map(|place| single(page, place, anchors)) {
            let (alone, inside) = (anchor(page, place), anchor(page, &format!("{around} {place}")));
            if anchors.contains(&alone) {
                around = place.to_owned();
            } else if around.is_empty() || !anchors.contains(&inside) {
                wrong.push(format!("({page}: {part}): docs/src/{page}.md has no id=\"{alone}\""));
            }
        }
    }
    wrong
}

/// Returns the two places of a range, or a single place unchanged.
fn single<'a>(page: &str, place: &'a str, anchors: &BTreeSet<String>) -> Vec<&'a str> {
    match anchors.contains(&anchor(page, place)) {
        true => vec![place],
        false => place.split(" and ").flat_map(|place| place.split(" to ")).collect(),
    }
}

/// Returns the `id` of a place.
fn anchor(page: &str, place: &str) -> String {
    let words = place.to_lowercase();
    let words = words.split(|c: char| !c.is_alphanumeric() && c != '.').map(|word| word.trim_matches('.'));
    let words = words.filter(|word| !word.is_empty());
    words.fold(page.to_owned(), |id, word| format!("{id}-{word}"))
}

fn anchors_of_the_manual() -> BTreeSet<String> {
    CITED.iter().flat_map(|page| ids(&read(&Path::new("docs/src").join(page).with_extension("md")))).collect()
}

/// Returns a file's comments, each with the number of its first line. Consecutive lines are joined. Returns `None` for
/// a file with an unknown form of comments.
fn comments(file: &Path) -> Option<Vec<(usize, String)>> {
    let extension = file.extension().unwrap_or_default().to_string_lossy();
    let mark = match extension.as_ref() {
        "rs" => "//",
        other if WITH_HASHES.contains(&other) => "#",
        _ => return None,
    };
    let (mut found, mut is_open): (Vec<(usize, String)>, bool) = (Vec::new(), false);
    for (line, text) in read(file).lines().enumerate() {
        let comment = comment_of(text, mark);
        match (comment, is_open) {
            (Some(more), true) => found.last_mut().expect("one is open").1 += &format!(" {more}"),
            (Some(first), false) => found.push((line + 1, first.to_owned())),
            (None, _) => {}
        }
        is_open = comment.is_some();
    }
    Some(found)
}

/// Returns the text after the comment mark, which is on a separate line or after code.
fn comment_of<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    let own = line.trim_start().strip_prefix(mark);
    let comment = own.or_else(|| line.split_once(&format!(" {mark} ")).map(|(_, comment)| comment))?;
    Some(comment.trim_start_matches(['/', '!', '#']).trim())
}

// ---- Links

/// Returns the targets of a page's links. Text in code is not a link.
fn links(page: &str) -> Vec<String> {
    let mut in_code = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            let text: String = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
            found.extend(text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(to, _)| to.to_owned()));
        }
    }
    found
}

/// Returns the alternative text and the file of each image of a page.
fn images(page: &str) -> Vec<(String, String)> {
    let halves = page.split("![").skip(1).filter_map(|rest| rest.split_once("]("));
    halves.map(|(text, rest)| (text.to_owned(), rest.split(')').next().unwrap_or_default().to_owned())).collect()
}

/// Returns the fault of a link. The manual's links must stay inside it, because it may be published alone.
fn fault_of(page: &Path, link: &str, inside: bool) -> Option<&'static str> {
    if link.starts_with("https://") {
        return None;
    }
    let (file, place) = link.split_once('#').map_or((link, None), |(file, place)| (file, Some(place)));
    let target = match file {
        "" => page.to_owned(),
        file => plain(&page.parent().unwrap_or(Path::new("")).join(file)),
    };
    if inside && !target.starts_with("docs/src") {
        return Some("leaves the manual");
    }
    if !target.exists() {
        return Some("there is no such file");
    }
    let place = place?;
    let page = read(&target);
    let has = headings(&page).iter().chain(&ids(&page)).any(|id| id == place);
    (!has).then_some("the page has no such place")
}

/// Returns a path without `..` parts.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// Returns the ids that the page writes out.
fn ids(page: &str) -> Vec<String> {
    let ids = page.split("<a id=\"").skip(1).filter_map(|rest| rest.split_once('"'));
    ids.map(|(id, _)| id.to_owned()).collect()
}

/// Returns the ids that headings get automatically, on a repository host and in the built manual.
fn headings(page: &str) -> Vec<String> {
    let mut in_code = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        }
        let Some((_, title)) = line.split_once(' ').filter(|(marks, _)| !in_code && is_heading(marks)) else {
            continue;
        };
        let title = title.split("<a id=").next().unwrap_or_default().trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
        found.push(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
    }
    found
}

fn is_heading(marks: &str) -> bool {
    !marks.is_empty() && marks.bytes().all(|mark| mark == b'#')
}

// ---- Files

/// Folders with built files or with data for fuzz targets, which contain no comments of this project.
const PASSED_OVER: &[&str] = &["target", "corpus", "seeds", "artifacts"];

/// Returns the sorted files at this path.
fn files(place: &Path) -> Vec<PathBuf> {
    if place.is_file() {
        return vec![place.to_owned()];
    }
    let entries = fs::read_dir(place).unwrap_or_else(|error| panic!("{}: {error}", place.display()));
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder can be listed").path()).collect();
    found.sort();
    found.retain(|path| !PASSED_OVER.iter().any(|name| path.ends_with(name)));
    found.iter().flat_map(|path| files(path)).collect()
}

fn read(file: &Path) -> String {
    let bytes = fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}
