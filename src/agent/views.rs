//! The views of a transaction, the status and the metrics, each made from given facts. A view reads no journal, changes
//! no transaction and decides nothing.

pub(super) mod figures;
pub(super) mod sale;
pub(super) mod states;
pub(super) mod status;
