//! The licences of everything that is built into the programs: each package with its licence and source, and each text
//! once.
//!
//! Two Cargo commands provide the data. `cargo tree` lists the packages that are built into the programs of a board,
//! without build scripts, macros and tests. `cargo metadata` gives their folders. A package without a licence text is
//! an error. Its text must then be put into `packages/licences/NAME`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use serde::Deserialize;

/// The prefixes of the names of licence and notice files, in capitals.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// The folder with the texts of packages that contain none.
const BY_HAND: &str = "packages/licences";

/// The parts of the list that Cargo does not know, each with the only program that contains it, if there is one.
const BESIDE_THE_PACKAGES: &[(Option<&str>, &str)] = &[
    (
        Some("pos-agent"),
        "  SQLite (in libsqlite3-sys, in pos-agent alone): in the public domain, https://sqlite.org/copyright.html\n",
    ),
    (
        Some(WITH_FONT),
        "  Inter 4.1, some of its letters (the page's font, in pos-front alone): SIL Open Font License 1.1, the last text\n    \
         https://github.com/rsms/inter\n",
    ),
    (None, "  Rust's standard library: MIT OR Apache-2.0; the file rust-std.html next to this one lists its parts\n"),
];

/// The program with the page.
const WITH_FONT: &str = "pos-front";

/// The file with the licence of the page's font.
const FONT: &str = "packages/licences/inter";

