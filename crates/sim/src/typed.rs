//! What a person types while a simulator runs.

use std::io;

use tokio::sync::mpsc;

/// The lines of standard input; none when it has ended. A thread of its own reads them: a blocked read must not hold
/// the program's end.
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
