//! One transaction, from its begin to its outcome, without a connection and without a clock. This module decides the
//! next question, and what an answer or a missing answer means for the till.
//!
//! ```text
//!  begin ──▶ Begin ──▶ the state ──────▶ Watch ─────▶ show ─┐
//!              ▲│                ▲       Signature ─▶ sign ─┤
//!    no answer ││                │       Word ─▶ confirm ───┤
//!              └┴─ PAUSE         └──────────────────────────┘
//!                                        Open, Over: it is not followed further
//! ```
//!
//! - If no answer comes, the same question is asked again. A repeated begin request has the same reference, so it never
//!   becomes a second transaction.
//! - A begin request without an answer may have been carried out. From then on, only a refusal that follows a search of
//!   the journal for the reference proves that there is no transaction. Any other refusal counts as no answer.
//! - The till never gets the answer "nothing was begun" while a transaction may have begun. [`Heard::Silent`] says
//!   whether one may have begun.
//!
//! The tests of this file and of the cashier's page run the cases in `follow-cases.json`.

use std::time::Duration;

use crate::asked::{Ask, Said};
use crate::begin::{Begin, Taken};
use crate::problem::ProblemType;
use crate::view::{Problem, Sale, State};

/// The pause before the same question is repeated after no answer.
pub const PAUSE: Duration = Duration::from_secs(1);
/// The maximum time for which a question is repeated. The terminal may restart in this time.
pub const LONGEST_SILENCE: Duration = Duration::from_secs(30);

/// The time since answers have been missing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence {
    since: Option<Duration>,
}

impl Silence {
    /// Returns when to ask again after no answer, or `None` after [`LONGEST_SILENCE`].
    pub fn goes_on(&mut self, now: Duration) -> Option<Duration> {
        let since = *self.since.get_or_insert(now);
        (now < since + LONGEST_SILENCE).then_some(now + PAUSE)
    }

    /// Ends the silence after an answer.
    pub fn ends(&mut self) {
        self.since = None;
    }
}

/// The party that acts next in a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextActor {
    /// The agent. The transaction continues automatically.
    Agent,
    /// The cashier, who compares the signature.
    Cashier,
    /// The till, which confirms the part that it takes.
    Till,
    /// The agent, for days if necessary, because the outcome is not known yet.
    Recovery,
    /// No one, because the transaction has its outcome.
    None,
}

impl State {
    /// Returns the party that acts next. A state that only a later agent version knows counts as [`NextActor::Agent`].
    #[must_use]
    pub fn next_actor(self) -> NextActor {
        match self {
            Self::WaitingForCard | Self::InProgress | Self::Other => NextActor::Agent,
            Self::AwaitingSignature => NextActor::Cashier,
            Self::AwaitingTill => NextActor::Till,
            Self::Unconfirmed | Self::UnconfirmedFinishing => NextActor::Recovery,
            Self::Ended => NextActor::None,
        }
    }
}

/// The information that the till gets about its transaction.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// The present state.
    Stands(Box<Sale>),
    /// The reference belongs to another transaction, which existed before this follower began.
    WasThere(Box<Sale>),
    /// The transaction that was to be cancelled has this state.
    Stopped {
        /// `true` if nothing is charged.
        in_time: bool,
        /// The present state.
        sale: Box<Sale>,
    },
    /// The next question, and the time to ask it.
    Next {
        /// The time. A time in the past means immediately.
        at: Duration,
        /// The question.
        ask: Ask,
    },
    /// The begin was refused and there is no transaction, or the till's confirmation was refused.
    Refused(Problem),
    /// No answer came for too long.
    Silent {
        /// `true` if the transaction may exist anyway.
        may_stand: bool,
    },
}

/// A till's view of one transaction.
#[derive(Clone, Debug)]
pub struct Follower {
    reference: String,
    /// The question that is open or due.
    asked: Ask,
    /// `true` if the transaction exists at the terminal, or may exist.
    may_stand: bool,
    silence: Silence,
    /// The wait of each question about the state, in seconds.
    wait_s: u8,
}

impl Follower {
    /// Begins a transaction. [`Self::ask`] returns the first question.
    #[must_use]
    pub fn begin(begin: Begin, wait_s: u8) -> Self {
        let reference = begin.reference.clone();
        Self::asking(reference, Ask::Begin(Box::new(begin)), false, wait_s)
    }

