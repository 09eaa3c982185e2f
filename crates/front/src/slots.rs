//! Connection slots: the number of connections, the connection that is closed when no slot is free, and the limits of
//! each caller.
//!
//! | caller | connections | requests | cancels | lists | waits | streams of events |
//! |---|---|---|---|---|---|---|
//! | an unidentified caller, by address | 48 for all of them | 8 | | | | |
//! | a paired till, or a till that speaks nexo | 20 | 4, nexo 16 | 2 | 2 | 4 | 2 |
//! | an operator's session, or a page that needs none, by address | 32 | 8 | 2 | 2 | 4 | 6 |
//! | the customer's screen | 4 | 2 | | | | 2 |
//!
//! A connection belongs to an unidentified caller until a request on it identifies the caller. The request does so with
//! a valid token, a valid key, or a session that the agent knows. When unidentified callers use all their slots, the
//! newest connection gets the oldest slot of the address with the most slots. A caller that opens many silent
//! connections therefore takes no slot from others. A caller's fifth wait takes the slot of its first wait, which is
//! answered with the current state. All other requests above a limit are refused immediately.

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

/// The largest number of connections of unidentified callers. One connection with TLS takes about 40 KiB.
const STRANGERS: usize = 48;
/// The largest number of connections of pages and tills.
const KNOWN: usize = 64;
/// The largest number of waits of all callers, which equals the number of wait slots at the agent.
pub(crate) const WAITS: usize = 12;

/// The limits of one caller: the largest numbers that it may have open at the same time.
#[derive(Clone, Copy, Debug)]
struct Limits {
    connections: usize,
    requests: usize,
    cancels: usize,
    lists: usize,
    waits: usize,
    streams: usize,
}

/// The limits of an unidentified caller, which may neither wait nor listen.
const STRANGER: Limits = Limits { connections: STRANGERS, requests: 8, cancels: 0, lists: 0, waits: 0, streams: 0 };
/// The limits of a paired till, which may wait for four transactions and open two streams.
const TILL: Limits = Limits { connections: 20, requests: 4, cancels: 2, lists: 2, waits: 4, streams: 2 };
/// The limits of a nexo till. Each payment is a request that lasts until the customer has finished. Meanwhile the till
/// can ask about the payment or end it.
const NEXO: Limits = Limits { requests: 16, ..TILL };
/// The limits of a page. They are enough for a browser with five open pages.
const PAGE: Limits = Limits { connections: 32, requests: 8, cancels: 2, lists: 2, waits: 4, streams: 6 };

/// The limits of the customer's screen, which only listens. While its page reloads, it may have two streams.
const CUSTOMER: Limits = Limits { connections: 4, requests: 2, cancels: 0, lists: 0, waits: 0, streams: 2 };

/// The caller whose limits a request counts towards.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    /// An unidentified caller.
    Stranger(Whence),
    /// An unidentified caller at the port for nexo tills. Its message will identify it.
    NexoUnread(Whence),
    /// A paired till, identified by its token.
    Till(String),
    /// A till that speaks nexo, by its name at the agent.
    Nexo(String),
    /// The customer's screen, identified by its token.
    Customer,
    /// A page that needs no session, by its address.
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
            Self::Customer => CUSTOMER,
            Self::Page(_) | Self::Session(_) => PAGE,
        }
    }

    /// Checks whether the caller is unidentified.
    pub(crate) fn is_stranger(&self) -> bool {
        matches!(self, Self::Stranger(_) | Self::NexoUnread(_))
    }
}

/// The kind of a request's slot. It says how long the request lasts, and with which other requests it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasting {
    /// A request that lasts until it is answered.
    Answer,
    /// A cancel request. It lasts until it is answered, and no other request takes its slot.
    Cancel,
    /// A request that lasts while the agent reads its journal.
    List,
    /// A wait. It lasts until a transaction has ended or another wait needs the slot.
    Wait,
    /// A wait that is being answered because another wait took its slot.
    Leaving,
    /// A stream of events. It lasts until either side closes it.
    Stream,
}

/// All connections of the front.
#[derive(Debug, Default)]
pub(crate) struct Slots(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// A counter that orders the moments at which connections became idle or began a request. It also provides the ids
    /// of connections.
    moment: u64,
    connections: BTreeMap<u64, Connection>,
}

#[derive(Debug)]
struct Connection {
    whence: Whence,
    /// The last identified caller on the connection.
    known: Option<Owner>,
    under_way: Option<(Owner, Lasting)>,
    /// The moment at which the connection became idle or its request began.
    since: u64,
    leave: Arc<Notify>,
    answer_now: Arc<Notify>,
}

