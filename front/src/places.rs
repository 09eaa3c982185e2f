//! Places: how many connections the front holds, who has to leave when there is none, and how much one address may ask
//! at a time.
//!
//! A connection is a stranger's until a request on it was let in. Strangers have a share of their own, in which the
//! oldest leaves for the newest: whoever holds connections open and says nothing takes no place from the page or a
//! till. Each address has a share too. What is refused is refused at once.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::sync::Notify;

use crate::attempts::counted;
use crate::problem::{Answer, Body, BodyError, Problem};

/// Connections of which nobody knows yet whose they are; one costs some 40 KiB with TLS.
const STRANGERS: usize = 48;
/// Connections of the page and of tills.
const KNOWN: usize = 64;
/// Connections of one address: five pages beside each other, as a browser opens them.
const OF_ADDRESS: usize = 32;
/// Requests of one address at a time, and streams of events: five pages beside each other, and less than the agent
/// allows the front in all.
const REQUESTS_OF_ADDRESS: usize = 8;
const STREAMS_OF_ADDRESS: usize = 6;

/// All connections.
#[derive(Debug, Default)]
pub(crate) struct Places(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Counts what happens, for the order in which connections fell idle; also names them.
    moment: u64,
    connections: BTreeMap<u64, Connection>,
}

#[derive(Debug)]
struct Connection {
    address: IpAddr,
    known: bool,
    under_way: Option<Lasting>,
    since: u64,
    leave: Arc<Notify>,
}

/// How long a request stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasting {
    /// Until it is answered.
    Answer,
    /// As long as both ends like: a stream of events.
    Stream,
}

/// A connection's place, which is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    id: u64,
    leave: Arc<Notify>,
}

/// A request under way; it has ended when this is dropped.
#[derive(Debug)]
pub(crate) struct UnderWay(Arc<Place>);

impl Places {
    /// A place for a new connection; `None` when its address has as many as one may have, all of them at work.
    pub(crate) fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Arc<Place>> {
        let address = counted(address);
        let mut inner = self.inner();
        let of_address = |connection: &Connection| connection.address == address;
        if !inner.make_room(of_address, OF_ADDRESS) || !inner.make_room(|connection| !connection.known, STRANGERS) {
            return None;
        }
        let (id, leave) = (inner.next(), Arc::new(Notify::new()));
        let connection = Connection { address, known: false, under_way: None, since: id, leave: Arc::clone(&leave) };
        inner.connections.insert(id, connection);
        Some(Arc::new(Place { places: Arc::clone(self), id, leave }))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Each change is one assignment: what a panic left behind is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn next(&mut self) -> u64 {
        self.moment += 1;
        self.moment
    }

    /// When a share is full, the one of it that was idle for longest leaves, strangers first; `false` when none is
    /// idle.
    fn make_room(&mut self, share: impl Fn(&Connection) -> bool, most: usize) -> bool {
        let of_share = || self.connections.iter().filter(|(_, connection)| share(connection));
        if of_share().count() < most {
            return true;
        }
        let idle = of_share().filter(|(_, connection)| connection.under_way.is_none());
        let longest = idle.min_by_key(|(_, connection)| (connection.known, connection.since)).map(|(id, _)| *id);
        let leaving = longest.and_then(|id| self.connections.remove(&id));
        leaving.inspect(|connection| connection.leave.notify_one()).is_some()
    }
}

impl Place {
    /// Returns when the connection has to leave for another one.
    pub(crate) async fn left(&self) {
        self.leave.notified().await;
    }

