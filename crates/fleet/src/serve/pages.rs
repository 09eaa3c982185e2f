//! The pages: HTML without scripts. Every text of a terminal is escaped by the template.

use maud::{DOCTYPE, Markup, html};
use time::format_description::well_known::Rfc3339;
use time::{Date, Duration, OffsetDateTime};

use super::asked::{Filter, Standing};
use super::metrics::certificate_end;
use super::queries::{
    Alarm, Choices, Close, DayOfFleet, Detail, Fault, Found, Line, Look, Moment, ROWS, Sale, Sum, Terminal,
};

/// A certificate that ends within this time is shown.
const CERTIFICATE_NEAR: Duration = Duration::days(30);
/// The pages of the navigation.
const NAVIGATION: [(&str, &str); 4] =
    [("/", "Terminals"), ("/open", "Open payments"), ("/closes", "Closes of day"), ("/rollouts", "Roll-outs")];

/// Writes a time in UTC, to the second.
pub(super) fn utc(at: OffsetDateTime) -> String {
    let at = at.to_offset(time::UtcOffset::UTC).replace_nanosecond(0).unwrap_or(at);
    at.format(&Rfc3339).unwrap_or_default()
}

/// Shows a time as a clock of the pages' time zone does.
pub(super) fn time(moment: Option<Moment>) -> Markup {
    html! {
        @match moment {
            Some(Moment { at, local }) => {
                @let (hour, minute, second) = local.as_hms();
                time.time datetime=(utc(at)) {
                    (local.date()) " " (format!("{hour:02}:{minute:02}:{second:02}"))
                }
            }
            None => span.soft { "unknown" }
        }
    }
}

/// Says how long ago something was, in the largest unit that tells it.
fn ago(at: OffsetDateTime, now: OffsetDateTime) -> String {
    let seconds = (now - at).whole_seconds().max(0);
    match seconds {
        0..120 => format!("{seconds} s ago"),
        120..7_200 => format!("{} min ago", seconds / 60),
        7_200..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

pub(super) fn whole(path: &str, title: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " – fleet" }
                link rel="stylesheet" href="/style.css";
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header {
                    nav aria-label="Pages" {
                        ul {
                            @for (to, name) in NAVIGATION {
                                li { a href=(to) aria-current=[(to == path).then_some("page")] { (name) } }
                            }
                        }
                    }
                }
                main id="main" {
                    h1 { (title) }
                    (content)
                }
            }
        }
    }
}

/// A page with one sentence.
pub(super) fn plain(title: &str, text: &str) -> Markup {
    whole("", title, &html! { p { (text) } })
}

/// A table that a narrow screen scrolls, also with the keyboard.
pub(super) fn wide(name: &str, table: &Markup) -> Markup {
    html! { div.wide role="region" aria-label=(name) tabindex="0" { (table) } }
}

pub(super) fn heads(names: &[&str]) -> Markup {
    html! { thead { tr { @for name in names { th scope="col" { (name) } } } } }
}

fn link(id: &str) -> Markup {
    html! { a href={ "/terminal/" (id) } { (id) } }
}

fn yes_or_no(is: Option<bool>) -> Markup {
    html! {
        @match is {
            Some(true) => span.good { "yes" },
            Some(false) => span.bad { "no" },
            None => span.soft { "unknown" },
        }
    }
}

fn count(count: u32) -> Markup {
    html! { td.number { @if count == 0 { "0" } @else { span.bad { (count) } } } }
}

fn turn(page: u32, more: bool, to: impl Fn(u32) -> String) -> Markup {
    html! {
        @if page > 1 || more {
            nav.turn aria-label="More rows" {
                @if page > 1 { a href=(to(page - 1)) rel="prev" { "Previous " (ROWS) } }
                span { "Page " (page) }
                @if more { a href=(to(page + 1)) rel="next" { "Next " (ROWS) } }
            }
        }
    }
}

/// Whether a terminal is connected, and when it was heard of.
fn presence(terminal: &Terminal, now: OffsetDateTime) -> Markup {
    html! {
        @if terminal.is_online(now) { span.good { "online" } }
        @else if terminal.online || terminal.seen.is_none() { span.bad { "silent" } }
        @else { span.bad { "offline" } }
        @match terminal.seen {
            Some(seen) => { ", seen " time datetime=(utc(seen)) { (ago(seen, now)) } }
            None => ", never seen"
        }
    }
}

