//! The operators' roles. An operator at a counter needs a sufficient role, in addition to the right of the till
//! (`till/rights.rs`). This module also defines the amounts above which a supervisor must confirm a cashier's
//! transaction.
//!
//! | | cashier | supervisor | technician |
//! |---|---|---|---|
//! | view transactions, receipts, lists, sums and the terminal | yes | yes | yes |
//! | begin a transaction, cancel it, accept or refuse its signature | yes, up to the configured amounts | yes | no |
//! | resolve a transaction that waits for a person | no | yes | no |
//! | ask the gateway which payments it holds | no | yes | yes |
//! | unlock an operator | no | yes | yes |
//! | change how much is logged | no | no | yes |
//! | add and remove operators, set their PINs | no | no | yes |

use serde::{Deserialize, Serialize};

use pos_terms::money::Amount;
use pos_terms::transaction::Kind;

/// The role of an operator at the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Takes payments.
    Cashier,
    /// Takes payments, and confirms the transactions for which a cashier needs a supervisor.
    Supervisor,
    /// Maintains the terminal and manages its operators, but moves no money.
    Technician,
}

/// A category of requests to the terminal. Each role has the right to some categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// View transactions, receipts, sums and the terminal, print a receipt again, and sign in.
    Look,
    /// Begin or cancel a transaction, accept or refuse its signature, allow a typed amount, and make a close of day.
    Money,
    /// Resolve a transaction that waits for a person.
    Settle,
    /// Ask the gateway which payments it holds.
    AskGateway,
    /// Let an operator try the PIN again immediately.
    Unlock,
    /// Change how much is logged.
    Service,
    /// Add and remove operators, and set their PINs.
    ManageOperators,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 3] = [Self::Cashier, Self::Supervisor, Self::Technician];

    /// Returns the word that programs and people use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cashier => "cashier",
            Self::Supervisor => "supervisor",
            Self::Technician => "technician",
        }
    }

    /// Returns the role with this name.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }

    /// Returns whether the role has this right.
    #[must_use]
    pub fn may(self, deed: Deed) -> bool {
        deed.roles().contains(&self)
    }
}

impl Deed {
    /// Returns the roles that have this right.
    #[must_use]
    pub fn roles(self) -> &'static [Role] {
        use Role::{Cashier, Supervisor, Technician};
        match self {
            Self::Look => &[Cashier, Supervisor, Technician],
            Self::Money => &[Cashier, Supervisor],
            Self::Settle => &[Supervisor],
            Self::AskGateway | Self::Unlock => &[Supervisor, Technician],
            Self::Service | Self::ManageOperators => &[Technician],
        }
    }
}

/// The amounts for which a cashier needs a supervisor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NeedsSupervisor {
    /// No amount needs a supervisor.
    #[default]
    Never,
    /// Amounts above this one need a supervisor.
    Above(Amount),
    /// Every amount needs a supervisor.
    Always,
}

/// The amounts above which a cashier needs a supervisor, by kind of transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SupervisorAbove {
    /// A sale, a charge of a stored card, and storing or deleting a card.
    pub sale: NeedsSupervisor,
    /// A pre-authorisation, an increment and a reauthorisation.
    pub pre_authorisation: NeedsSupervisor,
    /// A capture.
    pub capture: NeedsSupervisor,
    /// A refund.
    pub refund: NeedsSupervisor,
    /// A credit.
    pub credit: NeedsSupervisor,
    /// A reversal of a transaction from an earlier day. A cashier may reverse a transaction of the same day without a
    /// supervisor.
    pub reversal: NeedsSupervisor,
}

