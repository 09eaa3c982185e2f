//! All methods of all paths of the interface, one per line. The agent's tests compare its router and its description
//! (OpenAPI) with this table.

use crate::deadlines::AnswerDeadline;
use crate::deadlines::AnswerDeadline::{AtOnce, Closing, Counting, Gateway, Named, Pin, Printing, Typing};

/// The callers for which the front forwards a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassedFor {
    /// No caller. The route is for technicians and for programs on the terminal, or the front itself uses it.
    Nobody,
    /// Users of the cashier's page. The route is about all tills.
    Page,
    /// The cashier's page and paired tills.
    Tills,
}

/// The connection slot of the front that a request occupies until it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteSlot {
    /// A slot for requests.
    Answer,
    /// A slot for requests that end a payment. No other request takes it.
    Cancel,
    /// A slot for requests that read the journal.
    List,
    /// A slot for requests, or a slot for waits if the request has `wait-s`.
    MayWait,
    /// A slot for streams. It is occupied until either side closes the stream.
    Stream,
}

/// One method of one path.
#[derive(Debug)]
pub struct ApiRoute {
    /// The HTTP method.
    pub method: &'static str,
    /// The path, with its variable parts in braces.
    pub path: &'static str,
    /// The query parameters. With `till`, the request is about a till's own data. Without it, the request is about the
    /// terminal's data.
    pub parameters: &'static [&'static str],
    /// The deadline for the head of the answer.
    pub deadline: AnswerDeadline,
    /// The connection slot of the front.
    pub slot: RouteSlot,
    /// The callers for which the front forwards the request.
    pub passed_for: PassedFor,
}

type Row = (&'static str, &'static str, &'static [&'static str], AnswerDeadline, RouteSlot, PassedFor);

const fn route((method, path, parameters, deadline, slot, passed_for): Row) -> ApiRoute {
    ApiRoute { method, path, parameters, deadline, slot, passed_for }
}

/// The parameters of most routes.
const TILL: &[&str] = &["till"];
const SALE: &[&str] = &["till", "training"];
/// The parameters of the list of transactions.
const LIST: &[&str] = &[
    "till",
    "since",
    "limit",
    "cursor",
    "amount",
    "last4",
    "reference",
    "from",
    "to",
    "order",
    "kind",
    "state",
    "outcome",
    "training",
];

