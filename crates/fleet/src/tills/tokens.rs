//! The tokens of cloud tills. A token decides the till and its terminals; the database holds only its SHA-256.

use std::time::SystemTime;

use pos_fleet_terms::Id;
use pos_till_api::is_till_name;
use ring::digest::{SHA256, digest};
use subtle::ConstantTimeEq as _;
use time::OffsetDateTime;
use tokio_postgres::Client;

use crate::ca::date;

/// The random bytes of a token: those of its name, and those of its secret.
const NAME: usize = 6;
const SECRET: usize = 32;
/// The greatest number of terminals of a token.
const MOST_TERMINALS: usize = 10_000;

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
    #[error("a till's name has 1 to 32 letters, digits, '-' and '_'")]
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
    if !is_till_name(till) {
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
    let is_same = bool::from(row.get::<_, Vec<u8>>(0).ct_eq(&secret_digest(secret)));
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
