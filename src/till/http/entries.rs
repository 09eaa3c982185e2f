//! The entries of the journal's chain by number, for a program on the terminal that copies them to another place.
//!
//! The entries contain what an export contains (`pos-journal`, `export.rs`), and the hash of each. The journal is the
//! only queue: a program continues after the last entry that its other end has kept.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use pos_journal::ChainEntry;
use pos_till_api::GREATEST_NUMBER;
use serde::{Deserialize, Serialize};

use super::api::{App, Route, routes};
use super::asked::Parameters;
use super::failure::Failure;
use super::slots::Allowance;
use crate::till::{Caller, Command, Verb};

/// The number of entries in an answer: by default, and at most. An entry has about 1 KiB.
const LIST_LIMIT: (u32, u32) = (50, 200);

/// The verb for entries.
pub(super) const ROUTES: &[Route] = routes! {
    get "/v1/journal" => list,
        ApiOperation::new("listEntries", "List the entries of the journal's chain by number")
            .text("Send the number of the last entry as `after` of the next request, until it is that of `last`. \
                Another `journal` means another sequence of entries, from 1.")
            .needs(Verb::ReadJournal)
            .query::<EntriesQuery>()
            .answers::<EntriesView>(200, "The entries.", examples::entries())
            .refuses(&[ProblemType::ListUnderWay, ProblemType::Journal]);
};

#[derive(Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct EntriesQuery {
    /// Only entries with a greater number.
    #[serde(default)]
    after: u64,
    /// The greatest number of entries to list. The default is 50.
    #[cfg_attr(feature = "docs", schemars(range(min = 1, max = 200)))]
    limit: Option<u32>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "docs", derive(Deserialize, schemars::JsonSchema))]
struct EntriesView {
    /// The identity of the journal.
    journal: String,
    /// The last entry of the journal.
    last: LastEntry,
    /// The entries, in their order.
    entries: Vec<ChainEntry>,
}

/// The end of the chain.
#[derive(Serialize)]
#[cfg_attr(feature = "docs", derive(Deserialize, schemars::JsonSchema))]
struct LastEntry {
    /// The number of the entry; 0 in an empty journal.
    entry: i64,
    /// The hash of the entry, in hexadecimal.
    hash: String,
}

async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(allowance): Extension<Arc<Allowance>>,
    Parameters(EntriesQuery { after, limit }): Parameters<EntriesQuery>,
) -> Result<Json<EntriesView>, Failure> {
    let permit = caller.may(Verb::ReadJournal)?;
    let (usual, most) = LIST_LIMIT;
    let limit = limit.unwrap_or(usual);
    if !(1..=most).contains(&limit) {
        return Err(Failure::malformed(format!("limit: must be 1 to {most}; get the rest with after")).field("limit"));
    }
    let after = i64::try_from(after)
        .ok()
        .filter(|after| after.unsigned_abs() <= GREATEST_NUMBER)
        .ok_or_else(|| Failure::malformed("after: send the number of an entry, or omit after").field("after"))?;
    let _reading = allowance.permit_to_read().await?;
    let found = app.ask(&permit, |reply| Command::ListEntries { after, limit, reply }).await??;
    let last = LastEntry { entry: found.last.entry, hash: found.last.hex() };
    Ok(Json(EntriesView { journal: found.journal, last, entries: found.entries }))
}
