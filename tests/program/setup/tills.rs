//! A till that `pos-agent setup` connects. Both files are written, and both programs accept them. Each fault is
//! reported in the words of the program that has the rule.

use std::os::unix::fs::MetadataExt;

use super::*;

/// The user id of the front in these tests. No user has this id, so it does not matter whether a user pos-front exists.
pub(super) const FRONT_USER: &str = "4711";
/// A passphrase. The next constant is a password.
pub(super) const PASSPHRASE: &str = "correct horse battery staple";
const PASSWORD: &str = "604217";

/// Returns both programs' verdicts on the files.
pub(super) fn checked(site: &Site) -> (String, String) {
    let ran = |program: PathBuf, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        text(&output)
    };
    let (agent, front) = (site.text("etc/config.toml"), site.text("etc/front.toml"));
    (ran(pos_test_kit::agent(), &["check", &agent]), ran(pos_test_kit::front(), &["check", "--config", &front]))
}

fn owned_by_the_front(site: &Site, name: &str) {
    if rustix::process::geteuid().is_root() {
        assert_eq!(fs::metadata(site.path(name)).unwrap().uid().to_string(), FRONT_USER, "{name}");
    }
}

/// Returns the text of the manual's page from this first line to the next empty line.
fn manual(first: &str) -> String {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/src/first-till.md")).unwrap();
    let lines = page.lines().skip_while(|line| *line != first).take_while(|line| !line.is_empty() && *line != "```");
    lines.collect::<Vec<_>>().join("\n")
}

/// Answers every question before the till.
fn up_to_the_till(terminal: &mut Terminal, site: &Site) {
    up_to_the_token(terminal, site);
    terminal.types("0123456789abcdef\r");
    terminal.answers("live, or a test system", "external");
    terminal.answers("The reader's port", "");
    terminal.answers("The printer's port", "none");
}

#[tokio::test]
async fn a_zvt_till_is_asked_for_and_both_programs_find_what_is_written_good() {
    let site = Site::open(Options::default()).await;
    let (status, shown, site) = tokio::task::spawn_blocking(move || {
        let mut terminal = Terminal::open(&with(&asked(&site), &["--no-doctor", "--front-user", FRONT_USER]));
        up_to_the_till(&mut terminal, &site);
        terminal.answers("Connect a till", "modem");
        terminal.until("please answer zvt, nexo, caisse-ap, page or none");
        terminal.answers("Connect a till", "zvt");
        terminal.answers("A name for the till in this configuration: letters, digits, - and _ [kasse-1]", "kasse 1");
        terminal.until("must be 1 to 32 letters, digits, - or _; write it as \"till-1\"");
        // This name already belongs to the till of the cashier's page.
        terminal.answers("A name for the till in this configuration", "counter");
        terminal.until("names a till twice");
        terminal.answers("A name for the till in this configuration", "");
        terminal.answers("The till's address", "192.168.1");
        terminal.until("zvt[1].from: has an invalid value (array); write a list of addresses");
        terminal.answers("The till's address", "");
        terminal.until(
            "is open to everyone who can reach it, and the protocol has no authentication; write the till's address",
        );
        terminal.answers("The till's address", "192.168.1.20");
        terminal.answers("The port at which the till finds the terminal [20007]", "99999");
        terminal.until("zvt[1].listen: has an invalid value (string)");
        terminal.answers("The port at which the till finds the terminal", "");
        terminal.until("(it is not shown, Enter for none): ");
        terminal.types("12\r");
        let place = site.text("etc/kasse-1.zvt");
        terminal.until(&format!(
            "password-file: {place}: is not six digits; write the till's six-digit password to the file"
        ));
        terminal.until("(it is not shown, Enter for none): ");
        terminal.types(&format!("{PASSWORD}\r"));
        terminal.answers("Rights of the page and the till [sale, pre-authorise, ", "sale, refunds");
        terminal.until("refunds");
        terminal.answers("Rights of the page and the till", "");
        terminal.answers("If operators must sign in: may this till work without a signed-in operator", "");
        assert_eq!(site.files(), [], "nothing is written before the last answer");
        terminal.answers("front.toml?", "yes");
        let (status, shown, _) = terminal.ends();
        (status, shown, site)
    })
    .await
    .unwrap();
    assert_eq!(status.code(), Some(0), "{shown}");
    assert!(!shown.contains(PASSWORD), "{shown}");
    assert!(shown.contains("front.toml is good") && shown.contains("port 20007, the same password"), "{shown}");
    let files = [("config.toml", 0o644), ("front.toml", 0o644), ("gateway-ca.pem", 0o644), ("gateway-token", 0o600)];
    let files: Vec<_> = files.into_iter().chain([("kasse-1.zvt", 0o600)]).collect();
    assert_eq!(site.files(), files.into_iter().map(|(name, mode)| (name.to_owned(), mode)).collect::<Vec<_>>());
    owned_by_the_front(&site, "etc/kasse-1.zvt");
    assert_eq!(fs::read_to_string(site.path("etc/kasse-1.zvt")).unwrap(), PASSWORD);
    let (agent, front) = checked(&site);
    assert!(agent.contains("kasse-1"), "{agent}");
    assert!(front.contains("zvt       kasse-1 0.0.0.0:20007"), "{front}");
    // The files contain the lines that the manual tells its reader to write by hand.
    let written = fs::read_to_string(site.path("etc/front.toml")).unwrap();
    let written = written.replace(&site.text("etc"), "/etc/pos-agent");
    assert!(written.contains(&manual("[[zvt]]")), "{written}");
    let config = fs::read_to_string(site.config()).unwrap();
    assert!(config.contains(&manual("[[till.peer]]").replace("990", FRONT_USER)), "{config}");
    let peer = &config::load(&site.config()).unwrap().till.peer[0];
    assert_eq!(peer.without_operator, ["kasse-1"]);
}

