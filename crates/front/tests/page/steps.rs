//! The steps of the first boot's page, for its tests here and on a board.

/// The steps with answers, and the screen after each of them.
pub(crate) const STEPS: [(&str, &str); 7] = [
    ("place", "network"),
    ("network", "bank"),
    ("bank", "devices"),
    ("devices", "shop"),
    ("shop", "people"),
    ("people", "till"),
    ("till", "review"),
];
