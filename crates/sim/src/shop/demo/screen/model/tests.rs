//! Tests of the model without a shop: the effect of keys and news.

use super::super::super::till::{Asked, Failed, News, Step, Totals, Wanted};
use super::super::amount::Purpose;
use super::super::keys::Intent;
use super::*;

const SALE: Intent = Intent::Ask(Purpose::Sale);

fn sale(reference: &str, state: &str, outcome: Option<&str>, text: &str) -> Sale {
    Sale {
        reference: reference.to_owned(),
        kind: "sale".to_owned(),
        amount: "12.34".to_owned(),
        state: state.to_owned(),
        outcome: outcome.map(str::to_owned),
        text: text.to_owned(),
        replayed: false,
    }
}

fn step(word: &str, text: &str, sale: Option<Sale>) -> News {
    let reference = sale.as_ref().map_or_else(String::new, |sale| sale.reference.clone());
    News::Step(Step { reference, step: word.to_owned(), text: text.to_owned(), sale })
}

fn last(model: &Model) -> (Tone, &str) {
    model.steps.back().map(|told| (told.tone, told.text.as_str())).unwrap()
}

/// Returns the action that requests 12.34 with this reference.
fn asks(reference: &str) -> Option<ShopAction> {
    Some(ShopAction::Till(begin(reference)))
}

fn begin(reference: &str) -> Asked {
    Asked::Begin(Wanted::sale(reference.to_owned(), "12.34".to_owned(), false))
}

/// Returns a model after `n` and Enter, in which the agent waits for a card.
fn waiting() -> Model {
    let mut model = Model::default();
    assert_eq!(model.press(SALE), None);
    assert_eq!(model.press(Intent::Enter), asks("demo-1"));
    model.hear(step("waiting", "Waiting", Some(sale("demo-1", "waiting-for-card", None, "Waiting"))));
    model
}

#[test]
fn a_sale_is_asked_for_once_and_each_further_one_has_a_name_of_its_own() {
    let mut model = waiting();
    for intent in [SALE, Intent::Ask(Purpose::Refund), Intent::Void] {
        assert_eq!(model.press(intent), None);
        let busy = "demo-1 has not ended yet. Wait, or press x to cancel it.";
        assert_eq!((model.page, last(&model).1), (Page::None, busy));
    }
    assert_eq!(model.press(Intent::Cancel), Some(ShopAction::Till(Asked::Cancel("demo-1".to_owned()))));

    model.hear(step("ended", "APPROVED", Some(sale("demo-1", "ended", Some("approved"), "APPROVED"))));
    assert_eq!(last(&model), (Tone::Good, "APPROVED"));
    model.press(SALE);
    assert_eq!(model.press(Intent::Enter), asks("demo-2"));
}

#[test]
fn an_amount_that_is_none_starts_nothing() {
    let mut model = Model::default();
    model.press(SALE);
    model.press(Intent::Type('.'));
    assert_eq!((model.press(Intent::Enter), model.page, model.begun), (None, Page::Amount(Purpose::Sale), 0));
}

#[test]
fn the_same_reference_goes_out_with_the_same_amount() {
    let mut model = Model::default();
    assert_eq!(model.press(Intent::Again), None, "there is none yet");
    let mut model = waiting();
    assert_eq!(model.press(Intent::Again), asks("demo-1"));
    let known = Sale { replayed: true, ..sale("demo-1", "ended", Some("declined"), "DECLINED") };
    let asked = begin("demo-1");
    model.hear(News::Answer(asked, Ok(known)));
    assert_eq!(last(&model), (Tone::Bad, "The agent already knows demo-1 and does nothing twice. DECLINED"));
}

#[test]
fn a_lost_answer_is_doubt_and_a_refusal_is_none() {
    let asked = begin("demo-1");
    let began = || {
        let mut model = Model::default();
        model.press(SALE);
        model.press(Intent::Enter);
        model
    };
    let mut model = began();
    model.hear(News::Answer(asked.clone(), Err(Failed::Lost("cut".to_owned()))));
    assert_eq!(last(&model).0, Tone::Doubt);
    assert!(model.press(Intent::Again).is_some(), "the same reference can be asked for");

    let mut model = began();
    model.hear(News::Answer(asked, Err(Failed::Refused("not ready".to_owned()))));
    let said = "The agent does not start demo-1; no money moves. Not ready.";
    assert_eq!((last(&model), model.sale.clone()), ((Tone::Trouble, said), None));
    assert_eq!(model.press(Intent::Again), None, "there is nothing to ask again for");
}

#[test]
fn a_step_that_was_heard_is_not_overwritten_by_an_older_answer() {
    let mut model = waiting();
    let asked = begin("demo-1");
    model.hear(step("authorising", "Authorising", Some(sale("demo-1", "in-progress", None, "Authorising"))));
    model.hear(News::Answer(asked, Ok(sale("demo-1", "waiting-for-card", None, "Waiting"))));
    assert_eq!(model.sale.as_ref().unwrap().state, "in-progress");
}