fn nexo(site: &Site) -> Vec<String> {
    fs::write(site.path("passphrase"), format!("{PASSPHRASE}\n")).unwrap();
    with(
        &site.options(),
        &[
            "--no-doctor",
            "--token-file",
            "-",
            "--till",
            "nexo",
            "--till-address",
            "192.168.1.20, 192.168.1.21",
            "--sale-id",
            "POSSystemID12345",
            "--till-secret-file",
            &site.text("passphrase"),
            "--front-user",
            FRONT_USER,
        ],
    )
}

#[tokio::test]
async fn a_nexo_till_is_connected_with_nobody_there_and_what_is_missing_or_wrong_is_named() {
    let site = Site::open(Options::default()).await;
    let (token, good) = (site.shop.gateway.token(), nexo(&site));
    let few = without(&without(&without(&good, "--sale-id"), "--till-secret-file"), "--till-address");
    let output = run(few, token).await;
    assert_eq!(output.status.code(), Some(64), "{}", text(&output));
    assert!(text(&output).contains("also give --till-address, --sale-id, --till-secret-file"), "{}", text(&output));
    for (option, value, says) in [
        ("--till-name", "kasse 1", "--till-name: must be 1 to 32 letters"),
        ("--till-address", "kasse.local", "--till-address: nexo.from: has an invalid value (array)"),
        ("--till-port", "0x20", "--till-port: nexo.listen: has an invalid value (string)"),
        ("--poi-id", "", "--poi-id: nexo.poi-id: \"\" is not a POIID"),
        ("--key-version", "one", "--key-version: nexo.till[1].key-version: has an invalid value (string)"),
        ("--certificate-name", "no host", "--certificate-name: nexo.certificate-name: \"no host\" is not a host name"),
        ("--till-rights", "everything", "--till-rights: "),
        ("--front-user", "0", "--front-user: root has every right"),
        ("--till-secret-file", "/nowhere", "/nowhere: "),
        ("--till-secret-file", "/dev/null", "--till-secret-file: nexo.till \"kasse-1\": passphrase-file: "),
        ("--till", "modem", "possible values"),
    ] {
        let output = run(with(&without(&good, option), &[option, value]), token).await;
        assert!(!output.status.success() && text(&output).contains(says), "{option}: {}", text(&output));
        assert_eq!(site.files(), [], "{option}");
    }
    // Options for a till that is not connected are refused, not ignored.
    for (kind, says) in [
        ("zvt", "--sale-id: applies only to a nexo till"),
        ("page", "--till-address: applies only to a till"),
        ("caisse-ap", "--till-secret-file: applies only to a ZVT or nexo till"),
        ("none", "--front-user: applies only if a till is connected"),
    ] {
        let output = run(with(&without(&good, "--till"), &["--till", kind]), token).await;
        assert_eq!(output.status.code(), Some(64), "{kind}: {}", text(&output));
        assert!(text(&output).contains(says), "{kind}: {}", text(&output));
        assert_eq!(site.files(), [], "{kind}");
    }
    let library =
        ["--certificate-name", "PosAgent-0001.live.terminal.adyen.com", "--till-rights", "sale, read, credit"];
    let output = run(with(&good, &library), token).await;
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("https://THIS-BOARD:8443/nexo/, POIID PosAgent-0001, SaleID POSSystemID12345"), "{said}");
    assert!(!said.contains(PASSPHRASE), "{said}");
    owned_by_the_front(&site, "etc/kasse-1.nexo");
    let (agent, front) = checked(&site);
    assert!(agent.contains("credit"), "{agent}");
    assert!(front.contains("https://0.0.0.0:8444"), "the till's library knows port 8443 alone: {front}");
    assert!(front.contains("nexo      kasse-1 0.0.0.0:8443 SaleID POSSystemID12345"), "{front}");
    let written = fs::read_to_string(site.path("etc/front.toml")).unwrap();
    let written = written.replace(&site.text("etc"), "/etc/pos-agent");
    let manual = manual("[[nexo.till]]");
    assert!(written.contains(&manual) && written.contains("credit = true"), "{manual}\n{written}");
    assert!(written.contains("certificate-name = \"PosAgent-0001.live.terminal.adyen.com\""), "{written}");
}

