//! Tests of codes, of tokens, and of the data that a paired till can see.

use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};

use crate::process::{Running, json, problem};
use crate::stand_in::front;

async fn post(client: &Client, url: String, body: Value) -> Response {
    client.post(url).header("content-type", "application/json").body(body.to_string()).send().await.unwrap()
}

/// Opens pairing and asks for a token as a till. Returns the path for the token, and the code.
async fn ask(front: &Running, client: &Client) -> (String, String) {
    assert!(front.verb(&["pair", "open"]).status.success());
    let asked = post(client, front.https_url("/front/pair"), json!({ "name": "kasse-2" })).await;
    assert_eq!(asked.status(), StatusCode::ACCEPTED);
    let said = json(asked).await;
    assert_eq!(said["goodForS"], 300);
    assert!(!said.to_string().contains(&shown_code(front)), "the code is for the terminal alone");
    (front.https_url(&format!("/front/pair/{}", said["request"].as_str().unwrap())), shown_code(front))
}

fn shown_code(front: &Running) -> String {
    let list = String::from_utf8(front.verb(&["pair", "list"]).stdout).unwrap();
    let line = list.lines().find(|line| line.contains("kasse-2 at 127.0.0.1")).unwrap_or_else(|| panic!("{list}"));
    line.split(' ').next().unwrap().to_owned()
}

pub(crate) async fn paired(front: &Running, client: &Client) -> String {
    let (url, code) = ask(front, client).await;
    assert!(front.verb(&["pair", "approve", &code]).status.success());
    let given = post(client, url, json!({ "code": code })).await;
    assert_eq!(given.status(), StatusCode::CREATED);
    json(given).await["token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_till_has_its_token_after_code_and_approval_and_over_a_restart() {
    let (mut front, agent) = front("").await;
    let client = front.client();
    let (url, code) = ask(&front, &client).await;
    let early = post(&client, url.clone(), json!({ "code": code })).await;
    assert_eq!(early.status(), StatusCode::ACCEPTED, "nobody has approved it");
    let unknown = front.verb(&["pair", "approve", &code, "--till", "local"]);
    assert_eq!(unknown.status.code(), Some(65));
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("kasse-2, kasse-9"));
    assert!(front.verb(&["pair", "approve", &code]).status.success());
    let given = json(post(&client, url.clone(), json!({ "code": code })).await).await;
    assert_eq!(given["till"], "kasse-2");
    let token = format!("Bearer {}", given["token"].as_str().unwrap());
    assert_eq!(problem(post(&client, url, json!({ "code": code })).await).await.0, 404, "once");
    front = front.kill().await.begin("").await;
    let client = front.client();
    let answer = client.get(front.https_url("/v1/latest")).header("authorization", &token).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(agent.heard().pop().unwrap().target, "/v1/latest?till=kasse-2");
    assert!(front.verb(&["pair", "revoke", "kasse-2"]).status.success());
    let answer = client.get(front.https_url("/v1/latest")).header("authorization", &token).send().await.unwrap();
    assert_eq!(problem(answer).await, (401, "unauthorized".to_owned()));
}

/// Pairing can be opened on the command line, and on the page by its users.
#[tokio::test]
async fn nobody_asks_for_a_token_before_somebody_at_the_terminal_has_opened_it() {
    let (front, agent) = front("[page]\nwithout-sign-in = \"nobody\"").await;
    agent.has_operators();
    let client = front.client();
    let ask = async || post(&client, front.https_url("/front/pair"), json!({ "name": "kasse-2" })).await;
    let open = async |cookie: &str| {
        let request = client.post(front.https_url("/front/pairing")).header("origin", front.https_url(""));
        let request = request.header("content-type", "application/json").header("cookie", cookie);
        request.send().await.unwrap()
    };
    assert_eq!(problem(ask().await).await, (403, "pairing-closed".to_owned()));
    for cookie in ["", "pos_session=made-up"] {
        assert_eq!(problem(open(cookie).await).await, (401, "sign-in".to_owned()));
        assert_eq!(problem(ask().await).await, (403, "pairing-closed".to_owned()));
    }
    let opened = open(&format!("pos_session={}", crate::stand_in::SESSION)).await;
    assert_eq!(json(opened).await, json!({ "openForS": 300 }));
    assert_eq!(ask().await.status(), StatusCode::ACCEPTED);
    // After a restart, pairing must be opened again.
    let front = front.kill().await.begin("").await;
    let client = front.client();
    let closed = post(&client, front.https_url("/front/pair"), json!({ "name": "kasse-2" })).await;
    assert_eq!(problem(closed).await, (403, "pairing-closed".to_owned()));
}

