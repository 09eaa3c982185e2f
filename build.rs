//! Stamps the build time into the program: no clock that is earlier can be right (design: invariant 8).

#[allow(clippy::disallowed_methods, reason = "the build has no other clock")]
fn main() {
    let now = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|s| s.parse().ok()).unwrap_or_else(|| {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs())
    });
    println!("cargo::rustc-env=POS_AGENT_BUILD_UNIX_S={now}");
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    println!("cargo::rerun-if-changed=Cargo.toml");
}
