//! Settings: taken, tried, kept, returned, and never those that are on no list.

use super::*;

/// Begins a trial of these settings in the next process.
fn tried(board: &mut Board, bytes: &[u8]) -> Process {
    let mut first = board.start();
    assert_eq!(first.comes(board, bytes).state, SettingsState::Waiting);
    assert_eq!(first.look(board, well()), ThenDo::Restart);
    board.start()
}

#[test]
fn good_settings_are_tried_and_kept_once_all_was_reached_and_acknowledged() {
    let mut board = Board::new();
    let bytes = settings(7, json!({ "terminal.card-timeout-s": 45, "terminal.footer": ["Open till 8"] }));
    let mut first = board.start();
    assert_eq!(first.config.terminal.card_timeout_s, 60);
    assert_eq!(first.comes(&mut board, &bytes).state, SettingsState::Waiting);
    let busy = TrialFacts { may_begin: false, ..well() };
    assert_eq!(first.look(&mut board, busy), ThenDo::Nothing, "a card or a till waits");
    assert!(board.marks.is_empty());
    assert_eq!(first.look(&mut board, well()), ThenDo::Restart);
    assert_eq!(board.steps(), [(FleetStep::Begun, 7)]);
    assert_eq!(board.marks[0].keys, ["config a"]);
    // An acknowledgement of the process before says nothing about this trial.
    first.given.acknowledged("journal", 1);

    let mut trial = board.start();
    assert_eq!((trial.config.terminal.card_timeout_s, trial.given.version()), (45, 7));
    assert_eq!(trial.config.terminal.footer, ["Open till 8"]);
    assert_eq!(trial.look(&mut board, well()), ThenDo::Nothing);
    assert_eq!(trial.state(), (SettingsState::Trial, 7));
    trial.given.acknowledged("journal", 0);
    trial.given.acknowledged("another", 1);
    assert_eq!(trial.look(&mut board, well()), ThenDo::Nothing);
    assert_eq!(trial.state().0, SettingsState::Trial, "another journal, or an entry before the mark");
    trial.given.acknowledged("journal", 1);
    // Reader and gateway answered once; now the gateway is away.
    assert_eq!(trial.look(&mut board, TrialFacts { gateway: false, ..well() }), ThenDo::Nothing);
    assert_eq!(trial.state(), (SettingsState::Kept, 7));
    assert_eq!(board.steps(), [(FleetStep::Begun, 7), (FleetStep::Kept, 7)]);
    let again = board.start();
    assert_eq!((again.config.terminal.card_timeout_s, again.state()), (45, (SettingsState::Kept, 7)));
    // The same version again gives the same report; a lower one or another of the same number changes nothing.
    let mut again = again;
    let report = again.report();
    assert_eq!(again.comes(&mut board, &bytes), report);
    assert_eq!(again.comes(&mut board, &settings(7, json!({ "reader.baud": 9600 }))), report);
    assert_eq!(again.comes(&mut board, &settings(6, json!({}))), report);
    // One document cannot use up the versions.
    for version in [1_000_008, u64::MAX] {
        let refused = again.given.settings_came(&settings(version, json!({})));
        assert!(matches!(refused, Err(FleetRefusal::Refused(why)) if why.code == "version-too-high"), "{version}");
    }
    // Settings that a later version leaves out are the terminal's own again.
    let trial = tried(&mut board, &settings(8, json!({ "terminal.footer": ["Bye"] })));
    assert_eq!((trial.config.terminal.card_timeout_s, trial.config.terminal.footer.len()), (60, 1));
}

