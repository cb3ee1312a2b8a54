//! What a conductor makes of an agent that is paired, and means harm: it does not wait for ever, and it
//! remembers why.

use btu_control::Identity;
use btu_control::client::Client;
use btu_control::client::ClientAction;
use btu_control::client::ClientEvent;
use btu_control::client::Fault;
use btu_control::frame::Chunk;
use btu_control::message::Answer;
use btu_control::message::MAJOR;
use btu_control::message::MINOR;
use btu_control::message::Request;
use btu_control::message::TestOrder;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use crate::guests::test_order;

const START: Nanos = Nanos::from_secs(1);
const PATIENCE: Nanos = Nanos::from_secs(15);

/// A connection that is ready for its first question.
fn ready() -> Client {
    let agent = Identity::ephemeral().unwrap().id();
    let mut client = Client::new(agent, None, "1".to_owned(), START);
    client.on(START, ClientEvent::Secured { agent, binding: [0; 32] });
    let (build, known) = ("1".to_owned(), true);
    let welcome = Answer::Welcome { major: MAJOR, minor: MINOR, build, known };
    client.on(START, ClientEvent::Heard(welcome));
    client
}

/// Asks for facts, and hears that a document of this length follows.
fn promised(length: u64) -> Client {
    let mut client = ready();
    let request = Request::Facts { seq: 1 };
    client.on(START, ClientEvent::Ask { request, patience: PATIENCE, longest: None });
    let document = Answer::Document { seq: 1, length, moved_bytes: Bytes::ZERO, account: None };
    client.on(START, ClientEvent::Heard(document));
    client
}

fn piece(offset: u64, bytes: usize) -> ClientEvent {
    ClientEvent::Piece(Chunk { document: 1, offset, bytes: vec![7; bytes] })
}

#[test]
fn a_document_that_trickles_is_given_up() {
    // At 128 kbit/s it takes 50 s, beside the 10 s for its first piece.
    let mut client = promised(800_000);
    for second in 0..59 {
        let now = START.saturating_add(Nanos::from_secs(second));
        assert_eq!(client.on(now, piece(second, 1)), [], "{second}");
        assert_eq!(client.on(now, ClientEvent::Tick), [], "{second}");
    }
    let late = START.saturating_add(Nanos::from_secs(60));
    let given_up = client.on(late, ClientEvent::Tick);
    let [ClientAction::Failed(Fault::Silent(what, _))] = &given_up[..] else {
        panic!("{given_up:?}")
    };
    assert_eq!(*what, "the rest of a document");
    // One that comes at that rate is whole in time.
    let mut client = promised(800_000);
    let mut last = Vec::new();
    for second in 1..=50 {
        let now = START.saturating_add(Nanos::from_secs(second));
        last = client.on(now, piece((second - 1) * 16_000, 16_000));
    }
    assert!(matches!(&last[..], [ClientAction::Done(reply)] if reply.document.len() == 800_000));
}

#[test]
fn last_words_are_the_answer_to_all_that_is_asked_later() {
    let mut client = ready();
    assert!(!client.is_over());
    let reason = "all work was stopped here".to_owned();
    client.on(START, ClientEvent::Heard(Answer::Bye { reason: reason.clone() }));
    assert!(client.is_over());
    client.on(START, ClientEvent::Lost("closed by the agent".to_owned()));
    for seq in 1..=2 {
        let request = Request::Facts { seq };
        let asked =
            client.on(START, ClientEvent::Ask { request, patience: PATIENCE, longest: None });
        assert_eq!(asked, [ClientAction::Failed(Fault::Bye(reason.clone()))]);
    }
}

#[test]
fn a_test_that_tells_steps_for_ever_ends_with_the_time_that_it_may_take() {
    let longest = Nanos::from_secs(600);
    let mut client = ready();
    let request = Request::Test(Box::new(test_order(1)));
    let asked = ClientEvent::Ask { request, patience: PATIENCE, longest: Some(longest) };
    client.on(START, asked);
    let step = || Answer::Progress {
        seq: 1,
        text: "again".to_owned(),
        moved_bytes: Bytes::ZERO,
        kept_bytes: 0,
    };
    let told = [ClientAction::Send(Request::Ping {}), ClientAction::Progress("again".to_owned())];
    let at = |second| START.saturating_add(Nanos::from_secs(second));
    for second in (0..600).step_by(10) {
        assert_eq!(client.on(at(second), ClientEvent::Heard(step())), told, "{second}");
        assert_eq!(client.on(at(second), ClientEvent::Tick), [], "{second}");
    }
    assert_eq!(client.wake_at(), Some(at(600)));
    let given_up = client.on(at(600), ClientEvent::Tick);
    assert_eq!(given_up, [ClientAction::Failed(Fault::Endless(longest))]);
    assert!(Fault::Endless(longest).to_string().contains("no result within 600s"));
    assert_eq!(client.on(at(601), ClientEvent::Heard(step())), [], "it is over");
}

