//! Sockets that systemd opens before the program runs (sd_listen_fds(3)). They stay open while the program is down, and
//! no other program can take them. Here the shell passes them on, with the numbers and variables that systemd uses.

use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use pos_sim::shop::{Options, Shop};
use pos_test_kit::within;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use crate::program::{self, get, own_address};

/// Passes on file descriptors from 3 upwards, with the process id of their owner. The shell becomes the program and
/// keeps that id.
const HANDS_OVER: &str = r#"exec 3<&0 4<&1 </dev/null >/dev/null
export LISTEN_PID=$$ LISTEN_FDS="$1" LISTEN_FDNAMES=a:b
exec "$0" run --config "$2""#;

/// The two sockets as systemd's units provide them.
struct GivenSockets {
    unix: UnixListener,
    tcp: std::net::TcpListener,
}

impl GivenSockets {
    fn open(path: &Path, address: &str) -> Self {
        let unix = UnixListener::bind(path).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o660)).unwrap();
        Self { unix, tcp: std::net::TcpListener::bind(address).unwrap() }
    }

    fn command(&self, config: &Path, how_many: u8) -> Command {
        let socket = OwnedFd::from(self.unix.try_clone().unwrap());
        let port = OwnedFd::from(self.tcp.try_clone().unwrap());
        hands_over(socket, port, config, how_many)
    }
}

fn hands_over(first: OwnedFd, second: OwnedFd, config: &Path, how_many: u8) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", HANDS_OVER, env!("CARGO_BIN_EXE_pos-agent"), &how_many.to_string()]).arg(config);
    command.stdin(Stdio::from(first)).stdout(Stdio::from(second)).stderr(Stdio::piped());
    command.env_remove("CREDENTIALS_DIRECTORY").env_remove("NOTIFY_SOCKET").env_remove("RUST_LOG");
    command
}

async fn a_shop(address: &str) -> Shop {
    let mut options = Options::default();
    options.config.push(("http = \"127.0.0.1:0\"".to_owned(), format!("http = \"{address}\"")));
    Shop::open(options).await.unwrap()
}

fn ends(mut agent: Child, signal: Signal) -> Output {
    kill_process(Pid::from_child(&agent), signal).unwrap();
    let _ = agent.stdin.take();
    agent.wait_with_output().unwrap()
}

#[tokio::test]
async fn who_connects_while_the_program_is_away_is_served_when_it_comes() {
    let address = own_address(7);
    let shop = a_shop(&address).await;
    let sockets = GivenSockets::open(&shop.socket(), &address);
    let asks = get("/v1/status", &program::token());
    for signal in [Signal::KILL, Signal::TERM] {
        let mut at_socket = UnixStream::connect(shop.socket()).await.unwrap();
        at_socket.write_all(get("/v1/status", "").as_bytes()).await.unwrap();
        let mut at_port = TcpStream::connect(&address).await.unwrap();
        at_port.write_all(asks.as_bytes()).await.unwrap();
        let agent = sockets.command(&shop.config(), 2).spawn().unwrap();
        let (mut one, mut other) = (String::new(), String::new());
        within("the answer at the socket", at_socket.read_to_string(&mut one)).await.unwrap();
        within("the answer at the port", at_port.read_to_string(&mut other)).await.unwrap();
        assert!(one.starts_with("HTTP/1.1 200") && other.starts_with("HTTP/1.1 200"), "{one}\n{other}");
        let ended = tokio::task::spawn_blocking(move || ends(agent, signal)).await.unwrap();
        assert_eq!(ended.status.success(), signal == Signal::TERM, "{}", String::from_utf8_lossy(&ended.stderr));
        // The agent closes neither the port nor the socket: both belong to systemd.
        assert!(shop.socket().exists());
        assert!(std::net::TcpListener::bind(&address).is_err());
    }
}

/// Runs the program until it ends. Returns the exit code and the message.
async fn refused(mut command: Command) -> (Option<i32>, String) {
    let ended = within("its end", tokio::task::spawn_blocking(move || command.output().unwrap())).await.unwrap();
    (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
}

#[tokio::test]
async fn a_socket_that_is_not_the_configured_one_is_refused_by_name() {
    let address = own_address(8);
    let shop = a_shop(&address).await;
    let other = shop.folder().join("other.sock");

    let elsewhere = GivenSockets::open(&other, &own_address(9));
    let (code, said) = refused(elsewhere.command(&shop.config(), 1)).await;
    assert_eq!(code, Some(74), "{said}");
    for words in
        [other.to_str().unwrap(), "but socket in [till] is", shop.socket().to_str().unwrap(), "pos-agent.socket"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }

    let sockets = GivenSockets { unix: GivenSockets::open(&shop.socket(), &own_address(10)).unix, tcp: elsewhere.tcp };
    let (code, said) = refused(sockets.command(&shop.config(), 2)).await;
    assert_eq!(code, Some(74), "{said}");
    for words in [&*own_address(9), "but http in [till] is", &address, "pos-agent-http.socket"] {
        assert!(said.contains(words), "{words}: {said}");
    }

    std::fs::set_permissions(shop.socket(), std::fs::Permissions::from_mode(0o666)).unwrap();
    let (code, said) = refused(sockets.command(&shop.config(), 1)).await;
    assert_eq!(code, Some(74), "{said}");
    assert!(
        said.contains("every user may open") && said.contains("(mode 666)") && said.contains("SocketMode=0660"),
        "{said}"
    );

    let socket = || OwnedFd::from(sockets.unix.try_clone().unwrap());
    let (code, said) = refused(hands_over(socket(), socket(), &shop.config(), 2)).await;
    assert_eq!(code, Some(78), "{said}");
    assert!(said.contains("a second Unix socket"), "{said}");

    let file = OwnedFd::from(std::fs::File::open(shop.config()).unwrap());
    let (code, said) = refused(hands_over(socket(), file, &shop.config(), 2)).await;
    assert_eq!(code, Some(78), "{said}");
    assert!(said.contains("(number 2)") && said.contains("ListenStream="), "{said}");
}
