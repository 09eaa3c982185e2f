//! The answers to setup's questions.
//!
//! A file of answers is TOML. A secret in it is a reference: the path of a file. The first boot's page sends the same
//! answers as JSON, with the secrets' values. Each side refuses the other form: a file of answers holds no secret, and
//! a page cannot let root read a file.

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// All answers. A missing one is a question that setup asks, or its usual answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Answers {
    /// The board, as `pos-agent boards` lists it.
    pub board: Option<String>,
    /// The terminal id from the acquirer.
    pub terminal_id: Option<String>,
    /// The lines at the top of the receipt.
    pub merchant: Option<Vec<String>>,
    /// The country of the shop, or `none`.
    pub country: Option<String>,
    /// The currency of sales.
    pub currency: Option<String>,
    /// The maximum amount of one payment, or `none`.
    pub max_amount: Option<String>,
    /// The language of the terminal, for example `de`.
    pub language: Option<String>,
    /// The time zone of the shop, for example `Europe/Berlin`.
    pub time_zone: Option<String>,
    /// True if training is allowed, whose transactions read no card and move no money.
    pub training: Option<bool>,
    /// The reader's port.
    pub reader: Option<String>,
    /// The reader's protocol, if no search has found it.
    pub reader_protocol: Option<String>,
    /// The form of card data that the gateway decrypts. Only some protocols need it.
    pub sred_form: Option<String>,
    /// The country for the card, three digits. Only `verifone-vipa` needs it.
    pub terminal_country: Option<String>,
    /// The index of the acquirer in the reader's set-up. Only `verifone-vipa` needs it.
    pub acquirer: Option<String>,
    /// The printer; absent for none, if it was asked for.
    pub printer: Option<PrinterAnswers>,
    /// The gateway.
    pub gateway: GatewayAnswers,
    /// The till.
    pub till: Option<TillAnswers>,
    /// The cashier's page.
    pub page: Option<PageAnswers>,
    /// The operators.
    pub operator: Vec<OperatorAnswer>,
    /// What the board itself is told.
    pub system: Option<SystemAnswers>,
    /// The path of the journal; absent for the usual one. Only in a file of answers.
    pub journal: Option<String>,
}

/// The gateway's papers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct GatewayAnswers {
    /// The address, `https://…`.
    pub url: Option<String>,
    /// The gateway's id for this shop, 32 hexadecimal characters.
    pub entity_id: Option<String>,
    /// The CA of the gateway's certificate, PEM. It is no secret, but it is a file.
    pub ca: Option<Secret>,
    /// The bearer token.
    pub token: Option<Secret>,
    /// `live`, `external` or `internal`.
    pub mode: Option<String>,
}

/// The receipt printer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PrinterAnswers {
    /// The port, or `none`.
    pub port: String,
    /// Characters per line: 32, 42 or 48.
    #[serde(default)]
    pub columns: Option<u8>,
}

/// The till to connect. The fields are the options of `pos-agent setup` with the same names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct TillAnswers {
    /// `zvt`, `nexo`, `caisse-ap`, `page` or `none`.
    pub kind: Option<String>,
    /// The till's name.
    pub name: Option<String>,
    /// The addresses that the till may use.
    pub address: Option<Vec<String>>,
    /// The port at which the till finds the terminal.
    pub port: Option<String>,
    /// The password or passphrase.
    pub secret: Option<Secret>,
    /// POIID.
    pub poi_id: Option<String>,
    /// SaleID.
    pub sale_id: Option<String>,
    /// The key's identifier.
    pub key_identifier: Option<String>,
    /// The key's version.
    pub key_version: Option<String>,
    /// The name in the certificate, or `none`.
    pub certificate_name: Option<String>,
    /// The rights, separated by commas.
    pub rights: Option<String>,
    /// True if an operator must be signed in for this till, once operators are required.
    pub operator: Option<bool>,
}

/// The cashier's page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PageAnswers {
    /// Who may use the page without an operator: `nobody`, `board`, `paired` or `network`.
    pub without_sign_in: Option<String>,
    /// The shop's logo: SVG, PNG, JPEG or WebP. Its value is base64.
    pub logo: Option<Secret>,
}

/// An operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct OperatorAnswer {
    /// The name.
    pub name: String,
    /// `cashier`, `supervisor` or `technician`.
    pub role: String,
    /// The PIN, 4 to 12 digits.
    pub pin: Secret,
}

/// What the board itself is told, not the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct SystemAnswers {
    /// The servers for the time; empty for the usual ones.
    pub time_servers: Vec<String>,
    /// The Wi-Fi to join, where NetworkManager is there.
    pub wifi: Option<WifiAnswers>,
}

/// A wireless network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct WifiAnswers {
    /// The network's name.
    pub name: String,
    /// The password; absent for an open network.
    #[serde(default)]
    pub password: Option<Secret>,
}

/// A secret, or the content of a file: a reference or a value. `Debug` shows no value.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Secret {
    /// The path of a file with the value. Only in a file of answers.
    File(String),
    /// The value. Only from the first boot's page. It is wiped when it is dropped.
    Value(Zeroizing<String>),
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Value(value) => write!(f, "Value({} bytes)", value.len()),
        }
    }
}
