//! A proxy with faults in front of a TCP device, and the typed commands that control the faults.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};

use super::{BOTH_DIRECTIONS, Direction, FaultyStream, LineFaults};
use crate::typed;

/// Forwards every connection to `listener` to the TCP device at `to`, through `faults`. `Read` is the direction from
/// the client to the device, and `Write` the opposite. Ends only with an error of the listener.
///
/// # Errors
///
/// Fails if the listener cannot accept further connections. An unreachable device closes only that connection.
pub async fn proxy(listener: TcpListener, to: String, faults: LineFaults) -> io::Result<()> {
    loop {
        let (client, from) = listener.accept().await?;
        let (to, faults) = (to.clone(), faults.clone());
        tokio::spawn(async move {
            if let Err(error) = pass(client, &to, &faults).await {
                tracing::info!(%from, %to, %error, "a connection with faults ended");
            }
        });
    }
}

async fn pass(client: TcpStream, to: &str, faults: &LineFaults) -> io::Result<()> {
    // Taken before the connection to the device is made, so that a cut during that time counts.
    let cut = Arc::clone(&faults.0.cut).notified_owned();
    client.set_nodelay(true)?;
    let mut line = FaultyStream::new(client, faults);
    let mut device = TcpStream::connect(to).await?;
    device.set_nodelay(true)?;
    tokio::select! {
        ended = tokio::io::copy_bidirectional(&mut line, &mut device) => ended.map(|_| ()),
        // Without this, a silent device would keep its half of a cut connection.
        () = cut => Ok(()),
    }
}