#[test]
fn what_an_agent_refuses_is_told_with_its_reason() {
    let mut client = ready();
    let request = Request::Test(Box::new(test_order(1)));
    client.on(START, ClientEvent::Ask { request, patience: PATIENCE, longest: None });
    let reason = "note is 5000, at most 4096 is allowed".to_owned();
    let told = client.on(START, ClientEvent::Heard(Answer::Refused { reason: reason.clone() }));
    assert_eq!(told, [ClientAction::Failed(Fault::Refused(reason))]);
}

/// The last piece of a copy and the next step may come as one: nobody looks at the time between them.
#[test]
fn a_test_that_brings_copies_for_ever_ends_with_the_time_that_it_may_take() {
    let step = || {
        let text = "again".to_owned();
        ClientEvent::Heard(Answer::Progress {
            seq: 1,
            text,
            moved_bytes: Bytes::ZERO,
            kept_bytes: 1,
        })
    };
    let at = |second| START.saturating_add(Nanos::from_secs(second));
    let endless = [ClientAction::Failed(Fault::Endless(Nanos::from_secs(600)))];
    let told_until = |second| {
        let (mut client, _) = copied(true, 1);
        for second in (5..second).step_by(5) {
            assert_eq!(client.on(at(second), piece(0, 1)).len(), 3, "{second}");
            assert_eq!(client.on(at(second), step()), [], "{second}");
            assert_eq!(client.on(at(second), ClientEvent::Tick), [], "{second}");
        }
        client
    };
    let mut client = told_until(600);
    assert_eq!(client.wake_at(), Some(at(600)));
    assert_eq!(client.on(at(600), ClientEvent::Tick), endless);
    // And where the clock is looked at too late for that.
    assert_eq!(told_until(600).on(at(601), piece(0, 1)), endless);
    let mut client = told_until(595);
    assert_eq!(client.on(at(599), piece(0, 1)).len(), 3);
    assert_eq!(client.on(at(600), step()), endless);
}

#[test]
fn a_test_without_a_step_is_given_up_before_the_time_that_all_of_it_may_take() {
    let mut client = ready();
    let request = Request::Test(Box::new(test_order(1)));
    let longest = Some(Nanos::from_secs(600));
    client.on(START, ClientEvent::Ask { request, patience: PATIENCE, longest });
    let given_up = client.on(START.saturating_add(PATIENCE), ClientEvent::Tick);
    let silent = Fault::Silent("the next step of the test", PATIENCE);
    assert_eq!(given_up, [ClientAction::Failed(silent)]);
}

/// A test is ordered, whose steps bring copies or not, and a step says that so many bytes of one follow.
fn copied(copies: bool, kept_bytes: u64) -> (Client, Vec<ClientAction>) {
    let mut client = ready();
    let order = TestOrder { copies, ..test_order(1) };
    let request = Request::Test(Box::new(order));
    let longest = Some(Nanos::from_secs(600));
    client.on(START, ClientEvent::Ask { request, patience: PATIENCE, longest });
    let text = "1/9".to_owned();
    let step = Answer::Progress { seq: 1, text, moved_bytes: Bytes::ZERO, kept_bytes };
    let said = client.on(START, ClientEvent::Heard(step));
    (client, said)
}

#[test]
fn a_step_is_answered_when_its_copy_is_whole_and_the_test_goes_on() {
    let (mut client, said) = copied(true, 5);
    assert_eq!(said, []);
    assert_eq!(client.on(START, piece(0, 3)), []);
    let told = [
        ClientAction::Kept(vec![7; 5]),
        ClientAction::Send(Request::Ping {}),
        ClientAction::Progress("1/9".to_owned()),
    ];
    assert_eq!(client.on(START, piece(3, 2)), told);
    // The test is still asked for: it has its own patience again, and its own end.
    assert_eq!(client.wake_at(), Some(START.saturating_add(PATIENCE)));
    let document = Answer::Document { seq: 1, length: 0, moved_bytes: Bytes::ZERO, account: None };
    let ended = client.on(START, ClientEvent::Heard(document));
    assert!(matches!(&ended[..], [ClientAction::Done(_)]), "{ended:?}");
}

#[test]
fn a_copy_that_nobody_asked_for_or_that_does_not_come_ends_the_connection() {
    let lied = |said: &[ClientAction]| matches!(said, [ClientAction::Failed(Fault::Lied(_))]);
    let (_, said) = copied(false, 5);
    assert!(lied(&said), "{said:?}");
    for (offset, bytes) in [(1, 3), (0, 6), (0, 0)] {
        let said = copied(true, 5).0.on(START, piece(offset, bytes));
        assert!(lied(&said), "{offset}, {bytes}: {said:?}");
    }
    let (mut client, _) = copied(true, 5);
    let answer = Answer::Failed { seq: 1, reason: "over".to_owned() };
    let said = client.on(START, ClientEvent::Heard(answer));
    assert!(lied(&said), "the rest of it first: {said:?}");
    let (mut client, _) = copied(true, 5);
    let given_up = client.on(START.saturating_add(Nanos::from_secs(10)), ClientEvent::Tick);
    let [ClientAction::Failed(Fault::Silent(what, _))] = &given_up[..] else {
        panic!("{given_up:?}")
    };
    assert_eq!(*what, "the rest of a document");
}
