//! The packages that may be built in. The test compares the licence, source and name of every package, as Cargo
//! resolves them for the boards, with `.deny.toml`. `cargo deny` uses the same file. Where it is installed, it checks
//! the same and more (advisories, yanked versions).

use std::collections::BTreeMap;
use std::process::Command;

use serde::Deserialize;
use spdx::{Expression, Licensee, ParseMode};

/// The only registry that packages may come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

#[derive(Deserialize)]
struct Rules {
    graph: Graph,
    licenses: Licences,
    bans: Bans,
}

#[derive(Deserialize)]
struct Graph {
    targets: Vec<String>,
}

#[derive(Deserialize)]
struct Licences {
    allow: Vec<String>,
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    package: String,
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

#[derive(Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    package: String,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Clone, Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
    dependencies: Vec<Dependency>,
}

#[derive(Clone, Deserialize)]
struct Dependency {
    name: String,
    req: String,
    path: Option<String>,
}

fn rules() -> Rules {
    toml::from_str(include_str!("../../.deny.toml")).unwrap()
}

/// Returns every package in the lock file that some target needs, for the program, the simulators, the tests and the
/// benchmarks.
fn packages(rules: &Rules) -> Vec<Package> {
    let mut all = BTreeMap::new();
    for target in &rules.graph.targets {
        let said = Command::new(env!("CARGO"))
            .args(["metadata", "--locked", "--all-features", "--format-version", "1", "--filter-platform", target])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(said.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&said.stderr));
        let found: Metadata = serde_json::from_slice(&said.stdout).unwrap();
        all.extend(found.packages.into_iter().map(|one| ((one.name.clone(), one.version.clone()), one)));
    }
    all.into_values().collect()
}

/// Returns the faults of these packages, one per line.
fn wrong(rules: &Rules, packages: &[Package]) -> Vec<String> {
    let mut wrong = Vec::new();
    for package in packages {
        let Package { name, version, license, source, dependencies } = package;
        let mut is_wrong = |why: String| wrong.push(format!("{name} {version}: {why}"));
        if rules.bans.deny.iter().any(|ban| ban.package == *name) {
            is_wrong("is banned".to_owned());
        }
        let Some(source) = source else {
            for dependency in dependencies.iter().filter(|one| one.path.is_none() && one.req == "*") {
                is_wrong(format!("takes any version of {}", dependency.name));
            }
            continue;
        };
        if source != REGISTRY {
            is_wrong(format!("comes from {source}"));
        }
        let own = rules.licenses.exceptions.iter().filter(|one| one.package == *name).flat_map(|one| &one.allow);
        let allowed: Vec<Licensee> =
            rules.licenses.allow.iter().chain(own).map(|text| Licensee::parse(text).unwrap()).collect();
        let text = license.as_deref().unwrap_or_default();
        match Expression::parse_mode(text, ParseMode::LAX) {
            Ok(asked) if asked.evaluate(|one| allowed.iter().any(|licence| licence.satisfies(one))) => {}
            Ok(_) => is_wrong(format!("its licence {text} is not allowed")),
            Err(_) => is_wrong(format!("its licence {text:?} cannot be read")),
        }
    }
    wrong
}

#[test]
fn every_package_is_allowed() {
    let rules = rules();
    let packages = packages(&rules);
    assert!(packages.iter().any(|one| one.name == "rustls") && packages.len() > 100, "{} packages", packages.len());
    let wrong = wrong(&rules, &packages);
    assert!(wrong.is_empty(), "not as .deny.toml says:\n{}", wrong.join("\n"));
}

#[test]
fn what_is_not_allowed_is_found() {
    let rules = rules();
    let good = Package {
        name: "good".to_owned(),
        version: "1.0.0".to_owned(),
        license: Some("MIT/GPL-3.0-only".to_owned()),
        source: Some(REGISTRY.to_owned()),
        dependencies: Vec::new(),
    };
    let licence = |text: &str| Package { license: Some(text.to_owned()), ..good.clone() };
    let any = Dependency { name: "anything".to_owned(), req: "*".to_owned(), path: None };
    for (package, found) in [
        (good.clone(), None),
        (licence("GPL-3.0-only"), Some("its licence GPL-3.0-only is not allowed")),
        (licence("MIT AND GPL-3.0-only"), Some("its licence MIT AND GPL-3.0-only is not allowed")),
        (licence("MPL-2.0"), Some("its licence MPL-2.0 is not allowed")),
        (Package { name: "serialport".to_owned(), ..licence("MPL-2.0") }, None),
        (Package { license: None, ..good.clone() }, Some("its licence \"\" cannot be read")),
        (Package { name: "openssl-sys".to_owned(), ..good.clone() }, Some("is banned")),
        (Package { source: Some("git+https://example.com/good".to_owned()), ..good.clone() }, Some("comes from git+")),
        (Package { source: None, dependencies: vec![any], ..good.clone() }, Some("takes any version of anything")),
    ] {
        let wrong = wrong(&rules, std::slice::from_ref(&package));
        match found {
            None => assert!(wrong.is_empty(), "{wrong:?}"),
            Some(found) => assert!(wrong.len() == 1 && wrong[0].contains(found), "{wrong:?}"),
        }
    }
}