/// A connection's slot. Dropping this value frees the slot.
#[derive(Debug)]
pub(crate) struct Slot {
    slots: Arc<Slots>,
    id: u64,
    whence: Whence,
    leave: Arc<Notify>,
    answer_now: Arc<Notify>,
}

/// A request in progress. Dropping this value ends the request.
#[derive(Debug)]
pub(crate) struct UnderWay(Arc<Slot>);

impl Slots {
    /// Returns a slot for a new connection, or `None` if every slot for unidentified callers is serving an identified
    /// caller.
    pub(crate) fn enter(self: &Arc<Self>, whence: Whence) -> Option<Arc<Slot>> {
        let mut inner = self.inner();
        if !inner.room_for_a_stranger() {
            return None;
        }
        let id = inner.next();
        let (leave, answer_now) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let slot = Slot { slots: Arc::clone(self), id, whence, leave, answer_now };
        let (leave, answer_now) = (Arc::clone(&slot.leave), Arc::clone(&slot.answer_now));
        let connection = Connection { whence, known: None, under_way: None, since: id, leave, answer_now };
        inner.connections.insert(id, connection);
        Some(Arc::new(slot))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Each change is one assignment, so the data is complete even after a panic.
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

    /// Makes room for a connection of an unidentified caller. When no slot is free, the address with the most slots
    /// loses one: its longest idle connection, or else the one whose request began first. A connection that has
    /// identified its caller keeps its slot until its request is answered.
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

    /// Checks whether this connection can count towards its owner's limit. When the owner is at its limit, its longest
    /// idle connection is closed. When all connections are taken, the caller with the most connections loses its
    /// longest idle one.
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
                    format!("this caller already has {most} active connections; wait until one ends, or close one");
                return Err(Problem::too_many(detail, 1));
            }
        } else if of_owner.values().sum::<usize>() >= KNOWN {
            let any = longest(self, &|other| of_owner.get(other).copied().unwrap_or_default());
            return Ok(self.leaves(any));
        }
        Ok(true)
    }

    /// Makes room for a wait of this owner. When the owner is at its limit, its first wait is answered. When all waits
    /// are taken, the first wait of the owner with the most waits is answered.
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

impl Slot {
    /// Waits until the connection must give its slot to another connection.
    pub(crate) async fn left(&self) {
        self.leave.notified().await;
    }

    /// Returns the source of the connection.
    pub(crate) fn whence(&self) -> Whence {
        self.whence
    }

    /// Returns the identified caller of the connection, if any.
    pub(crate) fn known(&self) -> Option<Owner> {
        let inner = self.slots.inner();
        inner.connections.get(&self.id).and_then(|connection| connection.known.clone())
    }

    /// Begins a request of this owner. A connection has one request at a time.
    pub(crate) fn begin(self: &Arc<Self>, owner: Owner, lasting: Lasting) -> Result<UnderWay, Problem> {
        let mut inner = self.slots.inner();
        let limits = owner.limits();
        let (what, most) = match lasting {
            Lasting::Answer => ("requests", limits.requests),
            Lasting::Cancel => ("cancels", limits.cancels),
            Lasting::List => ("lists and counts", limits.lists),
            Lasting::Stream => ("streams of events", limits.streams),
            // The same number of waits may also be about to be answered. Even then, waits never occupy all connections
            // of a till.
            Lasting::Wait | Lasting::Leaving => ("waits", 2 * limits.waits),
        };
        let wanted = Some((owner.clone(), lasting));
        let is_wait = |lasting: Lasting| matches!(lasting, Lasting::Wait | Lasting::Leaving);
        let alike = |theirs: &(Owner, Lasting)| {
            theirs.0 == owner && (theirs.1 == lasting || is_wait(theirs.1) && is_wait(lasting))
        };
        if inner.connections.values().filter(|it| it.under_way.as_ref().is_some_and(alike)).count() >= most {
            let detail = format!("this caller already has {most} {what} open; wait until one ends, or close one");
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
    Problem::too_many("a newer connection replaces this one; connect again", 1)
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.inner().connections.remove(&self.id);
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut inner = self.0.slots.inner();
        let moment = inner.next();
        if let Some(connection) = inner.connections.get_mut(&self.0.id) {
            (connection.under_way, connection.since) = (None, moment);
        }
    }
}

impl UnderWay {
    /// Waits until another wait takes the slot of this wait.
    pub(crate) async fn answer_now(&self) {
        self.0.answer_now.notified().await;
    }

