//! `pos-agent reasons`: explains the reasons that appear in sales, the log and the status. Each reason has sentences
//! for the cashier, the customer and the technician.

use clap::Args;

use super::exit::{Exit, Stop};
use super::out;
use pos_words::{Explained, Language, Words};

/// Arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pos-agent reasons                        all reasons, in English
  pos-agent reasons gateway-refuses-token  one reason
  pos-agent reasons --language de --json   all reasons, in German, as JSON")]
pub(super) struct Reasons {
    /// The reason, as it appears in a sale, the log or the status
    reason: Option<String>,
    /// The language: en, de, fr, it, es, nl or pl
    #[arg(long, value_name = "CODE", default_value = "en")]
    language: String,
    /// Print a JSON list
    #[arg(long)]
    json: bool,
}

impl Reasons {
    pub(super) fn run(self) -> Result<Exit, Stop> {
        let language = Language::from_code(&self.language).ok_or_else(|| {
            Stop::new(Exit::Usage, format!("--language {}: write {}", self.language, Language::codes()))
        })?;
        let words = Words::new(language);
        let is_wanted = |row: &Explained| self.reason.as_ref().is_none_or(|wanted| wanted == row.reason);
        let rows: Vec<_> = words.reasons().filter(is_wanted).collect();
        if let (true, Some(unknown)) = (rows.is_empty(), &self.reason) {
            return Err(Stop::new(
                Exit::Data,
                format!("{unknown} is not a reason; to list all reasons, run: pos-agent reasons"),
            ));
        }
        if self.json {
            out::say_json(&rows);
            return Ok(Exit::Success);
        }
        for Explained { reason, cashier, customer, technician } in rows {
            out::say(reason);
            out::say(&format!("  cashier     {cashier}"));
            out::say(&format!("  customer    {customer}"));
            out::say(&format!("  technician  {technician}"));
        }
        Ok(Exit::Success)
    }
}
