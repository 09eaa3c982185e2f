//! Checks that the tills of all protocols with a line of their own share: names, lines, and who may connect.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use pos_till_api::{OnSilence, is_till_name};

use super::zvt::Wrong;

/// The largest number of tills of one protocol, which is enough for the counters of a shop.
const MOST: usize = 16;

/// The actions after an approval that a till does not get.
pub(super) const ON_SILENCE: [(&str, OnSilence); 2] = [("reverse", OnSilence::Reverse), ("keep", OnSilence::Keep)];

/// Finds faults in the names and lines of the tills of one protocol. `names` and `lines` are those of the tills before
/// them, and then contain these too.
pub(super) fn judge<'a>(
    protocol: &str,
    tills: impl Iterator<Item = (&'a String, String)>,
    names: &mut BTreeSet<&'a String>,
    lines: &mut BTreeSet<String>,
) -> Vec<(String, Wrong)> {
    let (mut all, mut count) = (Vec::new(), 0);
    for (till, line) in tills {
        count += 1;
        let key = format!("{protocol} {till:?}");
        if !lines.insert(line) {
            let wrong = ("a different till has the same line".to_owned(), "give each till its own port or serial line");
            all.push((key.clone(), wrong));
        }
        let remedy = "use 1 to 32 letters, digits, '-' and '_', different for each till";
        if !is_till_name(till) {
            all.push((key, (format!("till: {till:?} cannot be a till's name"), remedy)));
        } else if !names.insert(till) {
            all.push((key, (format!("till: {till:?} is used twice"), remedy)));
        }
    }
    if count > MOST {
        all.push((protocol.to_owned(), (format!("there are {count}"), "write 16 at most")));
    }
    all
}

/// Finds a listener that is open to everyone in the network.
pub(super) fn judge_open(listen: &SocketAddr, from: &[IpAddr]) -> Option<Wrong> {
    (from.is_empty() && !listen.ip().is_loopback()).then(|| {
        let wrong =
            format!("listen: {listen} is open to everyone who can reach it, and the protocol has no authentication");
        (wrong, "write the till's address in from, for example from = [\"192.168.1.20\"]")
    })
}