    /// Follows a transaction that exists at the terminal.
    #[must_use]
    pub fn of(reference: String, wait_s: u8) -> Self {
        let show = Ask::Show { reference: reference.clone(), wait_s };
        Self::asking(reference, show, true, wait_s)
    }

    fn asking(reference: String, asked: Ask, may_stand: bool, wait_s: u8) -> Self {
        Self { reference, asked, may_stand, silence: Silence::default(), wait_s }
    }

    /// Returns the till's reference.
    #[must_use]
    pub fn reference(&self) -> &str {
        &self.reference
    }

    /// Returns whether the transaction exists at the terminal, or may exist.
    #[must_use]
    pub fn may_stand(&self) -> bool {
        self.may_stand
    }

    /// Returns the question that is open or due.
    #[must_use]
    pub fn ask(&self) -> Ask {
        self.asked.clone()
    }

    /// Returns whether the begin is still being requested, so there may be no transaction yet.
    #[must_use]
    pub fn is_beginning(&self) -> bool {
        matches!(self.asked, Ask::Begin(_))
    }

    /// Returns whether the current question is only about the state of the transaction.
    #[must_use]
    pub fn is_looking(&self) -> bool {
        matches!(self.asked, Ask::Show { .. })
    }

    /// Returns the question about the present state.
    pub fn watch(&mut self) -> Ask {
        self.next(Ask::Show { reference: self.reference.clone(), wait_s: self.wait_s })
    }

    /// Returns the request to cancel the transaction, if there is still time.
    pub fn cancel(&mut self) -> Ask {
        self.next(Ask::Cancel(self.reference.clone()))
    }

    /// Returns the request that accepts or rejects the signature.
    pub fn sign(&mut self, accepted: bool) -> Ask {
        self.next(Ask::Sign { reference: self.reference.clone(), accepted })
    }

    /// Returns the request that confirms the part that the till takes.
    pub fn confirm(&mut self, taken: Taken) -> Ask {
        self.next(Ask::Confirm { reference: self.reference.clone(), taken })
    }

    fn next(&mut self, ask: Ask) -> Ask {
        self.asked = ask.clone();
        ask
    }

    /// Handles the answer to the question, or the missing answer.
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
            // The confirmation did not arrive. Without it, the terminal would decide alone.
            (Ask::Confirm { .. }, Said::Refused(problem)) if problem.known().is_some_and(ProblemType::is_passing) => {
                self.not_answered(now, Heard::Refused(problem))
            }
            (Ask::Begin(_) | Ask::Confirm { .. }, Said::Refused(problem)) => Heard::Refused(problem),
            // The transaction can no longer be cancelled or signed, so the next question is its state.
            (Ask::Cancel(_), _) => Heard::Next { at: now, ask: self.watch() },
            (Ask::Sign { .. }, _) => Heard::Next { at: now + PAUSE, ask: self.watch() },
            // The transaction exists, although the answer is unreadable.
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

    /// Returns whether a refusal of the begin leaves open whether an earlier begin was carried out.
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

    /// Runs one line of a case and returns the word for its result.
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
            Heard::Stands(sale) | Heard::Stopped { sale, .. } => match sale.state.next_actor() {
                NextActor::Agent => "watch",
                NextActor::Cashier => "judge",
                NextActor::Till => "say",
                NextActor::Recovery => "open",
                NextActor::None => "over",
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

    /// Repeats the question until the follower gives up. Returns the number of questions and the last result.
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
        // One lost begin request is enough, regardless of the later answers.
        let mut first = Some(Said::NoAnswer { may_be_done: true });
        let said = || first.take().unwrap_or_else(|| refusal("journal"));
        assert_eq!(until_it_gives_up(&mut begun(), said).1, Heard::Silent { may_stand: true });
        // If all answers are refusals with a passing cause, the refusal is the final result.
        let (_, heard) = until_it_gives_up(&mut begun(), || refusal("too-many-requests"));
        assert!(matches!(heard, Heard::Refused(problem) if problem.is(ProblemType::TooManyRequests)));
    }

    /// A page on a radio link cannot distinguish this, so it is not one of the shared cases.
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