fn certificate(terminal: &Terminal, now: OffsetDateTime, always: bool) -> Markup {
    html! {
        @if let Some(end) = certificate_end(terminal) {
            @if end < now { span.bad.time { "ended " (end.date()) } }
            @else if end < now + CERTIFICATE_NEAR { span.bad.time { "ends " (end.date()) } }
            @else if always { "ends " (end.date()) }
        } @else if always { span.soft { "unknown" } }
    }
}

/// The alarms: first those at which no one has looked, then the others.
fn alarms(alarms: &[&Alarm], now: OffsetDateTime) -> Markup {
    let (seen, new): (Vec<&Alarm>, Vec<&Alarm>) = alarms.iter().copied().partition(|alarm| alarm.look.is_some());
    html! {
        @if !new.is_empty() {
            section.alarm aria-labelledby="alarms" {
                h2 id="alarms" { "Alarms" }
                ul { @for alarm in new { li { (fault(&alarm.what, now)) } } }
            }
        }
        @if !seen.is_empty() {
            section aria-labelledby="seen" {
                h2 id="seen" { "Alarms that a person has seen" }
                ul { @for alarm in seen { li { (fault(&alarm.what, now)) " " (look(alarm.look.as_ref())) } } }
            }
        }
    }
}

fn look(look: Option<&Look>) -> Markup {
    html! { @if let Some(look) = look { span.soft { "Seen by " (look.by) " at " (time(Some(look.at))) "." } } }
}

fn fault(fault: &Fault, now: OffsetDateTime) -> Markup {
    html! {
        @match fault {
            Fault::Conflicts { terminal, entries } => {
                strong { "Two histories: " } (link(terminal)) " has sent another content for "
                (entries) " stored " @if *entries == 1 { "entry" } @else { "entries" }
                ". Its disk may be an old copy."
            }
            Fault::TwoIdentities { terminal, last } => {
                strong { "Two terminals with one identity: " } (link(terminal)) ", last "
                (ago(*last, now)) ". Take one of them out of service."
            }
            Fault::Cloned { journal, terminals } => {
                strong { "Cloned journal: " } (journal.chars().take(64).collect::<String>()) " is at "
                @for (at, terminal) in terminals.iter().enumerate() {
                    @if at > 0 { ", " } (link(terminal))
                }
                ". A disk was copied, or a terminal has a new name."
            }
        }
    }
}

fn choice(id: &str, label: &str, chosen: &str, values: &[String]) -> Markup {
    html! {
        div {
            label for=(id) { (label) }
            select id=(id) name=(id) {
                option value="" { "any" }
                @if !chosen.is_empty() && !values.iter().any(|value| value == chosen) {
                    option value=(chosen) selected { (chosen) }
                }
                @for value in values { option value=(value) selected[value == chosen] { (value) } }
            }
        }
    }
}

fn search(filter: &Filter, choices: &Choices) -> Markup {
    html! {
        form method="get" action="/" role="search" aria-label="Terminals" {
            div {
                label for="text" { "Terminal, shop, gateway id or reader serial" }
                input id="text" name="text" type="search" maxlength="200" value=(filter.text);
            }
            div {
                label for="state" { "State" }
                select id="state" name="state" {
                    option value="" { "any" }
                    @for state in Standing::ALL {
                        option value=(state.word()) selected[filter.state == Some(state)] { (state.text()) }
                    }
                }
            }
            (choice("fault", "Fault", &filter.fault, &choices.faults))
            (choice("version", "Agent version", &filter.version, &choices.versions))
            (choice("model", "Reader model", &filter.model, &choices.models))
            div {
                label for="hours" { "Not seen for hours" }
                input id="hours" name="hours" type="number" min="1" max="87600" value=[filter.hours];
            }
            button type="submit" { "Show" }
            a href="/" { "Show all" }
        }
    }
}

