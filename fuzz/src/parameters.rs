//! Checks any bytes as a form and as a name. There is no panic, and the text of a violation contains no value. A valid
//! form stays valid when the agent's encoder writes it again.

use pos_gateway_model::form::{self, FormContext, MOST_VIOLATIONS};
use pos_gateway_model::{Call, Direction, Names, named, nearest, shown};

/// Checks that the conditions above hold for these bytes.
pub fn holds(bytes: &[u8]) {
    let names = Names::default();
    if let Ok(name) = std::str::from_utf8(bytes) {
        if let Ok(known) = named(name, &names, Direction::Request) {
            assert!(!known.is_empty());
        } else {
            let _ = nearest(name, &names);
        }
        assert!(!shown(name).contains(char::is_control));
    }
    let Ok(pairs) = form::decode(bytes) else { return };
    let written = form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).finish();
    assert_eq!(form::decode(written.as_bytes()).as_ref(), Ok(&pairs));
    for call in Call::ALL {
        for direction in [Direction::Request, Direction::Response] {
            let violations =
                form::judge(&pairs, &FormContext { direction, call: *call, from_client_side: true, names: &names });
            assert!(violations.len() <= MOST_VIOLATIONS);
        }
    }
}
