//! Tests of the link against a timetable.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::zvt::apdu::Control;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn ack() -> LinkAction {
    LinkAction::Write(vec![ACK])
}

fn nak() -> LinkAction {
    LinkAction::Write(vec![NAK])
}

fn framed(apdu: &Apdu) -> LinkAction {
    LinkAction::Write(frame::encode(apdu))
}

fn payment() -> Apdu {
    Apdu::new(Control::AUTHORISATION, vec![4, 0, 0, 0, 1, 0x10, 0x10])
}

fn status() -> Apdu {
    Apdu::new(Control::STATUS, vec![0x27, 0])
}

/// Creates a line on which a payment arrived at 0 and was answered. `acknowledged` means that the peer has acknowledged
/// the answer.
fn answered(acknowledged: bool) -> Link {
    let mut link = Link::new(115_200);
    let came = link.receive(&frame::encode(&payment()), ms(0));
    assert_eq!(came, [ack(), LinkAction::Deliver(payment())]);
    assert_eq!(link.send(Apdu::ok(), ms(1)).unwrap(), [framed(&Apdu::ok())]);
    if acknowledged {
        assert_eq!(link.receive(&[ACK], ms(5)), []);
        assert!(link.is_idle());
    }
    link
}

#[test]
fn a_frame_is_sent_three_times_and_then_the_line_is_lost() {
    let mut link = Link::new(115_200);
    let mut now = ms(0);
    assert_eq!(link.send(status(), now).unwrap(), [framed(&status())]);
    for _ in 0..2 {
        let deadline = link.next_deadline().unwrap();
        assert!((ms(5_000)..ms(5_010)).contains(&(deadline - now)));
        assert_eq!(link.poll(deadline - ms(1)), []);
        assert_eq!(link.poll(deadline), [framed(&status())]);
        now = deadline;
    }
    assert_eq!(link.poll(link.next_deadline().unwrap()), [LinkAction::Lost]);
    assert_eq!(link.next_deadline(), None);
    assert_eq!(link.send(status(), now).unwrap(), [framed(&status())]);
}

#[test]
fn t2_runs_from_when_the_frame_is_out() {
    let mut link = Link::new(9_600);
    let block = Apdu::new(Control::PRINT_BLOCK, vec![0x20; 8_700]);
    link.send(block, ms(0)).unwrap();
    assert!(link.next_deadline().unwrap() > ms(14_900));
}

#[test]
fn a_refused_frame_goes_out_at_once_and_the_next_waits_for_it() {
    let mut link = Link::new(115_200);
    link.send(Apdu::ok(), ms(0)).unwrap();
    assert_eq!(link.send(status(), ms(0)).unwrap(), []);
    assert_eq!(link.receive(&[NAK], ms(10)), [framed(&Apdu::ok())]);
    assert_eq!(link.receive(&[ACK], ms(20)), [framed(&status())]);
    assert_eq!(link.receive(&[ACK], ms(30)), []);
    assert!(link.is_idle());
    // A stray acknowledgement has no effect.
    assert_eq!(link.receive(&[ACK, NAK], ms(40)), []);
}

#[test]
fn no_more_waits_than_the_protocol_can_want() {
    let mut link = Link::new(9_600);
    for _ in 0..=MAX_QUEUE {
        link.send(status(), ms(0)).unwrap();
    }
    assert_eq!(link.send(status(), ms(0)), Err(QueueFull));
}

#[test]
fn silence_inside_a_frame_refuses_it() {
    let mut link = Link::new(9_600);
    let bytes = frame::encode(&payment());
    assert_eq!(link.receive(&bytes[..4], ms(0)), []);
    assert_eq!(link.receive(&bytes[4..6], ms(199)), []);
    assert_eq!(link.next_deadline(), Some(ms(399)));
    assert_eq!(link.poll(ms(399)), [nak()]);
    assert_eq!(link.next_deadline(), None);
    assert_eq!(link.receive(&bytes, ms(400)), [ack(), LinkAction::Deliver(payment())]);
}

#[test]
fn silence_is_seen_also_when_nobody_polled() {
    let mut link = Link::new(9_600);
    let bytes = frame::encode(&payment());
    link.receive(&bytes[..4], ms(0));
    assert_eq!(link.receive(&bytes, ms(500)), [nak(), ack(), LinkAction::Deliver(payment())]);
}

#[test]
fn a_frame_with_a_wrong_checksum_is_refused_at_once_and_a_broken_one_when_the_line_is_quiet() {
    let mut link = Link::new(9_600);
    let mut bytes = frame::encode(&payment());
    *bytes.last_mut().unwrap() ^= 1;
    assert_eq!(link.receive(&bytes, ms(0)), [nak()]);
    assert_eq!(link.receive(&[0x10, 0x02, 0x06, 0x10, 0x41, ACK, NAK], ms(10)), []);
    assert_eq!(link.poll(ms(210)), [nak()]);
    assert_eq!(link.receive(b"AT\r", ms(300)), []);
    assert_eq!(link.poll(ms(500)), []);
    assert_eq!(link.next_deadline(), None);
}

#[test]
fn a_command_is_not_repeated_while_the_peer_is_sending() {
    let mut link = Link::new(115_200);
    link.send(status(), ms(0)).unwrap();
    let bytes = frame::encode(&Apdu::ok());
    assert_eq!(link.receive(&bytes[..3], ms(4_950)), []);
    assert_eq!(link.poll(ms(5_050)), []);
    assert_eq!(link.receive(&bytes[3..], ms(5_100)), [ack(), LinkAction::Deliver(Apdu::ok())]);
    assert!(link.is_idle());
}

