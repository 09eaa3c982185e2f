//! The dependencies between crates. The output of `cargo metadata` must match one table, so that a new dependency is a
//! decision and not an accident. The `Cargo.toml` of a pure crate has no dependency that could act.

use std::process::Command;

use serde_json::Value;

/// Every package of the workspace, with its dependencies in the workspace and the additional ones of its tests.
const EDGES: &[(&str, &[&str], &[&str])] = &[
    ("pos-terms", &[], &[]),
    ("pos-till-api", &[], &[]),
    ("pos-core", &["pos-terms"], &[]),
    ("pos-explore", &["pos-core", "pos-terms"], &[]),
    ("pos-daemon", &[], &[]),
    ("pos-first-boot", &[], &[]),
    ("pos-gateway", &["pos-core", "pos-daemon", "pos-gateway-model", "pos-terms"], &[]),
    ("pos-gateway-model", &[], &[]),
    ("pos-journal", &["pos-core", "pos-terms"], &[]),
    ("pos-keys", &["pos-terms"], &[]),
    ("pos-payment-service", &["pos-gateway-model", "pos-keys", "pos-terms"], &[]),
    ("pos-printer", &["pos-core", "pos-daemon", "pos-terms", "pos-words"], &[]),
    ("pos-reader", &["pos-daemon", "pos-reader-link", "pos-terms"], &[]),
    ("pos-reader-link", &[], &[]),
    ("pos-reconcile", &["pos-core", "pos-gateway-model", "pos-terms"], &[]),
    ("pos-words", &["pos-core", "pos-terms"], &[]),
    ("pos-protocols", &["pos-terms", "pos-till-api"], &[]),
    ("pos-fleet-terms", &["pos-till-api"], &[]),
    ("pos-broker", &["pos-fleet-terms"], &[]),
    ("pos-uplink", &["pos-broker", "pos-daemon", "pos-fleet-terms", "pos-till-api"], &[]),
    (
        "pos-fleet",
        &["pos-broker", "pos-daemon", "pos-fleet-terms", "pos-terms", "pos-till-api"],
        &["pos-sim", "pos-test-kit", "pos-uplink"],
    ),
    (
        "pos-front",
        &["pos-daemon", "pos-first-boot", "pos-protocols", "pos-till-api"],
        &["pos-agent", "pos-sim", "pos-test-kit", "pos-words"],
    ),
    (
        "pos-sim",
        &[
            "pos-broker",
            "pos-fleet-terms",
            "pos-keys",
            "pos-payment-service",
            "pos-protocols",
            "pos-reader-link",
            "pos-terms",
            "pos-till-api",
            "pos-uplink",
        ],
        &["pos-test-kit"],
    ),
    (
        "pos-test-kit",
        &[
            "pos-agent",
            "pos-core",
            "pos-daemon",
            "pos-fleet-terms",
            "pos-gateway-model",
            "pos-journal",
            "pos-protocols",
            "pos-reader",
            "pos-reader-link",
            "pos-sim",
            "pos-terms",
            "pos-till-api",
        ],
        &[],
    ),
    (
        "pos-docs",
        &[
            "pos-agent",
            "pos-core",
            "pos-fleet-terms",
            "pos-front",
            "pos-gateway-model",
            "pos-reader",
            "pos-sim",
            "pos-till-api",
            "pos-words",
        ],
        &[],
    ),
    ("pos-sandbox", &["pos-agent", "pos-front", "pos-sim", "pos-till-api"], &[]),
    (
        "pos-agent",
        &[
            "pos-core",
            "pos-daemon",
            "pos-first-boot",
            "pos-fleet-terms",
            "pos-gateway",
            "pos-gateway-model",
            "pos-journal",
            "pos-printer",
            "pos-reader",
            "pos-reconcile",
            "pos-terms",
            "pos-till-api",
            "pos-words",
        ],
        &["pos-protocols", "pos-reader-link", "pos-sim", "pos-test-kit"],
    ),
];

