//! Tests of the programs' memory on a board: idle, with five open pages, and with connected tills of each till
//! protocol. The tests measure the programs that `packages/build` built, in the folder `POS_PROGRAMS`. The programs
//! that `cargo test` builds differ from those of a board.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use pos_protocols::caisse_ap::failure::Failure;
use pos_sim::shop::{Options, Shop};
use pos_test_kit::free_port;
use reqwest::{Client, Response};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::process::{self, Running, json as json_of};
use crate::zvt::{self, Till, code, write_password, zvt_config};
use crate::{caisse_ap, nexo, nexo_cloud};

/// The limit for each idle program.
const MOST_IDLE_KB: u64 = 10 * 1024;
/// The limit for the front with five open pages.
const MOST_WITH_PAGES_KB: u64 = 16 * 1024;
const PAGES: usize = 5;
/// The limit for the front with an idle till of each protocol connected.
const MOST_WITH_TILLS_KB: u64 = 12 * 1024;
/// The file that a browser loads first, and those that its script loads.
const DOCUMENT: &str = "/";
const LATER: [&str; 4] = ["/assets/later.js", "/assets/later.css", "/assets/en-rest.json", "/assets/counter.woff2"];

/// The lock that lets only one measurement run at a time. Two processes of one program share memory pages, and half of
/// these count for each.
static MEASURED: Mutex<()> = Mutex::const_new(());

/// Returns the kernel's figure for the memory of the process. It contains a share of the memory that other programs
/// also use (the C library). If a program protects its memory, only root sees the shares. For other users, the shared
/// memory counts in full.
pub(crate) fn memory_kb(pid: u32) -> u64 {
    let of = |file: &str, name: &str| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/{file}")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().trim_end_matches(" kB").parse::<u64>().ok()
    };
    of("smaps_rollup", "Pss:").or_else(|| of("status", "VmRSS:")).expect("the process runs")
}

/// The connections that a page keeps open: its stream of events, and those over which its files were loaded.
struct OpenPage {
    client: Client,
    events: Response,
}

/// Loads the document and all other files of the page, and then sends the page's first requests, several at a time.
async fn open_page(front: &Running) -> OpenPage {
    let client = front.client();
    let document = client.get(front.https_url(DOCUMENT)).send().await.unwrap().text().await.unwrap();
    for path in named(&document).chain(LATER) {
        let file = client.get(front.https_url(path)).send().await.unwrap();
        assert_eq!(file.status(), 200, "{path}");
        file.bytes().await.unwrap();
    }
    let asked = ["/front/settings", "/front/session", "/v1/status", "/front/health", "/v1/latest", "/v1/sales"];
    let asked = asked.map(|path| {
        let request = client.get(front.https_url(path));
        tokio::spawn(async move { request.send().await.unwrap().bytes().await.unwrap() })
    });
    for answer in asked {
        answer.await.unwrap();
    }
    let events = client.get(front.https_url("/v1/events")).send().await.unwrap();
    assert_eq!(events.status(), 200);
    OpenPage { client, events }
}

/// Returns the files that the document names in its head.
fn named(document: &str) -> impl Iterator<Item = &str> {
    let (head, _) = document.split_once("</head>").expect("a document");
    head.split('"').filter(|text| text.starts_with("/assets/"))
}

