//! Compresses the texts of each language, without comments and names. On a board's flash, they then take a sixth of
//! their length. The program finds a message by its position in the file.

use std::path::Path;

const PACKED: [&str; 7] =
    ["src/en.ftl", "src/de.ftl", "src/fr.ftl", "src/it.ftl", "src/es.ftl", "src/nl.ftl", "src/pl.ftl"];

fn main() {
    let folder = std::env::var_os("OUT_DIR").expect("cargo names the folder");
    for file in PACKED.map(Path::new) {
        let text = std::fs::read_to_string(file).expect("each file is next to the code that reads it");
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(nameless(&text).as_bytes(), 9);
        let name = file.file_name().expect("each is a file").display();
        std::fs::write(Path::new(&folder).join(format!("{name}.z")), packed).expect("cargo's folder can be written");
        println!("cargo::rerun-if-changed={}", file.display());
    }
}

/// Gives every message the same name, because the parser needs a name.
fn nameless(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let nameless = lines.map(|line| match line.split_once('=') {
        Some((name, value)) if name.starts_with(|first: char| first.is_ascii_lowercase()) => format!("a ={value}\n"),
        Some((name, value)) if name.trim_start().starts_with('.') => format!(" .a ={value}\n"),
        _ => format!("{line}\n"),
    });
    nameless.collect()
}
