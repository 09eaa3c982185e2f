//! Tests of a sale that begins while the previous card is still in the reader.

use super::*;
use crate::till::{Attention, SaleView};
use pos_core::transaction::Reason;
use pos_core::wish::{WantedTip, WishFields};
use pos_reader::{NoCard, ReaderEvent, ReaderProgress};

pub(super) fn terminal_with_reader(folder: &Path) -> Terminal {
    let mut terminal = Terminal::start(folder, "");
    terminal.with_reader();
    terminal
}

impl Terminal {
    pub(super) async fn sells(&mut self, till: &str, reference: &str) -> Result<SaleView, Refused> {
        self.sells_with_tip(till, reference, None).await
    }

    pub(super) async fn sells_with_tip(
        &mut self,
        till: &str,
        reference: &str,
        tip: Option<WantedTip>,
    ) -> Result<SaleView, Refused> {
        let wish = wish(WishFields {
            amount: Some(eur(1000)),
            tip,
            entry: None,
            accept_partial: Some(false),
            till_confirms: None,
            ..WishFields::new(Kind::Sale)
        });
        let (till, reference) = (till.to_owned(), Reference::parse(reference).unwrap());
        let of = EarlierName::Number(SaleNumber::new(1));
        let wanted = Wanted { till, reference, wish, ..refund("till-1", of, 1000, &[Right::Sale]) };
        let (reply, answer) = tokio::sync::oneshot::channel();
        self.agent.till_asks(Command::Begin { wanted: Box::new(wanted), reply });
        let answer = answer.await.unwrap();
        self.goes_on();
        answer
    }

    pub(super) fn goes_on(&mut self) {
        self.agent.catch_up();
        self.agent.tell_and_print();
    }

    /// Cancels the first sale at the reader, with its card left in the slot.
    fn leaves_his_card(&mut self) {
        let sale = self.agent.engine.devices.reader.in_use_by.unwrap();
        self.agent.engine.reader_says(ReaderEvent::NoCard { sale, why: NoCard::CancelledAtReader });
        self.agent.engine.reader_says(ReaderEvent::Progress { sale, progress: ReaderProgress::RemoveCard });
        self.goes_on();
    }

    pub(super) fn says_of(&self, till: &str, reference: &str) -> SaleView {
        self.agent.engine.facts().find(till, &Reference::parse(reference).unwrap()).unwrap().1
    }

    pub(super) fn at_reader(&self) -> Option<u64> {
        self.agent.engine.devices.reader.in_use_by.map(SaleNumber::get)
    }
}

#[tokio::test(start_paused = true)]
async fn the_next_sale_waits_until_the_card_before_is_out() {
    let folder = TempDir::new().unwrap();
    let mut terminal = terminal_with_reader(folder.path());
    terminal.sells("till-1", "R1").await.unwrap();
    let busy = terminal.sells("till-2", "R2").await;
    assert!(matches!(busy, Err(Refused::Busy { .. })), "a sale that waits for its card keeps the reader: {busy:?}");
    terminal.leaves_his_card();
    let status = terminal.agent.status(|_| true);
    assert!(status.needs(Attention::ReaderCardLeft) && status.reader.card_left && status.ready, "{status:?}");

    terminal.sells("till-2", "R2").await.unwrap();
    let waits = terminal.says_of("till-2", "R2");
    assert_eq!((waits.step.as_deref(), waits.left_s, waits.wait_s), (Some("remove-card"), Some(30), Some(30)));
    assert_eq!(terminal.at_reader(), Some(1), "the reader is not asked for a card");
    let busy = terminal.sells("till-3", "R3").await;
    let Err(Refused::Busy { reference, .. }) = busy else { panic!("one waits: {busy:?}") };
    assert_eq!(reference.as_str(), "R2");

    terminal.agent.engine.reader_says(ReaderEvent::Idle);
    terminal.goes_on();
    assert_eq!(terminal.at_reader(), Some(2));
    let status = terminal.agent.status(|_| true);
    assert!(!status.needs(Attention::ReaderCardLeft) && !status.reader.card_left, "{status:?}");
    let card_timeout = terminal.says_of("till-2", "R2").wait_s;
    assert_eq!(card_timeout, Some(60), "now it waits for its own card");
}

#[tokio::test(start_paused = true)]
async fn the_cards_language_is_told_from_the_card_until_it_is_out() {
    let folder = TempDir::new().unwrap();
    let mut terminal = terminal_with_reader(folder.path());
    terminal.sells("till-1", "R1").await.unwrap();
    let names = |terminal: &mut Terminal, sale| {
        let language = pos_reader::ReaderLanguage::French;
        terminal.agent.engine.reader_says(ReaderEvent::Language { sale: SaleNumber::new(sale), language });
        terminal.says_of("till-1", "R1").language
    };
    assert_eq!(names(&mut terminal, 2), None, "of another transaction");
    assert_eq!(names(&mut terminal, 1).as_deref(), Some("fr"));
    terminal.leaves_his_card();
    let ended = terminal.says_of("till-1", "R1");
    assert_eq!((ended.outcome, ended.language.as_deref()), (Some(OutcomeWord::Cancelled), Some("fr")));
    terminal.agent.engine.reader_says(ReaderEvent::Idle);
    terminal.goes_on();
    assert_eq!(terminal.says_of("till-1", "R1").language, None);
    assert_eq!(terminal.agent.status(|_| true).language.as_deref(), Some("en"));
}

