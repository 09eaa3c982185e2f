//! The simulated providers: one turns test cards into tokens, and three wallets encrypt a card for one payment. They
//! replace a customer's phone or a token service if an integrator has neither.
//!
//! | function | result |
//! |---|---|
//! | [`account_token`] | `tokenAccount.number` for a test card |
//! | [`cryptogram`] | `tokenAccount.cryptogram` for one payment with a token; [`verification_code`] makes its short code |
//! | [`wallet_token`] | `<wallet_x>.paymentToken` for a card, an amount and a currency |
//!
//! The keys are public and protect nothing. A running gateway returns the same values as JSON, without an access token:
//!
//! | request | answer |
//! |---|---|
//! | `GET /provider/account-token?type=NETWORK&number=…` | `number`, `cryptogram`, `dtvc` |
//! | `GET /provider/wallet-token?wallet=<wallet_a>&number=…&expiry=YYMM&amount=…&currency=…` | `paymentToken` |

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::delivery::Delivery;
use super::refusal;
use super::test_card::{self, TestCard};
use pos_gateway_model::form;

/// The keys of the simulated providers. Their texts say that they are simulated.
const WALLET_KEY: &[u8; 32] = b"pos-sim wallets, for tests only!";
const TOKEN_KEY: &[u8] = b"pos-sim token provider, for tests only";

/// The issuer of a token (`tokenAccount.type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenType {
    /// An external provider.
    External,
    /// The card's network.
    Network,
}

impl TokenType {
    fn digit(self) -> char {
        match self {
            Self::External => '1',
            Self::Network => '2',
        }
    }
}

/// The content of a wallet's token.
#[derive(Serialize, Deserialize)]
pub(super) struct WalletCard {
    pub number: String,
    /// The expiry as YYMM.
    pub expiry: String,
    pub amount: String,
    pub currency: String,
    /// A random value, which makes the token valid for one payment only.
    pub once: String,
}

/// Returns the token of a test card: 16 digits with a check digit that no card number has. `None` for any other card.
#[must_use]
pub fn account_token(kind: TokenType, card_number: &str) -> Option<String> {
    let card = test_card::find(card_number)?;
    let tail = card.number.get(card.number.len() - 11..)?;
    let body = format!("990{}{tail}", kind.digit());
    (b'0'..=b'9')
        .map(|digit| format!("{body}{}", char::from(digit)))
        .find(|token| pos_terms::emv::luhn::is_valid(token))
}

/// Returns the card that a token replaces.
pub(super) fn card_of(kind: TokenType, token: &str) -> Option<&'static TestCard> {
    test_card::all().iter().find(|card| account_token(kind, card.number).as_deref() == Some(token))
}

/// Makes the proof for one payment with a token: the base64 form of a one-time number and a code over it. `once` must
/// be a number that was not used with this token before.
#[must_use]
pub fn cryptogram(token: &str, once: u64) -> String {
    let mut bytes = once.to_be_bytes().to_vec();
    bytes.extend_from_slice(&code(&[token.as_bytes(), &once.to_be_bytes()])[..12]);
    STANDARD.encode(bytes)
}

/// Returns whether a cryptogram belongs to a token.
pub(super) fn is_of(token: &str, proof: &str) -> bool {
    let Ok(bytes) = STANDARD.decode(proof) else { return false };
    let once = bytes.get(..8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_be_bytes);
    once.is_some_and(|once| cryptogram(token, once) == proof)
}

/// Returns the short code of a token (`tokenAccount.dtvc`), three digits.
#[must_use]
pub fn verification_code(token: &str) -> String {
    let bytes = code(&[token.as_bytes(), b"dtvc"]);
    format!("{:03}", u16::from_be_bytes([bytes[0], bytes[1]]) % 1000)
}

fn code(parts: &[&[u8]]) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, TOKEN_KEY);
    hmac::sign(&key, &parts.concat()).as_ref().to_vec()
}