/// The arguments of `pos-sim fault`, which puts faults in front of a TCP device.
#[derive(Clone, Debug, clap::Args)]
pub struct FaultArgs {
    /// The address to which clients connect instead of the device
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: String,
    /// The address of the device
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub to: String,
    /// Delay of each chunk of data, in each direction, in milliseconds
    #[arg(long, default_value_t = 0)]
    pub delay_ms: u64,
    /// Bytes dropped per thousand, in each direction
    #[arg(long, default_value_t = 0, value_name = "PER_MILLE", value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub drop: u16,
    /// Bytes with one wrong bit per thousand, in each direction
    #[arg(long, default_value_t = 0, value_name = "PER_MILLE", value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub flip: u16,
    /// Cut the connection once, after this many bytes from the client
    #[arg(long, value_name = "BYTES")]
    pub cut_after: Option<u64>,
    /// Seed of the random faults; the same seed hits the same bytes
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl FaultArgs {
    /// Makes the handle that these arguments describe.
    #[must_use]
    pub fn faults(&self) -> LineFaults {
        let faults = LineFaults::seeded(self.seed);
        for direction in BOTH_DIRECTIONS {
            faults.delay(direction, Duration::from_millis(self.delay_ms));
            faults.drop_per_mille(direction, self.drop);
            faults.flip_per_mille(direction, self.flip);
        }
        if let Some(n) = self.cut_after {
            faults.cut_after_bytes(Direction::Read, n);
        }
        faults
    }
}

/// Runs `pos-sim fault` until Ctrl-C or until the listener ends, and carries out typed lines.
///
/// # Errors
///
/// Fails if the address is in use.
pub async fn run(args: FaultArgs) -> io::Result<()> {
    let faults = args.faults();
    let listener = TcpListener::bind(&args.listen).await?;
    say(&format!(
        "faults on {} before {}; type: delay MS, drop PER_MILLE, flip PER_MILLE, cut, clear",
        listener.local_addr()?,
        args.to
    ));
    let mut lines = typed::lines();
    let typed = async {
        while let Some(line) = lines.recv().await {
            if let Err(error) = faults.carry_out(&line) {
                say(&error.to_string());
            }
        }
        // Without standard input, the arguments alone set the faults.
        std::future::pending().await
    };
    tokio::select! {
        ended = proxy(listener, args.to, faults.clone()) => ended,
        ended = typed => ended,
        _ = tokio::signal::ctrl_c() => Ok(()),
    }
}

#[allow(clippy::print_stdout, reason = "pos-sim speaks to a person")]
fn say(text: &str) {
    println!("{text}");
}

/// An unknown line for [`LineFaults::carry_out`]; the text lists the known commands.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is unknown; use: delay MS, drop PER_MILLE, flip PER_MILLE, cut, cut BYTES, clear")]
pub struct Misunderstood(String);

impl LineFaults {
    /// Carries out a typed line in both directions while the connection is open: `delay 200`, `drop 5`, `flip 5`,
    /// `cut`, `cut 40`, `clear`. The count of `cut 40` is in further bytes that the holder reads.
    ///
    /// # Errors
    ///
    /// Returns [`Misunderstood`] if the line is unknown, and changes nothing.
    pub fn carry_out(&self, line: &str) -> Result<(), Misunderstood> {
        let misunderstood = || Misunderstood(line.trim().to_owned());
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["cut"] => self.cut_now(),
            ["clear"] => self.clear(),
            [what, number] => {
                let number: u64 = number.parse().map_err(|_| misunderstood())?;
                let per_mille = u16::try_from(number).ok().filter(|n| *n <= 1000).ok_or_else(misunderstood);
                match what {
                    "delay" => BOTH_DIRECTIONS.iter().for_each(|way| self.delay(*way, Duration::from_millis(number))),
                    "drop" => per_mille.map(|n| BOTH_DIRECTIONS.iter().for_each(|way| self.drop_per_mille(*way, n)))?,
                    "flip" => per_mille.map(|n| BOTH_DIRECTIONS.iter().for_each(|way| self.flip_per_mille(*way, n)))?,
                    "cut" => self.cut_after_bytes(Direction::Read, number),
                    _ => return Err(misunderstood()),
                }
            }
            _ => return Err(misunderstood()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const TEXT: &[u8] = b"0123456789";

    #[tokio::test]
    async fn stands_before_a_tcp_device() {
        let device = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let to = device.local_addr().unwrap().to_string();
        let echo = tokio::spawn(async move {
            loop {
                let (mut stream, _) = device.accept().await.unwrap();
                let (mut from, mut back) = stream.split();
                _ = tokio::io::copy(&mut from, &mut back).await;
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let faults = LineFaults::seeded(1);
        let between = tokio::spawn(proxy(listener, to, faults.clone()));

        let talk = async |bytes: &[u8]| {
            let mut client = TcpStream::connect(address).await.unwrap();
            client.write_all(bytes).await.unwrap();
            client.shutdown().await.unwrap();
            let mut out = Vec::new();
            _ = client.read_to_end(&mut out).await;
            out
        };
        assert_eq!(talk(TEXT).await, TEXT);
        faults.flip_bit(Direction::Read, 0, 0);
        faults.drop_byte(Direction::Write, 9);
        assert_eq!(talk(TEXT).await, b"112345678");
        faults.cut_after_bytes(Direction::Write, 3);
        assert!(TEXT[..3].starts_with(&talk(TEXT).await), "nothing comes behind the cut");
        assert_eq!(talk(TEXT).await, TEXT, "the next connection is whole");
        assert_eq!(faults.counts().cuts, 1);
        between.abort();
        echo.abort();
    }

    #[test]
    fn arguments_become_faults() {
        #[derive(clap::Parser)]
        struct Program {
            #[command(flatten)]
            fault: FaultArgs,
        }
        let parse = |more: &[&str]| {
            let base = ["pos-sim", "--listen", "127.0.0.1:9999", "--to", "127.0.0.1:9100"];
            <Program as clap::Parser>::try_parse_from(base.iter().chain(more)).map(|program| program.fault)
        };
        let faults = parse(&["--delay-ms", "20", "--drop", "5", "--cut-after", "12"]).unwrap().faults();
        let seen = faults.way(Direction::Read, |way| (way.delay, way.drop_per_mille, way.flip_per_mille, way.cut_at));
        assert_eq!(seen, (Duration::from_millis(20), 5, 0, Some(12)));
        assert_eq!(faults.way(Direction::Write, |way| (way.drop_per_mille, way.cut_at)), (5, None));
        assert!(parse(&["--drop", "1001"]).is_err(), "more than every byte");
    }

    #[test]
    fn obeys_what_a_person_types() {
        let faults = LineFaults::seeded(1);
        let seen =
            |way| faults.way(way, |way| (way.delay.as_millis(), way.drop_per_mille, way.flip_per_mille, way.cut_at));
        for line in ["delay 200", " drop  5\n", "flip 6", "cut 40"] {
            faults.carry_out(line).unwrap();
        }
        assert_eq!(seen(Direction::Read), (200, 5, 6, Some(40)));
        assert_eq!(seen(Direction::Write), (200, 5, 6, None));
        for line in ["", "drop", "drop 1001", "drop 70000", "drop -1", "flip much", "cut 1 2", "explode"] {
            assert_eq!(faults.carry_out(line), Err(Misunderstood(line.to_owned())));
        }
        assert_eq!(seen(Direction::Read), (200, 5, 6, Some(40)), "what is not understood changes nothing");
        faults.carry_out("cut").unwrap();
        assert_eq!(faults.counts().cuts, 1);
        faults.carry_out("clear").unwrap();
        assert_eq!(seen(Direction::Read), (0, 0, 0, None));
    }
}
