//! `pos-agent journal verify`: checks every entry of the journal against the entry before it, and every transaction
//! against its key (the till and the reference).

use clap::Args;
use serde::Serialize;

use super::super::exit::{Exit, Stop};
use super::super::out;
use super::{Which, stop};
use pos_journal::{Altered, Reading, Verdict};

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
The head is the hash of the last entry. Keep it in another place, with its
number. A journal that was rewritten completely, or cut off at its end, also
has correct hashes; only a kept hash shows the change (--head 1234:HASH).

Exit codes: 0 the journal is as it was written; 65 a row was altered, added,
removed or moved, or --head is not in the journal; 75 some steps have no hash,
or cannot be read, because a different version wrote them; 74 the journal
cannot be read.")]
pub(super) struct Verify {
    /// An earlier head: the number and the hash of an entry
    #[arg(long, value_name = "ENTRY:HASH", value_parser = kept)]
    head: Option<(i64, String)>,
    /// Print one JSON object on one line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: Which,
}

/// The object that `--json` prints.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    is_as_written: bool,
    transactions: u64,
    steps: u64,
    marks: u64,
    pruned: u64,
    entered_later: u64,
    not_entered: u64,
    unreadable: u64,
    entry: i64,
    head: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    holds_head: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    altered: Option<AlteredView<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AlteredView<'a> {
    entry: Option<i64>,
    step: Option<i64>,
    number: Option<i64>,
    till: Option<&'a str>,
    reference: Option<&'a str>,
    why: &'a str,
}

impl Verify {
    pub(super) fn run(self) -> Result<Exit, Stop> {
        let (path, _) = self.which.journal()?;
        let mut reading = Reading::open(&path).map_err(|error| stop(&error))?;
        let verdict = reading.verify().map_err(|error| stop(&error))?;
        let kept = self.head.as_ref().map(|(entry, hash)| reading.holds(*entry, hash));
        let kept = kept.transpose().map_err(|error| stop(&error))?;
        let exit = match &verdict {
            Verdict { altered: Some(_), .. } => Exit::Data,
            _ if kept == Some(false) => Exit::Data,
            Verdict { not_entered: 1.., .. } | Verdict { unreadable: 1.., .. } => Exit::Attention,
            _ => Exit::Success,
        };
        if self.json {
            out::say_json(&answer(&verdict, kept));
        } else {
            show(&verdict, kept, self.head.as_ref());
        }
        Ok(exit)
    }
}

fn answer(verdict: &Verdict, holds_head: Option<bool>) -> Answer<'_> {
    let altered = verdict.altered.as_ref().map(|altered| AlteredView {
        entry: altered.entry,
        step: altered.step,
        number: altered.number,
        till: altered.key.as_ref().map(|(till, _)| till.as_str()),
        reference: altered.key.as_ref().map(|(_, reference)| reference.as_str()),
        why: altered.why,
    });
    let (entry, head) = verdict.head.map_or((0, String::new()), |head| (head.entry, head.hex()));
    let Verdict { transactions, steps, marks, pruned, entered_later, not_entered, unreadable, .. } = *verdict;
    let is_as_written = altered.is_none() && holds_head != Some(false);
    Answer {
        is_as_written,
        transactions,
        steps,
        marks,
        pruned,
        entered_later,
        not_entered,
        unreadable,
        entry,
        head,
        holds_head,
        altered,
    }
}

fn show(verdict: &Verdict, kept: Option<bool>, wanted: Option<&(i64, String)>) {
    match &verdict.altered {
        Some(altered) => out::say(&format!("ALTERED: {}", place(altered))),
        None => out::say(&format!("unaltered: {} transactions, {} steps", verdict.transactions, verdict.steps)),
    }
    if let (Some(kept), Some((entry, _))) = (kept, wanted) {
        out::say(&match kept {
            true => format!("entry {entry} has the given hash"),
            false => format!(
                "ALTERED: entry {entry} does not have the given hash: it was removed, or the journal was rewritten"
            ),
        });
    }
    for (count, what) in [
        (verdict.pruned, "entries were removed after their retention time"),
        (verdict.entered_later, "steps were written by an earlier version and added to the chain later"),
        (verdict.not_entered, "steps of an earlier version have no hash yet; start the agent, which adds them"),
        (verdict.unreadable, "transactions of a later version cannot be read"),
    ] {
        if count > 0 {
            out::say(&format!("{count} {what}"));
        }
    }
    if let Some(head) = verdict.head {
        let until = if verdict.altered.is_some() { "unaltered up to entry" } else { "head" };
        out::say(&format!("{until} {}:{}", head.entry, head.hex()));
    }
}

fn place(altered: &Altered) -> String {
    let mut text = match (altered.step, altered.entry) {
        (Some(step), Some(entry)) => format!("entry {entry}, step {step}"),
        (Some(step), None) => format!("step {step}"),
        (None, Some(entry)) => format!("entry {entry}"),
        (None, None) => "the journal".to_owned(),
    };
    match (&altered.key, altered.number) {
        (Some((till, reference)), Some(number)) => text += &format!(" of sale {number} ({reference} of till {till})"),
        (None, Some(number)) => text += &format!(" of sale {number}"),
        _ => {}
    }
    format!("{text}: {}", altered.why)
}

fn kept(text: &str) -> Result<(i64, String), &'static str> {
    let wrong = "write the number and the hash of the head as 1234:HASH";
    let (entry, hash) = text.split_once(':').ok_or(wrong)?;
    let entry = entry.parse().ok().filter(|entry| *entry > 0).ok_or(wrong)?;
    let right = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    if right { Ok((entry, hash.to_ascii_lowercase())) } else { Err(wrong) }
}
