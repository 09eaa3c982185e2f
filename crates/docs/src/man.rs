//! Man pages: one for each program and each of its verbs, made from the command line, and one for the configuration.

use std::error::Error;
use std::fs;
use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};

use crate::manual::configuration::{self, Key, Section};

/// The longest line of an example. In a window of 80 columns, man indents 7 of its 78 columns.
const LONGEST: usize = 71;
/// The left part of each footer.
const SOURCE: &str = concat!("pos-agent ", env!("CARGO_PKG_VERSION"));
/// An argument of a request that is empty, but there.
const EMPTY: &str = "\"\"";

/// Writes all pages into a folder.
pub(super) fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    for command in super::programs() {
        let mut command = command.disable_help_subcommand(true);
        command.build();
        pages(&command, folder)?;
    }
    Ok(fs::write(folder.join("pos-agent-config.toml.5"), of_configuration().render())?)
}

/// Writes the page of a command and those of its verbs.
fn pages(command: &Command, folder: &Path) -> Result<(), Box<dyn Error>> {
    command.get_subcommands().filter(|verb| !verb.is_hide_set()).try_for_each(|verb| pages(verb, folder))?;
    let notes = command.get_after_help().map(|text| notes(&text.to_string())).transpose();
    let notes = notes.map_err(|wrong| format!("the help of {}: {wrong}", command.get_name()))?;
    // The title of the longest verb leaves no room for a name of the manual between the two titles.
    let without_notes = command.clone().after_help(None::<&str>);
    let page = Man::new(without_notes).date(EMPTY).source(SOURCE).manual(EMPTY);
    let mut text = Vec::new();
    page.render(&mut text)?;
    notes.map_or(Ok(()), |notes| notes.to_writer(&mut text))?;
    Ok(fs::write(folder.join(page.get_filename()), text)?)
}

/// The form of a line in the text below the options.
enum Form {
    /// A line of a paragraph.
    Text,
    /// A line of an example, which keeps its form.
    Example,
    /// A word and its meaning, with the indent of the line. A line with a longer indent continues the meaning.
    Item(usize),
}

/// Converts the text below the options of a help.
fn notes(help: &str) -> Result<Roff, String> {
    let mut page = Roff::new();
    let mut before = Form::Text;
    for (n, line) in help.lines().enumerate() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let form = match (text.split_once("  "), &before) {
            (_, Form::Item(item)) if indent > *item => {
                page.text([roman(text)]);
                continue;
            }
            _ if indent == 0 => Form::Text,
            (Some(_), _) => Form::Item(indent),
            (None, _) => Form::Example,
        };
        match (&before, &form) {
            (Form::Example, Form::Example) => {}
            (Form::Example, _) => {
                page.control("fi", []);
            }
            (_, Form::Example) => {
                page.control("PP", []).control("nf", []);
            }
            _ => {}
        }
        match form {
            Form::Text => paragraph(&mut page, text, n == 0),
            Form::Example => {
                let example = &line[indent.min(2)..];
                if example.chars().count() > LONGEST {
                    return Err(format!("more than {LONGEST} characters: {example}"));
                }
                page.text([roman(example)]);
            }
            Form::Item(_) => {
                let (word, meaning) = text.split_once("  ").unwrap_or((text, ""));
                page.control("TP", []).text([bold(word)]).text([roman(meaning.trim_start())]);
            }
        }
        before = form;
    }
    if matches!(before, Form::Example) {
        page.control("fi", []);
    }
    Ok(page)
}

/// Writes a line of a paragraph, or the heading that it begins with.
fn paragraph(page: &mut Roff, text: &str, is_first: bool) {
    match text {
        "" => page.control("PP", []),
        "Examples:" | "Example:" => page.control("SH", ["EXAMPLES"]),
        "Exit codes:" => page.control("SH", ["EXIT STATUS"]),
        _ => {
            let (heading, text) = match text.strip_prefix("Exit codes: ") {
                Some(codes) => (Some("EXIT STATUS"), codes),
                None => (is_first.then_some("NOTES"), text),
            };
            if let Some(heading) = heading {
                page.control("SH", [heading]);
            }
            page.text([roman(text)])
        }
    };
}

