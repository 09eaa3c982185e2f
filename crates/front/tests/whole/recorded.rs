//! A till's line, which is recorded if `POS_ZVT_STREAMS` names a folder (`bash tests/clients/dissect`). Otherwise the
//! till is connected directly to the terminal.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use pos_protocols::zvt::apdu::Splitter;
use pos_test_kit::world::pcap::Stream;

/// The kind of bytes that the till sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    Zvt,
    /// Bytes that are not always ZVT, so only the terminal's answers are recorded.
    Anything,
}

/// Returns the port to which a till must connect to reach the terminal at `port`.
pub(crate) async fn line_to(port: u16, till: Speaks) -> u16 {
    if std::env::var_os("POS_ZVT_STREAMS").is_none() {
        return port;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            tokio::spawn(recorded(connection, port, till));
        }
    });
    at
}

/// Records a connection until either end closes it, and then closes the other end.
async fn recorded(mut till: TcpStream, port: u16, speaks: Speaks) {
    let Ok(mut terminal) = TcpStream::connect(("127.0.0.1", port)).await else { return };
    let mut stream = Stream::begin().expect("streams are asked for");
    let (mut said, mut heard) = ([0; 16_384], [0; 16_384]);
    let (mut tills, mut terminals) = (Recorder::default(), Recorder::default());
    loop {
        let passed_on = tokio::select! {
            read = till.read(&mut said) => match read {
                Ok(count @ 1..) => {
                    if speaks == Speaks::Zvt {
                        tills.record(&said[..count], |bytes| stream.till_says(bytes));
                    }
                    terminal.write_all(&said[..count]).await
                }
                _ => return,
            },
            read = terminal.read(&mut heard) => match read {
                Ok(count @ 1..) => {
                    terminals.record(&heard[..count], |bytes| stream.terminal_says(bytes));
                    till.write_all(&heard[..count]).await
                }
                _ => return,
            },
        };
        if passed_on.is_err() {
            return;
        }
    }
}

/// One direction of a line.
#[derive(Default)]
struct Recorder {
    splitter: Splitter,
}

impl Recorder {
    /// Records the bytes. The dissector does not know the lengths that some tills send before each APDU: of such a line
    /// the APDUs are recorded.
    fn record(&mut self, mut bytes: &[u8], mut record: impl FnMut(&[u8])) {
        let raw = bytes;
        let apdus: Vec<_> = std::iter::from_fn(|| self.splitter.next(&mut bytes)).collect();
        if self.splitter.has_lengths() {
            apdus.iter().for_each(|apdu| record(&apdu.encode()));
        } else {
            record(raw);
        }
    }
}
