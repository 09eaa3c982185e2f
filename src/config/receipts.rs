//! The settings for customers' receipts, and the countries whose law restricts printing.

use serde::Deserialize;

use pos_daemon::settings::{FaultList, check, ensure};

use super::{Config, Template, Terminal};

/// The customers' receipts.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Receipts {
    /// The way to give a customer the copy of an approved sale. Without this key, it is `ask` in France and `print`
    /// elsewhere. All other receipts follow `copies` of `[[printer]]`. A till that prints receipts itself gets both
    /// copies and must obey the law itself.
    pub customer: Option<CustomerCopy>,
    /// The address of a receipt on the shop's or the till's server, with the placeholders of `qr`. The page shows it as
    /// a QR code, and webhooks send the receipt.
    #[cfg_attr(feature = "docs", schemars(with = "Option<String>"))]
    pub receipt_url: Option<Template>,
}

/// The ways to give a customer the copy of an approved sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema, serde::Serialize))]
#[serde(rename_all = "kebab-case")]
pub enum CustomerCopy {
    /// Printed, if `copies` of a printer includes it.
    Print,
    /// Printed only on demand. The page offers it after the sale.
    Ask,
    /// Not printed automatically, and not offered after the sale.
    None,
}

impl Config {
    /// Returns the way to give a customer the copy of an approved sale, which the country decides if the file does not.
    #[must_use]
    pub fn customer_copy(&self) -> CustomerCopy {
        let by_country = if prints_on_demand(&self.terminal) { CustomerCopy::Ask } else { CustomerCopy::Print };
        self.receipts.customer.unwrap_or(by_country)
    }
}

/// Checks the section and the terminal's country.
pub(super) fn check_values(found: &mut FaultList, receipts: &Receipts, terminal: &Terminal) {
    if let Some(country) = &terminal.country {
        found.add(check(
            countries().any(|known| known == country.as_bytes()),
            "terminal.country",
            "is not a country code of ISO 3166-1",
            "write two capital letters, such as \"FR\"",
        ));
    }
    let forbidden = receipts.customer == Some(CustomerCopy::Print) && prints_on_demand(terminal);
    found.add(ensure(!forbidden, "receipts.customer", || {
        let country = terminal.country.as_deref().unwrap_or_default();
        let wrong = format!(
            "\"print\" is forbidden in {country}: receipts of sales are printed on demand only (décret n° 2022-1565)"
        );
        (wrong, "write \"ask\" or \"none\", or omit the key for \"ask\"".to_owned())
    }));
    if let Some(url) = &receipts.receipt_url {
        found.add(url.check_address("receipts.receipt-url"));
    }
}

/// Returns whether the law forbids printing each customer's copy of a sale. This is so in France since 1 August 2023,
/// with its overseas departments (code de l'environnement, L. 541-15-10 IV). Cancelled, unsuccessful and pre-authorised
/// payments and credits are exempt (D. 541-371).
fn prints_on_demand(terminal: &Terminal) -> bool {
    matches!(terminal.country.as_deref(), Some("FR" | "GF" | "GP" | "MQ" | "RE" | "YT"))
}

fn countries() -> impl Iterator<Item = &'static [u8]> {
    COUNTRIES.as_bytes().chunks(2)
}

/// The codes of ISO 3166-1 alpha-2, one after another. A mistyped code must not switch off a country's law.
const COUNTRIES: &str = "ADAEAFAGAIALAMAOAQARASATAUAWAXAZBABBBDBEBFBGBHBIBJBLBMBNBOBQBRBSBTBVBWBYBZCACCCDCFCGCHCICK\
    CLCMCNCOCRCUCVCWCXCYCZDEDJDKDMDODZECEEEGEHERESETFIFJFKFMFOFRGAGBGDGEGFGGGHGIGLGMGNGPGQGRGSGTGUGWGYHKHMHNHRHTHU\
    IDIEILIMINIOIQIRISITJEJMJOJPKEKGKHKIKMKNKPKRKWKYKZLALBLCLILKLRLSLTLULVLYMAMCMDMEMFMGMHMKMLMMMNMOMPMQMRMSMTMUMV\
    MWMXMYMZNANCNENFNGNINLNONPNRNUNZOMPAPEPFPGPHPKPLPMPNPRPSPTPWPYQARERORSRURWSASBSCSDSESGSHSISJSKSLSMSNSOSRSSSTSV\
    SXSYSZTCTDTFTGTHTJTKTLTMTNTOTRTTTVTWTZUAUGUMUSUYUZVAVCVEVGVIVNVUWFWSYEYTZAZMZW";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_listed_once_in_order() {
        let codes: Vec<_> = countries().collect();
        assert_eq!(codes.len(), 249, "ISO 3166-1 has 249 officially assigned codes");
        assert!(codes.is_sorted_by(|one, next| one < next));
        assert!(codes.iter().all(|code| code.len() == 2 && code.iter().all(u8::is_ascii_uppercase)));
    }
}
