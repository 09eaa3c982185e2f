//! Command keys: two config keys change them, counted by their bytes.

use super::*;

fn names(report: &Reported) -> Vec<&str> {
    report.keys.iter().map(|key| key.name.as_str()).collect()
}

/// Own keys and a third config key.
fn with_a_third() -> Vec<CommandKey> {
    let mut keys = own_keys();
    keys.push(key("config c", KeyKind::Config, CONFIG_C));
    keys
}

fn without_key(name: &str) -> Vec<CommandKey> {
    with_a_third().into_iter().filter(|key| key.name != name).collect()
}

#[test]
fn two_config_keys_change_the_keys_and_each_start_checks_it_again() {
    let mut board = Board::new();
    let mut process = board.start();
    assert_eq!(process.report().keys_version, 0);
    let report = process.keys_come(&mut board, &keys(1, with_a_third(), &[CONFIG_A, CONFIG_B]));
    assert_eq!((report.keys_version, report.keys_refused), (1, None));
    assert_eq!(names(&process.report()), ["config a", "config b", "desk", "web", "config c"]);
    assert_eq!(board.marks.last().unwrap().keys, ["config a", "config b"]);
    // The new key counts at once, and removes an old one with another.
    let report = process.keys_come(&mut board, &keys(2, without_key("config a"), &[CONFIG_B, CONFIG_C]));
    assert_eq!((report.keys_version, names(&report)), (2, vec!["config b", "desk", "web", "config c"]));
    let again = board.start();
    assert_eq!((again.report().keys_version, again.report().keys.len()), (2, 4));
    // The till key has the rights of the terminal's own configuration.
    let till = again.given.keys().all().iter().find_map(|key| key.till.clone()).unwrap();
    assert!(till.rights.has(config::Right::Sale) && !till.rights.has(config::Right::Refund));
}

#[test]
fn a_removed_key_signs_nothing_any_more_and_cannot_come_back() {
    let mut board = Board::new();
    let mut process = board.start();
    process.keys_come(&mut board, &keys(1, with_a_third(), &[CONFIG_A, CONFIG_B]));
    process.keys_come(&mut board, &keys(2, without_key("config a"), &[CONFIG_B, CONFIG_C]));
    for mut process in [process, board.start()] {
        let by_a = settings(1, json!({ "reader.baud": 9600 }));
        assert_eq!(process.given.settings_came(&by_a), Err(FleetRefusal::NotSigned), "the file still names it");
        let back = process.keys_come(&mut board, &keys(3, with_a_third(), &[CONFIG_B, CONFIG_C]));
        assert_eq!(back.keys_refused.unwrap().code, "revoked-key");
        let under_another_name = [without_key("config a"), vec![key("new", KeyKind::Config, CONFIG_A)]].concat();
        let back = process.keys_come(&mut board, &keys(3, under_another_name, &[CONFIG_B, CONFIG_C]));
        assert_eq!(back.keys_refused.unwrap().code, "revoked-key");
        let old = process.keys_come(&mut board, &keys(1, with_a_third(), &[CONFIG_A, CONFIG_B]));
        assert_eq!(old.keys_version, 2, "an old document does not bring it back");
    }
}

#[test]
fn the_bytes_of_a_key_are_replaced_under_its_name() {
    let mut board = Board::new();
    let mut process = board.start();
    let mut renewed = own_keys();
    renewed[2].public = public(44);
    renewed[3].public = public(55);
    let report = process.keys_come(&mut board, &keys(1, renewed.clone(), &[CONFIG_A, CONFIG_B]));
    assert_eq!((report.keys_refused, report.keys), (None, renewed));
    let back = process.keys_come(&mut board, &keys(2, own_keys(), &[CONFIG_A, CONFIG_B]));
    assert_eq!(back.keys_refused.unwrap().code, "revoked-key");
}

