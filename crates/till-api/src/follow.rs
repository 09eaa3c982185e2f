//! One transaction, followed from its begin to its end, without a wire and without a clock: what to ask next, and what
//! an answer or a silence means for a till.
//!
//! ```text
//!  begin ──▶ Begin ──▶ how it stands ──▶ Watch ─▶ show ─┐
//!              ▲│                ▲       Signature ─▶ sign ─┤
//!    no answer ││                │       Word ─▶ confirm ───┤
//!              └┴─ PAUSE         └──────────────────────────┘
//!                                        Open, Over: it is followed no further
//! ```
//!
//! - The same question is asked again after no answer, a begin under the same reference: it never becomes a second
//!   transaction.
//! - A begin without an answer may have been carried out. From then on only a refusal that the agent gives after it has
//!   looked for the reference says that there is no transaction; any other one is as no answer.
//! - Nobody is told that nothing was begun while it may have been: [`Heard::Silent`] says which.
//!
//! The cases of `follow-cases.json` are played by the tests of this file and of the cashier's page.

use std::time::Duration;

use crate::asked::{Ask, Said};
use crate::begin::{Begin, Taken};
use crate::problem::ProblemType;
use crate::view::{Problem, Sale, State};

/// The same question is asked again so long after no answer.
pub const PAUSE: Duration = Duration::from_secs(1);
/// For so long it is asked again: the terminal may be restarted meanwhile.
pub const LONGEST_SILENCE: Duration = Duration::from_secs(30);

/// Since when there is no answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence {
    since: Option<Duration>,
}

impl Silence {
    /// There is no answer: when the same is asked again; `None` after [`LONGEST_SILENCE`].
    pub fn goes_on(&mut self, now: Duration) -> Option<Duration> {
        let since = *self.since.get_or_insert(now);
        (now < since + LONGEST_SILENCE).then_some(now + PAUSE)
    }

    /// There is an answer.
    pub fn ends(&mut self) {
        self.since = None;
    }
}

/// Whose turn it is in a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It goes on by itself.
    Watch,
    /// Somebody compares the signature.
    Signature,
    /// The till says how much it takes.
    Word,
    /// Nobody knows yet how it ends; the agent goes on by itself, for days if need be.
    Open,
    /// It has its outcome.
    Over,
}

impl State {
    /// Whose turn it is. A word of a later agent goes on by itself.
    #[must_use]
    pub fn turn(self) -> Turn {
        match self {
            Self::WaitingForCard | Self::InProgress | Self::Other => Turn::Watch,
            Self::AwaitingSignature => Turn::Signature,
            Self::AwaitingTill => Turn::Word,
            Self::Unconfirmed | Self::UnconfirmedFinishing => Turn::Open,
            Self::Ended => Turn::Over,
        }
    }
}

/// What a till hears about its transaction.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// It stands so.
    Stands(Box<Sale>),
    /// The reference, which was never asked for before, is another transaction's.
    WasThere(Box<Sale>),
    /// It was to be stopped, and stands so.
    Stopped {
        /// Nothing is charged.
        in_time: bool,
        /// As it stands.
        sale: Box<Sale>,
    },
    /// This is to be asked then.
    Next {
        /// When; in the past for at once.
        at: Duration,
        /// What.
        ask: Ask,
    },
    /// It was refused, and there is no transaction by it; or the till's word was.
    Refused(Problem),
    /// There was no answer for too long.
    Silent {
        /// The transaction may be there all the same.
        may_stand: bool,
    },
}

/// One transaction, as its till follows it.
#[derive(Clone, Debug)]
pub struct Follower {
    reference: String,
    /// The question that is open, or due.
    asked: Ask,
    /// It stands at the terminal, or may.
    may_stand: bool,
    silence: Silence,
    /// How long one look waits at the terminal, in seconds.
    wait_s: u8,
}

impl Follower {
    /// Begins a transaction: [`Self::ask`] is asked first.
    #[must_use]
    pub fn begin(begin: Begin, wait_s: u8) -> Self {
        let reference = begin.reference.clone();
        Self::asking(reference, Ask::Begin(Box::new(begin)), false, wait_s)
    }

