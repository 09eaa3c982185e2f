//! The views: a transaction, the status and the figures, each made from the facts that it is handed. A view reads no
//! journal and changes no transaction: what tells cannot decide.

pub(super) mod figures;
pub(super) mod sale;
pub(super) mod states;
pub(super) mod status;