#[test]
fn an_older_sale_that_is_reversed_does_not_take_the_place_of_the_new_one() {
    let mut model = waiting();
    model.hear(step("unconfirmed", "UNCONFIRMED", Some(sale("demo-1", "unconfirmed", None, "UNCONFIRMED"))));
    assert_eq!((last(&model).0, model.under_way()), (Tone::Doubt, None), "the reader is free");
    model.press(SALE);
    model.press(Intent::Enter);
    model.hear(step("ended", "DECLINED", Some(sale("demo-1", "ended", Some("declined"), "DECLINED"))));
    assert_eq!(last(&model), (Tone::Bad, "demo-1: DECLINED"));
    assert_eq!(model.sale.as_ref().unwrap().reference, "demo-2");
}

#[test]
fn after_a_power_cut_the_latest_sale_is_asked_for() {
    let mut model = waiting();
    assert_eq!(model.press(Intent::Power), Some(ShopAction::Power(false)));
    assert_eq!(model.hear(News::Lost), None);
    assert_eq!(model.press(Intent::Power), Some(ShopAction::Power(true)));
    assert_eq!(model.hear(News::Connected).as_deref(), Some("demo-1"));
    model.hear(News::Answer(
        Asked::Show("demo-1".to_owned()),
        Ok(sale("demo-1", "ended", Some("cancelled"), "CANCELLED")),
    ));
    assert_eq!(last(&model), (Tone::Trouble, "State of demo-1: CANCELLED"));
    assert_eq!(model.under_way(), None);
}

#[test]
fn a_hand_does_only_what_the_card_can_do() {
    let mut model = waiting();
    assert_eq!(model.press(Intent::Present(CardEntry::Tap)), None);
    assert_eq!(last(&model), (Tone::You, "You cannot tap chip-pin. You can insert or swipe it."));
    assert_eq!(model.press(Intent::Remove), None, "no card is in the slot");
    let card = deck::card("chip-pin").unwrap();
    assert_eq!(model.press(Intent::Present(CardEntry::Insert)), Some(ShopAction::Present(card, CardEntry::Insert)));
    assert_eq!(model.in_slot(), None, "the display has not said so yet");
    model.shows(Screen { card_in_slot: true, ..Screen::default() });
    assert_eq!(model.in_slot(), Some(card));
    model.press(Intent::Hold(1));
    assert_eq!(model.press(Intent::Present(CardEntry::Insert)), None, "the slot is taken");
    assert_eq!(model.press(Intent::Remove), Some(ShopAction::Remove));
}

#[test]
fn a_wrong_pin_is_planned_for_one_entry() {
    let mut model = Model::default();
    assert_eq!(model.press(Intent::WrongPin), Some(ShopAction::WrongPin(true)));
    model.shows(Screen { waits_for: WaitsFor::Pin, ..Screen::default() });
    assert!(model.wrong_pin);
    model.shows(Screen::default());
    assert!(!model.wrong_pin);
    model.press(Intent::WrongPin);
    assert_eq!(model.press(Intent::WrongPin), Some(ShopAction::WrongPin(false)), "a second press takes it back");
}

#[test]
fn what_is_broken_is_mended_by_the_same_key() {
    let mut model = Model::default();
    for (intent, broken, mended) in [
        (Intent::Cable, ShopAction::Cable(true), ShopAction::Cable(false)),
        (Intent::Network, ShopAction::Network(true), ShopAction::Network(false)),
        (Intent::Slow, ShopAction::Slow(true), ShopAction::Slow(false)),
        (Intent::Power, ShopAction::Power(false), ShopAction::Power(true)),
    ] {
        assert_eq!(model.press(intent), Some(broken));
        assert_ne!(model.faults, BrokenThings::default(), "{intent:?}");
        assert_eq!(model.press(intent), Some(mended));
        assert_eq!(model.faults, BrokenThings::default(), "{intent:?}");
    }
}

#[test]
fn the_printers_key_goes_through_its_troubles() {
    let mut model = Model::default();
    for is in [PrinterIs::PaperOut, PrinterIs::CoverOpen, PrinterIs::Off, PrinterIs::Ready] {
        assert_eq!(model.press(Intent::Printer), Some(ShopAction::Printer(is)));
    }
    assert_eq!(model.faults, BrokenThings::default());
}

#[test]
fn a_signature_is_answered_only_when_one_is_waited_for() {
    let mut model = Model::default();
    assert_eq!(model.press(Intent::Signature(true)), None);
    let state = "awaiting-signature".to_owned();
    model.sale = Some(Sale { reference: "demo-1".to_owned(), state, ..Sale::default() });
    assert_eq!(
        model.press(Intent::Signature(false)),
        Some(ShopAction::Till(Asked::Signature("demo-1".to_owned(), false)))
    );
}

