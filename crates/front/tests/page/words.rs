//! Tests of the page's texts, without a browser. Each language has the same texts, with one for each of the agent's
//! reasons.

use std::collections::BTreeSet;
use std::path::Path;

use pos_words::{Language, Words};
use serde_json::Value;

fn words(language: Language) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("page/words/{}.json", language.code()));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The agent's reasons are a closed list, so the page can show each of them in its own language.
#[test]
fn each_reason_of_the_agent_has_words_in_each_language() {
    for &language in Language::ALL {
        let words = words(language);
        let said = words["reason"].as_object().unwrap();
        let agents = Words::new(language);
        // A reason that an earlier version recorded brings its own sentence.
        let reasons = agents.reasons().map(|one| one.reason).filter(|reason| *reason != "recorded");
        let missing: Vec<_> = reasons.filter(|reason| !said.contains_key(*reason)).collect();
        assert!(missing.is_empty(), "{}: {missing:?}", language.code());
    }
}

#[test]
fn each_language_has_the_same_words() {
    fn names(at: &str, words: &Value, all: &mut BTreeSet<String>) {
        match words.as_object() {
            Some(group) => group.iter().for_each(|(name, words)| names(&format!("{at}.{name}"), words, all)),
            None => drop(all.insert(at.to_owned())),
        }
    }
    let of = |language| {
        let mut all = BTreeSet::new();
        names("", &words(language), &mut all);
        all
    };
    let first = of(Language::ALL[0]);
    for &language in Language::ALL {
        let other = of(language);
        let differ: Vec<_> = first.symmetric_difference(&other).collect();
        assert!(differ.is_empty(), "{}: {differ:?}", language.code());
    }
}
