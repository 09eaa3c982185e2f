//! Writes the list of the page's files, so that a file that is put into `page/` is served without a line of code. Its
//! tests, and what is written about it for people, are no part of it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let page = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("page");
    // A folder stands for all that is in it, also for files that come later.
    println!("cargo::rerun-if-changed=page");
    let mut files = Vec::new();
    find(&page, &mut files)?;
    files.sort();
    let mut list = String::from("&[\n");
    for file in &files {
        let name = file.strip_prefix(&page).expect("it was found there").display().to_string();
        let path = file.display().to_string();
        writeln!(list, "    ({name:?}, include_bytes!({path:?})),").expect("text takes all of it");
    }
    list.push(']');
    fs::write(PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("page_files.rs"), list)
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
