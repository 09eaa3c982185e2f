//! The permission check. One table lists the rights that each verb needs, and every connection uses it before it makes
//! a [`Command`](super::Command).
//!
//! A connection identifies its caller and makes a [`Caller`]. [`Caller::may`] returns a [`Permit`] for one verb, or a
//! [`Denied`] with the missing right, the caller, and the key in the configuration. The permit resolves the till of a
//! request. A caller acts only for its own tills, and sees another till's transactions only with the right `any-till`.
//! Some conditions depend on the transaction: its till, and whether the journal knows it. The agent checks these with
//! [`Caller::needs`] of the same caller.
//!
//! The operator is checked in addition to the connection's rights. If `[operators] required` is set, moving money needs
//! a signed-in operator. A signed-in operator needs both a sufficient role (`counter/operators.rs`) and the
//! connection's rights.

use std::fmt;
use std::sync::Arc;

use crate::config::{self, LOCAL, Right, Rights, TillPeer, TillToken, is_nameless};
use pos_core::counter::{Deed, Role, TokenDigest};
use pos_terms::transaction::{FleetAuthor, Kind, OperatorName, Who};
use pos_words::{Message, Sentence};

/// A caller: its identity, the tills for which it acts, and its rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller(Arc<Facts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Facts {
    way: WayIn,
    who: Who,
    /// The caller's tills. There is at least one, and a caller with only one need not name it.
    tills: Vec<String>,
    rights: Rights,
    /// True if the caller's entry in the configuration demands an operator when operators are required.
    asks_operator: bool,
    /// The caller's tills that need no operator even then.
    without_operator: Vec<String>,
    present: Presence,
}

/// The person at the counter, as far as a request identifies the person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    /// True if an operator must be signed in for anything that moves money, unless the connection is exempt.
    pub required: bool,
    /// The signed-in operator.
    pub operator: Option<SignedIn>,
    /// A supervisor's approval for this one command.
    pub approval: Option<TokenDigest>,
}

/// A signed-in operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedIn {
    /// The name.
    pub name: OperatorName,
    /// The role.
    pub role: Role,
}

/// The kind of entry in the configuration that gives the rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WayIn {
    Token,
    Peer,
    Group,
    /// A command of the fleet.
    Fleet,
    /// The system does not report the user.
    Nameless,
    Root,
}

impl Caller {
    /// Returns the caller for a till that has sent its token.
    #[must_use]
    pub fn token(entry: &TillToken) -> Self {
        let who = Who { token: Some(entry.till.clone()), ..Who::default() };
        Self::new(WayIn::Token, who, vec![entry.till.clone()], entry.rights.clone(), entry.operator)
    }

    /// Returns the caller for a command of the fleet: with a till, that till with its rights. Without one, a technician
    /// who may change the log level. `required` is true if operators must be signed in.
    #[must_use]
    pub fn fleet(by: FleetAuthor, till: Option<(String, Rights, bool)>, required: bool) -> Self {
        let (tills, rights, operator) = match till {
            Some((till, rights, operator)) => (vec![till], rights, operator),
            None => (Vec::new(), Rights::from_iter([Right::Service]), false),
        };
        let who = Who { fleet: Some(by), ..Who::default() };
        let caller = Self::new(WayIn::Fleet, who, tills, rights, operator);
        caller.with(Presence { required, ..Presence::default() })
    }

    /// Returns the caller for a program at the Unix socket, based on its user. `own` is the user of the agent.
    ///
    /// The agent's own user has the rights of root. It owns the journal, the tokens and the socket, so a limit would
    /// have no effect. A user that the system does not report may be one of the programs in the configuration. So if
    /// the configuration lists any, that user has no rights.
    #[must_use]
    pub fn at_socket(uid: Option<u32>, own: u32, config: &config::Till) -> Self {
        let entry = |peer: &&TillPeer| Some(peer.uid) == uid;
        match (uid, config.peer.iter().find(entry)) {
            (Some(0), _) => Self::administrator(0, config.socket.operator),
            (Some(uid), Some(peer)) => {
                let who = Who { uid: Some(uid), ..Who::default() };
                let caller = Self::new(WayIn::Peer, who, peer.tills.clone(), peer.rights.clone(), peer.operator);
                let without_operator = peer.without_operator.clone();
                Self(Arc::new(Facts { without_operator, ..Facts::clone(&caller.0) }))
            }
            (Some(uid), None) if uid == own => Self::administrator(uid, config.socket.operator),
            (uid, _) if uid.is_none_or(is_nameless) && !config.peer.is_empty() => {
                Self::new(WayIn::Nameless, Who { uid, ..Who::default() }, local(), Rights::default(), true)
            }
            (uid, _) => {
                let (who, socket) = (Who { uid, ..Who::default() }, &config.socket);
                Self::new(WayIn::Group, who, local(), socket.rights.clone(), socket.operator)
            }
        }
    }

    /// Returns the administrator of the board, who has every right and acts for the terminal itself.
    #[must_use]
    pub fn root(uid: u32) -> Self {
        Self::administrator(uid, true)
    }

    fn administrator(uid: u32, asks_operator: bool) -> Self {
        let who = Who { uid: Some(uid), ..Who::default() };
        Self::new(WayIn::Root, who, local(), Rights::root(), asks_operator)
    }

    fn new(way: WayIn, who: Who, tills: Vec<String>, rights: Rights, asks_operator: bool) -> Self {
        let (without_operator, present) = Default::default();
        Self(Arc::new(Facts { way, who, tills, rights, asks_operator, without_operator, present }))
    }

