//! Tests the demo in all its visible states, on a small and on a large screen. Every sentence must be shown whole.

use super::terminal::Terminal;

#[test]
fn nothing_is_cut_off_at_80_by_24() {
    every_state((80, 24));
}

#[test]
fn nothing_is_cut_off_at_120_by_40() {
    every_state((120, 40));
}

/// Checks that in every state the sentence is shown whole, and no word is cut.
fn every_state(size: (u16, u16)) {
    let mut shop = Terminal::open("xterm-256color", &[]);
    shop.resize(size.0, size.1);
    shop.shows(&["agent ready"]);
    shop.says("Press n to start a sale. Press ? to see what all keys do.");
    shop.cuts_no_word(size);
    sales(&mut shop, size);
    what_follows_a_sale(&mut shop, size);
    sheets(&mut shop, size);
    troubles(&mut shop, size);
    shop.press("q");
    shop.ends_and_gives_the_terminal_back();
}

/// Runs `demo-1` to `demo-4`: approved with PIN, declined, partially approved, signed.
fn sales(shop: &mut Terminal, size: (u16, u16)) {
    // The reader shows the amount from the agent.
    shop.press("n\r");
    shop.says("12.34 EUR INSERT, TAP OR SWIPE It is waiting for a card. The slot is empty.");
    shop.cuts_no_word(size);
    shop.press("i");
    shop.says("12.34 EUR ENTER PIN * The customer types the PIN. It holds chip-pin.");
    shop.says("12.34 EUR APPROVED REMOVE CARD Take the card out. It holds chip-pin.");
    shop.says("demo-1: APPROVED 12.34 EUR");
    shop.cuts_no_word(size);
    takes_the_card(shop);

    for (amount, says) in [("5.51", "demo-2: DECLINED"), ("5.60", "demo-3: PARTIALLY APPROVED")] {
        shop.press(&format!("2n{amount}\ri"));
        shop.says(says);
        shop.cuts_no_word(size);
        takes_the_card(shop);
    }

    shop.press("Fn\ri");
    shop.says("You insert the card chip-signature.");
    shop.says("Its chip asks for a signature.");
    shop.shows(&["SIGNATURE NEEDED", "y signature ok  f forged"]);
    shop.cuts_no_word(size);
    shop.press("y");
    shop.says("You accept the signature: it is the one on the card.");
    shop.says("demo-4: APPROVED 12.34 EUR");
    takes_the_card(shop);
}

/// Runs `demo-5` to `demo-8`: refund, refused void, tip, void.
fn what_follows_a_sale(shop: &mut Terminal, size: (u16, u16)) {
    // A part of the sale is refunded, and after that the sale cannot be voided.
    shop.press("b");
    shop.says("How much of demo-4 is refunded? Press Enter to refund all.");
    shop.cuts_no_word(size);
    shop.press("5\r");
    shop.says("You refund 5.00 EUR of demo-4; the refund is demo-5.");
    shop.shows(&["demo-5: ", "APPROVED 5.00 EUR"]);
    shop.cuts_no_word(size);
    shop.press("v");
    shop.says("The agent does not start demo-6; no money moves.");
    shop.cuts_no_word(size);

    // The customer types the tip on the reader, and pays both amounts with the card. Then the whole payment is
    // reversed.
    shop.press("2m\r");
    shop.says("12.34 EUR ENTER TIP Type the tip on the reader. The slot is empty.");
    shop.cuts_no_word(size);
    shop.press("200");
    shop.says("12.34 EUR ENTER TIP 2.00 EUR Type the tip on the reader.");
    shop.press("\r");
    shop.says("14.34 EUR INSERT, TAP OR SWIPE");
    shop.press("i");
    shop.says("demo-7: APPROVED 14.34 EUR");
    takes_the_card(shop);
    shop.press("v");
    shop.says("You void demo-7; the void is demo-8.");
    shop.shows(&["demo-8: ", "APPROVED 14.34 EUR"]);
    shop.cuts_no_word(size);
}

/// Shows the ledger, the totals and the help.
fn sheets(shop: &mut Terminal, size: (u16, u16)) {
    // These are the gateway's ledger and the agent's totals.
    shop.press("\t");
    shop.shows(&["14.34 EUR  sale 6 by chip: reversed", "14.34 EUR  void of sale 6", "charged in all: 22.48 EUR"]);
    shop.cuts_no_word(size);
    shop.press("z");
    shop.shows(&[
        "Refunds                          1            5.00 EUR",
        "Sales                            4",
        "Declined",
    ]);
    shop.cuts_no_word(size);
    shop.press("z?");
    shop.says("Take a card in your hand. ↑ and ↓ take the previous or next one.");
    shop.says("q Quit.");
    shop.cuts_no_word(size);
    shop.press(" ");
    shop.says("The agent is the real one. Take a payment from a second terminal like this:");
    shop.cuts_no_word(size);
    shop.press(" ");
}

/// Runs `demo-9` to `demo-11`: a printer without paper, an answer that never arrives, a gateway that is off.
fn troubles(shop: &mut Terminal, size: (u16, u16)) {
    shop.press("p");
    shop.says("You take the paper out of the printer.");
    shop.press("n\ri");
    shop.says("demo-9: APPROVED 12.34 EUR");
    takes_the_card(shop);
    shop.says("The printer is out of paper");
    shop.cuts_no_word(size);
    shop.press("ppp");
    shop.says("You switch the printer on.");

    // The payment is approved without an answer, and then the gateway is unreachable.
    shop.press("n5.71\ri");
    shop.shows(&["5.71 EUR  sale 9 by chip: charged"]);
    shop.press("g");
    shop.says("You cut the network.");
    shop.shows(&["network off", "UNCONFIRMED"]);
    shop.cuts_no_word(size);
    takes_the_card(shop);
    shop.press("n\ri");
    shop.shows(&["demo-11: NOT SENT"]);
    shop.cuts_no_word(size);
}

/// Takes the card out, and checks that the terminal is ready for the next transaction.
fn takes_the_card(shop: &mut Terminal) {
    shop.shows(&["REMOVE CARD"]);
    shop.press("r");
    shop.says("The slot is empty.");
    shop.until(|screen| !screen.contents().contains("agent in a sale"), "a terminal that is ready");
}
