//! What a side saw survives its report, and impossible reports are refused.

use super::super::super::job::Carrier;
use super::super::super::job::Offer;
use super::*;

fn block(due: u64, start: Option<u64>, fate: Fate) -> BlockRecord {
    BlockRecord {
        due: Nanos::new(due),
        size: Bytes::new(1000 + due),
        start: start.map(Nanos::new),
        end: start.map(|start| Nanos::new(start + 7)),
        taken: Bytes::new(if start.is_some() { 1000 + due } else { 0 }),
        held_from: start.filter(|start| *start > due + 100).map(Nanos::new),
        is_untimed: false,
        fate,
    }
}

const HERE: usize = 0;
const THERE: usize = 1;

fn flow(from: usize, blocks: u64) -> Flow {
    let offer = Offer::queued((0..blocks).map(|k| (Nanos::new(k), 1000)));
    let (to, duration) = (HERE + THERE - from, Nanos::new(1000));
    Flow { from, to, duration, ..Flow::of_a_test(Carrier::Udp, offer) }
}

/// The last one leads to a third host.
fn flows() -> [Flow; 3] {
    [
        Flow { has_receipts: true, ..flow(THERE, 5) },
        flow(HERE, 5),
        Flow { to: THERE + 1, ..flow(HERE, 5) },
    ]
}

fn seen() -> SideEnd {
    let blocks = vec![
        block(0, Some(0), Fate::Sent),
        block(5, Some(5), Fate::Unfinished),
        block(5, None, Fate::Missed),
        block(900, Some(5000), Fate::Interrupted),
        block(1000, None, Fate::Waiting),
    ];
    let tcp = TcpEnd { acknowledged: Bytes::new(9), ..TcpEnd::default() };
    let sent = Sent {
        number: 0,
        blocks,
        tcp: Some(tcp),
        pace: "sleep",
        refused: 3,
        receipts: Some(vec![
            Some(Nanos::new(0)),
            None,
            Some(Nanos::new(5)),
            None,
            Some(Nanos::new(1 << 40)),
        ]),
        fault: Some(Outcome::Capped { reason: "interrupted".to_owned() }),
        ended: Some(Nanos::new(800)),
    };
    let read = |at, total| Read { at: Nanos::new(at), total: Bytes::new(total) };
    let came = |at, number| Arrived { at: Nanos::new(at), number, size: Bytes::new(50) };
    let received = Received {
        number: 1,
        reads: vec![read(3, 10), read(3, 30), read(900, 31)],
        arrived: vec![came(1, 1), came(4, 0), came(4, 7)],
        fault: None,
        ended: Some(Nanos::new(950)),
    };
    let options = Effective { mss: Some(1448), nodelay: Some(true), ..Effective::default() };
    let parts = vec![
        Part { sent: Some(sent), received: None, datagrams: 12, options },
        Part { received: Some(received), ..Part::default() },
        Part::default(),
    ];
    SideEnd { flows: parts, used: JobEnd { sender_threads: 2, ..JobEnd::default() } }
}

#[test]
fn what_a_side_saw_comes_back_from_its_text() {
    let text = serde_json::to_string(&seen().report()).unwrap();
    let told: SideReport = serde_json::from_str(&text).unwrap();
    let back = told.into_end(&flows(), THERE).unwrap();
    assert_eq!(format!("{back:?}"), format!("{:?}", seen()));
}

type Change = fn(&mut SideReport);

#[test]
fn numbers_that_cannot_be_are_refused_and_take_no_memory() {
    let whole = || seen().report();
    let refused = |report: SideReport| report.into_end(&flows(), THERE).unwrap_err().sentence();
    let others = whole().into_end(&flows()[..2], THERE).unwrap_err().sentence();
    assert_eq!(others, "the other host told of other flows");
    let changes: [(Change, &str); 19] = [
        (|all| all.flows[0].sent.as_mut().unwrap().datagrams = 1 << 45, "more datagrams"),
        (|all| all.flows[0].sent.as_mut().unwrap().blocks[1][0] = u64::MAX, "blocks"),
        (|all| all.flows[0].sent.as_mut().unwrap().blocks[1][0] = 1 << 51, "blocks"),
        (|all| all.flows[0].sent.as_mut().unwrap().blocks[1][2] = 1 << 51, "blocks"),
        (|all| all.flows[0].sent.as_mut().unwrap().blocks[1][6] = 9, "blocks"),
        (|all| all.flows[0].sent.as_mut().unwrap().blocks.push([0; 7]), "blocks"),
        (|all| all.flows[0].sent.as_mut().unwrap().tcp = Some([u64::MAX; 5]), "blocks"),
        (|all| all.flows[0].sent.as_mut().unwrap().receipts_ns = None, "blocks"),
        (|all| all.flows[0].sent.as_mut().unwrap().receipts_ns.as_mut().unwrap().push(0), "blocks"),
        (
            |all| all.flows[0].sent.as_mut().unwrap().receipts_ns.as_mut().unwrap()[0] = u64::MAX,
            "blocks",
        ),
        (|all| all.flows[0].sent.as_mut().unwrap().pace = "fast".to_owned(), "blocks"),
        (|all| all.flows[1].sent = all.flows[0].sent.clone(), "ends that are not there"),
        (|all| all.flows[0].sent = None, "nothing of an end that is there"),
        (|all| all.flows[1].received = None, "nothing of an end that is there"),
        (|all| all.flows[1].received.as_mut().unwrap().reads[1] = [u64::MAX; 2], "reads"),
        (|all| all.flows[1].received.as_mut().unwrap().arrived[1][0] = 1 << 51, "reads"),
        (|all| all.flows[1].received.as_mut().unwrap().arrived[1][2] = u64::MAX, "reads"),
        (|all| all.flows[1].received.as_mut().unwrap().fault = Some(escape()), "reads"),
        (|all| all.elapsed_ns = u64::MAX, "times"),
    ];
    for (change, word) in changes {
        let mut report = whole();
        change(&mut report);
        let said = refused(report);
        assert!(said.contains(word), "{said}");
    }
}

fn escape() -> Outcome {
    Outcome::Failed { reason: "\u{1b}[2J".to_owned() }
}

#[test]
fn a_host_has_room_for_what_the_other_must_tell_and_for_no_more() {
    let text = serde_json::to_string(&seen().report()).unwrap();
    let sent = |_| (Bytes::new(5000), 5);
    let longest = bounds::longest_report(&flows(), THERE, sent);
    assert!(text.len() <= longest && longest < 1 << 18, "{} of {longest}", text.len());
    let endless = |_| (Bytes::new(u64::MAX), u64::MAX);
    assert_eq!(bounds::longest_report(&flows(), THERE, endless), 128 << 20);
    // Two bytes each of text would have become hundreds in memory.
    let many = format!("{{\"flows\":[{}", "{\"options\":{}},".repeat(1 << 17));
    let refused = serde_json::from_str::<SideReport>(&many).unwrap_err().to_string();
    assert!(refused.contains("at most 65536 flows"), "{refused}");
}
