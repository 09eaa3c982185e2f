//! A connection to the fleet's broker, for a terminal and for the server. Only this crate knows the MQTT client.
//!
//! Each connection has a client of its own, so a broken one leaves nothing behind: what it has not delivered is sent
//! again from the server's cursor. The session is clean, and each side subscribes after each CONNACK, because a broker
//! forgets subscriptions when it restarts and does not say so.

// The clock, which a test can move.
pub mod clock;
// TLS: the trusted CA, and who this side is.
pub mod tls;

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use pos_fleet_terms::{LARGEST, Topic, WILL_DELAY_S};
use rumqttc::mqttbytes::v5::{
    LastWill, LastWillProperties, PubAckReason, Publish, PublishProperties, SubscribeReasonCode,
};
use rumqttc::{
    AckMode, AsyncClient, Event, EventLoop, IncomingPacketSizeLimit, MqttOptions, Packet, PublishNotice,
    PublishOptions, QoS, TlsConfiguration, Transport,
};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The seconds for which the broker keeps the session. The last will needs them; nothing else does.
const SESSION_S: u32 = 300;
/// The room for a topic and the packet's head, in addition to a message.
const HEAD: usize = 1024;
/// The greatest number of messages of this side that wait for the connection.
const QUEUE: usize = 16;
/// The greatest number of messages of this side that wait for the broker's acknowledgement.
const IN_FLIGHT: u16 = 64;
/// The memory of an unread message in addition to its topic and content, in bytes.
const OF_A_MESSAGE: usize = 256;

/// A broker, and who connects to it.
#[derive(Clone)]
pub struct Endpoint {
    /// The host's name, which its certificate must contain.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The trusted CA, and the own certificate.
    pub tls: Arc<rustls::ClientConfig>,
    /// The client's name. The broker ends an earlier connection with the same name.
    pub name: String,
    /// The seconds after which a silent connection is asked. A cut is noticed after twice this time.
    pub keep_alive_s: u16,
    /// The number of messages that the broker may send before it gets an acknowledgement.
    pub unacknowledged: u16,
    /// The memory for unread messages, in bytes. The connection ends before they need more: mosquitto 2.0.11 sends many
    /// times the number above, and messages below quality 1 need no acknowledgement.
    pub most_unread: usize,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}:{}", self.name, self.host, self.port)
    }
}

/// What the broker says when the client is gone without a farewell.
#[derive(Clone, Debug)]
pub struct Will {
    /// The topic. The message is retained.
    pub topic: Topic,
    /// The message.
    pub message: Vec<u8>,
}

/// What a connection says.
#[derive(Debug)]
pub enum Heard {
    /// The broker accepts the client. Now it must subscribe.
    Connected,
    /// A message.
    Message(Message),
    /// The broker has refused a message of this client, for this reason.
    Refused(String),
}

/// A message that has arrived.
#[derive(Clone, Debug)]
pub struct Message(Publish);

impl Message {
    /// Returns the topic.
    #[must_use]
    pub fn topic(&self) -> String {
        String::from_utf8_lossy(&self.0.topic).into_owned()
    }

    /// Returns the content.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.0.payload
    }
}

/// A message on its way to the broker.
#[derive(Debug)]
pub struct Delivery(PublishNotice);

impl Delivery {
    /// Waits until the broker has the message. Returns false if it refuses it, or if the connection ends.
    pub async fn arrived(self) -> bool {
        self.0.wait_completion_async().await.is_ok()
    }
}

/// The reason why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// The network, the broker, or a certificate.
    #[error("{0}")]
    Connection(String),
    /// The broker does not let the client subscribe.
    #[error("the broker refuses a subscription: {0}")]
    Subscription(String),
    /// The broker sends faster than this side reads.
    #[error("the broker sends messages faster than they are read, and {0} bytes are unread")]
    Flood(usize),
}

/// A connection to the broker. It ends when it is dropped.
#[derive(Debug)]
pub struct Connection {
    client: AsyncClient,
    /// It has no bound of its own: a full queue would stop the task that also takes this side's messages. `unread`
    /// bounds it.
    heard: mpsc::UnboundedReceiver<Result<Heard, Lost>>,
    /// The bytes of unread messages.
    unread: Arc<AtomicUsize>,
    /// The reason why the connection ended.
    ended: Arc<OnceLock<Lost>>,
    polls: JoinHandle<()>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.polls.abort();
    }
}

