//! Test of an operator's shift. The day's screen shows the sums of the signed-in operator, with tips and voids. They
//! agree with the gateway's ledger, with the sums of the shop, and with the table and the slip of the close.

use pos_sim::gateway::{Kind, Ledger, State};
use pos_sim::shop::Options;
use serde_json::{Value, json};

use crate::browser::{Browser, By, Driver};
use crate::cashier::{PIN, sell, sign_in};
use crate::counter::Counter;

const LARGE: (u32, u32) = (1024, 600);

/// Begins a follow-up of the payment at this place of the list, which begins with the newest.
async fn follow(page: &Browser, place: usize, kind: &str, amount: &str) {
    page.press("[data-view=sales]", By::Pointer).await;
    page.press(&format!(".list > li:nth-child({place}) .entry"), By::Pointer).await;
    page.press(&format!("[data-act={kind}]"), By::Pointer).await;
    if !amount.is_empty() {
        page.until("document.activeElement?.id === 'how-much'").await;
        page.run("document.activeElement.select()").await;
        page.keys(amount).await;
    }
    page.press("#do", By::Pointer).await;
    page.until_screen("sale-approved").await;
    page.press("#new", By::Pointer).await;
}

/// Returns the rows of the signed-in operator's sums, as the day's screen shows them.
async fn mine(page: &Browser) -> Value {
    page.press("[data-view=day]", By::Pointer).await;
    page.until("document.querySelector('#mine')").await;
    let rows = "return [...document.querySelectorAll('#mine tr')].map((row) => row.innerText.replaceAll('\\t', ' '))";
    page.run(rows).await
}

/// Returns the number and the sum of the approved entries of this kind.
fn booked(ledger: &Ledger, kind: Kind) -> (usize, u64) {
    let approved = |entry: &&pos_sim::gateway::LedgerEntry| entry.kind == kind && entry.state != State::Declined;
    let minor: Vec<u64> = (ledger.entries().iter().filter(approved))
        .map(|entry| entry.amount.replace('.', "").parse().unwrap())
        .collect();
    (minor.len(), minor.iter().sum())
}

/// Returns the number and the sum of the transactions of this kind in all shifts.
fn worked(shifts: &Value, kind: &str) -> (usize, u64) {
    let lines = shifts.as_array().unwrap().iter().flat_map(|shift| shift["kinds"].as_array().unwrap());
    lines.filter(|line| line["kind"] == kind).fold((0, 0), |(count, sum), line| {
        let minor: u64 = line["sum"].as_str().unwrap().replace('.', "").parse().unwrap();
        (count + usize::try_from(line["count"].as_u64().unwrap()).unwrap(), sum + minor)
    })
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn a_shift_has_the_operators_sales_tips_refunds_and_voids() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let more = "[operators]\nrequired = true\npin-digits = 4\nsupervisor-above = { refund = \"never\" }\n\n\
                [tips]\npresets = [10]\n\n[gateway]";
    let options = Options { config: vec![("[gateway]".to_owned(), more.to_owned())], ..Options::default() };
    let counter = Counter::open_with(options, "[page]\nwithout-sign-in = \"nobody\"\n").await;
    for name in ["Anna", "Ben"] {
        counter.add_operator(name, "cashier", PIN).await;
    }
    page.open(&counter.url, "en", LARGE).await;

    sign_in(&page, "Anna").await;
    page.press("[data-tip='10']", By::Pointer).await;
    sell(&page, &counter, "2000").await;
    sell(&page, &counter, "1200").await;
    page.press("[data-view=lock]", By::Pointer).await;
    sign_in(&page, "Ben").await;
    sell(&page, &counter, "3000").await;
    // Ben voids the 12.00 and refunds a part of the 22.00, both of which Anna charged.
    follow(&page, 2, "reversal", "").await;
    follow(&page, 4, "refund", "5.00").await;

    let line =
        |kind: &str, count: u64, sum: &str| json!({ "kind": kind, "currency": "EUR", "count": count, "sum": sum });
    let annas = json!({ "operator": "Anna", "kinds": [line("sale", 2, "34.00")], "tips": [line("sale", 1, "2.00")] });
    let bens = [line("refund", 1, "5.00"), line("reversal", 1, "12.00"), line("sale", 1, "30.00")];
    let bens = json!({ "operator": "Ben", "kinds": bens, "tips": [] });
    let open = page.promised("fetch('/v1/closes/open').then((answer) => answer.json())").await;
    assert_eq!(open["shifts"], json!([annas, bens]), "{open}");
    // The ledger has no operators, so it is compared with the sum of all shifts.
    let ledger = counter.shop.gateway.ledger();
    for (kind, booked_as) in [("sale", Kind::Debit), ("refund", Kind::Refund), ("reversal", Kind::Reversal)] {
        assert_eq!(worked(&open["shifts"], kind), booked(&ledger, booked_as), "{kind}: {:?}", ledger.entries());
    }
    assert_eq!((&open["tips"], &open["net"][0]["net"]), (&json!([line("sale", 1, "2.00")]), &json!("47.00")), "{open}");

    assert_eq!(mine(&page).await, json!(["Refund 1× €5.00", "Void 1× €12.00", "Sale 1× €30.00", "Net 3× €13.00"]));
    page.press("[data-view=lock]", By::Pointer).await;
    sign_in(&page, "Anna").await;
    assert_eq!(mine(&page).await, json!(["Sale 2× €34.00", "of which tips 1× €2.00", "Net 2× €34.00"]));

    // The recorded close has the same shifts, in each of its forms.
    page.press("#close-day", By::Pointer).await;
    page.press("#do", By::Pointer).await;
    page.until("document.querySelector('[data-close]')").await;
    let form =
        |form: &str| format!("fetch('/v1/closes/1', {{ headers: {{ Accept: '{form}' }} }}).then((one) => one.text())");
    let close = page.promised(&form("application/json")).await;
    let close: Value = serde_json::from_str(close.as_str().unwrap()).unwrap();
    assert_eq!(close["shifts"], open["shifts"]);
    let table = page.promised(&form("text/csv")).await;
    for row in ["shift,Anna,sale,EUR,2,34.00", "shift-tips,Anna,sale,EUR,1,2.00", "shift,Ben,reversal,EUR,1,12.00"] {
        assert!(table.as_str().unwrap().contains(row), "{row} in {table}");
    }
    let slip = page.promised(&form("text/plain")).await;
    for label in ["Anna 2 ", "- Tips, in the sales 1 ", "Ben 3 ", "- REFUND 1 ", "- VOID 1 "] {
        assert!(slip.as_str().unwrap().contains(label), "{label} in {slip}");
    }
    assert_eq!(page.complaints().await, Vec::<String>::new());
    page.close().await;
}
