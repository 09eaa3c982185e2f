//! The customer's actions on a page (`redirect`), and their effect on the payment that waits for the page.

use serde_json::Value;

use super::envelope;
use super::host::Host;
use super::redirect::{PASSWORD, PageEnd, PageKind, Redirect};
use super::webhook::queue::Action;

/// The number of wrong passwords after which an authentication ends.
const MOST_TRIES: u8 = 3;

/// The customer's action on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act<'a> {
    Pay,
    Cancel,
    /// Ends the page as if its time had expired.
    LetExpire,
    Password(&'a str),
}

/// The result of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acted {
    /// The page has ended, and the browser returns to the shop.
    Settled,
    /// The password was wrong, and the customer may try again.
    TryAgain,
    /// The page had already ended.
    EndedBefore,
}

impl Host {
    /// Carries out the customer's action on a page. An action on a page that has ended has no effect.
    pub(super) fn act(&mut self, page: &mut Redirect, act: Act<'_>) -> rusqlite::Result<Acted> {
        self.expire(page)?;
        if page.end.is_some() {
            return Ok(Acted::EndedBefore);
        }
        let end = match act {
            Act::Pay => PageEnd::Done,
            Act::Cancel => PageEnd::Cancelled,
            Act::LetExpire => PageEnd::Expired,
            Act::Password(PASSWORD) => PageEnd::Done,
            Act::Password(_) => {
                page.tries += 1;
                self.books.tried(&page.id, page.tries)?;
                if page.tries < MOST_TRIES {
                    return Ok(Acted::TryAgain);
                }
                PageEnd::Refused
            }
        };
        self.end(page, end)?;
        Ok(Acted::Settled)
    }

    /// Ends a page whose time has expired.
    pub(super) fn expire(&mut self, page: &mut Redirect) -> rusqlite::Result<()> {
        if page.end.is_none() && self.clock.now().timestamp() > page.until {
            // By then, a customer who authenticates on another device has finished.
            let end = if page.kind == PageKind::Decoupled { PageEnd::Done } else { PageEnd::Expired };
            self.end(page, end)?;
        }
        Ok(())
    }

    /// Ends every page whose time has expired.
    pub(super) fn expire_due(&mut self) -> rusqlite::Result<()> {
        for mut page in self.books.expired_redirects(self.clock.now().timestamp())? {
            self.expire(&mut page)?;
        }
        Ok(())
    }

    fn end(&mut self, page: &mut Redirect, end: PageEnd) -> rusqlite::Result<()> {
        let mut settled = page.settled(end);
        let stamped = envelope::stamped(Value::Object(serde_json::Map::new()), self.clock.now());
        envelope::add(&mut settled.answer, &stamped);
        self.books.finish(page, end, &settled)?;
        tracing::info!("gateway: page of {}: {}: {}", page.payment, end.as_str(), settled.code);
        page.end = Some(end);
        if let Some(decided) = self.books.find(&page.payment)? {
            self.tell_of_payment(Action::Updated, &decided);
        }
        Ok(())
    }
}