#[test]
fn what_was_missing_leads_back_without_a_network_and_never_again() {
    let lacks = [
        (TrialFacts { reader: false, ..well() }, "no-reader"),
        (TrialFacts { gateway: false, ..well() }, "no-gateway"),
        (TrialFacts { is_healthy: false, ..well() }, "not-healthy"),
    ];
    for (facts, code) in lacks {
        let mut board = Board::new();
        let kept = settings(1, json!({ "reader.baud": 57600 }));
        let mut trial = tried(&mut board, &kept);
        trial.given.acknowledged("journal", 1);
        trial.look(&mut board, well());
        let bytes = settings(2, json!({ "reader.baud": 1200 }));
        let mut trial = tried(&mut board, &bytes);
        assert_eq!(trial.baud(), 1200);
        trial.given.acknowledged("journal", 99);
        trial.now = TRIAL_LASTS - Duration::from_secs(1);
        assert_eq!(trial.look(&mut board, facts), ThenDo::Nothing, "{code}");
        trial.now = TRIAL_LASTS;
        assert_eq!(trial.look(&mut board, TrialFacts { may_begin: false, ..facts }), ThenDo::GoBack, "{code}");
        let mut back = board.start();
        assert_eq!((back.baud(), back.state()), (57600, (SettingsState::Returned, 1)), "{code}");
        assert_eq!(back.report().reason.unwrap().code, code);
        assert_eq!(board.marks.last().unwrap().why.as_deref(), Some(code));
        back.now = Duration::from_secs(40 * 24 * 3600);
        assert_eq!(back.comes(&mut board, &bytes).state, SettingsState::Returned);
        assert_eq!(back.look(&mut board, well()), ThenDo::Nothing, "{code}: never again");
        assert_eq!(back.given.returned().unwrap().0, 2);
    }
}

#[test]
fn without_the_acknowledgement_alone_the_version_is_tried_again_later_and_later() {
    let mut board = Board::new();
    let bytes = settings(3, json!({ "terminal.language": "de" }));
    let mut process = tried(&mut board, &bytes);
    for hours in [1, 2, 4, 8, 16, 24, 24] {
        process.now = TRIAL_LASTS;
        assert_eq!(process.look(&mut board, well()), ThenDo::GoBack);
        process = board.start();
        assert_eq!(process.state(), (SettingsState::Unheard, 0), "{hours}");
        assert_eq!(process.config.terminal.language, "en");
        process.now = Duration::from_secs(hours * 3600 - 1);
        assert_eq!(process.look(&mut board, well()), ThenDo::Nothing, "{hours}");
        assert_eq!(process.given.due(process.now), Some(Duration::from_secs(hours * 3600)));
        process.now += Duration::from_secs(1);
        assert_eq!(process.look(&mut board, well()), ThenDo::Restart, "{hours}");
        process = board.start();
        assert_eq!(process.state(), (SettingsState::Trial, 3));
    }
    process.given.acknowledged("journal", 1000);
    process.look(&mut board, well());
    assert_eq!(process.state(), (SettingsState::Kept, 3));
}

#[test]
fn three_failed_starts_lead_back_before_the_journal_opens() {
    let mut board = Board::new();
    drop(tried(&mut board, &settings(4, json!({ "terminal.card-timeout-s": 20 }))));
    for _ in 0..2 {
        assert_eq!(board.start().state(), (SettingsState::Trial, 4));
    }
    let mut back = board.start();
    assert_eq!((back.state(), back.config.terminal.card_timeout_s), ((SettingsState::Returned, 0), 60));
    assert_eq!(back.report().reason.unwrap().code, "failed-starts");
    // The journal gets its mark once it is open.
    assert_eq!(board.steps(), [(FleetStep::Begun, 4)]);
    assert_eq!(back.look(&mut board, TrialFacts::default()), ThenDo::Nothing);
    assert_eq!(board.steps(), [(FleetStep::Begun, 4), (FleetStep::Returned, 4)]);
    assert_eq!(back.look(&mut board, TrialFacts::default()), ThenDo::Nothing);
    assert_eq!(board.marks.len(), 2, "once");
}

#[test]
fn starts_of_a_trial_that_ran_well_do_not_count() {
    let mut board = Board::new();
    let mut trial = tried(&mut board, &settings(4, json!({ "terminal.card-timeout-s": 20 })));
    for _ in 0..5 {
        trial.now = Duration::from_secs(121);
        trial.look(&mut board, TrialFacts::default());
        trial = board.start();
        assert_eq!(trial.state(), (SettingsState::Trial, 4), "the power was cut, and the agent started again");
    }
}

