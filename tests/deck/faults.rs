//! Every fault of the card, the reader and the line at every step of every card. The tables contain the end of each
//! sale with each family of readers, which the gateway's ledger must show. They also name the faults that a family
//! cannot have.
//!
//! Each row has a family by its number. `POS_AGENT_SEED=N` shifts the families, and `POS_READER_FAMILY` selects one.

use std::collections::BTreeMap;

use pos_sim::reader::Card;
use pos_sim::reader::CardEntry::{self, Insert, Swipe, Tap};
use pos_sim::reader::Family::{self, Miura, Neo2, Vipa};
use pos_sim::reader::deck::{Applications, Chip, Cvm, First};
use pos_test_kit::{PATIENCE, families};

use crate::deck::{row_of, sale, ways};
use crate::row::End::{self, Approved, Nothing, Reversed};
use crate::row::Moment::{
    self, After, Answer, Asked, AskedForPin, Choice, Continue, Ended, Host, Inserted, LatePin, Pin, Start, Waiting,
};
use crate::row::{self, Hung, Row, run};

/// The way in which a card is read, which decides how a fault affects its sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A chip that asks the issuer and then confirms the issuer's answer.
    Chip,
    /// A chip that decides offline in its first answer.
    Alone,
    Tap,
    Swipe,
}

/// A fault that a row causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Pull,
    Unplug,
    Reboot,
    Garbage,
    Spoil,
    Silence,
}
use Fault::{Garbage, Pull, Reboot, Silence, Spoil, Unplug};

const LINE: &[Fault] = &[Garbage, Spoil, Silence];

/// The expected effect on the sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// The sale is cancelled and nothing is sent: no payment at the gateway, no paper.
    Cancelled,
    /// The sale has the same result as without the fault.
    AsUsual,
    /// A payment that the gateway approved is reversed. A declined payment stays declined.
    Reversed,
}

/// No card of this kind has this step.
const NO_STEP: &[Then] = &[];
const CANCELLED: &[Then] = &[Then::Cancelled];
const AS_USUAL: &[Then] = &[Then::AsUsual];
const REVERSED: &[Then] = &[Then::Reversed];
/// The sale is retried or cancelled, depending on which message is lost.
const GIVEN_UP: &[Then] = &[Then::AsUsual, Then::Cancelled];
const REFUSED: &[Then] = &[Then::AsUsual, Then::Reversed];
/// The fault happens to the card's answer or to the PIN after it.
const UNREAD: &[Then] = &[Then::Cancelled, Then::Reversed];
const EITHER: &[Then] = &[Then::AsUsual, Then::Cancelled, Then::Reversed];

const ALL: &[Family] = &Family::ALL;
/// The readers that report a pulled card.
const SLOT: &[Family] = &[Miura, Vipa];
/// The readers that report nothing when they restart. The agent finds it out by their next answer.
const MUTE: &[Family] = &[Vipa, Neo2];
const MIURA: &[Family] = &[Miura];
const VIPA: &[Family] = &[Vipa];
const NEO2: &[Family] = &[Neo2];

/// The steps until the card's answer has left the reader. The agent sends nothing before.
const BEFORE: &[Moment] = &[Waiting, Inserted, Start, Choice, Pin, Answer];

/// Readers | steps | faults | a chip that asks | a chip that decides alone | a tap | a swipe.
type Rule = (
    &'static [Family],
    &'static [Moment],
    &'static [Fault],
    &'static [Then],
    &'static [Then],
    &'static [Then],
    &'static [Then],
);

