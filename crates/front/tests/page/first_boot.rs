//! Tests of the page of the first boot: from the code to the first payment, with the keyboard alone, with restarts and
//! lost connections, in each language and at each size.

use std::path::Path;

use pos_first_boot::{Secret, Stage, TRIES};
use pos_sim::gateway::Kind;
use pos_sim::reader::CardEntry;
use pos_words::Language;

use crate::browser::{Browser, By, Driver};
use crate::counter::Counter;
use crate::new_board::NewBoard;
use crate::screens::Eye;
use crate::training::taught;

const SIZES: [(u32, u32); 4] = [(320, 568), (412, 860), (768, 1024), (1024, 600)];
const SIZE: (u32, u32) = (800, 900);
const CA: &str = "-----BEGIN CERTIFICATE-----\\nMIIB\\n-----END CERTIFICATE-----";
const TOKEN: &str = "secret-token-of-the-bank";
/// The variable with the folder for the pictures of the manual.
const MANUALS_PICTURES: &str = "POS_FRONT_MANUAL_PICTURES";

/// Sets the text of a field, as a paste does.
async fn paste(page: &Browser, id: &str, text: &str) {
    let field = format!("document.getElementById({id:?})");
    page.until(&field).await;
    let set =
        format!("const f = {field}; f.value = \"{text}\"; f.dispatchEvent(new Event('input', {{ bubbles: true }}))");
    page.run(&set).await;
}
async fn next(page: &Browser, by: By, screen: &str) {
    page.press("#next", by).await;
    page.until_screen(screen).await;
}
async fn enter(page: &Browser, code: &str) {
    page.until_screen("code").await;
    page.until("document.querySelector('#code')").await;
    page.run("document.querySelector('#code').focus()").await;
    page.keys(code).await;
}
/// Enters the code, and goes to this step.
async fn go_to(page: &Browser, step: &str) {
    enter(page, "12345678\u{e006}").await;
    page.until_screen("place").await;
    for (screen, then) in [
        ("place", "network"),
        ("network", "bank"),
        ("bank", "devices"),
        ("devices", "shop"),
        ("shop", "people"),
        ("people", "till"),
        ("till", "review"),
    ] {
        if screen == step {
            return;
        }
        answer(page, screen).await;
        next(page, By::Pointer, then).await;
    }
}
/// Answers a step.
async fn answer(page: &Browser, screen: &str) {
    match screen {
        "bank" => {
            paste(page, "gateway-url", "https://bank.example").await;
            paste(page, "gateway-entity-id", &"0".repeat(32)).await;
            paste(page, "gateway-ca", CA).await;
            paste(page, "gateway-token", TOKEN).await;
        }
        "devices" => page.until("document.querySelectorAll('.findings [data-good=true]').length === 2").await,
        "shop" => {
            paste(page, "terminal-id", "60001234").await;
            paste(page, "merchant", "Sunshine Bakery\\nHigh Street 1").await;
        }
        "people" => {
            page.press("#add", By::Pointer).await;
            paste(page, "operator-0-name", "Ada").await;
            paste(page, "operator-0-pin", "2580").await;
            paste(page, "operator-0-again", "2580").await;
        }
        _ => {}
    }
}
async fn stored(page: &Browser) -> String {
    let script = "return JSON.stringify(Object.entries(sessionStorage)) + JSON.stringify(Object.entries(localStorage)) \
                  + document.cookie";
    page.run(script).await.as_str().unwrap().to_owned()
}
/// Keeps a picture for the manual, if its folder is named.
async fn picture(page: &Browser, name: &str) {
    if let Ok(folder) = std::env::var(MANUALS_PICTURES) {
        page.until("document.body.dataset.complete").await;
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), page.picture().await).unwrap();
    }
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn the_first_boot_leads_to_a_payment_with_the_keyboard_alone() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let counter = Counter::open(taught()).await;
    let board = NewBoard::start(&counter.url).await;
    page.open(&board.url, "en", SIZE).await;
    enter(&page, "123\u{e006}").await;
    page.until("document.querySelector('#said').textContent === 'The code has 8 digits.'").await;
    page.keys("45678\u{e006}").await;
    page.until_screen("place").await;
    next(&page, By::Keyboard, "network").await;
    page.until("document.querySelectorAll('.findings [data-good=true]').length === 2").await;
    next(&page, By::Keyboard, "bank").await;
    // What is missing is named at its field, and the first such field has the focus.
    page.press("#next", By::Keyboard).await;
    page.until("document.querySelectorAll('#content [aria-invalid=true]').length === 4").await;
    page.until("document.activeElement.id === 'gateway-url'").await;
    page.keys("https://bank.example\u{e004}tooshort\u{e004}").await;
    paste(&page, "gateway-ca", CA).await;
    paste(&page, "gateway-token", TOKEN).await;
    page.press("#next", By::Keyboard).await;
    page.until("document.querySelector('#gateway-entity-id-wrong').textContent.includes('32 characters')").await;
    paste(&page, "gateway-entity-id", &"0".repeat(32)).await;
    // The bank does not answer: the finding says what to do, and a person may go on anyway.
    board.standing().reaches_bank = false;
    page.press("#next", By::Keyboard).await;
    page.until("document.querySelector('#more-findings [data-good=false] .remedy').textContent.includes('right file')")
        .await;
    board.standing().reaches_bank = true;
    page.press("#look", By::Keyboard).await;
    page.until("document.querySelectorAll('#more-findings [data-good=true]').length === 4").await;
    page.press("#anyway", By::Keyboard).await;
    page.until_screen("devices").await;
    answer(&page, "devices").await;
    for (device, done) in [("reader", "shows the text"), ("printer", "is printed")] {
        page.press(&format!("#try-{device}"), By::Keyboard).await;
        page.until(&format!("document.querySelector('#content').textContent.includes({done:?})")).await;
    }
    next(&page, By::Keyboard, "shop").await;
    answer(&page, "shop").await;
    next(&page, By::Keyboard, "people").await;
    page.press("#add", By::Keyboard).await;
    page.until("document.activeElement.id === 'operator-0-name'").await;
    page.keys("Ada").await;
    paste(&page, "operator-0-pin", "2580").await;
    paste(&page, "operator-0-again", "2581").await;
    page.press("#next", By::Keyboard).await;
    page.until("document.querySelector('#operator-0-again-wrong').textContent.includes('different')").await;
    paste(&page, "operator-0-again", "2580").await;
    next(&page, By::Keyboard, "till").await;
    next(&page, By::Keyboard, "review").await;
    let kept = stored(&page).await;
    assert!(kept.contains("https://bank.example") && kept.contains("Ada"), "{kept}");
    assert!(!kept.contains(TOKEN) && !kept.contains("2580"), "no secret is kept: {kept}");
    page.press("#next", By::Keyboard).await;
    page.until_screen("sale").await;
    let written = board.standing().written.clone().unwrap();
    assert_eq!(written.gateway.token, Some(Secret::Value(TOKEN.to_owned().into())));
    assert_eq!(written.merchant, Some(vec!["Sunshine Bakery".to_owned(), "High Street 1".to_owned()]));
    assert_eq!((written.reader.as_deref(), written.operator.len()), (Some("/dev/ttyACM0"), 1));
    assert_eq!(written.printer.unwrap().port, "/dev/ttyUSB0");
    assert_eq!(written.page.unwrap().without_sign_in.as_deref(), Some("paired"));
    pay(&page, &counter).await;
    page.press("#open", By::Keyboard).await;
    page.until_screen("pay").await;
    assert_eq!(page.complaints().await, Vec::<String>::new());
    page.close().await;
}