/// All routes. The routes that the front forwards come first, in the order of the manual ("The front").
pub const ROUTES: &[ApiRoute] = {
    use PassedFor::{Nobody, Page, Tills};
    use RouteSlot::{Answer, Cancel, List, MayWait, Stream};
    &[
        route(("POST", "/v1/sales", TILL, AtOnce, Answer, Tills)),
        route(("GET", "/v1/sales", LIST, AtOnce, List, Tills)),
        route(("GET", "/v1/sales/{reference}", &["till", "wait-s", "training"], Named, MayWait, Tills)),
        route(("POST", "/v1/sales/{reference}/cancel", SALE, AtOnce, Cancel, Tills)),
        route(("POST", "/v1/sales/{reference}/signature", SALE, AtOnce, Answer, Tills)),
        route(("POST", "/v1/sales/{reference}/confirm", SALE, AtOnce, Answer, Tills)),
        route((
            "GET",
            "/v1/sales/{reference}/receipt",
            &["till", "copy", "width", "duplicate", "training"],
            AtOnce,
            Answer,
            Tills,
        )),
        route(("POST", "/v1/sales/{reference}/receipt", &["till", "copy", "training"], AtOnce, Answer, Tills)),
        route(("GET", "/v1/latest", SALE, AtOnce, Answer, Tills)),
        route(("GET", "/v1/totals", &["till", "since", "carried"], Counting, List, Tills)),
        route(("GET", "/v1/closes", &["limit", "cursor"], AtOnce, List, Page)),
        route(("POST", "/v1/closes", TILL, Closing, Answer, Page)),
        route(("GET", "/v1/closes/{close}", TILL, Closing, List, Page)),
        route(("POST", "/v1/closes/{close}/print", &[], AtOnce, Answer, Page)),
        route(("POST", "/v1/reader/amount", TILL, Typing, Answer, Tills)),
        route(("POST", "/v1/reader/text", &[], AtOnce, Answer, Tills)),
        route(("POST", "/v1/printer/lines", &[], Printing, Answer, Tills)),
        route(("GET", "/v1/operators", &[], AtOnce, Answer, Page)),
        route(("POST", "/v1/approvals", TILL, Pin, Answer, Page)),
        route(("GET", "/v1/status", &[], AtOnce, Answer, Tills)),
        route(("GET", "/v1/events", &[], AtOnce, Stream, Tills)),
        route(("GET", "/v1/openapi.json", &[], AtOnce, Answer, Tills)),
        // The front itself uses these when an operator signs in.
        route(("POST", "/v1/sessions", &[], Pin, Answer, Nobody)),
        route(("GET", "/v1/sessions/current", &[], AtOnce, Answer, Nobody)),
        route(("DELETE", "/v1/sessions/current", &[], AtOnce, Answer, Nobody)),
        // These are for technicians and for programs on the terminal.
        route(("POST", "/v1/operators", &[], Pin, Answer, Nobody)),
        route(("DELETE", "/v1/operators/{name}", &[], AtOnce, Answer, Nobody)),
        route(("POST", "/v1/operators/{name}/pin", &[], Pin, Answer, Nobody)),
        route(("POST", "/v1/operators/{name}/unlock", &[], AtOnce, Answer, Nobody)),
        route(("POST", "/v1/settle/{number}", &[], AtOnce, Answer, Nobody)),
        route(("GET", "/v1/payments/{id}", &[], Gateway, Answer, Nobody)),
        route(("GET", "/v1/query", &[], Gateway, Answer, Nobody)),
        route(("GET", "/v1/journal", &["after", "limit"], AtOnce, List, Nobody)),
        route(("GET", "/v1/metrics", &[], AtOnce, Answer, Nobody)),
        route(("POST", "/v1/log-level", &[], AtOnce, Answer, Nobody)),
        // These are for the program that connects the terminal to its fleet.
        route(("POST", "/v1/fleet/connection", &[], AtOnce, Answer, Nobody)),
        route(("POST", "/v1/fleet/commands", &[], AtOnce, Answer, Nobody)),
        route(("GET", "/v1/fleet/commands/{id}", &["wait-s"], Named, MayWait, Nobody)),
        route(("GET", "/v1/fleet/commands/{id}/archive", &["part"], AtOnce, Answer, Nobody)),
        route(("GET", "/v1/fleet/settings", &[], AtOnce, Answer, Nobody)),
        route(("POST", "/v1/fleet/settings", &[], AtOnce, Answer, Nobody)),
        route(("POST", "/v1/fleet/keys", &[], AtOnce, Answer, Nobody)),
        route(("POST", "/v1/fleet/acks", &[], AtOnce, Answer, Nobody)),
    ]
};

/// Returns the route of a request. The target may include a query.
pub fn find(method: &str, target: &str) -> Option<&'static ApiRoute> {
    let path = target.split_once('?').map_or(target, |(path, _)| path);
    ROUTES.iter().find(|route| route.method == method && route.is_of(path))
}

