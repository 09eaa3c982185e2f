//! The help of the program, as a person reads it in a terminal window.

use pos_test_kit::help::fits_80_columns;

#[test]
fn the_help_of_every_verb_fits_80_columns() {
    assert!(fits_80_columns(env!("CARGO_BIN_EXE_pos-agent")) > 50);
}