    /// Returns the caller of a request that names this till, or no till. If the till is exempt, the caller needs no
    /// operator.
    #[must_use]
    pub fn in_the_name_of(&self, till: Option<&str>) -> Self {
        let only = || if let [only] = self.0.tills.as_slice() { Some(only.as_str()) } else { None };
        let is_exempt = till.or_else(only).is_some_and(|till| self.0.without_operator.iter().any(|one| one == till));
        if !is_exempt {
            return self.clone();
        }
        Self(Arc::new(Facts { asks_operator: false, ..Facts::clone(&self.0) }))
    }

    /// Returns whether the caller may state the network location of a PIN attempt. Only a program that acts for others
    /// may.
    #[must_use]
    pub fn says_places(&self) -> bool {
        matches!(self.0.way, WayIn::Peer | WayIn::Root)
    }

    /// Returns the caller with this person at the counter.
    #[must_use]
    pub fn with(&self, present: Presence) -> Self {
        let operator = present.operator.as_ref().map(|signed_in| signed_in.name.clone());
        let who = Who { operator, ..self.0.who.without_person() };
        Self(Arc::new(Facts { who, present, ..Facts::clone(&self.0) }))
    }

    /// Returns the caller with the cashier's name that the till states.
    ///
    /// # Errors
    /// Returns [`Denied::NoStatedOperator`] if operators sign in at the terminal.
    pub fn with_stated(&self, name: String) -> Result<Self, Denied> {
        if self.0.present.operator.is_some() || (self.0.present.required && self.0.asks_operator) {
            let key = if self.0.way == WayIn::Peer { "without-operator" } else { "operator = false" };
            let is_peer = self.0.way == WayIn::Peer;
            return Err(Denied::NoStatedOperator { is_peer, key: self.key(key) });
        }
        let who = Who { stated_operator: Some(name), ..self.0.who.clone() };
        Ok(Self(Arc::new(Facts { who, ..Facts::clone(&self.0) })))
    }

    /// Returns the tills for which the caller acts.
    #[must_use]
    pub fn tills(&self) -> &[String] {
        &self.0.tills
    }

    /// Returns the signed-in operator and the supervisor's approval for this command.
    #[must_use]
    pub fn present(&self) -> &Presence {
        &self.0.present
    }

    /// Returns the caller's identity.
    #[must_use]
    pub fn who(&self) -> &Who {
        &self.0.who
    }

    /// Returns the permit for a verb.
    ///
    /// # Errors
    /// Returns [`Denied`] if a right is missing or the operator's role is not sufficient.
    pub fn may(&self, verb: Verb) -> Result<Permit, Denied> {
        if verb.only_at_the_socket() && self.0.way == WayIn::Token {
            return Err(Denied::OnlyAtTheSocket);
        }
        match verb.needs() {
            Needs::All(rights) => self.need(rights)?,
            Needs::OneOf(rights) if rights.iter().any(|right| self.0.rights.has(*right)) => {}
            Needs::OneOf(rights) => {
                return Err(self.lacks(Message::OneOfRights, rights, Message::ForThis));
            }
        }
        self.person_may(verb.deed())?;
        Ok(Permit(self.clone()))
    }

    /// Checks the operator's role, in addition to the rights.
    fn person_may(&self, deed: Deed) -> Result<(), Denied> {
        match &self.0.present.operator {
            Some(SignedIn { role, .. }) if role.may(deed) => Ok(()),
            Some(SignedIn { name, role }) => {
                Err(Denied::Role { operator: name.clone(), role: *role, needs: deed.roles() })
            }
            // Without a session, unlocking needs the same right as adding an operator.
            None if deed == Deed::Unlock => self.may(Verb::ManageOperators).map(|_| ()),
            None if self.must_be_signed_in(deed) => Err(Denied::OperatorRequired),
            None => Ok(()),
        }
    }

    /// Returns whether an operator must be signed in. The board's administrator can manage operators without one,
    /// because the first operator is added this way.
    fn must_be_signed_in(&self, deed: Deed) -> bool {
        let asked = match deed {
            Deed::Look => false,
            Deed::Money => true,
            Deed::Settle | Deed::AskGateway | Deed::Unlock | Deed::Service | Deed::ManageOperators => {
                self.0.way != WayIn::Root
            }
        };
        asked && self.0.present.required && self.0.asks_operator
    }

    /// Checks one more right, which the request needs because of its subject. `purpose` states its purpose, such as "to
    /// do this".
    ///
    /// # Errors
    /// Returns [`Denied`] if the right is missing.
    pub fn needs(&self, right: Right, purpose: Message) -> Result<(), Denied> {
        if self.0.rights.has(right) { Ok(()) } else { Err(self.lacks(Message::OneRight, &[right], purpose)) }
    }

    fn need(&self, rights: &[Right]) -> Result<(), Denied> {
        let missing: Vec<Right> = rights.iter().copied().filter(|right| !self.0.rights.has(*right)).collect();
        match missing.as_slice() {
            [] => Ok(()),
            right @ [_] => Err(self.lacks(Message::OneRight, right, Message::ForThis)),
            several => Err(self.lacks(Message::SeveralRights, several, Message::ForThis)),
        }
    }

    fn lacks(&self, what: Message, rights: &[Right], purpose: Message) -> Denied {
        let rights: Vec<_> = rights.iter().map(|right| right.as_str()).collect();
        let key = (self.0.way != WayIn::Nameless).then(|| self.key("rights"));
        Denied::Lacks { caller: self.name(), rights: what.with("rights", rights.join(", ")), purpose, key }
    }

