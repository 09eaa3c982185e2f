//! Input that a person types while a simulator is running.

use std::io;

use tokio::sync::mpsc;

/// Returns the lines of standard input. The channel closes at the end of the input. A separate thread reads them,
/// because a blocked read must not delay the program's end.
pub(crate) fn lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(8);
    std::thread::spawn(move || {
        for line in io::stdin().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