/// The list of terminals.
pub(super) fn terminals(
    filter: &Filter,
    page: u32,
    found: &Found<Terminal>,
    choices: &Choices,
    all_alarms: &[Alarm],
    now: OffsetDateTime,
) -> Markup {
    let names = [
        "Terminal",
        "Shop",
        "Connection",
        "Ready",
        "Faults",
        "Unconfirmed",
        "For a person",
        "Agent",
        "Reader",
        "Certificate",
    ];
    let content = html! {
        (alarms(&all_alarms.iter().collect::<Vec<_>>(), now))
        (search(filter, choices))
        p role="status" { (found.count) " " @if found.count == 1 { "terminal" } @else { "terminals" } }
        @if !found.rows.is_empty() {
            (wide("List of terminals", &html! {
                table {
                    caption { "Terminals in the order of their names" }
                    (heads(&names))
                    tbody { @for terminal in &found.rows { (row(terminal, now)) } }
                }
            }))
        }
        (turn(page, found.more, |page| filter.link(page)))
    };
    whole("/", "Terminals", &content)
}

fn row(terminal: &Terminal, now: OffsetDateTime) -> Markup {
    let (state, info) = (terminal.state.as_ref(), terminal.info.as_ref());
    html! {
        tr {
            th scope="row" { (link(&terminal.id)) }
            td { (terminal.shop()) }
            td { (presence(terminal, now)) }
            td { (yes_or_no(state.and_then(|state| state.ready))) }
            td {
                @for (at, fault) in state.into_iter().flat_map(|state| &state.faults).enumerate() {
                    @if at > 0 { ", " } (fault.code)
                }
            }
            (count(state.map_or(0, |state| state.unconfirmed)))
            (count(state.map_or(0, |state| state.held)))
            td { (info.map_or("", |info| &info.agent)) }
            td { (info.map_or("", |info| &info.reader_model)) }
            td { (certificate(terminal, now, false)) }
        }
    }
}

/// One terminal.
pub(super) fn terminal(terminal: &Terminal, detail: &Detail, zone: &str, now: OffsetDateTime) -> Markup {
    let is_conflict = |alarm: &&Alarm| matches!(alarm.what, Fault::Conflicts { .. });
    let (histories, others): (Vec<_>, Vec<_>) = detail.alarms.iter().partition(is_conflict);
    let histories_seen = histories.first().and_then(|alarm| alarm.look.as_ref());
    let content = html! {
        (alarms(&others, now))
        (conflicts(detail, histories_seen))
        (condition(terminal, now))
        h2 { "The day so far" }
        @if detail.day.is_empty() { p { "Nothing since midnight (" (zone) ")." } }
        @else { (day(&detail.day, zone)) }
        h2 { "Last payments" }
        @if detail.sales.is_empty() { p { "None is stored." } }
        @else { (sales("Last payments", &detail.sales, zone, false)) }
        h2 { "Last closes of day" }
        @if detail.closes.is_empty() { p { "None is stored." } }
        @else { (close_table(&detail.closes, zone, false)) }
        (detail.steered.show(zone))
    };
    whole("/terminal", &format!("Terminal {}", terminal.id), &content)
}

fn conflicts(detail: &Detail, seen: Option<&Look>) -> Markup {
    html! {
        @if !detail.conflicts.is_empty() {
            section.alarm[seen.is_none()] aria-labelledby="histories" {
                h2 id="histories" { "Two histories" }
                @if seen.is_some() { p { (look(seen)) } }
                p { "The terminal has sent another content for these stored entries. The first one stays stored." }
                ul {
                    @for conflict in &detail.conflicts {
                        li { "entry " (conflict.number) " of journal " (conflict.journal) ", " (time(conflict.received)) }
                    }
                }
            }
        }
    }
}