    fn speaks_for(&self, till: &str) -> bool {
        self.0.tills.iter().any(|own| own == till)
    }

    fn name(&self) -> Sentence {
        match &self.0.who {
            Who { fleet: Some(by), .. } => {
                Message::CallerTill.with("till", self.0.tills.first().unwrap_or(&by.key).as_str())
            }
            Who { token: Some(till), .. } => Message::CallerTill.with("till", till.as_str()),
            Who { uid: Some(uid), .. } => Message::CallerUser.with("user", uid.to_string()),
            _ => Message::CallerNameless.into(),
        }
    }

    /// Returns the place of `key` in the configuration.
    fn key(&self, key: &str) -> Sentence {
        let Who { token, uid, .. } = &self.0.who;
        let of = |message: Message| message.with("key", key);
        match (self.0.way, token, uid) {
            (WayIn::Token, Some(till), _) => of(Message::KeyOfToken).with("till", till.as_str()),
            (WayIn::Peer, _, Some(uid)) => of(Message::KeyOfPeer).with("user", uid.to_string()),
            (WayIn::Fleet, ..) => of(Message::KeyOfFleet).with("till", self.0.tills.join(", ")),
            (WayIn::Nameless, ..) | (_, _, None) => Message::KeyOfSocket.into(),
            (_, _, Some(uid)) => of(Message::KeyOfUser).with("user", uid.to_string()),
        }
    }
}

fn local() -> Vec<String> {
    vec![LOCAL.to_owned()]
}

/// A verb of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Begin a transaction.
    Begin(Kind),
    /// Find the kind of a transaction before handling it.
    Attend,
    /// Cancel a transaction of this kind, report its signature, or confirm it.
    SeeTo(Kind),
    /// See one transaction.
    Show,
    /// List transactions after a number.
    List,
    /// See a receipt, or print it again.
    Receipt,
    /// Print the till's own text, which is not a receipt, or show it to the customer.
    TillsText,
    /// See the terminal's status.
    Status,
    /// Listen to the steps as they happen.
    Listen,
    /// Count transactions and add up amounts.
    Totals,
    /// Close the day, and see and print closes, which cover the whole terminal.
    Close,
    /// Read the entries of the journal.
    ReadJournal,
    /// See the metrics: the number of transactions of all tills, their times, and the state of the devices, without
    /// amounts.
    Metrics,
    /// Change the log level.
    Log,
    /// Let an amount be typed at the reader.
    TypeAmount,
    /// Resolve a transaction that waits for a person.
    Settle,
    /// Ask the gateway for its payments.
    AskGateway,
    /// Sign in or out, list the operators, or confirm a cashier's command.
    SignIn,
    /// Let an operator try its PIN again immediately.
    Unlock,
    /// Add and remove operators, and set their PINs.
    ManageOperators,
    /// Pass on what the fleet signs, and read what became of it.
    PassFleet,
}

/// The rights that a verb needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    All(&'static [Right]),
    OneOf(&'static [Right]),
}

impl Verb {
    /// Returns the row of the table. Handling a transaction needs the right to begin it, so a caller that may begin one
    /// may also stop it.
    fn needs(self) -> Needs {
        use Right::{
            AnyTill, Capture, Close, Credit, Journal, PreAuthorise, Read, Refund, Reverse, Sale, Service, Totals,
            UnknownPayment,
        };
        match self {
            Self::Begin(kind) | Self::SeeTo(kind) => Needs::All(match kind {
                Kind::Sale | Kind::ByRegistration | Kind::StoreCard | Kind::ForgetCard => &[Sale],
                Kind::PreAuthorisation
                | Kind::PreAuthorisationByRegistration
                | Kind::Increment
                | Kind::Reauthorisation => &[PreAuthorise],
                Kind::Capture => &[Capture],
                Kind::Refund => &[Refund],
                Kind::Reversal => &[Reverse],
                Kind::Credit => &[Credit],
            }),
            // The shop's paper and the reader's display are for callers that serve customers.
            Self::Attend | Self::TillsText => Needs::OneOf(&[Sale, PreAuthorise, Capture, Refund, Reverse, Credit]),
            Self::Show | Self::List | Self::Receipt | Self::Status | Self::Listen => Needs::All(&[Read]),
            // A monitoring program needs only this right, with which it sees no transaction.
            Self::Totals | Self::Metrics => Needs::All(&[Totals]),
            Self::Close => Needs::All(&[Close]),
            Self::ReadJournal => Needs::All(&[Journal]),
            Self::Log => Needs::All(&[Service]),
            Self::TypeAmount => Needs::OneOf(&[Sale, PreAuthorise, Credit]),
            // The decision may concern any till, and may give money back.
            Self::Settle => Needs::All(&[AnyTill, Reverse]),
            // The gateway's payments belong to all tills, and include payments unknown to this journal.
            Self::AskGateway => Needs::All(&[Read, AnyTill, UnknownPayment]),
            // Any of these rights is enough.
            Self::SignIn | Self::Unlock => {
                Needs::OneOf(&[Sale, PreAuthorise, Capture, Refund, Reverse, Credit, Read, Totals, Close, Service])
            }
            Self::ManageOperators => Needs::All(&[Service]),
            Self::PassFleet => Needs::All(&[Right::Fleet]),
        }
    }