    /// A request has come; a connection has one at a time.
    pub(crate) fn begin(self: &Arc<Self>, lasting: Lasting) -> Result<UnderWay, Problem> {
        let mut inner = self.places.inner();
        let address = inner.connections.get(&self.id).map(|connection| connection.address).ok_or_else(leaves)?;
        let alike = |it: &&Connection| it.address == address && it.under_way == Some(lasting);
        let (what, most) = match lasting {
            Lasting::Answer => ("requests", REQUESTS_OF_ADDRESS),
            Lasting::Stream => ("streams of events", STREAMS_OF_ADDRESS),
        };
        if inner.connections.values().filter(alike).count() >= most {
            let detail = format!("{most} {what} of this address are under way; wait for one of them, or close it");
            return Err(Problem::too_many(detail, 1));
        }
        if let Some(connection) = inner.connections.get_mut(&self.id) {
            connection.under_way = Some(lasting);
        }
        Ok(UnderWay(Arc::clone(self)))
    }

    /// A request was let in: from now on the connection is no stranger's, when one of those that are known can leave
    /// for it.
    pub(crate) fn admitted(&self) {
        let mut inner = self.places.inner();
        let is_stranger = inner.connections.get(&self.id).is_some_and(|connection| !connection.known);
        if !is_stranger || !inner.make_room(|connection| connection.known, KNOWN) {
            return;
        }
        if let Some(connection) = inner.connections.get_mut(&self.id) {
            connection.known = true;
        }
    }
}

fn leaves() -> Problem {
    Problem::too_many("this connection has to leave for a newer one; connect again", 1)
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.inner().connections.remove(&self.id);
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut inner = self.0.places.inner();
        let moment = inner.next();
        if let Some(connection) = inner.connections.get_mut(&self.0.id) {
            (connection.under_way, connection.since) = (None, moment);
        }
    }
}

impl UnderWay {
    /// The request ends when its answer has gone out, or was given up.
    pub(crate) fn until_sent(self, answer: Answer) -> Answer {
        answer.map(|body| http_body_util::BodyExt::boxed_unsync(Counted { body, _under_way: self }))
    }
}

/// The body of an answer that is counted.
struct Counted {
    body: Body,
    _under_way: UnderWay,
}

impl hyper::body::Body for Counted {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    fn host(n: usize) -> IpAddr {
        IpAddr::from([10, 0, u8::try_from(n / 250).unwrap(), u8::try_from(n % 250).unwrap()])
    }

    async fn has_to_leave(place: &Place) -> bool {
        timeout(Duration::ZERO, place.left()).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_stranger_leaves_for_the_newest_and_nobody_who_is_known_does() {
        let places = Arc::new(Places::default());
        let known = places.enter(host(0)).unwrap();
        known.admitted();
        let strangers: Vec<_> = (1..=STRANGERS + 1).map(|n| places.enter(host(n)).unwrap()).collect();
        assert!(has_to_leave(&strangers[0]).await, "the oldest");
        assert!(!has_to_leave(&strangers[1]).await && !has_to_leave(&known).await);
        assert!(strangers[0].begin(Lasting::Answer).is_err(), "not let in at the last moment");
        drop((strangers, known));
        assert!(places.inner().connections.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_has_a_share_and_no_more() {
        let places = Arc::new(Places::default());
        let held: Vec<_> = (0..OF_ADDRESS).map(|_| places.enter(host(1)).unwrap()).collect();
        let begun = |place: &Arc<Place>| place.begin(Lasting::Answer);
        let under_way: Vec<_> = held.iter().take(REQUESTS_OF_ADDRESS).map(|place| begun(place).unwrap()).collect();
        assert!(begun(&held[OF_ADDRESS - 1]).is_err(), "as many requests as one address may have");
        let streams = &held[REQUESTS_OF_ADDRESS..][..STREAMS_OF_ADDRESS];
        let streams: Vec<_> = streams.iter().map(|place| place.begin(Lasting::Stream).unwrap()).collect();
        assert!(held[OF_ADDRESS - 1].begin(Lasting::Stream).is_err(), "and as many streams");
        let next = places.enter(host(1)).unwrap();
        let idle = &held[REQUESTS_OF_ADDRESS + STREAMS_OF_ADDRESS];
        assert!(has_to_leave(idle).await, "the first that is idle");
        assert!(begun(&places.enter(host(2)).unwrap()).is_ok(), "another address");
        drop((under_way, streams));
        assert!(begun(&next).is_ok());
    }
}