/// Pure crates. The next constant lists the crates that act or encrypt, which a pure crate must not use. The client of
/// `pos-till-api` is an optional feature.
const PURE: &[&str] = &[
    "pos-terms",
    "pos-till-api",
    "pos-core",
    "pos-fleet-terms",
    "pos-gateway-model",
    "pos-reader-link",
    "pos-reconcile",
    "pos-words",
];
const ACTS: &[&str] = &["tokio", "rusqlite", "rustix", "hyper", "rustls", "reqwest", "ring"];

#[test]
fn the_crates_use_each_other_as_the_table_says() {
    let wrong = wrong(&metadata());
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// A change of a crate's dependencies changes the lock files of the packages outside the workspace too.
#[test]
fn each_lock_file_fits_its_manifest() {
    for manifest in ["Cargo.toml", "fuzz/Cargo.toml", "tests/clients/zvt/Cargo.toml"] {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["tree", "--quiet", "--depth", "0", "--offline", "--locked", "--manifest-path", manifest]);
        let output = cargo.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let is_outdated = said.contains("cannot update the lock file");
        assert!(!is_outdated, "{manifest}: run cargo metadata --offline with it, and commit its Cargo.lock\n{said}");
    }
}

fn metadata() -> Value {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--format-version", "1", "--offline", "--locked"]);
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns one line for each dependency that the table lacks, each unused one in the table, and each pure package that
/// can act.
fn wrong(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().unwrap();
    let mut wrong = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let Some((_, uses, in_tests)) = EDGES.iter().find(|(row, ..)| *row == name) else {
            wrong.push(format!("{name} has no row in EDGES (tests/rules/crates.rs)"));
            continue;
        };
        for (of_tests, allowed) in [(false, uses), (true, in_tests)] {
            let mut used = used(package, of_tests, |dependency| !dependency["path"].is_null());
            used.retain(|name| name.starts_with("pos-"));
            if used != *allowed {
                let whose = if of_tests { "'s tests use" } else { " uses" };
                wrong.push(format!("{name}{whose} {used:?}, and EDGES says {allowed:?} (tests/rules/crates.rs)"));
            }
        }
        if PURE.contains(&name) {
            let is_client = |dependency: &Value| name == "pos-till-api" && dependency["optional"] == true;
            let acts = used(package, false, |dependency| {
                ACTS.iter().any(|acts| dependency["name"] == *acts) && !is_client(dependency)
            });
            wrong.extend(acts.into_iter().map(|acts| format!("{name} decides and does not act, but uses {acts}")));
        }
    }
    assert_eq!(packages.len(), EDGES.len(), "each row of EDGES is a package");
    wrong
}

/// Returns the sorted names of the package's dependencies that match. `of_tests` selects those of its tests.
fn used(package: &Value, of_tests: bool, is_like: impl Fn(&Value) -> bool) -> Vec<&str> {
    let dependencies = package["dependencies"].as_array().unwrap().iter();
    let kind = |dependency: &Value| dependency["kind"].as_str().map(str::to_owned);
    let found = dependencies.filter(|dependency| (kind(dependency).as_deref() == Some("dev")) == of_tests);
    let mut names: Vec<&str> =
        found.filter(|dependency| is_like(dependency)).filter_map(|dependency| dependency["name"].as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[test]
fn a_planted_arrow_is_found() {
    let mut planted = metadata();
    let packages = planted["packages"].as_array_mut().unwrap();
    let core = packages.iter_mut().find(|package| package["name"] == "pos-core").unwrap();
    let dependencies = core["dependencies"].as_array_mut().unwrap();
    dependencies.push(serde_json::json!({ "name": "pos-agent", "kind": null, "path": "/…" }));
    dependencies.push(serde_json::json!({ "name": "tokio", "kind": null }));
    dependencies.push(serde_json::json!({ "name": "ring", "kind": null }));
    let found = wrong(&planted);
    assert!(found.len() == 3 && found[0].contains("pos-core uses [\"pos-agent\", \"pos-terms\"]"), "{found:?}");
    assert_eq!(found[1], "pos-core decides and does not act, but uses ring");
    assert_eq!(found[2], "pos-core decides and does not act, but uses tokio");
}