    /// Returns the class of the verb for the roles.
    fn deed(self) -> Deed {
        match self {
            Self::Begin(_) | Self::Attend | Self::SeeTo(_) | Self::TypeAmount | Self::Close => Deed::Money,
            Self::Show
            | Self::List
            | Self::Receipt
            | Self::TillsText
            | Self::Status
            | Self::Listen
            | Self::Totals
            | Self::Metrics
            | Self::ReadJournal
            // The key that signed decides, not a person at the terminal.
            | Self::PassFleet
            | Self::SignIn => Deed::Look,
            Self::Log => Deed::Service,
            Self::Settle => Deed::Settle,
            Self::AskGateway => Deed::AskGateway,
            Self::Unlock => Deed::Unlock,
            Self::ManageOperators => Deed::ManageOperators,
        }
    }

    /// Returns the rights of the verb as a sentence for the interface's description.
    #[cfg(feature = "docs")]
    pub(super) fn told(self) -> String {
        let list = |rights: &[Right]| rights.iter().map(|right| format!("`{}`", right.as_str())).collect::<Vec<_>>();
        let needs = match self.needs() {
            Needs::All([right]) => format!("Needs the right `{}`", right.as_str()),
            Needs::All(rights) => format!("Needs the rights {}", list(rights).join(", ")),
            Needs::OneOf(rights) => format!("Needs one of the rights {}", list(rights).join(", ")),
        };
        format!("{needs}{}.", if self.only_at_the_socket() { ", on the Unix socket" } else { "" })
    }

    /// Returns whether the verb is only for a person at the terminal. A stolen token could be used from elsewhere.
    fn only_at_the_socket(self) -> bool {
        matches!(
            self,
            Self::Settle | Self::AskGateway | Self::Log | Self::ManageOperators | Self::ReadJournal | Self::PassFleet
        )
    }
}

/// A proof that a caller has the rights for its request. Only [`Caller::may`] creates a permit, and no command reaches
/// the agent without one.
#[derive(Clone, Debug)]
pub struct Permit(Caller);

impl Permit {
    /// Returns the caller.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.0
    }

    /// Returns the till for which a transaction begins. The caller must act for that till.
    ///
    /// # Errors
    /// Returns [`Denied`] if the caller may not act for the named till, or names none and has several.
    pub fn own(&self, named: Option<String>) -> Result<String, Denied> {
        match named {
            Some(till) if self.0.speaks_for(&till) => Ok(till),
            Some(till) => Err(self.not_for(till)),
            None => self.only(),
        }
    }

    /// Checks a request that concerns no till. If it names a till anyway, the caller must act for that till.
    ///
    /// # Errors
    /// Returns [`Denied`] if the caller does not act for the named till.
    pub fn if_named(&self, named: Option<String>) -> Result<(), Denied> {
        named.map_or(Ok(()), |till| self.own(Some(till)).map(|_| ()))
    }

    /// Returns the till whose transaction is meant.
    ///
    /// # Errors
    /// Returns [`Denied`] for another till without the right `any-till`, or if no till is named and the caller has
    /// several.
    pub fn one(&self, named: Option<String>) -> Result<String, Denied> {
        match named {
            Some(till) if self.covers(&till) => Ok(till),
            Some(till) if self.0.0.tills.len() > 1 => Err(self.not_for(till)),
            Some(_) => Err(self.0.lacks(Message::OneRight, &[Right::AnyTill], Message::ForOtherTill)),
            None => self.only(),
        }
    }

    /// Returns the till whose transactions are meant. `None` means all tills, if the caller is the terminal itself and
    /// names no till.
    ///
    /// # Errors
    /// Returns the same errors as [`Self::one`].
    pub fn one_or_all(&self, named: Option<String>) -> Result<Option<String>, Denied> {
        match named {
            None if self.sees_all() => Ok(None),
            named => self.one(named).map(Some),
        }
    }

    /// Returns whether this caller gets the events of a till without asking for that till.
    #[must_use]
    pub fn hears(&self, till: &str) -> bool {
        self.sees_all() || self.0.speaks_for(till)
    }

    /// Returns whether this caller may see the transactions of a till if it names the till.
    #[must_use]
    pub fn sees(&self, till: &str) -> bool {
        self.covers(till)
    }

    fn covers(&self, till: &str) -> bool {
        self.0.speaks_for(till) || self.0.0.rights.has(Right::AnyTill)
    }

    /// Returns whether the caller sees all tills together, like the terminal itself. Other callers must name another
    /// till.
    fn sees_all(&self) -> bool {
        self.0.speaks_for(LOCAL) && self.0.0.rights.has(Right::AnyTill)
    }

    fn only(&self) -> Result<String, Denied> {
        match self.0.0.tills.as_slice() {
            [till] => Ok(till.clone()),
            tills => Err(Denied::WhichTill { tills: tills.join(", ") }),
        }
    }

    fn not_for(&self, till: String) -> Denied {
        let (caller, tills) = (self.0.name(), self.0.0.tills.join(", "));
        let key = (self.0.0.way == WayIn::Peer).then(|| self.0.key("tills"));
        Denied::NotItsTill { caller, till, tills, key }
    }
}

