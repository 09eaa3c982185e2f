//! Requests to the agent on behalf of tills that speak ZVT, Caisse-AP or nexo. The front sends them in the till's name
//! and returns the answers.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use form_urlencoded::Serializer;
use http_body_util::BodyExt;
use hyper::header::{ACCEPT, HeaderValue};
use hyper::{HeaderMap, Method};
use pos_till_api::deadlines::AnswerDeadline;
use pos_till_api::routes;
use pos_till_api::{Ask, Problem, ProblemType, Request, Said};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};

use crate::agent::{Agent, AgentError, NotNamed, Question, Room};
use crate::forward::own_problem;
use crate::task;

/// The pause before the front asks for a list again. The agent reads one list per user at a time, and the page may have
/// asked for one.
const LIST_AGAIN: Duration = Duration::from_millis(50);
const LIST_TRIES: u32 = 100;

/// Waits for the next deadline of a session. Without a deadline, this never returns.
pub(crate) async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Begins to ask the agent in the name of a till. The answer comes with its ticket.
pub(crate) fn begin_asking(
    asked: &mut JoinSet<(u64, Said)>,
    (agent, room, till): (&Arc<Agent>, Room, &str),
    (ticket, question): (u64, Ask),
) -> AbortHandle {
    let (agent, till) = (Arc::clone(agent), till.to_owned());
    task::spawn_in(asked, async move { (ticket, ask(&agent, room, &till, &question).await) })
}

/// Asks the agent in the name of this till. The request takes a slot of the till's protocol. Cancel requests have
/// separate slots.
pub(crate) async fn ask(agent: &Agent, room: Room, till: &str, asked: &Ask) -> Said {
    ask_as(agent, room, till, asked, None).await
}

/// Does the same as [`ask`], with the session of a supervisor at the terminal.
pub(crate) async fn ask_as(agent: &Agent, room: Room, till: &str, asked: &Ask, session: Option<&HeaderValue>) -> Said {
    let room = if matches!(asked, Ask::Cancel(_)) { Room::Cancels } else { room };
    for _ in 1..LIST_TRIES {
        match ask_once(agent, room, till, (asked, session)).await {
            Said::Refused(problem) if problem.is(ProblemType::ListUnderWay) => sleep(LIST_AGAIN).await,
            said => return said,
        }
    }
    ask_once(agent, room, till, (asked, session)).await
}

async fn ask_once(agent: &Agent, room: Room, till: &str, (asked, session): (&Ask, Option<&HeaderValue>)) -> Said {
    let request = asked.request();
    let patience = patience(&request);
    let own = request.names_till.then_some(("till", till));
    let pairs = request.query.iter().map(|(name, value)| (*name, value.as_str())).chain(own);
    let query = Serializer::new(String::new()).extend_pairs(pairs).finish();
    let target = if query.is_empty() { request.path } else { format!("{}?{query}", request.path) };
    let method = if request.method == "POST" { Method::POST } else { Method::GET };
    let may_be_done = method == Method::POST;
    let mut headers = HeaderMap::new();
    if let Ask::Receipt { .. } | Ask::OpenPeriod | Ask::LastClose = asked {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    }
    let body = request.body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
    let question = Question { method, target, headers, body, patience, room }.with_session(session);
    let answer = match agent.ask(question).await {
        Ok(answer) => answer,
        // Nothing was sent.
        Err(AgentError::Down(_) | AgentError::Full) => return Said::NoAnswer { may_be_done: false },
        Err(AgentError::NoAnswer) => return Said::NoAnswer { may_be_done },
    };
    let (head, body) = answer.into_parts();
    match body.collect().await {
        Ok(body) => {
            let body = match head.status.is_client_error() {
                true => own_problem(body.to_bytes(), till),
                false => body.to_bytes(),
            };
            unless_not_named(Said::read(asked, head.status.as_u16(), &body), till)
        }
        Err(_) => Said::NoAnswer { may_be_done },
    }
}

