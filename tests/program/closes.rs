//! `pos-agent close` with the real program, and its exit codes for scripts. The tests make, show, list, export and
//! reprint closes.

use std::process::{Command, Output};

use crate::program::{Terminal, own_address};
use easy_ext::ext;
use pos_sim::shop::Options;
use serde_json::{Value, json};

#[ext(Closes)]
impl Terminal {
    async fn closes(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pos-agent"));
        command.arg("close").args(arguments).arg("--socket").arg(self.shop.socket()).env_remove("RUST_LOG");
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
    }
}

fn said(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

#[tokio::test]
async fn the_day_is_closed_from_a_shell_and_no_number_has_to_be_remembered() {
    let terminal = Terminal::start(Options::default(), own_address(30)).await;
    let made = terminal.closes(&["--reference", "Z1", "--print"]).await;
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    assert!(said(&made).contains("CLOSE OF DAY") && said(&made).contains("NOTHING IS OPEN"), "{}", said(&made));
    let again = terminal.closes(&["--reference", "Z1", "--json"]).await;
    let close: Value = serde_json::from_str(said(&again)).unwrap();
    assert_eq!((&close["number"], &close["replayed"]), (&json!(1), &json!(true)));
    let again = terminal.closes(&["--reference", "Z1"]).await;
    assert!(String::from_utf8_lossy(&again.stderr).contains("no new close was made"), "{again:?}");
    terminal.closes(&[]).await;
    for which in [&["show"][..], &["show", "last"], &["show", "2"]] {
        let shown = terminal.closes(&[which, &["--json"]].concat()).await;
        assert_eq!(serde_json::from_str::<Value>(said(&shown)).unwrap()["number"], 2, "{which:?}");
    }
    let list = terminal.closes(&["list"]).await;
    let numbers: Vec<&str> = said(&list).lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(numbers, ["2", "1"], "{}", said(&list));
    assert_eq!(said(&terminal.closes(&["list", "--limit", "1", "--json"]).await).lines().count(), 1);
    let csv = terminal.closes(&["export", "1"]).await;
    assert!(said(&csv).starts_with("close,day,section,name,kind,currency,count,amount\n1,"), "{}", said(&csv));
    let exported = terminal.closes(&["export", "--form", "json"]).await;
    assert_eq!(serde_json::from_str::<Value>(said(&exported)).unwrap()["number"], 2);
    let printed = terminal.closes(&["print", "1"]).await;
    assert!(said(&printed).contains("marked as a duplicate"), "{printed:?}");
    let unknown = terminal.closes(&["show", "17", "--json"]).await;
    assert_eq!(unknown.status.code(), Some(65));
    assert_eq!(serde_json::from_str::<Value>(said(&unknown)).unwrap()["error"]["code"], "no-such-close");
}
