//! The page of the roll-outs. It only shows: the command line starts, stops and goes on.

use maud::{Markup, html};
use time::OffsetDateTime;

use super::pages::{heads, utc, whole, wide};
use crate::rollout_run::ShownRollout;

/// The names of the waves.
const WAVES: [&str; 5] = ["Pilot", "1 %", "10 %", "50 %", "100 %"];

fn at(time: OffsetDateTime) -> Markup {
    html! { time.time datetime=(utc(time)) { (utc(time)) } }
}

/// All roll-outs, the newest first.
pub(super) fn rollouts(shown: &[ShownRollout]) -> Markup {
    let content = html! {
        @if shown.is_empty() { p { "No settings were rolled out yet." } }
        @for rollout in shown { (one(rollout)) }
    };
    whole("/rollouts", "Roll-outs", &content)
}

fn one(rollout: &ShownRollout) -> Markup {
    let (soak, with_close) = rollout.soak;
    html! {
        section.alarm[rollout.state == "stopped"] aria-labelledby={ "rollout-" (rollout.id) } {
            h2 id={ "rollout-" (rollout.id) } { "Roll-out " (rollout.id) }
            dl {
                dt { "State" }
                dd {
                    @if rollout.state == "stopped" { span.bad { (rollout.state) } } @else { (rollout.state) }
                    @if !rollout.reason.is_empty() { ": " (rollout.reason) }
                }
                dt { "Started" } dd { (at(rollout.started)) }
                dt { "Each wave is watched for" }
                dd { (soak) " s" @if with_close { ", with a close of day" } }
                dt { "Settings" } dd { (rollout.settings) }
            }
            (wide(&format!("Waves of roll-out {}", rollout.id), &html! {
                table {
                    caption { "Terminals of each wave" }
                    (heads(&["Wave", "Terminals", "Have it", "Keep it", "Failed"]))
                    tbody {
                        @for (name, wave) in WAVES.iter().zip(&rollout.waves) {
                            tr {
                                th scope="row" { (name) }
                                td.number { (wave.all) }
                                td.number { (wave.released) }
                                td.number { (wave.kept) }
                                td.number { @if wave.failed == 0 { "0" } @else { span.bad { (wave.failed) } } }
                            }
                        }
                    }
                }
            }))
            h3 { "Who did what" }
            ul {
                @for act in &rollout.acts {
                    li { (at(act.at)) " " strong { (act.act) } " by " (act.by) @if !act.text.is_empty() { ": " (act.text) } }
                }
            }
        }
    }
}
