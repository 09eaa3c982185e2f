//! Topics: `pos/1/ORG/TERMINAL/CHANNEL`. The depth is fixed, so one pattern of an access list covers one channel.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The first two levels. The number changes if a later protocol cannot be read by this one.
const ROOT: &str = "pos/1";

/// The name of an organisation or of a terminal: 1 to 64 of `a-z`, `0-9` and `-`. It contains no wildcard and no `/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Id(String);

impl Id {
    /// The greatest length in bytes.
    pub const LONGEST: usize = 64;

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Id {
    type Err = TopicError;

    fn from_str(text: &str) -> Result<Self, TopicError> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        match (1..=Self::LONGEST).contains(&text.len()) && text.bytes().all(is_plain) {
            true => Ok(Self(text.to_owned())),
            false => Err(TopicError::Id(shortened(text))),
        }
    }
}

impl TryFrom<String> for Id {
    type Error = TopicError;

    fn try_from(text: String) -> Result<Self, TopicError> {
        text.parse()
    }
}

impl From<Id> for String {
    fn from(id: Id) -> Self {
        id.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Up: the terminal's present state.
    State,
    /// Up: what seldom changes.
    Info,
    /// Up: entries of the journal.
    Log,
    /// Up: numbers.
    Metric,
    /// Down: the cursor.
    Ack,
}

impl Channel {
    /// All channels.
    pub const ALL: [Self; 5] = [Self::State, Self::Info, Self::Log, Self::Metric, Self::Ack];

    /// Returns the last level of the topic.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Info => "info",
            Self::Log => "log",
            Self::Metric => "metric",
            Self::Ack => "ack",
        }
    }

    /// Returns whether the terminal sends on this channel. On the others it receives.
    #[must_use]
    pub fn is_up(self) -> bool {
        self != Self::Ack
    }

    /// Returns whether the broker keeps the last message for those who come later.
    #[must_use]
    pub fn is_retained(self) -> bool {
        matches!(self, Self::State | Self::Info | Self::Ack)
    }
}

/// The address of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Topic {
    /// The organisation.
    pub org: Id,
    /// The terminal.
    pub terminal: Id,
    /// What the message is about.
    pub channel: Channel,
}

impl Topic {
    /// Returns the pattern that covers this channel of all terminals of an organisation.
    #[must_use]
    pub fn of_all(org: &Id, channel: Channel) -> String {
        format!("{ROOT}/{org}/+/{}", channel.word())
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ROOT}/{}/{}/{}", self.org, self.terminal, self.channel.word())
    }
}

impl FromStr for Topic {
    type Err = TopicError;

    fn from_str(text: &str) -> Result<Self, TopicError> {
        let levels = text.strip_prefix(ROOT).and_then(|rest| rest.strip_prefix('/'));
        let mut levels = levels.ok_or_else(|| TopicError::Shape(shortened(text)))?.split('/');
        let (Some(org), Some(terminal), Some(word), None) =
            (levels.next(), levels.next(), levels.next(), levels.next())
        else {
            return Err(TopicError::Shape(shortened(text)));
        };
        let channel = Channel::ALL.into_iter().find(|channel| channel.word() == word);
        let channel = channel.ok_or_else(|| TopicError::Channel(shortened(word)))?;
        Ok(Self { org: org.parse()?, terminal: terminal.parse()?, channel })
    }
}

/// The reason why a text is no topic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopicError {
    /// It has other levels.
    #[error("the topic {0:?} is not {ROOT}/ORGANISATION/TERMINAL/CHANNEL")]
    Shape(String),
    /// A name has other characters, or too many.
    #[error("{0:?} is not 1 to 64 of a-z, 0-9 and -")]
    Id(String),
    /// The channel is not known.
    #[error("the channel {0:?} is not known")]
    Channel(String),
}

/// Shortens a foreign text, so an error stays readable.
fn shortened(text: &str) -> String {
    text.chars().take(Id::LONGEST + 32).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_channel_has_its_topic_and_each_topic_is_read_again() {
        for channel in Channel::ALL {
            let topic = Topic { org: "shop-1".parse().unwrap(), terminal: "t-0042".parse().unwrap(), channel };
            assert_eq!(topic.to_string().parse(), Ok(topic));
        }
        let topic: Topic = "pos/1/shop-1/t-0042/log".parse().unwrap();
        assert_eq!(Topic::of_all(&topic.org, topic.channel), "pos/1/shop-1/+/log");
    }

    #[test]
    fn another_text_is_refused_by_name() {
        let refused = |text: &str| text.parse::<Topic>().unwrap_err().to_string();
        for text in
            ["", "pos/1", "pos/1/a/b", "pos/1/a/b/log/more", "pos/2/a/b/log", "/pos/1/a/b/log", "pos/1a/b/c/log"]
        {
            assert!(refused(text).contains("is not pos/1/ORGANISATION/TERMINAL/CHANNEL"), "{text}");
        }
        assert_eq!(refused("pos/1/a/b/cmd"), "the channel \"cmd\" is not known");
        for name in ["", "+", "#", "A", "a b", "ä", &"x".repeat(65)] {
            assert!(refused(&format!("pos/1/{name}/b/log")).contains("is not 1 to 64"), "{name}");
            assert!(refused(&format!("pos/1/a/{name}/log")).contains("is not 1 to 64"), "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,200}") {
            if let Ok(topic) = text.parse::<Topic>() {
                prop_assert_eq!(topic.to_string(), text);
            }
        }
    }
}