#[test]
fn a_start_that_cannot_be_counted_does_not_try() {
    let mut board = Board::new();
    drop(tried(&mut board, &settings(4, json!({ "terminal.card-timeout-s": 20 }))));
    // A folder in the place of the new file.
    fs::create_dir(board.file("settings.new")).unwrap();
    let process = board.start();
    assert_eq!((process.config.terminal.card_timeout_s, process.given.version()), (60, 0));
    assert!(matches!(process.given.trouble(), [GivenTrouble::Settings(why)] if why.contains("cannot be counted")));
}

/// Every key of the manual's full example, and what a fleet must never change, is tried.
#[test]
fn no_setting_but_those_of_the_list_is_taken() {
    let never = [
        "gateway.url",
        "gateway.ca-file",
        "gateway.entity-id",
        "gateway.token-file",
        "gateway.test-mode",
        "gateway.answer-timeout-ms",
        "terminal.id",
        "terminal.currency",
        "terminal.country",
        "terminal.max-amount",
        "terminal.max-credit-amount",
        "terminal.confirm-signature",
        "terminal.location",
        "reader.port",
        "reader.protocol",
        "reader.serials",
        "till.socket",
        "till.http",
        "till.token",
        "till.peer",
        "journal.path",
        "journal.keep-days",
        "journal.mark-folder",
        "operators.required",
        "operators.supervisor-above",
        "fleet.org",
        "fleet.terminal",
        "fleet.key",
        "training.allowed",
        "receipts.receipt-url",
        "printer.port",
        "tips",
        "terminal",
        "reader",
        "",
        ".",
        "terminal.",
        "terminal.language.x",
        "Terminal.language",
    ];
    for name in never {
        assert!(!SETTINGS.contains(&name));
        let mut board = Board::new();
        let mut process = board.start();
        let report = process.comes(&mut board, &settings(1, json!({ name: "https://evil.example/" })));
        assert_eq!(report.state, SettingsState::Refused, "{name}");
        assert_eq!(report.reason.unwrap().code, "not-allowed", "{name}");
        assert_eq!(process.look(&mut board, well()), ThenDo::Nothing, "{name}");
        assert_eq!(board.steps(), [(FleetStep::Refused, 1)], "{name}");
        assert_eq!(board.start().given.version(), 0);
    }
}

#[test]
fn a_value_is_refused_in_the_words_of_the_check() {
    let wrong = [
        ("reader.baud", json!(7), "7 is not between 1200 and 4000000"),
        ("reader.baud", json!("fast"), "invalid type: string"),
        ("reader.baud", json!(9600.5), "the value has a wrong type"),
        ("reader.baud", json!(null), "the value has a wrong type"),
        ("reader.baud", json!({ "x": 1 }), "the value has a wrong type"),
        ("terminal.language", json!("tlh"), "is not a language"),
        ("terminal.merchant", json!([]), "must be 1 to 6 lines"),
        ("terminal.merchant", json!([["a"]]), "the value has a wrong type"),
        ("terminal.card-timeout-s", json!(0), "is not between 5 and 600"),
        ("tips.presets", json!([0]), "must be one to four numbers"),
        ("tips.presets", json!([5, 300]), "invalid value"),
        ("close.day-ends-at", json!("25:00"), "close.day-ends-at"),
        ("close.time-zone", json!("Mars/Base"), "there is no time zone"),
        ("receipts.customer", json!("eat"), "unknown variant"),
    ];
    for (name, value, words) in wrong {
        let mut board = Board::new();
        let mut process = board.start();
        let report = process.comes(&mut board, &settings(1, json!({ name: value })));
        let reason = report.reason.unwrap();
        assert_eq!((report.state, reason.code.as_str()), (SettingsState::Refused, "wrong-value"), "{name}");
        assert!(reason.text.contains(words), "{name}: {}", reason.text);
        assert_eq!(process.look(&mut board, well()), ThenDo::Nothing, "never tried");
    }
    // Two settings that are wrong only together: the file's country forbids what the fleet says.
    let mut board = Board::new();
    board.edit("currency = \"EUR\"", "currency = \"EUR\"\ncountry = \"FR\"");
    let mut process = board.start();
    let report = process.comes(&mut board, &settings(1, json!({ "receipts.customer": "print" })));
    assert!(report.reason.unwrap().text.contains("forbidden in FR"));
}

