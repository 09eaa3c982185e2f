//! The disturbances of a storm: random faults with their start and end times, and the wishes of customers and tills
//! during that time. The same seed produces the same storm.

use std::fs;
use std::time::Duration;

use pos_terms::transaction::{Kind, OnSilence};
use tokio::time::sleep;

use super::World;
use super::bank::{Behaviour, Trouble};
use super::bank_server;
use super::tills::{By, Confirms, Earlier, Says, Wish};

/// Random numbers that depend only on the seed (splitmix64).
#[derive(Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound
    }

    /// Returns true once in this many calls, on average.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }

    pub fn ms(&mut self, most: u64) -> Duration {
        Duration::from_millis(self.below(most) + 1)
    }
}

/// The kinds of disturbances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Disturbance {
    PowerCut,
    GatewayAway,
    GatewayAwayForDays,
    ReaderUnplugged,
    PrinterUnplugged,
    DiskFull,
    /// A slow disk, which stops everything for a while.
    DiskSlow,
    ClockIn1970,
    ClockAnHourBack,
    ClockAYearAhead,
    TokenRevoked,
    CertificateRotated,
}

pub const DISTURBANCES: [Disturbance; 12] = [
    Disturbance::PowerCut,
    Disturbance::GatewayAway,
    Disturbance::GatewayAwayForDays,
    Disturbance::ReaderUnplugged,
    Disturbance::PrinterUnplugged,
    Disturbance::DiskFull,
    Disturbance::DiskSlow,
    Disturbance::ClockIn1970,
    Disturbance::ClockAnHourBack,
    Disturbance::ClockAYearAhead,
    Disturbance::TokenRevoked,
    Disturbance::CertificateRotated,
];

/// These constants are 56 years, an hour and a year, in milliseconds.
const TO_1970_MS: i64 = -56 * 365 * 24 * 3600 * 1000;
const HOUR_MS: i64 = 3600 * 1000;
const YEAR_MS: i64 = 365 * 24 * HOUR_MS;
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Returns the actions of a day's cardholders in their order.
pub fn customers(dice: &mut Dice) -> String {
    let hands = [
        "insert chip-no-cvm",
        "insert chip-no-cvm",
        "tap tap",
        "tap tap",
        "swipe swipe",
        "insert chip-pin",
        "insert chip-refuses",
        "insert chip-no-cvm, wait 40ms, remove",
        "wait 2s, insert chip-no-cvm",
        "wait 70s",
    ];
    (1..=24).map(|nth| format!("on waiting {nth}: {}\n", dice.pick(&hands))).collect()
}

/// Adds the tills' wishes for card transactions and for payments of earlier days.
pub fn wishes(world: &World, dice: &mut Dice) {
    let kinds = [
        Kind::Sale,
        Kind::Sale,
        Kind::Sale,
        Kind::Sale,
        Kind::PreAuthorisation,
        Kind::PreAuthorisation,
        Kind::Credit,
        Kind::ByRegistration,
        Kind::PreAuthorisationByRegistration,
        Kind::StoreCard,
        Kind::ForgetCard,
        Kind::Capture,
        Kind::Refund,
        Kind::Reversal,
        Kind::Increment,
        Kind::Reauthorisation,
    ];
    let mut state = world.lock();
    for number in 0..1 + dice.below(4) {
        let kind = dice.pick(&kinds);
        let minor = 1000 + 200 * number + dice.below(90);
        let of = match kind {
            Kind::Capture | Kind::Increment | Kind::Reauthorisation => Some(("PA", 50_000)),
            Kind::Refund => Some(("DB", 50_000)),
            Kind::Reversal => Some(("DB", minor)),
            _ => None,
        };
        let of = of.map(|(kind, minor)| Earlier::Payment(state.bank.earlier(kind, minor)));
        let wish = Wish::new(usize::try_from(number).unwrap(), kind, minor);
        state.wishes.push(Wish { of, accepts_part: dice.once_in(2) && may_accept_part(kind), ..wish });
    }
    later_wishes(&mut state.wishes, dice);
    confirmations(&mut state.wishes, dice);
    for _ in 0..dice.below(6) {
        let behaviour = if dice.once_in(2) { Behaviour::Approves } else { dice.pick(&Behaviour::ALL) };
        state.bank.behaviours.push_back(behaviour);
    }
    for _ in 0..dice.below(4) {
        state.bank.troubles.push_back(dice.pick(&Trouble::ALL));
    }
}

/// Lets some tills confirm the amount that they accept. Separate random numbers keep the rest of the storm unchanged.
fn confirmations(wishes: &mut [Wish], dice: &Dice) {
    let mut dice = Dice::new(dice.clone().roll());
    for wish in wishes.iter_mut().filter(|wish| matches!(wish.kind, Kind::Sale | Kind::PreAuthorisation)) {
        let says = dice.pick(&[Says::All, Says::All, Says::Part, Says::Nothing, Says::Silent]);
        // A pre-authorisation can only be accepted as a whole.
        let says = if says == Says::Part && wish.kind != Kind::Sale { Says::All } else { says };
        let on_silence = dice.pick(&[OnSilence::Reverse, OnSilence::Keep]);
        wish.confirms = dice.once_in(3).then_some(Confirms { says, on_silence });
    }
}