/// Returns the deadline of the request's route. The agent immediately refuses a request without a route.
fn patience(request: &Request) -> Duration {
    let route = routes::find(request.method, &request.path);
    route.map_or(AnswerDeadline::AtOnce, |route| route.deadline).caller()
}

/// Turns the status into a refusal if the agent's configuration does not name this till. The till then gets the refusal
/// for each request that reads the status: a registration, a login or a diagnosis.
fn unless_not_named(said: Said, till: &str) -> Said {
    match said {
        Said::Status(status) if !status.tills.is_empty() && !status.tills.iter().any(|one| one == till) => {
            let forbidden = ProblemType::Forbidden;
            let (status, code, detail) = (forbidden.status(), forbidden.code().to_owned(), NotNamed(till).to_string());
            Said::Refused(Problem { status, code, detail, ..Problem::default() })
        }
        said => said,
    }
}

#[cfg(test)]
mod tests {
    use pos_till_api::{Begin, Copy, Kind, PrintLine, Taken};

    use super::*;

    #[test]
    fn each_question_of_a_protocol_is_waited_for_as_its_route_says() {
        let reference = || "z 1".to_owned();
        for (asked, deadline) in [
            (Ask::Begin(Box::new(Begin::new("z 1", Kind::Sale, None))), AnswerDeadline::AtOnce),
            (Ask::Show { reference: reference(), wait_s: 60 }, AnswerDeadline::Named),
            (Ask::Latest, AnswerDeadline::AtOnce),
            (Ask::Number(17), AnswerDeadline::AtOnce),
            (Ask::Newest(3), AnswerDeadline::AtOnce),
            (Ask::Referenced { part: reference(), from: None, cursor: None }, AnswerDeadline::AtOnce),
            (Ask::Cancel(reference()), AnswerDeadline::AtOnce),
            (Ask::Sign { reference: reference(), accepted: true }, AnswerDeadline::AtOnce),
            (Ask::Confirm { reference: reference(), taken: Taken::All }, AnswerDeadline::AtOnce),
            (
                Ask::Receipt { reference: reference(), copy: Copy::Customer, width: None, duplicate: false },
                AnswerDeadline::AtOnce,
            ),
            (Ask::PrintAgain { reference: reference(), copy: Copy::Customer }, AnswerDeadline::AtOnce),
            (Ask::Print(Vec::<PrintLine>::new()), AnswerDeadline::Printing),
            (Ask::ShowText(String::new()), AnswerDeadline::AtOnce),
            (Ask::TypeAmount { currency: "EUR".to_owned() }, AnswerDeadline::Typing),
            (Ask::Status, AnswerDeadline::AtOnce),
            (Ask::LastClose, AnswerDeadline::Closing),
            (Ask::OpenPeriod, AnswerDeadline::Closing),
            (Ask::Close { reference: reference(), print: true }, AnswerDeadline::Closing),
        ] {
            let request = asked.request();
            assert!(routes::find(request.method, &request.path).is_some(), "{request:?}");
            assert_eq!(patience(&request), deadline.caller(), "{asked:?}");
        }
    }

    #[test]
    fn a_till_that_the_agent_does_not_name_hears_so_before_its_first_payment() {
        let asked = |tills: &str, till: &str| {
            let status = format!(
                r#"{{"version":"1","terminalId":"4711","ready":true,"busy":false,"reader":{{"state":"ready"}},
                "gateway":{{"state":"answers"}},"printers":[],"clock":{{"time":null}}{tills}}}"#
            );
            unless_not_named(Said::read(&Ask::Status, 200, status.as_bytes()), till)
        };
        let Said::Refused(problem) = asked(r#","tills":["local","kasse-2"]"#, "kasse-1") else { panic!("served") };
        assert_eq!(problem.code, "forbidden");
        assert!(problem.detail.contains("kasse-1") && problem.detail.contains("[[till.peer]]"), "{}", problem.detail);
        for tills in [r#","tills":["local","kasse-1"]"#, r#","tills":[]"#, ""] {
            assert!(matches!(asked(tills, "kasse-1"), Said::Status(_)), "{tills}");
        }
    }
}