#[test]
fn the_stars_of_a_pin_take_one_line_and_the_steps_are_bounded() {
    let mut model = Model::default();
    for stars in ["*", "**", "***"] {
        model.hear(step("pin-entry", &format!("PIN {stars}"), None));
    }
    assert_eq!((model.steps.len(), last(&model).1), (1, "PIN ***"));
    for n in 0..2 * STEPS {
        model.hear(step("reader-text", &n.to_string(), None));
    }
    assert_eq!((model.steps.len(), last(&model).1), (STEPS, "999"));
}

#[test]
fn the_paper_rolls_back_no_further_than_it_is_long_and_forward_with_a_new_receipt() {
    let mut model = Model::default();
    model.printed(vec!["one\ntwo\nthree\n".to_owned()]);
    model.press(Intent::Scroll(100));
    assert_eq!(model.rolled, 4);
    model.press(Intent::Scroll(-1));
    assert_eq!(model.rolled, 3);
    model.printed(vec!["one\n".to_owned(), "two\n".to_owned()]);
    assert_eq!(model.rolled, 0);
}

/// Returns a model after an approved sale.
fn sold() -> Model {
    let mut model = waiting();
    model.hear(step("ended", "APPROVED", Some(sale("demo-1", "ended", Some("approved"), "APPROVED"))));
    model
}

#[test]
fn a_refund_and_a_void_are_of_the_last_sale() {
    let mut model = Model::default();
    assert_eq!(model.press(Intent::Void), None);
    assert_eq!(last(&model).1, "There is no sale to void yet. Press n to start one.");
    assert_eq!((model.press(Intent::Ask(Purpose::Refund)), model.page), (None, Page::None));

    let refund = |amount: Option<&str>| Wanted {
        reference: "demo-2".to_owned(),
        kind: "refund",
        amount: amount.map(str::to_owned),
        of: Some("demo-1".to_owned()),
        ..Wanted::default()
    };
    let mut model = sold();
    model.press(Intent::Ask(Purpose::Refund));
    assert_eq!(model.press(Intent::Enter), Some(ShopAction::Till(Asked::Begin(refund(None)))));
    assert_eq!(last(&model).1, "You refund all that is left of demo-1; the refund is demo-2.");
    let mut model = sold();
    model.press(Intent::Ask(Purpose::Refund));
    model.press(Intent::Type('5'));
    assert_eq!(model.press(Intent::Enter), Some(ShopAction::Till(Asked::Begin(refund(Some("5.00"))))));

    let mut model = sold();
    let void = Wanted::void("demo-2".to_owned(), "demo-1".to_owned());
    assert_eq!(model.press(Intent::Void), Some(ShopAction::Till(Asked::Begin(void.clone()))));
    assert_eq!(
        model.press(Intent::Again),
        Some(ShopAction::Till(Asked::Begin(void.clone()))),
        "the same again, whatever it was"
    );
    model.hear(News::Answer(Asked::Begin(void), Err(Failed::Refused("it was refunded".to_owned()))));
    assert_eq!(model.sale.as_ref().unwrap().reference, "demo-1", "the sale is on the screen again");
}

#[test]
fn a_sale_with_a_tip_lets_the_reader_ask_for_it() {
    let mut model = Model::default();
    model.press(Intent::Ask(Purpose::SaleWithTip));
    let wanted = Wanted::sale("demo-1".to_owned(), "12.34".to_owned(), true);
    assert_eq!(model.press(Intent::Enter), Some(ShopAction::Till(Asked::Begin(wanted))));
    assert_eq!(last(&model).1, "You ask for 12.34 EUR and a tip; the sale is demo-1.");
    model.shows(Screen { waits_for: WaitsFor::Number, ..Screen::default() });
    assert!(model.number_wanted());
    assert_eq!(model.press(Intent::Reader(Key::Digit(2))), Some(ShopAction::Key(Key::Digit(2))));
    model.press(Intent::Cable);
    assert!(!model.number_wanted(), "a reader without a cable asks for nothing");
}

#[test]
fn totals_are_asked_for_anew_each_time() {
    let mut model = Model { totals: Some(Totals::default()), ..Model::default() };
    assert_eq!(model.press(Intent::Totals), Some(ShopAction::Totals));
    assert_eq!((model.page, model.totals.clone()), (Page::Totals, None));
    model.hear(News::Totals(Ok(Totals { declined: 2, ..Totals::default() })));
    assert_eq!(model.totals.as_ref().unwrap().declined, 2);
    model.press(Intent::Next);
    assert_eq!(model.page, Page::None);
    model.press(Intent::Totals);
    model.hear(News::Totals(Err(Failed::Lost("cut".to_owned()))));
    assert_eq!(model.page, Page::None);
    assert_eq!(last(&model).1, "The totals are not available. The agent has not answered. Press z to ask again.");
}

#[test]
fn help_has_two_pages() {
    let mut model = Model::default();
    for (intent, page) in [(Intent::Help, Page::Keys), (Intent::Next, Page::Places), (Intent::Next, Page::None)] {
        model.press(intent);
        assert_eq!(model.page, page);
    }
}
