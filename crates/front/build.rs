//! Packs the cashier's page, the customer's screen and the page of the first boot. A new file in `page/` is served
//! without a change to the code. The page's tests, `package.json` and Markdown files are left out.
//!
//! A document contains all that its first screen needs: HTML, `start.js`, style sheets, images, the imported modules,
//! and the first words of one language. `bundle` joins the modules. Comments and whitespace are removed from scripts
//! and style sheets, and line breaks from data files. The page's time limit for each answer comes from the table of the
//! agent's routes.
//!
//! Everything is compressed. This saves flash memory on a board and time on a slow network. A file consists of pieces
//! of a gzip stream, because the documents and word files share most pieces.

#[path = "build/bundle.rs"]
mod bundle;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use bundle::Bundle;
use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use pos_till_api::deadlines::AnswerDeadline;
use pos_till_api::routes::{ApiRoute, PassedFor, ROUTES};
use serde_json::{Map, Value};

/// The groups of words that no screen in the cashier's document needs. `reason` also belongs to them: until it is
/// loaded, the page shows the agent's sentence.
const LATER_WORDS: [&str; 11] =
    ["act", "day", "detail", "entry", "look", "pair", "reason", "role", "sales", "sign", "terminal"];
/// The groups of words that only the customer's screen needs.
const CUSTOMERS_WORDS: [&str; 1] = ["customer"];
/// The groups of words that only `support.js` needs.
const SUPPORT_WORDS: [&str; 4] = ["customers-screen", "devices", "doctor", "payout"];

/// The folder with the words that only the page of the first boot needs, one file for each language.
const FIRST_BOOTS_WORDS: &str = "words/first-boot/";

fn main() -> io::Result<()> {
    let page = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("page");
    // Cargo watches the whole folder, including files that are added later.
    println!("cargo::rerun-if-changed=page");
    let mut files = BTreeMap::new();
    find(&page, &page, &mut files)?;
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    let text = |name: &str| {
        let found = files.get(name).ok_or_else(|| io::Error::other(format!("page/{name} is missing")))?;
        String::from_utf8(found.clone()).map_err(io::Error::other)
    };
    let read = |module: &str| text(&format!("{module}.js")).map_err(|error| error.to_string());
    let join = |version: &str| -> Result<[Bundle; 3], String> {
        Ok([
            bundle::join("main", Some("later"), &read, version)?,
            bundle::join("customer", None, &read, version)?,
            bundle::join("first-boot", None, &read, version)?,
        ])
    };
    // The version is in the scripts, so it is the digest of scripts that do not have it yet.
    let version = version(&files, &join("").map_err(io::Error::other)?);
    let [cashiers_bundle, customers_bundle, first_boots_bundle] = join(&version).map_err(io::Error::other)?;

    let start = element("script", &script(&text("start.js")?))?;
    let icons = text("icons.svg")?;
    let style = element("style", &text("style.css")?)?;
    let document = |name: &str, styles: &[&str], module: &str, bundle: &Bundle| {
        let code = [
            ("<script src=\"/assets/start.js\"></script>".to_owned(), start.clone()),
            ("@ICONS@".to_owned(), icons.clone()),
            (
                format!("<script type=\"module\" src=\"/assets/{module}.js\"></script>"),
                element("script type=\"module\"", &script(&bundle.first))?,
            ),
        ];
        let styles = styles.iter().map(|style| {
            let link = format!("<link rel=\"stylesheet\" href=\"/assets/{style}\">");
            Ok((link, element("style", &text(style)?)?))
        });
        let parts = styles.chain(code.map(Ok)).collect::<io::Result<Vec<_>>>()?;
        joined_document(name, &text(name)?.replace("@VERSION@", &version), &parts)
    };
    let cashiers_document = document("index.html", &["style.css"], "main", &cashiers_bundle)?;
    let customers_document = document("customer.html", &["style.css", "customer.css"], "customer", &customers_bundle)?;

    let first_boots_document =
        document("first-boot.html", &["style.css", "first-boot.css"], "first-boot", &first_boots_bundle)?;

    let mut packer = Packer { out, pieces: BTreeMap::new(), files: String::new() };
    let of_all = |name: &&String| name.starts_with("words/") && !name.starts_with(FIRST_BOOTS_WORDS);
    for name in files.keys().filter(of_all) {
        let language = Path::new(name).file_stem().and_then(|stem| stem.to_str()).expect("it has letters");
        let parts = words(&text(name)?)?;
        let [first, later, customers, support] = parts.each_ref().map(|part| part.as_bytes());
        let all: [&[u8]; 9] = [b"{", first, b",", later, b",", customers, b",", support, b"}"];
        packer.file(&format!("/assets/{language}.json"), "", &all)?;
        packer.file(&format!("/assets/{language}-rest.json"), "", &[b"{", later, b"}"])?;
        let first_boots = group(&text(&format!("{FIRST_BOOTS_WORDS}{language}.json"))?, "boot")?;
        let own = first_boots.as_bytes();
        for (path, [head, shell, end], words) in [
            ("/", &cashiers_document, &[first][..]),
            ("/customer", &customers_document, &[first, b",", customers]),
            ("/first-boot", &first_boots_document, &[first, b",", own]),
        ] {
            let head = format!("{head}{language}");
            // The style sheet of all documents is a piece of its own.
            let (before, after) = shell.split_once(&style).expect("the document has it");
            let frame = [&head, before, &style, after].map(str::as_bytes);
            packer.file(path, language, &[&frame, words, &[end.as_bytes()]].concat())?;
        }
        packer.file(&format!("/assets/first-boot-{language}.json"), "", &[b"{", first, b",", own, b"}"])?;
        packer.file(&format!("/assets/{language}-support.json"), "", &[b"{", support, b"}"])?;
    }
    packer.file("/assets/later.js", "", &[script(&cashiers_bundle.later).as_bytes()])?;
    let support = text("support.js")?.replace("@VERSION@", &version);
    packer.file("/assets/support.js", "", &[script(&support).as_bytes()])?;
    let is_joined = |name: &str| name.ends_with(".js") || name.starts_with("words/") || name.ends_with(".html");
    let inlined = ["icons.svg", "style.css", "customer.css", "first-boot.css"];
    for (name, content) in files.iter().filter(|(name, _)| !is_joined(name) && !inlined.contains(&name.as_str())) {
        packer.file(&format!("/assets/{name}"), "", &[content])?;
    }
    packer.finish(&version)
}