impl Connection {
    /// Begins to connect. [`Self::heard`] tells the rest.
    #[must_use]
    pub fn open(endpoint: &Endpoint, will: Option<Will>) -> Self {
        let (client, events) = AsyncClient::builder(options(endpoint, will)).capacity(QUEUE).build();
        let (tell, heard) = mpsc::unbounded_channel();
        let unread = Arc::new(AtomicUsize::new(0));
        let ended = Arc::default();
        let polls = tokio::spawn(poll(events, tell, Arc::clone(&unread), endpoint.most_unread, Arc::clone(&ended)));
        Self { client, heard, unread, ended, polls }
    }

    /// Returns what the connection says next. Dropping the future loses nothing.
    ///
    /// # Errors
    /// Fails when the connection has ended.
    pub async fn heard(&mut self) -> Result<Heard, Lost> {
        let Some(heard) = self.heard.recv().await else { return Err(self.lost()) };
        self.unread.fetch_sub(size(&heard), Ordering::Relaxed);
        heard
    }

    /// Subscribes to these topics or patterns. A refusal ends the connection.
    ///
    /// # Errors
    /// Fails when the connection has ended.
    pub async fn subscribe(&self, topics: impl IntoIterator<Item = String>) -> Result<(), Lost> {
        for topic in topics {
            self.client.subscribe(topic, QoS::AtLeastOnce).await.map_err(|_| self.lost())?;
        }
        Ok(())
    }

    /// Sends a message. The channel says whether the broker keeps it for those who come later.
    ///
    /// # Errors
    /// Fails when the connection has ended.
    pub async fn publish(&self, topic: &Topic, message: Vec<u8>) -> Result<(), Lost> {
        let options = PublishOptions::new(QoS::AtLeastOnce).retain(topic.channel.is_retained());
        self.client.publish(topic.to_string(), Bytes::from(message), options).await.map_err(|_| self.lost())
    }

    /// Sends a message that the broker throws away when it has not delivered it after these seconds.
    ///
    /// # Errors
    /// Fails when the connection has ended.
    pub async fn publish_for(&self, topic: &Topic, message: Vec<u8>, seconds: u32) -> Result<(), Lost> {
        let options = PublishOptions::new(QoS::AtLeastOnce).retain(topic.channel.is_retained());
        let options = options
            .properties(PublishProperties { message_expiry_interval: Some(seconds), ..PublishProperties::default() });
        self.client.publish(topic.to_string(), Bytes::from(message), options).await.map_err(|_| self.lost())
    }

    /// Sends a message. The answer says when the broker has it, so that a long transfer holds up no other message.
    ///
    /// # Errors
    /// Fails when the connection has ended.
    pub async fn deliver(&self, topic: &Topic, message: Vec<u8>) -> Result<Delivery, Lost> {
        let options = PublishOptions::new(QoS::AtLeastOnce).retain(topic.channel.is_retained());
        let sent = self.client.publish_tracked(topic.to_string(), Bytes::from(message), options).await;
        sent.map(Delivery).map_err(|_| self.lost())
    }

    /// Tells the broker that this message need not come again. Every message needs it.
    ///
    /// # Errors
    /// Fails when the connection has ended.
    pub async fn done(&self, message: &Message) -> Result<(), Lost> {
        self.client.ack(&message.0).await.map_err(|_| self.lost())
    }

    /// The client can only say that its queue is closed.
    fn lost(&self) -> Lost {
        self.ended.get().cloned().unwrap_or_else(|| Lost::Connection("the connection ended".to_owned()))
    }
}

/// The waits between two connections. Each is random up to a time that doubles, so that the terminals of a fleet do not
/// come back at once.
#[derive(Clone, Copy, Debug)]
pub struct Waits {
    first: Duration,
    longest: Duration,
    most: Duration,
}

impl Waits {
    /// Creates waits: the first is at most `first`, and none is longer than `longest`.
    #[must_use]
    pub fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, most: first }
    }

    /// Returns the next wait.
    pub fn next_wait(&mut self) -> Duration {
        let wait = random_part(self.most);
        self.most = (self.most * 2).min(self.longest);
        wait
    }

    /// Begins with the first wait again, after a connection that was good.
    pub fn begin_again(&mut self) {
        self.most = self.first;
    }
}

