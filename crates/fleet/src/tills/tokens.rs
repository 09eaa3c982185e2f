//! The tokens of cloud tills. A token decides the till and its terminals; the database holds only its SHA-256.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, SystemTime};

use pos_fleet_terms::Id;
use ring::digest::{SHA256, digest};
use time::OffsetDateTime;
use tokio::time::Instant;
use tokio_postgres::Client;

use crate::ca::date;

/// The random bytes of a token: those of its name, and those of its secret.
const NAME: usize = 6;
const SECRET: usize = 32;
/// The wrong tokens in a minute from one address.
const WRONG: u32 = 10;
const MINUTE: Duration = Duration::from_secs(60);
/// The greatest number of addresses that are counted. Further ones only cost the database a look.
const ADDRESSES: usize = 4096;
/// The greatest number of terminals of a token.
const MOST_TERMINALS: usize = 10_000;
/// The longest name of a till, as at the terminal.
const LONGEST_TILL: usize = 64;

/// Who a token lets in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloudCaller {
    /// The name of the token, which is no secret.
    pub token: String,
    /// The till.
    pub till: String,
    /// The terminals.
    pub terminals: Vec<String>,
}

/// A token, as `list` shows it.
#[derive(Clone, Debug)]
pub struct ListedToken {
    /// Its name.
    pub token: String,
    /// The till.
    pub till: String,
    /// The terminals.
    pub terminals: Vec<String>,
    /// The person who made it, and when.
    pub made: (String, OffsetDateTime),
    /// The person who revoked it, and when.
    pub revoked: Option<(String, OffsetDateTime)>,
}

/// The reason why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The name of the till.
    #[error("a till's name has 1 to {LONGEST_TILL} of letters, digits, '-', '_' and '.'")]
    Till,
    /// The list of terminals.
    #[error("a token is for 1 to {MOST_TERMINALS} terminals")]
    Terminals,
    /// The system gives no random numbers.
    #[error("the system gives no random numbers")]
    NoRandom,
    /// The database.
    #[error("the database: {0}")]
    Database(#[from] tokio_postgres::Error),
}

/// Makes a token. Only the returned text has its secret.
///
/// # Errors
/// Fails if a name is wrong, or if the database refuses.
pub async fn new_token(
    client: &Client,
    till: &str,
    terminals: &[Id],
    by: &str,
    now: SystemTime,
) -> Result<String, TokenError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if !(1..=LONGEST_TILL).contains(&till.len()) || !till.bytes().all(is_plain) {
        return Err(TokenError::Till);
    }
    if !(1..=MOST_TERMINALS).contains(&terminals.len()) {
        return Err(TokenError::Terminals);
    }
    let (mut name, mut secret) = ([0; NAME], [0; SECRET]);
    getrandom::fill(&mut name).and_then(|()| getrandom::fill(&mut secret)).map_err(|_| TokenError::NoRandom)?;
    let (name, secret) = (hex::encode(name), hex::encode(secret));
    let terminals: Vec<&str> = terminals.iter().map(Id::as_str).collect();
    let insert = "insert into cloud_token (token, digest, till, terminals, by, made) values ($1, $2, $3, $4, $5, $6)";
    client.execute(insert, &[&name, &secret_digest(&secret), &till, &terminals, &by, &date(now)]).await?;
    Ok(format!("{name}.{secret}"))
}

/// Revokes the tokens of a till, or the one with this name. Returns their number.
///
/// # Errors
/// Fails if the database refuses.
pub async fn revoke_tokens(client: &Client, which: &str, by: &str, now: SystemTime) -> Result<u64, TokenError> {
    let update = "update cloud_token set revoked = $2, revoked_by = $3
        where (till = $1 or token = $1) and revoked is null";
    Ok(client.execute(update, &[&which, &date(now), &by]).await?)
}