/// Returns the page of the configuration, with every section and key.
fn of_configuration() -> Roff {
    let mut page = Roff::new();
    page.control("TH", ["pos-agent-config.toml", "5", EMPTY, SOURCE, EMPTY]);
    page.control("SH", ["NAME"]).text([roman("pos-agent-config.toml - configuration of a payment terminal")]);
    page.control("SH", ["DESCRIPTION"]).text([roman(
        "The file is written in TOML. pos-agent setup writes it, and pos-agent check reports all its faults, each \
         with a remedy. An unknown key or an invalid value is a fault. The file contains no secrets, only their \
         locations. A section or a [[list]] may be left out if all its keys have defaults.",
    )]);
    for Section { title, meaning, keys } in configuration::read() {
        page.control("SH", [title.replace('-', "\\-").as_str()]).text(marked(&meaning));
        for Key { name, kind, default, meaning } in keys {
            let value = match default.as_str() {
                "–" => kind,
                default => format!("{kind}; {}", default_in_words(default)),
            };
            page.control("TP", []).text([bold(name)]).text(marked(&value)).control("br", []).text(marked(&meaning));
        }
    }
    page.control("SH", ["FILES"]).text([roman("/etc/pos-agent/config.toml")]);
    page.control("SH", ["SEE ALSO"]).text([roman("pos-agent(1), pos-agent-check(1), pos-agent-setup(1)")]);
    page
}

fn default_in_words(default: &str) -> String {
    match default {
        "must be there" => default.to_owned(),
        "none" => "no default".to_owned(),
        _ => format!("default {default}"),
    }
}

/// Shows the words in backquotes in bold.
fn marked(text: &str) -> Vec<Inline> {
    let parts = text.split('`').enumerate();
    parts.map(|(n, part)| if n % 2 == 1 { bold(part) } else { roman(part) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_help_becomes_paragraphs_items_and_examples() {
        let page = notes(
            "A first line\nand a second.\n\nExamples:\n  pos-agent x  what it does,\n               and more\n  \
             pos-agent x --much \\\n    --more\n\nExit codes: 0 done.",
        );
        let wanted = "\
.SH NOTES\nA first line\nand a second.\n.PP\n.SH EXAMPLES\n.TP\n\\fBpos\\-agent x\\fR\nwhat it does,\nand more
.PP\n.nf\npos\\-agent x \\-\\-much \\\\\n  \\-\\-more\n.fi\n.PP\n.SH \"EXIT STATUS\"\n0 done.\n";
        assert_eq!(page.unwrap().to_roff(), wanted);
        let long = format!("  {}", "x".repeat(LONGEST + 1));
        assert!(notes(&long).unwrap_err().contains("more than 71 characters"));
        assert!(notes(&long[..long.len() - 1]).is_ok());
    }

    /// A help breaks longer lines where it is shown, and a paragraph would then have ragged lines. Generated lines are
    /// items, which continue below their meaning, and the rights, which are alone.
    #[test]
    fn the_text_below_the_options_is_written_in_79_columns() {
        let mut commands = Vec::from(crate::programs());
        let mut count = 0;
        while let Some(command) = commands.pop() {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in text.lines() {
                let is_item = line.starts_with(' ') && line.trim_start().contains("  ");
                let is_generated = is_item || line.starts_with("Rights: ");
                assert!(line.chars().count() < 80 || is_generated, "{}: {line}", command.get_name());
            }
            count += usize::from(!text.is_empty());
            commands.extend(command.get_subcommands().cloned());
        }
        assert!(count > 30, "{count}");
    }
}
