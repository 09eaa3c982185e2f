//! Connection slots and request limits: how many connections a caller may have, and how many requests at the same time.
//! If all slots are in use, this module decides which connection is closed.
//!
//! A connection has no known owner until the guard accepts one of its requests. From then on it belongs to that caller.
//! Connections without an owner have a limited number of slots. A new one is always accepted, and the oldest is closed
//! to make room. So a client that holds connections open and sends nothing takes no slot from a till, which identifies
//! itself with its first bytes. Each caller also has a limited number of slots, and its connection that was idle for
//! longest is closed. On the Unix socket, the system reports the user at the other end, and each user has separate
//! slots.
//!
//! No caller waits here for another one. A refusal is immediate and names the remedy.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::extract::{Extension, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use pos_till_api::deadlines::READ_PERMIT;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::failure::Failure;
use crate::till::{Caller, ProblemType};

/// The greatest number of connections without a known owner. Each needs about 12 KiB, or 20 KiB with half a head. To
/// take a till's slot, this many others would have to connect between the till's first packet and its request. On a
/// board, that takes longer than the till needs.
const STRANGERS: usize = 128;

/// The limits of one caller.
///
/// There are more connections than requests, so at least one connection is always idle and can be closed.
#[derive(Clone, Copy, Debug)]
struct Limits {
    who: &'static str,
    connections: usize,
    requests: usize,
    listeners: usize,
}

/// A till is one program, perhaps with a page, a listener and a monitoring program.
const TILL: Limits = Limits { who: "till", connections: 16, requests: 8, listeners: 4 };
/// The limits of a user at the Unix socket: people at the command line, or a program that acts for several tills.
const USER: Limits = Limits { who: "user", connections: 128, requests: 96, listeners: 24 };

/// The owner of a connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    /// Not known yet. On the Unix socket, the user is known.
    Stranger(Option<u32>),
    Till(Arc<str>),
    User(u32),
}

/// The connections of one listener.
#[derive(Debug, Default)]
pub(super) struct ConnectionSlots(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// A counter of events, which gives the order in which connections became idle. It also numbers the connections.
    moment: u64,
    connections: BTreeMap<u64, Connection>,
    /// The limits of each owner. Their number is limited by the configured tills and the users that may open the
    /// socket.
    allowances: BTreeMap<Owner, Arc<Allowance>>,
}

#[derive(Debug)]
struct Connection {
    owner: Owner,
    /// True while a caller's request is in progress on the connection.
    busy: bool,
    since: u64,
    leave: Arc<Notify>,
}

/// The unused part of a caller's limits.
#[derive(Debug)]
pub(super) struct Allowance {
    limits: Limits,
    requests: Arc<Semaphore>,
    listeners: Arc<Semaphore>,
    reading: Arc<Semaphore>,
}

/// A connection's slot, which is freed when this value is dropped.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    slots: Arc<ConnectionSlots>,
    id: u64,
    peer: Option<u32>,
    leave: Arc<Notify>,
}

/// A request in progress, which ends when this value is dropped.
#[derive(Debug)]
struct UnderWay {
    slot: Arc<ConnectionSlot>,
    allowance: Arc<Allowance>,
    _request: OwnedSemaphorePermit,
}

impl ConnectionSlots {
    /// Returns a slot for a new connection, which there always is. `peer` is the user at the other end, if the system
    /// reports one.
    pub(super) fn enter(self: &Arc<Self>, peer: Option<u32>) -> Arc<ConnectionSlot> {
        let mut inner = self.inner();
        let owner = Owner::Stranger(peer);
        inner.make_room(&owner, STRANGERS);
        let (id, leave) = (inner.next(), Arc::new(Notify::new()));
        let connection = Connection { owner, busy: false, since: id, leave: Arc::clone(&leave) };
        inner.connections.insert(id, connection);
        Arc::new(ConnectionSlot { slots: Arc::clone(self), id, peer, leave })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Each change is one assignment, so the data is consistent even after a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn next(&mut self) -> u64 {
        self.moment += 1;
        self.moment
    }

    /// If all slots of the owner are in use, closes its connection that was idle for longest.
    fn make_room(&mut self, owner: &Owner, most: usize) {
        let of_owner = || self.connections.iter().filter(|(_, connection)| connection.owner == *owner);
        if of_owner().count() < most {
            return;
        }
        let idle = of_owner().filter(|(_, connection)| !connection.busy);
        let longest = idle.min_by_key(|(_, connection)| connection.since).map(|(id, _)| *id);
        if let Some(connection) = longest.and_then(|id| self.connections.remove(&id)) {
            connection.leave.notify_one();
        }
    }

    fn allowance(&mut self, owner: &Owner, limits: Limits) -> Arc<Allowance> {
        let new = || {
            let semaphore = |slots| Arc::new(Semaphore::new(slots));
            let (requests, listeners) = (semaphore(limits.requests), semaphore(limits.listeners));
            Arc::new(Allowance { limits, requests, listeners, reading: semaphore(1) })
        };
        Arc::clone(self.allowances.entry(owner.clone()).or_insert_with(new))
    }
}

impl ConnectionSlot {
    /// Waits until the connection must close to make room for another one.
    pub(super) async fn left(&self) {
        self.leave.notified().await;
    }

