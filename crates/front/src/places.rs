//! Places: how many connections the front holds, who has to leave when there is none, and how much one caller may ask
//! at a time.
//!
//! | who | connections | requests | cancels | lists | waits | streams of events |
//! |---|---|---|---|---|---|---|
//! | a stranger, by address | of 48 in all | 8 | | | | |
//! | a paired till, or one that speaks nexo | 20 | 4, nexo 16 | 2 | 2 | 4 | 2 |
//! | an operator's session, or a page that needs none, by address | 32 | 8 | 2 | 2 | 4 | 6 |
//!
//! A connection is a stranger's until a request on it shows whose it is: a right token, a right key, or a session that
//! the agent knows. When strangers have all their places, the address with the most of them gives the oldest one to the
//! newest: whoever holds connections open and says nothing takes no place from anybody else. A fifth wait takes the
//! place of the first, which is answered with how things stand. Everything else that is too much is refused at once.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::sync::Notify;

use crate::attempts::Whence;
use crate::problem::{Answer, Body, BodyError, Problem};
use crate::session::SessionDigest;

/// Connections of which nobody knows yet whose they are; one costs some 40 KiB with TLS.
const STRANGERS: usize = 48;
/// Connections of the page and of tills.
const KNOWN: usize = 64;
/// Waits of all callers: as many as the agent has places for them.
pub(crate) const WAITS: usize = 12;

/// What one caller may have at a time.
#[derive(Clone, Copy, Debug)]
struct Limits {
    connections: usize,
    requests: usize,
    cancels: usize,
    lists: usize,
    waits: usize,
    streams: usize,
}

/// Nobody waits and listens who has not said who it is.
const STRANGER: Limits = Limits { connections: STRANGERS, requests: 8, cancels: 0, lists: 0, waits: 0, streams: 0 };
/// One program, which may wait for some sales and look on twice.
const TILL: Limits = Limits { connections: 20, requests: 4, cancels: 2, lists: 2, waits: 4, streams: 2 };
/// Each payment is a request that lasts as long as the customer takes, and what asks about it or ends it comes beside.
const NEXO: Limits = Limits { requests: 16, ..TILL };
/// Five pages beside each other, as a browser opens them.
const PAGE: Limits = Limits { connections: 32, requests: 8, cancels: 2, lists: 2, waits: 4, streams: 6 };

/// Who a request is counted for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    /// Nobody knows who it is.
    Stranger(Whence),
    /// Nobody knows who it is, at the port of tills that speak nexo: its message says it.
    NexoUnread(Whence),
    /// A till that has shown its token.
    Till(String),
    /// A till that speaks nexo, by its SaleID.
    Nexo(String),
    /// A page that needs no session.
    Page(Whence),
    /// An operator's session that the agent knows.
    Session(SessionDigest),
}

impl Owner {
    fn limits(&self) -> Limits {
        match self {
            Self::Stranger(_) | Self::NexoUnread(_) => STRANGER,
            Self::Till(_) => TILL,
            Self::Nexo(_) => NEXO,
            Self::Page(_) | Self::Session(_) => PAGE,
        }
    }

    /// Whether nobody knows who it is.
    pub(crate) fn is_stranger(&self) -> bool {
        matches!(self, Self::Stranger(_) | Self::NexoUnread(_))
    }
}

/// How long a request stays, and what is counted with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasting {
    /// Until it is answered.
    Answer,
    /// The same, of what ends a payment: no other request takes its place.
    Cancel,
    /// As long as the journal is read.
    List,
    /// Until a sale has ended, or another wait needs the place.
    Wait,
    /// A wait that is being answered, because another one has its place.
    Leaving,
    /// As long as both ends like: a stream of events.
    Stream,
}

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
    whence: Whence,
    /// The last one that was known on it.
    known: Option<Owner>,
    under_way: Option<(Owner, Lasting)>,
    /// When it fell idle, or its request began.
    since: u64,
    leave: Arc<Notify>,
    answer_now: Arc<Notify>,
}

/// A connection's place, which is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    id: u64,
    whence: Whence,
    leave: Arc<Notify>,
    answer_now: Arc<Notify>,
}

/// A request under way; it has ended when this is dropped.
#[derive(Debug)]
pub(crate) struct UnderWay(Arc<Place>);

