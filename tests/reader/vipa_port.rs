//! The port of a VIPA reader in a network: the terminal opens the connection, or the reader does (readers: 3.1). The
//! clock of these tests is virtual, and the connections are real.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pos_reader::vipa::message::VipaCommand;
use pos_reader::{
    CardVerdict, Completion, NoCard, ReaderEvent, ReaderFamily, ReaderHandle, ReaderOrder, ReaderProgress,
    ReaderSettings, Unready, spawn,
};
use pos_reader_link::apdu_link::{Decoder, Nad, Profile, Received, chain};
use pos_terms::transaction::SaleNumber;
use pos_test_kit::refusing_port;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::Receiver;
use tokio::task::{AbortHandle, yield_now};
use tokio::time::{Instant, timeout};

use crate::trace::{arm, settings};
use crate::vipa_trace::{card, filled, keys, reset, vipa};

/// The longest wait for an event: the check of an idle reader each minute, and what follows it.
const PATIENCE: Duration = Duration::from_secs(120);

/// A reader that takes one card for each sale.
#[derive(Clone, Default)]
struct Reader {
    /// The number of the next key. Every connection of the reader counts on.
    key: Arc<AtomicU32>,
}

impl Reader {
    /// Answers on this connection until it is closed. Returns a handle that closes it.
    fn serve(&self, mut stream: TcpStream) -> AbortHandle {
        let reader = self.clone();
        let task = tokio::spawn(async move {
            let mut decoder = Decoder::new(Profile::Vipa);
            let mut buffer = [0; 512];
            while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                let mut out = Vec::new();
                decoder.feed(&buffer[..count], |received| {
                    let Received::Message(message) = received else { panic!("a fault") };
                    for (unsolicited, answer) in reader.hears(&VipaCommand::parse(message.bytes).unwrap()) {
                        // The packets are small, so every answer is chained.
                        out.extend(
                            chain(Nad::Reader, unsolicited, &hex::decode(answer).unwrap(), 7).unwrap().flatten(),
                        );
                    }
                });
                if stream.write_all(&out).await.is_err() {
                    return;
                }
            }
        });
        task.abort_handle()
    }

    fn hears(&self, command: &VipaCommand<'_>) -> Vec<(bool, String)> {
        let ok = (false, "9000".to_owned());
        match command {
            VipaCommand::Reset => vec![(false, reset())],
            VipaCommand::SecurityConfiguration { .. } => vec![(false, keys(true, true))],
            VipaCommand::CardStatus => vec![(true, filled("{NO_CARD}9000"))],
            VipaCommand::StartContactless { .. } => {
                let key = 0x10_0000 + self.key.fetch_add(1, Ordering::Relaxed);
                vec![ok, (true, format!("{}9000", card("E4", key, "")))]
            }
            VipaCommand::ContinueContactless(_) => vec![ok, (true, "9000".to_owned())],
            _ => vec![ok],
        }
    }
}

struct Agent {
    handle: ReaderHandle,
    events: Receiver<ReaderEvent>,
    sale: u64,
}

impl Agent {
    fn at(port: String) -> Self {
        let (handle, events) = spawn(ReaderSettings { port, ..settings() }, ReaderFamily::Vipa(vipa()));
        Self { handle, events, sale: 0 }
    }

    async fn next(&mut self) -> ReaderEvent {
        timeout(PATIENCE, self.events.recv()).await.expect("an event").expect("a task")
    }

