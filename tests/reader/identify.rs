//! The search for the family of a reader, with simulated readers at a pty and over TCP.

use pos_reader::config::ReaderProtocol;
use pos_reader::identify::{NoReaderFound, identify};
use pos_sim::reader::{Family, Options, start};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const ALL: [(Family, ReaderProtocol); 3] = [
    (Family::Miura, ReaderProtocol::MiuraMpi),
    (Family::Vipa, ReaderProtocol::VerifoneVipa),
    (Family::Neo2, ReaderProtocol::IdtechNeo2),
];

#[tokio::test]
async fn each_family_is_recognised_and_nothing_of_it_is_set() {
    for (family, protocol) in ALL {
        for tcp in [None, Some("127.0.0.1:0".parse().unwrap())] {
            let reader = start(Options { family, tcp, ..Options::default() }).await.unwrap();
            let place = reader.place();
            let port = if place.starts_with('/') { place } else { format!("tcp://{place}") };
            let found = identify(&port, None, |_| {}).await.unwrap();
            assert_eq!((found.protocol, found.card_key), (protocol, true), "{family:?}");
            assert_eq!(found.identity.serial, "30003638", "{family:?}");
            assert!(found.identity.pin_key && !found.identity.model.is_empty(), "{family:?} {:?}", found.identity);
            // Identity and keys are asked for. No clock is set, no antenna opened, and no card waited for.
            let harmless: &[u16] = match family {
                Family::Miura => &[0xD0FF, 0xD000, 0xEEE0],
                Family::Vipa => &[0xD0FF, 0xD000, 0xC411],
                Family::Neo2 => &[0x0501, 0x1201, 0x2900, 0x810B],
            };
            // Another family's question arrives as a damaged packet, or as one of these commands.
            let commands = reader.counters().commands;
            let strange: Vec<_> = commands.iter().filter(|command| !harmless.contains(command)).collect();
            assert!(strange.is_empty(), "{family:?}: {strange:04X?}");
        }
    }
}

#[tokio::test]
async fn a_reader_without_keys_is_a_reader() {
    for (family, protocol) in ALL {
        let reader = start(Options { family, secured: false, ..Options::default() }).await.unwrap();
        let found = identify(&reader.place(), None, |_| {}).await.unwrap();
        assert_eq!((found.protocol, found.card_key, found.identity.serial.as_str()), (protocol, false, "30003638"));
    }
}

#[tokio::test]
async fn a_silent_port_a_stranger_and_a_missing_port_are_told_apart() {
    // A device that answers everything with text, as a modem does.
    let stranger = start(Options { wrong_device: true, ..Options::default() }).await.unwrap();
    let mut attempts = Vec::new();
    assert_eq!(identify(&stranger.place(), None, |one| attempts.push(one)).await, Err(NoReaderFound::Silent));
    assert_eq!(attempts, pos_reader::identify::attempts(&stranger.place(), None));
    let missing = identify("/dev/no-such-reader", None, |_| {}).await;
    assert!(matches!(missing, Err(NoReaderFound::Absent { .. })), "{missing:?}");
    // A program that says nothing, as a printer without paper does.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = format!("tcp://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = [0; 64];
            while let Ok(1..) = stream.read(&mut buffer).await {}
            let _ = stream.shutdown().await;
        }
    });
    assert_eq!(identify(&port, None, |_| {}).await, Err(NoReaderFound::Silent));
}