/// Encodes a value for a path or a query. Escapes everything except unreserved characters (RFC 3986, 2.3).
pub fn encoded(value: &str) -> String {
    let mut encoded = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'~' | b'.' => encoded.push(char::from(byte)),
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

impl ApiRoute {
    /// Returns whether a path belongs to this route.
    fn is_of(&self, path: &str) -> bool {
        let (mut pattern, mut path) = (self.path.split('/'), path.split('/'));
        loop {
            match (pattern.next(), path.next()) {
                (None, None) => return true,
                (Some(wanted), Some(piece)) if piece == wanted || (wanted.starts_with('{') && !piece.is_empty()) => {}
                _ => return false,
            }
        }
    }
}

/// Returns the deadline of the route with this method and path, including braces. In a constant, a route that is not in
/// the table is a compile error.
pub const fn deadline_of(method: &str, path: &str) -> AnswerDeadline {
    let mut at = 0;
    while at < ROUTES.len() {
        let route = &ROUTES[at];
        if is_same(route.method, method) && is_same(route.path, path) {
            return route.deadline;
        }
        at += 1;
    }
    panic!("no route has this method and this path")
}

/// Returns whether two strings are equal, in a constant.
const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_method_of_a_path_has_one_line() {
        for (at, route) in ROUTES.iter().enumerate() {
            let others =
                ROUTES[at + 1..].iter().filter(|other| (other.method, other.path) == (route.method, route.path));
            assert_eq!(others.count(), 0, "{} {}", route.method, route.path);
        }
    }

    #[test]
    fn references_survive_a_path_and_a_query() {
        assert_eq!(encoded("a b/c+d?e%#ü&~.-_"), "a%20b%2Fc%2Bd%3Fe%25%23%C3%BC%26~.-_");
    }

    #[test]
    fn a_request_is_found_by_the_shape_of_its_path() {
        for (method, target, path) in [
            ("GET", "/v1/sales", "/v1/sales"),
            ("GET", "/v1/sales?since=1", "/v1/sales"),
            ("GET", "/v1/sales/R%2F1?wait-s=5", "/v1/sales/{reference}"),
            ("POST", "/v1/sales/R/cancel", "/v1/sales/{reference}/cancel"),
            ("GET", "/v1/closes/open", "/v1/closes/{close}"),
            ("DELETE", "/v1/sessions/current", "/v1/sessions/current"),
        ] {
            assert_eq!(find(method, target).map(|route| route.path), Some(path), "{method} {target}");
        }
        for (method, target) in [
            ("PUT", "/v1/sales"),
            ("POST", "/v1/status"),
            ("GET", "/v1/sales/"),
            ("GET", "/v1/sales/R/nothing"),
            ("GET", "/v1"),
            ("GET", ""),
        ] {
            assert!(find(method, target).is_none(), "{method} {target}");
        }
    }

    #[test]
    fn each_route_is_found_by_its_own_path_and_has_its_own_deadline() {
        for route in ROUTES {
            let found = find(route.method, route.path).unwrap();
            assert_eq!((found.method, found.path), (route.method, route.path));
            assert_eq!(deadline_of(route.method, route.path), route.deadline);
        }
    }

    #[test]
    #[should_panic(expected = "no route has this method")]
    fn a_deadline_of_no_route_is_none() {
        let _ = deadline_of("POST", "/v1/status");
    }

    #[test]
    fn what_may_wait_has_the_parameter_for_it() {
        for route in ROUTES {
            let may_wait = route.slot == RouteSlot::MayWait;
            assert_eq!(route.parameters.contains(&"wait-s"), may_wait, "{} {}", route.method, route.path);
            assert_eq!(route.deadline == AnswerDeadline::Named, may_wait, "{} {}", route.method, route.path);
        }
    }

    #[test]
    fn the_manual_says_how_long_each_answer_may_take() {
        let manual = include_str!("../../../docs/src/till-http.md");
        let (_, table) = manual.split_once("| request | the agent's own limit | wait for |\n|---|---|---|\n").unwrap();
        let said: Vec<&str> = table.lines().take_while(|line| line.starts_with('|')).collect();
        let of_others = AnswerDeadline::ALL.into_iter().filter(|class| *class != AtOnce).map(|class| {
            let of_class = ROUTES.iter().filter(|route| route.deadline == class);
            let name = |route: &ApiRoute| match class {
                Named => format!("`{} {}` with `wait-s`", route.method, route.path),
                _ => format!("`{} {}`", route.method, route.path),
            };
            (of_class.map(name).collect::<Vec<_>>().join(", "), class)
        });
        let row = |(names, class): (String, AnswerDeadline)| {
            format!("| {names} | {} s | {} s |", class.agent().as_secs(), class.caller().as_secs())
        };
        let expected: Vec<String> = of_others.chain([("every other one".to_owned(), AtOnce)]).map(row).collect();
        assert_eq!(said, expected);
    }
}
