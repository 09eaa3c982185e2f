//! Generates the list of the page's files, so a new file in `page/` is served without a change to the code. The page's
//! tests, `package.json` and Markdown files are left out. Comments and whitespace are removed from scripts and style
//! sheets, and line breaks from data files. The page's time limit for each answer comes from the table of the agent's
//! routes. Every file except the documents is compressed with gzip. This saves flash memory on a board and time on a
//! slow network.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use pos_till_api::deadlines::AnswerDeadline;
use pos_till_api::routes::{ApiRoute, PassedFor, ROUTES};

fn main() -> io::Result<()> {
    let page = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("page");
    // Cargo watches the whole folder, including files that are added later.
    println!("cargo::rerun-if-changed=page");
    let mut files = Vec::new();
    find(&page, &mut files)?;
    files.sort();
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    let mut list = String::from("&[\n");
    for (number, file) in files.iter().enumerate() {
        let name = file.strip_prefix(&page).expect("it was found there").display().to_string();
        let mut path = file.display().to_string();
        // The program inserts the version into a document, so it stays uncompressed.
        if !name.ends_with(".html") {
            let packed = out.join(format!("page_file_{number}.gz"));
            fs::write(&packed, gzip(&lean(file)?)?)?;
            path = packed.display().to_string();
        }
        writeln!(list, "    ({name:?}, include_bytes!({path:?})),").expect("text takes all of it");
    }
    list.push(']');
    fs::write(out.join("page_files.rs"), list)
}

/// Returns the content of a file as a browser receives it.
fn lean(file: &Path) -> io::Result<Vec<u8>> {
    let content = match file.extension().and_then(|ending| ending.to_str()) {
        Some("css") => {
            minifier::css::minify(&fs::read_to_string(file)?).map_err(io::Error::other)?.to_string().trim().to_owned()
        }
        Some("js") => minifier::js::minify(&with_waits(&fs::read_to_string(file)?)).to_string(),
        // No JSON string and no SVG tag spans several lines, so the lines can be joined.
        Some("json" | "svg" | "webmanifest") => fs::read_to_string(file)?.lines().map(str::trim).collect(),
        _ => return fs::read(file),
    };
    Ok(content.into_bytes())
}

/// Compresses a file. The result contains no timestamp and no file name, so builds are reproducible.
fn gzip(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(content)?;
    packed.finish()
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

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if !path.ends_with("tests") {
                find(&path, files)?;
            }
        } else if is_served(&path) {
            files.push(path);
        }
    }
    Ok(())
}

fn is_served(file: &Path) -> bool {
    !file.ends_with("package.json") && file.extension().is_none_or(|ending| ending != "md")
}