impl SupervisorAbove {
    /// Returns whether a supervisor must confirm a transaction of this kind and amount. For a reversal, `of_today` says
    /// whether the reversed transaction began today. Amounts in different currencies cannot be compared, so a
    /// supervisor must then confirm.
    #[must_use]
    pub fn needs_supervisor(&self, kind: Kind, amount: Amount, of_today: bool) -> bool {
        let needs = match kind {
            Kind::Sale | Kind::ByRegistration | Kind::StoreCard | Kind::ForgetCard => self.sale,
            Kind::PreAuthorisation | Kind::PreAuthorisationByRegistration | Kind::Increment | Kind::Reauthorisation => {
                self.pre_authorisation
            }
            Kind::Capture => self.capture,
            Kind::Refund => self.refund,
            Kind::Credit => self.credit,
            Kind::Reversal if of_today => NeedsSupervisor::Never,
            Kind::Reversal => self.reversal,
        };
        match needs {
            NeedsSupervisor::Never => false,
            NeedsSupervisor::Above(limit) => limit.currency() != amount.currency() || amount.minor() > limit.minor(),
            NeedsSupervisor::Always => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pos_terms::money::Currency;

    const DEEDS: [Deed; 7] =
        [Deed::Look, Deed::Money, Deed::Settle, Deed::AskGateway, Deed::Unlock, Deed::Service, Deed::ManageOperators];

    /// The table from the module documentation, written a second time: one row per role, and one letter per right.
    #[test]
    fn each_role_may_do_what_the_table_says() {
        for (role, row) in [(Role::Cashier, "yynnnnn"), (Role::Supervisor, "yyyyynn"), (Role::Technician, "ynnyyyy")] {
            for (deed, may) in DEEDS.into_iter().zip(row.chars()) {
                assert_eq!(role.may(deed), may == 'y', "{role:?} {deed:?}");
            }
        }
    }

    #[test]
    fn roles_are_read_as_they_are_written() {
        for role in Role::ALL {
            assert_eq!(Role::from_word(role.as_str()), Some(role));
            assert_eq!(serde_json::to_value(role).unwrap(), role.as_str());
        }
        assert_eq!(Role::from_word("Cashier"), None);
    }

    fn eur(text: &str) -> Amount {
        Amount::parse(text, Currency::from_code("EUR").unwrap()).unwrap()
    }

    #[test]
    fn a_supervisor_confirms_above_the_amount_and_not_at_it() {
        let (refund, sale) = (NeedsSupervisor::Above(eur("20.00")), NeedsSupervisor::Above(eur("500.00")));
        let above = SupervisorAbove { refund, sale, ..SupervisorAbove::default() };
        let needs = |kind, amount: &str| above.needs_supervisor(kind, eur(amount), false);
        assert!(!needs(Kind::Refund, "20.00") && needs(Kind::Refund, "20.01"));
        for kind in [Kind::Sale, Kind::ByRegistration] {
            assert!(!needs(kind, "500.00") && needs(kind, "500.01"), "{kind:?}");
        }
        for kind in [Kind::Capture, Kind::Credit, Kind::PreAuthorisation, Kind::Increment, Kind::Reauthorisation] {
            assert!(!needs(kind, "99999.99"), "{kind:?} has no limit");
        }
        let dollars = Amount::parse("1.00", Currency::from_code("USD").unwrap()).unwrap();
        assert!(above.needs_supervisor(Kind::Refund, dollars, false), "not to be compared");
        assert!(!above.needs_supervisor(Kind::Capture, dollars, false));
    }

    #[test]
    fn what_was_done_today_a_cashier_undoes_alone() {
        let above = SupervisorAbove { reversal: NeedsSupervisor::Always, ..SupervisorAbove::default() };
        assert!(!above.needs_supervisor(Kind::Reversal, eur("80.00"), true));
        assert!(above.needs_supervisor(Kind::Reversal, eur("0.01"), false));
    }

    /// Each kind uses exactly one of the configured amounts.
    #[test]
    fn each_kind_asks_for_its_own_amount_alone() {
        let of = |kind| match kind {
            Kind::Sale | Kind::ByRegistration | Kind::StoreCard | Kind::ForgetCard => 0,
            Kind::PreAuthorisation | Kind::PreAuthorisationByRegistration => 1,
            Kind::Increment | Kind::Reauthorisation => 1,
            Kind::Capture => 2,
            Kind::Refund => 3,
            Kind::Credit => 4,
            Kind::Reversal => 5,
        };
        for set in 0..6 {
            let only = |nth| if set == nth { NeedsSupervisor::Always } else { NeedsSupervisor::Never };
            let above = SupervisorAbove {
                sale: only(0),
                pre_authorisation: only(1),
                capture: only(2),
                refund: only(3),
                credit: only(4),
                reversal: only(5),
            };
            for kind in Kind::ALL {
                assert_eq!(above.needs_supervisor(kind, eur("0.01"), false), of(kind) == set, "{kind:?} {set}");
                let today = above.needs_supervisor(kind, eur("0.01"), true);
                assert_eq!(today, of(kind) == set && kind != Kind::Reversal, "{kind:?} {set}, of today");
            }
        }
    }
}
