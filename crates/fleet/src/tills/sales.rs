//! The transactions of cloud tills, in the database.
//!
//! ```text
//!  POST /v1/sales ─▶ one transaction: the row of the reference, then the signed command ─▶ the desk offers it
//!                                                                                             │
//!  GET, cancel, confirm ◀── judge: the last result, else the journal's entries ◀── results ───┘
//! ```
//!
//! A reference has one row. While its command may act, no second one is given. A command that was never offered can be
//! withdrawn: the desk offers only what is not final, and marks it as offered before it does.

use std::time::SystemTime;

use pos_fleet_terms::{CommandCode, CommandKind, Id};
use pos_till_api::ProblemType;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use tokio_postgres::{Client, GenericClient, Row};

use super::answer::{Judgement, KnownCommand, Refusal, cancelled_unsent, judge};
use super::asked::{CARD_NUMBER, SaleAsked, plain_amount};
use crate::ca::date;
use crate::orders::{NewCommand, NotNow, OrderError, give_within};
use crate::pool::NoDatabase;
use crate::signing::SigningKey;

/// The seconds after which a command of a cloud till expires.
const LASTS_S: u64 = 30;
/// The seconds by which a transaction may seem to begin before its command was given. The two clocks differ.
const CLOCKS: i64 = 120;

/// One transaction's place: which till asks, at which terminal, by which reference.
#[derive(Clone, Debug)]
pub(super) struct SalePlace {
    pub(super) till: String,
    pub(super) terminal: Id,
    pub(super) reference: String,
}

/// What a till may hear of a transaction.
#[derive(Clone, Debug)]
pub(super) struct CloudSale {
    pub(super) judgement: Judgement,
    /// The command of the last try. Absent if it was cancelled before one was given, or if only the journal knows it.
    pub(super) command: Option<String>,
    /// True if the desk has offered the command.
    offered: bool,
    pub(super) created: SystemTime,
    expires: Option<SystemTime>,
}

/// How a begin ended.
#[derive(Debug)]
pub(super) enum Begun {
    /// The command was given by this request.
    Given,
    /// The reference was asked for before.
    Known,
}

/// The reason why a request is not carried out.
#[derive(Debug)]
pub(super) enum NotDone {
    Refused(Refusal),
    NoDatabase(NoDatabase),
}

impl From<Refusal> for NotDone {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<tokio_postgres::Error> for NotDone {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::NoDatabase(error.into())
    }
}

impl From<NoDatabase> for NotDone {
    fn from(error: NoDatabase) -> Self {
        Self::NoDatabase(error)
    }
}

impl SalePlace {
    fn no_such_sale(&self, why: &str) -> Refusal {
        let Self { till, terminal, reference } = self;
        let detail = match why {
            "" => format!("till {till} has no transaction with the reference {reference} at {terminal}"),
            why => format!("till {till} has no transaction with the reference {reference} at {terminal}: {why}"),
        };
        Refusal::of(ProblemType::NoSuchSale, &detail).about(reference).of_till(till)
    }

    /// Says that it is not known how the transaction stands.
    pub(super) fn no_answer(&self) -> Refusal {
        let Self { terminal, reference, till } = self;
        let detail = format!(
            "{terminal} has not answered yet, so the transaction may exist: ask for the reference {reference} again"
        );
        Refusal::of(ProblemType::NoAnswer, &detail).about(reference).of_till(till).again_in(1)
    }

    /// Says that nothing was begun, and nothing will be.
    pub(super) fn not_ready(&self, why: &str) -> Refusal {
        let Self { terminal, reference, till } = self;
        let detail = format!("no payment was begun at {terminal}, and none will be by this request: {why}");
        Refusal::of(ProblemType::NotReady, &detail).about(reference).of_till(till)
    }
}

/// The columns of a command and of its transaction's row.
const COLUMNS: &str = "s.command, c.code, c.text, c.body, coalesce(c.is_final, false), c.offered is not null,
    s.begun, c.expires, s.cancelled, s.asked";

/// Reads how a transaction stands, `None` if neither this server nor the terminal's journal knows the reference.
pub(super) async fn look(client: &impl GenericClient, place: &SalePlace) -> Result<Option<CloudSale>, NotDone> {
    let select = format!(
        "select {COLUMNS} from cloud_sale s left join command c on c.id = s.command
        where s.till = $1 and s.terminal = $2 and s.reference = $3"
    );
    let SalePlace { till, terminal, reference } = place;
    let row = client.query_opt(&select, &[till, &terminal.as_str(), reference]).await?;
    match row {
        Some(row) => Ok(Some(of_row(client, place, &row).await?)),
        None => {
            let entry = entry(client, place, None).await?;
            let judgement = judge(&KnownCommand::default(), entry.as_ref());
            let sale = matches!(judgement, Judgement::Sale(_)).then(|| CloudSale {
                judgement,
                command: None,
                offered: true,
                created: SystemTime::UNIX_EPOCH,
                expires: None,
            });
            Ok(sale)
        }
    }
}

