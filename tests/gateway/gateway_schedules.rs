//! Subscriptions at the simulated gateway over real HTTPS. A payment with `job.*` repeats by the gateway's clock and
//! adds entries to the ledger, until it ends or is cancelled. `schedule/timetable.rs` tests the meaning of cron
//! expressions.

use crate::gateway_counter::{Counter, INVALID, at, read, refusal, text};
use crate::shop_client::{Sales, owned, with};
use easy_ext::ext;
use pos_sim::gateway::{HostRules, Options, State};
use serde_json::Value;

const NOON: &str = "2026-11-23T12:00:00Z";

/// Opens a gateway at noon on a Monday and stores a card.
async fn open() -> (Counter, String) {
    let mut counter = Counter::open().await;
    counter.shop.gateway.set_clock(at(NOON));
    let card = stored(&mut counter).await;
    (counter, card)
}

async fn stored(counter: &mut Counter) -> String {
    let (status, answer) = counter.pay("DB", "1.00", &[("createRegistration", "true")]).await;
    assert_eq!(status, 200, "{answer}");
    text(&answer, "/registrationId")
}

#[ext(Subscribes)]
impl Counter {
    async fn asked_for(&self, method: &str, path: &str, form: Option<&[(&str, &str)]>) -> (u16, Value) {
        let entity = self.shop.gateway.entity_id();
        let (path, form) = match form {
            Some(form) => (path.to_owned(), Some(with(owned(form), &[("entityId", entity)]))),
            None => (format!("{path}?entityId={entity}"), None),
        };
        read(self.shop.asked(method, &path, form.as_ref()).await).await
    }

    /// Sends a subscription of 9.90 for a stored card, with these changes.
    async fn subscribe(&mut self, card: &str, more: &[(&str, &str)]) -> (u16, Value) {
        let reference = self.reference();
        let form = [
            ("paymentType", "DB"),
            ("amount", "9.90"),
            ("currency", "EUR"),
            ("merchantTransactionId", reference.as_str()),
        ];
        let form = with(owned(&form), more);
        let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.asked_for("POST", &format!("v1/registrations/{card}/payments"), Some(&form)).await
    }

    async fn subscribed(&mut self, card: &str, more: &[(&str, &str)]) -> String {
        let (status, answer) = self.subscribe(card, more).await;
        assert_eq!(status, 200, "{answer}");
        text(&answer, "/id")
    }

    async fn schedule(&self, id: &str) -> Value {
        let (status, answer) = self.asked_for("GET", &format!("v1/schedules/{id}"), None).await;
        assert_eq!(status, 200, "{answer}");
        answer["schedule"].clone()
    }

    /// Returns the times and references of the subscription's payments.
    async fn paid_at(&self, from: &str, to: &str) -> Vec<String> {
        let query =
            format!("v1/reports/transactions?entityId={}&date.from={from}&date.to={to}", self.shop.gateway.entity_id());
        let (_, answer) = read(self.shop.asked("GET", &query, None).await).await;
        let payments = answer["payments"].as_array().unwrap();
        let by_schedule = |payment: &&Value| payment["standingInstruction"]["mode"] == "REPEATED";
        let told = |payment: &Value| {
            let time = text(payment, "/timestamp");
            format!("{} {}", time.trim_end_matches("+0000"), text(payment, "/merchantTransactionId"))
        };
        payments.iter().filter(by_schedule).map(told).collect()
    }
}

