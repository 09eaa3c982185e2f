//! The reader of answers and requests. It names every fault, not only the first.
//!
//! A file of answers and a request of the page have the same form, and this one reader reads both. It knows which of
//! them it reads: a file holds no secret, and a page names no file.

use std::cell::RefCell;

use serde_json::{Map, Value};
use zeroize::Zeroizing;

use self::table::{Table, fault};
use crate::answers::{
    Answers, GatewayAnswers, OperatorAnswer, PageAnswers, PrinterAnswers, Secret, SystemAnswers, TillAnswers,
    WifiAnswers,
};
use crate::message::{Fault, Request};

mod table;

/// The source of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file of a technician. A secret in it is the path of a file.
    File,
    /// The page of the first boot. A secret in it is a value.
    Page,
}

/// Reads answers.
///
/// # Errors
/// Returns all faults: unknown keys, values of a wrong kind, and secrets in the form of the other source.
pub fn answers(value: Value, source: Source) -> Result<Answers, Vec<Fault>> {
    let faults = RefCell::default();
    let answers = Table::of(value, String::new(), source, &faults).map(read_answers).unwrap_or_default();
    end(answers, faults)
}

/// Reads a request: one line of JSON.
///
/// # Errors
/// Returns all faults. The key of a fault is empty if the line is no request.
pub fn request(line: &[u8]) -> Result<Request, Vec<Fault>> {
    let no_request = |wrong: &str| vec![fault("", wrong, "send one request of the contract as one line of JSON")];
    let value = serde_json::from_slice(line).map_err(|_| no_request("is no JSON"))?;
    let (name, content) = match value {
        Value::String(name) => (name, Value::Object(Map::new())),
        Value::Object(object) if object.len() == 1 => {
            object.into_iter().next().ok_or_else(|| no_request("is no request"))?
        }
        _ => return Err(no_request("is no request")),
    };
    let faults = RefCell::default();
    let Some(mut table) = Table::of(content, String::new(), Source::Page, &faults) else {
        return Err(faults.into_inner());
    };
    let request = match name.as_str() {
        "state" => Request::State,
        "search" => Request::Search,
        "show" => Request::Show { urls: table.texts("urls").unwrap_or_default() },
        "enter" => Request::Enter { code: Zeroizing::new(table.needed("code")) },
        "try-printer" => Request::TryPrinter {
            port: table.needed("port"),
            columns: table.number("columns").unwrap_or_default(),
            text: table.needed("text"),
        },
        "try-reader" => Request::TryReader { port: table.needed("port"), text: table.needed("text") },
        "clock" => Request::Clock {
            time_zone: table.text("time-zone"),
            time_servers: table.texts("time-servers").unwrap_or_default(),
        },
        "wifi" => Request::Wifi(WifiAnswers { name: table.needed("name"), password: table.secret("password") }),
        "check" => return end(Request::Check(Box::new(read_answers(table))), faults),
        "write" => return end(Request::Write(Box::new(read_answers(table))), faults),
        _ => return Err(no_request("is no known request")),
    };
    table.end();
    end(request, faults)
}

fn end<T>(read: T, faults: RefCell<Vec<Fault>>) -> Result<T, Vec<Fault>> {
    let faults = faults.into_inner();
    if faults.is_empty() { Ok(read) } else { Err(faults) }
}

fn read_answers(mut table: Table<'_>) -> Answers {
    let answers = Answers {
        board: table.text("board"),
        terminal_id: table.text("terminal-id"),
        merchant: table.texts("merchant"),
        country: table.text("country"),
        currency: table.text("currency"),
        max_amount: table.text("max-amount"),
        language: table.text("language"),
        time_zone: table.text("time-zone"),
        training: table.truth("training"),
        reader: table.text("reader"),
        reader_protocol: table.text("reader-protocol"),
        sred_form: table.text("sred-form"),
        terminal_country: table.text("terminal-country"),
        acquirer: table.text("acquirer"),
        printer: table.table("printer").map(|mut table| {
            let printer = PrinterAnswers { port: table.needed("port"), columns: table.number("columns") };
            table.end();
            printer
        }),
        gateway: table.table("gateway").map(gateway).unwrap_or_default(),
        till: table.table("till").map(till),
        page: table.table("page").map(|mut table| {
            let page = PageAnswers { without_sign_in: table.text("without-sign-in"), logo: table.secret("logo") };
            table.end();
            page
        }),
        operator: table.tables("operator").into_iter().map(operator).collect(),
        system: table.table("system").map(system),
        journal: table.text("journal"),
    };
    if answers.journal.is_some() && table.source == Source::Page {
        table.tell("journal", "cannot be chosen on this page", "omit it, or use a file of answers");
    }
    table.end();
    answers
}

