//! The gateway's reaction to a request, on the same connection. `response` sends it.

use bytes::Bytes;

/// The gateway's reaction to a request.
#[derive(Debug)]
pub(super) enum Delivery {
    /// An answer with HTTP status and JSON body; the time stamp is added later.
    Answer(u16, serde_json::Value),
    /// An answer with any body.
    Raw(u16, Vec<u8>),
    /// A file of this media type.
    File(&'static str, Vec<u8>),
    /// The headers and half of the body, after which the connection is cut.
    Half(Vec<u8>),
    /// HTTP 307 to this address.
    Redirect(String),
    /// A file of the hosted widget.
    Asset(Asset),
    /// A page with its HTTP status and HTML.
    Page(u16, String),
    /// HTTP 303, which sends the browser to this address.
    SeeOther(String),
    /// No answer, with an open connection.
    Silence,
    /// No answer, with a cut connection.
    Cut,
}

/// A file for a browser.
#[derive(Debug)]
pub(super) struct Asset {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Bytes,
}
