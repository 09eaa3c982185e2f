//! The hosted widget: `GET /v1/paymentWidgets.js` and the files that this script loads (behaviour: Hosted widget usage,
//! Fast checkout). The script is plain JavaScript without a build step. Every checkout gets the same bytes, so one hash
//! is valid for all.
//!
//! ```text
//!  the shop's page ── paymentWidgets.js ── draws the widget's own forms, one for each brand of data-brands
//!        └─ frame of the gateway ── frame.html, frame.js: number, holder, code, account: no script of the shop reads them
//!                 └─ POST /checkouts/{id}/payment ── redirect.url, or shopperResultUrl with id and resourcePath
//! ```
//!
//! Where the interface is silent, the gateway assumes the following:
//!
//! - The brands are the card brands of `card.number`, the means in `BRANDS` of `brands.js`, and the wallets `WALLET_A`
//!   to `WALLET_C`. The wallets' options are `wpwlOptions.walletA` to `walletC`, with the interface's names.
//! - An unknown brand is omitted, and an unknown option has no effect. The browser's console reports both.
//! - `wpwlOptions.locale` (or `language`) sets the language: one of the 25 codes, optionally followed by a country.
//!   With any other value, the texts are in English. `wpwlOptions.labels` replaces individual texts.
//! - `style` is `card`, `plain` or `none` (no style sheet); the button shows `checkout.amount`, which is never sent.
//! - `onBeforeSubmitCard` is called when the card fields are valid. If it returns false or throws an exception, the
//!   form is not submitted.
//! - Fields in the merchant's form (`customParameters[SHOPPER_…]`, `billing.…`) are sent with the other fields.
//! - If the answer to a payment is lost, the shopper goes to `shopperResultUrl` anyway, and the server asks for the
//!   outcome.
//! - The script of an unknown or expired checkout is not served.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use ring::digest;
use serde_json::json;

use super::delivery::{Asset, Delivery};
use super::host::Host;
use super::refusal::{Refusal, rule};
use pos_gateway_model::form;

/// The script. One function contains all its parts, so the script defines no global names on the page.
const SCRIPT: &str = concat!(
    "(() => {\n'use strict';\n",
    include_str!("languages.js"),
    include_str!("texts.js"),
    include_str!("brands.js"),
    include_str!("send.js"),
    include_str!("frame_form.js"),
    include_str!("wallet.js"),
    include_str!("start.js"),
    "})();\n"
);

/// The hash of exactly these bytes, as for the `integrity` attribute of a page.
static INTEGRITY: LazyLock<String> =
    LazyLock::new(|| format!("sha384-{}", STANDARD.encode(digest::digest(&digest::SHA384, SCRIPT.as_bytes()))));

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
/// The policy for the frame of the card fields. The frame loads only the gateway's files, and any shop may embed it.
const FRAME_POLICY: &str =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'";
/// The policy for a page in a frame that notifies the page around it.
const RETURN_POLICY: &str = "default-src 'none'; script-src 'self'; base-uri 'none'";

// The interface does not document the code for this refusal.
const EXPIRED: Refusal =
    rule("checkoutId", "200.300.404", "this checkout has expired: it was valid for 30 minutes; create another");

impl Asset {
    fn delivery(kind: &str, body: impl Into<Bytes>) -> Delivery {
        Delivery::Asset(Self { status: 200, headers: vec![("content-type", kind.to_owned())], body: body.into() })
    }

    fn page(policy: &str, body: impl Into<Bytes>) -> Delivery {
        let headers = vec![("content-type", HTML.to_owned()), ("content-security-policy", policy.to_owned())];
        Delivery::Asset(Self { status: 200, headers, body: body.into() })
    }
}

impl Host {
    /// Handles `GET /v1/paymentWidgets.js` with `checkoutId`, or without it for fast checkout.
    pub(super) fn script(&self, query: &[u8]) -> Result<Delivery, Refusal> {
        let asked = form::decode(query).unwrap_or_default();
        let checkout = asked.iter().find(|(name, _)| name == "checkoutId").map(|(_, id)| id.as_str());
        match checkout.map(|id| self.checkouts.is_open(id, self.clock.now())) {
            Some(None) => Err(Refusal::NotFound),
            Some(Some(false)) if !self.host_rules().books_all() => Err(EXPIRED),
            _ => Ok(Asset::delivery(JAVASCRIPT, SCRIPT)),
        }
    }
}