/// Makes the two payments.
async fn pay(page: &Browser, counter: &Counter) {
    page.press("#first-training", By::Keyboard).await;
    page.until("document.querySelector('[data-part=training] [data-outcome=approved]')").await;
    assert!(counter.shop.gateway.ledger().entries().is_empty(), "training moves no money");
    page.press("#first-real", By::Keyboard).await;
    counter.present("tap", CardEntry::Tap).await;
    page.until("document.querySelector('[data-back=true]')").await;
    let charged: Vec<_> = counter.shop.gateway.ledger().entries().iter().map(|one| one.amount.clone()).collect();
    assert_eq!(charged, ["0.01", "0.01"], "the sale and its reversal");
    assert_eq!((counter.moved(Kind::Debit), counter.moved(Kind::Reversal)), (0, 1));
    page.until("document.querySelector('[data-part=real] pre')?.textContent.includes('0.01')").await;
    assert!(!stored(page).await.contains("pos.sale"), "the cashier's page finds no payment in progress");
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn after_a_restart_of_the_board_a_new_code_continues_with_the_kept_answers() {
    let driver = Driver::start().await;
    let page = driver.browser().await;
    let counter = Counter::open(taught()).await;
    let board = NewBoard::start(&counter.url).await;
    page.open(&board.url, "en", SIZE).await;
    go_to(&page, "people").await;
    answer(&page, "people").await;
    // The power is cut in the middle of a step.
    board.standing().is_away = true;
    page.until("document.querySelector('.bar.alarm')").await;
    board.restart("87654321");
    enter(&page, "").await;
    page.until("document.querySelector('#said').textContent.includes('has a new code')").await;
    page.until("!document.querySelector('.bar.alarm')").await;
    enter(&page, "87654321\u{e006}").await;
    page.until_screen("people").await;
    page.until("document.querySelector('#operator-0-pin').value === '2580'").await;
    next(&page, By::Pointer, "till").await;
    next(&page, By::Pointer, "review").await;
    // A reload loses the secrets, and the page names each of them.
    page.reload().await;
    page.until_screen("review").await;
    for key in ["gateway.token", "operator[0].pin"] {
        page.until(&format!("document.querySelector('[data-mend=\"{key}\"]')")).await;
    }
    page.press("[data-mend='gateway.token']", By::Pointer).await;
    page.until_screen("bank").await;
    page.until("document.activeElement.id === 'gateway-token'").await;
    paste(&page, "gateway-token", TOKEN).await;
    for screen in ["devices", "shop", "people"] {
        next(&page, By::Pointer, screen).await;
    }
    page.press("#next", By::Pointer).await;
    page.until("document.querySelector('#operator-0-pin[aria-invalid=true]')").await;
    paste(&page, "operator-0-pin", "2580").await;
    paste(&page, "operator-0-again", "2580").await;
    next(&page, By::Pointer, "till").await;
    next(&page, By::Pointer, "review").await;
    // The power is cut before each step of the writing. Nothing is written, and the page writes everything again.
    for (step, code) in ["11111111", "22222222", "33333333"].into_iter().enumerate() {
        board.standing().cut_before = Some(step + 1);
        page.press("#next", By::Pointer).await;
        page.until_screen("writing").await;
        within_cut(&board).await;
        board.restart(code);
        enter(&page, &format!("{code}\u{e006}")).await;
        page.until_screen("review").await;
        assert!(board.standing().written.is_none());
    }
    next(&page, By::Pointer, "sale").await;
    assert!(board.standing().written.is_some());
    page.close().await;
}
async fn within_cut(board: &NewBoard) {
    crate::within("the cut", async {
        while !board.standing().is_away {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
async fn another_browser_wrong_codes_and_the_end_of_the_hour_are_told_with_what_to_do() {
    let driver = Driver::start().await;
    let (page, other) = (driver.browser().await, driver.browser().await);
    let counter = Counter::open(taught()).await;
    let board = NewBoard::start(&counter.url).await;
    page.open(&board.url, "en", SIZE).await;
    other.open(&board.url, "en", SIZE).await;
    enter(&page, "00000000\u{e006}").await;
    page.until("document.querySelector('#code-hint').textContent.includes('4')").await;
    page.until("document.querySelector('#said').textContent === 'This code is wrong.'").await;
    enter(&page, "12345678\u{e006}").await;
    page.until_screen("place").await;
    other.until_screen("taken").await;
    // After a restart, the other browser may give the code.
    board.restart("55555555");
    enter(&other, "55555555\u{e006}").await;
    other.until_screen("place").await;
    page.until_screen("taken").await;
    // The hour ends while the page waits for the board.
    for (left_s, shown) in [(300, "5 min"), (0, "1 min")] {
        board.standing().left_s = left_s;
        other.until(&format!("document.querySelector('.bar.warn')?.textContent.includes({shown:?})")).await;
    }
    board.standing().is_away = true;
    other.until_screen("over").await;
    board.restart("66666666");
    board.standing().left_s = 3600;
    for _ in 0..TRIES - 1 {
        let before = board.standing().tries_left;
        enter(&other, "00000000\u{e006}").await;
        crate::within("the try", async {
            while board.standing().tries_left == before {
                tokio::task::yield_now().await;
            }
        })
        .await;
        other.until("document.querySelector('#code')?.value !== '00000000'").await;
    }
    other.until_screen("closed").await;
    page.until_screen("closed").await;
    assert_eq!(board.standing().stage, Stage::Closed);
    page.close().await;
    other.close().await;
}

#[tokio::test]
#[ignore = "needs Chromium and axe-core: crates/front/tests/page/run installs them"]
async fn each_step_of_the_first_boot_in_each_language_and_size() {
    let driver = Driver::start().await;
    let counter = Counter::open(taught()).await;
    let mut faults = Vec::new();
    for (n, language) in Language::ALL.iter().enumerate() {
        let page = driver.browser().await;
        let board = NewBoard::start(&counter.url).await;
        let mut eye = Eye::of(&page, language.code(), n, &SIZES);
        walk(&mut eye, &board).await;
        faults.append(&mut eye.faults);
        faults.extend(page.complaints().await);
        page.close().await;
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Goes through all steps.
async fn walk(eye: &mut Eye<'_>, board: &NewBoard) {
    let page = eye.page;
    page.open(&board.url, eye.language, SIZE).await;
    page.until_screen("code").await;
    let is_english = eye.language == "en";
    if is_english {
        picture(page, "first-boot-code").await;
    }
    eye.look("first-code").await;
    go_to(page, "place").await;
    for (screen, then) in [
        ("place", "network"),
        ("network", "bank"),
        ("bank", "devices"),
        ("devices", "shop"),
        ("shop", "people"),
        ("people", "till"),
        ("till", "review"),
    ] {
        answer(page, screen).await;
        if screen == "till" {
            page.press("#till-kind-nexo", By::Pointer).await;
            page.press("details.more summary", By::Pointer).await;
            eye.look("first-nexo").await;
            page.press("#till-kind-zvt", By::Pointer).await;
            paste(page, "till-address", "192.168.1.20").await;
        }
        if screen == "devices" && is_english {
            page.resize(SIZE).await;
            picture(page, "first-boot-devices").await;
        }
        eye.look(&format!("first-{screen}")).await;
        next(page, By::Pointer, then).await;
    }
    if is_english {
        page.resize(SIZE).await;
        picture(page, "first-boot-review").await;
    }
    eye.look("first-review").await;
    next(page, By::Pointer, "sale").await;
    page.until("document.querySelector('#first-real')").await;
    page.press("#first-training", By::Pointer).await;
    page.until("document.querySelector('[data-outcome=approved]')").await;
    if is_english {
        page.resize(SIZE).await;
        picture(page, "first-boot-sale").await;
    }
    eye.look("first-sale").await;
}
