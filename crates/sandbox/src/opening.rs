//! The shop: its folder, its addresses, and the start and end of all parts.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pos_sim::reader::args::read_script;
use pos_sim::reader::{self, Pace};
use pos_sim::shop::program::{Program, ProgramFile};
use pos_sim::shop::{self, Shop, TILL_TOKEN, write_private};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Mutex;

use crate::ShopArguments;
use crate::hands::Hands;
use crate::own::MARK;
use crate::simulator;

/// The time limit for a program to be ready; a slow machine needs some seconds.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// The tills that may be paired.
const TILLS: [&str; 3] = ["till-2", "till-3", "till-4"];
/// The password of the ZVT till.
const ZVT_PASSWORD: &str = "123456";
/// The nexo till's passphrase, the name of its key, and the terminal's POIID.
const PASSPHRASE: &str = "mypassphrase";
const KEY_IDENTIFIER: &str = "mykey";
const POI_ID: &str = "PosSandbox-0001";

/// An open shop.
pub(crate) struct Sandbox {
    world: Arc<World>,
    listener: TcpListener,
}

/// What the interface for programs acts on.
pub(crate) struct World {
    pub(crate) shop: Shop,
    pub(crate) hands: Hands,
    pub(crate) agent: Mutex<Running>,
    pub(crate) front: Mutex<Running>,
    addresses: Value,
}

/// One of the two programs.
pub(crate) struct Running {
    program: Program,
    ready: Ready,
    is_up: bool,
    /// The socket of the agent that another user must reach.
    opens: Option<PathBuf>,
}

/// The user of the front if root runs the sandbox. The agent lets no program of root act for several tills.
const FRONT_USER: u32 = 64_990;

/// The verb that a ready program answers, and a part of its answer.
type Ready = (&'static [&'static str], &'static str);
const AGENT_READY: Ready = (&["status", "--json"], "\"ready\":true");
const FRONT_READY: Ready = (&["status"], "\"listens\"");

impl Running {
    async fn start(file: ProgramFile, config: PathBuf, log: PathBuf, ready: Ready) -> io::Result<Self> {
        let mut running = Self { program: Program::start(file, config, log)?, ready, is_up: true, opens: None };
        running.until_ready().await?;
        Ok(running)
    }

    async fn until_ready(&mut self) -> io::Result<()> {
        let (words, answer) = self.ready;
        self.program.until((words, READY_WITHIN), |said| said.contains(answer).then_some(())).await?;
        match &self.opens {
            Some(socket) => fs::set_permissions(socket, fs::Permissions::from_mode(0o666)),
            None => Ok(()),
        }
    }

    /// Cuts the program's power: SIGKILL at any point of its work.
    pub(crate) async fn cut(&mut self) -> io::Result<()> {
        self.is_up = false;
        self.program.kill().await
    }

    /// Starts the program again, and waits until it is ready.
    pub(crate) async fn restore(&mut self) -> io::Result<()> {
        if !self.is_up {
            self.program.start_again()?;
            self.is_up = true;
        }
        self.until_ready().await
    }

    /// Returns the fault of a program that has ended although its power was not cut.
    pub(crate) fn fault(&mut self) -> Option<io::Error> {
        match self.is_up {
            true => self.program.fault().unwrap_or_else(Some),
            false => None,
        }
    }

    /// Returns whether the program has power.
    pub(crate) fn is_up(&self) -> bool {
        self.is_up
    }

    /// Runs a verb of the program.
    pub(crate) async fn verb(&self, words: &[&str]) -> io::Result<String> {
        let said = self.program.verb(words).output().await?;
        match said.status.success() {
            true => Ok(String::from_utf8_lossy(&said.stdout).into_owned()),
            false => Err(io::Error::other(String::from_utf8_lossy(&said.stderr).into_owned())),
        }
    }
}