#[tokio::test]
async fn a_subscription_pays_by_the_clock_and_in_order() {
    let (mut counter, card) = open().await;
    let (status, answer) = counter.subscribe(&card, &[("job.expression", "0 0 9 L * ?"), ("job.name", "rent")]).await;
    assert_eq!(status, 200, "{answer}");
    let id = text(&answer, "/id");
    assert_eq!((id.len(), text(&answer, "/registrationId")), (32, card.clone()));
    assert_eq!((text(&answer, "/job/name"), text(&answer, "/job/expression")), ("rent".into(), "0 0 9 L * ?".into()));
    assert_eq!(text(&answer, "/schedule/next"), "2026-11-30 09:00:00");
    assert_eq!(counter.shop.gateway.ledger().entries().len(), 1, "the request itself pays nothing");

    // A second subscription is due a day earlier. Due payments are made in the order of their times, not in the order
    // of creation.
    counter.subscribed(&card, &[("job.expression", "0 30 8 29 * ? *"), ("amount", "5.51")]).await;
    counter.shop.gateway.set_clock(at("2026-11-30T08:59:59Z"));
    assert_eq!(counter.paid_at("2026-11-01", "2026-12-31").await, ["2026-11-29 08:30:00 life-0003-0001"]);
    counter.shop.gateway.set_clock(at("2027-02-28T09:00:00Z"));
    assert_eq!(
        counter.paid_at("2026-11-30", "2027-03-01").await,
        [
            "2026-11-30 09:00:00 life-0002-0001",
            "2026-12-29 08:30:00 life-0003-0002",
            "2026-12-31 09:00:00 life-0002-0002",
            "2027-01-29 08:30:00 life-0003-0003",
            "2027-01-31 09:00:00 life-0002-0003",
            "2027-02-28 09:00:00 life-0002-0004",
        ]
    );
    // These are normal payments: booked, found, refunded, and declined by their cents. A decline does not end the
    // schedule.
    let ledger = counter.shop.gateway.ledger();
    let (declined, paid): (Vec<_>, Vec<_>) =
        ledger.entries()[1..].iter().partition(|entry| entry.state == State::Declined);
    assert_eq!((paid.len(), declined.len()), (4, 3));
    assert!(paid.iter().all(|entry| entry.amount == "9.90") && declined.iter().all(|entry| entry.amount == "5.51"));
    let last = paid.last().unwrap().id.clone();
    assert_eq!(counter.found("merchantTransactionId=life-0002-0004").await, [last.as_str()]);
    counter.followed(&last, "RF", Some("9.90")).await;
    let stands = counter.schedule(&id).await;
    assert_eq!(
        (text(&stands, "/state"), text(&stands, "/payments"), text(&stands, "/next")),
        ("active".into(), "4".into(), "2027-03-31 09:00:00".into())
    );
}

#[tokio::test]
async fn single_fields_have_the_documented_defaults_and_an_expression_overwrites_them() {
    let (mut counter, card) = open().await;
    for (fields, next) in [
        (&[("job.name", "yearly")][..], "2027-01-01 00:00:00"),
        (&[("job.hour", "9")], "2027-01-01 09:00:00"),
        (&[("job.month", "*"), ("job.dayOfMonth", "15"), ("job.minute", "30")], "2026-12-15 00:30:00"),
        (&[("job.month", "*"), ("job.dayOfWeek", "FRI"), ("job.second", "5")], "2026-11-27 00:00:05"),
        (&[("job.month", "12"), ("job.dayOfMonth", "25"), ("job.dayOfWeek", "SUN")], "2026-12-06 00:00:00"),
        (&[("job.month", "12"), ("job.dayOfMonth", "25"), ("job.dayOfWeek", "?")], "2026-12-25 00:00:00"),
        (&[("job.year", "2030"), ("job.hour", "*")], "2030-01-01 00:00:00"),
        (&[("job.hour", "9"), ("job.expression", "0 0 17 * * ? 2026")], "2026-11-23 17:00:00"),
        (&[("job.expression", "0 0 17 * * ?"), ("job.startDate", "2027-06-01 17:00:00")], "2027-06-01 17:00:00"),
        (&[("job.expression", "0 0 17 * * ?"), ("job.startDate", "2020-01-01 00:00:00")], "2026-11-23 17:00:00"),
    ] {
        let (status, answer) = counter.subscribe(&card, fields).await;
        assert_eq!(status, 200, "{answer}");
        assert_eq!(text(&answer, "/schedule/next"), next, "{fields:?}");
    }
}