#[tokio::test]
async fn ten_wrong_codes_end_pairing_for_a_while() {
    let (front, _agent) = front("").await;
    let client = front.client();
    let mut answers = Vec::new();
    for _ in 0..2 {
        let (url, code) = ask(&front, &client).await;
        let wrong = if code == "000000" { "000001" } else { "000000" };
        for _ in 0..6 {
            answers.push(problem(post(&client, url.clone(), json!({ "code": wrong })).await).await.0);
        }
    }
    assert_eq!(answers, [403, 403, 403, 403, 403, 404, 403, 403, 403, 403, 403, 429]);
    let asked = post(&client, front.https_url("/front/pair"), json!({ "name": "kasse-2" })).await;
    assert!(asked.headers()["retry-after"].to_str().unwrap().parse::<u64>().unwrap() > 800);
    assert_eq!(problem(asked).await.0, 429);
    // A restart keeps the count of wrong codes.
    let front = front.kill().await.begin("").await;
    assert!(front.verb(&["pair", "open"]).status.success());
    let asked = post(&front.client(), front.https_url("/front/pair"), json!({ "name": "kasse-2" })).await;
    assert_eq!(problem(asked).await.0, 429);
}

#[tokio::test]
async fn a_paired_till_is_confined_to_its_own() {
    let (front, agent) = front("").await;
    let client = front.client();
    let token = format!("Bearer {}", paired(&front, &client).await);
    let get =
        async |path: &str| client.get(front.https_url(path)).header("authorization", &token).send().await.unwrap();
    assert_eq!(get("/v1/latest?till=kasse-2").await.status(), StatusCode::OK);
    for path in ["/v1/latest?till=local", "/v1/sales?till=", "/v1/closes", "/v1/closes/last"] {
        assert_eq!(problem(get(path).await).await, (403, "forbidden".to_owned()), "{path}");
    }
    let sale = async |body: Value| {
        let request = client.post(front.https_url("/v1/sales")).header("authorization", &token);
        request.header("content-type", "application/json").body(body.to_string()).send().await.unwrap()
    };
    assert_eq!(sale(json!({ "reference": "1" })).await.status(), StatusCode::CREATED);
    for of_another in [json!({ "of": "1", "till": "local" }), json!({ "number": 1 }), json!({ "payment": "x" })] {
        assert_eq!(problem(sale(of_another.clone()).await).await.0, 403, "{of_another}");
    }
    let status = json(get("/v1/status").await).await;
    assert_eq!((&status["current"], &status["unconfirmed"]), (&Value::Null, &json!([{ "till": "kasse-2" }])));
    // The till gets its own events and those of the terminal.
    let mut stream = get("/v1/events").await;
    stream.chunk().await.unwrap().unwrap();
    agent.event("local", "ended");
    agent.event("", "idle");
    agent.event("kasse-2", "approved");
    let mut heard = String::new();
    while !heard.contains("approved") {
        heard.push_str(std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap());
    }
    assert!(heard.contains("event: idle") && !heard.contains("ended"), "{heard}");
}

#[tokio::test]
async fn wrong_tokens_are_counted_and_a_page_of_a_listed_origin_needs_one() {
    let (front, _agent) = front("").await;
    let client = front.client();
    let token = paired(&front, &client).await;
    let listed = client.get(front.https_url("/v1/latest")).header("origin", "https://till.example");
    let refused = listed.try_clone().unwrap().send().await.unwrap();
    assert_eq!(refused.headers()["access-control-allow-origin"], "https://till.example");
    assert_eq!(problem(refused).await, (401, "unauthorized".to_owned()));
    let taken = listed.header("authorization", format!("Bearer {token}")).send().await.unwrap();
    assert_eq!(taken.status(), StatusCode::OK);
    let mut statuses = Vec::new();
    for _ in 0..21 {
        let wrong = client.get(front.https_url("/v1/latest")).header("authorization", "Bearer x").send().await.unwrap();
        statuses.push(problem(wrong).await.0);
    }
    assert_eq!((statuses[19], statuses[20]), (401, 429));
    // A right token works despite wrong tokens from the same address. It does not reset their count.
    let right = client.get(front.https_url("/v1/latest")).header("authorization", format!("Bearer {token}"));
    assert_eq!(right.send().await.unwrap().status(), StatusCode::OK);
    let wrong = client.get(front.https_url("/v1/latest")).header("authorization", "Bearer x").send().await.unwrap();
    assert_eq!(problem(wrong).await.0, 429);
}