    /// Follows one that stands at the terminal.
    #[must_use]
    pub fn of(reference: String, wait_s: u8) -> Self {
        let show = Ask::Show { reference: reference.clone(), wait_s };
        Self::asking(reference, show, true, wait_s)
    }

    fn asking(reference: String, asked: Ask, may_stand: bool, wait_s: u8) -> Self {
        Self { reference, asked, may_stand, silence: Silence::default(), wait_s }
    }

    /// The till's reference.
    #[must_use]
    pub fn reference(&self) -> &str {
        &self.reference
    }

    /// Whether it stands at the terminal, or may.
    #[must_use]
    pub fn may_stand(&self) -> bool {
        self.may_stand
    }

    /// The question that is open, or due.
    #[must_use]
    pub fn ask(&self) -> Ask {
        self.asked.clone()
    }

    /// Whether its begin is asked for: there may be no transaction yet.
    #[must_use]
    pub fn is_beginning(&self) -> bool {
        matches!(self.asked, Ask::Begin(_))
    }

    /// Whether it is looked at, and nothing else is asked.
    #[must_use]
    pub fn is_looking(&self) -> bool {
        matches!(self.asked, Ask::Show { .. })
    }

    /// Looks how it stands.
    pub fn watch(&mut self) -> Ask {
        self.next(Ask::Show { reference: self.reference.clone(), wait_s: self.wait_s })
    }

    /// Stops it, if there is still time.
    pub fn cancel(&mut self) -> Ask {
        self.next(Ask::Cancel(self.reference.clone()))
    }

    /// Judges the signature.
    pub fn sign(&mut self, accepted: bool) -> Ask {
        self.next(Ask::Sign { reference: self.reference.clone(), accepted })
    }

    /// Says how much the till takes.
    pub fn confirm(&mut self, taken: Taken) -> Ask {
        self.next(Ask::Confirm { reference: self.reference.clone(), taken })
    }

    fn next(&mut self, ask: Ask) -> Ask {
        self.asked = ask.clone();
        ask
    }

    /// The question is answered, or was not.
    pub fn said(&mut self, said: Said, now: Duration) -> Heard {
        match (&self.asked, said) {
            (_, Said::NoAnswer { may_be_done }) => {
                self.may_stand |= may_be_done;
                self.not_answered(now, Heard::Silent { may_stand: self.may_stand })
            }
            (Ask::Begin(_), Said::Sale(sale)) if sale.replayed && !self.may_stand => Heard::WasThere(sale),
            (_, Said::Sale(sale)) => {
                self.stands();
                Heard::Stands(sale)
            }
            (_, Said::Cancelled { in_time, sale }) => {
                self.stands();
                Heard::Stopped { in_time, sale }
            }
            (Ask::Begin(_), Said::Refused(problem)) if self.says_nothing(&problem) => {
                let last = if self.may_stand { Heard::Silent { may_stand: true } } else { Heard::Refused(problem) };
                self.not_answered(now, last)
            }
            // It was not heard, so the terminal would decide by itself.
            (Ask::Confirm { .. }, Said::Refused(problem)) if problem.known().is_some_and(ProblemType::is_passing) => {
                self.not_answered(now, Heard::Refused(problem))
            }
            (Ask::Begin(_) | Ask::Confirm { .. }, Said::Refused(problem)) => Heard::Refused(problem),
            // What cannot be stopped or judged any more is looked at.
            (Ask::Cancel(_), _) => Heard::Next { at: now, ask: self.watch() },
            (Ask::Sign { .. }, _) => Heard::Next { at: now + PAUSE, ask: self.watch() },
            // It cannot be read, and stands nevertheless.
            _ => self.not_answered(now, Heard::Silent { may_stand: self.may_stand }),
        }
    }

    fn stands(&mut self) {
        self.may_stand = true;
        self.silence.ends();
    }

    fn not_answered(&mut self, now: Duration, last: Heard) -> Heard {
        match self.silence.goes_on(now) {
            Some(at) => Heard::Next { at, ask: self.ask() },
            None => last,
        }
    }

