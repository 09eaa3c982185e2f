//! `pos-sim printer`: its arguments, and the commands that a person types while it runs.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::{Options, Printer, PrinterAddress, Sensors, StatusAnswers};
use crate::typed;

/// `pos-sim printer`: a receipt printer that shows its paper on standard output.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
While it runs, type a word and press Enter: paper (remove or insert paper), near (roll nearly empty, or full), cover (open or close), \
power (off or on).\n\n\
Examples:\n  \
pos-sim printer --png /tmp                             pictures to /tmp/receipt-1.png, -2, …\n  \
pos-sim printer --pty --link /tmp/printer              a tty: port = \"/tmp/printer\"\n  \
pos-sim printer --columns 32 --slow 300 --paper-out-after 20")]
pub struct Args {
    /// The address to listen on
    #[arg(long, default_value = "127.0.0.1:9100", conflicts_with = "pty")]
    pub listen: SocketAddr,
    /// Use a pty instead of TCP, as a printer on a serial line does
    #[arg(long)]
    pub pty: bool,
    /// A link to the pty, which keeps its name after a power cut
    #[arg(long, requires = "pty", value_name = "PATH")]
    pub link: Option<PathBuf>,
    /// Characters on a line, 16 to 64; real printers have 32, 42 or 48
    #[arg(long, default_value_t = 42, value_parser = clap::value_parser!(u8).range(16..=64))]
    pub columns: u8,
    /// Also write each receipt as a picture into this folder
    #[arg(long, value_name = "FOLDER")]
    pub png: Option<PathBuf>,
    /// Bytes printed per second [default: no limit]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
    pub slow: Option<u32>,
    /// Start without paper
    #[arg(long)]
    pub paper_out: bool,
    /// Run out of paper after this many lines
    #[arg(long, value_name = "LINES")]
    pub paper_out_after: Option<usize>,
    /// Start with a nearly empty roll
    #[arg(long)]
    pub near_end: bool,
    /// Start with the cover open
    #[arg(long)]
    pub cover_open: bool,
    /// Lose power after this many bytes; `power` restores it
    #[arg(long, value_name = "BYTES")]
    pub die_after: Option<usize>,
    /// Do not answer status requests
    #[arg(long, conflicts_with = "garbage")]
    pub silent: bool,
    /// Answer status requests with meaningless bytes
    #[arg(long)]
    pub garbage: bool,
}

/// Prints each receipt to standard output when it is cut, until the program is stopped.
///
/// # Errors
///
/// Fails if the printer cannot listen on the address, a picture cannot be written, or standard output is closed.
pub async fn run(args: Args) -> io::Result<()> {
    let mut printer = Printer::open(args.options()).await?;
    if let Some(lines) = args.paper_out_after {
        printer.run_out_after(lines);
    }
    if let Some(bytes) = args.die_after {
        printer.die_after(bytes);
    }
    writeln!(io::stdout(), "printer at {}", printer.place())?;
    let (mut words, mut dead) = (typed::lines(), false);
    for number in 1.. {
        let receipt = loop {
            tokio::select! {
                receipt = printer.next_receipt() => break receipt,
                Some(word) = words.recv() => writeln!(io::stdout(), "{}", obey(&printer, &word, &mut dead).await)?,
            }
        };
        writeln!(io::stdout(), "{receipt}{}", "- ".repeat(usize::from(args.columns / 2)))?;
        if let Some(folder) = &args.png {
            let file = draw(&printer, number, folder)?;
            writeln!(io::stdout(), "picture in {}", file.display())?;
        }
    }
    Ok(())
}

impl Args {
    fn options(&self) -> Options {
        Options {
            place: if self.pty { PrinterAddress::Pty(self.link.clone()) } else { PrinterAddress::Tcp(self.listen) },
            columns: self.columns,
            status_answers: match (self.silent, self.garbage) {
                (true, _) => StatusAnswers::Silent,
                (_, true) => StatusAnswers::Garbage,
                _ => StatusAnswers::Answers,
            },
            sensors: Sensors {
                paper_out: self.paper_out,
                paper_near_end: self.near_end,
                cover_open: self.cover_open,
                cutter_jammed: false,
            },
            bytes_per_second: self.slow,
        }
    }
}

fn draw(printer: &Printer, number: usize, folder: &Path) -> io::Result<PathBuf> {
    let file = folder.join(format!("receipt-{number}.png"));
    let picture = printer.picture(number - 1).ok_or_else(|| io::Error::other("the receipt cannot be drawn"))?;
    std::fs::write(&file, picture)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))?;
    Ok(file)
}

/// Carries out a typed command, and returns the resulting state of the printer.
async fn obey(printer: &Printer, word: &str, dead: &mut bool) -> String {
    let mut sensors = printer.sensors();
    match word.trim() {
        "paper" => sensors.paper_out = !sensors.paper_out,
        "near" => sensors.paper_near_end = !sensors.paper_near_end,
        "cover" => sensors.cover_open = !sensors.cover_open,
        "power" => {
            *dead = !*dead;
            printer.set_dead(*dead).await;
        }
        _ => return "type paper, near, cover or power".to_owned(),
    }
    printer.set_sensors(sensors);
    let either = |is: bool, yes: &'static str, no: &'static str| if is { yes } else { no };
    format!(
        "power {}, {}, cover {}",
        either(*dead, "off", "on"),
        either(sensors.paper_out, "no paper", either(sensors.paper_near_end, "paper low", "paper")),
        either(sensors.cover_open, "open", "closed"),
    )
}