#[test]
fn every_setting_of_the_list_can_be_given() {
    let good = json!({
        "terminal.merchant": ["Corner Shop", "High Street 1"], "terminal.footer": ["Thank you"],
        "terminal.language": "fr", "terminal.card-timeout-s": 90, "reader.baud": 9600, "reader.language": "fr",
        "reader.warn-keys-left": 500, "receipts.customer": "ask", "tips.presets": [5, 10], "tips.custom": false,
        "tips.default": 5, "tips.timeout-s": 20, "close.day-ends-at": "03:00", "close.time-zone": "CET-1CEST,M3.5.0,M10.5.0/3",
    });
    let names: Vec<&str> = good.as_object().unwrap().keys().map(String::as_str).collect();
    let mut listed = SETTINGS.to_vec();
    listed.sort_unstable();
    assert_eq!(names, listed);
    let mut board = Board::new();
    let trial = tried(&mut board, &settings(1, good));
    assert_eq!((trial.baud(), trial.config.tips.as_ref().unwrap().timeout_s), (9600, 20));
    assert_eq!(trial.given.in_use().len(), SETTINGS.len());
}

#[test]
fn whoever_may_not_sign_settings_changes_nothing() {
    let mut board = Board::new();
    let mut process = board.start();
    let text = write(&document(1, json!({ "reader.baud": 9600 }))).unwrap();
    let by = |seeds: &[u8]| signed(DocumentKind::Settings, text.clone(), seeds);
    assert_eq!(process.given.settings_came(&by(&[STRANGER])), Err(FleetRefusal::NotSigned));
    assert_eq!(process.given.settings_came(&by(&[CONFIG_C])), Err(FleetRefusal::NotSigned));
    for seed in [DESK, WEB] {
        let refusal = process.given.settings_came(&by(&[seed]));
        assert!(matches!(&refusal, Err(FleetRefusal::Refused(why)) if why.code == "key-not-allowed"), "{refusal:?}");
    }
    let another = signed(DocumentKind::Keys, text.clone(), &[CONFIG_A]);
    assert!(matches!(process.given.settings_came(&another), Err(FleetRefusal::Malformed(_))));
    for (org, terminal) in [("other", "shop-17-1"), ("corner-shops", "shop-17-2")] {
        let wrong = SettingsDocument {
            org: org.parse().unwrap(),
            terminal: terminal.parse().unwrap(),
            ..document(99, json!({}))
        };
        let refusal = process.given.settings_came(&signed(DocumentKind::Settings, write(&wrong).unwrap(), &[CONFIG_A]));
        assert!(matches!(&refusal, Err(FleetRefusal::Refused(why)) if why.code == "wrong-terminal"), "{refusal:?}");
    }
    assert_eq!(process.report().tried, 0, "what is not the terminal's raises no version");
    assert!(board.marks.is_empty());
    assert_eq!(process.comes(&mut board, &by(&[DESK, CONFIG_B])).state, SettingsState::Waiting);
}

#[test]
fn a_version_that_comes_during_a_trial_is_judged_after_it() {
    let mut board = Board::new();
    let mut trial = tried(&mut board, &settings(1, json!({ "reader.baud": 9600 })));
    assert_eq!(trial.comes(&mut board, &settings(2, json!({ "reader.baud": 19200 }))).tried, 1);
    trial.given.acknowledged("journal", 1);
    assert_eq!(trial.look(&mut board, well()), ThenDo::Restart);
    assert_eq!(board.steps(), [(FleetStep::Begun, 1), (FleetStep::Kept, 1), (FleetStep::Begun, 2)]);
    assert_eq!(board.start().baud(), 19200);
}