    /// Starts a request that the guard has accepted. From then on, the connection belongs to the till or to the user.
    fn begin(self: &Arc<Self>, till: &Arc<str>) -> Result<UnderWay, Failure> {
        let (owner, limits) = match self.peer {
            Some(user) => (Owner::User(user), USER),
            None => (Owner::Till(Arc::clone(till)), TILL),
        };
        let mut inner = self.slots.inner();
        let allowance = inner.allowance(&owner, limits);
        let known = inner.connections.get(&self.id).map(|connection| connection.owner == owner);
        if known == Some(false) {
            inner.make_room(&owner, limits.connections);
        }
        let Some(connection) = inner.connections.get_mut(&self.id) else {
            let message = "a newer connection replaces this one; connect again";
            return Err(Failure::new(ProblemType::NoPlace, message));
        };
        connection.owner = owner;
        let request = Arc::clone(&allowance.requests).try_acquire_owned().map_err(|_| {
            let Limits { who, requests, .. } = limits;
            let message = format!("{requests} requests of this {who} are in progress; wait until one ends");
            Failure::new(ProblemType::TooManyRequests, message)
        })?;
        connection.busy = true;
        drop(inner);
        Ok(UnderWay { slot: Arc::clone(self), allowance, _request: request })
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.slots.inner().connections.remove(&self.id);
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut inner = self.slot.slots.inner();
        let moment = inner.next();
        if let Some(connection) = inner.connections.get_mut(&self.slot.id) {
            (connection.busy, connection.since) = (false, moment);
        }
    }
}

impl Allowance {
    /// Takes a slot for a listener to events.
    pub(super) fn listener(&self) -> Result<OwnedSemaphorePermit, Failure> {
        Arc::clone(&self.listeners).try_acquire_owned().map_err(|_| {
            let Limits { who, listeners, .. } = self.limits;
            let message =
                format!("this {who} has {listeners} event streams open; share one stream, or close unused ones");
            Failure::new(ProblemType::TooManyListeners, message)
        })
    }

    /// Waits for the permit to read the journal. A caller reads one list or count at a time.
    pub(super) async fn permit_to_read(&self) -> Result<OwnedSemaphorePermit, Failure> {
        let permit = timeout(READ_PERMIT, Arc::clone(&self.reading).acquire_owned()).await;
        permit.ok().and_then(Result::ok).ok_or_else(|| {
            let who = self.limits.who;
            let message = format!("another list or count of this {who} is still being read; request one at a time");
            Failure::new(ProblemType::ListUnderWay, message)
        })
    }
}

/// Counts a request that the guard has accepted, until its answer is sent or abandoned.
pub(super) async fn count(
    Extension(slot): Extension<Arc<ConnectionSlot>>,
    Extension(caller): Extension<Caller>,
    mut request: Request,
    next: Next,
) -> Response {
    // A caller without a token is counted under its user.
    match slot.begin(&caller.who().token.as_deref().unwrap_or_default().into()) {
        Ok(under_way) => {
            request.extensions_mut().insert(Arc::clone(&under_way.allowance));
            next.run(request).await.map(|body| Body::new(Counted { body, _under_way: under_way }))
        }
        Err(failure) => failure.into_response(),
    }
}

/// The body of an answer whose request is counted until the body ends.
struct Counted {
    body: Body,
    _under_way: UnderWay,
}

impl hyper::body::Body for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
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

    use super::*;

    fn till(number: u8) -> Arc<str> {
        format!("till-{number}").into()
    }

    /// Returns whether the connection must close.
    async fn has_to_leave(slot: &ConnectionSlot) -> bool {
        timeout(Duration::ZERO, slot.left()).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_stranger_leaves_for_the_newest_and_no_till_does() {
        let slots = Arc::new(ConnectionSlots::default());
        let known = slots.enter(None);
        drop(known.begin(&till(1)).unwrap());
        let strangers: Vec<_> = (0..=STRANGERS).map(|_| slots.enter(None)).collect();
        assert!(has_to_leave(&strangers[0]).await, "the oldest");
        assert!(!has_to_leave(&strangers[1]).await && !has_to_leave(&known).await);
        // A request on a connection that must close is refused.
        assert!(strangers[0].begin(&till(1)).is_err());
        // A user at the Unix socket has separate slots.
        let of_users: Vec<_> = (0..=STRANGERS).map(|_| slots.enter(Some(1000))).collect();
        assert!(has_to_leave(&of_users[0]).await);
        assert!(!has_to_leave(&strangers[1]).await);
        drop((strangers, of_users, known));
        assert!(slots.inner().connections.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn of_a_till_the_connection_leaves_that_was_idle_for_longest() {
        let slots = Arc::new(ConnectionSlots::default());
        let mut held: Vec<_> = (0..TILL.connections).map(|_| slots.enter(None)).collect();
        let mut under_way = Vec::new();
        for (n, slot) in held.iter().enumerate() {
            let request = slot.begin(&till(1)).unwrap();
            // The first requests stay in progress. The others end in the order of their numbers.
            if n < TILL.requests - 1 {
                under_way.push(request);
            }
        }
        held.push(slots.enter(None));
        under_way.push(held[TILL.connections].begin(&till(1)).unwrap());
        let leaving: Vec<_> = {
            let mut leaving = Vec::new();
            for (n, slot) in held.iter().enumerate() {
                if has_to_leave(slot).await {
                    leaving.push(n);
                }
            }
            leaving
        };
        assert_eq!(leaving, [TILL.requests - 1]);
        // All requests of this till are in progress. Another till's requests are counted separately.
        let another = slots.enter(None);
        assert!(another.begin(&till(1)).is_err());
        drop(another.begin(&till(2)).unwrap());
        under_way.pop();
        assert!(another.begin(&till(1)).is_ok());
    }
}
