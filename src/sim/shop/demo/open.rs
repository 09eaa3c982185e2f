//! The shop with its door open: the keyboard lends the customer's hands and pulls cables, the screen shows what stands on the
//! reader's display and what comes out of the printer. Sales are started from a second terminal.

use std::fmt::Write as _;
use std::io;
use std::pin::Pin;

use tokio::sync::mpsc;

use super::agent::Agent;
use super::{say, ways};
use crate::sim::reader::{Card, Entry, Key, deck};
use crate::sim::shop::Shop;

/// Keys that choose a card, in the deck's order. Lower-case letters do something.
const CARD_KEYS: &str = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

const KEYS: &str = "  i insert   t tap   s swipe   r remove   c the reader's red key
  g gateway's line out or in   p printer off or on   u reader's cable out or in
  l list the cards   h where everything is   q quit";

/// Keeps the shop open until `q`, `stop`, or the end of the input.
pub(super) async fn stay_open(
    shop: &mut Shop,
    agent: &mut Agent,
    mut stop: Pin<&mut impl Future<Output = ()>>,
) -> io::Result<u8> {
    say(&welcome(agent, shop));
    let (mut keys, _single_keys) = keyboard();
    let mut screen = shop.reader.watch();
    let mut customer = Customer { card: &deck::DECK[0], cables: Cables::default() };
    loop {
        tokio::select! {
            key = keys.recv() => match key {
                None | Some('q') => return Ok(0),
                Some('h') => say(&welcome(agent, shop)),
                Some(key) => customer.press(key, shop).await?,
            },
            Ok(()) = screen.changed() => {
                say(&format!("  reader   [ {} ]", screen.borrow_and_update().lines.join(" / ")));
            }
            receipt = shop.printer.next_receipt() => say(&paper(&receipt)),
            ended = agent.ended() => return Err(ended),
            () = &mut stop => return Ok(0),
        }
    }
}

/// Whoever sits at the keyboard.
struct Customer {
    card: &'static Card,
    cables: Cables,
}

/// What has been pulled out.
#[derive(Default)]
struct Cables {
    gateway: bool,
    printer: bool,
    reader: bool,
}

impl Customer {
    async fn press(&mut self, key: char, shop: &Shop) -> io::Result<()> {
        match key {
            'i' => self.present(shop, Entry::Insert),
            't' => self.present(shop, Entry::Tap),
            's' => self.present(shop, Entry::Swipe),
            'r' if shop.reader.watch().borrow().card_in_slot => {
                shop.reader.remove();
                say("  you      take the card out");
            }
            'r' => say("  you      no card is in the slot"),
            'c' => {
                shop.reader.key(Key::Cancel);
                say("  you      press the red key");
            }
            'g' | 'p' | 'u' => self.cables.pull(key, shop).await?,
            'l' => say(&cards()),
            key => match by_key(key) {
                Some(card) => {
                    self.card = card;
                    say(&format!("  you      hold {} ({})", card.name, nature(card)));
                }
                None => say(&format!("{}\n{KEYS}", choosing())),
            },
        }
        Ok(())
    }

    fn present(&self, shop: &Shop, entry: Entry) {
        let card = self.card;
        let wait = if shop.reader.watch().borrow().card_in_slot { "; another card is in the slot" } else { "" };
        if !ways(card).contains(&entry) {
            return say(&format!("  you      {} can only do this: {}", card.name, words(&ways(card))));
        }
        say(&format!("  you      {} the card {}{wait}", word(entry), card.name));
        shop.reader.present(card, entry);
    }
}

impl Cables {
    async fn pull(&mut self, key: char, shop: &Shop) -> io::Result<()> {
        let (what, out) = match key {
            'g' => ("gateway's line", &mut self.gateway),
            'p' => ("printer's plug", &mut self.printer),
            _ => ("reader's cable", &mut self.reader),
        };
        *out = !*out;
        let out = *out;
        match key {
            'g' => shop.gateway.set_offline(out).await?,
            'p' => shop.printer.set_dead(out).await,
            _ if out => shop.reader.unplug(),
            _ => shop.reader.replug()?,
        }
        say(&format!("  you      {} the {what}", if out { "pull out" } else { "put back" }));
        Ok(())
    }
}

fn by_key(key: char) -> Option<&'static Card> {
    CARD_KEYS.find(key).and_then(|place| deck::DECK.get(place))
}

