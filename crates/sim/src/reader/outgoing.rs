//! The output: whole messages of a family, with the requested faults, and the end of a running command.

use super::device::{Device, OutgoingBytes};
use super::family::Failure;

impl Device {
    /// Sends one message, which may consist of several packets. `card` is true if it contains card data.
    pub(super) fn send(&mut self, mut bytes: Vec<u8>, card: bool) {
        if self.faults.loses_message(self.now) {
            return;
        }
        self.faults.damage(&mut bytes);
        self.outgoing.push_back(OutgoingBytes { bytes, card });
    }

    /// Ends the running command, and says why.
    pub(super) fn fail(&mut self, failure: Failure) {
        self.kernel.end_command();
        if failure.ends_sale() {
            self.kernel.sale_is_open = false;
            self.display.amount = None;
        }
        self.protocol().failed(self, failure);
    }
}