/// The ports of the shop.
struct Ports {
    simulator: u16,
    https: u16,
    http: u16,
    agent: u16,
    zvt: u16,
    nexo: u16,
}

impl Ports {
    fn of(arguments: &ShopArguments) -> io::Result<Self> {
        let [https, http, agent, zvt, nexo] = match arguments.json {
            true => free_ports()?,
            false => [8443, 8651, 8652, 20007, 8444],
        };
        Ok(Self {
            simulator: arguments.simulator_port.unwrap_or(if arguments.json { 0 } else { 8650 }),
            https: arguments.https_port.unwrap_or(https),
            http: arguments.http_port.unwrap_or(http),
            agent: arguments.agent_port.unwrap_or(agent),
            zvt: arguments.zvt_port.unwrap_or(zvt),
            nexo: arguments.nexo_port.unwrap_or(nexo),
        })
    }
}

/// Returns free ports below those that the system gives to other programs. Each process begins to search elsewhere, so
/// that sandboxes that start together find different ones.
fn free_ports() -> io::Result<[u16; 5]> {
    const FIRST: u16 = 20_480;
    const BLOCKS: u32 = 1_500;
    for attempt in 0..BLOCKS {
        let block = u16::try_from((std::process::id() + attempt) % BLOCKS).unwrap_or_default();
        let ports = [0, 1, 2, 3, 4].map(|port| FIRST + block * 8 + port);
        let are_free = ports.iter().all(|port| std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok());
        if are_free {
            return Ok(ports);
        }
    }
    Err(io::Error::other("no five ports are free; choose them with the options"))
}