    /// Whether a refusal of the begin leaves open what became of an earlier one.
    fn says_nothing(&self, problem: &Problem) -> bool {
        let known = problem.known();
        let is_fault = known.is_none() && problem.status >= 500;
        is_fault
            || known.is_some_and(ProblemType::is_passing)
            || self.may_stand && !known.is_some_and(ProblemType::follows_the_look_for_the_reference)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::begin::Kind;

    const CASES: &str = include_str!("follow-cases.json");
    const REFERENCE: &str = "z 1";

    fn begun() -> Follower {
        Follower::begin(Begin::new(REFERENCE, Kind::Sale, Some("12.34".to_owned())), 60)
    }

    fn sale(more: &Value) -> Value {
        let mut sale = json!({
            "till": "kasse-1", "reference": REFERENCE, "number": 7, "kind": "sale", "amount": "12.34",
            "currency": "EUR", "startedAt": "2026-11-22T12:00:00Z",
        });
        for (name, value) in more.as_object().unwrap() {
            sale[name] = value.clone();
        }
        sale
    }

    fn problem(code: &str, status: Option<u64>) -> (u16, Value) {
        let of_code = ProblemType::of_code(code).map_or(422, ProblemType::status);
        let status = status.map_or(of_code, |status| status.try_into().unwrap());
        (status, json!({ "status": status, "code": code, "detail": "" }))
    }

    fn refusal(code: &str) -> Said {
        Said::Refused(serde_json::from_value(problem(code, None).1).unwrap())
    }

    /// One line of a case: what it comes to.
    fn play(follower: &mut Follower, line: &Value, now: Duration) -> &'static str {
        match line["till"].as_str() {
            Some("stop") => drop(follower.cancel()),
            Some("sign") => drop(follower.sign(true)),
            Some("take") => drop(follower.confirm(Taken::All)),
            Some(other) => panic!("{other}"),
            None => {
                let heard = follower.said(said(follower, line), now);
                let what = comes_to(&heard);
                if what == "watch" {
                    drop(follower.watch());
                }
                return what;
            }
        }
        "again"
    }

    fn said(follower: &Follower, line: &Value) -> Said {
        if let Some(code) = line["refused"].as_str() {
            let (status, body) = problem(code, line["status"].as_u64());
            return Said::read(&follower.ask(), status, body.to_string().as_bytes());
        }
        let may_be_done = !line["lost"].is_null();
        if may_be_done || !line["unreached"].is_null() {
            return Said::NoAnswer { may_be_done };
        }
        let mut body = sale(&line["sale"]);
        if let Some(in_time) = line["stopped"].as_str() {
            body["cancel"] = in_time.into();
        }
        Said::read(&follower.ask(), 200, body.to_string().as_bytes())
    }

