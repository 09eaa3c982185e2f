//! Packs the messages of each language, without names and comments, and compresses them. On a board's flash, they then
//! take a quarter of their length. The program finds a message by its position in the file.

use std::path::Path;

use piece::{ARGUMENT, END, Piece};

#[path = "src/fluent.rs"]
mod fluent;
#[path = "src/piece.rs"]
mod piece;

const PACKED: [&str; 7] =
    ["src/en.ftl", "src/de.ftl", "src/fr.ftl", "src/it.ftl", "src/es.ftl", "src/nl.ftl", "src/pl.ftl"];

fn main() {
    let folder = std::env::var_os("OUT_DIR").expect("cargo names the folder");
    for file in PACKED.map(Path::new) {
        let text = std::fs::read_to_string(file).expect("each file is next to the code that reads it");
        let messages = fluent::messages(&text).unwrap_or_else(|fault| panic!("{}: {fault}", file.display()));
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(packed(&messages).as_bytes(), 10);
        let name = file.file_name().expect("each is a file").display();
        std::fs::write(Path::new(&folder).join(format!("{name}.z")), packed).expect("cargo's folder can be written");
        println!("cargo::rerun-if-changed={}", file.display());
    }
}

/// Returns the packed form of messages.
fn packed(messages: &[(String, Vec<Piece>)]) -> String {
    let mut packed = String::new();
    for (_, pieces) in messages {
        for piece in pieces {
            match piece {
                Piece::Text(text) => packed.push_str(text),
                Piece::Argument(name) => packed.extend([&ARGUMENT.to_string(), &**name, &ARGUMENT.to_string()]),
            }
        }
        packed.push(END);
    }
    packed
}