#[rustfmt::skip]
const RULES: &[Rule] = &[
    (ALL,   BEFORE,                        &[Unplug],          CANCELLED, CANCELLED, CANCELLED, CANCELLED),
    (MIURA, BEFORE,                        &[Reboot],          CANCELLED, CANCELLED, CANCELLED, CANCELLED),
    // The reader waits for the next command, and the agent for an answer. The cashier cancels.
    (MUTE,  BEFORE,                        &[Reboot],          CANCELLED, CANCELLED, CANCELLED, CANCELLED),
    // A card that is pulled before its chip is read may be tried again. If it is pulled later, a Miura reader ends the
    // sale. The other readers end only their command, and the customer inserts the card again.
    (ALL,   &[Inserted],                   &[Pull],            AS_USUAL,  AS_USUAL,  NO_STEP,   AS_USUAL),
    (MIURA, &[Start, Choice, Pin, Answer], &[Pull],            CANCELLED, CANCELLED, NO_STEP,   NO_STEP),
    (MUTE,  &[Start, Choice, Pin, Answer], &[Pull],            AS_USUAL,  AS_USUAL,  NO_STEP,   NO_STEP),
    // The agent requests a lost message again where possible. If the reader is silent, the customer takes the card out.
    (SLOT,  BEFORE,                        &[Garbage, Spoil],  GIVEN_UP,  GIVEN_UP,  GIVEN_UP,  GIVEN_UP),
    (MIURA, BEFORE,                        &[Silence],         EITHER,    GIVEN_UP,  GIVEN_UP,  GIVEN_UP),
    (VIPA,  &[Waiting, Inserted, Start, Choice, Answer], &[Silence], GIVEN_UP, GIVEN_UP, GIVEN_UP, GIVEN_UP),
    // Only the report about the chip's PIN is lost, and then the customer takes the card out.
    (VIPA,  &[Pin],                        &[Silence],         REFUSED,   NO_STEP,   NO_STEP,   AS_USUAL),
    // A NEO2 reader sends only answers. After a damaged one, the agent repeats the wait for a card, but no PIN and no
    // cryptogram. Nothing tells of a lost one, and the cashier cancels.
    (NEO2,  BEFORE,                        &[Garbage],         AS_USUAL,  AS_USUAL,  AS_USUAL,  AS_USUAL),
    (NEO2,  &[Waiting, Inserted, Start, Choice], &[Spoil],     AS_USUAL,  AS_USUAL,  AS_USUAL,  AS_USUAL),
    (NEO2,  &[Pin, Answer],                &[Spoil],           CANCELLED, CANCELLED, AS_USUAL,  CANCELLED),
    (NEO2,  BEFORE,                        &[Silence],         CANCELLED, CANCELLED, CANCELLED, CANCELLED),
    // A VIPA reader asks for an online PIN after the card's answer. Until it is entered, the agent sends nothing.
    (VIPA,  &[AskedForPin, LatePin],       &[Unplug],          CANCELLED, NO_STEP,   CANCELLED, NO_STEP),
    (VIPA,  &[AskedForPin, LatePin],       &[Pull],            REVERSED,  NO_STEP,   NO_STEP,   NO_STEP),
    (VIPA,  &[AskedForPin],                &[Reboot],          UNREAD,    NO_STEP,   CANCELLED, NO_STEP),
    (VIPA,  &[LatePin],                    &[Reboot],          CANCELLED, NO_STEP,   CANCELLED, NO_STEP),
    (VIPA,  &[AskedForPin, LatePin],       &[Garbage, Spoil],  AS_USUAL,  NO_STEP,   AS_USUAL,  NO_STEP),
    (VIPA,  &[AskedForPin, LatePin],       &[Silence],         REFUSED,   NO_STEP,   AS_USUAL,  NO_STEP),
    // With an unplugged cable, an answer that the reader has already sent is lost. After a reboot it still arrives.
    (ALL,   &[Asked],                      &[Unplug],          CANCELLED, NO_STEP,   CANCELLED, NO_STEP),
    (ALL,   &[Ended],                      &[Unplug],          REVERSED,  CANCELLED, AS_USUAL,  NO_STEP),
    (MIURA, &[Ended],                      &[Reboot],          AS_USUAL,  REVERSED,  AS_USUAL,  NO_STEP),
    (MUTE,  &[Ended],                      &[Reboot],          AS_USUAL,  AS_USUAL,  AS_USUAL,  NO_STEP),
    // From this step on, the gateway may approve. If a chip cannot confirm the approval, the payment is reversed. A tap
    // or a swipe confirms nothing. A chip that has decided alone neither, but a lost reader reverses its payment.
    (ALL,   &[Asked],                      &[Pull, Reboot],    REVERSED,  NO_STEP,   AS_USUAL,  NO_STEP),
    (ALL,   &[Host],                       &[Pull],            REVERSED,  AS_USUAL,  NO_STEP,   NO_STEP),
    (ALL,   &[Host],                       &[Unplug],          REVERSED,  REVERSED,  AS_USUAL,  AS_USUAL),
    (MIURA, &[Host],                       &[Reboot],          REVERSED,  REVERSED,  AS_USUAL,  AS_USUAL),
    (MUTE,  &[Host],                       &[Reboot],          REVERSED,  AS_USUAL,  AS_USUAL,  AS_USUAL),
    (ALL,   &[Continue],                   &[Pull, Unplug, Reboot], REVERSED, NO_STEP, AS_USUAL, NO_STEP),
    (SLOT,  &[Asked, Host, Continue],      &[Garbage],         REFUSED,   REFUSED,   AS_USUAL,  AS_USUAL),
    (SLOT,  &[Asked, Host, Continue],      &[Spoil, Silence],  REVERSED,  AS_USUAL,  AS_USUAL,  AS_USUAL),
    (NEO2,  &[Asked, Host, Continue],      &[Garbage],         AS_USUAL,  AS_USUAL,  AS_USUAL,  AS_USUAL),
    // The reader answers the gateway's answer twice. The first time, it only says that it has begun.
    (NEO2,  &[Asked, Host],                &[Spoil, Silence],  AS_USUAL,  NO_STEP,   NO_STEP,   NO_STEP),
    (NEO2,  &[Continue],                   &[Spoil, Silence],  REVERSED,  NO_STEP,   NO_STEP,   NO_STEP),
    // The sale has ended. A fault of the connection affects the next message and therefore the next sale.
    (ALL,   &[Ended],                      &[Pull],            AS_USUAL,  AS_USUAL,  NO_STEP,   NO_STEP),
    (ALL,   &[Ended],                      &[Garbage],         AS_USUAL,  REFUSED,   AS_USUAL,  NO_STEP),
    (SLOT,  &[Ended],                      &[Spoil, Silence],  AS_USUAL,  REFUSED,   NO_STEP,   NO_STEP),
    (ALL,   &[After],                      &[Pull, Unplug, Reboot, Garbage], AS_USUAL, AS_USUAL, AS_USUAL, AS_USUAL),
];

