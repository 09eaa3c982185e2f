//! A check for the direction of dependencies. It compares every path into another module with one table.
//!
//! The compiler lets any module use any other, but this test does not. It reads the production code: no comments, no
//! string literals, no items under `#[cfg(test)]`. It finds `crate::X`, `pos_agent::X` and `super::…::X`, including
//! those in braces. Unlike a compiler, it does not see names that a macro makes or another module re-exports.
//!
//! It also checks a few conventions that readers rely on: a head in every file, no vague file names, and a short
//! `main.rs`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The permitted uses between modules of the agent's own package. For other crates, `Cargo.toml` limits the uses
/// (`crates.rs`). For each file, only the row with the longest matching module path applies. `"a"` permits all of `a`,
/// and `"a::b"` only that part of it. Every module may use itself.
const MAY_USE: &[(&str, &[&str])] = &[
    ("lib", &[]),
    // It uses `systemd` for the sockets that systemd has opened, and `words` for its refusals. It uses
    // `operator_secrets` only for the digest of a token in a request. From `journal` it uses only the type of an entry,
    // which it passes on unchanged.
    (
        "till",
        &[
            "money",
            "config",
            "systemd",
            "writing",
            "transaction",
            "counter",
            "wish",
            "operator_secrets",
            "words",
            "journal",
        ],
    ),
    // It uses `words` for the list of languages. Each device has its own section.
    (
        "config",
        &[
            "money",
            "card",
            "emv",
            "words",
            "counter",
            "settings",
            "secret",
            "gateway::config",
            "printer::config",
            "printer::logo",
            "printer::template",
            "reader::config",
        ],
    ),
    // It uses kinds and outcomes, because their words are the values of labels.
    ("metrics", &["transaction"]),
    (
        "agent",
        &[
            "money",
            "book",
            "wish",
            "emv",
            "card",
            "transaction",
            "counter",
            "journal",
            "reader",
            "gateway",
            "printer",
            "till",
            "config",
            "systemd",
            "logging",
            "metrics",
            "wire",
            "follow_up",
            "totals",
            "counter",
            "training",
            "words",
            "transaction",
            "operator_secrets",
            "fleet",
            "overlay",
        ],
    ),
    // It tests the agent's connections to the devices without an agent. From the agent it uses only the check of the
    // clock.
    (
        "doctor",
        &[
            "config",
            "overlay",
            "gateway",
            "journal",
            "reader",
            "transaction",
            "printer",
            "till",
            "systemd",
            "access",
            "agent",
        ],
    ),
    // It uses `card` and `emv` only to find card numbers.
    ("support", &["card", "emv", "config", "overlay", "journal"]),
    ("board", &[]),
    // It decides about a command with what the journal knows of it.
    ("fleet", &["config", "journal"]),
    // It uses `journal` only for the types of its marks.
    ("overlay", &["config", "fleet", "journal"]),
    ("operator_secrets", &["counter"]),
    (
        "cli",
        &[
            "till",
            "counter",
            "config",
            "money",
            "agent",
            "doctor",
            "board",
            "support",
            "logging",
            "access",
            "help",
            "words",
            "transaction",
        ],
    ),
    // While the agent cannot start, it answers at the sockets of systemd.
    ("cli::run", &["till", "config", "overlay", "agent", "logging", "systemd", "start_again", "access"]),
    // It asks the agent, or changes the journal if no agent runs.
    ("cli::operator", &["till", "config", "counter", "journal", "operator_secrets", "transaction"]),
    // It searches the ports for a reader and a printer, as carefully as the doctor. From `access` it uses only the
    // users, from `settings` the rules for names, and from `counter` and `transaction` those for operators. From
    // `words` it uses only the letters that the printer needs.
    (
        "cli::setup",
        &[
            "config",
            "board",
            "reader",
            "printer",
            "doctor",
            "money",
            "access",
            "settings",
            "counter",
            "transaction",
            "words",
        ],
    ),
    // It names what the readers of the configured protocol cannot do.
    ("cli::check", &["config", "overlay", "reader"]),
    // It asks a reader while no agent uses its port. A recording reads one card, for an amount. From the agent it uses
    // only the check of the clock.
    ("cli::reader", &["config", "overlay", "board", "reader", "card", "money", "transaction", "agent"]),
    // It shows a code and tries the devices before there is an agent.
    ("cli::first_boot", &["config", "board", "reader", "printer", "doctor", "access", "systemd", "words"]),
    // It reads the journal whether or not the agent runs. From `till` it uses only the list of problems, for its codes.
    ("cli::reconcile", &["config", "journal", "reconcile", "till"]),
    // It asks the agent for the list, but verifies, exports and adopts without the agent. From the agent it uses only
    // the check of the clock.
    ("cli::journal", &["till", "config", "journal", "agent", "transaction"]),
    ("main", &["cli"]),
];

/// The families of readers, each of which is a folder of `reader`. The next constant is the only file that names them.
/// The port, the agent and all other modules use only the interface that all families share.
const READER_FAMILIES: &[&str] = &["miura", "neo2", "vipa"];
/// The folders of `reader` with the rules and the recordings of every family. They name no family.
const READER_SHARED: [&str; 2] = ["session", "recording"];
const READER_ENTRANCE: &[&str] = &["reader", "driver"];