/// The reason why the list cannot be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{file}: {error}")]
    File { file: PathBuf, error: io::Error },
    #[error("cargo {verb} failed: {said}")]
    Cargo { verb: &'static str, said: String },
    #[error("the output of cargo metadata cannot be read: {0}")]
    Metadata(#[from] serde_json::Error),
    #[error("cargo tree lists {0}, but cargo metadata does not")]
    Unknown(String),
    #[error("no licence text for {}: put each into {BY_HAND}/NAME", .0.join(", "))]
    Missing(Vec<String>),
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    manifest_path: PathBuf,
    source: Option<String>,
}

/// Writes the list of these programs for one target.
pub(crate) fn write(target: &str, file: &Path, programs: &[String]) -> Result<(), Error> {
    let known: Metadata =
        serde_json::from_str(&cargo("metadata", &["--format-version", "1", "--filter-platform", target])?)?;
    let of_programs: Vec<&str> = programs.iter().flat_map(|program| ["--package", program]).collect();
    let form = ["--edges", "normal,no-proc-macro", "--target", target, "--prefix", "none", "--format", "{p}"];
    let tree = cargo("tree", &[&of_programs[..], &form].concat())?;
    let mut text = list(target, programs, &built_in(&tree, known.packages)?, Path::new(BY_HAND))?;
    if programs.iter().any(|program| program == WITH_FONT) {
        let font = fs::read_to_string(FONT).map_err(|error| Error::File { file: FONT.into(), error })?;
        let _ = write!(text, "\n---- Inter {}\n\n{font}", "-".repeat(60));
    }
    fs::write(file, text).map_err(|error| Error::File { file: file.to_owned(), error })
}

fn cargo(verb: &'static str, arguments: &[&str]) -> Result<String, Error> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(program).arg(verb).arg("--locked").args(arguments).output()?;
    if !output.status.success() {
        return Err(Error::Cargo { verb, said: String::from_utf8_lossy(&output.stderr).into_owned() });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the packages that the tree lists, one per line as `name v1.2.3`. They are found among the known packages.
/// Our own packages are left out.
fn built_in(tree: &str, known: Vec<Package>) -> Result<Vec<Package>, Error> {
    let mut known: BTreeMap<String, Package> =
        known.into_iter().map(|one| (format!("{} v{}", one.name, one.version), one)).collect();
    let mut names: Vec<String> =
        tree.lines().map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ")).collect();
    names.retain(|name| !name.is_empty());
    names.sort();
    names.dedup();
    let found: Result<Vec<_>, _> =
        names.into_iter().map(|name| known.remove(&name).ok_or(Error::Unknown(name))).collect();
    Ok(found?.into_iter().filter(|one| one.source.is_some()).collect())
}

/// Returns the whole list: the packages with the numbers of their texts, then the texts.
fn list(target: &str, programs: &[String], packages: &[Package], by_hand: &Path) -> Result<String, Error> {
    let mut texts: Vec<String> = Vec::new();
    let (mut rows, mut missing) = (String::new(), Vec::new());
    for Package { name, version, license, manifest_path, .. } in packages {
        let mut numbers = Vec::new();
        for text in texts_of(name, manifest_path.parent().unwrap_or(manifest_path), by_hand)? {
            let number = texts.iter().position(|known| *known == text).unwrap_or_else(|| {
                texts.push(text);
                texts.len() - 1
            });
            numbers.push((number + 1).to_string());
        }
        if numbers.is_empty() {
            missing.push(format!("{name} {version}"));
        }
        let licence = license.as_deref().unwrap_or("see its text");
        let _ = writeln!(rows, "  {name} {version}: {licence}; text {}", numbers.join(", "));
        let _ = writeln!(rows, "    https://crates.io/crates/{name}/{version}");
    }
    if !missing.is_empty() {
        return Err(Error::Missing(missing));
    }
    let mut all = format!(
        "The packages in {} {} for {target}, with their licences and the addresses of their sources.\n\n{rows}\nThe \
         programs also contain:\n",
        programs.join(" and "),
        env!("CARGO_PKG_VERSION")
    );
    let is_in = |whose: &Option<&str>| whose.is_none_or(|whose| programs.iter().any(|program| program == whose));
    all.extend(BESIDE_THE_PACKAGES.iter().filter(|(whose, _)| is_in(whose)).map(|(_, part)| *part));
    for (at, text) in texts.iter().enumerate() {
        let _ = write!(all, "\n---- Text {} {}\n\n{text}", at + 1, "-".repeat(60));
    }
    Ok(all)
}

/// Returns every licence and notice of a package. Texts that differ only in their line ends count as one.
fn texts_of(name: &str, folder: &Path, by_hand: &Path) -> Result<Vec<String>, Error> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| Error::File { file: folder.to_owned(), error })? {
        let entry = entry?;
        let called = entry.file_name().to_string_lossy().to_uppercase();
        if NAMES.iter().any(|name| called.starts_with(name)) && entry.file_type()?.is_file() {
            files.push(entry.path());
        }
    }
    let ours = by_hand.join(name);
    if ours.is_file() {
        files.push(ours);
    }
    files.sort();
    let mut texts = Vec::new();
    for file in files {
        let bytes = fs::read(&file).map_err(|error| Error::File { file, error })?;
        let text =
            String::from_utf8_lossy(&bytes).lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>();
        let text = format!("{}\n", text.trim_matches('\n'));
        if text.trim().is_empty() {
            continue;
        }
        texts.push(text);
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a package with these files in its own folder.
    fn package(root: &Path, name: &str, files: &[(&str, &str)]) -> Package {
        let folder = root.join(name);
        fs::create_dir(&folder).unwrap();
        for (file, text) in files {
            fs::write(folder.join(file), text).unwrap();
        }
        Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: Some("MIT".to_owned()),
            manifest_path: folder.join("Cargo.toml"),
            source: Some("registry".to_owned()),
        }
    }

    #[test]
    fn each_text_is_there_once_and_ends_of_lines_do_not_count() {
        let root = tempfile::tempdir().unwrap();
        let packages = [
            package(root.path(), "a", &[("LICENSE-MIT", "Free\nfor all\n"), ("NOTICE", "By A\n")]),
            package(root.path(), "b", &[("license.txt", "Free  \r\nfor all\r\n\r\n")]),
        ];
        let text = list("x", &[], &packages, root.path()).unwrap();
        assert_eq!(text.matches("Free\nfor all\n").count(), 1, "{text}");
        assert!(text.contains("  a 1.0.0: MIT; text 1, 2\n") && text.contains("  b 1.0.0: MIT; text 1\n"), "{text}");
        assert!(text.contains("By A\n"), "{text}");
    }

    #[test]
    fn a_package_without_a_text_is_an_error_until_the_text_is_put_by_hand() {
        let root = tempfile::tempdir().unwrap();
        let packages = [package(root.path(), "bare", &[("README.md", "MIT"), ("LICENSE", "\n")])];
        let by_hand = root.path().join("by-hand");
        let error = list("x", &[], &packages, &by_hand).unwrap_err();
        assert_eq!(error.to_string(), "no licence text for bare 1.0.0: put each into packages/licences/NAME");
        fs::create_dir(&by_hand).unwrap();
        fs::write(by_hand.join("bare"), "Free for all\n").unwrap();
        assert!(list("x", &[], &packages, &by_hand).unwrap().contains("Free for all"));
    }

    #[test]
    fn what_the_tree_lists_must_be_known_and_is_taken_once() {
        let root = tempfile::tempdir().unwrap();
        let known = || {
            let mut ours = package(root.path(), "ours", &[]);
            ours.source = None;
            fs::remove_dir_all(root.path().join("ours")).unwrap();
            let one = package(root.path(), "one", &[]);
            fs::remove_dir_all(root.path().join("one")).unwrap();
            vec![ours, one]
        };
        let found = built_in("ours v1.0.0 (/here)\none v1.0.0\none v1.0.0 (*)\n", known()).unwrap();
        assert_eq!(found.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["one"]);
        let error = built_in("two v1.0.0\n", known()).map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), "cargo tree lists two v1.0.0, but cargo metadata does not");
    }
}
