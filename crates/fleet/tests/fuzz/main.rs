//! The seeds of the fleet's fuzz targets. Each seed is checked against the conditions that hold for any bytes
//! (`fuzz/src/fleet`). The fuzzer covers cases without a seed.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

#[path = "../../../../fuzz/src/fleet/mod.rs"]
#[allow(unreachable_pub, reason = "the fuzz targets call it from outside")]
mod targets;

use std::fs;
use std::path::Path;

use targets::TARGETS;

#[test]
fn every_seed_of_the_fleet_holds() {
    for (name, holds) in TARGETS {
        let folder = Path::new("../../fuzz/seeds").join(name);
        let mut count = 0;
        for seed in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let seed = seed.unwrap().path();
            // The test harness shows this path when the test fails.
            eprintln!("{}", seed.display());
            holds(&fs::read(seed).unwrap());
            count += 1;
        }
        assert!(count > 1, "{}", folder.display());
    }
}
