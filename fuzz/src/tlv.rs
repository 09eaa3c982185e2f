//! Checks any bytes as BER-TLV and track 2. There is no panic, and one level of objects that was read can be written
//! and read again.

use pos_terms::emv::track2::{MaskedTrack2, Track2};
use pos_terms::emv::{tag, tlv};

/// Checks that the conditions above hold for these bytes.
pub fn holds(bytes: &[u8]) {
    let visited = tlv::visit(bytes, &mut |object| assert!(object.raw.ends_with(object.value)));
    assert_eq!(tlv::find(bytes, tag::PAN).is_ok(), visited.is_ok());

    let Ok(objects) = tlv::walk(bytes).collect::<Result<Vec<_>, _>>() else { return };
    let mut written = heapless::Vec::<u8, 4096>::new();
    if objects.iter().all(|object| tlv::push(&mut written, object.tag, object.value).is_ok()) {
        let again = tlv::walk(&written).map(|object| object.expect("what is written can be read"));
        assert!(
            again.map(|object| (object.tag, object.value)).eq(objects.iter().map(|object| (object.tag, object.value)))
        );
    }

    if let Ok(track) = Track2::from_tag57(bytes) {
        let again = Track2::from_tag57(&track.tag57()).expect("what is written can be read");
        assert_eq!(again.pan(), track.pan());
    }
    let _ = MaskedTrack2::from_ascii(bytes);
}