/// The reason why a request is not permitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denied {
    /// A right is missing.
    Lacks {
        /// The caller.
        caller: Sentence,
        /// The missing rights.
        rights: Sentence,
        /// The purpose.
        purpose: Message,
        /// The key in the configuration. `None` if the system does not report the user.
        key: Option<Sentence>,
    },
    /// The till belongs to another caller.
    NotItsTill {
        /// The caller.
        caller: Sentence,
        /// The named till.
        till: String,
        /// The caller's tills.
        tills: String,
        /// The key in the configuration that lists the tills, if there is one.
        key: Option<Sentence>,
    },
    /// The caller acts for several tills but named none.
    WhichTill {
        /// The caller's tills.
        tills: String,
    },
    /// An operator must be signed in.
    OperatorRequired,
    /// The signed-in operator's role is not sufficient.
    Role {
        /// The operator.
        operator: OperatorName,
        /// The operator's role.
        role: Role,
        /// The roles that are sufficient.
        needs: &'static [Role],
    },
    /// The till states a cashier, but cashiers sign in at the terminal.
    NoStatedOperator {
        /// True if a `[[till.peer]]` lists the tills that may state a cashier.
        is_peer: bool,
        /// The key in the configuration.
        key: Sentence,
    },
    /// The request is only for a person at the terminal.
    OnlyAtTheSocket,
}