const KINDS_OF_READING: &[Kind] = &[Kind::Chip, Kind::Alone, Kind::Tap, Kind::Swipe];

/// Readers | kinds of reading | steps | faults | the reason why these faults cannot occur.
type Impossible = (&'static [Family], &'static [Kind], &'static [Moment], &'static [Fault], &'static str);

#[rustfmt::skip]
const IMPOSSIBLE: &[Impossible] = &[
    (ALL,  KINDS_OF_READING, &[After],           &[Spoil, Silence], "the next message belongs to the next sale"),
    (SLOT, &[Kind::Tap],     &[Ended],           &[Spoil, Silence], "the next message belongs to the next sale"),
    (NEO2, &[Kind::Chip],    &[Ended],           &[Spoil, Silence], "the next message belongs to the next sale"),
    (NEO2, &[Kind::Alone, Kind::Swipe], &[Host, Ended], &[Spoil, Silence], "the next message belongs to the next sale"),
    (NEO2, &[Kind::Tap],     &[Asked, Host],     &[Spoil, Silence], "the next message belongs to the next sale"),
    (NEO2, &[Kind::Tap],     &[Continue, Ended], &[Unplug, Reboot, Garbage, Spoil, Silence], "a tap hears no answer"),
];

/// Returns why the fault cannot occur at this step.
fn impossible(family: Family, (kind, entry): (Kind, CardEntry), moment: Moment, fault: Fault) -> Option<&'static str> {
    // After its chip has failed, the card is taken out and swiped.
    let is_swiped = kind == Kind::Swipe && moment != Inserted;
    if fault == Pull && (entry != Insert || moment == Waiting || is_swiped) {
        return Some("no card is in the slot");
    }
    let mut fits = IMPOSSIBLE.iter().filter(|(families, kinds, moments, faults, _)| {
        families.contains(&family) && kinds.contains(&kind) && moments.contains(&moment) && faults.contains(&fault)
    });
    fits.next().map(|one| one.4)
}

