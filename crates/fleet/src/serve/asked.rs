//! What a request's query asks for. Each value has bounds, and a wrong one is named in the answer.

use std::collections::BTreeMap;
use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use time::Date;
use time::format_description::well_known::Iso8601;

/// The greatest length of a value, in characters.
const LONGEST: usize = 200;
/// The greatest number of words in a search.
const MOST_WORDS: usize = 8;
/// The last page. Farther ones would only cost the database time.
const LAST_PAGE: u32 = 1_000;
/// The greatest age in hours: ten years.
const MOST_HOURS: u32 = 87_600;

/// The fields of a query. Of two fields with one name, the last counts.
pub(super) struct Asked(pub(super) Fields);

/// The fields of a query by name.
pub(super) struct Fields(BTreeMap<String, String>);

impl<S: Sync> FromRequestParts<S> for Asked {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(Fields::of(parts.uri.query().unwrap_or_default())))
    }
}

/// The terminals that a page shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    /// Words that all occur in the terminal's names.
    pub(super) text: String,
    /// The state.
    pub(super) state: Option<Standing>,
    /// The code of a fault.
    pub(super) fault: String,
    /// The agent's version.
    pub(super) version: String,
    /// The reader's model.
    pub(super) model: String,
    /// The least number of hours since the terminal was seen.
    pub(super) hours: Option<u32>,
}

/// A state to filter by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Connected, and heard of lately.
    Online,
    /// Not connected, or not heard of for long.
    Offline,
    /// It cannot take a payment by card.
    NotReady,
    /// At least one fault.
    Faults,
    /// Not heard of for long.
    Silent,
}

impl Standing {
    pub(super) const ALL: [Self; 5] = [Self::Online, Self::Offline, Self::NotReady, Self::Faults, Self::Silent];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Offline => "offline",
            Self::NotReady => "not-ready",
            Self::Faults => "faults",
            Self::Silent => "silent",
        }
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Offline => "offline",
            Self::NotReady => "not ready",
            Self::Faults => "with faults",
            Self::Silent => "silent",
        }
    }
}

/// The reason why a query is not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotAsked {
    #[error("A value is longer than {LONGEST} characters.")]
    Long,
    #[error("A search has at most {MOST_WORDS} words.")]
    Words,
    #[error("The state is one of: online, offline, not-ready, faults, silent.")]
    State,
    #[error("The hours are a number from 1 to {MOST_HOURS}.")]
    Hours,
    #[error("The page is a number from 1 to {LAST_PAGE}.")]
    Page,
    #[error("The day is a date like 2026-11-20.")]
    Day,
    #[error("The format is csv, or absent.")]
    Format,
    #[error("These are too many closes for one table. Choose a day.")]
    TooMany,
}

impl Filter {
    /// The words of the search, in lower case.
    pub(super) fn words(&self) -> Vec<String> {
        self.text.split_whitespace().map(str::to_lowercase).collect()
    }

    /// The query of a link to another page of the same list.
    pub(super) fn link(&self, page: u32) -> String {
        let mut link = form_urlencoded::Serializer::new(String::from("/?"));
        let hours = self.hours.map(|hours| hours.to_string()).unwrap_or_default();
        let state = self.state.map(Standing::word).unwrap_or_default();
        for (name, value) in [
            ("text", self.text.as_str()),
            ("state", state),
            ("fault", &self.fault),
            ("version", &self.version),
            ("model", &self.model),
            ("hours", &hours),
        ] {
            if !value.is_empty() {
                link.append_pair(name, value);
            }
        }
        link.append_pair("page", &page.to_string());
        link.finish()
    }
}

impl Fields {
    fn of(query: &str) -> Self {
        // PostgreSQL's texts contain no NUL.
        let clean = |text: &str| text.replace('\0', "\u{fffd}");
        let fields = form_urlencoded::parse(query.as_bytes());
        Self(fields.map(|(name, value)| (name.into_owned(), clean(value.trim()))).collect())
    }

    /// Returns a value, empty if it is absent: a form sends its empty fields too.
    fn value(&self, name: &str) -> Result<String, NotAsked> {
        let value = self.0.get(name).cloned().unwrap_or_default();
        if value.chars().count() > LONGEST { Err(NotAsked::Long) } else { Ok(value) }
    }