#[test]
fn a_repeated_command_is_acknowledged_and_not_handed_on() {
    let mut link = answered(false);
    assert_eq!(link.receive(&frame::encode(&payment()), ms(2_000)), [ack()]);
    assert_eq!(link.receive(&frame::encode(&payment()), ms(5_000)), [ack()]);
    // The repeat does not acknowledge our frame.
    assert!(!link.is_idle());
}

#[test]
fn the_same_command_is_new_when_ours_was_acknowledged_since() {
    let mut link = answered(true);
    assert_eq!(link.receive(&frame::encode(&payment()), ms(10)), [ack(), LinkAction::Deliver(payment())]);
}

#[test]
fn the_same_command_is_new_after_all_repeats_must_be_over() {
    let mut link = Link::new(115_200);
    let deliver = [ack(), LinkAction::Deliver(payment())];
    assert_eq!(link.receive(&frame::encode(&payment()), ms(0)), deliver);
    assert_eq!(link.receive(&frame::encode(&payment()), ms(10_000)), [ack()]);
    assert_eq!(link.receive(&frame::encode(&payment()), ms(20_000)), deliver);
}

#[test]
fn an_answer_acknowledges_what_it_answers() {
    let mut link = Link::new(115_200);
    link.send(status(), ms(0)).unwrap();
    let came = link.receive(&frame::encode(&Apdu::ok()), ms(50));
    assert_eq!(came, [ack(), LinkAction::Deliver(Apdu::ok())]);
    assert!(link.is_idle());
}

#[test]
fn the_next_command_acknowledges_our_answer_to_the_one_before() {
    let mut link = answered(false);
    let abort = Apdu::empty(Control::ABORT);
    assert_eq!(link.receive(&frame::encode(&abort), ms(100)), [ack(), LinkAction::Deliver(abort)]);
    assert!(link.is_idle());
}

#[test]
fn a_cancel_that_crosses_our_command_does_not_acknowledge_it() {
    let mut link = answered(true);
    link.send(status(), ms(10)).unwrap();
    let abort = Apdu::empty(Control::ABORT);
    assert_eq!(link.receive(&frame::encode(&abort), ms(11)), [ack(), LinkAction::Deliver(abort)]);
    assert!(!link.is_idle());
}

#[test]
fn the_same_answer_twice_is_two_answers_when_it_comes_early_and_a_repeat_when_late() {
    let yes = frame::encode(&Apdu::ok());
    for (at, handed_on) in [(100, true), (3_900, true), (5_000, false)] {
        let mut link = Link::new(115_200);
        link.send(status(), ms(0)).unwrap();
        link.receive(&[ACK], ms(1));
        assert_eq!(link.receive(&yes, ms(2)).len(), 2);
        link.send(Apdu::empty(Control::COMPLETION), ms(3)).unwrap();
        let came = link.receive(&yes, ms(at));
        assert_eq!(came.contains(&LinkAction::Deliver(Apdu::ok())), handed_on, "{at}");
        assert_eq!(link.is_idle(), handed_on);
    }
}

#[test]
fn what_is_to_be_written_is_not_shown() {
    let apdu = Apdu::new(Control::END_OF_DAY, vec![0x12, 0x34, 0x56]);
    assert_eq!(format!("{:?} {:?}", framed(&apdu), LinkAction::Deliver(apdu)), "Write[12] Deliver(06 50 with 3 bytes)");
}

proptest! {
    /// Connects two ends over a line that loses whole writes. A message arrives once, or its sender knows that it may
    /// be lost.
    #[test]
    fn nothing_arrives_twice(losses in prop::collection::vec(any::<bool>(), 0..12)) {
        let (mut till, mut terminal) = (Link::new(115_200), Link::new(115_200));
        let (mut now, mut arrived, mut lost) = (ms(0), 0, false);
        let mut losses = losses.into_iter();
        let mut wire: VecDeque<(bool, Vec<u8>)> = VecDeque::new();
        let mut put = |to_terminal: bool, actions: Vec<LinkAction>, wire: &mut VecDeque<(bool, Vec<u8>)>| {
            for action in actions {
                match action {
                    LinkAction::Write(bytes) if !losses.next().unwrap_or(false) => wire.push_back((to_terminal, bytes)),
                    LinkAction::Write(_) => {}
                    LinkAction::Deliver(_) if !to_terminal => arrived += 1,
                    LinkAction::Deliver(_) => {}
                    LinkAction::Lost => lost = true,
                }
            }
        };
        put(true, till.send(payment(), now).unwrap(), &mut wire);
        loop {
            while let Some((to_terminal, bytes)) = wire.pop_front() {
                now += ms(2);
                let end = if to_terminal { &mut terminal } else { &mut till };
                put(!to_terminal, end.receive(&bytes, now), &mut wire);
            }
            let Some(deadline) = till.next_deadline().into_iter().chain(terminal.next_deadline()).min() else { break };
            now = now.max(deadline);
            put(true, till.poll(now), &mut wire);
            put(false, terminal.poll(now), &mut wire);
        }
        prop_assert!(arrived == 1 || (arrived == 0 && lost), "{arrived} {lost}");
    }

    #[test]
    fn no_bytes_keep_the_link_from_coming_to_rest(chunks in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..20), 0_u64..6_000), 0..20)) {
        let (mut link, mut now) = (Link::new(9_600), ms(0));
        link.send(status(), now).unwrap();
        for (bytes, wait) in chunks {
            link.receive(&bytes, now);
            now += ms(wait);
            link.poll(now);
        }
        for _ in 0..10 {
            if let Some(deadline) = link.next_deadline() {
                now = now.max(deadline);
                link.poll(now);
            }
        }
        prop_assert_eq!(link.next_deadline(), None);
    }
}
