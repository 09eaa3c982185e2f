//! Everything that the real terminals send through the broker, as a thief of the broker would read it.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use pos_broker::tls::{self, Own};
use pos_broker::{Connection, Endpoint, Heard};
use pos_fleet_terms::{Channel, Id, Topic};

use crate::broker::Broker;
use crate::pki::Pki;
use crate::server::ORG;

/// The topics and messages so far.
#[derive(Clone, Default)]
pub(crate) struct Traffic(Arc<Mutex<String>>);

impl Traffic {
    /// Begins to listen, with the rights of the server and a name of its own. It comes back when the broker does.
    pub(crate) fn of(terminals: Vec<String>, broker: &Broker, pki: &Pki) -> Self {
        let (certificate, key) = pki.files("pos-fleet-consumer");
        let tls = tls::client(&pki.ca(), Some(Own { certificate: &certificate, key: &key })).unwrap();
        let endpoint = Endpoint {
            host: "localhost".to_owned(),
            port: broker.port,
            tls,
            name: "listener".to_owned(),
            keep_alive_s: 30,
            unacknowledged: 1_000,
            most_unread: 64 * 1024 * 1024,
        };
        let traffic = Self::default();
        let shared = traffic.clone();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                loop {
                    shared.listen(&endpoint, &terminals).await;
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            });
        });
        traffic
    }

    /// Listens until the connection ends.
    async fn listen(&self, endpoint: &Endpoint, terminals: &[String]) {
        let mut connection = Connection::open(endpoint, None);
        let org: Id = ORG.parse().unwrap();
        while let Ok(heard) = connection.heard().await {
            match heard {
                Heard::Connected => {
                    let topics = terminals.iter().flat_map(|terminal| {
                        let up = Channel::ALL.into_iter().filter(|channel| channel.is_up());
                        let terminal: Id = terminal.parse().unwrap();
                        let org = org.clone();
                        up.map(move |channel| Topic::new(org.clone(), terminal.clone(), channel).to_string())
                    });
                    if connection.subscribe(topics).await.is_err() {
                        return;
                    }
                }
                Heard::Message(message) => {
                    let text = format!("{} {}\n", message.topic(), String::from_utf8_lossy(message.payload()));
                    self.0.lock().unwrap().push_str(&text);
                    if connection.done(&message).await.is_err() {
                        return;
                    }
                }
                Heard::Refused(_) => {}
            }
        }
    }

    /// Returns it.
    pub(crate) fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}