impl Denied {
    /// Returns the sentence for people.
    #[must_use]
    pub fn sentence(&self) -> Sentence {
        match self {
            Self::Lacks { caller, rights, purpose, key } => {
                let message = if key.is_some() { Message::DeniedLacks } else { Message::DeniedNameless };
                let said = message.with("caller", caller.clone()).with("rights", rights.clone());
                let said = said.with("purpose", *purpose);
                key.iter().fold(said, |said, key| said.with("key", key.clone()))
            }
            Self::NotItsTill { caller, till, tills, key } => {
                let message = if key.is_some() { Message::DeniedNotItsTillOfPeer } else { Message::DeniedNotItsTill };
                let said = message.with("caller", caller.clone()).with("till", till.as_str());
                let said = said.with("tills", tills.as_str());
                key.iter().fold(said, |said, key| said.with("key", key.clone()))
            }
            Self::WhichTill { tills } => Message::DeniedWhichTill.with("tills", tills.as_str()),
            Self::OperatorRequired => Message::DeniedOperatorRequired.into(),
            Self::Role { operator, role, needs } => {
                let needs = needs.iter().map(|role| Sentence::from(role.as_str()));
                let needs = needs.reduce(|first, other| Message::OneRole.with("first", first).with("other", other));
                let said = Message::DeniedRole.with("operator", operator.as_str()).with("role", role.as_str());
                said.with("needs", needs.unwrap_or_else(|| "".into()))
            }
            Self::NoStatedOperator { is_peer, key } => {
                let peer = Message::DeniedStatedOperatorOfPeer;
                let message = if *is_peer { peer } else { Message::DeniedStatedOperator };
                message.with("key", key.clone())
            }
            Self::OnlyAtTheSocket => Message::DeniedOnlyAtTheSocket.into(),
        }
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sentence().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn verbs() -> Vec<Verb> {
        let mut verbs: Vec<Verb> =
            Kind::ALL.into_iter().flat_map(|kind| [Verb::Begin(kind), Verb::SeeTo(kind)]).collect();
        verbs.extend([Verb::Attend, Verb::Show, Verb::List, Verb::Receipt, Verb::Status, Verb::Listen, Verb::Totals]);
        verbs.push(Verb::TillsText);
        verbs.extend([Verb::Close, Verb::Metrics, Verb::Log, Verb::TypeAmount, Verb::Settle, Verb::AskGateway]);
        verbs.extend([Verb::SignIn, Verb::Unlock, Verb::ManageOperators, Verb::ReadJournal, Verb::PassFleet]);
        verbs
    }

    fn peer(uid: u32, tills: &[&str], rights: impl IntoIterator<Item = Right>) -> config::Till {
        let tills = tills.iter().map(|till| (*till).to_owned()).collect();
        let peer = vec![TillPeer {
            uid,
            tills,
            rights: rights.into_iter().collect(),
            operator: true,
            without_operator: Vec::new(),
        }];
        config::Till { peer, ..config::Till::default() }
    }

    fn token(rights: Rights) -> Caller {
        Caller::token(&TillToken { till: "till-1".to_owned(), token_file: PathBuf::new(), rights, operator: true })
    }

    #[test]
    fn without_rights_nothing_may_be_done_and_with_all_everything() {
        let none = Caller::at_socket(Some(7), 1, &peer(7, &["a"], []));
        let all = Caller::at_socket(Some(7), 1, &peer(7, &["a"], Right::ALL));
        for verb in verbs() {
            assert!(none.may(verb).is_err(), "{verb:?}");
            assert!(all.may(verb).is_ok() && Caller::root(0).may(verb).is_ok(), "{verb:?}");
        }
    }

    /// Checks that each right alone allows its verbs and no others.
    #[test]
    fn each_right_opens_its_own_verbs() {
        for right in Right::ALL {
            let caller = Caller::at_socket(Some(7), 1, &peer(7, &["a"], [right]));
            for verb in verbs() {
                let opens = match (verb, right) {
                    (Verb::Begin(kind) | Verb::SeeTo(kind), right) => match right {
                        Right::Sale => {
                            matches!(kind, Kind::Sale | Kind::ByRegistration | Kind::StoreCard | Kind::ForgetCard)
                        }
                        Right::PreAuthorise => {
                            matches!(
                                kind,
                                Kind::PreAuthorisation
                                    | Kind::PreAuthorisationByRegistration
                                    | Kind::Increment
                                    | Kind::Reauthorisation
                            )
                        }
                        Right::Capture => kind == Kind::Capture,
                        Right::Refund => kind == Kind::Refund,
                        Right::Reverse => kind == Kind::Reversal,
                        Right::Credit => kind == Kind::Credit,
                        _ => false,
                    },
                    (Verb::TypeAmount, Right::Sale | Right::PreAuthorise | Right::Credit) => true,
                    (Verb::Attend | Verb::TillsText, Right::Sale | Right::PreAuthorise | Right::Capture) => true,
                    (Verb::Attend | Verb::TillsText, Right::Refund | Right::Reverse | Right::Credit) => true,
                    (Verb::Totals | Verb::Metrics, Right::Totals) => true,
                    (Verb::Close, Right::Close) => true,
                    (Verb::Log | Verb::Unlock | Verb::ManageOperators, Right::Service) => true,
                    (Verb::ReadJournal, Right::Journal) => true,
                    (Verb::PassFleet, Right::Fleet) => true,
                    (Verb::SignIn, right) => {
                        let reads_nothing = matches!(right, Right::AnyTill | Right::UnknownPayment | Right::Fleet);
                        !reads_nothing && !matches!(right, Right::ThreeDSecure | Right::Journal)
                    }
                    (Verb::Show | Verb::List | Verb::Receipt | Verb::Status | Verb::Listen, Right::Read) => true,
                    _ => false,
                };
                assert_eq!(caller.may(verb).is_ok(), opens, "{verb:?} with {right:?}");
            }
        }
    }

    #[test]
    fn what_needs_several_rights_says_which_are_missing() {
        let with = |rights: &[Right]| Caller::at_socket(Some(7), 1, &peer(7, &["a"], rights.iter().copied()));
        assert!(with(&[Right::AnyTill, Right::Reverse]).may(Verb::Settle).is_ok());
        let denied = with(&[Right::AnyTill]).may(Verb::Settle).unwrap_err().to_string();
        assert!(denied.contains("user 7 needs the right reverse"), "{denied}");
        let denied = with(&[Right::Read]).may(Verb::AskGateway).unwrap_err().to_string();
        assert!(denied.contains("the rights any-till, unknown-payment"), "{denied}");
        let denied = with(&[Right::Read]).may(Verb::TypeAmount).unwrap_err().to_string();
        assert!(denied.contains("one of the rights sale, pre-authorise, credit"), "{denied}");
        assert_eq!(token(Rights::root()).may(Verb::Settle).unwrap_err(), Denied::OnlyAtTheSocket);
        assert_eq!(token(Rights::root()).may(Verb::AskGateway).unwrap_err(), Denied::OnlyAtTheSocket);
    }

    #[test]
    fn the_user_at_the_socket_decides() {
        let mut config = peer(7, &["a", "b"], [Right::Read]);
        config.socket.rights = [Right::Sale].into_iter().collect();
        let at = |uid: Option<u32>| Caller::at_socket(uid, 5, &config);
        let may = |uid, verb| at(uid).may(verb).is_ok();
        let (sale, credit) = (Verb::Begin(Kind::Sale), Verb::Begin(Kind::Credit));
        assert!(may(Some(0), credit) && may(Some(5), credit), "root, and the agent's own user");
        assert!(may(Some(7), Verb::Show) && !may(Some(7), sale), "its own entry and not the group's");
        assert!(may(Some(8), sale) && !may(Some(8), Verb::Show) && !may(Some(8), credit));
        // A user that the system does not report may be the restricted program.
        for nameless in [Some(65_534), Some(u32::MAX), None] {
            let denied = at(nameless).may(sale).unwrap_err().to_string();
            assert!(denied.contains("PrivateUsers=no"), "{denied}");
            let open = config::Till { peer: Vec::new(), ..config.clone() };
            assert!(Caller::at_socket(nameless, 5, &open).may(sale).is_ok(), "the group's, where none is confined");
        }
        assert_eq!(at(Some(8)).who(), &Who { uid: Some(8), ..Who::default() });
        // An entry for the agent's own user applies. An entry for root is refused when the file is read.
        let own = Caller::at_socket(Some(7), 7, &config);
        assert!(own.may(sale).is_err());
    }

    #[test]
    fn a_program_is_confined_to_its_tills() {
        let named = |till: &str| Some(till.to_owned());
        let several = Caller::at_socket(Some(7), 1, &peer(7, &["a", "b"], [Right::Read])).may(Verb::Show).unwrap();
        for till in ["a", "b"] {
            assert_eq!(several.own(named(till)).as_deref(), Ok(till));
            assert_eq!(several.one_or_all(named(till)), Ok(named(till)));
            assert!(several.hears(till));
        }
        assert!(several.own(None).is_err() && several.one(None).is_err() && several.one_or_all(None).is_err());
        for foreign in ["c", LOCAL, "", "A"] {
            assert!(several.own(named(foreign)).is_err() && several.one(named(foreign)).is_err(), "{foreign}");
            assert!(several.one_or_all(named(foreign)).is_err() && !several.hears(foreign), "{foreign}");
        }
        let any = Caller::at_socket(Some(7), 1, &peer(7, &["a", "b"], [Right::Read, Right::AnyTill]));
        let any = any.may(Verb::Show).unwrap();
        assert!(any.own(named("c")).is_err(), "it may see another's, and not speak for it");
        assert_eq!(any.one(named("c")).as_deref(), Ok("c"));
        assert!(any.one_or_all(None).is_err() && !any.hears("c"), "it is not the terminal itself");
        let one = token(Rights::till()).may(Verb::Show).unwrap();
        assert_eq!((one.own(None).as_deref(), one.one_or_all(None)), (Ok("till-1"), Ok(named("till-1"))));
        let root = Caller::root(0).may(Verb::Show).unwrap();
        assert_eq!((root.own(None).as_deref(), root.one_or_all(None)), (Ok(LOCAL), Ok(None)));
        assert!(root.hears("till-9") && root.own(named("till-9")).is_err());
    }

    fn present(required: bool, role: Option<Role>) -> Presence {
        let name = OperatorName::parse("Anna").unwrap();
        Presence { required, operator: role.map(|role| SignedIn { name, role }), approval: None }
    }

    /// If operators are required, only reads are allowed without one. With one, the actions are allowed that both role
    /// and rights allow.
    #[test]
    fn who_is_signed_in_does_what_its_role_and_the_rights_allow() {
        let all = Caller::at_socket(Some(7), 1, &peer(7, &["a"], Right::ALL));
        let none = Caller::at_socket(Some(7), 1, &peer(7, &["a"], []));
        for verb in verbs() {
            let may = |caller: &Caller, role| caller.with(present(true, role)).may(verb).is_ok();
            assert_eq!(may(&all, None), verb.deed() == Deed::Look, "{verb:?} of nobody");
            for role in Role::ALL {
                assert_eq!(may(&all, Some(role)), role.may(verb.deed()), "{verb:?} of a {role:?}");
                assert!(!may(&none, Some(role)), "{verb:?}: a role gives no right that the till has not");
                // A session also counts if none is required.
                let asked_by_nobody = all.with(present(false, Some(role))).may(verb).is_ok();
                assert_eq!(asked_by_nobody, role.may(verb.deed()), "{verb:?}");
            }
            assert!(all.with(present(false, None)).may(verb).is_ok(), "{verb:?}: as without operators");
        }
    }

    /// Returns a verb's row, written a second time: the rights, whether it is only for the socket, and the lowest role
    /// if operators are required. That is no one, a cashier, a supervisor or a technician. A verb without a row does
    /// not compile.
    fn row(verb: Verb) -> (Needs, bool, &'static str) {
        use Right::{
            AnyTill, Capture, Close, Credit, Journal, PreAuthorise, Read, Refund, Reverse, Sale, Service, Totals,
            UnknownPayment,
        };
        const SERVES: Needs = Needs::OneOf(&[Sale, PreAuthorise, Capture, Refund, Reverse, Credit]);
        const ANYTHING: Needs =
            Needs::OneOf(&[Sale, PreAuthorise, Capture, Refund, Reverse, Credit, Read, Totals, Close, Service]);
        let of_kind = |kind| match kind {
            Kind::Sale | Kind::ByRegistration | Kind::StoreCard | Kind::ForgetCard => Needs::All(&[Sale]),
            Kind::PreAuthorisation | Kind::PreAuthorisationByRegistration => Needs::All(&[PreAuthorise]),
            Kind::Increment | Kind::Reauthorisation => Needs::All(&[PreAuthorise]),
            Kind::Capture => Needs::All(&[Capture]),
            Kind::Refund => Needs::All(&[Refund]),
            Kind::Reversal => Needs::All(&[Reverse]),
            Kind::Credit => Needs::All(&[Credit]),
        };
        match verb {
            Verb::Begin(kind) | Verb::SeeTo(kind) => (of_kind(kind), false, "-cs-"),
            Verb::Attend => (SERVES, false, "-cs-"),
            Verb::TillsText => (SERVES, false, "ncst"),
            Verb::Show | Verb::List | Verb::Receipt | Verb::Status | Verb::Listen => {
                (Needs::All(&[Read]), false, "ncst")
            }
            Verb::Totals | Verb::Metrics => (Needs::All(&[Totals]), false, "ncst"),
            Verb::Close => (Needs::All(&[Close]), false, "-cs-"),
            Verb::ReadJournal => (Needs::All(&[Journal]), true, "ncst"),
            Verb::Log => (Needs::All(&[Service]), true, "---t"),
            Verb::TypeAmount => (Needs::OneOf(&[Sale, PreAuthorise, Credit]), false, "-cs-"),
            Verb::Settle => (Needs::All(&[AnyTill, Reverse]), true, "--s-"),
            Verb::AskGateway => (Needs::All(&[Read, AnyTill, UnknownPayment]), true, "--st"),
            Verb::SignIn => (ANYTHING, false, "ncst"),
            Verb::Unlock => (ANYTHING, false, "--st"),
            Verb::ManageOperators => (Needs::All(&[Service]), true, "---t"),
            Verb::PassFleet => (Needs::All(&[Right::Fleet]), true, "ncst"),
        }
    }

    #[test]
    fn who_may_do_what_row_by_row() {
        for verb in verbs() {
            let (needs, at_the_socket, persons) = row(verb);
            let with = |rights: Vec<Right>| Caller::at_socket(Some(7), 1, &peer(7, &["a"], rights)).may(verb).is_ok();
            let without = |missing: &[Right]| Right::ALL.into_iter().filter(|right| !missing.contains(right)).collect();
            match needs {
                Needs::All(rights) => {
                    assert!(with(rights.to_vec()), "{verb:?}");
                    for right in rights {
                        assert!(!with(without(&[*right])), "{verb:?} without {right:?}");
                    }
                }
                Needs::OneOf(rights) => {
                    for right in rights {
                        // Without a session, only a caller that may add operators may unlock one.
                        let alone = verb != Verb::Unlock || *right == Right::Service;
                        assert_eq!(with(vec![*right]), alone, "{verb:?} with {right:?}");
                    }
                    assert!(!with(without(rights)), "{verb:?} without any of them");
                }
            }
            let shown = token(Rights::root()).may(verb);
            let by_token = !at_the_socket && verb != Verb::Unlock;
            assert_eq!(shown.is_ok(), by_token, "{verb:?} by a token");
            assert_eq!(shown.err() == Some(Denied::OnlyAtTheSocket), !by_token, "{verb:?} by a token");
            let all = Caller::at_socket(Some(7), 1, &peer(7, &["a"], Right::ALL));
            let who = [None, Some(Role::Cashier), Some(Role::Supervisor), Some(Role::Technician)];
            for (role, letter) in who.into_iter().zip(persons.chars()) {
                let may = all.with(present(true, role)).may(verb);
                assert_eq!(may.is_ok(), letter != '-', "{verb:?} of {role:?}");
                let denied = match (may, role) {
                    (Err(denied), None) => denied == Denied::OperatorRequired,
                    (Err(denied), Some(_)) => matches!(denied, Denied::Role { .. }),
                    (Ok(_), _) => true,
                };
                assert!(denied, "{verb:?} of {role:?}");
            }
        }
    }

    #[test]
    fn a_till_that_needs_no_operator_exempts_none_of_its_peers_other_tills() {
        let mut config = peer(7, &["counter", "kasse-1"], Right::ALL);
        config.peer[0].without_operator = vec!["kasse-1".to_owned()];
        let front = Caller::at_socket(Some(7), 1, &config);
        let at = |till: Option<&str>| front.in_the_name_of(till).with(present(true, None));
        let refund = Verb::Begin(Kind::Refund);
        assert!(at(Some("kasse-1")).may(refund).is_ok());
        assert!(at(Some("kasse-1")).with_stated("12".to_owned()).is_ok());
        for other in [Some("counter"), Some("kasse-9"), Some(""), None] {
            assert_eq!(at(other).may(refund).unwrap_err(), Denied::OperatorRequired, "{other:?}");
            let refused = at(other).with_stated("12".to_owned()).unwrap_err().to_string();
            assert!(refused.contains("without-operator in the [[till.peer]] table with uid = 7"), "{refused}");
        }
        // A caller with one till may leave its name out.
        let mut config = peer(7, &["kasse-1"], Right::ALL);
        config.peer[0].without_operator = vec!["kasse-1".to_owned()];
        let only = Caller::at_socket(Some(7), 1, &config).in_the_name_of(None).with(present(true, None));
        assert!(only.may(refund).is_ok());
    }

    #[test]
    fn root_sees_to_the_terminal_without_an_operator_and_moves_no_money_without_one() {
        let root = Caller::root(0).with(present(true, None));
        for verb in verbs() {
            assert_eq!(root.may(verb).is_ok(), verb.deed() != Deed::Money, "{verb:?}");
        }
    }

    #[test]
    fn a_till_with_cashiers_of_its_own_is_exempt_and_may_state_who_it_is() {
        let exempt = TillToken {
            till: "till-1".to_owned(),
            token_file: PathBuf::new(),
            rights: Rights::till(),
            operator: false,
        };
        let exempt = Caller::token(&exempt).with(present(true, None));
        let asked = token(Rights::till()).with(present(true, None));
        let sale = Verb::Begin(Kind::Sale);
        assert!(exempt.may(sale).is_ok());
        assert_eq!(asked.may(sale).unwrap_err(), Denied::OperatorRequired);
        let stated = exempt.with_stated("12".to_owned()).unwrap();
        assert_eq!(stated.who().stated_operator.as_deref(), Some("12"));
        let refused = asked.with_stated("12".to_owned()).unwrap_err().to_string();
        assert!(refused.contains("operator = false in the [[till.token]] table with till"), "{refused}");
        let signed_in = exempt.with(present(true, Some(Role::Cashier)));
        assert!(signed_in.with_stated("12".to_owned()).is_err(), "two persons");
        assert!(token(Rights::till()).with_stated("12".to_owned()).is_ok(), "nobody signs in here");
    }

    #[test]
    fn who_it_is_names_the_operator_and_forgets_the_one_before() {
        let caller = token(Rights::till()).with(present(true, Some(Role::Cashier)));
        assert_eq!(caller.who().to_string(), "the token of till till-1, operator Anna");
        assert_eq!(caller.with(present(true, None)).who(), token(Rights::till()).who());
    }

    #[test]
    fn a_refusal_names_the_right_whose_it_is_and_the_key() {
        let credit = Verb::Begin(Kind::Credit);
        let told = |caller: &Caller| caller.may(credit).unwrap_err().to_string();
        assert_eq!(
            told(&token(Rights::till())),
            "till till-1 needs the right credit for this request; extend rights in the [[till.token]] table with till = \"till-1\""
        );
        let config = peer(7, &["a"], [Right::Read]);
        assert_eq!(
            told(&Caller::at_socket(Some(7), 1, &config)),
            "user 7 needs the right credit for this request; extend rights in the [[till.peer]] table with uid = 7"
        );
        assert_eq!(
            told(&Caller::at_socket(Some(8), 1, &config)),
            "user 8 needs the right credit for this request; extend rights in a [[till.peer]] table with uid = 8, or rights \
             in [till.socket] for all users of the socket"
        );
    }
}