/// Modules that one module must not use although the table permits their parent. Only `till` adds an interface for
/// tills.
const CLOSED_ROOMS: &[(&str, &[&str])] = &[("agent", &["till", "http"])];

/// The modules of the agent that provide facts for a view. A view uses only facts: it neither reads the journal nor
/// changes a transaction.
const FACTS: &[&[&str]] =
    &[&["views"], &["clock"], &["devices"], &["identity"], &["teller"], &["engine", "open_transactions"]];

/// The crates of the simulated world. Some of their types have the same names as the agent's types.
const SIMULATORS: &[&str] = &["crates/keys", "crates/payment-service", "crates/sim"];

/// Crates that count as one module. The others contain several modules.
const ROOMS: &[&str] = &["gateway", "journal", "printer", "reader", "reconcile", "words"];
/// Other crates whose modules the agent uses by their names.
const SHELLS: &[&str] = &["core", "daemon", "terms"];

/// The permitted implementations of the core's trait `Book`: the journal, the world that cuts the power before a write,
/// and the disk of the explorer. The core's tests may implement it too.
const BOOKS: &[&str] =
    &["crates/journal/src/lib.rs", "crates/test-kit/src/world/board.rs", "crates/explore/src/disk.rs"];

/// Modules that decide and never act: no clock, no I/O, no async.
const PURE: &[&str] = &[
    "money",
    "book",
    "wish",
    "emv",
    "card",
    "transaction",
    "transaction",
    "follow_up",
    "totals",
    "counter",
    "training",
    "reconcile",
    "words",
];

/// Token sequences that a pure module must not contain.
const IMPURE: &[&[&str]] = &[
    &["async"],
    &["tokio", "::"],
    &["rusqlite", "::"],
    &["ring", "::"],
    &["reqwest", "::"],
    &["SystemTime"],
    &["Instant", "::", "now"],
    &["std", "::", "fs"],
    &["std", "::", "net"],
    &["std", "::", "env"],
    &["std", "::", "thread"],
];

const JUNK_DRAWERS: &[&str] = &[
    "util", "utils", "common", "core", "manager", "managers", "helper", "helpers", "types", "handler", "handlers",
    "misc",
];

const LONGEST_MAIN: usize = 60;

