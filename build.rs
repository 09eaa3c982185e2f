//! Stamps the build time into the program: no clock that is earlier can be right (design: invariant 8). And packs its
//! long texts: on a board's flash they take a sixth to a third of their length.

use std::path::Path;

/// What is packed: the description of the till's interface, and the words of each language.
const PACKED: [&str; 3] = ["src/till/http/openapi.json", "src/words/en.ftl", "src/words/de.ftl"];

#[allow(clippy::disallowed_methods, reason = "the build has no other clock")]
fn main() {
    let now = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|s| s.parse().ok()).unwrap_or_else(|| {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs())
    });
    println!("cargo::rustc-env=POS_AGENT_BUILD_UNIX_S={now}");
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    println!("cargo::rerun-if-changed=Cargo.toml");

    let folder = std::env::var_os("OUT_DIR").expect("cargo names the folder");
    for file in PACKED.map(Path::new) {
        let text = std::fs::read(file).expect("each file stands beside the code that reads it");
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(&text, 9);
        let name = file.file_name().expect("each is a file").display();
        std::fs::write(Path::new(&folder).join(format!("{name}.z")), packed).expect("cargo's folder can be written");
        println!("cargo::rerun-if-changed={}", file.display());
    }
}
