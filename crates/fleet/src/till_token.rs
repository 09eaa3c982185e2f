//! `pos-fleet till-token`.

use pos_fleet::tills::CloudTills;
use pos_fleet::tills::tokens::{ListedToken, TokenError, list_tokens, new_token, revoke_tokens};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio_postgres::Client;

use crate::arguments::{TillTokens, TokenVerb};
use crate::{Stop, now, say};

impl TillTokens {
    pub(crate) async fn run(&self, client: &Client, settings: &CloudTills) -> Result<(), Stop> {
        let failed = |error: TokenError| match error {
            TokenError::Database(_) | TokenError::NoRandom => Stop::Unreachable(error.to_string()),
            TokenError::Till | TokenError::Terminals => Stop::Usage(error.to_string()),
        };
        match &self.verb {
            TokenVerb::New { till, terminals, by } => {
                if !settings.has_key(till) {
                    let why = format!("the configuration has no [[tills.key]] for the till {till}");
                    return Err(Stop::Usage(why));
                }
                let token = new_token(client, till, terminals, &by.name(), now()).await.map_err(failed)?;
                say(&token);
            }
            TokenVerb::List => {
                for token in list_tokens(client).await.map_err(failed)? {
                    say(&line(&token));
                }
            }
            TokenVerb::Revoke { which, by } => {
                let count = revoke_tokens(client, which, &by.name(), now()).await.map_err(failed)?;
                if count == 0 {
                    return Err(Stop::Usage(format!(
                        "there is no valid token {which}, and no till of this name has one"
                    )));
                }
                say(&format!("{count} revoked"));
            }
        }
        Ok(())
    }
}

fn line(ListedToken { token, till, terminals, made: (by, at), revoked }: &ListedToken) -> String {
    let time = |at: &OffsetDateTime| at.format(&Rfc3339).unwrap_or_default();
    let terminals = match terminals.as_slice() {
        [first, second, third, rest @ ..] if !rest.is_empty() => {
            format!("{first}, {second}, {third} and {} more", rest.len())
        }
        few => few.join(", "),
    };
    let end = match revoked {
        Some((by, at)) => format!("revoked by {by} at {}", time(at)),
        None => "valid".to_owned(),
    };
    format!("{token}  {till}  {end}; for {terminals}; made by {by} at {}", time(at))
}