impl Sandbox {
    /// Opens the shop: simulated devices first, then the agent, then the front.
    pub(crate) async fn open(arguments: &ShopArguments) -> io::Result<Self> {
        let ports = Ports::of(arguments)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, ports.simulator)).await.map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("port {} cannot be used: {error}; choose another one", ports.simulator),
            )
        })?;
        let options = shop::Options {
            reader: reader::Options {
                family: arguments.reader,
                pace: if arguments.human_pace { Pace::HUMAN } else { Pace::INSTANT },
                removes_card: true,
                script: arguments.script.as_deref().map(read_script).transpose()?.unwrap_or_default(),
                ..reader::Options::default()
            },
            config: changes(arguments, &ports),
            folder: arguments.folder.as_deref().map(emptied).transpose()?,
            ..shop::Options::default()
        };
        let shop = Shop::open(options).await?;
        let folder = shop.folder().to_owned();
        let own = |name: &str| folder.join(name);
        fs::write(own(MARK), "{}\n")?;
        let me = std::env::current_exe()?;
        let file = ProgramFile { file: me.clone(), words: &["agent"], user: None };
        let mut agent = Running::start(file, shop.config(), own("agent.log"), AGENT_READY).await?;
        let secret = match &arguments.webhook {
            Some(_) => Some(front_secret().await?),
            None => None,
        };
        write_front(&shop, arguments, &ports, secret.as_deref())?;
        let mut file = ProgramFile { file: me, words: &["front"], user: None };
        if rustix::process::getuid().is_root() {
            file = for_front_user(&folder, &file)?;
            agent.opens = Some(shop.socket());
            agent.until_ready().await?;
        }
        let front = Running::start(file, own("front.toml"), own("front.log"), FRONT_READY).await?;
        if arguments.webhook.is_some() {
            until_there(&own("front/state/webhook-sandbox.json")).await?;
        }
        fs::write(own("terminal-ca.pem"), front.verb(&["certificate", "--pem"]).await?)?;
        let simulator = format!("http://{}", listener.local_addr()?);
        let at = |port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let addresses = json!({
            "folder": folder, "simulator": simulator, "https": format!("https://{}", at(ports.https)),
            "http": format!("http://{}", at(ports.http)), "agent": format!("http://{}", at(ports.agent)),
            "ca": own("terminal-ca.pem"), "till": "till-1", "token": TILL_TOKEN,
            "tillsToPair": TILLS, "zvt": at(ports.zvt), "zvtPassword": ZVT_PASSWORD,
            "nexo": format!("https://{}/nexo/", at(ports.nexo)),
            "nexoKey": { "passphrase": PASSPHRASE, "identifier": KEY_IDENTIFIER, "version": 1, "poiId": POI_ID,
                         "saleId": "nexo-1" },
            "webhookSecret": secret,
        });
        let hands = Hands::begin(shop.reader.clone(), arguments.auto, shop.socket());
        let world = World { shop, hands, agent: Mutex::new(agent), front: Mutex::new(front), addresses };
        Ok(Self { world: Arc::new(world), listener })
    }

    /// Returns the addresses of the shop, for programs.
    pub(crate) fn addresses(&self) -> &Value {
        self.world.addresses()
    }

    /// Returns the addresses of the shop, for people.
    pub(crate) fn words(&self) -> String {
        let text = |key: &str| self.addresses()[key].as_str().unwrap_or_default().to_owned();
        let (agent, token, simulator) = (text("agent"), text("token"), text("simulator"));
        let how = match self.world.hands.cards().1 {
            Some(card) => format!("The card {card} presents itself."),
            None => format!(
                "Then present a card:\n  curl {simulator}/simulator/card -H 'Content-Type: application/json' \
                 -d '{{\"card\":\"tap\"}}'"
            ),
        };
        format!(
            "A payment terminal for developers. No money can move.\n\n  page        {}\n  interface   {}\n  \
             certificate {}\n  ZVT         {}\n  nexo        {}\n  simulators  {simulator}/simulator\n  \
             folder      {}\n\nTake a payment:\n  curl {agent}/v1/sales -H 'Authorization: Bearer {token}' \
             -H 'Content-Type: application/json' -d '{{\"reference\":\"1\",\"amount\":\"12.34\"}}'\n{how}\n\n\
             Ctrl-C ends the sandbox.",
            text("http"),
            text("https"),
            text("ca"),
            text("zvt"),
            text("nexo"),
            text("folder"),
        )
    }

    /// Serves the interface for programs. Ends with the fault of a program that ended without being asked.
    pub(crate) async fn serve(&self) -> io::Error {
        simulator::serve(&self.listener, &self.world).await
    }

    /// Ends the programs as systemd would. The shop's own folder is removed.
    pub(crate) async fn close(self) {
        drop(self.listener);
        // A connection that is still open keeps the world, and its programs end with this process.
        if let Some(world) = Arc::into_inner(self.world) {
            world.front.into_inner().program.stop().await;
            world.agent.into_inner().program.stop().await;
        }
    }
}

impl World {
    pub(crate) fn addresses(&self) -> &Value {
        &self.addresses
    }
}

/// Returns the changes to the configuration of the simulated shop.
fn changes(arguments: &ShopArguments, ports: &Ports) -> Vec<(String, String)> {
    let uid = rustix::process::getuid();
    let tills = every_till();
    let uid = if uid.is_root() { FRONT_USER } else { uid.as_raw() };
    let peer = format!("\n[[till.peer]]\nuid = {uid}\ntills = {tills:?}\n");
    let change = |what: &str, with: String| (what.to_owned(), with);
    vec![
        change("http = \"127.0.0.1:0\"", format!("http = \"127.0.0.1:{}\"", ports.agent)),
        change("\n[journal]", format!("{peer}\n[journal]")),
        change("\n[gateway]\n", "\n[training]\nallowed = true\n\n[gateway]\n".to_owned()),
        change("currency = \"EUR\"", format!("language = {:?}\ncurrency = \"EUR\"", arguments.language)),
    ]
}

/// Returns every till of the shop. The front acts for all of them: `till-1` itself uses the agent's port, and its
/// events go to the webhook.
fn every_till() -> Vec<&'static str> {
    [&["local", "till-1", "zvt-1", "nexo-1"][..], &TILLS].concat()
}