#[tokio::test]
async fn a_subscription_ends_by_its_date_its_duration_or_notice() {
    const DAILY: (&str, &str) = ("job.expression", "0 0 9 * * ?");
    let (mut counter, card) = open().await;
    let by_date = counter.subscribed(&card, &[DAILY, ("job.endDate", "2026-11-25 09:00:00")]).await;
    let three_days =
        counter.subscribed(&card, &[DAILY, ("job.durationNumber", "3"), ("job.durationUnit", "DAY")]).await;
    let noticed = counter.subscribed(&card, &[DAILY]).await;
    let a_week = [DAILY, ("job.noticeNumber", "1"), ("job.noticeUnit", "WEEK"), ("job.noticeCallable", "ANYTIME")];
    let a_week_later = counter.subscribed(&card, &a_week).await;
    let monthly = [
        DAILY,
        ("job.durationNumber", "1"),
        ("job.durationUnit", "MONTH"),
        ("job.noticeNumber", "2"),
        ("job.noticeUnit", "WEEK"),
        ("job.noticeCallable", "DURATION_END"),
    ];
    let by_month = counter.subscribed(&card, &monthly).await;
    counter.shop.gateway.set_clock(at("2026-12-01T12:00:00Z"));
    let payments = async |counter: &Counter, id: &str| {
        let stands = counter.schedule(id).await;
        (text(&stands, "/state"), text(&stands, "/payments"))
    };
    let is = |state: &str, payments: &str| (state.to_owned(), payments.to_owned());
    assert_eq!(payments(&counter, &by_date).await, is("ended", "2"), "24 and 25, its last moment");
    assert_eq!(payments(&counter, &three_days).await, is("ended", "3"), "24, 25, 26");
    assert_eq!(payments(&counter, &noticed).await, is("active", "8"));

    for (id, last) in [
        (&noticed, "2026-12-01 11:59:59"),
        (&a_week_later, "2026-12-08 11:59:59"),
        // The subscription month ends on the 23rd, more than two weeks later.
        (&by_month, "2026-12-23 11:59:59"),
    ] {
        let (status, answer) = counter.asked_for("DELETE", &format!("v1/schedules/{id}"), None).await;
        assert_eq!((status, text(&answer, "/schedule/last").as_str()), (200, last), "{answer}");
    }
    counter.shop.gateway.set_clock(at("2027-03-01T12:00:00Z"));
    assert_eq!(payments(&counter, &noticed).await, is("ended", "8"));
    assert_eq!(payments(&counter, &a_week_later).await, is("ended", "15"));
    assert_eq!(payments(&counter, &by_month).await, is("ended", "30"));
    // This is too late for the current month, so the subscription runs to the end of the next one.
    let late = counter.subscribed(&card, &monthly).await;
    counter.shop.gateway.set_clock(at("2027-03-25T12:00:00Z"));
    let (_, answer) = counter.asked_for("DELETE", &format!("v1/schedules/{late}"), None).await;
    assert_eq!(text(&answer, "/schedule/last"), "2027-05-01 11:59:59");

    for method in ["DELETE", "POST"] {
        let form = (method == "POST").then_some(&[DAILY][..]);
        let (status, answer) = counter.asked_for(method, &format!("v1/schedules/{by_date}"), form).await;
        assert_eq!((status, refusal(&answer).1.as_str()), (400, "id"), "{answer}");
        let nobody = format!("v1/schedules/{}", "0".repeat(32));
        assert_eq!(counter.asked_for(method, &nobody, form).await.0, 404);
    }
}

#[tokio::test]
async fn another_timetable_holds_from_now_on() {
    let (mut counter, card) = open().await;
    let id = counter.subscribed(&card, &[("job.expression", "0 0 9 * * ?"), ("job.name", "daily")]).await;
    counter.shop.gateway.set_clock(at("2026-11-25T12:00:00Z"));
    let weekly = [("job.expression", "0 0 10 ? * FRI")];
    let (status, answer) = counter.asked_for("POST", &format!("v1/schedules/{id}"), Some(&weekly)).await;
    assert_eq!((status, text(&answer, "/schedule/next").as_str()), (200, "2026-11-27 10:00:00"), "{answer}");
    counter.shop.gateway.set_clock(at("2026-12-05T12:00:00Z"));
    let times = counter.paid_at("2026-11-23", "2026-12-05").await;
    let days: Vec<&str> = times.iter().map(|told| &told[..16]).collect();
    assert_eq!(days, ["2026-11-24 09:00", "2026-11-25 09:00", "2026-11-27 10:00", "2026-12-04 10:00"]);
}