    async fn is_ready(&mut self) {
        loop {
            match self.next().await {
                ReaderEvent::Ready(identity) => {
                    assert_eq!(identity.serial, "40123456");
                }
                // The reader has named its keys.
                ReaderEvent::KeysLeft { card: Some(_), pin: Some(_) } => return,
                ReaderEvent::Unready(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    async fn is_absent(&mut self, because: &str) {
        match self.next().await {
            ReaderEvent::Unready(Unready::Absent { cause, .. }) => assert!(cause.contains(because), "{cause}"),
            other => panic!("{other:?}"),
        }
    }

    async fn order(&mut self) {
        self.sale += 1;
        self.handle.order(ReaderOrder::Arm(arm(self.sale))).await.unwrap();
    }

    async fn sells(&mut self) {
        self.order().await;
        let event = self.next().await;
        assert!(matches!(event, ReaderEvent::Progress { progress: ReaderProgress::PresentCard, .. }), "{event:?}");
        let event = self.next().await;
        assert!(matches!(event, ReaderEvent::Card { sale, .. } if sale == self.sale), "{event:?}");
        assert!(matches!(self.next().await, ReaderEvent::KeysLeft { .. }));
        let completion = Completion { arc: *b"00", issuer_authentication: None, scripts: heapless::Vec::new() };
        self.handle.order(ReaderOrder::Complete { sale: SaleNumber::new(self.sale), completion }).await.unwrap();
        let event = self.next().await;
        assert!(matches!(event, ReaderEvent::Completed { verdict: CardVerdict::Approved, .. }), "{event:?}");
        assert!(matches!(self.next().await, ReaderEvent::Idle));
    }

    async fn sells_nothing(&mut self) {
        self.order().await;
        let event = self.next().await;
        assert!(matches!(event, ReaderEvent::NoCard { why: NoCard::NotReady, .. }), "{event:?}");
    }
}

/// Connects to the terminal, as soon as it listens.
async fn connect(port: u16) -> TcpStream {
    loop {
        match TcpStream::connect(("127.0.0.1", port)).await {
            Ok(stream) => return stream,
            Err(_) => yield_now().await,
        }
    }
}

fn listening() -> (u16, String) {
    let port = refusing_port();
    (port, format!("tcp-listen://127.0.0.1:{port}"))
}

#[tokio::test]
async fn the_terminal_opens_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut agent = Agent::at(format!("tcp://{}", listener.local_addr().unwrap()));
    let reader = Reader::default();
    for _ in 0..2 {
        let served = reader.serve(listener.accept().await.unwrap().0);
        agent.is_ready().await;
        agent.sells().await;
        served.abort();
        agent.is_absent("").await;
        agent.sells_nothing().await;
    }
}

#[tokio::test]
async fn the_reader_opens_the_connection_leaves_and_returns() {
    let (port, address) = listening();
    let mut agent = Agent::at(address);
    let reader = Reader::default();
    for _ in 0..2 {
        let served = reader.serve(connect(port).await);
        agent.is_ready().await;
        agent.sells().await;
        served.abort();
        agent.is_absent("").await;
        agent.sells_nothing().await;
    }
}

#[tokio::test]
async fn a_second_connection_waits_and_disturbs_no_sale() {
    let (port, address) = listening();
    let mut agent = Agent::at(address);
    let reader = Reader::default();
    let first = reader.serve(connect(port).await);
    agent.is_ready().await;
    let second = connect(port).await;
    second.writable().await.unwrap();
    // Whatever it sends is not read.
    second.try_write(&[0xFF; 100]).unwrap();
    agent.sells().await;
    agent.sells().await;
    let nothing = second.try_read(&mut [0; 16]).unwrap_err();
    assert_eq!(nothing.kind(), std::io::ErrorKind::WouldBlock, "no command was sent to it");
    // When the first one is gone, the second one is served.
    first.abort();
    agent.is_absent("").await;
    let _second = reader.serve(second);
    agent.is_ready().await;
    agent.sells().await;
}

#[tokio::test]
async fn a_second_connection_that_was_given_up_delays_the_readers_return_only() {
    let (port, address) = listening();
    let mut agent = Agent::at(address);
    let reader = Reader::default();
    let first = reader.serve(connect(port).await);
    agent.is_ready().await;
    for _ in 0..3 {
        drop(connect(port).await);
    }
    agent.sells().await;
    first.abort();
    agent.is_absent("").await;
    let _returned = reader.serve(connect(port).await);
    agent.is_ready().await;
    agent.sells().await;
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_never_connects_is_absent_and_may_still_come() {
    let (port, address) = listening();
    let mut agent = Agent::at(address);
    let began = Instant::now();
    agent.is_absent("no reader has connected").await;
    assert!((10..12).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    agent.sells_nothing().await;
    // The absence is reported once, however long it lasts.
    let again = timeout(Duration::from_secs(3600), agent.events.recv()).await;
    assert!(again.is_err(), "{again:?}");
    let _reader = Reader::default().serve(connect(port).await);
    agent.is_ready().await;
}

/// Checks a reader whose power fails: its connection stays open and is silent. It comes back with another connection.
#[tokio::test(start_paused = true)]
async fn a_connection_that_is_open_and_dead_gives_way_to_the_next() {
    let (port, address) = listening();
    let mut agent = Agent::at(address);
    let reader = Reader::default();
    let mut first = connect(port).await;
    // The first connection answers the start-up by hand, and then nothing.
    let mut decoder = Decoder::new(Profile::Vipa);
    let mut buffer = [0; 512];
    let mut commands = 0;
    while commands < 6 {
        let count = first.read(&mut buffer).await.unwrap();
        let mut out = Vec::new();
        decoder.feed(&buffer[..count], |received| {
            let Received::Message(message) = received else { panic!("a fault") };
            commands += 1;
            for (unsolicited, answer) in reader.hears(&VipaCommand::parse(message.bytes).unwrap()) {
                out.extend(chain(Nad::Reader, unsolicited, &hex::decode(answer).unwrap(), 254).unwrap().flatten());
            }
        });
        first.write_all(&out).await.unwrap();
    }
    agent.is_ready().await;
    let began = Instant::now();
    let _second = reader.serve(connect(port).await);
    agent.is_ready().await;
    assert!(began.elapsed() <= Duration::from_secs(75), "{:?}", began.elapsed());
    agent.sells().await;
}

#[tokio::test]
async fn an_address_that_cannot_be_listened_at_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut agent = Agent::at(format!("tcp-listen://{}", taken.local_addr().unwrap()));
    agent.is_absent("in use").await;
    let (port, _) = listening();
    let mut agent = Agent::at(format!("tcp://127.0.0.1:{port}"));
    agent.is_absent("refused").await;
}