async fn of_row(client: &impl GenericClient, place: &SalePlace, row: &Row) -> Result<CloudSale, NotDone> {
    let body: Option<Value> = row.get(3);
    let known =
        KnownCommand { code: row.get(1), text: row.get(2), body: body.unwrap_or_default(), is_final: row.get(4) };
    let created: OffsetDateTime = row.get(6);
    let cancelled: Option<OffsetDateTime> = row.get(8);
    let mut judgement = judge(&known, None);
    if !(judgement.has_ended() && known.is_final) {
        let entry = entry(client, place, Some(created)).await?;
        judgement = judge(&known, entry.as_ref());
    }
    // It was withdrawn, so the terminal cannot know it.
    if let (Some(at), Judgement::NotBegun(_) | Judgement::Unknown) = (cancelled, &judgement) {
        judgement = Judgement::Sale(cancelled_unsent(&place.till, &row.get(9), created.into(), at.into()));
    }
    let expires: Option<OffsetDateTime> = row.get(7);
    Ok(CloudSale {
        judgement,
        command: row.get(0),
        offered: row.get(5),
        created: created.into(),
        expires: expires.map(SystemTime::from),
    })
}

/// Reads the last entry of the terminal's journal about a transaction.
async fn entry(
    client: &impl GenericClient,
    SalePlace { till, terminal, reference }: &SalePlace,
    since: Option<OffsetDateTime>,
) -> Result<Option<Value>, NotDone> {
    // The index `entry_steps` finds a terminal's entries by time. A payment is settled long before a month has passed.
    let select = "select body from entry where terminal = $1 and kind = 'step'
            and at >= coalesce($4, now() - interval '31 days') - interval '1 hour'
            and at <= coalesce($4, now()) + interval '31 days'
            and body ->> 'till' = $2 and body ->> 'reference' = $3
        order by received desc, number desc limit 1";
    let row = client.query_opt(select, &[&terminal.as_str(), till, reference, &since]).await?;
    Ok(row.and_then(|row| row.get(0)))
}

/// Begins a transaction, unless the reference has one that exists or may exist. One database transaction holds the
/// reference's row and the command, so a crash leaves both or none.
pub(super) async fn begin(
    client: &mut Client,
    (org, key): (&Id, &SigningKey),
    place: &SalePlace,
    asked: &SaleAsked,
    now: SystemTime,
) -> Result<Begun, NotDone> {
    let SalePlace { till, terminal, reference } = place;
    let content = asked.content();
    let shown = json!({
        "reference": reference, "kind": asked.body.get("kind"), "amount": asked.body.get("amount"),
        "currency": asked.body.get("currency"),
    });
    let change = client.transaction().await?;
    let insert = "insert into cloud_sale (till, terminal, reference, content, asked, begun)
        values ($1, $2, $3, $4, $5, $6) on conflict do nothing";
    let is_new =
        change.execute(insert, &[till, &terminal.as_str(), reference, &content, &shown, &date(now)]).await? > 0;
    // Two requests with one reference wait for each other here.
    let select = format!(
        "select {COLUMNS}, s.content from cloud_sale s left join command c on c.id = s.command
        where s.till = $1 and s.terminal = $2 and s.reference = $3 for update of s"
    );
    let row = change.query_one(&select, &[till, &terminal.as_str(), reference]).await?;
    if is_new {
        if let Some(entry) = entry(&change, place, None).await? {
            return known_to_the_journal(place, asked, &entry);
        }
    } else {
        let sale = withdrawn_if_late(&change, of_row(&change, place, &row).await?, now).await?;
        if !sale.judgement.proves_nothing_began() {
            if row.get::<_, Vec<u8>>(10) != content {
                return Err(amount_differs(place).into());
            }
            change.commit().await?;
            return Ok(Begun::Known);
        }
    }
    let command = NewCommand {
        org: org.clone(),
        terminal: terminal.clone(),
        kind: CommandKind::Sale,
        body: Value::Object(asked.body.clone()),
        author: format!("cloud till {till}"),
        lasts_s: LASTS_S,
        till: Some(till.clone()),
    };
    let id = give_within(&change, key, command, now).await.map_err(|error| not_given(place, error))?;
    let update = "update cloud_sale set command = $4, content = $5, asked = $6, begun = $7
        where till = $1 and terminal = $2 and reference = $3";
    change.execute(update, &[till, &terminal.as_str(), reference, &id.as_str(), &content, &shown, &date(now)]).await?;
    change.commit().await?;
    Ok(Begun::Given)
}