fn gateway(mut table: Table<'_>) -> GatewayAnswers {
    let gateway = GatewayAnswers {
        url: table.text("url"),
        entity_id: table.text("entity-id"),
        ca: table.secret("ca"),
        token: table.secret("token"),
        mode: table.text("mode"),
    };
    table.end();
    gateway
}

fn till(mut table: Table<'_>) -> TillAnswers {
    let till = TillAnswers {
        kind: table.text("kind"),
        name: table.text("name"),
        address: table.texts("address"),
        port: table.text("port"),
        secret: table.secret("secret"),
        poi_id: table.text("poi-id"),
        sale_id: table.text("sale-id"),
        key_identifier: table.text("key-identifier"),
        key_version: table.text("key-version"),
        certificate_name: table.text("certificate-name"),
        rights: table.text("rights"),
        operator: table.truth("operator"),
    };
    table.end();
    till
}

fn operator(mut table: Table<'_>) -> OperatorAnswer {
    if !table.fields.contains_key("pin") {
        table.missing("pin");
    }
    let (name, role, pin) = (table.needed("name"), table.needed("role"), table.secret("pin"));
    table.end();
    OperatorAnswer { name, role, pin: pin.unwrap_or_else(|| Secret::Value(Zeroizing::default())) }
}

fn system(mut table: Table<'_>) -> SystemAnswers {
    let wifi = table.table("wifi").map(|mut table| {
        let wifi = WifiAnswers { name: table.needed("name"), password: table.secret("password") };
        table.end();
        wifi
    });
    let system = SystemAnswers { time_servers: table.texts("time-servers").unwrap_or_default(), wifi };
    table.end();
    system
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secret(source: Source, text: &str) -> Secret {
        match source {
            Source::File => Secret::File(text.to_owned()),
            Source::Page => Secret::Value(Zeroizing::new(text.to_owned())),
        }
    }

    /// Returns answers in which no field is empty.
    fn full(source: Source) -> Answers {
        let text = |text: &str| Some(text.to_owned());
        let secret = |text| secret(source, text);
        Answers {
            board: text("raspberry-pi"),
            terminal_id: text("12345678"),
            merchant: Some(vec!["Shop".to_owned(), "Street".to_owned()]),
            country: text("FR"),
            currency: text("EUR"),
            max_amount: text("5000.00"),
            language: text("fr"),
            time_zone: text("Europe/Paris"),
            training: Some(true),
            reader: text("/dev/ttyACM0"),
            reader_protocol: text("verifone-vipa"),
            sred_form: text("iv-first"),
            terminal_country: text("276"),
            acquirer: text("65"),
            printer: Some(PrinterAnswers { port: "/dev/usb/lp0".to_owned(), columns: Some(42) }),
            gateway: GatewayAnswers {
                url: text("https://gateway.example"),
                entity_id: text("0"),
                ca: Some(secret("ca")),
                token: Some(secret("token")),
                mode: text("live"),
            },
            till: Some(TillAnswers {
                kind: text("nexo"),
                name: text("kasse-1"),
                address: Some(vec!["192.168.1.20".to_owned()]),
                port: text("8443"),
                secret: Some(secret("passphrase")),
                poi_id: text("a"),
                sale_id: text("b"),
                key_identifier: text("c"),
                key_version: text("1"),
                certificate_name: text("none"),
                rights: text("sale"),
                operator: Some(true),
            }),
            page: Some(PageAnswers { without_sign_in: text("nobody"), logo: Some(secret("logo")) }),
            operator: vec![OperatorAnswer { name: "Anna".to_owned(), role: "cashier".to_owned(), pin: secret("8624") }],
            system: Some(SystemAnswers {
                time_servers: vec!["pool.ntp.org".to_owned()],
                wifi: Some(WifiAnswers { name: "Shop".to_owned(), password: Some(secret("password")) }),
            }),
            journal: (source == Source::File).then(|| "/data/journal.db".to_owned()),
        }
    }

    #[test]
    fn what_the_contract_writes_is_read_as_it_was() {
        for source in [Source::File, Source::Page] {
            let full = full(source);
            assert_eq!(answers(serde_json::to_value(&full).unwrap(), source).unwrap(), full);
        }
        assert_eq!(answers(json!({}), Source::File).unwrap(), Answers::default());
        let requests = [
            Request::State,
            Request::Search,
            Request::Show { urls: vec!["https://pos.local:8443/".to_owned()] },
            Request::Enter { code: Zeroizing::new("12345678".to_owned()) },
            Request::TryPrinter { port: "/dev/usb/lp0".to_owned(), columns: 42, text: "Hello".to_owned() },
            Request::TryReader { port: "/dev/ttyACM0".to_owned(), text: "Hello".to_owned() },
            Request::Clock { time_zone: None, time_servers: Vec::new() },
            Request::Wifi(WifiAnswers { name: "Shop".to_owned(), password: None }),
            Request::Check(Box::default()),
            Request::Write(Box::new(full(Source::Page))),
        ];
        for sent in requests {
            let line = serde_json::to_vec(&sent).unwrap();
            assert_eq!(request(&line).unwrap(), sent);
            // The derived reader of the contract agrees.
            assert_eq!(serde_json::from_slice::<Request>(&line).unwrap(), sent);
        }
    }

    #[test]
    fn every_fault_is_named_with_its_key() {
        let wrong = json!({
            "terminal": "1", "merchant": "Shop", "printer": { "columns": 300 }, "gateway": { "tokn": { "file": "/t" } },
            "till": [], "operator": [{ "name": 1, "role": "cashier" }, "Anna"], "system": { "wifi": {} },
        });
        let faults = answers(wrong, Source::File).unwrap_err();
        let keys: Vec<_> = faults.iter().map(|fault| fault.key.as_str()).collect();
        let expected = [
            "merchant",
            "printer.port",
            "printer.columns",
            "gateway.tokn",
            "till",
            "operator[1]",
            "operator[0].pin",
            "operator[0].name",
            "system.wifi.name",
            "terminal",
        ];
        assert_eq!(keys, expected, "{faults:?}");
        for line in ["", "{}", "[]", "\"stat\"", "{\"enter\":{}}", "{\"state\":{\"a\":1}}", "{\"check\":{\"a\":1}}"] {
            assert!(request(line.as_bytes()).is_err(), "{line}");
        }
    }

    #[test]
    fn a_page_names_no_file_and_a_file_holds_no_secret() {
        for (source, other) in [(Source::File, Source::Page), (Source::Page, Source::File)] {
            let faults = answers(serde_json::to_value(full(other)).unwrap(), source).unwrap_err();
            let keys: Vec<_> = faults.iter().map(|fault| fault.key.as_str()).collect();
            let mut secrets = vec![
                "gateway.ca",
                "gateway.token",
                "till.secret",
                "page.logo",
                "operator[0].pin",
                "system.wifi.password",
            ];
            // A page does not choose where root writes the journal.
            secrets.extend((source == Source::Page).then_some("journal"));
            let (mut keys, mut secrets) = (keys, secrets);
            keys.sort_unstable();
            secrets.sort_unstable();
            assert_eq!(keys, secrets);
        }
        let both = json!({ "gateway": { "token": { "file": "/t", "value": "v" } } });
        for source in [Source::File, Source::Page] {
            assert_eq!(answers(both.clone(), source).unwrap_err()[0].key, "gateway.token");
        }
    }
}
