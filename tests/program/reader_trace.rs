//! `pos-agent reader trace` with a simulated reader of each family. Its output is a recording without card data, which
//! plays to a session without the reader.

use std::process::Output;

use crate::counter::till::program;
use pos_sim::reader::{Card, CardEntry, Family, WaitsFor, card};
use pos_sim::shop::{Options, Shop};
use pos_test_kit::{families, recording, within};

async fn shop(family: Family) -> Shop {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut options = Options::default();
    options.reader.family = family;
    Shop::open(options).await.unwrap()
}

/// Runs the verb while a card is presented.
async fn traced(shop: &Shop, arguments: &[&str], presented: Option<(&'static Card, CardEntry)>) -> Output {
    let config = shop.config();
    let arguments = [&["reader", "trace", "--config", config.to_str().unwrap()], arguments].concat();
    let present = async {
        let Some((card, entry)) = presented else { return };
        shop.reader.waits_for(WaitsFor::Card).await;
        shop.reader.present(card, entry);
        if entry == CardEntry::Insert {
            shop.reader.until(|screen| screen.lines.iter().any(|line| line.contains("REMOVE"))).await;
            shop.reader.remove();
        }
    };
    let mut command = program(&arguments);
    let (output, ()) = within("the recording", async { tokio::join!(command.output(), present) }).await;
    output.unwrap()
}

fn text(output: &[u8]) -> String {
    String::from_utf8(output.to_vec()).unwrap()
}

#[tokio::test]
async fn a_recording_has_no_card_data_and_plays_without_the_reader() {
    for family in families::played() {
        let shop = shop(family).await;
        for (name, entry, ends) in [
            ("tap-pin", CardEntry::Tap, "has read "),
            ("chip-pin", CardEntry::Insert, "The card declines."),
            ("swipe", CardEntry::Swipe, "has read "),
        ] {
            let card = card(name).unwrap();
            let output = traced(&shop, &["--amount", "12.34"], Some((card, entry))).await;
            let (recorded, told) = (text(&output.stdout), text(&output.stderr));
            assert_eq!(output.status.code(), Some(0), "{family:?} {name}: {told}");
            for expected in ["Present a card for 12.34 EUR. Nothing is charged.", ends] {
                assert!(told.contains(expected), "{family:?} {name}: {expected}: {told}");
            }
            assert!(!recorded.contains(card.pan) && recorded.contains("sealed bytes"), "{family:?} {name}: {recorded}");
            let file = shop.folder().join(format!("{}-{name}.trace", family.as_str()));
            std::fs::write(&file, &recorded).unwrap();
            recording::play_file(&file);
        }
        assert!(shop.gateway.ledger().entries().is_empty(), "{family:?}");
    }
}

#[tokio::test]
async fn the_start_up_is_recorded_alone() {
    let shop = shop(Family::Miura).await;
    let output = traced(&shop, &["--entry", "none"], None).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let recorded = text(&output.stdout);
    for expected in
        ["[reader]", "protocol = \"miura-mpi\"", "\n---\n", " open\n", "= ready: 30003638", "means: answer, "]
    {
        assert!(recorded.contains(expected), "{expected}: {recorded}");
    }
}

#[tokio::test]
async fn a_port_in_use_and_a_wrong_amount_are_explained() {
    let shop = shop(Family::Miura).await;
    let output = traced(&shop, &["--amount", "1.234"], None).await;
    assert_eq!(output.status.code(), Some(64), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("--amount: "), "{}", text(&output.stderr));
    shop.reader.unplug();
    let output = traced(&shop, &[], None).await;
    assert_eq!(output.status.code(), Some(69), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("systemctl stop pos-agent"), "{}", text(&output.stderr));
}
