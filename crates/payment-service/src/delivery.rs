//! What becomes of a request on its line, whatever has decided that. How it goes out is in `response`.

use bytes::Bytes;

/// What becomes of a request on its line.
#[derive(Debug)]
pub(super) enum Delivery {
    /// An answer: HTTP status and JSON body, to be stamped with the time.
    Answer(u16, serde_json::Value),
    /// An answer with any body.
    Raw(u16, Vec<u8>),
    /// A file of this kind.
    File(&'static str, Vec<u8>),
    /// The head and half of the body, then the line is cut.
    Half(Vec<u8>),
    /// HTTP 307 to this address.
    Redirect(String),
    /// What the hosted widget is made of.
    Asset(Asset),
    /// A page: HTTP status and HTML.
    Page(u16, String),
    /// HTTP 303: the browser goes on to this address.
    SeeOther(String),
    /// Nothing; the line stays open.
    Silence,
    /// Nothing; the line is cut.
    Cut,
}

/// Something for a browser.
#[derive(Debug)]
pub(super) struct Asset {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Bytes,
}
