//! Topics: `pos/1/ORG/TERMINAL/CHANNEL`, and `pos/1/ORG/TERMINAL/CHANNEL/ID` for a command and its result. The depth of
//! a channel is fixed, so one pattern of an access list covers one channel.

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
    /// Down: a signed command. The last level of its topic is the command's id.
    Command,
    /// Up: the result of a command, signed by the terminal. The last level of its topic is the command's id.
    CommandResult,
    /// Down: the signed settings that the terminal shall use.
    Settings,
    /// Down: the signed set of command keys that the terminal shall use.
    Keys,
    /// Up: which settings and keys the terminal uses, signed by the terminal.
    Reported,
}

impl Channel {
    /// All channels.
    pub const ALL: [Self; 10] = [
        Self::State,
        Self::Info,
        Self::Log,
        Self::Metric,
        Self::Ack,
        Self::Command,
        Self::CommandResult,
        Self::Settings,
        Self::Keys,
        Self::Reported,
    ];

    /// Returns the level of the topic that names the channel.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Info => "info",
            Self::Log => "log",
            Self::Metric => "metric",
            Self::Ack => "ack",
            Self::Command => "cmd",
            Self::CommandResult => "cmd-result",
            Self::Settings => "config",
            Self::Keys => "keys",
            Self::Reported => "reported",
        }
    }

    /// Returns whether the topic has the id of a command as its last level.
    #[must_use]
    pub fn has_id(self) -> bool {
        matches!(self, Self::Command | Self::CommandResult)
    }

    /// Returns whether the terminal sends on this channel. On the others it receives.
    #[must_use]
    pub fn is_up(self) -> bool {
        !matches!(self, Self::Ack | Self::Command | Self::Settings | Self::Keys)
    }

    /// Returns whether the broker keeps the last message for those who come later.
    #[must_use]
    pub fn is_retained(self) -> bool {
        !matches!(self, Self::Log | Self::Metric | Self::Command | Self::CommandResult)
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
    /// The id of the command, if the channel has one.
    pub id: Option<Id>,
}

impl Topic {
    /// Creates the topic of a channel without an id.
    #[must_use]
    pub fn new(org: Id, terminal: Id, channel: Channel) -> Self {
        Self { org, terminal, channel, id: None }
    }

    /// Creates the topic of a command or of its result.
    #[must_use]
    pub fn of_command(org: Id, terminal: Id, channel: Channel, id: Id) -> Self {
        Self { org, terminal, channel, id: Some(id) }
    }

    /// Returns the pattern that covers this channel of all terminals of an organisation.
    #[must_use]
    pub fn of_all(org: &Id, channel: Channel) -> String {
        format!("{ROOT}/{org}/+/{}{}", channel.word(), any_id(channel))
    }

    /// Returns the pattern that covers this channel of one terminal.
    #[must_use]
    pub fn of_one(org: &Id, terminal: &Id, channel: Channel) -> String {
        format!("{ROOT}/{org}/{terminal}/{}{}", channel.word(), any_id(channel))
    }
}

fn any_id(channel: Channel) -> &'static str {
    if channel.has_id() { "/+" } else { "" }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ROOT}/{}/{}/{}", self.org, self.terminal, self.channel.word())?;
        self.id.as_ref().map_or(Ok(()), |id| write!(f, "/{id}"))
    }
}

impl FromStr for Topic {
    type Err = TopicError;

    fn from_str(text: &str) -> Result<Self, TopicError> {
        let levels = text.strip_prefix(ROOT).and_then(|rest| rest.strip_prefix('/'));
        let mut levels = levels.ok_or_else(|| TopicError::Shape(shortened(text)))?.split('/');
        let (Some(org), Some(terminal), Some(word), id, None) =
            (levels.next(), levels.next(), levels.next(), levels.next(), levels.next())
        else {
            return Err(TopicError::Shape(shortened(text)));
        };
        let channel = Channel::ALL.into_iter().find(|channel| channel.word() == word);
        let channel = channel.ok_or_else(|| TopicError::Channel(shortened(word)))?;
        if channel.has_id() != id.is_some() {
            return Err(TopicError::Shape(shortened(text)));
        }
        let id = id.map(str::parse).transpose()?;
        Ok(Self { org: org.parse()?, terminal: terminal.parse()?, channel, id })
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
            let id = channel.has_id().then(|| "0f3a".parse().unwrap());
            let topic = Topic { org: "shop-1".parse().unwrap(), terminal: "t-0042".parse().unwrap(), channel, id };
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
        assert_eq!(refused("pos/1/a/b/shell"), "the channel \"shell\" is not known");
        for text in ["pos/1/a/b/cmd", "pos/1/a/b/ack/1", "pos/1/a/b/cmd/1/2"] {
            assert!(refused(text).contains("is not pos/1/ORGANISATION/TERMINAL/CHANNEL"), "{text}");
        }
        for name in ["", "+", "#", "A", "a b", "ä", &"x".repeat(65)] {
            assert!(refused(&format!("pos/1/{name}/b/log")).contains("is not 1 to 64"), "{name}");
            assert!(refused(&format!("pos/1/a/{name}/log")).contains("is not 1 to 64"), "{name}");
            assert!(refused(&format!("pos/1/a/b/cmd/{name}")).contains("is not 1 to 64"), "{name}");
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
