//! ID TECH NEO2, also named ViVOtech2 (readers: 4): VP3300, VP5300, VP6800, VP8800.
//!
//! | need | command | answer |
//! |---|---|---|
//! | identity | 12-01 serial number, 29-00 firmware | text |
//! | key status | 81-0C keys, 81-0B KSN and state of each, C7-37 encryption switch, C7-A3 | `KeyInfoAnswer`, … |
//! | wait for any card | 01-01 poll mode 01 once, then 02-40 with DFEF37 = 07 | `Neo2CardAnswer` |
//! | chip | 60-10, 60-11, then 60-12 with the gateway's answer; 61-01 call-backs between | 63 first, then `Neo2CardAnswer` |
//! | tap | 02-40 (03-40 after a tap that the reader began by itself) | `Neo2CardAnswer` |
//! | swipe | 02-40 | `Neo2CardAnswer` with DFEE23 |
//! | PIN outside of EMV | 62-01, for the card that the reader holds | first response, then `Neo2PinAnswer` |
//! | manual entry | 83-41 | `ManualCardAnswer` |
//! | text | 01-02, the reader's own texts only; other texts need a signature (62-05) | status |
//! | cancel | 05-01 for 02-xx and 60-xx, 62-00 for 62-xx | status, and the cancelled command's own answer |
//! | clock | 25-03 date and 25-01 time; 25-04 and 25-02 read them | status; `parse_clock` |
//! | check of an idle reader | 18-01 ping | status |
//!
//! A reader takes one command at a time. Messages without a command are only call-backs and a notice after its start
//! (14-01). There is no message about a card in the slot.

mod framing;
mod listener;
pub mod message;
mod recording;
mod settings;
mod speaker;

use crate::family::{Family, FamilyParts};

pub use crate::session::ReaderSession as Neo2Session;
pub(crate) use recording::RECORDING;
pub use settings::Neo2Settings;
pub use speaker::CAPABILITIES;

impl Family for Neo2Settings {
    fn parts(self) -> FamilyParts {
        FamilyParts {
            recording: &RECORDING,
            framing: Box::new(framing::Neo2Framing::default()),
            listener: Box::new(listener::Neo2Listener),
            speaker: Box::new(speaker::Neo2Speaker(self)),
        }
    }
}
