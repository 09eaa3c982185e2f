//! A line of the reconciliation file, by the names that its columns have in the interface (interface: Reconciliation file).
//! `ShortId` has no other name. The meaning begins with the column.

use super::{AMOUNT, Binds, Call, Format, ID, Of, Section, an, c, letters, o, of, one_of, r, section, text};

pub(super) const SECTION: Section = section(
    "reconciliation",
    "Reconciliation file",
    &[
        r(
            "recordType",
            one_of(&["SETTLED", "CHARGEBACK", "CHARGEBACK REVERSAL", "FEE"]),
            "ReconciliationType: kind of line",
        ),
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
            "PaymentType: what was settled",
        ),
        r("settlement.cashflow", one_of(&["POS", "NEG"]), "Cashflow: to us or from us"),
        r("clearingInstitute.merchantId", text(5, 64), "ClearingInstituteMerchantId: we, at the clearing institute"),
        r("merchantAccount.id", ID, "MerchantAccountId: the account"),
        o("merchantAccount.name", an(32), "MerchantAccountName: its name"),
        r("pspEntityId", ID, "PspId: the payment service"),
        o("divisionEntityId", ID, "DivisionId: the division"),
        r("merchantEntityId", ID, "MerchantId: the merchant"),
        o("settlement.id", an(64), "SettlementTxId: the settlement"),
        o("payment.id", ID, "UniqueID: the payment"),
        o("ShortId", an(14), "ShortId: the payment, in short"),
        o("clearingInstitute.txId1", an(64), "ConnectorTxId1: the clearing institute's first reference"),
        o("clearingInstitute.txId2", an(64), "ConnectorTxId2: the clearing institute's second reference"),
        o("clearingInstitute.txId3", an(64), "ConnectorTxId3: the clearing institute's third reference"),
        r("merchantTransactionId", text(8, 255), "TransactionId: our reference"),
        o("merchantInvoiceId", text(8, 255), "InvoiceId: the invoice"),
        r("amount", AMOUNT, "Amount: of the payment"),
        r("currency", letters(3), "Currency: of the payment, ISO 4217"),
        o("paymentBrand", of(Of::Letters, 16), "Brand: how was paid"),
        o("presentmentDate", an(255), "TxRequestTime: when we asked, in the clearing institute's time"),
        r("settlement.amount", AMOUNT, "SettlementAmount: what is paid out"),
        r("settlement.currency", letters(3), "SettlementCurrency: ISO 4217"),
        o("settlement.fee", AMOUNT, "SettlementFee: what is kept"),
        r("settlement.fxRate", AMOUNT, "SettlementFxRate: rate between the currencies"),
        r("settlement.date", an(255), "SettlementDate: in the clearing institute's time"),
        r("settlement.status", one_of(&["SUCCESS", "FAILED"]), "SettlementStatus: whether it was paid out"),
        o("descriptor", an(128), "Descriptor: text on the customer's statement"),
        o("card.last4Digits", text(1, 4), "AccountNumberLast4: last four digits of a card"),
        o("bankAccount.last4Digits", text(1, 4), "AccountNumberLast4: last four characters of a bank account"),
        o("bankAccount.bankCode", an(12), "BankCode: the bank"),
        o("card.holder", an(128), "AccountHolder: name on the card").secret(),
        o("bankAccount.holder", an(128), "AccountHolder: whose account it is").secret(),
        o("result.code", Format::Chars(Of::DigitsDots, 2, 11), "ReasonCode: of a chargeback"),
        o("result.description", an(128), "ReasonDesc: of a chargeback"),
        r("settlement.format", an(32), "SettlementFileFormat: form of the acquirer's file"),
        r("clearingInstitute.name", an(64), "ClearingInsitituteName: the clearing institute"),
        c(
            "matchedTransactions.status",
            one_of(&["MATCHED", "MULTIPLE_MATCHES", "NOT_MATCHED"]),
            "MatchingStatus: whether the payment was found",
        ),
        c("matchedTransactions.payment[n].id", ID, "MatchedTransactions: a payment that was found"),
        c("chargebackTransaction.id", ID, "ChargebackId: the chargeback, once it is matched"),
    ],
)
.response()
.of(Call::Reconciliation)
.binds(Binds::Always(&[Call::Reconciliation]));