fn condition(terminal: &Terminal, now: OffsetDateTime) -> Markup {
    let (state, info) = (terminal.state.as_ref(), terminal.info.clone().unwrap_or_default());
    let faults = state.map(|state| state.faults.as_slice()).unwrap_or_default();
    html! {
        h2 { "State" }
        dl {
            dt { "Connection" } dd { (presence(terminal, now)) }
            @if !terminal.is_online(now) { dt { "Note" } dd { "The rest is what was known last." } }
            dt { "Shop" } dd { (terminal.shop()) }
            dt { "Ready" } dd { (yes_or_no(state.and_then(|state| state.ready))) }
            dt { "Unconfirmed payments" } dd { (state.map_or(0, |state| state.unconfirmed)) }
            dt { "Payments for a person" } dd { (state.map_or(0, |state| state.held)) }
            dt { "Id at the gateway" } dd { (info.terminal_id) }
            dt { "Currency" } dd { (info.currency) }
            dt { "Agent" } dd { (info.agent) }
            dt { "Uplink" } dd { (info.uplink) }
            dt { "Reader" } dd { (info.reader_model) " " (info.reader_serial) " " (info.reader_firmware) }
            dt { "Certificate" } dd { (certificate(terminal, now, true)) }
            @if let Some(cursor) = &terminal.cursor {
                dt { "Journal" } dd { (cursor.journal) }
                dt { "Stored up to entry" } dd { (cursor.number) ", since " (time(cursor.moved)) }
                dt { "Missing entry" }
                dd { @if cursor.gap { span.bad { "yes, after entry " (cursor.number) } } @else { "none" } }
            }
            @if let Some(behind) = terminal.behind() { dt { "Entries still to come" } dd { (behind) } }
        }
        h2 { "Faults" }
        @if faults.is_empty() { p { "None." } }
        @else { ul { @for fault in faults { li { strong { (fault.code) } " " (fault.text) } } } }
    }
}

fn day(sums: &[Sum], zone: &str) -> Markup {
    wide(
        "The day so far",
        &html! {
            table {
                caption { "Payments since midnight (" (zone) "), by kind and outcome" }
                (heads(&["Kind", "Outcome", "Count", "Approved", "Currency"]))
                tbody {
                    @for sum in sums {
                        tr {
                            td { (sum.kind) @if sum.training { " (training)" } }
                            td { (sum.outcome) }
                            td.number { (sum.count) }
                            td.number { (sum.approved) }
                            td { (sum.currency) }
                        }
                    }
                }
            }
        },
    )
}

/// The head of a column with times.
pub(super) fn time_in(zone: &str) -> String {
    format!("Time ({zone})")
}

fn sales(name: &str, sales: &[Sale], zone: &str, all: bool) -> Markup {
    let time_head = time_in(zone);
    let names = ["Terminal", "Shop", &time_head, "Number", "Till", "Reference", "Kind", "Outcome", "Total", "Card"];
    wide(
        name,
        &html! {
            table {
                caption { (name) ", each as its last stored step tells it" }
                (heads(if all { &names } else { &names[2..] }))
                tbody {
                    @for sale in sales {
                        tr {
                            @if all { td { (link(&sale.terminal)) } td { (sale.shop) } }
                            td { (time(sale.at)) }
                            td.number { (sale.number) @if sale.is_earlier { " (earlier journal)" } }
                            td { (sale.till) }
                            td { (sale.reference) }
                            td { (sale.kind) @if sale.training { " (training)" } }
                            td { (sale.end()) @if !sale.reason.is_empty() { ": " (sale.reason) } }
                            td.number { (sale.total) " " (sale.currency) }
                            td { (sale.card) }
                        }
                    }
                }
            }
        },
    )
}

/// The open payments of the whole fleet.
pub(super) fn open(counted: &[Terminal], page: u32, found: &Found<Sale>, zone: &str, now: OffsetDateTime) -> Markup {
    let content = html! {
        h2 { "Terminals that count open payments" }
        @if counted.is_empty() { p { "None." } }
        @else {
            (wide("Terminals that count open payments", &html! {
                table {
                    caption { "At most 500 terminals" }
                    (heads(&["Terminal", "Shop", "Connection", "Unconfirmed", "For a person"]))
                    tbody {
                        @for terminal in counted {
                            @let state = terminal.state.as_ref();
                            tr {
                                th scope="row" { (link(&terminal.id)) }
                                td { (terminal.shop()) }
                                td { (presence(terminal, now)) }
                                (count(state.map_or(0, |state| state.unconfirmed)))
                                (count(state.map_or(0, |state| state.held)))
                            }
                        }
                    }
                }
            }))
        }
        h2 { "Payments whose outcome is open" }
        @if found.rows.is_empty() { p { "None is stored." } }
        @else { (sales("Payments whose outcome is open", &found.rows, zone, true)) }
        (turn(page, found.more, |page| format!("/open?page={page}")))
    };
    whole("/open", "Open payments", &content)
}

