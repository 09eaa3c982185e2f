//! Checks any bytes as a request of the first boot's page, and as a file of answers. Reading ends without a panic. What
//! is read is written and read again as the same. A page names no file, and a file of answers holds no secret. Every
//! fault is told in one line.

use pos_first_boot::read::{Source, answers, request};
use pos_first_boot::{Answers, Fault, Request, Secret};

/// Checks that the conditions above hold for these bytes.
pub fn holds(bytes: &[u8]) {
    match request(bytes) {
        Ok(read) => {
            let written = serde_json::to_vec(&read).unwrap();
            assert_eq!(request(&written).as_ref(), Ok(&read));
            if let Request::Check(answers) | Request::Write(answers) = &read {
                assert!(secrets(answers).all(|secret| matches!(secret, Secret::Value(_))));
            }
            assert!(format!("{read:?}").len() < 12, "only its name");
        }
        Err(faults) => are_lines(&faults),
    }
    let Ok(value) = serde_json::from_slice(bytes) else { return };
    match answers(value, Source::File) {
        Ok(read) => {
            assert!(secrets(&read).all(|secret| matches!(secret, Secret::File(_))));
            let written = serde_json::to_value(&read).unwrap();
            assert_eq!(answers(written, Source::File), Ok(read));
        }
        Err(faults) => are_lines(&faults),
    }
}

fn secrets(answers: &Answers) -> impl Iterator<Item = &Secret> {
    let Answers { gateway, till, page, operator, system, .. } = answers;
    let till = till.as_ref().and_then(|till| till.secret.as_ref());
    let logo = page.as_ref().and_then(|page| page.logo.as_ref());
    let wifi = system.as_ref().and_then(|system| system.wifi.as_ref()?.password.as_ref());
    let single = [gateway.ca.as_ref(), gateway.token.as_ref(), till, logo, wifi];
    single.into_iter().flatten().chain(operator.iter().map(|operator| &operator.pin))
}

fn are_lines(faults: &[Fault]) {
    assert!(!faults.is_empty());
    for Fault { key, wrong, remedy } in faults {
        assert!(![key, wrong, remedy].iter().any(|text| text.contains(char::is_control)), "{key:?}");
    }
}
