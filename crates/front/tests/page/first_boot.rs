//! Tests of the page of the first boot, with the real programs of both halves: from the code to the first payment, with
//! the keyboard alone, with restarts and lost connections, in each language and at each size.

use std::time::Duration;

use pos_first_boot::Step;
use pos_sim::gateway::{self, Kind, State};
use pos_words::Language;

use crate::browser::{Browser, By, Driver};
use crate::new_board::{NewBoard, PRINTER, READER, URL, on_a_board};
use crate::pictures::is_in_the_manual;
use crate::screens::Eye;
use crate::steps::STEPS;

const SIZES: [(u32, u32); 4] = [(320, 568), (412, 860), (768, 1024), (1024, 600)];
const SIZE: (u32, u32) = (800, 1000);

/// Sets the text of a field, as a paste does.
async fn paste(page: &Browser, id: &str, text: &str) {
    let field = format!("document.getElementById({id:?})");
    page.until(&field).await;
    let set =
        format!("const f = {field}; f.value = {text:?}; f.dispatchEvent(new Event('input', {{ bubbles: true }}))");
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
/// Enters the code that the board shows.
async fn enter_code(page: &Browser, board: &NewBoard) {
    enter(page, &format!("{}\u{e006}", board.code().await)).await;
}
/// Enters the code, and goes to this step.
async fn go_to(page: &Browser, board: &NewBoard, step: &str) {
    enter_code(page, board).await;
    page.until_screen("place").await;
    for (screen, then) in STEPS {
        if screen == step {
            return;
        }
        answer(page, board, screen).await;
        next(page, By::Pointer, then).await;
    }
}
/// Answers a step.
async fn answer(page: &Browser, board: &NewBoard, screen: &str) {
    match screen {
        "bank" => {
            paste(page, "gateway-url", &board.gateway.base_url()).await;
            paste(page, "gateway-entity-id", board.gateway.entity_id()).await;
            paste(page, "gateway-ca", board.gateway.ca_pem()).await;
            paste(page, "gateway-token", board.gateway.token()).await;
            page.press("#gateway-mode-external", By::Pointer).await;
        }
        "devices" => page.until("document.querySelectorAll('.findings [data-good=true]').length === 2").await,
        "shop" => {
            paste(page, "terminal-id", "60001234").await;
            paste(page, "merchant", "Sunshine Bakery\nHigh Street 1").await;
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
/// Chooses in a list.
async fn choose(page: &Browser, id: &str, value: &str) {
    let script =
        format!("const e = document.getElementById('{id}'); e.value = '{value}'; e.dispatchEvent(new Event('change'))");
    page.run(&script).await;
}
async fn stored(page: &Browser) -> String {
    let script = "return JSON.stringify(Object.entries(sessionStorage)) + JSON.stringify(Object.entries(localStorage)) \
                  + document.cookie";
    page.run(script).await.as_str().unwrap().to_owned()
}

#[test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
fn the_first_boot_leads_to_a_payment_with_the_keyboard_alone() {
    on_a_board("the_first_boot_leads_to_a_payment_with_the_keyboard_alone", async {
        let driver = Driver::start().await;
        let mut board = NewBoard::start().await;
        let page = board.browser(&driver).await;
        let holds = "const real = window.fetch; window.fetch = async (path, ...more) => { \
                     if (path !== '/first-boot/state' || !window.holds) return real(path, ...more); \
                     await new Promise((released) => { window.release = released; }); \
                     return new Response('', { status: 404 }); };";
        page.run_first(holds).await;
        page.open(URL, "en", SIZE).await;
        let code = board.code().await;
        enter(&page, &format!("{}\u{e006}", &code[..3])).await;
        page.until("document.querySelector('#said').textContent === 'The code has 8 digits.'").await;
        page.keys(&format!("{}\u{e006}", &code[3..])).await;
        page.until_screen("place").await;
        next(&page, By::Keyboard, "network").await;
        page.until("document.querySelectorAll('.findings [data-good=true]').length === 2").await;
        next(&page, By::Keyboard, "bank").await;
        reach_the_bank(&page, &board).await;
        try_the_devices(&page, &board).await;
        next(&page, By::Keyboard, "shop").await;
        answer(&page, &board, "shop").await;
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
        let (kept, token) = (stored(&page).await, board.gateway.token().to_owned());
        assert!(kept.contains(&board.gateway.base_url()) && kept.contains("Ada"), "{kept}");
        assert!(!kept.contains(&token) && !kept.contains("2580"), "no secret is kept: {kept}");
        // The terminal's own page answers a question of the first boot. The answer comes after the last step.
        page.run("window.holds = true").await;
        page.until("window.release").await;
        page.press("#next", By::Keyboard).await;
        board.becomes_terminal().await;
        page.until_screen("sale").await;
        page.run("window.holds = false; window.release()").await;
        let config = board.written("config.toml");
        for line in [
            "id = \"60001234\"".to_owned(),
            "merchant = [\"Sunshine Bakery\", \"High Street 1\"]".to_owned(),
            format!("port = {READER:?}"),
            format!("port = {PRINTER:?}"),
        ] {
            assert!(config.contains(&line), "{line}: {config}");
        }
        assert!(board.written("front.toml").contains("without-sign-in = \"paired\""));
        assert_eq!(board.written("gateway-token"), token);
        pay(&page, &board).await;
        page.press("#open", By::Keyboard).await;
        page.until_screen("pay").await;
        assert_eq!(page.complaints().await, Vec::<String>::new());
        page.close().await;
    });
}

/// Answers the bank's step with each mistake that a person makes there.
async fn reach_the_bank(page: &Browser, board: &NewBoard) {
    // What is missing is named at its field, and the first such field has the focus.
    page.press("#next", By::Keyboard).await;
    page.until("document.querySelectorAll('#content [aria-invalid=true]').length === 4").await;
    page.until("document.activeElement.id === 'gateway-url'").await;
    page.keys(&format!("{}\u{e004}tooshort\u{e004}", board.gateway.base_url())).await;
    let other = gateway::start(gateway::Options::default()).await.unwrap();
    paste(page, "gateway-ca", other.ca_pem()).await;
    paste(page, "gateway-token", board.gateway.token()).await;
    page.run("document.querySelector('#gateway-mode-live').focus()").await;
    page.keys("\u{e015}").await;
    page.until("document.querySelector('#gateway-mode-external').checked").await;
    page.press("#next", By::Keyboard).await;
    page.until("document.querySelector('#gateway-entity-id-wrong').textContent.includes('32')").await;
    paste(page, "gateway-entity-id", board.gateway.entity_id()).await;
    // The CA is another bank's.
    page.press("#next", By::Keyboard).await;
    page.until("document.querySelector('#more-findings [data-good=false] .remedy').textContent.includes('right file')")
        .await;
    // The bank does not answer: the finding says what to do, and a person may go on anyway.
    board.gateway.set_offline(true).await.unwrap();
    paste(page, "gateway-ca", board.gateway.ca_pem()).await;
    page.press("#look", By::Keyboard).await;
    page.until("document.querySelector('#more-findings [data-good=false] .remedy')?.textContent.includes('firewall')")
        .await;
    board.gateway.set_offline(false).await.unwrap();
    page.press("#look", By::Keyboard).await;
    page.until("document.querySelectorAll('#more-findings [data-good=true]').length === 4").await;
    page.press("#anyway", By::Keyboard).await;
    page.until_screen("devices").await;
}

async fn try_the_devices(page: &Browser, board: &NewBoard) {
    answer(page, board, "devices").await;
    // Another kind of reader asks for what only it needs.
    assert_eq!(page.run("return document.querySelector('#reader-protocol').value").await, "miura-mpi");
    choose(page, "reader-protocol", "verifone-vipa").await;
    page.until("document.querySelectorAll('#sred-form, #terminal-country, #acquirer').length === 3").await;
    assert_eq!(page.run("return document.querySelectorAll('#sred-form option').length").await, 3);
    choose(page, "reader-protocol", "miura-mpi").await;
    page.until("!document.querySelector('#sred-form, #acquirer')").await;
    let slips = board.printer.receipts().len();
    for (device, done) in [("reader", "shows the text"), ("printer", "line is printed")] {
        page.press(&format!("#try-{device}"), By::Keyboard).await;
        page.until(&format!("document.querySelector('#content').textContent.includes({done:?})")).await;
    }
    assert_eq!(board.printer.receipts().len(), slips + 1);
}

/// Makes the two payments.
async fn pay(page: &Browser, board: &NewBoard) {
    page.press("#first-training", By::Keyboard).await;
    page.until("document.querySelector('[data-part=training] [data-outcome=approved]')").await;
    assert!(board.gateway.ledger().entries().is_empty(), "training moves no money");
    page.press("#first-real", By::Keyboard).await;
    board.present("tap").await;
    page.until("document.querySelector('[data-back=true]')").await;
    let ledger = board.gateway.ledger();
    let [sale, reversal] = ledger.entries() else { panic!("{:?}", ledger.entries()) };
    assert_eq!((sale.kind, sale.amount.as_str()), (Kind::Debit, "0.01"));
    assert_eq!((reversal.kind, reversal.state, reversal.amount.as_str()), (Kind::Reversal, State::Approved, "0.01"));
    assert_eq!(ledger.all_charged().count(), 0, "the sale is given back");
    page.until("document.querySelector('[data-part=real] pre')?.textContent.includes('0.01')").await;
    assert!(!stored(page).await.contains("pos.sale"), "the cashier's page finds no payment in progress");
}

#[test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
fn after_a_restart_a_new_code_continues_with_the_kept_answers() {
    on_a_board("after_a_restart_a_new_code_continues_with_the_kept_answers", async {
        let driver = Driver::start().await;
        let mut board = NewBoard::start().await;
        let page = board.browser(&driver).await;
        page.open(URL, "en", SIZE).await;
        go_to(&page, &board, "shop").await;
        // Root's half alone ends in the middle of a step. The front lets it show a new code.
        board.restart_root().await;
        enter(&page, "").await;
        page.until("document.querySelector('#said').textContent.includes('has a new code')").await;
        enter_code(&page, &board).await;
        page.until_screen("shop").await;
        answer(&page, &board, "shop").await;
        next(&page, By::Pointer, "people").await;
        answer(&page, &board, "people").await;
        board.cut_power().await;
        page.until("document.querySelector('.bar.alarm')").await;
        board.boot().await;
        enter(&page, "").await;
        page.until("document.querySelector('#said').textContent.includes('has a new code')").await;
        page.until("!document.querySelector('.bar.alarm')").await;
        enter_code(&page, &board).await;
        page.until_screen("people").await;
        page.until("document.querySelector('#operator-0-pin').value === '2580'").await;
        next(&page, By::Pointer, "till").await;
        next(&page, By::Pointer, "review").await;
        give_the_secrets_again(&page, &board).await;
        // The power is cut at each step of the writing. Nothing is written, and the page writes everything again; or
        // everything is written, and the page is at its end.
        for step in [Step::Checking, Step::Writing, Step::Operators, Step::Agent] {
            let (_, ()) = tokio::join!(page.press("#next", By::Pointer), board.cut_power_at(step));
            board.boot().await;
            if board.is_set_up() {
                break;
            }
            assert_ne!(step, Step::Agent, "the files have their names");
            enter_code(&page, &board).await;
            page.until_screen("review").await;
        }
        page.until_screen("sale").await;
        page.until("document.querySelector('#first-training')").await;
        // The first request begins a payment, but its answer is lost. The refusal of the second one does not count.
        let loses = "let posts = 0, looks = 0; const real = window.fetch; window.fetch = async (path, how) => { \
                     if (!path.startsWith('/v1/sales')) return real(path, how); \
                     const nth = how.method === 'POST' ? ++posts : ++looks; \
                     if (how.method === 'POST' && nth === 2) \
                       return new Response('{\"code\":\"not-ready\"}', { status: 503 }); \
                     const answer = await real(path, how); \
                     if (nth === 1) throw new TypeError('the connection is lost'); \
                     return answer; };";
        page.run(loses).await;
        page.press("#first-training", By::Pointer).await;
        page.until("document.querySelector('[data-part=training] [data-outcome=approved]')").await;
        // A cut in the real payment ends the session. The page does not wait for ever, and says where the payment is.
        page.press("#first-real", By::Pointer).await;
        page.until("document.querySelector('[data-part=real] [data-outcome=card]')").await;
        board.cut_power().await;
        board.boot().await;
        page.until("document.querySelector('[data-part=real] [data-outcome=unconfirmed]')").await;
        page.until("document.querySelector('[data-part=real] [data-back=false]')").await;
        assert!(stored(&page).await.contains("pos.sale"), "the cashier's page takes the payment over");
        page.close().await;
    });
}

/// Loads the review again, which loses the secrets. The page names each of them.
async fn give_the_secrets_again(page: &Browser, board: &NewBoard) {
    page.reload().await;
    page.until_screen("review").await;
    for key in ["gateway.token", "operator[0].pin"] {
        page.until(&format!("document.querySelector('[data-mend=\"{key}\"]')")).await;
    }
    page.press("[data-mend='gateway.token']", By::Pointer).await;
    page.until_screen("bank").await;
    page.until("document.activeElement.id === 'gateway-token'").await;
    paste(page, "gateway-token", board.gateway.token()).await;
    for screen in ["devices", "shop", "people"] {
        next(page, By::Pointer, screen).await;
    }
    page.press("#next", By::Pointer).await;
    page.until("document.querySelector('#operator-0-pin[aria-invalid=true]')").await;
    paste(page, "operator-0-pin", "2580").await;
    paste(page, "operator-0-again", "2580").await;
    next(page, By::Pointer, "till").await;
    next(page, By::Pointer, "review").await;
}

#[test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
fn a_code_whose_answer_is_lost_lets_its_browser_in() {
    on_a_board("a_code_whose_answer_is_lost_lets_its_browser_in", async {
        let driver = Driver::start().await;
        let board = NewBoard::start().await;
        let (page, other) = (board.browser(&driver).await, board.browser(&driver).await);
        let lost = "const real = window.fetch; window.fetch = async (path, ...more) => { \
                    const answer = await real(path, ...more); \
                    if (path === '/first-boot/code') throw new TypeError('the connection is lost'); \
                    return answer; };";
        page.run_first(lost).await;
        page.open(URL, "en", SIZE).await;
        other.open(URL, "en", SIZE).await;
        other.until_screen("code").await;
        enter_code(&page, &board).await;
        page.until_screen("place").await;
        other.until_screen("taken").await;
        next(&page, By::Pointer, "network").await;
        page.close().await;
        other.close().await;
    });
}

#[test]
#[ignore = "needs Chromium: crates/front/tests/page/run installs it"]
fn another_browser_wrong_codes_and_the_end_of_the_hour_are_told_with_what_to_do() {
    on_a_board("another_browser_wrong_codes_and_the_end_of_the_hour_are_told_with_what_to_do", async {
        let driver = Driver::start().await;
        let mut board = NewBoard::start().await;
        let (page, other) = (board.browser(&driver).await, board.browser(&driver).await);
        page.open(URL, "en", SIZE).await;
        other.open(URL, "en", SIZE).await;
        enter(&page, &format!("{}\u{e006}", board.wrong_code().await)).await;
        page.until("document.querySelector('#code-hint').textContent.includes('4')").await;
        page.until("document.querySelector('#said').textContent === 'This code is wrong.'").await;
        enter_code(&page, &board).await;
        page.until_screen("place").await;
        other.until_screen("taken").await;
        // After a restart, the other browser may give the code.
        board.cut_power().await;
        board.boot().await;
        enter_code(&other, &board).await;
        other.until_screen("place").await;
        page.until_screen("taken").await;
        // The hour is root's: it goes on over restarts, and ends while the page waits for the board.
        for (left_s, shown) in [(300, "5 min"), (30, "1 min")] {
            board.hour_ends_in(Duration::from_secs(left_s)).await;
            enter_code(&other, &board).await;
            other.until(&format!("document.querySelector('.bar.warn')?.textContent.includes({shown:?})")).await;
        }
        board.hour_ends_in(Duration::ZERO).await;
        other.until_screen("over").await;
        board.cut_power().await;
        board.boot().await;
        let wrong = board.wrong_code().await;
        while board.tries_left() > 1 {
            let before = board.tries_left();
            enter(&other, &format!("{wrong}\u{e006}")).await;
            crate::within("the try", async {
                while board.tries_left() == before {
                    tokio::task::yield_now().await;
                }
            })
            .await;
            other.until(&format!("document.querySelector('#code')?.value !== {wrong:?}")).await;
        }
        enter(&other, &format!("{wrong}\u{e006}")).await;
        other.until_screen("closed").await;
        page.until_screen("closed").await;
        page.close().await;
        other.close().await;
    });
}

#[test]
#[ignore = "needs Chromium and axe-core: crates/front/tests/page/run installs them"]
fn each_step_of_the_first_boot_in_each_language_and_size() {
    on_a_board("each_step_of_the_first_boot_in_each_language_and_size", async {
        let driver = Driver::start().await;
        let mut faults = Vec::new();
        for (n, language) in Language::ALL.iter().enumerate() {
            let mut board = NewBoard::start().await;
            let page = board.browser(&driver).await;
            let mut eye = Eye::of(&page, language.code(), n, &SIZES);
            walk(&mut eye, &mut board).await;
            faults.append(&mut eye.faults);
            faults.extend(page.complaints().await);
            page.close().await;
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    });
}

/// Goes through all steps.
async fn walk(eye: &mut Eye<'_>, board: &mut NewBoard) {
    let page = eye.page;
    page.open(URL, eye.language, SIZE).await;
    page.until_screen("code").await;
    let is_english = eye.language == "en";
    if is_english {
        is_in_the_manual(page, "first-boot-code").await;
    }
    eye.look("first-code").await;
    go_to(page, board, "place").await;
    for (screen, then) in STEPS {
        answer(page, board, screen).await;
        if screen == "till" {
            page.press("#till-kind-nexo", By::Pointer).await;
            page.press("details.more summary", By::Pointer).await;
            eye.look("first-nexo").await;
            page.press("#till-kind-zvt", By::Pointer).await;
            paste(page, "till-address", "192.168.1.20").await;
        }
        if screen == "devices" && is_english {
            page.resize(SIZE).await;
            is_in_the_manual(page, "first-boot-devices").await;
        }
        eye.look(&format!("first-{screen}")).await;
        next(page, By::Pointer, then).await;
    }
    if is_english {
        page.resize(SIZE).await;
        is_in_the_manual(page, "first-boot-review").await;
    }
    eye.look("first-review").await;
    page.press("#next", By::Pointer).await;
    board.becomes_terminal().await;
    page.until_screen("sale").await;
    page.until("document.querySelector('#first-real')").await;
    page.press("#first-training", By::Pointer).await;
    page.until("document.querySelector('[data-outcome=approved]')").await;
    if is_english {
        page.resize(SIZE).await;
        is_in_the_manual(page, "first-boot-sale").await;
    }
    eye.look("first-sale").await;
}