impl Places {
    /// A place for a new connection; `None` when all those of strangers are at work for somebody who is known.
    pub(crate) fn enter(self: &Arc<Self>, whence: Whence) -> Option<Arc<Place>> {
        let mut inner = self.inner();
        if !inner.room_for_a_stranger() {
            return None;
        }
        let id = inner.next();
        let (leave, answer_now) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let place = Place { places: Arc::clone(self), id, whence, leave, answer_now };
        let (leave, answer_now) = (Arc::clone(&place.leave), Arc::clone(&place.answer_now));
        let connection = Connection { whence, known: None, under_way: None, since: id, leave, answer_now };
        inner.connections.insert(id, connection);
        Some(Arc::new(place))
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

    fn leaves(&mut self, id: Option<u64>) -> bool {
        let leaving = id.and_then(|id| self.connections.remove(&id));
        leaving.inspect(|connection| connection.leave.notify_one()).is_some()
    }

    /// When strangers have all their places, the address with the most of them gives one up: an idle one, or else the
    /// one whose request began first. Whoever has said who it is keeps its place until it is answered.
    fn room_for_a_stranger(&mut self) -> bool {
        let strangers = || self.connections.iter().filter(|(_, connection)| connection.known.is_none());
        if strangers().count() < STRANGERS {
            return true;
        }
        let mut of_address = BTreeMap::<Whence, usize>::new();
        strangers().for_each(|(_, connection)| *of_address.entry(connection.whence).or_default() += 1);
        let may_leave = |connection: &Connection| match &connection.under_way {
            None => true,
            Some((owner, _)) => owner.is_stranger(),
        };
        let leaving = strangers().filter(|(_, connection)| may_leave(connection)).max_by_key(|(_, connection)| {
            let idle = connection.under_way.is_none();
            (of_address.get(&connection.whence), idle, std::cmp::Reverse(connection.since))
        });
        let leaving = leaving.map(|(id, _)| *id);
        self.leaves(leaving)
    }

    /// Whether this connection can be its owner's from now on: the one that was idle for longest leaves for it, of the
    /// owner when that has all its own, and else of whoever has the most.
    fn room_for(&mut self, id: u64, owner: &Owner) -> Result<bool, Problem> {
        if self.connections.get(&id).is_none_or(|it| it.known.as_ref() == Some(owner)) {
            return Ok(true);
        }
        let mut of_owner = BTreeMap::<Owner, usize>::new();
        for known in self.connections.values().filter_map(|connection| connection.known.clone()) {
            *of_owner.entry(known).or_default() += 1;
        }
        let most = owner.limits().connections;
        let longest = |inner: &Self, share: &dyn Fn(&Owner) -> usize| {
            let known = inner.connections.iter().filter(|(other, it)| **other != id && it.under_way.is_none());
            let known = known.filter_map(|(id, it)| Some((id, share(it.known.as_ref()?), it.since)));
            let known = known.filter(|(_, share, _)| *share > 0);
            known.max_by_key(|(_, share, since)| (*share, std::cmp::Reverse(*since))).map(|(id, ..)| *id)
        };
        if of_owner.get(owner).is_some_and(|count| *count >= most) {
            let own = longest(self, &|other| usize::from(other == owner));
            if !self.leaves(own) {
                let detail =
                    format!("{most} connections of this caller are at work; wait for one of them, or close it");
                return Err(Problem::too_many(detail, 1));
            }
        } else if of_owner.values().sum::<usize>() >= KNOWN {
            let any = longest(self, &|other| of_owner.get(other).copied().unwrap_or_default());
            return Ok(self.leaves(any));
        }
        Ok(true)
    }

    /// A wait of this owner may begin: its first one is answered now when it has all its own, and the first one of
    /// whoever has the most when all are taken.
    fn room_to_wait(&mut self, owner: &Owner) {
        let mut of_owner = BTreeMap::<Owner, usize>::new();
        for (waits, lasting) in self.connections.values().filter_map(|connection| connection.under_way.as_ref()) {
            if *lasting == Lasting::Wait {
                *of_owner.entry(waits.clone()).or_default() += 1;
            }
        }
        let own = of_owner.get(owner).copied().unwrap_or_default();
        let leaving = if own >= owner.limits().waits {
            Some(owner.clone())
        } else if of_owner.values().sum::<usize>() >= WAITS {
            of_owner.into_iter().max_by_key(|(_, count)| *count).map(|(owner, _)| owner)
        } else {
            None
        };
        let Some(leaving) = leaving else { return };
        let wait = (leaving, Lasting::Wait);
        let waits = self.connections.values_mut().filter(|connection| connection.under_way.as_ref() == Some(&wait));
        if let Some(first) = waits.min_by_key(|connection| connection.since) {
            first.under_way = Some((wait.0.clone(), Lasting::Leaving));
            first.answer_now.notify_one();
        }
    }
}

impl Place {
    /// Returns when the connection has to leave for another one.
    pub(crate) async fn left(&self) {
        self.leave.notified().await;
    }

