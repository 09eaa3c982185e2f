//! The settings for the counter: tips and training.

use serde::Deserialize;

use pos_daemon::settings::{ConfigFault, FaultList};

/// The tips that are offered with a sale, by tills and at the reader.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Tips {
    /// The tips to choose from, in percent: one to four values from 1 to 100.
    pub presets: Vec<u8>,
    /// True if the customer may type another tip at the reader. With four presets, the reader has no room to offer
    /// this.
    pub custom: bool,
    /// The tip if the customer does not choose in time, in percent. 0 means no tip.
    pub default: u8,
    /// The time that a customer has to choose at the reader, in seconds.
    pub timeout_s: u64,
}

impl Default for Tips {
    fn default() -> Self {
        // Customers are used to these presets. A customer who does not choose gives no tip, but still pays.
        Self { presets: vec![5, 10, 15], custom: true, default: 0, timeout_s: 30 }
    }
}

/// The settings for training, whose transactions read no card and move no money.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Training {
    /// True if training is allowed. A caller that may begin a kind of transaction may then also train it.
    pub allowed: bool,
}

/// Checks the sections.
pub(super) fn check(found: &mut FaultList, tips: Option<&Tips>) {
    let Some(tips) = tips else { return };
    let fault = |key: &str, wrong: &str, remedy: &str| ConfigFault {
        line: None,
        key: format!("tips.{key}"),
        wrong: wrong.to_owned(),
        remedy: remedy.to_owned(),
    };
    let of =
        |fits: bool, key: &str, wrong: &str, remedy: &str| if fits { Ok(()) } else { Err(fault(key, wrong, remedy)) };
    let fits = (1..=4).contains(&tips.presets.len()) && tips.presets.iter().all(|percent| (1..=100).contains(percent));
    found.add(of(fits, "presets", "must be one to four numbers from 1 to 100", "write [5, 10, 15]"));
    found.add(of(tips.default <= 100, "default", "must be a number from 0 to 100", "write 0 for none"));
    let fits = (5..=300).contains(&tips.timeout_s);
    found.add(of(fits, "timeout-s", "must be 5 to 300", "omit the key to use 30"));
}