#[tokio::test]
async fn a_caisse_ap_till_needs_its_address_and_is_not_asked_for_a_password() {
    let site = Site::open(Options::default()).await;
    let token = site.shop.gateway.token();
    let options = ["--no-doctor", "--token-file", "-", "--till", "caisse-ap", "--front-user", FRONT_USER];
    let few = with(&site.options(), &options);
    let output = run(few.clone(), token).await;
    assert_eq!(output.status.code(), Some(64), "{}", text(&output));
    assert!(text(&output).contains("also give --till-address"), "{}", text(&output));
    let good = with(&few, &["--till-address", "192.168.1.20"]);
    let output = run(with(&good, &["--till-port", "99999"]), token).await;
    assert!(text(&output).contains("--till-port: caisse-ap"), "{}", text(&output));
    assert_eq!(site.files(), []);
    let output = run(good.clone(), token).await;
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("Caisse-AP over IP, this board's address, port 8888"), "{said}");
    let (_, front) = checked(&site);
    assert!(front.contains("caisse-ap kasse-1 0.0.0.0:8888"), "{front}");
    let written = fs::read_to_string(site.path("etc/front.toml")).unwrap();
    let manual = manual("[[caisse-ap]]");
    assert!(!manual.is_empty() && written.contains(&manual), "{manual}\n{written}");
    // A later setup takes the address from the earlier file.
    let again = with(&few, &["--replace", "--till-port", "8889", "--till-rights", "sale, read, credit"]);
    let output = run(again, token).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let written = fs::read_to_string(site.path("etc/front.toml")).unwrap();
    let line = "[[caisse-ap]]\ntill = \"kasse-1\"\nlisten = \"0.0.0.0:8889\"\nfrom = [\"192.168.1.20\"]\n";
    assert!(written.contains(line) && written.ends_with("credit = true\n"), "{written}");
}

