//! Converts a sequence of moves into a scenario for the other test world (`tests/proof/cuts.rs`). That world runs the
//! whole agent with its till, journal, reader and gateway, and cuts the power at every point. The scenario lists the
//! moves that the other world cannot express.

use std::fmt;

use pos_terms::card::EntryMode;
use pos_terms::transaction::{Kind, OnSilence};

use crate::bank::{Makes, Request};
use crate::disk::CutAt;
use crate::moves::{Move, Spoilt, What};
use crate::world::World;

/// A scenario, and the moves that it omits.
#[derive(Debug, Default)]
pub(crate) struct PlayableScenario {
    name: String,
    behaviour: Option<&'static str>,
    /// The gateway's faults for the following requests, in their order; `None` without a fault.
    troubles: Vec<Option<&'static str>>,
    cuts: usize,
    left_out: Vec<String>,
}

impl PlayableScenario {
    /// Returns the scenario for a sequence of moves that begins in this world.
    pub(crate) fn of(root: &World, story: &[Move]) -> Self {
        let mut scenario = Self { name: name_of(root, story), ..Self::default() };
        let mut world = root.clone();
        for one in story {
            scenario.hears(&world, *one, story);
            world = world.make(*one);
        }
        while scenario.troubles.last() == Some(&None) {
            scenario.troubles.pop();
        }
        if scenario.troubles.contains(&None) {
            scenario.left_out.push("a good answer between two bad ones".to_owned());
        }
        scenario
    }

    fn hears(&mut self, world: &World, one: Move, story: &[Move]) {
        let what = one.what;
        self.cuts += usize::from(what == What::PowerFails || what.cut() != CutAt::Not);
        let at = |at: u8| world.wire.get(usize::from(at)).map(|on_wire| &on_wire.request);
        let said = match what {
            What::Answered { at: place, makes, .. } => at(place).map(|request| (request, well(request, makes, story))),
            What::Spoilt { at: place, makes, how, .. } => {
                at(place).map(|request| (request, spoilt(request, makes, how)))
            }
            What::Signed { .. }
            | What::Cancels(_)
            | What::ReadsRefusal(_)
            | What::OtherBegins(_)
            | What::PutsCopyBack { .. }
            | What::Settles { .. }
            | What::TypesTip { .. } => return self.left_out.push(what.to_string()),
            What::Arrives { .. } => return self.left_out.push(format!("when {what}")),
            _ => return,
        };
        match said {
            Some((Request::Pay { .. }, Said::As(word))) if self.behaviour.is_none() => self.behaviour = Some(word),
            Some((Request::Query { .. } | Request::Reverse { .. }, Said::As(word))) => self.troubles.push(Some(word)),
            Some((Request::Query { .. } | Request::Reverse { .. }, Said::Well)) => self.troubles.push(None),
            Some((_, Said::NoWord)) => self.left_out.push(what.to_string()),
            _ => {}
        }
    }
}