/// The sums of a close. Sums that are not here are no zero.
fn lines(lines: Option<&[Line]>) -> Markup {
    html! {
        @match lines {
            None => span.soft { "sums not sent" },
            Some(lines) if lines.is_empty() => "no payments",
            Some(lines) => ul.sums {
                @for Line { kind, currency, count, amount } in lines {
                    li { (kind) ": " (count) ", " span.number { (amount) " " (currency) } }
                }
            }
        }
    }
}

fn close_table(closes: &[Close], zone: &str, all: bool) -> Markup {
    let time_head = time_in(zone);
    let names = ["Terminal", "Shop", &time_head, "Close", "Business day", "Sums", "Hash of its content"];
    wide(
        "Closes of day",
        &html! {
            table {
                caption { "Closes of day, the last one first" }
                (heads(if all { &names } else { &names[2..] }))
                tbody {
                    @for close in closes {
                        tr {
                            @if all { td { (link(&close.terminal)) } td { (close.shop) } }
                            td { (time(close.at)) }
                            td.number { (close.number) }
                            td.time { (close.day) }
                            td { (lines(close.lines.as_deref())) }
                            td { (close.sha256) }
                        }
                    }
                }
            }
        },
    )
}

/// The sums of a day of the whole fleet.
fn day_of_fleet(sums: &DayOfFleet, zone: &str) -> Markup {
    let DayOfFleet { day, closes, with_sums, lines } = sums;
    let missing = closes - with_sums;
    html! {
        h2 { "Sums of " (day) }
        p {
            (closes) @if *closes == 1 { " close" } @else { " closes" } " on this day (" (zone) ")."
            @if missing > 0 { " " span.bad { (missing) " without sums: the table does not contain them." } }
        }
        @if !lines.is_empty() {
            (wide("Sums of the day", &html! {
                table {
                    caption { "All closes of the day, by kind and currency. Net is what was taken minus what was given" }
                    (heads(&["Kind", "Currency", "Count", "Amount"]))
                    tbody {
                        @for Line { kind, currency, count, amount } in lines {
                            tr {
                                th scope="row" { (kind) }
                                td { (currency) }
                                td.number { (count) }
                                td.number { (amount) }
                            }
                        }
                    }
                }
            }))
        }
    }
}

/// The closes of day of all terminals, with the sums of a day.
pub(super) fn closes(day: Option<Date>, page: u32, found: &Found<Close>, sums: &DayOfFleet, zone: &str) -> Markup {
    let of_day = day.map(|day| format!("&day={day}")).unwrap_or_default();
    let content = html! {
        form method="get" action="/closes" aria-label="Closes of a day" {
            div {
                label for="day" { "Day (" (zone) ")" }
                input id="day" name="day" type="date" value=[day];
            }
            button type="submit" { "Show" }
            a href="/closes" { "Show all" }
            a href={ "/closes?format=csv" (of_day) } { "Table (CSV)" }
        }
        (day_of_fleet(sums, zone))
        h2 { @if let Some(day) = day { "Closes of " (day) } @else { "All closes" } }
        @if found.rows.is_empty() { p role="status" { "No close is stored." } }
        @else { (close_table(&found.rows, zone, true)) }
        (turn(page, found.more, |page| format!("/closes?page={page}{of_day}")))
    };
    whole("/closes", "Closes of day", &content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_the_largest_unit() {
        let now = OffsetDateTime::UNIX_EPOCH + Duration::days(10);
        for (seconds, told) in
            [(-5, "0 s ago"), (119, "119 s ago"), (120, "2 min ago"), (7_200, "2 h ago"), (172_800, "2 days ago")]
        {
            assert_eq!(ago(now - Duration::seconds(seconds), now), told);
        }
    }

    #[test]
    fn a_sentence_of_anybody_is_escaped() {
        assert!(plain("Refused", "<script>").into_string().contains("<p>&lt;script&gt;</p>"));
    }
}