#[test]
fn what_two_config_keys_have_not_signed_is_refused_by_name() {
    let mut changed = with_a_third();
    changed[1].public = public(77);
    let mut renamed = with_a_third();
    renamed[1].name = "config z".to_owned();
    let mut demoted = with_a_third();
    demoted[1].kind = KeyKind::Desk;
    let mut tills = own_keys();
    tills[3].till = Some("other".to_owned());
    let mut no_till = own_keys();
    no_till[3].till = None;
    let mut doubled = own_keys();
    doubled.push(key("config d", KeyKind::Config, CONFIG_A));
    let mut half = own_keys();
    half[2].public = "00".to_owned();
    let cases: Vec<(&str, Vec<CommandKey>, Vec<u8>)> = vec![
        ("one-signature", with_a_third(), vec![CONFIG_A]),
        ("one-signature", with_a_third(), vec![CONFIG_A, CONFIG_A]),
        ("one-signature", with_a_third(), vec![CONFIG_A, DESK, WEB]),
        // The new key cannot sign for itself.
        ("one-signature", with_a_third(), vec![CONFIG_A, CONFIG_C]),
        ("key-not-allowed", with_a_third(), vec![DESK]),
        ("key-not-allowed", with_a_third(), vec![WEB, DESK]),
        ("signer-removed", without_key("config b"), vec![CONFIG_A, CONFIG_B]),
        ("signer-removed", changed, vec![CONFIG_A, CONFIG_B]),
        ("signer-removed", renamed, vec![CONFIG_A, CONFIG_B]),
        ("signer-removed", demoted, vec![CONFIG_A, CONFIG_B]),
        ("signer-removed", Vec::new(), vec![CONFIG_A, CONFIG_B]),
        ("malformed-keys", tills, vec![CONFIG_A, CONFIG_B]),
        ("malformed-keys", no_till, vec![CONFIG_A, CONFIG_B]),
        ("malformed-keys", doubled, vec![CONFIG_A, CONFIG_B]),
        ("malformed-keys", half, vec![CONFIG_A, CONFIG_B]),
    ];
    for (code, wrong, by) in cases {
        let mut board = Board::new();
        let mut process = board.start();
        let report = process.keys_come(&mut board, &keys(1, wrong, &by));
        assert_eq!(report.keys_refused.as_ref().map(|why| why.code.as_str()), Some(code), "{code} {by:?}");
        assert_eq!((report.keys_version, report.keys), (0, own_keys()), "{code}");
        assert!(board.marks.is_empty() && !board.file("keys").exists(), "{code}");
    }
}

#[test]
fn one_key_under_two_ids_counts_once() {
    let mut board = Board::new();
    let mut process = board.start();
    let document = write(&keys_document(1, with_a_third())).unwrap();
    let mut envelope = Envelope::read(&signed(DocumentKind::Keys, document, &[CONFIG_A, CONFIG_A])).unwrap();
    envelope.signatures[1].key = hex::encode(digest(&SHA256, pair(CONFIG_B).public_key().as_ref()));
    let report = process.keys_come(&mut board, &envelope.write());
    assert_eq!(report.keys_refused.unwrap().code, "one-signature");
}

#[test]
fn keys_for_another_terminal_or_by_a_stranger_are_not_taken() {
    let mut board = Board::new();
    let mut process = board.start();
    let stranger = keys(1, with_a_third(), &[STRANGER, CONFIG_C]);
    assert_eq!(process.given.keys_came(&stranger, |_| panic!("no mark")).unwrap_err(), FleetRefusal::NotSigned);
    let wrong = KeysDocument { terminal: "shop-2".parse().unwrap(), ..keys_document(1, with_a_third()) };
    let wrong = signed(DocumentKind::Keys, write(&wrong).unwrap(), &[CONFIG_A, CONFIG_B]);
    assert_eq!(process.keys_come(&mut board, &wrong).keys_refused.unwrap().code, "wrong-terminal");
    let as_settings = signed(DocumentKind::Settings, write(&keys_document(1, with_a_third())).unwrap(), &[CONFIG_A]);
    assert!(process.given.keys_came(&as_settings, |_| panic!("no mark")).is_err());
}

#[test]
fn a_version_rises_and_the_same_one_gives_the_same_report() {
    let mut board = Board::new();
    let mut process = board.start();
    let five = keys(5, with_a_third(), &[CONFIG_A, CONFIG_B]);
    let report = process.keys_come(&mut board, &five);
    assert_eq!(process.keys_come(&mut board, &five), report);
    for version in [4, 5] {
        let old = process.keys_come(&mut board, &keys(version, own_keys(), &[CONFIG_A, CONFIG_B]));
        assert_eq!((old.keys_refused.unwrap().code.as_str(), old.keys_version), ("old-version", 5));
    }
    assert_eq!(board.marks.len(), 1);
}

