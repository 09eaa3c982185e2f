//! The operators' roles: what each may do at a counter, on top of what the till itself may (`till/rights.rs`), and
//! above which amount a supervisor confirms what a cashier does.
//!
//! | | cashier | supervisor | technician |
//! |---|---|---|---|
//! | look at transactions, receipts, lists, sums and the terminal | yes | yes | yes |
//! | begin a transaction, cancel it, judge its signature | yes, up to the amounts | yes | no |
//! | say what becomes of a sale that waits for a person | no | yes | no |
//! | ask the gateway what it holds | no | yes | yes |
//! | unlock an operator | no | yes | yes |
//! | change how much is logged | no | no | yes |
//! | add and remove operators, give them a PIN | no | no | yes |

use serde::{Deserialize, Serialize};

use pos_terms::money::Amount;
use pos_terms::transaction::Kind;

/// What an operator is at the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Takes payments.
    Cashier,
    /// Takes payments, and confirms what a cashier may not do alone.
    Supervisor,
    /// Sees to the terminal and to its operators, and moves no money.
    Technician,
}

/// Something that is asked of the terminal, as far as roles tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// See transactions, receipts, sums and the terminal; print a receipt again; sign in.
    Look,
    /// Begin a transaction, cancel it, judge its signature, let an amount be typed, close the day.
    Money,
    /// Say what becomes of a sale that waits for a person.
    Settle,
    /// Ask the gateway what it holds.
    AskGateway,
    /// Let an operator try its PIN again at once.
    Unlock,
    /// Change how much is logged.
    Service,
    /// Add and remove operators, give them a PIN.
    ManageOperators,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 3] = [Self::Cashier, Self::Supervisor, Self::Technician];

    /// As programs and people write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cashier => "cashier",
            Self::Supervisor => "supervisor",
            Self::Technician => "technician",
        }
    }

    /// The role of this name.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }

    /// Whether it may do this.
    #[must_use]
    pub fn may(self, deed: Deed) -> bool {
        deed.roles().contains(&self)
    }
}

impl Deed {
    /// The table.
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

    /// The roles that may, as a sentence goes on after "is for a".
    #[must_use]
    pub fn roles_in_words(self) -> String {
        self.roles().iter().map(|role| role.as_str()).collect::<Vec<_>>().join(" or a ")
    }
}

/// From which amount on a cashier needs a supervisor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NeedsSupervisor {
    /// Whatever the amount, it needs none.
    #[default]
    Never,
    /// Above this one.
    Above(Amount),
    /// Whatever the amount.
    Always,
}

/// When a cashier needs a supervisor, for each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SupervisorAbove {
    /// A sale, a charge of stored card data, and to store or forget a card.
    pub sale: NeedsSupervisor,
    /// A reservation, more of it, or one that is made anew.
    pub pre_authorisation: NeedsSupervisor,
    /// A capture.
    pub capture: NeedsSupervisor,
    /// A refund.
    pub refund: NeedsSupervisor,
    /// A credit.
    pub credit: NeedsSupervisor,
    /// A reversal of a transaction of an earlier day; that of the day itself is a cashier's.
    pub reversal: NeedsSupervisor,
}

impl SupervisorAbove {
    /// Whether a supervisor confirms a transaction of this kind and amount. Of a reversal, `of_today` says whether what
    /// it undoes began today. Amounts of two currencies cannot be compared: where there is one in another currency, a
    /// supervisor confirms.
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

    /// The table of the head, typed a second time: a row for each role, a letter for each deed.
    #[test]
    fn each_role_may_do_what_the_table_says() {
        for (role, row) in [(Role::Cashier, "yynnnnn"), (Role::Supervisor, "yyyyynn"), (Role::Technician, "ynnyyyy")] {
            for (deed, may) in DEEDS.into_iter().zip(row.chars()) {
                assert_eq!(role.may(deed), may == 'y', "{role:?} {deed:?}");
            }
        }
        assert_eq!(Deed::Unlock.roles_in_words(), "supervisor or a technician");
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

    /// Each kind has one amount of the configuration and no other.
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
