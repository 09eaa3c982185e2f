//! Stamps the build time into the program: no clock that is earlier can be right (design: invariant 8). And packs the
//! description of the till's interface: on a board's flash it takes a sixth of its length.

use std::path::Path;

const PACKED: &str = "src/till/http/openapi.json";

#[allow(clippy::disallowed_methods, reason = "the build has no other clock")]
fn main() {
    let now = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|s| s.parse().ok()).unwrap_or_else(|| {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs())
    });
    println!("cargo::rustc-env=POS_AGENT_BUILD_UNIX_S={now}");
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    println!("cargo::rerun-if-changed=Cargo.toml");

    let folder = std::env::var_os("OUT_DIR").expect("cargo names the folder");
    let text = std::fs::read(PACKED).expect("it stands beside the code that serves it");
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&text, 9);
    std::fs::write(Path::new(&folder).join("openapi.json.z"), packed).expect("cargo's folder can be written");
    println!("cargo::rerun-if-changed={PACKED}");
}