#[tokio::test]
async fn a_card_at_the_counter_is_stored_for_its_subscription_and_a_deleted_one_stops_it() {
    let (mut counter, _) = open().await;
    let reference = counter.reference();
    let form = counter.reader.chip_sale("9.90", &reference);
    let form = with(form, &[("job.expression", "0 0 9 * * ?")]);
    let answer = counter.shop.asked("POST", "v1/payments", Some(&form)).await;
    let (status, answer) = read(answer).await;
    assert_eq!(status, 200, "{answer}");
    let (id, card) = (text(&answer, "/id"), text(&answer, "/registrationId"));
    assert!(!answer.to_string().contains(&form.iter().find(|(name, _)| name == "pos.encryptedSred.data").unwrap().1));
    counter.shop.gateway.set_clock(at("2026-11-25T12:00:00Z"));
    assert_eq!(counter.paid_at("2026-11-23", "2026-11-30").await.len(), 2);
    assert_eq!(counter.shop.gateway.ledger().all_charged().count(), 3);
    assert_eq!(counter.delete(&card).await.0, 200);
    counter.shop.gateway.set_clock(at("2026-11-30T12:00:00Z"));
    let stands = counter.schedule(&id).await;
    assert_eq!(text(&stands, "/state"), "stopped");
    assert_eq!(counter.shop.gateway.ledger().all_charged().count(), 3, "and nothing was paid with it");
}

/// Parameters, the parameter that the refusal names, and its text.
type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a str);

#[tokio::test]
async fn what_never_comes_or_does_not_fit_is_refused_by_name() {
    let (mut counter, card) = open().await;
    const DAILY: (&str, &str) = ("job.expression", "0 0 9 * * ?");
    let cases: &[Case<'_>] = &[
        (&[("job.expression", "0 0 0 30 2 ?")], "job.expression", "never occurs"),
        (&[("job.month", "2"), ("job.dayOfMonth", "30")], "job.dayOfMonth", "never occurs"),
        (&[("job.expression", "0 0 0 1 1 ? 2020")], "job.expression", "never occurs"),
        (&[("job.year", "2020")], "job.year", "never occurs"),
        (&[("job.expression", "0 0 0 31 4,6,9,11 ?")], "job.expression", "never occurs"),
        (&[("job.expression", "0 0 9 * *")], "job.expression", "must be"),
        (&[("job.expression", "0 0 9 * * 8")], "job.expression", "must be"),
        (&[("job.minute", "0,30")], "job.minute", "must be"),
        (
            &[DAILY, ("job.startDate", "2026-12-02 00:00:00"), ("job.endDate", "2026-12-01 00:00:00")],
            "job.endDate",
            "before job.startDate",
        ),
        (&[DAILY, ("job.endDate", "2026-11-24 08:59:59")], "job.endDate", "before the first payment"),
        (&[DAILY, ("job.startDate", "2026-02-30 00:00:00")], "job.startDate", ""),
        (
            &[DAILY, ("job.durationNumber", "1"), ("job.durationUnit", "HOUR")],
            "job.durationNumber",
            "before the first payment",
        ),
        (&[DAILY, ("job.durationNumber", "1")], "job.durationUnit", "required"),
        (&[DAILY, ("job.noticeUnit", "DAY")], "job.noticeNumber", "required"),
        (
            &[DAILY, ("job.durationNumber", "9999999999999999"), ("job.durationUnit", "YEAR")],
            "job.durationNumber",
            "too far",
        ),
        (&[DAILY, ("job.durationNumber", "0"), ("job.durationUnit", "DAY")], "job.durationNumber", "1 or more"),
        (&[DAILY, ("job.noticeCallable", "DURATION_END")], "job.noticeCallable", "needs job.durationNumber"),
        (&[DAILY, ("paymentType", "CD")], "paymentType", ""),
        (&[DAILY, ("amount", "0.00")], "amount", ""),
    ];
    for (more, name, why) in cases {
        let (status, answer) = counter.subscribe(&card, more).await;
        assert_eq!((status, refusal(&answer)), (400, (INVALID.to_owned(), (*name).to_owned())), "{more:?}: {answer}");
        let said = text(&answer, "/result/description");
        assert!(said.contains(why), "{more:?}: {said}");
    }
    counter.shop.gateway.set_clock(at("2030-01-01T00:00:00Z"));
    assert_eq!(counter.shop.gateway.ledger().entries().len(), 1, "none of them pays");
}

