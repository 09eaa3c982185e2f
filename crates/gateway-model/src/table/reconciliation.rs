//! A line of the reconciliation file, with the interface's names of its columns (interface: Reconciliation file) and
//! the names in its header. `ShortId` has no other name. Two columns contain the data of either a card or a bank
//! account.

use super::{AMOUNT, Binds, Call, CharacterSet, Format, ID, Section, an, c, letters, o, of, one_of, r, section, text};

pub(super) const SECTION: Section = section(
    "reconciliation",
    "Reconciliation file",
    &[
        r("recordType", one_of(&["SETTLED", "CHARGEBACK", "CHARGEBACK REVERSAL", "FEE"]), "kind of line")
            .column("ReconciliationType"),
        r(
            "transactionType",
            one_of(&[
                "DEBIT",
                "CREDIT",
                "REFUND",
                "BATCH",
                "MONTHLY",
                "SUBMERCHANT",
                "PAYMENT_FACILITATOR",
                "AUTH_FEE",
                "CAPTURE_FEE",
                "CANCEL_FEE",
                "REFUND_FEE",
            ]),
            "what was settled",
        )
        .column("PaymentType"),
        r(
            "settlement.cashflow",
            one_of(&["POS", "NEG"]),
            "direction of the money: POS to the merchant, NEG from the merchant",
        )
        .column("Cashflow"),
        r("clearingInstitute.merchantId", text(5, 64), "the merchant's id at the clearing institute")
            .column("ClearingInstituteMerchantId"),
        r("merchantAccount.id", ID, "id of the merchant account").column("MerchantAccountId"),
        o("merchantAccount.name", an(32), "name of the merchant account").column("MerchantAccountName"),
        r("pspEntityId", ID, "id of the payment service").column("PspId"),
        o("divisionEntityId", ID, "id of the division").column("DivisionId"),
        r("merchantEntityId", ID, "id of the merchant").column("MerchantId"),
        o("settlement.id", an(64), "id of the settlement").column("SettlementTxId"),
        o("payment.id", ID, "id of the payment").column("UniqueID"),
        o("ShortId", an(14), "short id of the payment").column("ShortId"),
        o("clearingInstitute.txId1", an(64), "the clearing institute's first reference").column("ConnectorTxId1"),
        o("clearingInstitute.txId2", an(64), "the clearing institute's second reference").column("ConnectorTxId2"),
        o("clearingInstitute.txId3", an(64), "the clearing institute's third reference").column("ConnectorTxId3"),
        r("merchantTransactionId", text(8, 255), "the gateway reference").column("TransactionId"),
        o("merchantInvoiceId", text(8, 255), "number of the invoice").column("InvoiceId"),
        r("amount", AMOUNT, "amount of the payment").column("Amount"),
        r("currency", letters(3), "currency of the payment, ISO 4217").column("Currency"),
        o("paymentBrand", of(CharacterSet::Letters, 16), "brand of the payment method").column("Brand"),
        o("presentmentDate", an(255), "time of the request, in the clearing institute's time").column("TxRequestTime"),
        r("settlement.amount", AMOUNT, "amount that is paid out").column("SettlementAmount"),
        r("settlement.currency", letters(3), "currency of the settlement, ISO 4217").column("SettlementCurrency"),
        o("settlement.fee", AMOUNT, "fee that is kept").column("SettlementFee"),
        r("settlement.fxRate", AMOUNT, "exchange rate between the currencies").column("SettlementFxRate"),
        r("settlement.date", an(255), "date of the settlement, in the clearing institute's time")
            .column("SettlementDate"),
        r("settlement.status", one_of(&["SUCCESS", "FAILED"]), "whether it was paid out").column("SettlementStatus"),
        o("descriptor", an(128), "text on the customer's statement").column("Descriptor"),
        o("card.last4Digits", text(1, 4), "last four digits of a card").column("AccountNumberLast4"),
        o("bankAccount.last4Digits", text(1, 4), "last four characters of a bank account").column("AccountNumberLast4"),
        o("bankAccount.bankCode", an(12), "code of the bank").column("BankCode"),
        o("card.holder", an(128), "name on the card").column("AccountHolder").secret(),
        o("bankAccount.holder", an(128), "holder of the account").column("AccountHolder").secret(),
        o("result.code", Format::Chars(CharacterSet::DigitsDots, 2, 11), "reason code of a chargeback")
            .column("ReasonCode"),
        o("result.description", an(128), "meaning of a chargeback's reason code").column("ReasonDesc"),
        r("settlement.format", an(32), "format of the acquirer's file").column("SettlementFileFormat"),
        r("clearingInstitute.name", an(64), "name of the clearing institute").column("ClearingInsitituteName"),
        c(
            "matchedTransactions.status",
            one_of(&["MATCHED", "MULTIPLE_MATCHES", "NOT_MATCHED"]),
            "whether the payment was found",
        )
        .column("MatchingStatus"),
        c("matchedTransactions.payment[n].id", ID, "id of a payment that was found").column("MatchedTransactions"),
        c("chargebackTransaction.id", ID, "id of the chargeback, once it is matched").column("ChargebackId"),
    ],
)
.response()
.of(Call::Reconciliation)
.binds(Binds::Always(&[Call::Reconciliation]));
