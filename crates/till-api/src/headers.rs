//! The headers of the interface, in lower case. The agent and its callers use the same names.

/// The header with an operator's session.
pub const SESSION: &str = "pos-session";
/// The header with a supervisor's approval.
pub const SUPERVISOR: &str = "pos-supervisor";
/// The header with the network location from which a PIN comes.
pub const PLACE: &str = "pos-place";
/// The header of requests from the front's page. It means that a person is at the counter, whichever till the request
/// names.
pub const PAGE: &str = "pos-page";
