//! The seeds of the fuzz targets. Each seed is checked against the conditions that hold for any bytes (`fuzz/src`). The
//! fuzzer covers cases without a seed.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

#[path = "../../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "the fuzz targets call it from outside")]
mod targets;

use std::fs;
use std::path::Path;

use targets::TARGETS;

#[test]
fn every_seed_holds() {
    for (name, holds) in TARGETS {
        let folder = Path::new("fuzz/seeds").join(name);
        for seed in names(&folder) {
            // The test harness shows this path when the test fails.
            eprintln!("{}", folder.join(&seed).display());
            holds(&fs::read(folder.join(seed)).unwrap());
        }
    }
}

#[test]
fn every_target_has_seeds_and_a_program() {
    let targets: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    // `crates/fleet/tests/fuzz` checks the targets of the fleet.
    let own = |folder| names(Path::new(folder)).into_iter().filter(|name: &String| !name.starts_with("fleet"));
    assert_eq!(own("fuzz/seeds").collect::<Vec<_>>(), targets);
    let programs: Vec<String> = targets.iter().map(|name| format!("{name}.rs")).collect();
    assert_eq!(own("fuzz/src/bin").collect::<Vec<_>>(), programs);
    for name in targets {
        assert!(names(&Path::new("fuzz/seeds").join(name)).len() > 1, "fuzz/seeds/{name}");
    }
}

/// Lists the names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let listed = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> = listed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