#[test]
fn a_local_edit_wins_and_is_told_until_a_document_replaces_it() {
    let mut board = Board::new();
    let mut trial = tried(&mut board, &settings(1, json!({ "reader.baud": 9600, "terminal.card-timeout-s": 45 })));
    trial.given.acknowledged("journal", 1);
    trial.look(&mut board, well());
    board.edit("baud = 115200", "baud = 38400");
    let drifted = board.start();
    assert_eq!((drifted.baud(), drifted.config.terminal.card_timeout_s), (38400, 45));
    assert_eq!(drifted.report().drift, ["reader.baud"]);
    // A later document without its name does not overwrite it.
    let mut trial = tried(&mut board, &settings(2, json!({ "reader.baud": 19200 })));
    assert_eq!((trial.baud(), trial.report().drift.len()), (38400, 1));
    trial.given.acknowledged("journal", 99);
    trial.look(&mut board, well());
    let over =
        SettingsDocument { over_local: vec!["reader.baud".to_owned()], ..document(3, json!({ "reader.baud": 19200 })) };
    let over = signed(DocumentKind::Settings, write(&over).unwrap(), &[CONFIG_B]);
    let trial = tried(&mut board, &over);
    assert_eq!((trial.baud(), trial.report().drift.len()), (19200, 0));
    // A value that is not in the file at first, and later is.
    let mut board = Board::new();
    let mut trial = tried(&mut board, &settings(1, json!({ "terminal.language": "de" })));
    trial.given.acknowledged("journal", 1);
    trial.look(&mut board, well());
    board.edit("currency = \"EUR\"", "currency = \"EUR\"\nlanguage = \"nl\"");
    assert_eq!(board.start().config.terminal.language, "nl");
    board.edit("language = \"nl\"\n", "");
    assert_eq!(board.start().config.terminal.language, "de");
}

#[test]
fn a_local_edit_that_forbids_kept_settings_leaves_the_terminal_its_own() {
    let mut board = Board::new();
    let mut trial = tried(&mut board, &settings(1, json!({ "receipts.customer": "print", "reader.baud": 9600 })));
    trial.given.acknowledged("journal", 1);
    trial.look(&mut board, well());
    board.edit("currency = \"EUR\"", "currency = \"EUR\"\ncountry = \"FR\"");
    let process = board.start();
    assert_eq!((process.baud(), process.given.version()), (115200, 0));
    assert!(matches!(process.given.trouble(), [GivenTrouble::Settings(why)] if why.contains("forbidden in FR")));
    assert_eq!(process.report().reason.unwrap().code, "not-usable");
}

#[test]
fn a_file_that_was_edited_by_hand_counts_as_absent() {
    let mut board = Board::new();
    let mut trial = tried(&mut board, &settings(1, json!({ "reader.baud": 9600 })));
    trial.given.acknowledged("journal", 1);
    trial.look(&mut board, well());
    let good = fs::read(board.file("settings")).unwrap();
    let text = String::from_utf8(good.clone()).unwrap();
    for (what, with) in [("\"floor\":1", "\"floor\":0"), ("\n", "\n "), ("journal", "jOurnal")] {
        let edited = text.replacen(what, with, 1);
        assert_ne!(edited, text, "{what}");
        fs::write(board.file("settings"), edited).unwrap();
        let process = board.start();
        assert_eq!((process.baud(), process.given.version()), (115200, 0), "{what}");
        assert!(!process.given.trouble().is_empty(), "{what}");
        // The journal knows the version, so it is not tried again by an old message.
        let mut process = process;
        let report = process.comes(&mut board, &settings(1, json!({ "reader.baud": 9600 })));
        assert_eq!((report.tried, report.version), (1, 0));
    }
    for cut in 0..good.len() {
        fs::write(board.file("settings"), &good[..cut]).unwrap();
        assert_eq!(board.start().given.version(), 0, "{cut}");
    }
    // With the right sum, but another document in it.
    let another = settings(1, json!({ "reader.baud": 1200 }));
    for forged in [
        signed(DocumentKind::Settings, write(&document(1, json!({ "reader.baud": 1200 }))).unwrap(), &[STRANGER]),
        settings(2, json!({ "reader.baud": 1200 })),
        signed(
            DocumentKind::Settings,
            write(&document(1, json!({ "gateway.url": "https://evil/" }))).unwrap(),
            &[CONFIG_A],
        ),
    ] {
        let mut standing: SettingsStanding = store::content(&good).unwrap();
        standing.kept.as_mut().unwrap().envelope = String::from_utf8(forged).unwrap();
        OverlayFolder::beside(&board.folder.path().join("journal.db")).write(OverlayFile::Settings, &standing).unwrap();
        let process = board.start();
        assert_eq!((process.baud(), process.given.version()), (115200, 0));
        assert_eq!(process.given.trouble().len(), 1);
    }
    drop(another);
    // The file is removed: the terminal's own settings, without a fault.
    fs::remove_dir_all(board.folder.path().join("fleet")).unwrap();
    let process = board.start();
    assert!(process.given.trouble().is_empty());
    let report = process.report();
    assert_eq!((report.state, report.reason.unwrap().code.as_str()), (SettingsState::Refused, "cleared"));
}