fn options(endpoint: &Endpoint, will: Option<Will>) -> MqttOptions {
    let Endpoint { host, port, tls, name, keep_alive_s, unacknowledged, .. } = endpoint;
    let largest = u32::try_from(LARGEST + HEAD).unwrap_or(u32::MAX);
    // Clients that were connected at once ask at different times.
    let usual = Duration::from_secs((*keep_alive_s).into());
    let keep_alive = (usual * 4 / 5 + random_part(usual * 2 / 5)).as_secs();
    let mut options = MqttOptions::new(name.as_str(), (host.as_str(), *port));
    options
        .set_transport(Transport::tls_with_config(TlsConfiguration::Rustls(Arc::clone(tls))))
        .set_keep_alive(u16::try_from(keep_alive).unwrap_or(u16::MAX).max(1))
        .set_clean_start(true)
        .set_session_expiry_interval(Some(SESSION_S))
        .set_receive_maximum(Some(*unacknowledged))
        // The client reserves memory for each message that may wait for the broker's acknowledgement.
        .set_outgoing_inflight_upper_limit(IN_FLIGHT)
        .set_incoming_packet_size_limit(IncomingPacketSizeLimit::Bytes(largest))
        .set_ack_mode(AckMode::Manual);
    if let Some(Will { topic, message }) = will {
        let delay = LastWillProperties {
            delay_interval: Some(WILL_DELAY_S),
            payload_format_indicator: None,
            message_expiry_interval: None,
            content_type: None,
            response_topic: None,
            correlation_data: None,
            user_properties: Vec::new(),
        };
        options.set_last_will(LastWill::new(topic.to_string(), message, QoS::AtLeastOnce, true, Some(delay)));
    }
    options
}

/// Passes on what the connection says, until it ends. It never waits for the reader.
async fn poll(
    mut events: EventLoop,
    tell: mpsc::UnboundedSender<Result<Heard, Lost>>,
    unread: Arc<AtomicUsize>,
    most: usize,
    ended: Arc<OnceLock<Lost>>,
) {
    loop {
        let mut heard = match events.poll().await {
            Ok(Event::Incoming(packet)) => match told(packet) {
                None => continue,
                Some(heard) => heard,
            },
            Ok(_) => continue,
            Err(error) => Err(Lost::Connection(error.to_string())),
        };
        let bytes = unread.fetch_add(size(&heard), Ordering::Relaxed) + size(&heard);
        if bytes > most {
            heard = Err(Lost::Flood(bytes));
        }
        let lost = heard.as_ref().err().cloned();
        if let Some(lost) = &lost {
            ended.get_or_init(|| lost.clone());
        }
        if tell.send(heard).is_err() || lost.is_some() {
            return;
        }
    }
}

/// Returns the memory of what is heard, in bytes.
fn size(heard: &Result<Heard, Lost>) -> usize {
    let content = match heard {
        Ok(Heard::Message(Message(message))) => message.topic.len() + message.payload.len(),
        Ok(Heard::Refused(why)) => why.len(),
        Ok(Heard::Connected) | Err(_) => 0,
    };
    OF_A_MESSAGE + content
}

fn told(packet: Packet) -> Option<Result<Heard, Lost>> {
    match packet {
        Packet::ConnAck(_) => Some(Ok(Heard::Connected)),
        Packet::Publish(message) => Some(Ok(Heard::Message(Message(message)))),
        Packet::SubAck(ack) => {
            let refused = ack.return_codes.iter().find(|code| !matches!(code, SubscribeReasonCode::Success(_)));
            refused.map(|code| Err(Lost::Subscription(format!("{code:?}"))))
        }
        // A publish that the access list denies looks like any other until here.
        Packet::PubAck(ack) => match ack.reason {
            PubAckReason::Success | PubAckReason::NoMatchingSubscribers => None,
            reason => Some(Ok(Heard::Refused(format!("{reason:?}")))),
        },
        _ => None,
    }
}

/// Returns a random part of a time.
fn random_part(whole: Duration) -> Duration {
    // Without random numbers all would wait equally long, which is worse but works.
    whole / 1024 * (getrandom::u32().unwrap_or(512) % 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_begin_again() {
        let (first, longest) = (Duration::from_secs(60), Duration::from_secs(300));
        let mut waits = Waits::new(first, longest);
        for most in [60, 120, 240, 300, 300] {
            assert!(waits.next_wait() <= Duration::from_secs(most));
        }
        assert_eq!(waits.most, longest);
        waits.begin_again();
        assert_eq!(waits.most, first);
        let all: Vec<_> = (0..8).map(|_| Waits::new(first, longest).next_wait()).collect();
        assert!(all.iter().any(|wait| *wait != all[0]), "{all:?}");
    }
}
