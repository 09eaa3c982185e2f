//! The help of a program and of each of its verbs.

use std::process::Command;

/// Checks that every line of the help of each verb fits a terminal window of 80 columns. Returns the number of verbs,
/// including the program itself.
pub fn fits_80_columns(program: &str) -> usize {
    let mut verbs = vec![Vec::new()];
    let mut count = 0;
    while let Some(verb) = verbs.pop() {
        for option in ["-h", "--help"] {
            let told = Command::new(program).args(&verb).arg(option).output().unwrap();
            assert!(told.status.success(), "{verb:?} {option}: {told:?}");
            let help = String::from_utf8(told.stdout).unwrap();
            let wide: Vec<_> = help.lines().filter(|line| line.chars().count() >= 80).collect();
            assert!(wide.is_empty(), "{verb:?} {option}: {wide:#?}");
            if option == "--help" {
                verbs.extend(verbs_below(&help).map(|below| [verb.clone(), vec![below]].concat()));
            }
        }
        count += 1;
    }
    count
}

/// Returns the verbs that a help lists.
fn verbs_below(help: &str) -> impl Iterator<Item = String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // A longer indent begins the rest of a broken line.
    let names = listed.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    names.filter_map(|line| line.split(' ').next()).filter(|name| *name != "help").map(str::to_owned)
}
