//! What a side saw, in a form that another host reads: rows of differences, because most are small.

use btu_core::sample::Outcome;
use btu_core::traffic::burst::BlockRecord;
use btu_core::traffic::burst::Fate;
use btu_core::traffic::trace::Arrived;
use btu_core::traffic::trace::Read;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::socket::Effective;
use serde::Deserialize;
use serde::Serialize;

use super::super::flow::Received;
use super::super::flow::Sent;
use super::super::job::JobEnd;
use super::super::job::TcpEnd;
use super::Part;
use super::SideEnd;
use crate::error::EngineError;

/// What a side saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SideReport {
    flows: Vec<PartReport>,
    sender_cpu_ns: u64,
    receiver_cpu_ns: u64,
    sender_threads: u32,
    elapsed_ns: u64,
}

/// What was seen of one flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct PartReport {
    sent: Option<SentReport>,
    received: Option<ReceivedReport>,
    options: Options,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct SentReport {
    datagrams: u64,
    /// Due, size, start, end, taken, held until, fate; see [`of_block`].
    blocks: Vec<[u64; 7]>,
    /// Acknowledged, sent, retransmitted, round trip, the least.
    tcp: Option<[u64; 5]>,
    pace: String,
    refused: u64,
    fault: Option<Outcome>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct ReceivedReport {
    /// Time since the read before, bytes since then.
    reads: Vec<[u64; 2]>,
    /// Time since the datagram before, number, length.
    arrived: Vec<[u64; 3]>,
    fault: Option<Outcome>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Options {
    congestion: Option<String>,
    nodelay: Option<bool>,
    send_buffer: Option<u64>,
    receive_buffer: Option<u64>,
    mss: Option<u64>,
    window_clamp: Option<u64>,
}

impl SideEnd {
    /// What another host is told of it.
    pub fn report(self) -> SideReport {
        let part = |part: Part| PartReport {
            sent: part.sent.map(|sent| of_sent(sent, part.datagrams)),
            received: part.received.as_ref().map(of_received),
            options: of_options(part.options),
        };
        SideReport {
            sender_cpu_ns: self.used.sender_cpu.count(),
            receiver_cpu_ns: self.used.receiver_cpu.count(),
            sender_threads: u32::try_from(self.used.sender_threads).unwrap_or(u32::MAX),
            elapsed_ns: self.used.elapsed.count(),
            flows: self.flows.into_iter().map(part).collect(),
        }
    }
}

impl SideReport {
    /// The same, checked: `flows` is how many the job has.
    ///
    /// # Errors
    /// It cannot be what a side saw.
    pub fn into_end(self, flows: usize) -> Result<SideEnd, EngineError> {
        let refuse = |what: &str| Err(EngineError::Refused(format!("the other host told {what}")));
        if self.flows.len() != flows {
            return refuse("of other flows");
        }
        let mut parts = Vec::with_capacity(flows);
        for (number, told) in self.flows.into_iter().enumerate() {
            let datagrams = told.sent.as_ref().map_or(0, |sent| sent.datagrams);
            if datagrams > MOST_DATAGRAMS {
                return refuse("more datagrams than a host can send");
            }
            let Ok(sent) = told.sent.map(|sent| to_sent(number, sent)).transpose() else {
                return refuse("blocks that cannot be");
            };
            let received = told.received.map(|received| to_received(number, received));
            let Ok(received) = received.transpose() else {
                return refuse("reads that cannot be");
            };
            parts.push(Part { sent, received, datagrams, options: to_options(told.options) });
        }
        let used = JobEnd {
            sender_cpu: Nanos::new(self.sender_cpu_ns),
            receiver_cpu: Nanos::new(self.receiver_cpu_ns),
            sender_threads: usize::try_from(self.sender_threads).unwrap_or(usize::MAX),
            elapsed: Nanos::new(self.elapsed_ns),
            ..JobEnd::default()
        };
        Ok(SideEnd { flows: parts, used })
    }
}

/// Numbers that no side can have seen.
struct Impossible;

fn of_sent(sent: Sent, datagrams: u64) -> SentReport {
    let mut before = 0;
    let row = |block: &BlockRecord| {
        let due = block.due.count();
        let row = of_block(block, due - before.min(due));
        before = due;
        row
    };
    let tcp = |tcp: TcpEnd| {
        let [acknowledged, sent, retransmitted] =
            [tcp.acknowledged, tcp.sent, tcp.retransmitted].map(Bytes::count);
        [acknowledged, sent, retransmitted, tcp.rtt.count(), tcp.least_rtt.count()]
    };
    SentReport {
        datagrams,
        blocks: sent.blocks.iter().map(row).collect(),
        tcp: sent.tcp.map(tcp),
        pace: sent.pace.to_owned(),
        refused: sent.refused,
        fault: sent.fault,
    }
}

/// Times count from when the block was due, one more than they are; nothing is zero.
fn of_block(block: &BlockRecord, due: u64) -> [u64; 7] {
    let since = |at: Option<Nanos>| at.map_or(0, |at| at.since(block.due).count() + 1);
    let fate = FATES.iter().position(|fate| *fate == block.fate).unwrap_or(0);
    let fate = u64::try_from(fate).unwrap_or(0);
    let [start, end, held] = [block.start, block.end, block.held_until].map(since);
    [due, block.size.count(), start, end, block.taken.count(), held, fate]
}

fn to_sent(number: usize, told: SentReport) -> Result<Sent, Impossible> {
    let (mut due, mut total, mut blocks) = (0_u64, 0_u64, Vec::with_capacity(told.blocks.len()));
    for [step, size, start, end, taken, held, fate] in told.blocks {
        due = due.checked_add(step).ok_or(Impossible)?;
        total = total.checked_add(taken.max(size)).filter(|sum| *sum < MOST).ok_or(Impossible)?;
        let at = |since: u64| match since {
            0 => Ok(None),
            since => due.checked_add(since - 1).map(Nanos::new).map(Some).ok_or(Impossible),
        };
        let fate = usize::try_from(fate).ok().and_then(|fate| FATES.get(fate));
        blocks.push(BlockRecord {
            due: Nanos::new(due),
            size: Bytes::new(size),
            start: at(start)?,
            end: at(end)?,
            taken: Bytes::new(taken),
            held_until: at(held)?,
            fate: *fate.ok_or(Impossible)?,
        });
    }
    let tcp = |[acknowledged, sent, retransmitted, rtt, least]: [u64; 5]| TcpEnd {
        acknowledged: Bytes::new(acknowledged),
        sent: Bytes::new(sent),
        retransmitted: Bytes::new(retransmitted),
        rtt: Nanos::new(rtt),
        least_rtt: Nanos::new(least),
    };
    let pace = PACES.iter().copied().find(|pace| *pace == told.pace).ok_or(Impossible)?;
    let (tcp, refused, fault) = (told.tcp.map(tcp), told.refused, told.fault);
    Ok(Sent { number, blocks, tcp, pace, refused, fault })
}

fn of_received(received: &Received) -> ReceivedReport {
    let (mut at, mut total) = (0, 0);
    let reads = received.reads.iter().map(|read| {
        let row = [read.at.count().saturating_sub(at), read.total.count().saturating_sub(total)];
        (at, total) = (read.at.count(), read.total.count());
        row
    });
    let reads = reads.collect();
    let mut at = 0;
    let arrived = received.arrived.iter().map(|one| {
        let row = [one.at.count().saturating_sub(at), one.number, one.size.count()];
        at = one.at.count();
        row
    });
    ReceivedReport { reads, arrived: arrived.collect(), fault: received.fault.clone() }
}

fn to_received(number: usize, told: ReceivedReport) -> Result<Received, Impossible> {
    let (mut at, mut total, mut reads) = (0_u64, 0_u64, Vec::with_capacity(told.reads.len()));
    for [step, bytes] in told.reads {
        at = at.checked_add(step).ok_or(Impossible)?;
        total = total.checked_add(bytes).filter(|sum| *sum < MOST).ok_or(Impossible)?;
        reads.push(Read { at: Nanos::new(at), total: Bytes::new(total) });
    }
    let (mut at, mut arrived) = (0_u64, Vec::with_capacity(told.arrived.len()));
    for [step, number, size] in told.arrived {
        at = at.checked_add(step).ok_or(Impossible)?;
        // No datagram is longer than its length field says.
        let size = u16::try_from(size).map_err(|_| Impossible)?;
        arrived.push(Arrived { at: Nanos::new(at), number, size: Bytes::new(size.into()) });
    }
    Ok(Received { number, reads, arrived, fault: told.fault })
}

fn of_options(read: Effective) -> Options {
    let Effective { congestion, nodelay, send_buffer, receive_buffer, mss, window_clamp } = read;
    Options { congestion, nodelay, send_buffer, receive_buffer, mss, window_clamp }
}

fn to_options(told: Options) -> Effective {
    let Options { congestion, nodelay, send_buffer, receive_buffer, mss, window_clamp } = told;
    Effective { congestion, nodelay, send_buffer, receive_buffer, mss, window_clamp }
}

const FATES: [Fate; 5] =
    [Fate::Sent, Fate::Missed, Fate::Interrupted, Fate::Unfinished, Fate::Waiting];
const PACES: [&str; 3] = ["hybrid", "sleep", "spin"];
/// No run moves a quarter of an exabyte.
const MOST: u64 = 1 << 58;
/// Memory is kept for each.
const MOST_DATAGRAMS: u64 = 1 << 26;

#[cfg(test)]
mod tests {
    use super::*;

    fn block(due: u64, start: Option<u64>, fate: Fate) -> BlockRecord {
        BlockRecord {
            due: Nanos::new(due),
            size: Bytes::new(1000 + due),
            start: start.map(Nanos::new),
            end: start.map(|start| Nanos::new(start + 7)),
            taken: Bytes::new(if start.is_some() { 1000 + due } else { 0 }),
            held_until: start.filter(|start| *start > due + 100).map(Nanos::new),
            fate,
        }
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
            fault: Some(Outcome::Capped { reason: "interrupted".to_owned() }),
        };
        let read = |at, total| Read { at: Nanos::new(at), total: Bytes::new(total) };
        let came = |at, number| Arrived { at: Nanos::new(at), number, size: Bytes::new(50) };
        let received = Received {
            number: 1,
            reads: vec![read(3, 10), read(3, 30), read(900, 31)],
            arrived: vec![came(1, 1), came(4, 0), came(4, 7)],
            fault: None,
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
        let back = told.into_end(3).unwrap();
        assert_eq!(format!("{back:?}"), format!("{:?}", seen()));
    }

    type Change = fn(&mut SideReport);

    #[test]
    fn numbers_that_cannot_be_are_refused_and_take_no_memory() {
        let whole = || seen().report();
        let refused = |report: SideReport| report.into_end(3).unwrap_err().sentence();
        assert_eq!(
            whole().into_end(2).unwrap_err().sentence(),
            "the other host told of other flows"
        );
        let changes: [(Change, &str); 6] = [
            (|all| all.flows[0].sent.as_mut().unwrap().datagrams = 1 << 40, "more datagrams"),
            (|all| all.flows[0].sent.as_mut().unwrap().blocks[1][0] = u64::MAX, "blocks"),
            (|all| all.flows[0].sent.as_mut().unwrap().blocks[1][6] = 9, "blocks"),
            (|all| all.flows[0].sent.as_mut().unwrap().pace = "fast".to_owned(), "blocks"),
            (|all| all.flows[1].received.as_mut().unwrap().reads[1] = [u64::MAX; 2], "reads"),
            (|all| all.flows[1].received.as_mut().unwrap().arrived[1][2] = u64::MAX, "reads"),
        ];
        for (change, word) in changes {
            let mut report = whole();
            change(&mut report);
            let said = refused(report);
            assert!(said.contains(word), "{said}");
        }
    }
}
