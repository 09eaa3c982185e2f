//! Checks the recorded form of any bytes from a reader. It has as many bytes, in any split, and its sealed data are
//! zeros. Its recorded form is the same again.

use pos_reader::config::ReaderProtocol;
use pos_reader::driver::ReaderFamily;
use pos_reader::family::RawMessage;
use pos_reader::recording::{FirstPiece, LineRewriter, PartContent, RecordedWire};

/// Checks that the conditions above hold for these bytes, in pieces of `size` bytes.
pub(crate) fn holds(protocol: ReaderProtocol, size: usize, bytes: &[u8]) {
    let wire = ReaderFamily::plain(protocol).expect("every family").recorded_wire();
    let recorded = recorded(wire, bytes, bytes.len().max(1));
    assert_eq!(recorded.len(), bytes.len());
    assert!(self::recorded(wire, bytes, size) == recorded, "a split changes the recording");
    let mut rest = &recorded[..];
    while !rest.is_empty() {
        let FirstPiece::Frame { length, data, codes, more: false, .. } = wire.first(rest) else {
            rest = &rest[1..];
            continue;
        };
        let message = RawMessage { unsolicited: false, codes, bytes: &rest[data] };
        wire.parts(&message, &mut |part| {
            assert!(part.content != PartContent::Sealed || part.value.iter().all(|byte| *byte == 0));
        });
        rest = &rest[length..];
    }
}

/// Returns the recorded bytes.
fn recorded(wire: &'static dyn RecordedWire, bytes: &[u8], size: usize) -> Vec<u8> {
    let mut rewriter = LineRewriter::new(wire);
    let mut announced = 0;
    for piece in bytes.chunks(size) {
        announced += rewriter.feed(piece);
    }
    announced += rewriter.silence();
    let pieces: Vec<_> = std::iter::from_fn(|| rewriter.pop()).collect();
    assert_eq!(pieces.len(), announced);
    pieces.into_iter().flat_map(|piece| piece.bytes).collect()
}
