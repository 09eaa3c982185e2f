//! The given answers about the till and the page.

use clap::ValueEnum as _;
use pos_daemon::access;
use pos_first_boot::{PageAnswers, Secret as GivenSecret, TillAnswers};

use super::super::front_file::{FRONT_USER, FrontDraft, Secret, TillKind, folder};
use super::super::questions::NONE;
use super::{Judge, LONGEST};

impl Judge<'_> {
    /// Takes the answers about the till and the page.
    pub(super) fn front(&mut self, till: TillAnswers, page: Option<PageAnswers>, is_given: bool) {
        let usual = if page.is_some() && !is_given { "page" } else { NONE };
        let Ok(kind) = TillKind::from_str(till.kind.as_deref().unwrap_or(usual), false) else {
            return self.tell("till.kind", "is no kind of till", "write zvt, nexo, caisse-ap, page or none");
        };
        self.has_no_stray(kind, &till, page.is_some());
        if kind == TillKind::None {
            return;
        }
        let mut front = FrontDraft::of(kind, self.ground.config);
        let take = |to: &mut String, from: Option<String>| from.into_iter().for_each(|from| *to = from);
        let user = access::user_number(FRONT_USER).map(|number| number.to_string());
        match self.ground.front_user.map(str::to_owned).or(user) {
            Some(user) => front.user = user,
            None => self.tell("till.kind", "there is no user pos-front", "install the package, or give --front-user"),
        }
        take(&mut front.name, till.name);
        match till.address {
            Some(addresses) => front.from = addresses.join(", "),
            None if front.has_till() => self.missing("till.address"),
            None => {}
        }
        take(&mut front.port, till.port);
        take(&mut front.poi_id, till.poi_id);
        if kind == TillKind::Nexo && till.sale_id.is_none() {
            self.missing("till.sale-id");
        }
        take(&mut front.sale_id, till.sale_id);
        take(&mut front.key_identifier, till.key_identifier);
        take(&mut front.key_version, till.key_version);
        take(&mut front.rights, till.rights);
        front.certificate_name = till.certificate_name.filter(|name| name != NONE);
        front.has_operator = till.operator.unwrap_or_default();
        match till.secret.map(|secret| self.content("till.secret", &secret, LONGEST)) {
            Some(Some(secret)) => front.secret = Secret::New(secret),
            Some(None) => {}
            None if kind.has_secret() && front.secret_file(&folder(&front.file)).exists() => {
                front.secret = Secret::Kept;
            }
            None if kind == TillKind::Nexo => self.missing("till.secret"),
            None => {}
        }
        if let Some(PageAnswers { without_sign_in, logo }) = page {
            front.without_sign_in = without_sign_in;
            front.logo = logo.and_then(|logo| self.logo(&logo));
        }
        self.draft.front = Some(front);
    }

    /// Tells the settings that do not apply to this kind of till.
    fn has_no_stray(&mut self, kind: TillKind, till: &TillAnswers, has_page: bool) {
        let (is_connected, has_till) = (kind != TillKind::None, kind.has_till());
        let is_nexo = kind == TillKind::Nexo;
        let given = [
            ("page", has_page, is_connected),
            ("till.rights", till.rights.is_some(), is_connected),
            ("till.name", till.name.is_some(), has_till),
            ("till.address", till.address.is_some(), has_till),
            ("till.port", till.port.is_some(), has_till),
            ("till.operator", till.operator.is_some(), has_till),
            ("till.secret", till.secret.is_some(), kind.has_secret()),
            ("till.poi-id", till.poi_id.is_some(), is_nexo),
            ("till.sale-id", till.sale_id.is_some(), is_nexo),
            ("till.key-identifier", till.key_identifier.is_some(), is_nexo),
            ("till.key-version", till.key_version.is_some(), is_nexo),
            ("till.certificate-name", till.certificate_name.is_some(), is_nexo),
        ];
        for (key, ..) in given.into_iter().filter(|(_, is_given, applies)| *is_given && !applies) {
            self.tell(key, "does not apply to this kind of till", "remove it, or correct till.kind");
        }
    }

    fn logo(&mut self, logo: &GivenSecret) -> Option<Vec<u8>> {
        let content = self.content("page.logo", logo, 2 * LONGEST)?;
        if matches!(logo, GivenSecret::File(_)) {
            return Some(content.to_vec());
        }
        let decoded = decoded(&content);
        if decoded.is_none() {
            self.tell("page.logo", "is not written in base64", "choose the picture again");
        }
        decoded
    }
}

/// Returns the answer that a fault of `pos-front` is about.
pub(super) fn answer_of_front(wrong: &str) -> &'static str {
    const KEYS: [(&str, &str); 12] = [
        ("page.logo", "page.logo"),
        ("page.without-sign-in", "page.without-sign-in"),
        ("password-file", "till.secret"),
        ("passphrase-file", "till.secret"),
        ("poi-id", "till.poi-id"),
        ("sale-id", "till.sale-id"),
        ("key-identifier", "till.key-identifier"),
        ("key-version", "till.key-version"),
        ("certificate-name", "till.certificate-name"),
        (".from", "till.address"),
        (".listen", "till.port"),
        (".till", "till.name"),
    ];
    let key = wrong.split(": ").next().unwrap_or_default();
    KEYS.into_iter().find(|(name, _)| key.contains(name)).map_or("till.kind", |(_, answer)| answer)
}

/// Decodes base64 (RFC 4648, 4), with its padding.
fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    let bare = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    let mut bytes = Vec::with_capacity(bare.len() / 4 * 3 + 2);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in bare {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (bits, count) = (bits << 6 | u32::from(value), count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    (text.len().is_multiple_of(4) && bits == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded_and_anything_else_is_refused() {
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")] {
            assert_eq!(decoded(text.as_bytes()).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        for text in ["Z", "Zg", "Zg=", "Zh==", "Zm9v\n", "Z m9", "====="] {
            assert_eq!(decoded(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn each_fault_of_the_front_names_an_answer() {
        for (wrong, answer) in [
            ("zvt[1].from: has an invalid value", "till.address"),
            ("zvt[1].password-file: /x: is not six digits", "till.secret"),
            ("nexo.till[1].sale-id: is empty", "till.sale-id"),
            ("caisse-ap[1].listen: has an invalid value", "till.port"),
            ("pos-front, which connects tills, is not installed here", "till.kind"),
        ] {
            assert_eq!(answer_of_front(wrong), answer);
        }
    }
}
