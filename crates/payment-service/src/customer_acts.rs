//! The customer's actions on a page (`redirect`), and their effect on the payment that waits for the page.

use serde_json::Value;

use super::envelope;
use super::host::Host;
use super::redirect::{PASSWORD, PageEnd, PageKind, Redirect};
use super::webhook::queue::Action;

/// The number of wrong passwords that end an authentication.
const MOST_TRIES: u8 = 3;

/// The customer's action on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act<'a> {
    Pay,
    Cancel,
    /// Ends the page as if its time were over.
    LetExpire,
    Password(&'a str),
}

/// The result of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acted {
    /// The page has ended; the browser returns to the shop.
    Settled,
    /// The password was wrong, and may be tried again.
    TryAgain,
    /// The page had ended earlier.
    EndedBefore,
}

impl Host {
    /// Carries out the customer's action on a page. A page that has ended does not change.
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

    /// Ends a page whose time is over.
    pub(super) fn expire(&mut self, page: &mut Redirect) -> rusqlite::Result<()> {
        if page.end.is_none() && self.clock.now().timestamp() > page.until {
            // A customer who authenticates on another device has done so by then.
            let end = if page.kind == PageKind::Decoupled { PageEnd::Done } else { PageEnd::Expired };
            self.end(page, end)?;
        }
        Ok(())
    }

    /// Ends every page whose time is over.
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
        self.books.settle(page, end, &settled)?;
        tracing::info!("gateway: page of {}: {}: {}", page.payment, end.as_str(), settled.code);
        page.end = Some(end);
        if let Some(decided) = self.books.find(&page.payment)? {
            self.tell_of_payment(Action::Updated, &decided);
        }
        Ok(())
    }
}
