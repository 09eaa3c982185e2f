//! A proxy on the reader's connection that records everything the reader sends to the agent.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock};

use pos_reader_link::apdu_link::{Decoder, Received};
use pos_terms::emv::{Tag, tlv};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::leak::Secret;

/// The reader's sealed data (readers: 2.6) with its names.
const SEALED: [(u32, &str); 4] = [
    (0xDFAE02, "SRED data"),
    (0xDFAE03, "a key serial number"),
    (0xDFAE04, "a PIN block"),
    (0xDFAE05, "a key serial number"),
];

pub(crate) struct Overheard {
    address: SocketAddr,
    leads_to: Arc<OnceLock<String>>,
    said: Arc<Mutex<Vec<u8>>>,
}

impl Overheard {
    pub(crate) async fn listen() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (leads_to, said) = (Arc::new(OnceLock::<String>::new()), Arc::default());
        let (place, ears) = (Arc::clone(&leads_to), Arc::clone(&said));
        tokio::spawn(async move {
            while let Ok((agent, _)) = listener.accept().await {
                let reader = TcpStream::connect(place.get().expect("the reader is there before the agent")).await;
                if let Ok(reader) = reader {
                    tokio::spawn(carry(agent, reader, Arc::clone(&ears)));
                }
            }
        });
        Self { address, leads_to, said }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn lead_to(&self, reader: &str) {
        self.leads_to.set(reader.trim_start_matches("tcp://").to_owned()).unwrap();
    }

    /// Returns everything that the reader sealed, and everything that it sent in clear text.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        let mut secrets = Vec::new();
        Decoder::default().feed(&self.said.lock().unwrap(), |received| {
            let Received::Message(message) = received else { return };
            let Some((body, _)) = message.bytes.split_last_chunk::<2>() else { return };
            // An answer that a test damaged is skipped, because another sale sends it undamaged.
            let _ = tlv::visit(body, &mut |object| secrets.extend(secret(object.tag, object.value)));
        });
        secrets
    }
}

fn secret(tag: Tag, value: &[u8]) -> Option<Secret> {
    let sealed = SEALED.iter().find(|(number, _)| tag.0 == *number).map(|(_, what)| *what);
    let what = sealed.or(tag.is_sensitive().then_some("a clear tag"))?;
    // An expiry date is too short, so it would be found by chance.
    (value.len() >= 6).then(|| Secret::bytes(what, value))
}

/// Copies bytes in both directions until one side closes.
async fn carry(mut agent: TcpStream, mut reader: TcpStream, ears: Arc<Mutex<Vec<u8>>>) {
    let (mut from_agent, mut from_reader) = ([0; 1024], [0; 1024]);
    loop {
        tokio::select! {
            read = agent.read(&mut from_agent) => match read {
                Ok(count @ 1..) if reader.write_all(&from_agent[..count]).await.is_ok() => {}
                _ => return,
            },
            read = reader.read(&mut from_reader) => match read {
                Ok(count @ 1..) => {
                    ears.lock().unwrap().extend_from_slice(&from_reader[..count]);
                    if agent.write_all(&from_reader[..count]).await.is_err() {
                        return;
                    }
                }
                _ => return,
            },
        }
    }
}