/// Returns the hash of the script, prefixed with its algorithm.
pub(super) fn integrity() -> &'static str {
    &INTEGRITY
}

/// Handles `GET /v1/fastcheckout/integrity`, whose answer has a single field.
pub(super) fn integrity_answer() -> Delivery {
    Delivery::Raw(200, json!({ "integrity": integrity() }).to_string().into_bytes())
}

/// Returns a file that the script loads, selected by its name.
pub(super) fn asset(name: &str) -> Option<Delivery> {
    Some(match name {
        "frame.html" => Asset::page(FRAME_POLICY, include_str!("frame.html")),
        "frame.js" => Asset::delivery(JAVASCRIPT, include_str!("frame.js")),
        "return.js" => Asset::delivery(JAVASCRIPT, include_str!("return.js")),
        "widget.css" => Asset::delivery("text/css; charset=utf-8", include_str!("widget.css")),
        "frame.css" => Asset::delivery("text/css; charset=utf-8", include_str!("frame.css")),
        _ => Asset::delivery("image/svg+xml", picture(name.strip_suffix(".svg")?)?),
    })
}

/// Draws the picture of a brand: its name on a card.
fn picture(brand: &str) -> Option<String> {
    let is_name = (1..=32).contains(&brand.len()) && brand.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
    let words = is_name.then(|| brand.replace('_', " "))?;
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 96 32\" role=\"img\"><title>{words}</title>\
         <rect width=\"96\" height=\"32\" rx=\"5\" fill=\"#24405e\"/><text x=\"48\" y=\"21\" text-anchor=\"middle\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#fff\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\">{words}\
         </text></svg>",
        (words.len() * 8).min(86)
    ))
}

/// Returns the methods and headers that a page of another origin may use.
pub(super) fn preflight() -> Delivery {
    let allowed = [
        ("access-control-allow-methods", "POST"),
        ("access-control-allow-headers", "content-type"),
        ("access-control-max-age", "600"),
    ];
    let headers = allowed.into_iter().map(|(name, value)| (name, value.to_owned())).collect();
    Delivery::Asset(Asset { status: 204, headers, body: Bytes::new() })
}

/// Makes a page for a frame of the widget. It tells the surrounding shop page where to continue.
pub(super) fn tell_the_page(checkout: &str, shop: &str, to: &str) -> Delivery {
    // The address needs no HTML escaping, because an encoded query contains neither quotes nor angle brackets.
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("checkout", checkout), ("shop", shop), ("to", to)])
        .finish()
        .replace('&', "&amp;");
    let page = format!("<!doctype html><title>Done</title><script src=\"/v1/widget/return.js?{query}\"></script>");
    Asset::page(RETURN_POLICY, page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_made_of_a_name_alone() {
        assert!(picture("VISA").is_some_and(|svg| svg.contains(">VISA<")));
        for name in ["", "<script>", "a b", &"x".repeat(33)] {
            assert!(picture(name).is_none(), "{name}");
        }
    }

    #[test]
    fn the_way_back_cannot_break_out_of_its_page() {
        let Delivery::Asset(page) = tell_the_page("id", "https://shop.test", "https://shop.test/\"><script>") else {
            panic!("a page")
        };
        let html = String::from_utf8(page.body.to_vec()).unwrap();
        assert_eq!(html.matches("<script").count(), 1, "{html}");
    }

    #[test]
    fn each_language_has_every_text() {
        let texts = include_str!("languages.js");
        // Names follow the beginning of a line or `', `.
        let names = |block: &str| -> Vec<String> {
            let words = block.split([' ', '\n']).filter_map(|word| word.strip_suffix(':'));
            let named = words.filter(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic()));
            let mut names: Vec<String> = named.map(str::to_owned).collect();
            names.sort();
            names
        };
        let (_, languages) = texts.split_once("const TEXTS = {\n").unwrap();
        let blocks: Vec<(&str, &str)> =
            languages.split("\n  },\n").filter_map(|block| block.trim().split_once(": {\n")).collect();
        let codes: Vec<&str> = blocks.iter().map(|(code, _)| *code).collect();
        let documented = "en de fr es it nl dk fi se tr ja sl pt pl cz hu bg ro ru cn gr no sk ar ko";
        assert_eq!(codes.join(" "), documented, "behaviour: Hosted widget usage, 3");
        let english = names(blocks[0].1);
        assert_eq!(english.len(), 24);
        for (code, block) in &blocks {
            assert_eq!(names(block), english, "{code}");
        }
    }
}