    fn number(&self, name: &str, most: u32, not: NotAsked) -> Result<Option<u32>, NotAsked> {
        match self.value(name)?.as_str() {
            "" => Ok(None),
            text => text.parse().ok().filter(|number| (1..=most).contains(number)).map(Some).ok_or(not),
        }
    }

    /// The number of the page.
    pub(super) fn page(&self) -> Result<u32, NotAsked> {
        Ok(self.number("page", LAST_PAGE, NotAsked::Page)?.unwrap_or(1))
    }

    /// The terminals, and the number of the page.
    pub(super) fn terminals(&self) -> Result<(Filter, u32), NotAsked> {
        let word = self.value("state")?;
        let state = Standing::ALL.into_iter().find(|state| state.word() == word);
        if state.is_none() && !word.is_empty() {
            return Err(NotAsked::State);
        }
        let filter = Filter {
            text: self.value("text")?,
            state,
            fault: self.value("fault")?,
            version: self.value("version")?,
            model: self.value("model")?,
            hours: self.number("hours", MOST_HOURS, NotAsked::Hours)?,
        };
        if filter.words().len() > MOST_WORDS {
            return Err(NotAsked::Words);
        }
        Ok((filter, self.page()?))
    }

    /// The day, if one is asked for.
    pub(super) fn day(&self) -> Result<Option<Date>, NotAsked> {
        match self.value("day")?.as_str() {
            "" => Ok(None),
            text => Date::parse(text, &Iso8601::DATE)
                .ok()
                // The next day must exist, and the database must know it. The parser also accepts other forms.
                .filter(|day| (1970..=9998).contains(&day.year()) && day.to_string() == text)
                .map(Some)
                .ok_or(NotAsked::Day),
        }
    }

    /// True if a table for another program is asked for.
    pub(super) fn is_table(&self) -> Result<bool, NotAsked> {
        match self.value("format")?.as_str() {
            "" => Ok(false),
            "csv" => Ok(true),
            _ => Err(NotAsked::Format),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_form_asks_for_all() {
        let fields = Fields::of("text=&state=&fault=&version=&model=&hours=");
        assert_eq!(fields.terminals(), Ok((Filter::default(), 1)));
        assert_eq!((fields.day(), fields.is_table()), (Ok(None), Ok(false)));
    }

    #[test]
    fn a_link_to_the_next_page_asks_for_the_same() {
        let query = "text=Corner+%26+Shop&state=not-ready&fault=reader-absent&version=1.0&model=M010&hours=24&page=3";
        let (filter, page) = Fields::of(query).terminals().unwrap();
        assert_eq!((filter.state, filter.hours, page), (Some(Standing::NotReady), Some(24), 3));
        assert_eq!(filter.words(), ["corner", "&", "shop"]);
        assert_eq!(Fields::of(filter.link(4).strip_prefix("/?").unwrap()).terminals(), Ok((filter, 4)));
    }

    #[test]
    fn wrong_values_are_refused_by_name() {
        let terminals = |query: &str| Fields::of(query).terminals().unwrap_err();
        assert_eq!(terminals("state=on"), NotAsked::State);
        assert_eq!(terminals("text=a+b+c+d+e+f+g+h+i"), NotAsked::Words);
        assert_eq!(terminals(&format!("fault={}", "x".repeat(201))), NotAsked::Long);
        for hours in ["0", "-1", "x", "87601", "1.5"] {
            assert_eq!(terminals(&format!("hours={hours}")), NotAsked::Hours, "{hours}");
        }
        for page in ["0", "1001", "99999999999"] {
            assert_eq!(terminals(&format!("page={page}")), NotAsked::Page, "{page}");
        }
        for day in ["2026-02-30", "20", "9999-12-31", "-0001-01-01", "2026-11-20T10:00:00Z"] {
            assert_eq!(Fields::of(&format!("day={day}")).day(), Err(NotAsked::Day), "{day}");
        }
        assert_eq!(Fields::of("format=xml").is_table(), Err(NotAsked::Format));
        assert_eq!(Fields::of("text=a%00b").terminals().unwrap().0.text, "a\u{fffd}b");
    }
}