/// Adds the tills' wishes for follow-ups of this storm's transactions, including those of other tills. Some are for
/// more than the remaining amount, some repeat others, and some make no sense.
fn later_wishes(wishes: &mut Vec<Wish>, dice: &mut Dice) {
    let later = [Kind::Capture, Kind::Refund, Kind::Reversal, Kind::Increment, Kind::Reauthorisation];
    let mut base = dice.below(wishes.len() as u64);
    for _ in 0..dice.below(5) {
        // Several follow-ups of one transaction cause the most faults.
        let is_an_end = matches!(wishes[usize::try_from(base).unwrap()].kind, Kind::Refund | Kind::Reversal);
        if is_an_end || dice.once_in(3) {
            base = dice.below(wishes.len() as u64);
        }
        let earlier = wishes[usize::try_from(base).unwrap()].clone();
        let kind = match earlier.kind {
            _ if dice.once_in(12) => dice.pick(&later),
            Kind::PreAuthorisation | Kind::PreAuthorisationByRegistration | Kind::Reauthorisation => {
                dice.pick(&[Kind::Capture, Kind::Capture, Kind::Increment, Kind::Reauthorisation, Kind::Reversal])
            }
            Kind::Sale | Kind::ByRegistration | Kind::Capture => {
                dice.pick(&[Kind::Refund, Kind::Refund, Kind::Reversal])
            }
            _ => Kind::Reversal,
        };
        // A stored or deleted card has no follow-up, but the wish requests some amount anyway.
        let all = if earlier.kind.moves_money() { earlier.minor } else { 1000 };
        let minor = match dice.below(6) {
            0 => all / 3 + dice.below(50),
            1 => all / 2 + 1,
            2 => all + 1 + dice.below(300),
            _ => all,
        };
        let by = dice.pick(&[By::Reference, By::Number, By::Payment]);
        let number = wishes.len();
        let till = if dice.once_in(2) { earlier.till } else { format!("till-{}", dice.below(3) + 1) };
        let of = Some(Earlier::Wish { number: earlier.number, by });
        wishes.push(Wish {
            till,
            of,
            accepts_part: dice.once_in(2) && may_accept_part(kind),
            ..Wish::new(number, kind, minor)
        });
    }
}

/// Starts a disturbance, and ends it after a while. After a power cut, the caller boots the next board.
pub async fn happens(world: &World, fault: Disturbance, dice: &mut Dice) {
    let pause = dice.ms(20_000);
    match fault {
        Disturbance::PowerCut => world.die(),
        Disturbance::GatewayAway | Disturbance::GatewayAwayForDays => {
            let days = if fault == Disturbance::GatewayAwayForDays { DAY * 2 } else { Duration::ZERO };
            world.lock().bank.away = true;
            sleep(days + pause * 20).await;
            world.lock().bank.away = false;
        }
        Disturbance::ReaderUnplugged => {
            world.unplug_reader();
            sleep(pause).await;
        }
        Disturbance::PrinterUnplugged => {
            world.lock().printer.unplugged = true;
            sleep(pause).await;
            world.lock().printer.unplugged = false;
        }
        Disturbance::DiskFull => {
            world.lock().disk_full = true;
            sleep(pause).await;
            world.lock().disk_full = false;
        }
        Disturbance::DiskSlow => tokio::time::advance(pause / 2).await,
        Disturbance::ClockIn1970 | Disturbance::ClockAnHourBack | Disturbance::ClockAYearAhead => {
            let off = match fault {
                Disturbance::ClockIn1970 => TO_1970_MS,
                Disturbance::ClockAnHourBack => -HOUR_MS,
                _ => YEAR_MS,
            };
            world.lock().clock_off_ms = off;
            sleep(pause).await;
            world.lock().clock_off_ms = 0;
        }
        Disturbance::TokenRevoked => {
            world.lock().bank.token_revoked = true;
            sleep(pause * 5).await;
            world.lock().bank.token_revoked = false;
        }
        Disturbance::CertificateRotated => {
            world.lock().bank.certificate = 1;
            sleep(pause).await;
            world.technician_comes();
        }
    }
}

impl World {
    /// Trusts both CAs of the bank from this point.
    fn technician_comes(&self) {
        let both = bank_server::tls(0).0 + &bank_server::tls(1).0;
        fs::write(self.folder().join("ca.pem"), both).unwrap();
    }

    /// Ends all disturbances.
    pub fn heal(&self) {
        self.technician_comes();
        let mut state = self.lock();
        state.bank.away = false;
        state.bank.token_revoked = false;
        state.bank.behaviours.clear();
        state.bank.troubles.clear();
        state.printer.unplugged = false;
        state.reader_plugged = true;
        state.disk_full = false;
        state.clock_off_ms = 0;
    }
}

/// Returns whether a till can accept a part of this kind of transaction.
fn may_accept_part(kind: Kind) -> bool {
    matches!(kind, Kind::Sale | Kind::PreAuthorisation | Kind::ByRegistration | Kind::PreAuthorisationByRegistration)
}