fn welcome(agent: &Agent, shop: &Shop) -> String {
    format!(
        "\nThe shop is open. The agent is the real one; reader, gateway and printer are simulated.\n\n  \
           reader   {reader}\n  gateway  {gateway}\n  printer  tcp://{printer}\n  \
           log      {folder}/agent.log\n\n\
         To take a payment, type in a second terminal:\n\n  {program} sale 12.34 --config {config}\n\n\
         Then be the customer here, with these keys:\n\n{KEYS}\n{choosing}\n\n{cards}",
        choosing = choosing(),
        reader = shop.reader.place(),
        gateway = shop.gateway.base_url(),
        printer = shop.printer.address,
        folder = shop.folder().display(),
        program = agent.program().display(),
        config = shop.config().display(),
        cards = cards(),
    )
}

fn choosing() -> String {
    let last = CARD_KEYS.chars().nth(deck::DECK.len() - 1).unwrap_or('Z');
    format!("  1-9 and A-{last} choose the card to hold; at first it is {}", deck::DECK[0].name)
}

fn cards() -> String {
    let mut text = String::new();
    for (key, card) in CARD_KEYS.chars().zip(deck::DECK) {
        let _ = writeln!(text, "  {key} {:17} {:22} {}", card.name, words(&ways(card)), nature(card));
    }
    text
}

/// What is special about a card, in a few words.
fn nature(card: &Card) -> &'static str {
    match card.name {
        "chip-pin" => "the everyday card: chip and PIN",
        "chip-no-cvm" => "chip without PIN",
        "chip-refuses" => "its chip refuses after the bank has approved",
        "chip-offline" => "its chip approves before anyone is asked",
        "chip-declines" => "its chip declines before anyone is asked",
        "chip-choice" => "two applications on one chip",
        "chip-broken" => "its chip is dead: insert, then swipe",
        "chip-unsupported" => "a chip that the reader does not know: insert, then swipe",
        "tap" => "contactless without PIN",
        "tap-pin" => "contactless with PIN",
        "tap-magstripe" => "contactless of the old kind",
        "tap-insert" => "when tapped it wants to be inserted",
        "swipe" => "stripe only: signature",
        "swipe-pin" => "stripe only: PIN",
        _ => card.about,
    }
}

fn word(entry: Entry) -> &'static str {
    match entry {
        Entry::Insert => "insert",
        Entry::Tap => "tap",
        Entry::Swipe => "swipe",
    }
}

/// `insert, swipe`.
pub(super) fn words(ways: &[Entry]) -> String {
    let words: Vec<_> = ways.iter().map(|way| word(*way)).collect();
    words.join(", ")
}

/// A receipt with the edges of its paper, so that it stands out from what is said around it.
fn paper(receipt: &str) -> String {
    let mut text = String::from("  printer\n");
    for line in receipt.trim_end().lines() {
        let _ = writeln!(text, "  | {line:42} |");
    }
    text
}

/// Single keys of a terminal, or the letters of a pipe. A thread of its own reads them: a blocked read must not hold the
/// program's end.
fn keyboard() -> (mpsc::Receiver<char>, Option<SingleKeys>) {
    use std::io::Read;
    let (sender, keys) = mpsc::channel(16);
    std::thread::spawn(move || {
        for byte in io::stdin().lock().bytes() {
            match byte {
                Ok(byte) if byte.is_ascii_graphic() => {
                    if sender.blocking_send(char::from(byte)).is_err() {
                        return;
                    }
                }
                Ok(_) => {}
                Err(_) => return,
            }
        }
    });
    (keys, SingleKeys::on())
}

/// The terminal gives keys without Enter and without echo as long as this lives; signals and line feeds stay as they are.
struct SingleKeys(rustix::termios::Termios);

impl SingleKeys {
    /// `None` when standard input is no terminal.
    fn on() -> Option<Self> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(io::stdin()).ok()?;
        let mut single = before.clone();
        single.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Now, &single).ok()?;
        Some(Self(before))
    }
}

impl Drop for SingleKeys {
    fn drop(&mut self) {
        // A terminal that is gone needs no restoring.
        let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, &self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_card_has_a_key_and_a_word() {
        assert!(deck::DECK.len() <= CARD_KEYS.len());
        for (key, card) in CARD_KEYS.chars().zip(deck::DECK) {
            assert_eq!(by_key(key), Some(card));
            assert!(!nature(card).is_empty(), "{}", card.name);
        }
        assert_eq!(by_key('z'), None);
    }
}
