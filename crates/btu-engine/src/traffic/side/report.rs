//! What a side saw, in a form that another host reads: rows of differences, because most are small.

use btu_core::sample::Outcome;
use btu_core::traffic::sending::burst::BlockRecord;
use btu_core::traffic::sending::burst::Fate;
use btu_core::traffic::trace::Arrived;
use btu_core::traffic::trace::Read;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::socket::Effective;
use serde::Deserialize;
use serde::Serialize;

use super::super::flow::Received;
use super::super::flow::Sent;
use super::super::job::Flow;
use super::super::job::JobEnd;
use super::super::job::TcpEnd;
use super::super::pacer;
use super::Part;
use super::SideEnd;
use super::bounds;
use crate::error::EngineError;

/// What a side saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SideReport {
    #[serde(deserialize_with = "bounds::of_flows")]
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
    /// Due, size, start, end, taken, held from, fate; see [`of_block`].
    blocks: Vec<[u64; 7]>,
    /// Acknowledged, sent, retransmitted, round trip, the least.
    tcp: Option<[u64; 5]>,
    pace: String,
    refused: u64,
    /// Of each block, one more than the time from its due time to its receipt; zero where none came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    receipts_ns: Option<Vec<u64>>,
    fault: Option<Outcome>,
    #[serde(default)]
    ended_ns: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct ReceivedReport {
    /// Time since the read before, bytes since then.
    reads: Vec<[u64; 2]>,
    /// Time since the datagram before, number, length.
    arrived: Vec<[u64; 3]>,
    fault: Option<Outcome>,
    #[serde(default)]
    ended_ns: Option<u64>,
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
    /// The same, checked: what the party `there` of a job with these flows can have seen.
    ///
    /// # Errors
    /// It cannot be what a side saw.
    pub fn into_end(self, flows: &[Flow], there: usize) -> Result<SideEnd, EngineError> {
        let cause = |what| EngineError::Refused(format!("the other host told {what}"));
        let refuse = |what: &'static str| Err(cause(what));
        if self.flows.len() != flows.len() {
            return refuse("of other flows");
        }
        let mut parts = Vec::with_capacity(flows.len());
        for (number, (told, flow)) in self.flows.into_iter().zip(flows).enumerate() {
            parts.push(told.into_part((number, flow), there).map_err(cause)?);
        }
        let times = [self.sender_cpu_ns, self.receiver_cpu_ns, self.elapsed_ns];
        if times.into_iter().any(|time| time_of(time).is_err()) {
            return refuse("times that cannot be");
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

impl PartReport {
    /// What the party `there` can have seen of a flow, or what it cannot.
    fn into_part(self, (number, flow): (usize, &Flow), there: usize) -> Result<Part, &'static str> {
        let Self { sent, received, options } = self;
        if (sent.is_some() && flow.from != there) || (received.is_some() && flow.to != there) {
            return Err("of ends that are not there");
        }
        if (sent.is_none() && flow.from == there) || (received.is_none() && flow.to == there) {
            return Err("nothing of an end that is there");
        }
        let datagrams = sent.as_ref().map_or(0, |sent| sent.datagrams);
        if datagrams > MOST_DATAGRAMS {
            return Err("more datagrams than a host can send");
        }
        let sent = sent.map(|sent| to_sent((number, flow), sent)).transpose();
        let received = received.map(|received| to_received(number, received)).transpose();
        Ok(Part {
            sent: sent.map_err(|Impossible| "blocks that cannot be")?,
            received: received.map_err(|Impossible| "reads that cannot be")?,
            datagrams,
            options: to_options(options).map_err(|Impossible| "options that cannot be")?,
        })
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
        receipts_ns: sent.receipts.map(|receipts| of_receipts(&sent.blocks, &receipts)),
        fault: sent.fault,
        ended_ns: sent.ended.map(Nanos::count),
    }
}

fn of_receipts(blocks: &[BlockRecord], receipts: &[Option<Nanos>]) -> Vec<u64> {
    let since = |(block, at): (&BlockRecord, &Option<Nanos>)| {
        at.map_or(0, |at| at.since(block.due).count().saturating_add(1))
    };
    blocks.iter().zip(receipts).map(since).collect()
}

/// Receipts of as many blocks, where their flow has any.
fn to_receipts(
    flow: &Flow,
    blocks: &[BlockRecord],
    told: Option<Vec<u64>>,
) -> Result<Option<Vec<Option<Nanos>>>, Impossible> {
    if told.as_ref().map(Vec::len) != flow.has_receipts.then_some(blocks.len()) {
        return Err(Impossible);
    }
    let at = |(block, since): (&BlockRecord, u64)| {
        let at = since.checked_sub(1).map(|since| block.due.count().saturating_add(since));
        at.map(time_of).transpose()
    };
    told.map(|told| blocks.iter().zip(told).map(at).collect()).transpose()
}

/// Times count from when the block was due, one more than they are; nothing is zero.
fn of_block(block: &BlockRecord, due: u64) -> [u64; 7] {
    let since = |at: Option<Nanos>| at.map_or(0, |at| at.since(block.due).count() + 1);
    let fate = FATES.iter().position(|fate| *fate == block.fate).unwrap_or(0);
    let fate = u64::try_from(fate).unwrap_or(0);
    let [start, end, held] = [block.start, block.end, block.held_from].map(since);
    [due, block.size.count(), start, end, block.taken.count(), held, fate]
}

fn to_sent((number, flow): (usize, &Flow), told: SentReport) -> Result<Sent, Impossible> {
    if u64::try_from(told.blocks.len()).is_ok_and(|count| count > bounds::blocks(flow)) {
        return Err(Impossible);
    }
    let (mut due, mut total, mut blocks) = (0_u64, 0_u64, Vec::with_capacity(told.blocks.len()));
    for [step, size, start, end, taken, held, fate] in told.blocks {
        due = due.checked_add(step).ok_or(Impossible)?;
        total = total.checked_add(taken.max(size)).filter(|sum| *sum < MOST).ok_or(Impossible)?;
        let at = |since: u64| match since {
            0 => Ok(None),
            since => due.checked_add(since - 1).ok_or(Impossible).and_then(time_of).map(Some),
        };
        let fate = usize::try_from(fate).ok().and_then(|fate| FATES.get(fate));
        blocks.push(BlockRecord {
            due: time_of(due)?,
            size: Bytes::new(size),
            start: at(start)?,
            end: at(end)?,
            taken: Bytes::new(taken),
            held_from: at(held)?,
            is_untimed: false,
            fate: *fate.ok_or(Impossible)?,
        });
    }
    let pace = pacer::NAMES.iter().copied().find(|pace| *pace == told.pace).ok_or(Impossible)?;
    if told.refused > MOST_DATAGRAMS {
        return Err(Impossible);
    }
    let (tcp, fault) = (told.tcp.map(to_tcp).transpose()?, to_fault(told.fault)?);
    let ended = told.ended_ns.map(time_of).transpose()?;
    let receipts = to_receipts(flow, &blocks, told.receipts_ns)?;
    Ok(Sent { number, blocks, tcp, pace, refused: told.refused, receipts, fault, ended })
}

fn to_tcp([acknowledged, sent, retransmitted, rtt, least]: [u64; 5]) -> Result<TcpEnd, Impossible> {
    if [acknowledged, sent, retransmitted].iter().any(|bytes| *bytes >= MOST) {
        return Err(Impossible);
    }
    Ok(TcpEnd {
        acknowledged: Bytes::new(acknowledged),
        sent: Bytes::new(sent),
        retransmitted: Bytes::new(retransmitted),
        rtt: time_of(rtt)?,
        least_rtt: time_of(least)?,
    })
}

/// A reason goes into results and onto screens as it is.
fn to_fault(told: Option<Outcome>) -> Result<Option<Outcome>, Impossible> {
    match &told {
        Some(Outcome::Capped { reason } | Outcome::Failed { reason }) if !is_line(reason) => {
            Err(Impossible)
        }
        _ => Ok(told),
    }
}

fn is_line(text: &str) -> bool {
    text.len() <= LONGEST_LINE && !text.chars().any(char::is_control)
}

/// A time that a run can take.
fn time_of(count: u64) -> Result<Nanos, Impossible> {
    let time = Nanos::new(count);
    if time > LONGEST_TIME { Err(Impossible) } else { Ok(time) }
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
    ReceivedReport {
        reads,
        arrived: arrived.collect(),
        fault: received.fault.clone(),
        ended_ns: received.ended.map(Nanos::count),
    }
}

fn to_received(number: usize, told: ReceivedReport) -> Result<Received, Impossible> {
    let (mut at, mut total, mut reads) = (0_u64, 0_u64, Vec::with_capacity(told.reads.len()));
    for [step, bytes] in told.reads {
        at = time_of(at.checked_add(step).ok_or(Impossible)?)?.count();
        total = total.checked_add(bytes).filter(|sum| *sum < MOST).ok_or(Impossible)?;
        reads.push(Read { at: Nanos::new(at), total: Bytes::new(total) });
    }
    let (mut at, mut arrived) = (0_u64, Vec::with_capacity(told.arrived.len()));
    for [step, number, size] in told.arrived {
        at = time_of(at.checked_add(step).ok_or(Impossible)?)?.count();
        // No datagram is longer than its length field says.
        let size = u16::try_from(size).map_err(|_| Impossible)?;
        arrived.push(Arrived { at: Nanos::new(at), number, size: Bytes::new(size.into()) });
    }
    let ended = told.ended_ns.map(time_of).transpose()?;
    Ok(Received { number, reads, arrived, fault: to_fault(told.fault)?, ended })
}

fn of_options(read: Effective) -> Options {
    // Traffic leaves SO_RCVLOWAT and TCP_NOTSENT_LOWAT as they are; what the handshake settled the other end knows, too.
    let Effective { congestion, nodelay, send_buffer, receive_buffer, mss, window_clamp, .. } =
        read;
    Options { congestion, nodelay, send_buffer, receive_buffer, mss, window_clamp }
}

fn to_options(told: Options) -> Result<Effective, Impossible> {
    let Options { congestion, nodelay, send_buffer, receive_buffer, mss, window_clamp } = told;
    if congestion.as_ref().is_some_and(|name| !is_line(name)) {
        return Err(Impossible);
    }
    let untold = Effective::default();
    Ok(Effective { congestion, nodelay, send_buffer, receive_buffer, mss, window_clamp, ..untold })
}

const FATES: [Fate; 5] =
    [Fate::Sent, Fate::Missed, Fate::Interrupted, Fate::Unfinished, Fate::Waiting];
/// No run moves a quarter of an exabyte.
const MOST: u64 = 1 << 58;
/// More than a host sends in 13 days.
const MOST_DATAGRAMS: u64 = 1 << 44;
/// No run takes 13 days.
const LONGEST_TIME: Nanos = Nanos::new(1 << 50);
/// Of a reason, or the name of an option.
const LONGEST_LINE: usize = 400;

#[cfg(test)]
mod tests;