/// The journal of the terminal has the reference, and this server does not: its database came from a backup.
fn known_to_the_journal(place: &SalePlace, asked: &SaleAsked, entry: &Value) -> Result<Begun, NotDone> {
    let fact = |name: &str| entry.pointer(&format!("/facts/{name}")).and_then(Value::as_str).unwrap_or_default();
    let kind = match asked.text("kind") {
        "" => "sale",
        kind => kind,
    };
    let amount = asked.text("amount");
    let currency = asked.text("currency");
    let is_same = kind == fact("kind")
        && (amount.is_empty() || plain_amount(amount) == plain_amount(fact("amount")))
        && (currency.is_empty() || currency == fact("currency"));
    if is_same { Ok(Begun::Known) } else { Err(amount_differs(place).into()) }
}

fn amount_differs(place: &SalePlace) -> Refusal {
    let SalePlace { till, reference, .. } = place;
    let detail = format!("reference {reference} already belongs to a different transaction; use a new reference");
    Refusal::of(ProblemType::AmountDiffers, &detail).about(reference).of_till(till)
}

fn not_given(place: &SalePlace, error: OrderError) -> NotDone {
    let refusal = match error {
        OrderError::Database(error) => return error.into(),
        OrderError::NotNow(_, NotNow::Offline) => place.not_ready("the terminal is not connected to the server"),
        OrderError::NotNow(_, NotNow::NoCommands) => place.not_ready("the terminal takes no commands of a server"),
        OrderError::NoTerminal(_) => place.not_ready("the server has never heard of this terminal"),
        OrderError::CardNumber => Refusal::of(ProblemType::Malformed, CARD_NUMBER),
        OrderError::TooLong(_) => Refusal::of(ProblemType::TooLarge, "the request is too large for a command"),
        error @ (OrderError::Key { .. } | OrderError::Lasts(_) | OrderError::Message(_) | OrderError::System) => {
            place.not_ready(&error.to_string())
        }
    };
    refusal.into()
}

/// Withdraws the command of a transaction, if the desk has not offered it. Returns whether it can no longer act.
pub(super) async fn withdraw(client: &impl GenericClient, sale: &CloudSale, why: &str) -> Result<bool, NotDone> {
    let Some(command) = sale.command.as_ref().filter(|_| !sale.offered) else { return Ok(false) };
    let code = serde_json::to_value(CommandCode::NotBegun).unwrap_or_default();
    let code = code.as_str().unwrap_or_default();
    let update = "update command set code = $2, text = $3, is_final = true, result_at = now()
        where id = $1 and offered is null and not is_final";
    Ok(client.execute(update, &[command, &code, &why]).await? > 0)
}

/// Withdraws a command that was not offered before its expiry.
async fn withdrawn_if_late(
    client: &impl GenericClient,
    mut sale: CloudSale,
    now: SystemTime,
) -> Result<CloudSale, NotDone> {
    let is_late = sale.expires.is_some_and(|expires| expires < now) && sale.judgement == Judgement::Unknown;
    if is_late {
        let why = "it was not sent to the terminal in time";
        if withdraw(client, &sale, why).await? {
            sale.judgement = Judgement::NotBegun(why.to_owned());
        }
    }
    Ok(sale)
}

/// Reads how a transaction stands. An unknown reference is refused.
pub(super) async fn show(client: &Client, place: &SalePlace, now: SystemTime) -> Result<CloudSale, NotDone> {
    let sale = look(client, place).await?.ok_or_else(|| place.no_such_sale(""))?;
    withdrawn_if_late(client, sale, now).await
}

/// Returns the transaction, or the refusal for a question about it.
pub(super) fn shown(place: &SalePlace, judgement: Judgement) -> Result<Map<String, Value>, Refusal> {
    match judgement {
        Judgement::Sale(sale) => Ok(sale),
        Judgement::Refused(refusal) => {
            Err(place.no_such_sale(&format!("it was refused ({}): {}", refusal.code(), refusal.detail())))
        }
        Judgement::NotBegun(why) => Err(place.no_such_sale(&why)),
        Judgement::Unknown => Err(place.no_answer()),
    }
}