    /// Where the connection comes from.
    pub(crate) fn whence(&self) -> Whence {
        self.whence
    }

    /// Whose the connection was before, when that is known.
    pub(crate) fn known(&self) -> Option<Owner> {
        let inner = self.places.inner();
        inner.connections.get(&self.id).and_then(|connection| connection.known.clone())
    }

    /// A request of this owner has come; a connection has one at a time.
    pub(crate) fn begin(self: &Arc<Self>, owner: Owner, lasting: Lasting) -> Result<UnderWay, Problem> {
        let mut inner = self.places.inner();
        let limits = owner.limits();
        let (what, most) = match lasting {
            Lasting::Answer => ("requests", limits.requests),
            Lasting::Cancel => ("cancels", limits.cancels),
            Lasting::List => ("lists and counts", limits.lists),
            Lasting::Stream => ("streams of events", limits.streams),
            // As many again are being answered: so the connections of a till are never all at work for waits.
            Lasting::Wait | Lasting::Leaving => ("waits", 2 * limits.waits),
        };
        let wanted = Some((owner.clone(), lasting));
        let is_wait = |lasting: Lasting| matches!(lasting, Lasting::Wait | Lasting::Leaving);
        let alike = |theirs: &(Owner, Lasting)| {
            theirs.0 == owner && (theirs.1 == lasting || is_wait(theirs.1) && is_wait(lasting))
        };
        if inner.connections.values().filter(|it| it.under_way.as_ref().is_some_and(alike)).count() >= most {
            let detail = format!("{most} {what} of this caller are under way; wait for one of them, or close it");
            return Err(Problem::too_many(detail, 1));
        }
        let is_known = !owner.is_stranger() && inner.room_for(self.id, &owner)?;
        if lasting == Lasting::Wait {
            inner.room_to_wait(&owner);
        }
        let moment = inner.next();
        let connection = inner.connections.get_mut(&self.id).ok_or_else(leaves)?;
        if is_known {
            connection.known = Some(owner);
        }
        (connection.under_way, connection.since) = (wanted, moment);
        drop(inner);
        Ok(UnderWay(Arc::clone(self)))
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
    /// Returns when another wait has this one's place.
    pub(crate) async fn answer_now(&self) {
        self.0.answer_now.notified().await;
    }

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

    fn host(n: usize) -> Whence {
        let peer = [10, 0, u8::try_from(n / 250).unwrap(), u8::try_from(n % 250).unwrap()];
        Whence::of(peer.into(), [10, 0, 0, 1].into())
    }

    fn till(n: usize) -> Owner {
        Owner::Till(format!("till-{n}"))
    }

    async fn is_told(told: impl Future<Output = ()>) -> bool {
        timeout(Duration::ZERO, told).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_stranger_leaves_for_the_newest_and_nobody_who_is_known_does() {
        let places = Arc::new(Places::default());
        let known = places.enter(host(0)).unwrap();
        drop(known.begin(till(1), Lasting::Answer).unwrap());
        let strangers: Vec<_> = (1..=STRANGERS + 1).map(|n| places.enter(host(n)).unwrap()).collect();
        assert!(is_told(strangers[0].left()).await, "the oldest");
        assert!(!is_told(strangers[1].left()).await && !is_told(known.left()).await);
        let late = strangers[0].begin(till(1), Lasting::Answer);
        assert!(late.is_err(), "not let in at the last moment");
        drop((strangers, known));
        assert!(places.inner().connections.is_empty());
    }

    /// However fast one address connects, and whatever it sends slowly: it takes its own places alone.
    #[tokio::test(start_paused = true)]
    async fn the_address_with_the_most_places_gives_one_up_although_its_requests_are_under_way() {
        let places = Arc::new(Places::default());
        let honest = places.enter(host(0)).unwrap();
        let mut slow = Vec::new();
        for n in 0..4 * STRANGERS {
            let place = places.enter(host(1 + n % 6)).unwrap();
            let begun = place.begin(Owner::Stranger(place.whence()), Lasting::Answer).ok();
            slow.push((place, begun));
        }
        assert!(!is_told(honest.left()).await);
        assert!(honest.begin(till(1), Lasting::Answer).is_ok());
        assert!(is_told(slow[0].0.left()).await);
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_stranger_has_under_way_takes_nothing_from_a_till_or_a_page_of_its_address() {
        let places = Arc::new(Places::default());
        let enter = || places.enter(host(1)).unwrap();
        let stranger = || Owner::Stranger(host(1));
        let slow: Vec<_> =
            (0..STRANGER.requests).map(|_| enter().begin(stranger(), Lasting::Answer).unwrap()).collect();
        assert!(enter().begin(stranger(), Lasting::Answer).is_err());
        let digest = SessionDigest::of(b"x");
        let nexo = [Owner::Nexo("S".to_owned()), Owner::NexoUnread(host(1))];
        for owner in [till(1), Owner::Page(host(1)), Owner::Session(digest)].into_iter().chain(nexo) {
            assert!(enter().begin(owner.clone(), Lasting::Answer).is_ok(), "{owner:?}");
        }
        drop(slow);
        assert!(enter().begin(stranger(), Lasting::Answer).is_ok());
    }

    /// Each kind of request has places of its own, at each owner: none is taken by any other one.
    #[tokio::test(start_paused = true)]
    async fn each_kind_of_request_is_counted_by_itself() {
        let kinds = |it: Limits| {
            [
                (Lasting::Answer, it.requests),
                (Lasting::Cancel, it.cancels),
                (Lasting::List, it.lists),
                (Lasting::Stream, it.streams),
            ]
        };
        for owner in [till(1), Owner::Page(host(1)), Owner::Session(SessionDigest::of(b"x"))] {
            let places = Arc::new(Places::default());
            let mut under_way = Vec::new();
            for (kind, most) in kinds(owner.limits()) {
                assert!(most > 0, "{owner:?} {kind:?}");
                for _ in 0..most {
                    under_way.push(places.enter(host(1)).unwrap().begin(owner.clone(), kind).unwrap());
                }
                let more = places.enter(host(2)).unwrap();
                assert!(more.begin(owner.clone(), kind).is_err(), "{owner:?} {kind:?}");
                assert!(more.begin(till(2), kind).is_ok(), "another till");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_wait_of_a_till_is_answered_when_a_fifth_comes() {
        let places = Arc::new(Places::default());
        let wait = |of: usize| places.enter(host(of)).unwrap().begin(till(of), Lasting::Wait).unwrap();
        let mut waits: Vec<_> = (0..4).map(|_| wait(1)).collect();
        assert!(!is_told(waits[0].answer_now()).await);
        waits.push(wait(1));
        assert!(is_told(waits[0].answer_now()).await && !is_told(waits[1].answer_now()).await);
        assert!(!is_told(waits[4].answer_now()).await);
        // Until they are answered, those that leave are bounded too.
        let more: Vec<_> = (0..3).map(|_| wait(1)).collect();
        assert!(places.enter(host(1)).unwrap().begin(till(1), Lasting::Wait).is_err());
        assert!(places.enter(host(1)).unwrap().begin(till(1), Lasting::Answer).is_ok());
        drop(more);
        drop(waits.drain(..).rev().collect::<Vec<_>>());
        let waits: Vec<_> = (0..4).map(|_| wait(1)).collect();
        // Of all waits too: whoever has the most gives one up.
        let _others: Vec<_> = (2..2 + WAITS - 4).map(wait).collect();
        assert!(!is_told(waits[0].answer_now()).await);
        let _one_more = wait(99);
        assert!(is_told(waits[0].answer_now()).await && !is_told(waits[1].answer_now()).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_till_has_a_share_of_connections_and_no_more() {
        let places = Arc::new(Places::default());
        let mut held = Vec::new();
        for n in 0..TILL.connections {
            let place = places.enter(host(n)).unwrap();
            drop(place.begin(till(1), Lasting::Answer).unwrap());
            held.push(place);
        }
        let other = places.enter(host(99)).unwrap();
        drop(other.begin(till(2), Lasting::Answer).unwrap());
        assert!(!is_told(held[0].left()).await);
        let next = places.enter(host(98)).unwrap();
        drop(next.begin(till(1), Lasting::Answer).unwrap());
        assert!(is_told(held[0].left()).await, "the one that was idle for longest");
        assert!(!is_told(held[1].left()).await && !is_told(other.left()).await);
    }
}