/// Cuts the power between mark, file and restart of each change, and starts again from the disk.
#[test]
fn a_cut_at_each_step_of_the_swap_leaves_one_of_the_two_configurations() {
    let bytes = settings(1, json!({ "reader.baud": 9600 }));
    // After the mark about the begin, before the file.
    let mut board = Board::new();
    let mut process = board.start();
    process.comes(&mut board, &bytes);
    let before = fs::read(board.file("settings")).unwrap();
    assert_eq!(process.look(&mut board, well()), ThenDo::Restart);
    fs::write(board.file("settings"), &before).unwrap();
    let mut process = board.start();
    assert_eq!((process.baud(), process.state()), (115200, (SettingsState::Waiting, 0)));
    assert_eq!(process.look(&mut board, well()), ThenDo::Restart);
    assert_eq!(board.steps(), [(FleetStep::Begun, 1); 2]);
    // After the file, before the restart: the next start is the trial.
    let mut trial = board.start();
    assert_eq!((trial.baud(), trial.state()), (9600, (SettingsState::Trial, 1)));
    // A file that was not renamed yet changes nothing.
    fs::write(board.file("settings.new"), "half").unwrap();
    // After the mark that it is kept, before the file: the trial goes on, and its acknowledgement comes again.
    let before = fs::read(board.file("settings")).unwrap();
    trial.given.acknowledged("journal", 2);
    trial.look(&mut board, well());
    assert_eq!(trial.state().0, SettingsState::Kept);
    fs::write(board.file("settings"), &before).unwrap();
    let mut trial = board.start();
    assert_eq!(trial.state(), (SettingsState::Trial, 1));
    // After the mark about the way back, before the file: the trial begins again, and goes back again.
    let before = fs::read(board.file("settings")).unwrap();
    trial.now = TRIAL_LASTS;
    assert_eq!(trial.look(&mut board, TrialFacts::default()), ThenDo::GoBack);
    fs::write(board.file("settings"), &before).unwrap();
    let mut trial = board.start();
    assert_eq!(trial.state(), (SettingsState::Trial, 1));
    trial.now = TRIAL_LASTS;
    assert_eq!(trial.look(&mut board, TrialFacts::default()), ThenDo::GoBack);
    // After the file, before the restart.
    let back = board.start();
    assert_eq!((back.baud(), back.state()), (115200, (SettingsState::Returned, 0)));
}