/// The other world's name for an answer.
enum Said {
    Well,
    As(&'static str),
    NoWord,
}

fn well(request: &Request, makes: Makes, story: &[Move]) -> Said {
    let is_declined = story.iter().any(|one| one.what == What::Decides { approves: false });
    match (request, makes) {
        (Request::Pay { .. }, Makes::Approves) => Said::As("Approves"),
        (Request::Pay { .. }, Makes::ApprovesPart) => Said::As("ApprovesPart"),
        (Request::Pay { .. }, Makes::ApprovesMore) => Said::As("ApprovesMore"),
        (Request::Pay { .. }, Makes::Declines) => Said::As("Declines"),
        (Request::Pay { .. }, Makes::Ponders) if is_declined => Said::As("PendingThenDeclined"),
        (Request::Pay { .. }, Makes::Ponders) => Said::As("PendingThenApproved"),
        _ => Said::Well,
    }
}

fn spoilt(request: &Request, makes: Makes, how: Spoilt) -> Said {
    match (request, how) {
        (Request::Pay { .. }, how) => match (how, makes) {
            (Spoilt::RequestLost, _) => Said::As("SilentBefore"),
            (Spoilt::Throttled, _) => Said::As("Throttles"),
            (Spoilt::AnswerLost, Makes::ApprovesPart) => Said::As("ApprovesPartSilently"),
            (Spoilt::AnswerLost, Makes::Approves) => Said::As("SilentAfter"),
            (Spoilt::Late, _) => Said::As("BooksLate"),
            (Spoilt::Unasked, Makes::ApprovesMore) => Said::As("ApprovesMore"),
            (Spoilt::Unasked, _) => Said::As("ApprovesPart"),
            (Spoilt::SaysLess, _) => Said::As("AnswersAPart"),
            (Spoilt::SaysStrangeAmount, _) => Said::As("ApprovesInAnotherCurrency"),
            (Spoilt::ContradictsChip, Makes::Approves) => Said::As("ContradictsItself"),
            (Spoilt::AnotherId, _) => Said::As("ApprovesAnOldId"),
            (Spoilt::InDoubt, Makes::Approves) => Said::As("BooksAndDeclines"),
            (Spoilt::InDoubt | Spoilt::InDoubtUnlisted, _) => Said::As("DeclinesOddly"),
            (Spoilt::CannotBeMade, _) => Said::As("FindsItInvalid"),
            _ => Said::NoWord,
        },
        (Request::Query { .. }, Spoilt::RequestLost) => Said::As("Silent"),
        (Request::Reverse { .. }, Spoilt::RequestLost | Spoilt::Late) => Said::As("Silent"),
        (Request::Reverse { .. }, Spoilt::AnswerLost) => Said::As("SilentAfter"),
        (Request::Reverse { .. }, Spoilt::SaysLess) => Said::As("ReversesPart"),
        _ => Said::NoWord,
    }
}

/// Returns the other world's name for this transaction.
fn name_of(root: &World, story: &[Move]) -> String {
    let order = &root.life.order;
    let has = |what: fn(&What) -> bool| story.iter().any(|one| what(&one.what));
    let is_chip = root.life.entry == EntryMode::Icc;
    if let Some(on_silence) = order.till_confirms {
        let (keeps, reverses) = ("confirmed, silence keeps", "confirmed, silence reverses");
        return match on_silence {
            _ if has(|what| matches!(what, What::TakesPart { .. })) => "confirmed, a part",
            _ if has(|what| matches!(what, What::TillTakes { taken: true, .. })) => "confirmed, all",
            _ if has(|what| matches!(what, What::TillTakes { taken: false, .. })) => "confirmed, nothing",
            OnSilence::Keep => keeps,
            OnSilence::Reverse => reverses,
        }
        .to_owned();
    }
    let name = match order.kind() {
        Kind::Sale if has(|what| matches!(what, What::CardSays { confirms: false, .. })) => "sale, chip that refuses",
        Kind::Sale if is_chip => "sale, chip",
        Kind::Sale => "sale, tap",
        Kind::ByRegistration => "by registration",
        Kind::StoreCard => "card to store, swipe",
        Kind::ForgetCard => "card to forget",
        kind => kind.as_str(),
    };
    if order.accept_partial { format!("{name}, parts taken") } else { name.to_owned() }
}

impl fmt::Display for PlayableScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, behaviour, troubles, cuts, left_out } = self;
        let troubles: Vec<&str> = troubles.iter().map(|one| one.unwrap_or("Silent")).collect();
        let (every, test) = match cuts {
            0 | 1 => ("POS_AGENT_CUTS=1", "whatever_is_cut"),
            _ => ("POS_AGENT_PAIRS=1", "a_second_cut"),
        };
        let behaviour = behaviour.unwrap_or("Approves");
        let scenario = format!("{name} / {behaviour} / [{}]", troubles.join(", "));
        writeln!(f, "  the whole agent plays it, cut at every point: POS_AGENT_SCENARIO='{scenario}' {every} \\")?;
        write!(f, "    cargo test --profile proof --test cuts -- --nocapture {test}")?;
        if left_out.is_empty() { Ok(()) } else { write!(f, "\n  without: {}", left_out.join("; ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    fn what(what: What) -> Move {
        Move { of_other: false, what }
    }

    #[test]
    fn a_story_becomes_a_scenario_that_the_agent_plays() {
        let cut = CutAt::Not;
        let shape = shapes::ALL.iter().find(|shape| shape.name == "chip").expect("the shape");
        let root = shape.world(2);
        let lost = What::Spoilt { at: 0, makes: Makes::Approves, how: Spoilt::AnswerLost, cut };
        let look = What::Spoilt { at: 0, makes: Makes::Approves, how: Spoilt::RequestLost, cut };
        let story = [What::Begins(cut), What::ReadsCard(cut), lost, look].map(what);
        let told = PlayableScenario::of(&root, &story).to_string();
        assert!(told.contains("POS_AGENT_SCENARIO='sale, chip / SilentAfter / [Silent]'"), "{told}");
        assert!(!told.contains("without"), "{told}");
    }
}