fn rule(family: Family, moment: Moment, fault: Fault, kind: Kind) -> &'static [Then] {
    let fits = |rule: &&Rule| rule.0.contains(&family) && rule.1.contains(&moment) && rule.2.contains(&fault);
    let mut rules = RULES.iter().filter(fits);
    let rule = rules.next().unwrap_or_else(|| panic!("no rule for {fault:?} at {moment:?} with {family:?}"));
    assert!(rules.next().is_none(), "two rules for {fault:?} at {moment:?} with {family:?}");
    let then = match kind {
        Kind::Chip => rule.3,
        Kind::Alone => rule.4,
        Kind::Tap => rule.5,
        Kind::Swipe => rule.6,
    };
    assert!(!then.is_empty(), "{kind:?} has {fault:?} at {moment:?} with {family:?}");
    then
}

/// Returns the fault after which the cashier cancels. Otherwise, the sale would end only at the deadline of a person
/// who chooses or types.
fn hung(family: Family, kind: Kind, moment: Moment, fault: Fault) -> Option<Hung> {
    let is_before = BEFORE.contains(&moment);
    match (family, fault) {
        (Miura | Vipa, Silence) => (kind == Kind::Tap && is_before).then_some(Hung::Lost),
        (Neo2, Silence) => is_before.then_some(Hung::Lost),
        (Vipa | Neo2, Reboot) => (is_before || matches!(moment, AskedForPin | LatePin)).then_some(Hung::Restarted),
        _ => None,
    }
}

/// Returns whether the sale ends only at the deadline of the chip's last answer, after half a minute. The reader has
/// not sent it, and reports neither its restart nor the pulled card.
fn is_long(family: Family, kind: Kind, moment: Moment, fault: Fault) -> bool {
    let answers_never = match family {
        Miura => false,
        Vipa => fault == Reboot,
        Neo2 => matches!(fault, Reboot | Silence),
    };
    kind == Kind::Chip && moment == Continue && answers_never
}

fn end(then: Then, usual: End) -> End {
    match (then, usual) {
        (Then::Cancelled, _) => Nothing,
        (Then::Reversed, Approved) => Reversed,
        (Then::AsUsual | Then::Reversed, usual) => usual,
    }
}

/// Returns the steps of this card's sale if the card is presented in this way.
fn steps(card: &Card, entry: CardEntry, family: Family) -> (Kind, Vec<Moment>) {
    use pos_sim::reader::deck::Tap as Antenna;
    let chip = match (entry, card.chip) {
        (Insert, Chip::Works { cvm, first, .. }) => Some((cvm, first)),
        _ => None,
    };
    let kind = match (entry, chip) {
        (Tap, _) => Kind::Tap,
        (_, Some((_, First::Asks))) => Kind::Chip,
        (_, Some(_)) => Kind::Alone,
        (_, None) => Kind::Swipe,
    };
    let online = match entry {
        Tap => matches!(card.tap, Antenna::Emv(Cvm::OnlinePin)),
        _ => matches!(chip, Some((Cvm::OnlinePin, First::Asks))),
    };
    let is_late = online && family == Vipa;
    let mut steps = vec![Waiting];
    steps.extend((entry == Insert).then_some(Inserted));
    if let Some((cvm, _)) = chip {
        steps.extend(matches!(card.applications, Applications::Choice(_)).then_some(Choice));
        steps.push(Start);
        steps.extend((cvm == Cvm::OfflinePin && card.tries > 0).then_some(Pin));
    }
    let swiped = kind == Kind::Swipe && card.service_code == "120";
    steps.extend((online || swiped).then_some(if is_late { LatePin } else { Pin }));
    match kind {
        Kind::Chip | Kind::Tap => {
            steps.extend([Answer, if is_late { AskedForPin } else { Asked }, Host, Continue, Ended]);
        }
        Kind::Alone => steps.extend([Answer, Ended]),
        Kind::Swipe => steps.push(Host),
    }
    // The gateway is also asked about a chip that approves offline.
    steps.extend(matches!(chip, Some((_, First::Approves))).then_some(Host));
    steps.push(After);
    (kind, steps)
}