#[test]
fn a_file_of_the_folder_alone_adds_no_key_and_frees_no_revoked_one() {
    let mut board = Board::new();
    let mut process = board.start();
    process.keys_come(&mut board, &keys(1, with_a_third(), &[CONFIG_A, CONFIG_B]));
    let good = fs::read_to_string(board.file("keys")).unwrap();
    fs::write(board.file("keys"), good.replacen("envelope", "Envelope", 1)).unwrap();
    let damaged = board.start();
    assert!(damaged.given.keys().all().is_empty(), "a revoked key must not come back because a file is damaged");
    assert!(matches!(damaged.given.trouble(), [GivenTrouble::Keys(_)]));
    assert_eq!(damaged.report().keys_refused.unwrap().code, "not-usable");
    // With a right sum, but without two signatures.
    let folder = OverlayFolder::beside(&board.folder.path().join("journal.db"));
    let mut kept: Vec<KeptKeys> = store::content(good.as_bytes()).unwrap();
    kept[0].envelope = String::from_utf8(keys(1, with_a_third(), &[CONFIG_A])).unwrap();
    folder.write(OverlayFile::Keys, &kept).unwrap();
    assert!(board.start().given.keys().all().is_empty());
    // A person removes the folder: the keys of the file count again.
    fs::remove_dir_all(folder.path()).unwrap();
    let cleared = board.start();
    assert_eq!((cleared.report().keys, cleared.given.trouble().len()), (own_keys(), 0));
}

#[test]
fn what_root_adds_or_removes_later_counts() {
    let mut board = Board::new();
    let mut process = board.start();
    process.keys_come(&mut board, &keys(1, without_key("desk"), &[CONFIG_A, CONFIG_B]));
    // Root adds a desk key, and still has the old one in the file.
    let new = format!("[[fleet.key]]\nname = \"desk 2\"\nkind = \"desk\"\npublic = \"{}\"\n", public(66));
    let text = fs::read_to_string(board.config()).unwrap() + &new;
    fs::write(board.config(), &text).unwrap();
    let mut added = board.start();
    assert_eq!(names(&added.report()), ["config a", "config b", "web", "config c", "desk 2"]);
    // The next document decides about it too.
    let report = added.keys_come(&mut board, &keys(2, without_key("desk"), &[CONFIG_A, CONFIG_B]));
    assert!(!names(&report).contains(&"desk 2"));
    assert!(!names(&board.start().report()).contains(&"desk 2"));
    // Root takes the till from the fleet.
    let begin = text.find("[[fleet.key]]\nname = \"web\"").unwrap();
    let end = text.find("[[fleet.key]]\nname = \"desk 2\"").unwrap();
    fs::write(board.config(), format!("{}{}", &text[..begin], &text[end..])).unwrap();
    let taken = board.start();
    assert_eq!(names(&taken.report()), ["config a", "config b", "config c"]);
    assert!(taken.given.trouble().is_empty());
}

#[test]
fn a_key_that_the_fleet_added_may_also_be_written_into_the_file() {
    let mut board = Board::new();
    let mut process = board.start();
    process.keys_come(&mut board, &keys(1, own_keys(), &[CONFIG_A, CONFIG_B]));
    process.keys_come(&mut board, &keys(2, with_a_third(), &[CONFIG_A, CONFIG_B]));
    let new = format!("[[fleet.key]]\nname = \"config c\"\nkind = \"config\"\npublic = \"{}\"\n", public(CONFIG_C));
    fs::write(board.config(), fs::read_to_string(board.config()).unwrap() + &new).unwrap();
    let process = board.start();
    assert!(process.given.trouble().is_empty(), "{:?}", process.given.trouble());
    assert_eq!((process.report().keys_version, process.report().keys.len()), (2, 5));
}

#[test]
fn settings_stay_after_the_key_that_signed_them_is_removed() {
    let mut board = Board::new();
    let mut process = board.start();
    process.comes(&mut board, &settings(1, json!({ "reader.baud": 9600 })));
    process.look(&mut board, well());
    let mut trial = board.start();
    trial.given.acknowledged("journal", 1);
    trial.look(&mut board, well());
    trial.keys_come(&mut board, &keys(1, with_a_third(), &[CONFIG_A, CONFIG_B]));
    trial.keys_come(&mut board, &keys(2, without_key("config a"), &[CONFIG_B, CONFIG_C]));
    let after = board.start();
    assert_eq!((after.baud(), after.given.version()), (9600, 1));
}

#[test]
fn there_is_a_greatest_number_of_documents() {
    let mut board = Board::new();
    let mut process = board.start();
    for version in 1..=64 {
        let set = if version % 2 == 0 { own_keys() } else { without_key("config c") };
        let report = process.keys_come(&mut board, &keys(version, set, &[CONFIG_A, CONFIG_B]));
        assert_eq!(report.keys_refused, None, "{version}");
    }
    let report = process.keys_come(&mut board, &keys(65, own_keys(), &[CONFIG_A, CONFIG_B]));
    assert_eq!(report.keys_refused.unwrap().code, "too-many");
    assert_eq!(board.start().report().keys_version, 64);
}
