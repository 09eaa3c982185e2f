//! The simulated phone of a mobile wallet: it shows the amount of the checkout and returns a token for it. In a real
//! shop, the wallet's script on the shop's page does this. Here the widget's frame asks the gateway.

use serde_json::json;

use super::Purpose;
use crate::delivery::Delivery;
use crate::envelope;
use crate::host::Host;
use crate::invalid::Invalid;
use crate::provider;
use crate::refusal::Refusal;
use pos_gateway_model::form;

/// The card in every wallet, with its expiry (YYMM).
const CARD: (&str, &str) = ("4111111111111111", "3412");

impl Host {
    /// Handles `GET /v1/widget/wallet` with the parameters `checkout` and `wallet`; `wallet` is the prefix of the
    /// wallet's parameters.
    pub(crate) fn wallet_sheet(&self, query: &[u8]) -> Result<Delivery, Refusal> {
        let asked = form::decode(query).unwrap_or_default();
        let get = |wanted: &str| asked.iter().find(|(name, _)| name == wanted).map_or("", |(_, value)| value.as_str());
        let checkout = self.checkout(get("checkout"), Purpose::Payment)?;
        let said = |name| checkout.get(name).unwrap_or_default();
        let (amount, currency) = (said("amount"), said("currency"));
        let token = provider::wallet_token(get("wallet"), CARD.0, CARD.1, amount, currency);
        let token = token.ok_or_else(|| Invalid::new("wallet", "the wallet gives no token"))?;
        let sheet = json!({ "amount": amount, "currency": currency, "token": token });
        Ok(Delivery::Raw(200, envelope::text(&sheet).into_bytes()))
    }
}
