//! Checks any bytes as signed documents at both ends: a topic in the first line, then a message.
//!
//! The desk takes no message that the terminal's key has not signed, and of a signed one only what its topic names. The
//! uplink takes any answer of the agent, and says nothing that a reader would refuse.

use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use pos_fleet::desk::{Said, understood};
use pos_fleet_terms::{Channel, CommandResult, DocumentKind, Envelope, Reported, State, Topic, read, write};
use pos_till_api::client::ClientError;
use pos_uplink::signer::ResultSigner;
use pos_uplink::steer::{Steering, begin};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PublicKeyData};

/// A terminal's key, and its point as a certificate has it.
static KEY: LazyLock<(ResultSigner, Vec<u8>)> = LazyLock::new(|| {
    let pair = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("a key");
    (ResultSigner::read(&pair.serialize_pem()).expect("a signer"), pair.der_bytes().to_vec())
});

/// An agent that answers the same to everything.
#[derive(Clone)]
struct Same(Vec<u8>);

impl Steering for Same {
    async fn ask(&self, _: String, _: Option<Vec<u8>>, _: Duration) -> Result<(u16, Vec<u8>), ClientError> {
        Ok((200, self.0.clone()))
    }
}

/// Checks that the conditions above hold for these bytes.
pub fn holds(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let (topic, message) = end.map_or((bytes, bytes), |end| (&bytes[..end], &bytes[end + 1..]));
    if let Ok(envelope) = Envelope::read(message) {
        assert_eq!(Envelope::read(&envelope.write()), Ok(envelope));
    }
    let agent = Same(message.to_vec());
    if let Poll::Ready(Ok(Some(begun))) = pin!(begin(&agent)).poll(&mut Context::from_waker(Waker::noop())) {
        let (nonce, counters, not_signed) = (Some(begun.nonce), begun.counters, begun.not_signed);
        let state = State { online: true, nonce, counters, not_signed, ..State::default() };
        assert!(write(&state).is_ok(), "{state:?}");
    }
    let Some(topic) = str::from_utf8(topic).ok().and_then(|text| text.parse::<Topic>().ok()) else { return };
    let (signer, point) = &*KEY;
    // The key is made at each start, so it has not signed these bytes.
    assert!(understood(&topic, message, std::slice::from_ref(point)).is_err());
    for kind in [DocumentKind::Result, DocumentKind::Report, DocumentKind::Command] {
        let signed = signer.sign(kind, message.to_vec()).expect("a signature").write();
        assert!(understood(&topic, &signed, &[]).is_err(), "a signature of nobody counts");
        match understood(&topic, &signed, std::slice::from_ref(point)) {
            Ok(Said::Result(result)) => {
                assert_eq!((kind, topic.channel), (DocumentKind::Result, Channel::CommandResult));
                assert_eq!(topic.id.as_ref(), Some(&result.id));
                assert_eq!(read::<CommandResult>(message), Ok(result));
            }
            Ok(Said::Reported(reported)) => {
                assert_eq!((kind, topic.channel), (DocumentKind::Report, Channel::Reported));
                assert_eq!(read::<Reported>(message), Ok(reported));
            }
            Err(_) => {}
        }
    }
}