#[test]
fn every_module_uses_only_what_the_table_allows() {
    let known = known();
    let mut wrong = Vec::new();
    for file in shipped().iter().filter(|file| file.starts_with("src")) {
        wrong.extend(check(file, &read(file), &known));
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn what_decides_does_not_act() {
    let wrong: Vec<String> = shipped().iter().flat_map(|file| check_purity(file, &read(file))).collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn the_journal_alone_says_that_a_step_is_written() {
    let every_file = SOURCES.into_iter().flat_map(sources);
    let wrong: Vec<String> = every_file.flat_map(|file| check_books(&file, &read(&file))).collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn only_the_driver_names_a_family_of_readers() {
    // The simulated reader has families too.
    let is_simulator = |file: &PathBuf| SIMULATORS.iter().any(|one| file.starts_with(one));
    let files = shipped().into_iter().filter(|file| !is_simulator(file));
    let wrong: Vec<String> = files.flat_map(|file| check_family(&file, &read(&file))).collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    let folders = fs::read_dir("crates/reader/src").expect("the room of readers").flatten();
    for folder in folders.filter(|entry| entry.path().is_dir()) {
        let name = folder.file_name().to_string_lossy().into_owned();
        assert!(
            READER_FAMILIES.contains(&name.as_str()) || READER_SHARED.contains(&name.as_str()),
            "crates/reader/src/{name}: a family is named in READER_FAMILIES"
        );
    }
}

#[test]
fn a_family_of_readers_has_no_circle_of_files() {
    for folder in READER_FAMILIES.iter().chain(&READER_SHARED) {
        has_no_circle(&Path::new("crates/reader/src").join(folder), 3);
    }
}

#[test]
fn the_payment_service_has_no_circle_of_files() {
    has_no_circle(Path::new("crates/payment-service/src"), 60);
}

#[test]
fn a_view_knows_facts_alone() {
    let views = sources("src/agent/views");
    assert!(views.len() > 3, "{views:?}");
    let wrong: Vec<String> = views.iter().flat_map(|file| check_view(file, &read(file))).collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn the_agent_has_no_circle_of_files() {
    has_no_circle(Path::new("src/agent"), 30);
}

/// Checks that a folder with more files than this has no circle of imports.
fn has_no_circle(folder: &Path, files_at_least: usize) {
    let files: Vec<(PathBuf, String)> = sources(folder).into_iter().map(|file| (file.clone(), read(&file))).collect();
    assert!(files.len() > files_at_least, "{} has files", folder.display());
    let circle = in_circles(&files);
    assert!(circle.is_empty(), "these files of {} stand in a circle: {circle:#?}", folder.display());
}

#[test]
fn every_module_has_a_row() {
    for module in modules() {
        assert!(
            MAY_USE.iter().any(|(row, _)| *row == module),
            "src/lib.rs declares `{module}`: give it a row in MAY_USE"
        );
    }
}

/// Folders with code.
const SOURCES: [&str; 5] = ["src", "crates", "tests", "benches", "fuzz/src"];

#[test]
fn every_file_begins_with_what_it_is() {
    let bare: Vec<PathBuf> =
        SOURCES.into_iter().flat_map(sources).filter(|file| !read(file).starts_with("//! ")).collect();
    assert!(bare.is_empty(), "files that do not begin with `//! ` and what they are: {bare:#?}");
}

/// The files that contain a map as a table, each with the folder that its paths start from. In a row, a file is
/// followed by its important functions.
const MAPS: &[(&str, &str)] = &[
    ("src/lib.rs", "src"),
    ("crates/sim/src/lib.rs", "crates/sim/src"),
    ("crates/payment-service/src/lib.rs", "crates/payment-service/src"),
];

#[test]
fn the_map_names_what_exists() {
    for (map, folder) in MAPS {
        let (mut source, mut names) = (None, 0);
        for row in read(Path::new(map)).lines().filter(|line| line.starts_with("//! | ")) {
            for name in row.split('`').skip(1).step_by(2) {
                if name.ends_with(".rs") {
                    source = Some((name, read(&file_of_map(folder, name))));
                } else if let (false, Some((file, source))) = (name.contains("::"), &source) {
                    let is_there = ["(", "<"].iter().any(|end| source.contains(&format!("fn {name}{end}")));
                    assert!(is_there, "{map}: {file} has no function `{name}`: {row}");
                }
                names += 1;
            }
        }
        assert!(names > 10, "{map} has its map in a table");
    }
}

/// Finds a file that a map names: in the map's own folder, in the crate that the path's first part names, or in any
/// crate.
fn file_of_map(folder: &str, name: &str) -> PathBuf {
    let own = Path::new(folder).join(name);
    let of_crate = name.split_once('/').map(|(room, file)| Path::new("crates").join(room).join("src").join(file));
    let in_crates = entries(Path::new("crates")).into_iter().map(|one| one.join("src").join(name));
    [own.clone()].into_iter().chain(of_crate).chain(in_crates).find(|file| file.exists()).unwrap_or(own)
}

/// Checks the two maps of the tests. The table in `tests/README.md` names each folder. The table at the head of a
/// folder's `main.rs` names each file.
#[test]
fn the_maps_of_the_tests_name_every_file() {
    let folders: Vec<PathBuf> = sources("tests")
        .into_iter()
        .filter(|file| file.ends_with("main.rs"))
        .map(|file| file.parent().expect("a file of a folder").to_owned())
        .collect();
    assert!(folders.len() > 5, "tests/ has a `main.rs` in each folder: {folders:?}");
    let map = rows(&read(Path::new("tests/README.md")));
    for entry in entries(Path::new("tests")).iter().filter(|entry| entry.is_dir()) {
        assert!(map.contains(&name_of(entry)), "tests/README.md has no row for {}", entry.display());
    }
    for folder in folders {
        let head = rows(&read(&folder.join("main.rs")));
        let mut files: Vec<String> = entries(&folder).iter().map(|file| name_of(file)).collect();
        files.retain(|file| file != "main");
        files.sort();
        files.dedup();
        let mut named = head;
        named.sort();
        assert_eq!(named, files, "the table of {}/main.rs, and what is there", folder.display());
    }
}

#[test]
fn no_file_or_folder_is_a_junk_drawer() {
    for file in ["src", "crates"].into_iter().flat_map(sources) {
        for part in module_path(&file) {
            assert!(!JUNK_DRAWERS.contains(&part.as_str()), "{}: `{part}` does not say what is inside", file.display());
        }
    }
}

/// Checks the width of comments. `rustfmt.toml` limits the code. Tables and drawings may be wider.
#[test]
fn comments_wrap_at_120_columns() {
    let mut wide = Vec::new();
    for file in SOURCES.into_iter().flat_map(sources) {
        let mut is_drawing = false;
        for (at, line) in read(&file).lines().enumerate() {
            let Some((_, text)) = line.trim_start().split_once("//").filter(|(before, _)| before.is_empty()) else {
                continue;
            };
            let text = text.trim_start_matches(['/', '!']).trim_start();
            is_drawing ^= text.starts_with("```");
            if line.chars().count() > 120 && !is_drawing && !text.starts_with('|') {
                wide.push(format!("{}:{}", file.display(), at + 1));
            }
        }
    }
    assert!(wide.is_empty(), "comments beyond 120 columns: {wide:#?}");
}

/// Checks that a type can be identified without its path. Exceptions are crates outside the agent, which use the same
/// names, and each module's own `Error`. A section of the configuration is written `config::…`, and a verb of the
/// command line is named as a person types it.
#[test]
fn a_types_name_is_told_apart_without_its_path() {
    let mut known: BTreeMap<String, PathBuf> = BTreeMap::new();
    for file in shipped() {
        let own = module_path(&file);
        let outside = [
            "crates/broker",
            "crates/docs",
            "crates/first-boot",
            "crates/fleet",
            "crates/fleet-terms",
            "crates/front",
            "crates/protocols",
            "crates/sandbox",
            "crates/till-api",
            "crates/uplink",
        ];
        let is_apart = SIMULATORS.iter().chain(&outside).any(|one| file.starts_with(one));
        if is_apart || ["cli", "main", "config"].iter().any(|room| own.first().is_some_and(|own| own == room)) {
            continue;
        }
        for name in types(&production(&read(&file))) {
            if name == "Error" {
                continue;
            }
            if let Some(other) = known.insert(name.clone(), file.clone()) {
                panic!("{} and {} both have a type `{name}`", other.display(), file.display());
            }
        }
    }
    assert!(known.len() > 300, "types are found: {}", known.len());
}

/// Returns the types in a source that other files can see.
fn types(source: &str) -> Vec<String> {
    let tokens = tokens(source);
    let word = |at: usize| tokens.get(at).map_or("", |(_, word)| word.as_str());
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if word(at) != "pub" {
            continue;
        }
        // In `pub(super)` and `pub(in …)`, the next token follows the brackets.
        let shown =
            if word(at + 1) == "(" { (at..).find(|at| word(*at) == ")").map_or(at, |end| end + 1) } else { at + 1 };
        if matches!(word(shown), "enum" | "struct" | "trait" | "type") {
            found.push(word(shown + 1).to_owned());
        }
    }
    found
}

#[test]
fn main_is_short() {
    let lines = read(Path::new("src/main.rs")).lines().count();
    assert!(
        lines < LONGEST_MAIN,
        "src/main.rs has {lines} lines, under {LONGEST_MAIN} are enough for arguments and exit code"
    );
}

// ---- The checker

/// Returns the modules that `src/lib.rs` declares.
fn modules() -> Vec<String> {
    let found: Vec<String> = read(Path::new("src/lib.rs"))
        .lines()
        .filter_map(|line| {
            line.trim().trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned)
        })
        .collect();
    assert!(found.len() > 5, "src/lib.rs lists its modules one on a line: {found:?}");
    found
}

/// Returns all modules that a path of the package may use: the package's own modules and those of the crates that it
/// uses.
fn known() -> Vec<String> {
    let of_crate = |name: &&str| {
        let files = entries(&Path::new("crates").join(name).join("src")).into_iter().map(|file| name_of(&file));
        files.filter(|room| room != "lib").collect::<Vec<_>>()
    };
    let rooms = SHELLS.iter().flat_map(of_crate).chain(ROOMS.iter().map(|room| (*room).to_owned()));
    modules().into_iter().chain(rooms).collect()
}

/// Returns the beginning of a path whose word `word` names a crate. A crate that counts as one module gives this
/// module. For other crates, the path continues with their modules.
fn into_crate(word: &str) -> Option<Vec<String>> {
    let name = word.strip_prefix("pos_")?;
    let room = ROOMS.iter().find(|room| **room == name).map(|room| vec![(*room).to_owned()]);
    room.or_else(|| SHELLS.contains(&name).then(Vec::new))
}

/// Returns the sorted `.rs` files in `folder`, or none if the folder does not exist.
fn sources(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a folder that opens can be listed").path())
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    found.sort();
    found
}

/// Returns the first names in a table's rows: `x` from a row that begins with "| `x` |".
fn rows(text: &str) -> Vec<String> {
    let row = |line: &str| {
        line.trim_start_matches("//! ").strip_prefix("| `")?.split_once('`').map(|(name, _)| name.to_owned())
    };
    text.lines().filter_map(row).collect()
}

/// Returns the entries of a folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    listed.map(|entry| entry.expect("a folder that opens can be listed").path()).collect()
}

/// Returns the name of a file or folder, without `.rs`.
fn name_of(path: &Path) -> String {
    path.file_stem().expect("an entry of a folder has a name").to_string_lossy().into_owned()
}

/// Returns the sources of the shipped code. Leaves out files only for tests, such as `tests.rs` next to a
/// `#[cfg(test)] mod tests;`.
fn shipped() -> Vec<PathBuf> {
    let is_test = |file: &PathBuf| file.with_extension("").iter().any(|part| part == "tests");
    let is_shipped =
        |file: &PathBuf| !is_test(file) && !file.ends_with("build.rs") && !file.starts_with("crates/test-kit");
    ["src", "crates"].into_iter().flat_map(sources).filter(is_shipped).collect()
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Returns one line for every path in `source` that the table forbids.
fn check(file: &Path, source: &str, modules: &[String]) -> Vec<String> {
    let own = module_path(file);
    let (row, allowed) = row_of(&own);
    let mut wrong = Vec::new();
    for (line, path) in paths(&production(source), own.len(), modules) {
        let used = path[0].as_str();
        let own_module = own.first().is_some_and(|own| own == used);
        let is = |modules: &[&str]| own.first().is_some_and(|own| modules.contains(&own.as_str()));
        let room = CLOSED_ROOMS.iter().find(|(module, room)| {
            is(&[module]) && path.len() >= room.len() && path.iter().zip(*room).all(|(part, room)| part == room)
        });
        let rule = if !own_module && !allowed.iter().any(|row| is_in(&path, row)) {
            format!("`{row}` may use {allowed:?}")
        } else if let Some((module, room)) = room {
            format!("`{}` is closed to `{module}`", room.join("::"))
        } else {
            continue;
        };
        wrong.push(format!(
            "{}:{line}: uses `{}`, but {rule} (tests/rules/layers.rs)",
            file.display(),
            path.join("::")
        ));
    }
    wrong
}

/// Returns whether a path leads into a module in the table.
fn is_in(path: &[String], room: &str) -> bool {
    room.split("::").enumerate().all(|(at, part)| path.get(at).is_some_and(|one| one == part))
}

/// Returns one line for every clock, port or task in a pure module.
fn check_purity(file: &Path, source: &str) -> Vec<String> {
    if !module_path(file).first().is_some_and(|own| PURE.contains(&own.as_str())) {
        return Vec::new();
    }
    let tokens = tokens(&production(source));
    let starts_with = |at: usize, row: &[&str]| {
        row.iter().enumerate().all(|(n, word)| tokens.get(at + n).is_some_and(|(_, found)| found == word))
    };
    let found =
        (0..tokens.len()).filter_map(|at| Some((tokens[at].0, IMPURE.iter().find(|row| starts_with(at, row))?)));
    found
        .map(|(line, row)| {
            format!(
                "{}:{line}: `{}` in a module that only decides: {PURE:?} (tests/rules/layers.rs)",
                file.display(),
                row.concat()
            )
        })
        .collect()
}

/// Returns one line for every implementation of `Book` outside [`BOOKS`], because it could claim that a step is on the
/// disk.
fn check_books(file: &Path, source: &str) -> Vec<String> {
    let tokens = tokens(&production(source));
    let is_a_book = |pair: &&[(usize, String)]| pair[0].1 == "Book" && pair[1].1 == "for";
    let found = tokens.windows(2).filter(is_a_book).filter(|_| !BOOKS.iter().any(|one| Path::new(one) == file));
    found
        .map(|pair| {
            format!("{}:{}: `impl Book` is for {BOOKS:?} alone (tests/rules/layers.rs)", file.display(), pair[0].0)
        })
        .collect()
}

/// Returns one line for every path that names a family of readers, in a file that belongs neither to the driver nor to
/// that family.
fn check_family(file: &Path, source: &str) -> Vec<String> {
    let own = module_path(file);
    if own == READER_ENTRANCE {
        return Vec::new();
    }
    let named = |path: &[String]| match path {
        [reader, family, ..] if reader == "reader" => READER_FAMILIES.contains(&family.as_str()),
        _ => false,
    };
    absolute_paths(file, source)
        .into_iter()
        .filter(|(_, path)| named(path) && !own.starts_with(&path[..2]))
        .map(|(line, path)| {
            let (path, entrance) = (path.join("::"), READER_ENTRANCE.join("::"));
            format!(
                "{}:{line}: uses `{path}`, but `{entrance}` alone names a family (tests/rules/layers.rs)",
                file.display()
            )
        })
        .collect()
}

/// Returns a view's uses of the agent other than facts, and of the journal other than its errors.
fn check_view(file: &Path, source: &str) -> Vec<String> {
    let is_fact = |path: &[String]| {
        FACTS.iter().any(|fact| path.iter().zip(*fact).filter(|(one, other)| one == other).count() == fact.len())
    };
    let may_use = |path: &[String]| match path.split_first() {
        Some((room, inside)) if room == "agent" => is_fact(inside),
        Some((room, inside)) if room == "journal" => inside.first().is_some_and(|name| name == "Error"),
        _ => true,
    };
    let paths = absolute_paths(file, source).into_iter().filter(|(_, path)| !may_use(path));
    paths.map(|(line, path)| format!("{}:{line}: a view uses `{}`", file.display(), path.join("::"))).collect()
}

/// Returns the files in a circle of imports, or on the way from one circle to another. It sees only imports, not calls
/// of methods that the same type has in another file.
fn in_circles(files: &[(PathBuf, String)]) -> Vec<PathBuf> {
    let modules: Vec<Vec<String>> = files.iter().map(|(file, _)| place_in_crate(file)).collect();
    let used = |(file, source): &(PathBuf, String)| -> Vec<usize> {
        let own = place_in_crate(file);
        let file_of = |path: &[String]| {
            let fits = (0..modules.len()).filter(|at| path.starts_with(&modules[*at]));
            fits.max_by_key(|at| modules[*at].len()).filter(|at| modules[*at] != own)
        };
        absolute_paths(file, source).iter().filter_map(|(_, path)| file_of(path)).collect()
    };
    let uses: Vec<Vec<usize>> = files.iter().map(used).collect();
    let mut left: Vec<usize> = (0..files.len()).collect();
    loop {
        let goes_on = |at: usize| uses[at].iter().any(|used| left.contains(used));
        let is_used = |at: usize| left.iter().any(|user| uses[*user].contains(&at));
        let still: Vec<usize> = left.iter().copied().filter(|at| goes_on(*at) && is_used(*at)).collect();
        if still.len() == left.len() {
            return left.into_iter().map(|at| files[at].0.clone()).collect();
        }
        left = still;
    }
}

/// Returns the module path of a file. A crate's `lib.rs` is the root and contains everything that no other file does.
fn place_in_crate(file: &Path) -> Vec<String> {
    let mut path = module_path(file);
    path.pop_if(|last| last == "lib");
    path
}

/// Returns every path that a file names, from the crate's root, with the line on which it begins. This includes paths
/// that begin with `super` or `self`, and paths from a `mod.rs` into its own files. A path in `pub(in …)` does not
/// count.
fn absolute_paths(file: &Path, source: &str) -> Vec<(usize, Vec<String>)> {
    let own = place_in_crate(file);
    let tokens = tokens(&production(source));
    let word = |at: usize| tokens.get(at).map_or("", |(_, word)| word.as_str());
    let is_file =
        |name: &str| [format!("{name}.rs"), name.to_owned()].iter().any(|one| file.with_file_name(one).exists());
    let is_child = |name: &str| (file.ends_with("mod.rs") || file.ends_with("lib.rs")) && is_file(name);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let before = word(at.wrapping_sub(1));
        let (start, above) = match word(at) {
            _ if before == "::" || (before == "in" && word(at.wrapping_sub(2)) == "(") => continue,
            "crate" | "pos_agent" if word(at + 1) == "::" => (at + 2, room_of(file).map_or(0, |_| 1)),
            name if word(at + 1) == "::" && into_crate(name).is_some_and(|room| !room.is_empty()) => {
                expand(&tokens, at + 2, &into_crate(name).unwrap_or_default(), &mut found);
                continue;
            }
            "self" if word(at + 1) == "::" => (at + 2, own.len()),
            "super" if word(at + 1) == "::" => {
                let ups = (0..).take_while(|n| word(at + 2 * n) == "super" && word(at + 2 * n + 1) == "::").count();
                (at + 2 * ups, own.len().saturating_sub(ups))
            }
            name if (before == "use" || word(at + 1) == "::") && is_child(name) => (at, own.len()),
            _ => continue,
        };
        expand(&tokens, start, &own[..above], &mut found);
    }
    found
}

/// Returns a file's module path. `src/reader/miura/line.rs` is `["reader", "miura", "line"]`,
/// `crates/core/src/transaction/step.rs` is `["transaction", "step"]`, `crates/reader/src/port.rs` is `["reader",
/// "port"]`, and `src/lib.rs` is `["lib"]`.
fn module_path(file: &Path) -> Vec<String> {
    let in_crate = file.strip_prefix("crates").ok().map(|file| file.components().skip(2).collect::<PathBuf>());
    let inside = in_crate.as_deref().or_else(|| file.strip_prefix("src").ok()).unwrap_or(file).with_extension("");
    let inside = inside.iter().map(|part| part.to_string_lossy().into_owned());
    let mut path: Vec<String> = room_of(file).map(str::to_owned).into_iter().chain(inside).collect();
    path.pop_if(|last| last == "mod");
    if path.len() == 2 {
        path.pop_if(|last| last == "lib");
    }
    path
}

/// Returns the module that a file's crate counts as, if the crate counts as one module.
fn room_of(file: &Path) -> Option<&'static str> {
    let name = file.strip_prefix("crates").ok()?.iter().next()?;
    ROOMS.iter().copied().find(|room| name == *room)
}

fn row_of(own: &[String]) -> (&'static str, &'static [&'static str]) {
    let own = own.join("::");
    MAY_USE
        .iter()
        .filter(|(row, _)| own == *row || own.strip_prefix(row).is_some_and(|rest| rest.starts_with("::")))
        .max_by_key(|(row, _)| row.len())
        .copied()
        .unwrap_or_else(|| panic!("no row of MAY_USE fits `{own}`"))
}

/// Returns paths from the crate's root, each with the line on which it begins. Leaves out paths that do not begin with
/// a module.
fn paths(source: &str, depth: usize, modules: &[String]) -> Vec<(usize, Vec<String>)> {
    let tokens = tokens(source);
    let word = |at: usize| tokens.get(at).map_or("", |(_, word)| word.as_str());
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let start = match word(at) {
            "crate" | "pos_agent" if word(at + 1) == "::" && word(at.wrapping_sub(1)) != "::" => at + 2,
            name if word(at + 1) == "::" && word(at.wrapping_sub(1)) != "::" && into_crate(name).is_some() => {
                expand(&tokens, at + 2, &into_crate(name).unwrap_or_default(), &mut found);
                continue;
            }
            "super" if word(at.wrapping_sub(1)) != "::" => {
                let ups = (0..).take_while(|n| word(at + 2 * n) == "super" && word(at + 2 * n + 1) == "::").count();
                if ups < depth {
                    continue;
                }
                at + 2 * ups
            }
            _ => continue,
        };
        expand(&tokens, start, &[], &mut found);
    }
    found.retain(|(_, path)| path.first().is_some_and(|first| modules.contains(first)));
    found
}

/// Follows one path or one `use` tree from the token `at`, and returns the position of the next token.
fn expand(
    tokens: &[(usize, String)],
    mut at: usize,
    before: &[String],
    found: &mut Vec<(usize, Vec<String>)>,
) -> usize {
    let word = |at: usize| tokens.get(at).map_or("", |(_, word)| word.as_str());
    let line = tokens.get(at).map_or(0, |(line, _)| *line);
    let mut path = before.to_vec();
    loop {
        if word(at) == "{" {
            at += 1;
            while !matches!(word(at), "}" | "") {
                let next = expand(tokens, at, &path, found);
                at = next.max(at + 1);
            }
            return at + 1;
        }
        if !word(at).starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '*') {
            break;
        }
        path.push(word(at).to_owned());
        at += 1;
        if word(at) != "::" {
            break;
        }
        at += 1;
    }
    if path.len() > before.len() {
        found.push((line, path));
    }
    at
}