/// Puts the parts of a document in their places: each is a place, and its content. Returns the document in three
/// pieces, between which its language and its words are added.
fn joined_document(name: &str, document: &str, parts: &[(String, String)]) -> io::Result<[String; 3]> {
    let mut document = document.to_owned();
    for (place, content) in parts {
        document = inline(&document, place, content)?;
    }
    let pieces = document.split_once("@LANGUAGE@").and_then(|(head, rest)| Some((head, rest.split_once("@WORDS@")?)));
    let (head, (shell, end)) = pieces.ok_or_else(|| io::Error::other(format!("{name} has no place for its words")))?;
    Ok([head, shell, end].map(str::to_owned))
}

/// Finds the files of the page, with their names below `page/` and their contents as a browser needs them.
fn find(page: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if !path.ends_with("tests") {
                find(page, &path, files)?;
            }
        } else if is_served(&path) {
            let name = path.strip_prefix(page).expect("it was found there").display().to_string();
            files.insert(name, lean(&path)?);
        }
    }
    Ok(())
}

fn is_served(file: &Path) -> bool {
    !file.ends_with("package.json") && file.extension().is_none_or(|ending| ending != "md")
}

fn lean(file: &Path) -> io::Result<Vec<u8>> {
    let content = match file.extension().and_then(|ending| ending.to_str()) {
        Some("css") => {
            minifier::css::minify(&fs::read_to_string(file)?).map_err(io::Error::other)?.to_string().trim().to_owned()
        }
        Some("js") => with_waits(&fs::read_to_string(file)?),
        // No JSON string and no SVG tag spans several lines, so the lines can be joined.
        Some("json" | "svg" | "webmanifest") => fs::read_to_string(file)?.lines().map(str::trim).collect(),
        _ => return fs::read(file),
    };
    Ok(content.into_bytes())
}

fn script(text: &str) -> String {
    minifier::js::minify(text).to_string()
}

/// Returns a digest of all files and of the scripts. The page compares it with the front's.
fn version(files: &BTreeMap<String, Vec<u8>>, bundles: &[Bundle]) -> String {
    let mut digest = DefaultHasher::new();
    (files, bundles).hash(&mut digest);
    format!("{:016x}", digest.finish())
}

/// Replaces `@WAITS@` with the page's time limits in seconds, one for each method and path. Requests that are not
/// listed have the deadline `AtOnce`. The page never uses `wait-s`, so the list has no routes with the deadline
/// `Named`.
fn with_waits(script: &str) -> String {
    let row = |route: &ApiRoute| {
        // The page sends a sign-in to the front, which forwards it to the agent.
        let path = if route.path == "/v1/sessions" { "/front/session" } else { route.path };
        let is_asked = route.passed_for != PassedFor::Nobody || path != route.path;
        let is_slow = !matches!(route.deadline, AnswerDeadline::AtOnce | AnswerDeadline::Named);
        let wait = route.deadline.page().as_secs();
        (is_asked && is_slow).then(|| format!("\"{} {path}\":{wait}", route.method))
    };
    let others = format!("\"\":{}", AnswerDeadline::AtOnce.page().as_secs());
    let rows: Vec<String> = ROUTES.iter().filter_map(row).chain([others]).collect();
    script.replace("/* @WAITS@ */", &rows.join(","))
}

