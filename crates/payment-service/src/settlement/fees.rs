//! The acquirer's fees, in cents of the merchant's account. The interface only names the kinds of fees. Our choice is
//! when each fee is charged.

use crate::books::Booking;
use crate::entry::Kind;

/// The kind of a fee, and its price.
pub(super) type Fee = (&'static str, u64);

/// The fee for each file with a settlement.
pub(super) const BATCH: Fee = ("BATCH", 10);
/// The fee for each month with an entry, in the file after the month's last day.
pub(super) const MONTHLY: Fee = ("MONTHLY", 1500);

/// Returns the fees for a payment, without the percentage, which is in the settlement record.
pub(super) fn of(booking: &Booking) -> impl Iterator<Item = Fee> {
    let entry = &booking.entry;
    let approved = entry.has_moved();
    let by_kind = match entry.kind {
        Kind::PreAuthorisation => Some(("AUTH_FEE", 3)),
        Kind::Capture => Some(("CAPTURE_FEE", 2)),
        Kind::Reversal => Some(("CANCEL_FEE", 5)),
        Kind::Refund => Some(("REFUND_FEE", 25)),
        _ => None,
    };
    let has = |name: &str| entry.parameters.iter().any(|sent| sent == name);
    let by_merchant = [
        has("merchant.submerchantId").then_some(("SUBMERCHANT", 2)),
        has("merchant.payFacId").then_some(("PAYMENT_FACILITATOR", 4)),
    ];
    by_kind.into_iter().chain(by_merchant.into_iter().flatten()).filter(move |_| approved)
}

/// Returns the fee for settling a sale: a percentage by brand (in hundredths of a per cent) plus five cents, rounded
/// half up.
pub(super) fn on_sale(brand: Option<&str>, settled: u64) -> u64 {
    let rate = match brand {
        Some("VISA" | "MASTER" | "MAESTRO") => 90,
        Some("AMEX" | "DINERS") => 250,
        _ => 120,
    };
    settled.saturating_mul(rate).saturating_add(5_000) / 10_000 + 5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sale_costs_its_percentage_and_five_cents() {
        for (brand, settled, fee) in
            [(Some("VISA"), 1234, 16), (Some("AMEX"), 1234, 36), (None, 100, 6), (Some("VISA"), 0, 5)]
        {
            assert_eq!(on_sale(brand, settled), fee, "{brand:?} {settled}");
        }
    }
}