/// Lists all tokens, the newest first.
///
/// # Errors
/// Fails if the database does not answer.
pub async fn list_tokens(client: &Client) -> Result<Vec<ListedToken>, TokenError> {
    let select = "select token, till, terminals, by, made, revoked_by, revoked from cloud_token order by made desc";
    let row = |row: &tokio_postgres::Row| ListedToken {
        token: row.get(0),
        till: row.get(1),
        terminals: row.get(2),
        made: (row.get(3), row.get(4)),
        revoked: row.get::<_, Option<String>>(5).zip(row.get(6)),
    };
    Ok(client.query(select, &[]).await?.iter().map(row).collect())
}

/// Returns who a token lets in. The database is asked for each request, so a revoked token ends at once.
pub(super) async fn caller(client: &Client, token: &str) -> Result<Option<CloudCaller>, tokio_postgres::Error> {
    let Some((name, secret)) = token.split_once('.').filter(|(name, _)| name.len() == 2 * NAME) else {
        return Ok(None);
    };
    if !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(None);
    }
    let select = "select digest, till, terminals from cloud_token where token = $1 and revoked is null";
    let Some(row) = client.query_opt(select, &[&name]).await? else { return Ok(None) };
    let is_same = is_equal(&row.get::<_, Vec<u8>>(0), &secret_digest(secret));
    Ok(is_same.then(|| CloudCaller { token: name.to_owned(), till: row.get(1), terminals: row.get(2) }))
}

/// Returns whether a token still lets in.
pub(super) async fn is_valid(client: &Client, token: &str) -> Result<bool, tokio_postgres::Error> {
    let select = "select exists (select from cloud_token where token = $1 and revoked is null)";
    Ok(client.query_one(select, &[&token]).await?.get(0))
}

fn secret_digest(secret: &str) -> Vec<u8> {
    digest(&SHA256, secret.as_bytes()).as_ref().to_vec()
}

/// Compares in a time that does not depend on the content.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && std::hint::black_box(differences) == 0
}

/// The wrong tokens of the present minute, by address.
#[derive(Debug)]
pub(super) struct WrongTokens {
    since: Instant,
    by_address: HashMap<IpAddr, u32>,
}

impl WrongTokens {
    pub(super) fn new(now: Instant) -> Self {
        Self { since: now, by_address: HashMap::new() }
    }

    /// Returns whether this address may try a token. An address without wrong ones always may.
    pub(super) fn may_try(&mut self, address: IpAddr, now: Instant) -> bool {
        if now >= self.since + MINUTE {
            *self = Self::new(now);
        }
        self.by_address.get(&network(address)).is_none_or(|count| *count < WRONG)
    }

    pub(super) fn count(&mut self, address: IpAddr) {
        let address = network(address);
        if self.by_address.len() < ADDRESSES || self.by_address.contains_key(&address) {
            let count = self.by_address.entry(address).or_default();
            *count = count.saturating_add(1);
        }
    }
}

/// Returns the address as one sender has it: with IPv6, a sender has 64 bits of its own.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn wrong_tokens_are_limited_by_address_for_a_minute() {
        let now = Instant::now();
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let mut wrong = WrongTokens::new(now);
        for _ in 0..WRONG {
            assert!(wrong.may_try(address("192.0.2.7"), now));
            wrong.count(address("192.0.2.7"));
        }
        assert!(!wrong.may_try(address("::ffff:192.0.2.7"), now), "the same address");
        assert!(wrong.may_try(address("192.0.2.8"), now), "nobody else waits for it");
        for at in 0..2 * ADDRESSES {
            wrong.count(address(&format!("2001:db8:{:x}:{:x}::1", at >> 8, at & 0xff)));
        }
        assert!(wrong.by_address.len() <= ADDRESSES);
        assert!(wrong.may_try(address("192.0.2.9"), now));
        assert!(wrong.may_try(address("192.0.2.7"), now + MINUTE));
    }

    #[test]
    fn digests_are_compared_whole() {
        let one = secret_digest("a");
        assert!(is_equal(&one, &secret_digest("a")));
        for at in 0..one.len() {
            let mut other = one.clone();
            other[at] ^= 1;
            assert!(!is_equal(&one, &other), "{at}");
        }
        assert!(!is_equal(&one, &one[1..]) && !is_equal(&one[1..], &one) && is_equal(&[], &[]));
    }
}
