//! Reports, chargebacks and the query (interface: Reporting parameters, Chargeback, Query parameters).

use super::{BOOL, Binds, Call, Format, Section, an, o, one_of, r, section};

pub(super) const REPORT: Section = section(
    "report",
    "Reporting parameters",
    &[
        r("date.from", Format::Date, "first day of the report"),
        r("date.to", Format::Date, "last day of the report"),
        o("sortValue", one_of(&["SettlementTxDate"]), "field by which the report is sorted"),
        o("sortOrder", one_of(&["ASC", "DESC", "asc", "desc"]), "ascending or descending"),
    ],
)
.of(Call::Report)
.binds(Binds::Always(&[Call::Report]));

pub(super) const CHARGEBACK: Section = section(
    "chargeback",
    "Chargeback",
    &[o("chargebackResultCode", Format::ChargebackCode, "reason for the chargeback")],
);

pub(super) const QUERY: Section = section(
    "query",
    "Query parameters",
    &[
        o("merchantTransactionId", an(255), "the gateway reference; not together with a time frame"),
        o("limit", Format::Number(100, 500), "maximum number of transactions in the answer; 100 if omitted"),
        o("date.from", Format::Moment, "where the time frame begins"),
        o("date.to", Format::Moment, "where the time frame ends"),
        o(
            "paymentTypes",
            Format::List(&[
                "CB", "CD", "CR", "DB", "CP", "IV", "PA", "RB", "RC", "RF", "RL", "RV", "AD", "IN", "FI", "CL", "CF",
                "DR", "RG", "RR", "TE", "CT", "DS", "RS", "SD", "AC", "MD", "EA", "RI", "3D", "SA", "EN", "ID", "IC",
                "DP", "CG", "TG", "SF", "IS", "VD", "DV", "AF", "GK", "RD", "TM", "FT", "KT", "AR", "AL", "PL", "FN",
                "FZ", "RE", "RX", "FO", "CS", "EX", "SE", "AU", "TK", "TF", "ER",
            ]),
            "only transactions of these types",
        ),
        o(
            "paymentMethods",
            Format::List(&["DD", "CT", "CC", "WA", "VA", "UA", "OT", "DC", "ET", "NT", "IV", "PP", "OD", "RM"]),
            "only transactions with these methods",
        ),
        o("includeLinkedTransactions", BOOL, "also returns the transactions that refer to those found"),
        o("shortId", an(14), "only the transaction with this short id"),
    ],
)
.of(Call::Query);