/// Returns words, `::` and single signs with their lines.
fn tokens(source: &str) -> Vec<(usize, String)> {
    let mut tokens = Vec::new();
    for (index, line) in source.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let length = if is_word(first) {
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            tokens.push((index + 1, rest[..length].to_owned()));
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

/// Returns the source without comments, string literals and everything under `#[cfg(test)]`. They become blanks, so the
/// line numbers stay the same.
fn production(source: &str) -> String {
    let mut code: Vec<char> = without_comments_and_texts(source).chars().collect();
    let mark: Vec<char> = "#[cfg(test)]".chars().collect();
    let mut at = 0;
    while at + mark.len() <= code.len() {
        if code[at..].starts_with(&mark) {
            let end = end_of_item(&code, at + mark.len());
            code[at..end].iter_mut().filter(|c| **c != '\n').for_each(|c| *c = ' ');
        }
        at += 1;
    }
    code.into_iter().collect()
}

/// Returns the position after the `;` or the closing brace of the item that begins at `from`.
fn end_of_item(code: &[char], from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code.iter().enumerate().skip(from) {
        match c {
            '{' => depth += 1,
            '}' if depth <= 1 => return at + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

fn without_comments_and_texts(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while at < chars.len() {
        let length = blank_length(&chars[at..], at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_'));
        if length == 0 {
            out.push(chars[at]);
            at += 1;
        } else {
            let end = (at + length).min(chars.len());
            out.extend(chars[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    out
}

/// Returns the length of the comment, text or character literal that begins here, or 0 if none does.
fn blank_length(rest: &[char], inside_word: bool) -> usize {
    let find = |from: usize, end: &str| {
        let end: Vec<char> = end.chars().collect();
        (from..rest.len()).find(|at| rest[*at..].starts_with(&end)).map_or(rest.len(), |at| at + end.len())
    };
    match rest {
        ['/', '/', ..] => rest.iter().position(|c| *c == '\n').unwrap_or(rest.len()),
        ['/', '*', ..] => find(2, "*/"),
        ['r', '"', ..] if !inside_word => find(2, "\""),
        ['r', '#', ..] if !inside_word => {
            let hashes = rest[1..].iter().take_while(|c| **c == '#').count();
            // `r#type` is a word, not a text.
            if rest.get(1 + hashes) == Some(&'"') { find(2 + hashes, &format!("\"{}", "#".repeat(hashes))) } else { 0 }
        }
        ['"', ..] => {
            let mut at = 1;
            while at < rest.len() && rest[at] != '"' {
                at += if rest[at] == '\\' { 2 } else { 1 };
            }
            at + 1
        }
        ['\'', '\\', _, ..] => find(3, "'"),
        ['\'', _, '\'', ..] => 3,
        _ => 0,
    }
}

// ---- Tests of the checker

fn planted(file: &str, source: &str) -> Vec<String> {
    check(Path::new(file), source, &known())
}

#[test]
fn finds_a_planted_violation_and_says_where() {
    let source = "//! Pure.\n\nuse std::fmt;\nuse crate::reader::Event;\n";
    let found = planted("src/metrics.rs", source);
    assert_eq!(
        found,
        ["src/metrics.rs:4: uses `reader::Event`, but `metrics` may use [\"transaction\"] (tests/rules/layers.rs)"]
    );
}

#[test]
fn finds_it_in_braces_in_code_and_through_super() {
    assert_eq!(planted("src/support/mod.rs", "use crate::{card, emv::{Tag, self}, gateway::{Answer, tls}};").len(), 2);
    assert_eq!(
        planted("src/support/mod.rs", "use pos_gateway::tls; use pos_terms::{card::Pan, money::Amount};").len(),
        2
    );
    assert_eq!(planted("src/support/mod.rs", "fn f() { let x = crate::till::open(); }").len(), 1);
    assert_eq!(planted("src/support/a/b.rs", "use super::super::super::till;").len(), 1);
    assert_eq!(planted("src/support/a/b.rs", "use super::super::till;").len(), 0, "a `till` inside `support`");
    assert_eq!(planted("src/main.rs", "fn main() { pos_agent::agent::run(); }").len(), 1);
    assert_eq!(planted("src/agent.rs", "use crate::cli;").len(), 1);
}

#[test]
fn the_agent_knows_tills_and_no_way_in() {
    assert_eq!(planted("src/agent.rs", "use crate::till::{self, Command, Served};").len(), 0);
    assert_eq!(planted("src/agent/tills.rs", "fn f() { crate::till::serve(); }").len(), 0);
    for entered in
        ["use crate::till::http;", "use crate::till::{Command, http::Error};", "use crate::till::http::Bound;"]
    {
        let found = planted("src/agent/tills.rs", entered);
        assert!(found.len() == 1 && found[0].contains("`till::http` is closed to `agent`"), "{entered} {found:?}");
    }
    assert_eq!(planted("src/till/serve.rs", "use crate::till::http;").len(), 0);
    assert_eq!(planted("src/cli/run.rs", "use crate::till::http;").len(), 0);
}

#[test]
fn finds_an_account_book_that_is_not_the_journals() {
    let found =
        |file: &str| check_books(Path::new(file), "//! Head.\nuse pos_core::book::Book;\nimpl Book for Nothing {}\n");
    assert!(matches!(&found("src/agent/act.rs")[..], [one] if one.starts_with("src/agent/act.rs:3: `impl Book`")));
    assert_eq!(found("crates/journal/src/lib.rs").len(), 0);
}

#[test]
fn finds_a_view_that_looks_into_the_journal() {
    let found = |source: &str| check_view(Path::new("src/agent/views/sale.rs"), source).len();
    assert_eq!(found("use crate::agent::journal_desk::JournalDesk;"), 1);
    assert_eq!(found("use super::super::engine::Engine;"), 1);
    assert_eq!(found("use pos_journal::{Error, Journal};"), 1);
    assert_eq!(
        found(
            "use crate::agent::engine::open_transactions::OpenTransaction;\nuse pos_journal::Error;\nuse super::states;"
        ),
        0
    );
}

#[test]
fn finds_whoever_names_a_family_of_readers() {
    let found = |file: &str, source: &str| check_family(Path::new(file), source).len();
    assert_eq!(found("crates/reader/src/port.rs", "use super::miura::MiuraSession;"), 1);
    assert_eq!(
        found("crates/reader/src/port.rs", "use super::{ReaderEvent, miura::{MiuraSession, MiuraSettings}};"),
        2
    );
    assert_eq!(found("crates/reader/src/lib.rs", "pub mod miura;\npub use self::miura::MiuraSettings;"), 1);
    assert_eq!(found("src/agent/act.rs", "fn f() { crate::reader::miura::MiuraSettings::default(); }"), 1);
    assert_eq!(found("crates/reader/src/driver.rs", "use super::miura::{MiuraSession, MiuraSettings};"), 0);
    assert_eq!(found("crates/reader/src/miura/line.rs", "use super::message::Command;\nuse crate::miura::sale;"), 0);
}

#[test]
fn finds_a_circle_among_files() {
    let file = |name: &str, source: &str| (Path::new("crates/reader/src/miura").join(name), source.to_owned());
    let files = |line: &str| {
        [
            file("message/mod.rs", "mod status;\npub use self::status::StatusWord;"),
            file("message/status.rs", "pub(in crate::miura) struct StatusWord;"),
            file("line.rs", line),
            file("sale.rs", "use super::line::ReaderLine;"),
            file("mod.rs", "mod line; mod sale; pub use self::sale::SaleAtReader;"),
        ]
    };
    let circle = |line: &str| {
        let found = in_circles(&files(line)).into_iter();
        found.map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    assert!(circle("use super::message::StatusWord; use crate::ReaderEvent;").is_empty());
    assert_eq!(circle("use super::sale::SaleAtReader;"), ["line.rs", "sale.rs"]);
    assert_eq!(circle("use super::{message, SaleAtReader};"), ["line.rs", "sale.rs", "mod.rs"]);
    // A crate's root is treated like any other file.
    let of_crate = |name: &str, source: &str| (Path::new("crates/payment-service/src").join(name), source.to_owned());
    let files = |host: &str| [of_crate("lib.rs", "fn f() { host::new() }"), of_crate("host.rs", host)];
    assert!(in_circles(&files("use super::form::Form;")[1..]).is_empty());
    assert_eq!(in_circles(&files("use super::Options;")).len(), 2);
}

#[test]
fn finds_a_clock_in_a_pure_module() {
    let impure = "//! Head.\nuse tokio::time::Instant;\nfn f() -> Instant { Instant::now() }\nasync fn g() {}\n";
    let found = check_purity(Path::new("crates/core/src/transaction/step.rs"), impure);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(
        found[0].starts_with("crates/core/src/transaction/step.rs:2: `tokio::` in a module that only decides"),
        "{found:?}"
    );
    assert_eq!(check_purity(Path::new("src/agent.rs"), impure).len(), 0);
    let pure =
        "use std::time::Instant; fn due(now: Instant) {} // Instant::now\n#[cfg(test)]\nmod tests { use std::fs; }";
    assert_eq!(check_purity(Path::new("crates/core/src/transaction/step.rs"), pure).len(), 0);
}

#[test]
fn is_silent_about_what_is_allowed_or_not_code() {
    assert_eq!(planted("src/support/mod.rs", "use crate::card::Pan;\nuse crate::support::step;").len(), 0);
    assert_eq!(planted("src/support/mod.rs", "// use crate::till;\n/* crate::till */ /// [`crate::till`]").len(), 0);
    assert_eq!(
        planted("src/support/mod.rs", "const T: &str = \"crate::till\"; const R: &str = r#\"\"crate::till\"#;").len(),
        0
    );
    assert_eq!(
        planted("src/support/mod.rs", "fn f<'a>(c: &'a str) { let q = '\"'; }\nuse crate::till; // '\"'").len(),
        1
    );
    let test = "#[cfg(test)]\nmod tests {\n    use crate::till::http;\n    fn f() { if true {} }\n}\n";
    assert_eq!(planted("src/support/mod.rs", test).len(), 0);
    assert_eq!(planted("src/support/mod.rs", &format!("{test}use crate::till;")), planted_at(6));
}

fn planted_at(line: usize) -> Vec<String> {
    planted("src/support/mod.rs", &format!("{}use crate::till;", "\n".repeat(line - 1)))
}