/// Makes a wallet's token for one payment. `wallet` is the prefix of its parameters, and `expiry` has the form YYMM.
/// The customer has agreed to `amount` and `currency`. `None` if the card is no test card, the expiry is invalid, or
/// the system provides no random numbers.
#[must_use]
pub fn wallet_token(wallet: &str, card_number: &str, expiry: &str, amount: &str, currency: &str) -> Option<String> {
    let card = test_card::find(card_number)?;
    if expiry.len() != 4 || !expiry.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let mut once = [0; NONCE_LEN];
    getrandom::fill(&mut once).ok()?;
    let clear = WalletCard {
        number: card.number.to_owned(),
        expiry: expiry.to_owned(),
        amount: amount.to_owned(),
        currency: currency.to_owned(),
        once: hex::encode(once),
    };
    let mut bytes = serde_json::to_vec(&clear).ok()?;
    let nonce = Nonce::assume_unique_for_key(once);
    key().seal_in_place_append_tag(nonce, Aad::from(wallet.as_bytes()), &mut bytes).ok()?;
    Some(STANDARD.encode([&once[..], &bytes].concat()))
}

/// Decrypts a wallet's token; `None` if it is damaged or from another wallet.
pub(super) fn open_wallet(wallet: &str, token: &str) -> Option<WalletCard> {
    let bytes = STANDARD.decode(token).ok()?;
    let (once, sealed) = bytes.split_at_checked(NONCE_LEN)?;
    let nonce = Nonce::try_assume_unique_for_key(once).ok()?;
    let mut sealed = sealed.to_vec();
    let clear = key().open_in_place(nonce, Aad::from(wallet.as_bytes()), &mut sealed).ok()?;
    serde_json::from_slice(clear).ok()
}

/// The path of the providers at a running gateway.
pub(super) const PATH: &str = "/provider/";

/// Serves a request to a provider.
pub(super) fn serve(path: &str, query: &str) -> Delivery {
    let Ok(asked) = form::decode(query.as_bytes()) else { return refusal::not_found() };
    let get = |name: &str| asked.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str());
    let made = match path.strip_prefix(PATH) {
        Some("account-token") => {
            let kind = if get("type") == "NETWORK" { TokenType::Network } else { TokenType::External };
            account_token(kind, get("number")).and_then(|token| {
                let mut once = [0; 8];
                getrandom::fill(&mut once).ok()?;
                let (proof, code) = (cryptogram(&token, u64::from_be_bytes(once)), verification_code(&token));
                Some(json!({ "number": token, "cryptogram": proof, "dtvc": code }))
            })
        }
        Some("wallet-token") => {
            wallet_token(get("wallet"), get("number"), get("expiry"), get("amount"), get("currency"))
                .map(|token| json!({ "paymentToken": token }))
        }
        _ => return refusal::not_found(),
    };
    made.map_or_else(
        || {
            Delivery::Answer(
                400,
                json!({ "error": "number must be one of the public test cards, expiry four digits (YYMM)" }),
            )
        },
        |made| Delivery::Answer(200, made),
    )
}

fn key() -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, WALLET_KEY).expect("the key has 32 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: &str = "4111111111111111";

    #[test]
    fn tokens_stand_for_one_card_each() {
        for kind in [TokenType::External, TokenType::Network] {
            for card in test_card::all() {
                let token = account_token(kind, card.number).unwrap();
                assert_eq!(token.len(), 16);
                assert_eq!(card_of(kind, &token).map(|found| found.number), Some(card.number), "{token}");
                assert!(test_card::find(&token).is_none());
            }
        }
        assert_eq!(account_token(TokenType::External, "4539578763621486"), None);
        let token = account_token(TokenType::Network, CARD).unwrap();
        let proof = cryptogram(&token, 7);
        assert!(proof.len() == 28 && is_of(&token, &proof));
        assert!(!is_of(&account_token(TokenType::External, CARD).unwrap(), &proof) && !is_of(&token, "AAAA"));
        assert_eq!(verification_code(&token).len(), 3);
    }

    #[test]
    fn a_wallets_token_opens_for_its_wallet_alone() {
        let token = wallet_token("<wallet_a>", CARD, "3412", "10.00", "EUR").unwrap();
        assert!(token.len() < 2048 && !token.contains(CARD));
        let clear = open_wallet("<wallet_a>", &token).unwrap();
        assert_eq!((clear.number.as_str(), clear.amount.as_str()), (CARD, "10.00"));
        assert!(open_wallet("<wallet_b>", &token).is_none());
        let damaged = token.replacen(&token[20..24], "AAAA", 1);
        assert!(open_wallet("<wallet_a>", &damaged).is_none() && open_wallet("<wallet_a>", "").is_none());
        assert!(wallet_token("<wallet_a>", CARD, "12/34", "10.00", "EUR").is_none());
        assert!(wallet_token("<wallet_a>", "4539578763621486", "3412", "10.00", "EUR").is_none());
    }
}