/// Returns the reader script's action for a fault.
fn action(family: Family, fault: Fault, entry: CardEntry, moment: Moment) -> String {
    let in_slot = entry == Insert && !matches!(moment, Waiting | Ended | After);
    let fault = match fault {
        Pull => "remove",
        Unplug => "unplug 1ms",
        Reboot => "reboot 1ms",
        Garbage => "garbage 40",
        Spoil => "spoil",
        // The agent would not learn that the card is removed.
        Silence if !SLOT.contains(&family) => "silent",
        Silence if in_slot && moment == Host => "silent\non continue: wait 20ms, remove",
        // If nothing happens to a card, it is finally removed.
        Silence if in_slot => "silent, wait 20ms, remove",
        Silence => "silent",
    };
    match moment.event() {
        Some(event) => format!("on {event} 1: {fault}"),
        None => format!("after 0ms: {fault}"),
    }
}

#[tokio::test]
async fn a_reader_that_fails_at_every_step_of_every_card() {
    let (rows, _) = rows_of(&[Pull, Unplug, Reboot], row::family_of);
    run("faults of card and reader, and steps", 100, rows).await;
}

#[tokio::test]
async fn a_line_that_fails_at_every_step_of_every_card() {
    let (rows, _) = rows_of(LINE, row::family_of);
    run("faults of the line, and steps", 160, rows).await;
}

/// Each of these rows takes more than half a minute, so of each family and fault one is played. The seed chooses it.
#[tokio::test]
async fn a_chip_that_never_gives_its_last_answer_is_reversed_at_the_deadline() {
    let faults = [Reboot, Silence];
    let mut rows = Vec::new();
    for fault in faults {
        for family in families::played() {
            let (_, mut long) = rows_of(&[fault], |_| family);
            // Without an approval, nothing is reversed.
            long.retain(|row| row.usual == Approved);
            let Some(number) = usize::try_from(row::seed()).unwrap().checked_rem(long.len()) else { continue };
            let row = Row { patience: 2 * PATIENCE, ..long[number].clone() };
            println!("1 of {} rows: {} reader, {}", long.len(), family.as_str(), row.what);
            rows.push(row);
        }
    }
    run("chips that never give their last answer", 3, rows).await;
}

/// Returns each fault at each step, for each card and way of presenting it, with a family by number. The second list
/// has the rows that take half a minute.
fn rows_of(faults: &[Fault], family_of: impl Fn(usize) -> Family) -> (Vec<Row>, Vec<Row>) {
    let (mut rows, mut long, mut number) = (Vec::new(), Vec::new(), 0);
    let mut left_out: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    // A card that is first refused is charged in the way that then works. A blocked card has no sale.
    let ways = ways()
        .filter(|(card, entry)| card.after(*entry).is_none_or(|next| next == Swipe) && card.chip != Chip::Blocked);
    for (card, entry) in ways {
        for step in 0.. {
            // Every family has the same number of steps.
            if step == steps(card, entry, Miura).1.len() {
                break;
            }
            for &fault in faults {
                let family = family_of(number);
                number += 1;
                let (kind, steps) = steps(card, entry, family);
                let moment = steps[step];
                if let Some(why) = impossible(family, (kind, entry), moment, fault) {
                    *left_out.entry((family.as_str(), why)).or_default() += 1;
                    continue;
                }
                let row = faulty(card, entry, family, moment, fault);
                if is_long(family, kind, moment, fault) {
                    long.push(row);
                } else {
                    rows.push(row);
                }
            }
        }
    }
    for ((family, why), count) in left_out {
        println!("{count} rows with {faults:?} cannot be with {family}: {why}");
    }
    (rows, long)
}

/// Returns the row of a fault.
fn faulty(card: &'static Card, entry: CardEntry, family: Family, moment: Moment, fault: Fault) -> Row {
    let (kind, _) = steps(card, entry, family);
    let usual = sale(card, entry).3;
    Row {
        what: format!("{} {entry:?}: {fault:?} at {moment:?}", card.name),
        amount: if moment == Host { "10.61" } else { "12.34" }.to_owned(),
        script: action(family, fault, entry, moment),
        at: moment,
        must_act: true,
        cancels: hung(family, kind, moment, fault),
        starts_again: moment == After && (fault == Unplug || fault == Reboot && family == Miura),
        // A VIPA reader forgets its switches, and the next command for a tap is refused.
        is_found_late: family == Vipa && fault == Reboot,
        allowed: rule(family, moment, fault, kind).iter().map(|then| end(*then, usual)).collect(),
        family: Some(family),
        ..row_of(card, entry)
    }
}
