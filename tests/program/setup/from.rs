//! `pos-agent setup --from`: one file sets up a whole terminal, and every fault in it is named at once.

use super::tills::{FRONT_USER, PASSPHRASE, checked};
use super::*;

/// PINs of the operators. No other text of these tests contains them.
const PINS: [&str; 2] = ["860437", "291648"];

impl Site {
    /// Writes a file of answers with the files that it names, and returns its path.
    fn answers(&self) -> String {
        fs::create_dir_all(self.path("stick")).unwrap();
        let write = |name: &str, text: &str| fs::write(self.path("stick").join(name), text).unwrap();
        write("token", &format!("{}\n", self.shop.gateway.token()));
        write("till", &format!("{PASSPHRASE}\n"));
        write("logo.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
        write("anna.pin", &format!("{}\n", PINS[0]));
        write("bert.pin", PINS[1]);
        fs::copy(self.path("stick.pem"), self.path("stick/ca.pem")).unwrap();
        let (url, entity) = (self.shop.gateway.base_url(), self.shop.gateway.entity_id());
        let (reader, printer) = (self.shop.reader.place(), self.shop.printer.place());
        let journal = self.text("data/journal.db");
        let text = format!(
            "board = \"stm32mp157-dk2\"\nterminal-id = \"12345678\"\n\
             merchant = [\"Corner Shop\", \"1 Market Street\"]\n\
             country = \"DE\"\ncurrency = \"EUR\"\nmax-amount = \"750.00\"\nlanguage = \"de\"\n\
             time-zone = \"CET-1CEST,M3.5.0,M10.5.0/3\"\nreader = {reader:?}\n\
             printer = {{ port = {printer:?}, columns = 32 }}\njournal = {journal:?}\n\
             [gateway]\nurl = {url:?}\nentity-id = {entity:?}\nca = {{ file = \"ca.pem\" }}\n\
             token = {{ file = \"token\" }}\nmode = \"external\"\n\
             [till]\nkind = \"nexo\"\nname = \"kasse-7\"\naddress = [\"192.168.1.20\", \"192.168.1.21\"]\n\
             secret = {{ file = \"till\" }}\nsale-id = \"POSSystemID12345\"\noperator = true\n\
             [page]\nwithout-sign-in = \"nobody\"\nlogo = {{ file = \"logo.svg\" }}\n\
             [[operator]]\nname = \"Anna\"\nrole = \"supervisor\"\npin = {{ file = \"anna.pin\" }}\n\
             [[operator]]\nname = \"Bert\"\nrole = \"cashier\"\npin = {{ file = \"bert.pin\" }}\n"
        );
        write("shop.toml", &text);
        self.text("stick/shop.toml")
    }

    fn from(&self, more: &[&str]) -> Vec<String> {
        let (answers, config) = (self.text("stick/shop.toml"), self.text("etc/config.toml"));
        with(&with(&[], &["setup", "--from", &answers, "--config", &config, "--front-user", FRONT_USER]), more)
    }

    /// Replaces a text in the file of answers.
    fn edit(&self, old: &str, new: &str) {
        let place = self.path("stick/shop.toml");
        let text = fs::read_to_string(&place).unwrap();
        assert!(text.contains(old), "{old}: {text}");
        fs::write(place, text.replace(old, new)).unwrap();
    }
}

#[tokio::test]
async fn one_file_sets_up_the_whole_terminal() {
    let site = Site::open(Options::default()).await;
    site.answers();
    let output = run(site.from(&["--check"]), "").await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("shop.toml is good; nothing was written"), "{}", text(&output));
    assert_eq!((site.files(), site.path("data").exists()), (Vec::new(), false));

    // A POSIX time zone is one of the closes only, and the board's own zone is told to stay.
    let output = run(site.from(&["--etc", &site.text("board-etc")]), "").await;
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    for secret in [site.shop.gateway.token(), PASSPHRASE, PINS[0], PINS[1]] {
        assert!(!said.contains(secret), "{said}");
    }
    assert!(said.contains("time-zone: there is no time zone \"CET-1CEST"), "{said}");
    let names: Vec<_> = site.files().into_iter().map(|(name, mode)| format!("{name} {mode:o}")).collect();
    let expected = [
        "config.toml 644",
        "front.toml 644",
        "gateway-ca.pem 644",
        "gateway-token 600",
        "kasse-7.nexo 600",
        "page-logo 644",
    ];
    assert_eq!(names, expected);
    let (agent, front) = checked(&site);
    assert!(agent.contains("kasse-7") && front.contains("without signing in: nobody"), "{agent}{front}");
    let config = config::load(&site.config()).unwrap();
    assert_eq!((config.terminal.language.as_str(), config.terminal.max_amount.as_deref()), ("de", Some("750.00")));
    assert_eq!(config.close.time_zone.as_deref(), Some("CET-1CEST,M3.5.0,M10.5.0/3"));
    assert_eq!((config.printer[0].columns, config.till.peer[0].without_operator.len()), (32, 0));
    for file in ["udev/rules.d/99-pos-agent-board.rules", "systemd/system/pos-agent.service.d/board.conf"] {
        assert!(site.path("board-etc").join(file).is_file(), "{file}: {said}");
    }
    // The operators are in the journal before the agent's first start.
    let listed =
        program(&with(&[], &["operator", "list", "--json", "--config", &site.text("etc/config.toml")])).output();
    let listed: serde_json::Value = serde_json::from_slice(&listed.unwrap().stdout).unwrap();
    let role = |n: usize| (listed["operators"][n]["name"].as_str(), listed["operators"][n]["role"].as_str());
    assert_eq!((role(0), role(1)), ((Some("Anna"), Some("supervisor")), (Some("Bert"), Some("cashier"))), "{listed}");