    /// Keeps the request in progress until its answer is sent or given up.
    pub(crate) fn until_sent(self, answer: Answer) -> Answer {
        answer.map(|body| http_body_util::BodyExt::boxed_unsync(Counted { body, _under_way: self }))
    }
}

/// The body of an answer, with the request in progress.
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
        let slots = Arc::new(Slots::default());
        let known = slots.enter(host(0)).unwrap();
        drop(known.begin(till(1), Lasting::Answer).unwrap());
        let strangers: Vec<_> = (1..=STRANGERS + 1).map(|n| slots.enter(host(n)).unwrap()).collect();
        assert!(is_told(strangers[0].left()).await, "the oldest");
        assert!(!is_told(strangers[1].left()).await && !is_told(known.left()).await);
        let late = strangers[0].begin(till(1), Lasting::Answer);
        assert!(late.is_err(), "not let in at the last moment");
        drop((strangers, known));
        assert!(slots.inner().connections.is_empty());
    }

    /// An address that connects quickly or sends slowly takes only its own slots.
    #[tokio::test(start_paused = true)]
    async fn the_address_with_the_most_places_gives_one_up_although_its_requests_are_under_way() {
        let slots = Arc::new(Slots::default());
        let honest = slots.enter(host(0)).unwrap();
        let mut slow = Vec::new();
        for n in 0..4 * STRANGERS {
            let slot = slots.enter(host(1 + n % 6)).unwrap();
            let begun = slot.begin(Owner::Stranger(slot.whence()), Lasting::Answer).ok();
            slow.push((slot, begun));
        }
        assert!(!is_told(honest.left()).await);
        assert!(honest.begin(till(1), Lasting::Answer).is_ok());
        assert!(is_told(slow[0].0.left()).await);
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_stranger_has_under_way_takes_nothing_from_a_till_or_a_page_of_its_address() {
        let slots = Arc::new(Slots::default());
        let enter = || slots.enter(host(1)).unwrap();
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

    /// Each owner has separate slots for each kind of request.
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
            let slots = Arc::new(Slots::default());
            let mut under_way = Vec::new();
            for (kind, most) in kinds(owner.limits()) {
                assert!(most > 0, "{owner:?} {kind:?}");
                for _ in 0..most {
                    under_way.push(slots.enter(host(1)).unwrap().begin(owner.clone(), kind).unwrap());
                }
                let more = slots.enter(host(2)).unwrap();
                assert!(more.begin(owner.clone(), kind).is_err(), "{owner:?} {kind:?}");
                assert!(more.begin(till(2), kind).is_ok(), "another till");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_wait_of_a_till_is_answered_when_a_fifth_comes() {
        let slots = Arc::new(Slots::default());
        let wait = |of: usize| slots.enter(host(of)).unwrap().begin(till(of), Lasting::Wait).unwrap();
        let mut waits: Vec<_> = (0..4).map(|_| wait(1)).collect();
        assert!(!is_told(waits[0].answer_now()).await);
        waits.push(wait(1));
        assert!(is_told(waits[0].answer_now()).await && !is_told(waits[1].answer_now()).await);
        assert!(!is_told(waits[4].answer_now()).await);
        // The number of waits that are being answered is also limited.
        let more: Vec<_> = (0..3).map(|_| wait(1)).collect();
        assert!(slots.enter(host(1)).unwrap().begin(till(1), Lasting::Wait).is_err());
        assert!(slots.enter(host(1)).unwrap().begin(till(1), Lasting::Answer).is_ok());
        drop(more);
        drop(waits.drain(..).rev().collect::<Vec<_>>());
        let waits: Vec<_> = (0..4).map(|_| wait(1)).collect();
        // The total number of waits is also limited. The owner with the most waits loses one.
        let _others: Vec<_> = (2..2 + WAITS - 4).map(wait).collect();
        assert!(!is_told(waits[0].answer_now()).await);
        let _one_more = wait(99);
        assert!(is_told(waits[0].answer_now()).await && !is_told(waits[1].answer_now()).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_till_has_a_share_of_connections_and_no_more() {
        let slots = Arc::new(Slots::default());
        let mut held = Vec::new();
        for n in 0..TILL.connections {
            let slot = slots.enter(host(n)).unwrap();
            drop(slot.begin(till(1), Lasting::Answer).unwrap());
            held.push(slot);
        }
        let other = slots.enter(host(99)).unwrap();
        drop(other.begin(till(2), Lasting::Answer).unwrap());
        assert!(!is_told(held[0].left()).await);
        let next = slots.enter(host(98)).unwrap();
        drop(next.begin(till(1), Lasting::Answer).unwrap());
        assert!(is_told(held[0].left()).await, "the one that was idle for longest");
        assert!(!is_told(held[1].left()).await && !is_told(other.left()).await);
    }
}
