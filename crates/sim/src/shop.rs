//! A whole shop for the agent: a simulated reader, gateway and printer with real connections, and a configuration for a
//! real agent.
//!
//! The agent is not included. It runs as a separate process (`demo`) or inside a test.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::fault::{self, LineFaults};
use super::gateway::{self, Gateway};
use super::printer::Printer;
use super::reader::{self, Family, Reader};

pub mod demo;
pub mod program;

/// The devices and settings of the shop.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The reader.
    pub reader: reader::Options,
    /// The gateway.
    pub gateway: gateway::Options,
    /// The faults on the connection between agent and gateway; without them, the connection is direct.
    pub gateway_line: Option<LineFaults>,
    /// Changes to the configuration as `(text, replacement)`, applied to the text that the shop writes.
    pub config: Vec<(String, String)>,
    /// The file of the journal; with `None`, it is in the shop's folder.
    pub journal: Option<PathBuf>,
    /// An empty folder, which stays; with `None`, the shop makes a folder and removes it at its end.
    pub folder: Option<PathBuf>,
}

/// A running shop. Its own folder is removed when this value is dropped.
pub struct Shop {
    /// The reader.
    pub reader: Reader,
    /// The gateway.
    pub gateway: Gateway,
    /// The printer.
    pub printer: Printer,
    family: Family,
    line: Option<FaultyLine>,
    folder: Folder,
}

/// The bearer token of the till `till-1`, for HTTP.
pub const TILL_TOKEN: &str = "dGhlLXRva2VuLW9mLXRpbGwtMQ";

impl Shop {
    /// Opens the shop in a new folder under the system's temporary folder.
    ///
    /// # Errors
    ///
    /// Fails if an address is in use or a file cannot be written.
    pub async fn open(mut options: Options) -> io::Result<Self> {
        let folder = match options.folder.take() {
            Some(path) => Folder { path, stays: true },
            None => Folder::make()?,
        };
        if options.reader.tcp.is_none() {
            options.reader.link = Some(folder.path.join("reader"));
        }
        let family = options.reader.family;
        let reader = reader::start(options.reader).await?;
        let gateway = gateway::start(options.gateway).await?;
        let printer = Printer::start(std::net::SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        let line = match options.gateway_line {
            Some(faults) => Some(FaultyLine::before(&gateway, faults).await?),
            None => None,
        };
        let shop = Self { reader, gateway, printer, family, line, folder };
        write_private(&shop.folder.path.join("gateway-token"), shop.gateway.token())?;
        write_private(&shop.folder.path.join("till-token"), TILL_TOKEN)?;
        fs::write(shop.folder.path.join("ca.pem"), shop.gateway.ca_pem())?;
        let mut text = shop.config_text(options.journal.as_deref());
        for (what, with) in &options.config {
            text = text.replace(what, with);
        }
        fs::write(shop.config(), text)?;
        Ok(shop)
    }

    /// Returns the shop's folder, which contains the configuration, the tokens, the journal, the reader's link and the
    /// till's socket.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder.path
    }

    /// Returns the family of the reader.
    #[must_use]
    pub fn family(&self) -> Family {
        self.family
    }

    /// Returns the agent's configuration file.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.folder.path.join("config.toml")
    }

    /// Returns the socket on which the agent will serve the command line.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder.path.join("till.sock")
    }

    fn config_text(&self, journal: Option<&Path>) -> String {
        let folder = self.folder.path.display();
        let journal = journal.map_or_else(|| format!("{folder}/journal.db"), |path| path.display().to_string());
        format!(
            r#"[terminal]
id = "12345678"
merchant = ["Corner Shop", "1 Market Street", "Springfield"]
currency = "EUR"
card-timeout-s = 60
max-credit-amount = "1000.00"

{reader}

[gateway]
url = "{url}"
entity-id = "{entity}"
token-file = "{folder}/gateway-token"
ca-file = "{folder}/ca.pem"
test-mode = "EXTERNAL"
connect-timeout-ms = 5000
answer-timeout-ms = 10000
resend-after-s = 1

[gateway.brand-by-aid]
A000000003 = "VISA"

[[printer]]
port = "{printer}"
columns = 42

[till]
socket = "{folder}/till.sock"
http = "127.0.0.1:0"

[[till.token]]
till = "till-1"
token-file = "{folder}/till-token"

[journal]
path = "{journal}"
"#,
            reader = self.family.configuration(&self.reader.place()),
            url = self.line.as_ref().map_or_else(|| self.gateway.base_url(), |line| line.url.clone()),
            entity = self.gateway.entity_id(),
            printer = self.printer.place(),
        )
    }
}

/// A connection with faults in front of the gateway. It ends when this value is dropped.
struct FaultyLine {
    /// The agent's address for the gateway, with the name in the gateway's certificate.
    url: String,
    task: JoinHandle<io::Result<()>>,
}

impl FaultyLine {
    async fn before(gateway: &Gateway, faults: LineFaults) -> io::Result<Self> {
        let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("https://localhost:{}/", listener.local_addr()?.port());
        Ok(Self { url, task: tokio::spawn(fault::proxy(listener, gateway.address().to_string(), faults)) })
    }
}

impl Drop for FaultyLine {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A folder that is removed when this value is dropped, unless it stays.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    stays: bool,
}

impl Folder {
    pub(crate) fn make() -> io::Result<Self> {
        for _ in 0..16 {
            let mut random = [0; 6];
            getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
            // The name is short, because the path of a Unix socket has at most 107 bytes.
            let path = std::env::temp_dir().join(format!("pos-shop-{}", hex::encode(random)));
            match fs::create_dir(&path) {
                Ok(()) => {
                    fs::set_permissions(&path, fs::Permissions::from_mode(0o700))?;
                    return Ok(Self { path, stays: false });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("no free name for the shop's folder"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.stays {
            // The folder is left only if the system refuses to remove it. It contains only test data.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Writes a new file that only its owner can read.
///
/// # Errors
///
/// Fails if the file exists, or cannot be written.
pub fn write_private(path: &Path, text: &str) -> io::Result<()> {
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}