/// Checks a payment per second for twenty minutes. This takes several rounds of the scheduler; each payment occurs
/// once, in order.
#[tokio::test]
async fn whatever_was_missed_is_made_up_for_once() {
    let (mut counter, card) = open().await;
    let until = [("job.expression", "* * * * * ?"), ("job.endDate", "2026-11-23 12:19:59")];
    let id = counter.subscribed(&card, &until).await;
    counter.shop.gateway.set_clock(at("2026-11-23T13:00:00Z"));
    let stands = counter.schedule(&id).await;
    assert_eq!((text(&stands, "/state"), text(&stands, "/payments")), ("ended".into(), "1200".into()));
    let paid = counter.paid_at("2026-11-23", "2026-11-23").await;
    assert_eq!(paid.len(), 1200);
    assert_eq!(paid[0], "2026-11-23 12:00:00 life-0002-0001");
    assert!(paid.is_sorted() && paid[1199].starts_with("2026-11-23 12:19:59"));
}

/// Checks that payments that fell due while the gateway was off are made when it is back, each of them once.
#[tokio::test]
async fn a_subscription_survives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let options = |clock: &str| Options {
        ledger: Some(folder.path().join("ledger.db")),
        clock: Some(at(clock)),
        host_rules: HostRules::Literal,
        ..Options::default()
    };
    let mut counter = Counter::with(options(NOON)).await;
    let card = stored(&mut counter).await;
    counter.subscribed(&card, &[("job.expression", "0 0 9 * * ?")]).await;
    let Counter { shop, .. } = counter;
    shop.gateway.stop().await;
    let counter = Counter::with(options("2026-11-26T12:00:00Z")).await;
    // The scheduler starts with the gateway.
    while counter.shop.gateway.ledger().entries().len() < 4 {
        tokio::task::yield_now().await;
    }
    let days: Vec<String> = counter.paid_at("2026-11-23", "2026-11-30").await;
    assert_eq!(
        days.iter().map(|told| &told[..13]).collect::<Vec<_>>(),
        ["2026-11-24 09", "2026-11-25 09", "2026-11-26 09"]
    );
}

#[tokio::test]
async fn a_typed_card_is_stored_for_its_subscription_too() {
    let (mut counter, _) = open().await;
    let reference = counter.reference();
    let form = [
        ("paymentType", "DB"),
        ("amount", "9.90"),
        ("currency", "EUR"),
        ("merchantTransactionId", reference.as_str()),
        ("paymentBrand", "VISA"),
        ("card.number", "4111111111111111"),
        ("card.expiryMonth", "12"),
        ("card.expiryYear", "2030"),
        ("card.holder", "Jane Jones"),
        ("job.expression", "0 0 9 * * ?"),
    ];
    let (status, answer) = counter.asked_for("POST", "v1/payments", Some(&form)).await;
    assert_eq!(status, 200, "{answer}");
    assert!(!answer.to_string().contains("4111111111111111"));
    assert_eq!(counter.shop.gateway.ledger().entries().len(), 1, "nothing is paid yet");
    counter.shop.gateway.set_clock(at("2026-11-25T12:00:00Z"));
    assert_eq!(counter.paid_at("2026-11-23", "2026-11-30").await.len(), 2);
}