    fn comes_to(heard: &Heard) -> &'static str {
        match heard {
            Heard::Stands(sale) | Heard::Stopped { sale, .. } => match sale.state.turn() {
                Turn::Watch => "watch",
                Turn::Signature => "judge",
                Turn::Word => "say",
                Turn::Open => "open",
                Turn::Over => "over",
            },
            Heard::WasThere(_) => "another",
            Heard::Next { .. } => "again",
            Heard::Refused(_) => "refused",
            Heard::Silent { may_stand: true } => "unknown",
            Heard::Silent { may_stand: false } => "nothing",
        }
    }

    #[test]
    fn every_case_comes_to_what_it_says() {
        let cases: Value = serde_json::from_str(CASES).unwrap();
        let mut played = 0;
        for case in cases["cases"].as_array().unwrap() {
            let one = vec![json!("")];
            for each in case["each"].as_array().unwrap_or(&one) {
                let text = case["play"].to_string().replace("$each", each.as_str().unwrap());
                let (mut follower, mut now) = (begun(), Duration::ZERO);
                for line in serde_json::from_str::<Vec<Value>>(&text).unwrap() {
                    let what = play(&mut follower, &line, now);
                    assert_eq!(what, line["then"].as_str().unwrap(), "{}, {each}: {line}", case["name"]);
                    assert_eq!(follower.reference(), REFERENCE);
                    now += PAUSE;
                    played += 1;
                }
            }
        }
        assert!(played > 80, "{played} lines");
    }

    #[test]
    fn the_cases_name_the_problems_that_the_rules_do() {
        let cases: Value = serde_json::from_str(CASES).unwrap();
        let named = |rule: fn(ProblemType) -> bool| {
            let mut codes: Vec<_> = ProblemType::ALL.iter().filter(|one| rule(**one)).map(|one| one.code()).collect();
            codes.sort_unstable();
            codes
        };
        let listed = |name: &str| {
            let mut codes: Vec<_> = cases[name].as_array().unwrap().iter().map(|code| code.as_str().unwrap()).collect();
            codes.sort_unstable();
            codes
        };
        assert_eq!(listed("passing"), named(ProblemType::is_passing));
        assert_eq!(listed("afterTheLook"), named(ProblemType::follows_the_look_for_the_reference));
    }

    /// Asks again until the follower gives up; how often, and what it says then.
    fn until_it_gives_up(follower: &mut Follower, mut said: impl FnMut() -> Said) -> (u32, Heard) {
        let (mut now, mut asked) = (Duration::ZERO, 1);
        loop {
            match follower.said(said(), now) {
                Heard::Next { at, ask } => {
                    assert_eq!(ask, follower.ask());
                    assert!(matches!(ask, Ask::Begin(ref begin) if begin.reference == REFERENCE), "{ask:?}");
                    (now, asked) = (at, asked + 1);
                }
                heard => return (asked, heard),
            }
        }
    }

    #[test]
    fn a_silence_of_half_a_minute_ends_the_questions_and_says_what_may_be() {
        for may_stand in [true, false] {
            let (asked, heard) = until_it_gives_up(&mut begun(), || Said::NoAnswer { may_be_done: may_stand });
            assert_eq!((asked, heard), (31, Heard::Silent { may_stand }));
        }
        // One lost begin is enough, whatever is heard afterwards.
        let mut first = Some(Said::NoAnswer { may_be_done: true });
        let said = || first.take().unwrap_or_else(|| refusal("journal"));
        assert_eq!(until_it_gives_up(&mut begun(), said).1, Heard::Silent { may_stand: true });
        // And what is refused for its way alone says so in the end.
        let (_, heard) = until_it_gives_up(&mut begun(), || refusal("too-many-requests"));
        assert!(matches!(heard, Heard::Refused(problem) if problem.is(ProblemType::TooManyRequests)));
    }

    /// A page behind a line by radio cannot tell, so this is no case for all.
    #[test]
    fn a_begin_that_reached_nobody_leaves_nothing_open() {
        let mut follower = begun();
        drop(follower.said(Said::NoAnswer { may_be_done: false }, Duration::ZERO));
        assert!(matches!(follower.said(refusal("journal"), PAUSE), Heard::Refused(_)));
    }

    #[test]
    fn each_answer_starts_the_silence_anew() {
        let mut follower = begun();
        let lost = Said::NoAnswer { may_be_done: true };
        assert!(matches!(follower.said(lost.clone(), Duration::from_secs(1)), Heard::Next { .. }));
        let answer = sale(&json!({ "state": "in-progress", "replayed": true })).to_string();
        let answer = Said::read(&follower.ask(), 200, answer.as_bytes());
        assert!(matches!(follower.said(answer, Duration::from_secs(2)), Heard::Stands(_)));
        follower.watch();
        let at = Duration::from_secs(40);
        assert_eq!(follower.said(lost, at), Heard::Next { at: at + PAUSE, ask: follower.ask() });
    }

    #[test]
    fn what_stands_is_followed_without_a_begin() {
        let mut follower = Follower::of(REFERENCE.to_owned(), 2);
        assert_eq!(follower.ask(), Ask::Show { reference: REFERENCE.to_owned(), wait_s: 2 });
        assert!(follower.may_stand());
        let lost = follower.said(Said::NoAnswer { may_be_done: false }, Duration::ZERO);
        assert!(matches!(lost, Heard::Next { .. }));
        assert_eq!(
            follower.said(refusal("journal"), LONGEST_SILENCE),
            Heard::Silent { may_stand: true },
            "it cannot be read, and stands nevertheless"
        );
    }
}