/// Replaces the only `place` in the document.
fn inline(document: &str, place: &str, content: &str) -> io::Result<String> {
    match document.split_once(place) {
        Some((before, after)) if !after.contains(place) => Ok([before, content, after].concat()),
        _ => Err(io::Error::other(format!("a document must contain {place} once"))),
    }
}

/// Returns an element with this content, which must not end the element.
fn element(tag: &str, content: &str) -> io::Result<String> {
    let name = tag.split(' ').next().unwrap_or(tag);
    if let Some(found) = ["</", "<!--", "<script"].iter().find(|found| content.contains(**found)) {
        return Err(io::Error::other(format!("{found} in a <{name}> may end it")));
    }
    Ok(format!("<{tag}>{content}</{name}>"))
}

/// Splits the words of a language into those of both documents, those that come later, those of the customer's document
/// only, and those of `support.js`. Each part is without its braces.
fn words(file: &str) -> io::Result<[String; 4]> {
    let words: Map<String, Value> = serde_json::from_str(file)?;
    let missing =
        LATER_WORDS.iter().chain(&CUSTOMERS_WORDS).chain(&SUPPORT_WORDS).find(|group| !words.contains_key(**group));
    if let Some(group) = missing {
        return Err(io::Error::other(format!("the words have no group {group}")));
    }
    let [mut first, mut later, mut customers, mut support] = [Map::new(), Map::new(), Map::new(), Map::new()];
    for (group, words) in words {
        let part = match group.as_str() {
            group if LATER_WORDS.contains(&group) => &mut later,
            group if CUSTOMERS_WORDS.contains(&group) => &mut customers,
            group if SUPPORT_WORDS.contains(&group) => &mut support,
            _ => &mut first,
        };
        part.insert(group, words);
    }
    Ok([first, later, customers, support].map(|part| {
        // In a document, `<` could end the element with the words.
        let text = Value::Object(part).to_string().replace('<', "\\u003c");
        text[1..text.len() - 1].to_owned()
    }))
}

/// Returns the words of a file as a group with this name, without the braces around it.
fn group(file: &str, name: &str) -> io::Result<String> {
    let words: Map<String, Value> = serde_json::from_str(file)?;
    let words = Value::Object(words).to_string().replace('<', "\\u003c");
    Ok(format!("{name:?}:{words}"))
}

/// Writes the pieces, and the list of files that consist of them.
struct Packer {
    out: PathBuf,
    /// The numbers of the pieces by their contents. Equal contents are one piece.
    pieces: BTreeMap<Vec<u8>, usize>,
    files: String,
}

impl Packer {
    /// Adds a file with these contents, each in a piece of its own. `language` is empty for a file that is the same in
    /// all languages.
    fn file(&mut self, path: &str, language: &str, contents: &[&[u8]]) -> io::Result<()> {
        let mut sum = Crc::new();
        contents.iter().for_each(|content| sum.update(content));
        let numbers = contents.iter().map(|content| self.piece(content)).collect::<io::Result<Vec<usize>>>()?;
        let (sum, bytes) = (sum.sum(), sum.amount());
        writeln!(
            self.files,
            "    PackedFile {{ path: {path:?}, language: {language:?}, pieces: &{numbers:?}, sum: {sum}, bytes: {bytes} }},"
        )
        .expect("text takes all of it");
        Ok(())
    }

    /// Returns the number of the piece with this content. The piece ends at a full byte and is not the last of its
    /// stream (RFC 1951, 3.2.4).
    fn piece(&mut self, content: &[u8]) -> io::Result<usize> {
        if let Some(number) = self.pieces.get(content) {
            return Ok(*number);
        }
        let number = self.pieces.len();
        // A stored block of up to 65,535 bytes needs five bytes more.
        let mut packed = Vec::with_capacity(content.len() + content.len() / 1000 + 100);
        let mut stream = Compress::new(Compression::best(), false);
        let status = stream.compress_vec(content, &mut packed, FlushCompress::Sync)?;
        assert!(status == Status::Ok && stream.total_in() == content.len() as u64 && packed.len() < packed.capacity());
        fs::write(self.piece_file(number), packed)?;
        self.pieces.insert(content.to_vec(), number);
        Ok(number)
    }

    fn piece_file(&self, number: usize) -> PathBuf {
        self.out.join(format!("page_piece_{number}"))
    }

    fn finish(self, version: &str) -> io::Result<()> {
        let files = (0..self.pieces.len()).map(|number| self.piece_file(number).display().to_string());
        let pieces: String = files.map(|file| format!("    include_bytes!({file:?}),\n")).collect();
        let list = format!(
            "const VERSION: &str = {version:?};\nstatic PIECES: &[&[u8]] = &[\n{pieces}];\n\
             static FILES: &[PackedFile] = &[\n{}];\n",
            self.files
        );
        fs::write(self.out.join("page_files.rs"), list)
    }
}