/// Returns the answer to the begin.
pub(super) fn begun(place: &SalePlace, begun: &Begun, sale: CloudSale) -> Result<(u16, Map<String, Value>), Refusal> {
    match sale.judgement {
        Judgement::Sale(mut view) => {
            let given = matches!(begun, Begun::Given);
            // The terminal also calls a transaction replayed when the same command comes twice. It was known before
            // only if it is older than the command.
            let is_older = view
                .get("startedAt")
                .and_then(Value::as_str)
                .and_then(|at| OffsetDateTime::parse(at, &time::format_description::well_known::Rfc3339).ok())
                .is_some_and(|at| at + time::Duration::seconds(CLOCKS) < OffsetDateTime::from(sale.created));
            let is_replayed = view.get("replayed") == Some(&Value::Bool(true));
            let replayed = !given || (is_replayed && is_older);
            view.insert("replayed".to_owned(), Value::Bool(replayed));
            Ok((if replayed { 200 } else { 201 }, view))
        }
        Judgement::Refused(refusal) => Err(refusal),
        Judgement::NotBegun(why) => Err(place.not_ready(&why)),
        Judgement::Unknown => Err(place.no_answer()),
    }
}

/// Cancels what the terminal has not heard of. Returns whether it did: the transaction then never begins, also not by
/// a request that was on its way.
pub(super) async fn cancel_unsent(client: &mut Client, place: &SalePlace, now: SystemTime) -> Result<bool, NotDone> {
    let SalePlace { till, terminal, reference } = place;
    let change = client.transaction().await?;
    let select = "select 1 from cloud_sale where till = $1 and terminal = $2 and reference = $3 for update";
    if change.query_opt(select, &[till, &terminal.as_str(), reference]).await?.is_none() {
        return Ok(false);
    }
    let Some(sale) = look(&change, place).await? else { return Ok(false) };
    let is_withdrawn = matches!(sale.judgement, Judgement::Unknown)
        && withdraw(&change, &sale, "the till cancelled it before it was sent").await?;
    if is_withdrawn {
        let update = "update cloud_sale set cancelled = $4 where till = $1 and terminal = $2 and reference = $3";
        change.execute(update, &[till, &terminal.as_str(), reference, &date(now)]).await?;
    }
    change.commit().await?;
    Ok(is_withdrawn)
}

/// Gives a command about a transaction: `cancel` or `confirm`. The same one that may still act is not given twice.
pub(super) async fn give_about(
    client: &mut Client,
    (org, key): (&Id, &SigningKey),
    place: &SalePlace,
    (kind, mut body): (CommandKind, Map<String, Value>),
    now: SystemTime,
) -> Result<String, NotDone> {
    let SalePlace { till, terminal, reference } = place;
    body.insert("reference".to_owned(), json!(reference));
    let body = Value::Object(body);
    let change = client.transaction().await?;
    let lock = format!("{till} {terminal} {reference}");
    change.execute("select pg_advisory_xact_lock(hashtextextended($1, 1))", &[&lock]).await?;
    let select = "select command from cloud_command
        where till = $1 and terminal = $2 and reference = $3 and body = $4 and kind = $5
            and exists (select from command c where c.id = command and not c.is_final and c.expires > $6)
        order by given desc limit 1";
    let about: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
        [till, &terminal.as_str(), reference, &body, &kind.word(), &date(now)];
    if let Some(row) = change.query_opt(select, &about).await? {
        return Ok(row.get(0));
    }
    let command = NewCommand {
        org: org.clone(),
        terminal: terminal.clone(),
        kind,
        body: body.clone(),
        author: format!("cloud till {till}"),
        lasts_s: LASTS_S,
        till: Some(till.clone()),
    };
    let id = give_within(&change, key, command, now).await.map_err(|error| match not_given(place, error) {
        NotDone::Refused(refusal) if refusal.code() == ProblemType::NotReady.code() => {
            let detail = format!(
                "the {kind} was not sent to {terminal}, and the transaction {reference} may go on: {}",
                refusal.detail()
            );
            Refusal::of(ProblemType::NotReady, &detail).about(reference).of_till(till).into()
        }
        other => other,
    })?;
    let insert = "insert into cloud_command (command, till, terminal, reference, kind, body, given)
        values ($1, $2, $3, $4, $5, $6, $7)";
    change
        .execute(insert, &[&id.as_str(), till, &terminal.as_str(), reference, &kind.word(), &body, &date(now)])
        .await?;
    change.commit().await?;
    Ok(id.to_string())
}

/// Returns the latest transactions of a till at a terminal, the newest first.
pub(super) async fn latest(client: &Client, till: &str, terminal: &Id) -> Result<Vec<String>, NotDone> {
    let select = "select reference from cloud_sale where till = $1 and terminal = $2 order by begun desc limit 10";
    let rows = client.query(select, &[&till, &terminal.as_str()]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Returns what became of a command.
pub(super) async fn result_of(client: &Client, command: &str) -> Result<KnownCommand, NotDone> {
    let row = client.query_one("select code, text, body, is_final from command where id = $1", &[&command]).await?;
    let body: Option<Value> = row.get(2);
    Ok(KnownCommand { code: row.get(0), text: row.get(1), body: body.unwrap_or_default(), is_final: row.get(3) })
}