#[test]
fn a_journal_that_cannot_be_written_begins_no_trial_and_stops_no_way_back() {
    let mut board = Board::new();
    let mut process = board.start();
    process.comes(&mut board, &settings(1, json!({ "reader.baud": 9600 })));
    let full = |_: &FleetChange| Err(pos_journal::Error::Failed { cause: "full".to_owned() });
    let moved = process.given.look(well()).unwrap();
    assert!(process.given.commit(moved, Duration::ZERO, full).is_err());
    assert_eq!(process.state().0, SettingsState::Waiting);
    assert!(process.given.look(well()).is_none(), "not at once again");
    assert_eq!(process.given.due(Duration::ZERO), Some(Duration::from_secs(5)));
    process.now = Duration::from_secs(5);
    assert_eq!(process.look(&mut board, well()), ThenDo::Restart);
    let mut trial = board.start();
    trial.now = TRIAL_LASTS;
    let moved = trial.given.look(TrialFacts { now: trial.now, ..TrialFacts::default() }).unwrap();
    assert_eq!(trial.given.commit(moved, trial.now, full).unwrap(), ThenDo::GoBack);
    let mut back = board.start();
    assert_eq!(back.state(), (SettingsState::Returned, 0));
    back.look(&mut board, TrialFacts::default());
    assert_eq!(board.steps(), [(FleetStep::Begun, 1), (FleetStep::Returned, 1)], "the mark is made up for");
}

/// What may happen to a board, in any order.
#[derive(Clone, Debug)]
enum Happens {
    Comes(u64),
    Looks(bool),
    Acknowledged,
    Passes(u64),
    Cut,
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        (1..6_u64).prop_map(Happens::Comes),
        any::<bool>().prop_map(Happens::Looks),
        Just(Happens::Acknowledged),
        (0..900_u64).prop_map(Happens::Passes),
        Just(Happens::Cut),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Over any order of events and cuts: a version is kept only after an acknowledgement of its trial; what went back
    /// never comes again; a restart uses exactly what the report says.
    #[test]
    fn nothing_is_kept_without_its_confirmation(events in prop::collection::vec(happens(), 1..40)) {
        let mut board = Board::new();
        let (mut process, mut acknowledged, mut gone) = (board.start(), false, Vec::new());
        for event in events {
            match event {
                Happens::Comes(version) => {
                    // Odd versions are wrong at the reader.
                    process.comes(&mut board, &settings(version, json!({ "reader.baud": 10_000 + version })));
                }
                Happens::Looks(reader) => {
                    let before = board.marks.len();
                    let then = process.look(&mut board, TrialFacts { reader, ..well() });
                    for mark in &board.marks[before..] {
                        match mark.step {
                            FleetStep::Kept => prop_assert!(acknowledged),
                            FleetStep::Returned => gone.push(mark.version),
                            FleetStep::Begun => prop_assert!(!gone.contains(&mark.version)),
                            FleetStep::Unheard | FleetStep::Refused => {}
                        }
                    }
                    if then != ThenDo::Nothing {
                        process = board.start();
                        acknowledged = false;
                    }
                }
                Happens::Acknowledged => {
                    process.given.acknowledged("journal", 10_000);
                    acknowledged |= process.report().state == SettingsState::Trial;
                }
                Happens::Passes(seconds) => process.now += Duration::from_secs(seconds),
                Happens::Cut => {
                    process = board.start();
                    acknowledged = false;
                }
            }
            let version = process.given.version();
            let baud = if version == 0 { 115_200 } else { 10_000 + u32::try_from(version).unwrap() };
            prop_assert_eq!(process.baud(), baud);
        }
    }

    #[test]
    fn any_bytes_of_the_file_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = store::content::<SettingsStanding>(&bytes);
        let _ = store::content::<Vec<KeptKeys>>(&bytes);
    }
}

#[test]
fn values_are_told_apart_by_their_names() {
    let own = OwnSettings::of("[terminal]\nlanguage = \"de\"\n[tips]\npresets = [5]\n");
    let told: BTreeMap<&str, Option<Value>> = SETTINGS.iter().map(|name| (*name, own.value(name))).collect();
    assert_eq!(told["terminal.language"], Some(json!("de")));
    assert_eq!((&told["tips.presets"], &told["tips.default"]), (&Some(json!([5])), &None));
}