async fn agent_is_ready(front: &Running, client: &Client) {
    let ready = async {
        loop {
            let status = client.get(front.https_url("/v1/status")).send().await.unwrap();
            if status.status() == 200 && json_of(status).await["reader"]["state"] == "ready" {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(60), ready).await.expect("the agent is ready");
}

fn start_agent(program: PathBuf, shop: &Shop) -> Child {
    let mut agent = Command::new(program);
    agent.arg("run").arg("--config").arg(shop.config()).kill_on_drop(true);
    agent.stderr(std::process::Stdio::null()).spawn().unwrap()
}

fn begun_in(shop: &Shop) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(shop.socket(), folder.path().join("till.sock")).unwrap();
    folder
}

/// Returns the folder with the programs of a board.
fn programs() -> PathBuf {
    let programs = PathBuf::from(std::env::var_os("POS_PROGRAMS").expect("POS_PROGRAMS names the folder"));
    // A test runs in its package's folder, so a relative path needs this prefix.
    std::path::absolute(std::path::Path::new("..").join(programs)).unwrap()
}

/// Prints the figures, which are the purpose of this run.
#[allow(clippy::print_stdout, reason = "the figures are what it is run for")]
fn say(figures: &str) {
    println!("{figures}");
}

#[tokio::test]
#[ignore = "measures the programs of a board: POS_PROGRAMS=target/…/release"]
async fn the_front_stays_small_with_a_till_of_each_protocol() {
    process::provider();
    let _alone = MEASURED.lock().await;
    let (uid, by_root) = zvt::front_user();
    let mut options = Options::default();
    let tills = r#"["local", "zvt-1", "caisse-1", "nexo-1", "nexo-2", "nexo-3"]"#;
    let peer = format!("[[till.peer]]\nuid = {uid}\ntills = {tills}\n\n[journal]");
    options.config.push(("[journal]".to_owned(), peer));
    let shop = Shop::open(options).await.unwrap();
    let _agent = start_agent(programs().join("pos-agent"), &shop);
    let folder = begun_in(&shop);
    let [zvt_port, nexo_port, caisse_port] = [(); 3].map(|()| free_port());
    let key = folder.path().join("api-key");
    std::fs::write(&key, nexo_cloud::KEYS[0]).unwrap();
    std::fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    // No server listens at the address for the answers, so the front keeps trying.
    let cloud = format!(
        "[[nexo.till]]\ntill = \"nexo-3\"\nsale-id = \"Till 3\"\napi-key-file = {key:?}\n\
         notify = \"http://127.0.0.1:{}/\"\n",
        free_port()
    );
    let [nexo, zvt] = [nexo::config(folder.path(), nexo_port), zvt_config(folder.path(), zvt_port, "")];
    let listeners = [nexo, cloud, zvt, caisse_ap::config(caisse_port, "")].concat();
    let secrets = [write_password(folder.path()), nexo::write_passphrase(folder.path()), key];
    zvt::let_the_front_in(&shop, &secrets.each_ref().map(PathBuf::as_path)).await;
    let program = programs().join("pos-front");
    let front = if by_root {
        Running::begin_program_as(&program, uid, folder, &listeners).await
    } else {
        Running::begin_by(Command::new(program), folder, &listeners).await
    };
    agent_is_ready(&front, &front.client()).await;
    let alone = memory_kb(front.pid());
    let mut zvt = Till::at(zvt_port).await;
    assert_eq!(code(&zvt.registers(0x0A).await), 0);
    // The connection stays open after the message.
    let nexo = nexo::Till::new(&front, nexo_port);
    assert!(nexo.asks("Diagnosis", "1", &json!({})).await["DiagnosisResponse"].is_object());
    let (client, key) = (front.client(), nexo_cloud::KEYS[0]);
    let cloud = nexo_cloud::Till { client, port: nexo_port, sale_id: "Till 3", key };
    assert!(cloud.asks("Diagnosis", "1", &json!({})).await.is_object());
    cloud.leaves("Diagnosis", "2", &json!({})).await;
    assert_eq!(caisse_ap::Till::asks(caisse_port, b"CZ\n").await.hears().await, Some(Err(Failure::Format)));
    let with_tills = memory_kb(front.pid());
    say(&format!("front with listeners for ZVT, Caisse-AP and nexo {alone} kB, with a till at each {with_tills} kB"));
    let status: Value = serde_json::from_slice(&front.verb(&["status"]).stdout).unwrap();
    let connected: Vec<_> = status["tills"].as_array().unwrap().iter().map(|till| &till["connected"]).collect();
    // A nexo till counts as connected only while one of its messages waits for an answer.
    assert_eq!(connected.iter().filter(|lines| ***lines == 1).count(), 1, "{status}");
    assert!(with_tills < MOST_WITH_TILLS_KB);
}

#[tokio::test]
#[ignore = "measures the programs of a board: POS_PROGRAMS=target/…/release"]
async fn both_programs_are_small_and_the_front_stays_so_with_five_pages() {
    process::provider();
    let _alone = MEASURED.lock().await;
    let programs = programs();
    let shop = Shop::open(Options::default()).await.unwrap();
    let agent = start_agent(programs.join("pos-agent"), &shop);
    let front = Running::begin_by(Command::new(programs.join("pos-front")), begun_in(&shop), "").await;
    let idle = memory_kb(front.pid());
    agent_is_ready(&front, &front.client()).await;
    let agent_idle = memory_kb(agent.id().unwrap());
    let mut pages = Vec::new();
    for _ in 0..PAGES {
        pages.push(open_page(&front).await);
    }
    for page in &mut pages {
        assert!(page.events.chunk().await.unwrap().is_some());
        assert_eq!(page.client.get(front.https_url("/front/health")).send().await.unwrap().status(), 200);
    }
    let with_pages = memory_kb(front.pid());
    say(&format!("agent, idle {agent_idle} kB; front, idle {idle} kB, with {PAGES} pages {with_pages} kB"));
    assert!(agent_idle < MOST_IDLE_KB && idle < MOST_IDLE_KB && with_pages < MOST_WITH_PAGES_KB);
}
