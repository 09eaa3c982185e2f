//! A till's library as a program of its own. It gets calls as lines of JSON, and says what came of each.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::process::Process;

/// The time in which a call ends. The library itself gives up after 30 s without an answer.
const LIMIT: Duration = Duration::from_secs(120);

/// The library's own calls, each in a thread. `taken` is what the till answers when it is asked to confirm.
const PYTHON: &str = r#"
import json, sys, threading, time
from pos_agent_client import Terminal
url, token, ca = sys.argv[1:]
terminal = Terminal(url, token, ca=ca)
speaks = threading.Lock()
def call(asked):
    options = dict(asked["options"])
    if "taken" in options:
        taken = options.pop("taken")
        options["on_confirm"] = lambda sale: taken
    begun = time.time()
    try:
        said = {"sale": getattr(terminal, asked["verb"])(*asked["values"], **options)}
    except Exception as error:
        said = {"error": type(error).__name__, "code": getattr(error, "code", None), "text": str(error)}
    line = json.dumps({"call": asked["call"], "begun": begun, "ended": time.time(), **said})
    with speaks:
        print(line, flush=True)
for line in sys.stdin:
    threading.Thread(target=call, args=(json.loads(line),), daemon=True).start()
"#;

/// The same with the names of the other library.
const TYPESCRIPT: &str = r#"
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const [url, token, ca, library] = process.argv.slice(1);
const { nodeTransport, Terminal } = await import(library);
const terminal = new Terminal({ url, token, transport: nodeTransport({ ca: readFileSync(ca, "utf8") }) });
const verbs = {
  sell: ([amount], { reference, repeat, taken, on_silence }) => taken === undefined
    ? terminal.sell({ amount, reference }, { again: repeat })
    : terminal.sell({ amount, reference, confirm: "till", onSilence: on_silence },
      { again: repeat, onConfirm: () => ({ taken: taken ? "all" : "nothing" }) }),
  show: ([reference], { wait_s }) => terminal.show(reference, { waitS: wait_s }),
  cancel: ([reference]) => terminal.cancel(reference),
  refund: ([of], { reference }) => terminal.refund(of, { reference }),
};
async function call({ call, verb, values, options }) {
  const begun = Date.now() / 1000;
  let said;
  try {
    said = { sale: await verbs[verb](values, options) };
  } catch (error) {
    said = { error: error.name, code: error.code, text: error.message };
  }
  console.log(JSON.stringify({ call, begun, ended: Date.now() / 1000, ...said }));
}
for await (const line of createInterface({ input: process.stdin })) call(JSON.parse(line));
"#;

/// A running library.
pub(crate) struct Library {
    calls: u64,
    input: ChildStdin,
    lines: mpsc::Receiver<String>,
    heard: HashMap<u64, Said>,
    _process: Process,
}

/// What came of a call.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    /// The transaction, or the library's error as `error`, `code` and `text`.
    pub(crate) what: Result<Value, Value>,
    /// The system's clock at the begin and at the end of the call, in seconds.
    pub(crate) begun: f64,
    pub(crate) ended: f64,
}

impl Said {
    /// Returns the outcome of the transaction, or an empty text.
    pub(crate) fn outcome(&self) -> &str {
        self.what.as_ref().ok().and_then(|sale| sale["outcome"].as_str()).unwrap_or_default()
    }
}

impl Library {
    /// Starts the Python library.
    pub(crate) fn python(url: &str, token: &str, ca: &Path) -> Self {
        let python = std::env::var("POS_FLEET_PYTHON").expect("POS_FLEET_PYTHON is a Python with httpx");
        let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/python/src");
        Self::start(Command::new(python).args(["-c", PYTHON, url, token]).arg(ca).env("PYTHONPATH", library))
    }

    /// Starts the TypeScript library.
    pub(crate) fn typescript(url: &str, token: &str, ca: &Path) -> Self {
        let library =
            std::env::var("POS_FLEET_TYPESCRIPT").expect("POS_FLEET_TYPESCRIPT is the built library's node.js");
        let mut node = Command::new("node");
        Self::start(node.args(["--input-type=module", "-e", TYPESCRIPT, url, token]).arg(ca).arg(library))
    }

    fn start(program: &mut Command) -> Self {
        let mut process = Process::start(program.stdin(Stdio::piped()).stdout(Stdio::piped()));
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let (tell, lines) = mpsc::channel();
        thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            lines.take_while(|line| tell.send(line.clone()).is_ok()).for_each(drop);
        });
        Self { calls: 0, input, lines, heard: HashMap::new(), _process: process }
    }

    /// Begins a call of the library.
    #[allow(clippy::needless_pass_by_value, reason = "json! makes values")]
    pub(crate) fn call(&mut self, verb: &str, values: &[&str], options: Value) -> u64 {
        self.calls += 1;
        let asked = json!({ "call": self.calls, "verb": verb, "values": values, "options": options });
        writeln!(self.input, "{asked}").unwrap();
        self.input.flush().unwrap();
        self.calls
    }

    /// Returns what came of a call, if it has ended within this time.
    pub(crate) fn said_within(&mut self, call: u64, limit: Duration) -> Option<Said> {
        let end = crate::process::now() + limit;
        loop {
            if let Some(said) = self.heard.remove(&call) {
                return Some(said);
            }
            let left = end.saturating_duration_since(crate::process::now());
            let line = match self.lines.recv_timeout(left) {
                Ok(line) => line,
                Err(mpsc::RecvTimeoutError::Timeout) => return None,
                Err(mpsc::RecvTimeoutError::Disconnected) => panic!("the library has ended"),
            };
            let mut said: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            let what = match said.get_mut("sale").map(Value::take) {
                Some(sale) => Ok(sale),
                None => Err(said.clone()),
            };
            let second = |name: &str| said[name].as_f64().unwrap();
            let heard = Said { what, begun: second("begun"), ended: second("ended") };
            self.heard.insert(said["call"].as_u64().unwrap(), heard);
        }
    }

    /// Waits for the end of a call.
    pub(crate) fn said(&mut self, call: u64) -> Said {
        self.said_within(call, LIMIT).unwrap_or_else(|| panic!("the call {call} has not ended"))
    }
}
