//! What a terminal's page shows about its commands, settings and keys. It only shows them: only a key that signs can
//! change something, and this server has none.

use maud::{Markup, html};
use pos_fleet_terms::{Id, Reported, SettingsState};
use tokio_postgres::Transaction;

use super::pages::{heads, time, time_in, wide};
use super::queries::Moment;
use crate::pool::NoDatabase;

/// The commands of a page.
const COMMANDS: i64 = 20;

/// The commands, settings and keys of a terminal.
#[derive(Debug, Default)]
pub(super) struct SteeredView {
    commands: Vec<Given>,
    /// The newest versions that the fleet gave.
    settings: Option<i64>,
    keys: Option<i64>,
    reported: Option<Reported>,
    reported_at: Option<Moment>,
}

/// A command.
#[derive(Debug)]
struct Given {
    created: Option<Moment>,
    kind: String,
    author: String,
    till: Option<String>,
    reference: Option<String>,
    code: Option<String>,
    text: Option<String>,
}

impl SteeredView {
    /// Reads it.
    pub(super) async fn of(read: &Transaction<'_>, id: &Id) -> Result<Self, NoDatabase> {
        let id = id.as_str();
        let select = "select created, created::timestamp, kind, author, till, reference, code, text from command
            where terminal = $1 order by command.created desc limit $2";
        let commands = read.query(select, &[&id, &COMMANDS]).await?;
        let given = |row: &tokio_postgres::Row| Given {
            created: Moment::of(row, 0),
            kind: row.get(2),
            author: row.get(3),
            till: row.get(4),
            reference: row.get(5),
            code: row.get(6),
            text: row.get(7),
        };
        let versions = "select (select max(version) from settings where terminal = $1),
            (select max(version) from keys_document where terminal = $1)";
        let versions = read.query_one(versions, &[&id]).await?;
        let reported = "select report, at, at::timestamp from reported where terminal = $1";
        let reported = read.query_opt(reported, &[&id]).await?;
        Ok(Self {
            commands: commands.iter().map(given).collect(),
            settings: versions.get(0),
            keys: versions.get(1),
            reported: reported.as_ref().and_then(|row| serde_json::from_value(row.get(0)).ok()),
            reported_at: reported.as_ref().and_then(|row| Moment::of(row, 1)),
        })
    }

    /// Shows it.
    pub(super) fn show(&self, zone: &str) -> Markup {
        html! {
            h2 { "Settings and keys" }
            @if let Some(reported) = &self.reported { (self.settings(reported)) }
            @else if self.settings.is_some() || self.keys.is_some() { p { "Given, but the terminal has reported nothing yet." } }
            @else { p { "The fleet has given none. The terminal uses its own." } }
            h2 { "Last commands" }
            @if self.commands.is_empty() { p { "None was given." } } @else { (self.commands(zone)) }
        }
    }

    fn settings(&self, reported: &Reported) -> Markup {
        let version = |version: u64| if version == 0 { "its own".to_owned() } else { version.to_string() };
        let given = |given: Option<i64>| given.map_or_else(|| "none".to_owned(), |version| version.to_string());
        let state = match reported.state {
            SettingsState::Local => "uses its own settings",
            SettingsState::Waiting => "waits until it is idle",
            SettingsState::Trial => "tries the last version",
            SettingsState::Kept => "keeps the last version",
            SettingsState::Returned => "went back from the last version, and never tries it again",
            SettingsState::Unheard => "went back without an acknowledgement, and tries again later",
            SettingsState::Refused => "refused the last version",
        };
        let is_bad = matches!(reported.state, SettingsState::Returned | SettingsState::Refused);
        let names: Vec<_> = reported.keys.iter().map(|key| format!("{} ({})", key.name, key.kind.word())).collect();
        html! {
            dl {
                dt { "Settings in use" } dd { (version(reported.version)) }
                dt { "Settings given" } dd { (given(self.settings)) }
                dt { "State" } dd { @if is_bad { span.bad { (state) } } @else { (state) } }
                @for reason in reported.reason.iter().chain(&reported.keys_refused) {
                    dt { "Reason" } dd { strong { (reason.code) } " " (reason.text) }
                }
                @if !reported.drift.is_empty() { dt { "Edited at the terminal" } dd { (reported.drift.join(", ")) } }
                dt { "Keys in use" } dd { (version(reported.keys_version)) ": " (names.join(", ")) }
                dt { "Keys given" } dd { (given(self.keys)) }
                dt { "Reported" } dd { (time(self.reported_at)) }
            }
        }
    }

    fn commands(&self, zone: &str) -> Markup {
        let rows = html! {
            table {
                (heads(&[&time_in(zone), "Command", "By", "Result"]))
                tbody {
                    @for given in &self.commands {
                        tr {
                            td { (time(given.created)) }
                            td { (given.kind) @if let Some(reference) = &given.reference { " " (reference) } }
                            td { (given.author) @if let Some(till) = &given.till { " (till " (till) ")" } }
                            td {
                                @match given.code.as_deref() {
                                    None => "no answer yet",
                                    Some(code @ ("done" | "running")) => (code),
                                    Some(code) => span.bad { (code) },
                                }
                                @if let Some(text) = &given.text { " " (text) }
                            }
                        }
                    }
                }
            }
        };
        wide("Last commands", &rows)
    }
}