#[tokio::test]
async fn a_front_file_that_is_there_is_not_touched_without_a_word_and_kept_when_it_is_replaced() {
    let site = Site::open(Options::default()).await;
    let (token, good) = (site.shop.gateway.token(), nexo(&site));
    fs::create_dir(site.path("etc")).unwrap();
    let old = "[listen]\nhttp = [\"127.0.0.1:8651\"]\n[nexo]\nlisten = \"0.0.0.0:9000\"\nfrom = [\"10.0.0.7\"]\npoi-id = \"Old-1\"\n[[nexo.till]]\ntill = \"bar\"\nsale-id = \"Bar\"\n[[webhook]]\nname = \"books\"\n";
    fs::write(site.path("etc/front.toml"), old).unwrap();
    let output = run(good.clone(), token).await;
    assert_eq!(output.status.code(), Some(78), "{}", text(&output));
    assert!(text(&output).contains("front.toml exists and was not changed; use --replace"), "{}", text(&output));
    assert_eq!(site.files().len(), 1);
    // Without an option for a till, the till stays as it is.
    let output = run(with(&site.options(), &["--no-doctor", "--token-file", "-"]), token).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("front.toml exists"), "{}", text(&output));
    assert_eq!(fs::read_to_string(site.path("etc/front.toml")).unwrap(), old);
    // With --replace, omitted options come from the old configuration, which is kept as a copy.
    let given = without(&without(&good, "--till-address"), "--sale-id");
    let output = run(with(&given, &["--replace"]), token).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("to the new one: webhook"), "{}", text(&output));
    assert_eq!(fs::read_to_string(site.path("etc/front.toml.old")).unwrap(), old);
    let (_, front) = checked(&site);
    assert!(front.contains("nexo      bar 0.0.0.0:9000 SaleID Bar"), "{front}");
    let written = fs::read_to_string(site.path("etc/front.toml")).unwrap();
    assert!(written.contains("from = [\"10.0.0.7\"]") && written.contains("poi-id = \"Old-1\""), "{written}");
}

#[tokio::test]
async fn the_page_alone_needs_no_till_and_without_the_front_nothing_is_connected() {
    let site = Site::open(Options::default()).await;
    let options = ["--no-doctor", "--token-file", "-", "--till", "page", "--front-user", FRONT_USER];
    let output = run(with(&site.options(), &options), site.shop.gateway.token()).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let (_, front) = checked(&site);
    assert!(front.contains("page      till counter"), "{front}");
    assert!(!front.contains("zvt ") && !front.contains("nexo "), "{front}");
    let config = config::load(&site.config()).unwrap();
    assert_eq!(config.till.peer[0].tills, ["counter"]);

    let site = Site::open(Options::default()).await;
    crate::program::copied_to(&site.path("pos-agent"));
    let arguments = with(&site.options(), &["--no-doctor", "--token-file", &site.text("passphrase"), "--till", "page"]);
    fs::write(site.path("passphrase"), "0123456789abcdef").unwrap();
    let (output, site) = tokio::task::spawn_blocking(move || {
        let mut command = Command::new(site.path("pos-agent"));
        command.args(arguments).env("PATH", "/nowhere").stdin(Stdio::null());
        (command.output().unwrap(), site)
    })
    .await
    .unwrap();
    assert_eq!(output.status.code(), Some(64), "{}", text(&output));
    let says = "--till: pos-front, which connects tills, is not installed here; install it, or answer none";
    assert!(text(&output).contains(says), "{}", text(&output));
    assert_eq!(site.files(), []);
}