/// Writes the front's configuration and its secrets.
fn write_front(shop: &Shop, arguments: &ShopArguments, ports: &Ports, secret: Option<&str>) -> io::Result<()> {
    let own = |name: &str| shop.folder().join(name);
    fs::create_dir(own("front"))?;
    write_private(&own("zvt-password"), ZVT_PASSWORD)?;
    write_private(&own("nexo-passphrase"), PASSPHRASE)?;
    let mut text = format!(
        "tills = {TILLS:?}\nagent = {:?}\nstate = {:?}\ncontrol = {:?}\n\n[listen]\nhttps = [\"{}\"]\n\
         http = [\"127.0.0.1:{}\"]\n\n[page]\ncustomer = true\n\n[cors]\norigins = {:?}\n\n[[zvt]]\ntill = \"zvt-1\"\n\
         listen = \"127.0.0.1:{}\"\npassword-file = {:?}\n\n[nexo]\nlisten = \"127.0.0.1:{}\"\npoi-id = \"{POI_ID}\"\n\n\
         [[nexo.till]]\ntill = \"nexo-1\"\nsale-id = \"nexo-1\"\npassphrase-file = {:?}\n\
         key-identifier = \"{KEY_IDENTIFIER}\"\nkey-version = 1\n",
        shop.socket(),
        own("front/state"),
        own("front/front.sock"),
        SocketAddr::new(arguments.listen, ports.https),
        ports.http,
        arguments.origin,
        ports.zvt,
        own("zvt-password"),
        ports.nexo,
        own("nexo-passphrase"),
    );
    if let (Some(url), Some(secret)) = (&arguments.webhook, secret) {
        write_private(&own("webhook-secret"), secret)?;
        text += &format!(
            "\n[[webhook]]\nname = \"sandbox\"\nurl = {url:?}\nsecret-file = {:?}\ntills = {:?}\n",
            own("webhook-secret"),
            every_till(),
        );
    }
    fs::write(own("front.toml"), text)
}

/// Waits until the front has written its position in the events, from which on the webhook misses none.
async fn until_there(position: &Path) -> io::Result<()> {
    let written = async {
        while !position.exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let late = |_| io::Error::other("the front does not listen to the agent's events for the webhook");
    tokio::time::timeout(READY_WITHIN, written).await.map_err(late)
}

/// Gives the front's user the files that it needs, in a folder that only root could enter.
fn for_front_user(folder: &Path, file: &ProgramFile) -> io::Result<ProgramFile> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o711))?;
    for name in ["front", "zvt-password", "nexo-passphrase", "webhook-secret"] {
        let path = folder.join(name);
        if path.exists() {
            std::os::unix::fs::chown(&path, Some(FRONT_USER), None)?;
        }
    }
    // The user may not reach the program where it is installed.
    let copy = folder.join("pos-sandbox");
    fs::copy(&file.file, &copy)?;
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755))?;
    Ok(ProgramFile { file: copy, user: Some(FRONT_USER), ..file.clone() })
}

/// Makes a secret for webhooks, with the front's own verb.
async fn front_secret() -> io::Result<String> {
    let made =
        tokio::process::Command::new(std::env::current_exe()?).args(["front", "webhook", "secret"]).output().await?;
    match made.status.success() {
        true => Ok(String::from_utf8_lossy(&made.stdout).trim().to_owned()),
        false => Err(io::Error::other(String::from_utf8_lossy(&made.stderr).into_owned())),
    }
}

/// Makes the folder, or removes what an earlier sandbox has left in it. Another folder is refused.
fn emptied(folder: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let folder = folder.canonicalize()?;
    let mut entries = fs::read_dir(&folder)?.peekable();
    if entries.peek().is_some() && !folder.join(MARK).is_file() {
        let said = format!("--folder {} contains other files; name an empty folder", folder.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, said));
    }
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    Ok(folder)
}