#[tokio::test(start_paused = true)]
async fn a_card_that_nobody_takes_out_ends_the_wait_by_name() {
    let folder = TempDir::new().unwrap();
    let mut terminal = terminal_with_reader(folder.path());
    terminal.sells("till-1", "R1").await.unwrap();
    terminal.leaves_his_card();
    terminal.sells("till-2", "R2").await.unwrap();
    tokio::time::advance(Duration::from_millis(29_999)).await;
    terminal.agent.engine.deadline_passed();
    terminal.goes_on();
    assert_eq!(terminal.says_of("till-2", "R2").outcome, None);
    assert!(terminal.agent.next_deadline() <= tokio::time::Instant::now() + Duration::from_millis(1));
    tokio::time::advance(Duration::from_millis(1)).await;
    terminal.agent.engine.deadline_passed();
    terminal.goes_on();
    let over = terminal.says_of("till-2", "R2");
    assert_eq!(
        (over.outcome, over.reason.as_deref()),
        (Some(OutcomeWord::Cancelled), Some(Reason::CardLeftIn.as_str()))
    );
    assert_eq!(terminal.at_reader(), Some(1));
    // The next sale waits as well, and then gets the reader.
    terminal.sells("till-2", "R3").await.unwrap();
    terminal.agent.engine.reader_says(ReaderEvent::Idle);
    assert_eq!(terminal.at_reader(), Some(3));
}

#[tokio::test(start_paused = true)]
async fn a_sale_that_waits_for_the_slot_can_be_cancelled_and_hears_of_a_lost_reader() {
    let folder = TempDir::new().unwrap();
    let mut terminal = terminal_with_reader(folder.path());
    terminal.sells("till-1", "R1").await.unwrap();
    terminal.leaves_his_card();
    terminal.sells("till-2", "R2").await.unwrap();
    let (reply, answer) = tokio::sync::oneshot::channel();
    let (till, reference) = ("till-2".to_owned(), Reference::parse("R2").unwrap());
    terminal.agent.till_asks(Command::Cancel { till, reference, by: Who::default(), reply });
    terminal.goes_on();
    let cancelled = answer.await.unwrap().unwrap();
    assert_eq!(
        (cancelled.outcome, cancelled.reason.as_deref()),
        (Some(OutcomeWord::Cancelled), Some("till-cancelled"))
    );

    terminal.sells("till-2", "R3").await.unwrap();
    let cause = "gone".to_owned();
    terminal.agent.engine.reader_says(ReaderEvent::Unready(pos_reader::Unready::Restarting { cause }));
    terminal.goes_on();
    let lost = terminal.says_of("till-2", "R3");
    assert_eq!((lost.outcome, lost.reason.as_deref()), (Some(OutcomeWord::NotSent), Some("reader-restarting")));
    assert!(terminal.at_reader().is_none() && !terminal.agent.status(|_| true).reader.card_left);
}

/// The reader is lost and comes back. In between, it reports late that the earlier sale has ended.
#[tokio::test(start_paused = true)]
async fn a_late_word_about_a_sale_that_lost_the_reader_frees_it_for_nobody() {
    let late = |sale| {
        [
            ReaderEvent::NoCard { sale, why: NoCard::NotReady },
            ReaderEvent::Completed {
                sale,
                verdict: pos_reader::CardVerdict::Lost,
                facts: None,
                scripts_dropped: false,
            },
        ]
    };
    for event in late(SaleNumber::new(1)) {
        let folder = TempDir::new().unwrap();
        let mut terminal = terminal_with_reader(folder.path());
        terminal.sells("till-1", "R1").await.unwrap();
        let cause = "gone".to_owned();
        terminal.agent.engine.reader_says(ReaderEvent::Unready(pos_reader::Unready::Restarting { cause }));
        let said = format!("{event:?}");
        terminal.agent.engine.reader_says(event);
        terminal.goes_on();
        terminal.with_reader();
        terminal.sells("till-1", "R2").await.unwrap();
        let busy = terminal.sells("till-2", "R3").await;
        let Err(Refused::Busy { reference, .. }) = busy else { panic!("{said}: {busy:?}") };
        assert_eq!((reference.as_str(), terminal.at_reader()), ("R2", Some(2)), "{said}");
    }
}