#[tokio::test]
async fn the_page_hears_of_a_till_that_wants_to_be_paired() {
    let (front, _agent) = front("").await;
    let client = front.client();
    let mut stream = client.get(front.https_url("/front/events")).send().await.unwrap();
    let mut heard = String::new();
    let (_, code) = ask(&front, &client).await;
    while !heard.contains(&code) {
        heard.push_str(std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap());
    }
    assert!(heard.contains("event: pairing\n"), "{heard}");
}

#[tokio::test]
async fn a_till_that_is_paired_again_has_the_new_token_alone() {
    let (front, _agent) = front("").await;
    let client = front.client();
    let (old, new) = (paired(&front, &client).await, paired(&front, &client).await);
    let latest = async |token: &str| {
        let request = client.get(front.https_url("/v1/latest")).header("authorization", format!("Bearer {token}"));
        request.send().await.unwrap().status()
    };
    assert_eq!((latest(&old).await, latest(&new).await), (StatusCode::UNAUTHORIZED, StatusCode::OK));
    let list = String::from_utf8(front.verb(&["pair", "list"]).stdout).unwrap();
    assert_eq!(list.lines().filter(|line| line.starts_with("paired  kasse-2")).count(), 1, "{list}");
}

/// The routes that a paired till may not use, because they are about all tills. It may use every other row of the
/// manual's table.
const NOT_FOR_TILLS: [&str; 6] = [
    "GET /v1/closes",
    "POST /v1/closes",
    "GET /v1/closes/{close}",
    "POST /v1/closes/{close}/print",
    "GET /v1/operators",
    "POST /v1/approvals",
];

/// Checks each row of the manual's table of routes for four callers. They are a paired till, a listed page with the
/// till's token, a listed page without a token, and the front's own page. A new row must be for all tills or in
/// [`NOT_FOR_TILLS`].
#[tokio::test]
async fn who_reaches_what_row_by_row_of_the_table_of_forwarded_routes() {
    let (front, agent) = front("").await;
    let client = front.client();
    let token = format!("Bearer {}", paired(&front, &client).await);
    let manual = include_str!("../../../../docs/src/front.md");
    let rows: Vec<&str> =
        manual.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|it| it.0).collect();
    let rows: Vec<&str> = rows.into_iter().filter(|row| row.contains(" /v1/")).collect();
    assert!(rows.len() > 20 && NOT_FOR_TILLS.iter().all(|row| rows.contains(row)), "{rows:?}");
    for row in rows {
        let (method, path) = row.split_once(' ').unwrap();
        let path = path.replace("{reference}", "R-1").replace("{close}", "7");
        let own = front.https_url("");
        for (who, origin, token) in [
            ("a paired till", None, Some(&token)),
            ("a listed page with a token", Some("https://till.example"), Some(&token)),
            ("a listed page without one", Some("https://till.example"), None),
            ("the page", Some(own.as_str()), None),
        ] {
            let before = agent.asked();
            let mut request = client.request(method.parse().unwrap(), front.https_url(&path));
            request = request.header("content-type", "application/json").body("{}");
            if let Some(origin) = origin {
                request = request.header("origin", origin);
            }
            if let Some(token) = token {
                request = request.header("authorization", token);
            }
            // The stand-in accepts some requests and never answers them.
            let reached = async {
                while agent.asked() == before {
                    tokio::task::yield_now().await;
                }
            };
            let refused = tokio::select! {
                () = reached => None,
                answer = request.send() => Some(answer.unwrap().status().as_u16()).filter(|_| agent.asked() == before),
            };
            let wanted = match (who, token) {
                ("a listed page without one", _) => Some(401),
                (_, Some(_)) if NOT_FOR_TILLS.contains(&row) => Some(403),
                _ => None,
            };
            assert_eq!(refused, wanted, "{row} by {who}");
        }
    }
}