    // An existing terminal stays as it is, unless it is replaced. An option replaces an answer.
    let output = run(site.from(&[]), "").await;
    assert_eq!(output.status.code(), Some(78), "{}", text(&output));
    site.edit("role = \"cashier\"", "role = \"technician\"");
    let output = run(site.from(&["--replace", "--currency", "CHF", "--no-doctor"]), "").await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(config::load(&site.config()).unwrap().terminal.currency, "CHF");
    let listed = program(&with(&[], &["operator", "list", "--config", &site.text("etc/config.toml")])).output();
    let listed = text(&listed.unwrap());
    assert!(listed.contains("technician") && !listed.contains("cashier"), "{listed}");
}

#[tokio::test]
async fn every_fault_is_named_with_its_file_its_key_and_its_remedy() {
    let site = Site::open(Options::default()).await;
    site.answers();
    // Faults of the form are found first.
    site.edit("currency = \"EUR\"", "curency = \"EUR\"\nmax_amount = 1");
    site.edit("token = { file = \"token\" }", "token = { value = \"0123456789abcdef0123\" }");
    let output = run(site.from(&["--check"]), "").await;
    let said = text(&output);
    assert_eq!(output.status.code(), Some(64), "{said}");
    let file = site.text("stick/shop.toml");
    for fault in [
        "curency: is an unknown key; correct its name, or remove it",
        "max_amount: is an unknown key",
        "gateway.token: must be the path of a file, because a file of answers holds no secret; write token = { file",
    ] {
        assert!(said.contains(&format!("{file}: {fault}")), "{fault}: {said}");
    }
    assert!(!said.contains("0123456789abcdef0123") && said.contains("nothing was written"), "{said}");

    // Then all rules are checked together.
    site.answers();
    let pairs = [
        ("terminal-id = \"12345678\"", "terminal-id = \"12a\""),
        ("country = \"DE\"", "country = \"UK\""),
        ("language = \"de\"", "language = \"xx\""),
        ("url = \"https", "url = \"http"),
        ("ca = { file = \"ca.pem\" }", "ca = { file = \"no.pem\" }"),
        ("token = { file = \"token\" }", "token = { file = \"bert.pin\" }"),
        ("mode = \"external\"", "mode = \"test\""),
        ("columns = 32", "columns = 33"),
        ("name = \"Bert\"", "name = \"Anna\""),
        ("role = \"cashier\"", "role = \"owner\""),
        ("file = \"anna.pin\"", "file = \"ca.pem\""),
    ];
    pairs.into_iter().for_each(|(old, new)| site.edit(old, new));
    let output = run(site.from(&["--check"]), "").await;
    let said = text(&output);
    assert_eq!(output.status.code(), Some(64), "{said}");
    for key in [
        "terminal-id",
        "country",
        "language",
        "gateway.url",
        "gateway.ca",
        "gateway.token",
        "gateway.mode",
        "printer.columns",
        "operator[0].pin",
        "operator[1].role",
    ] {
        let line = said.lines().find(|line| line.contains(&format!("{file}: {key}: ")));
        assert!(line.is_some_and(|line| line.contains("; ")), "{key}: {said}");
    }
    assert!(!said.contains(PINS[1]), "{said}");
    // The front's own check finds the rest, also in a run that would write.
    site.answers();
    site.edit("without-sign-in = \"nobody\"", "without-sign-in = \"everybody\"");
    let output = run(site.from(&[]), "").await;
    assert_eq!(output.status.code(), Some(64), "{}", text(&output));
    assert!(text(&output).contains("page.without-sign-in: "), "{}", text(&output));
    for (old, new, key) in [
        ("address = [\"192.168.1.20\", \"192.168.1.21\"]", "address = [\"192.168.1\"]", "till.address"),
        ("kind = \"nexo\"", "kind = \"page\"", "till.sale-id"),
        ("kind = \"nexo\"", "kind = \"none\"", "page"),
        ("operator = true", "rights = \"sale, fly\"", "till.rights"),
        ("file = \"logo.svg\"", "file = \"token\"", "page.logo"),
        ("secret = { file = \"till\" }", "", "till.secret"),
    ] {
        site.answers();
        site.edit(old, new);
        let output = run(site.from(&["--check"]), "").await;
        assert!(text(&output).contains(&format!("shop.toml: {key}: ")), "{key}: {}", text(&output));
        assert_eq!(output.status.code(), Some(64), "{}", text(&output));
    }
    fs::write(site.path("stick/shop.toml"), "a = 1\nb = [\n").unwrap();
    let output = run(site.from(&["--check"]), "").await;
    assert!(text(&output).contains("shop.toml: line "), "{}", text(&output));
    assert_eq!((site.files(), site.path("data").exists()), (Vec::new(), false));
}

#[tokio::test]
async fn an_unfinished_setup_is_removed_by_the_next_one() {
    let site = Site::open(Options::default()).await;
    site.answers();
    // The power failed after the front's file had its name.
    fs::create_dir_all(site.path("etc")).unwrap();
    for name in [".first-boot", ".config.toml.17", ".gateway-token.17", "front.toml", "gateway-ca.pem"] {
        fs::write(site.path("etc").join(name), "old").unwrap();
    }
    let output = run(site.from(&["--no-doctor"]), "").await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let names: Vec<_> = site.files().into_iter().map(|(name, _)| name).collect();
    assert!(!names.iter().any(|name| name.starts_with('.')), "{names:?}");
    assert!(names.contains(&"config.toml".to_owned()) && names.contains(&"front.toml".to_owned()), "{names:?}");
}
