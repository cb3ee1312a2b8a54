//! What one flow did, seen at both ends on one clock: blocks at the sender, reads at the receiver.

pub(super) use crate::traffic::language::quantity::float;
use crate::traffic::sending::burst::BlockRecord;
use crate::traffic::sending::burst::Discipline;
use crate::units::Bytes;
use crate::units::Nanos;

/// What arrived at a receiver: the time, and how much the user had read by then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// From the start of the flow.
    pub at: Nanos,
    /// All bytes that the user had read.
    pub total: Bytes,
}

/// A datagram that arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// From the start of the flow.
    pub at: Nanos,
    /// Its number in the flow, from 0.
    pub number: u64,
    /// Its length.
    pub size: Bytes,
}

/// One flow from its start, in times from that start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// T: how long blocks fell due.
    pub duration: Nanos,
    /// Whether blocks wait for each other; says when a block counts as arrived in A(t).
    pub discipline: Discipline,
    /// True for a source that always has more: no block of it has a due time of its own.
    pub endless: bool,
    /// The blocks, in order.
    pub blocks: Vec<BlockRecord>,
    /// What the receiving user read, in order.
    pub reads: Vec<Read>,
    /// When each block was read whole, and the mean over its bytes of when they were read.
    pub read_times: Vec<Option<ReadTime>>,
    /// Of each block, the bytes of datagrams that never came; empty for a stream.
    pub lost: Vec<Bytes>,
    /// Datagrams that were sent and those that came; `None` for a stream.
    pub datagrams: Option<Datagrams>,
    /// When the receipt of each block came to its sender, by its clock; `None` where blocks are not answered.
    pub receipts: Option<Vec<Option<Nanos>>>,
}

/// When a block was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadTime {
    /// The first byte.
    pub first: Nanos,
    /// The last byte.
    pub last: Nanos,
    /// The mean of all bytes, in nanoseconds.
    pub mean_ns: f64,
}

/// Counts of a flow of datagrams (RFC 7680, RFC 4737, RFC 5560).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Datagrams {
    /// Sent.
    pub sent: u64,
    /// That came at least once.
    pub received: u64,
    /// That came again.
    pub duplicated: u64,
    /// That came after one with a higher number.
    pub reordered: u64,
    /// The sum of the changes of delay from each block that came whole to the next, and how many.
    pub jitter: (Nanos, u64),
}

impl Trace {
    /// A stream: block k is read when the user has read as many bytes as were taken up to its end.
    #[must_use]
    pub fn of_stream(self, reads: Vec<Read>) -> Self {
        let mut read_times = Vec::with_capacity(self.blocks.len());
        let mut reader = Reader { reads: &reads, place: 0, total: 0 };
        for block in &self.blocks {
            read_times.push(reader.take(block.taken.count()));
        }
        Self { reads, read_times, ..self }
    }

    /// Datagrams, `sent` in all: block k went out as so many of at most `largest` bytes, in order.
    #[must_use]
    pub fn of_datagrams(self, arrived: &[Arrived], largest: Bytes, sent: u64) -> Self {
        let count = |block: &BlockRecord| block.taken.count().div_ceil(largest.count());
        let parts: Vec<u64> =
            if self.endless { vec![sent] } else { self.blocks.iter().map(count).collect() };
        let (first, counts) = first_arrivals(arrived, sent);
        let mut total = Bytes::ZERO;
        let mut reads = Vec::with_capacity(first.len());
        let mut ordered = first.clone();
        ordered.sort_by_key(|datagram| datagram.at);
        for datagram in &ordered {
            total += datagram.size;
            reads.push(Read { at: datagram.at, total });
        }
        let (mut rest, mut end) = (first.as_slice(), 0_u64);
        let mut read_times = Vec::with_capacity(self.blocks.len());
        let mut lost = Vec::with_capacity(self.blocks.len());
        for (part, block) in parts.into_iter().zip(&self.blocks) {
            end = end.saturating_add(part);
            let own = rest.partition_point(|datagram| datagram.number < end);
            let (own, others) = rest.split_at(own);
            let is_whole = !own.is_empty() && own.len() == place(part);
            read_times.push(is_whole.then(|| together(own)));
            let came: Bytes = own.iter().map(|datagram| datagram.size).sum();
            lost.push(block.taken.saturating_sub(came));
            rest = others;
        }
        let jitter = jitter(&self.blocks, &read_times);
        let datagrams = Some(Datagrams { sent, jitter, ..counts });
        Self { reads, read_times, lost, datagrams, ..self }
    }

    /// When a block counts as arrived: queued ones when they are due, unqueued ones when they start.
    pub fn arrival(&self, block: &BlockRecord) -> Option<Nanos> {
        match self.discipline {
            Discipline::Queue if !self.endless => Some(block.due),
            _ => block.start,
        }
    }

    /// How much of a block counts as arrived: all of a queued one, else what was taken of it.
    pub fn arrived(&self, block: &BlockRecord) -> Bytes {
        match self.discipline {
            Discipline::Queue if !self.endless => block.size,
            _ => block.taken,
        }
    }

    /// When each block arrived, and what of it is read sooner or later or still waits: what was lost on the way
    /// waits for nobody.
    pub fn kept(&self) -> impl Iterator<Item = (Nanos, Bytes)> {
        let lost = self.lost.iter().copied().chain(std::iter::repeat(Bytes::ZERO));
        self.blocks.iter().zip(lost).filter_map(|(block, lost)| {
            Some((self.arrival(block)?, self.arrived(block).saturating_sub(lost)))
        })
    }

    /// All that the user had read by `at`.
    pub fn read_by(&self, at: Nanos) -> Bytes {
        let after = self.reads.partition_point(|read| read.at <= at);
        after.checked_sub(1).map_or(Bytes::ZERO, |last| self.reads[last].total)
    }

    /// What the path carried of what was offered within the duration: all that was read up to the least delay of
    /// a byte after it. An endless source offers whatever is carried: of it counts what was read in as much time
    /// from its first read, without what that one found, which had waited for a reader that came late.
    pub fn carried(&self) -> Bytes {
        let first = self.least_delay();
        let all = self.read_by(self.duration.saturating_add(first));
        if self.endless { all.saturating_sub(self.read_by(first)) } else { all }
    }

    /// The least that a byte took from its arrival to its read: what the path takes when nothing waits.
    /// Zero where nothing was read.
    fn least_delay(&self) -> Nanos {
        if self.endless {
            return self.reads.first().map_or(Nanos::ZERO, |read| read.at);
        }
        let blocks = self.blocks.iter().zip(&self.read_times);
        let delays =
            blocks.filter_map(|(block, read)| Some((*read)?.first.since(self.arrival(block)?)));
        delays.min().unwrap_or_default()
    }

    /// All that had arrived by `at`.
    pub fn arrived_by(&self, at: Nanos) -> Bytes {
        self.arrivals().by(at)
    }

    /// A(t) as a whole, for many questions; empty for an endless source.
    pub fn arrivals(&self) -> Arrivals {
        let mut steps: Vec<(Nanos, u64)> = self
            .blocks
            .iter()
            .filter(|_| !self.endless)
            .filter_map(|block| Some((self.arrival(block)?, self.arrived(block).count())))
            .collect();
        steps.sort_by_key(|(at, _)| *at);
        let mut total = 0;
        for (_, bytes) in &mut steps {
            total += *bytes;
            *bytes = total;
        }
        Arrivals(steps)
    }
}

/// A(t): when what arrived, summed up.
#[derive(Clone, Debug)]
pub struct Arrivals(Vec<(Nanos, u64)>);

impl Arrivals {
    /// All that had arrived by `at`.
    pub fn by(&self, at: Nanos) -> Bytes {
        let after = self.0.partition_point(|(time, _)| *time <= at);
        after.checked_sub(1).map_or(Bytes::ZERO, |last| Bytes::new(self.0[last].1))
    }
}

/// Walks along the reads of a stream.
struct Reader<'a> {
    reads: &'a [Read],
    place: usize,
    total: u64,
}

impl Reader<'_> {
    /// The next `bytes` of the stream; `None` where they were not all read.
    fn take(&mut self, bytes: u64) -> Option<ReadTime> {
        let (end, mut weighted, mut first) = (self.total + bytes, 0.0, None);
        while self.total < end {
            let read = self.reads.get(self.place)?;
            let upto = read.total.count().min(end);
            if upto > self.total {
                first.get_or_insert(read.at);
            }
            weighted += float(upto.saturating_sub(self.total)) * float(read.at.count());
            self.total = self.total.max(upto);
            if read.total.count() <= end {
                self.place += 1;
            }
            if self.total == end {
                let (first, last) = (first.unwrap_or(read.at), read.at);
                return Some(ReadTime { first, last, mean_ns: weighted / float(bytes) });
            }
        }
        None
    }
}

/// The first arrival of each number below `sent`, by number, and what is to be said of the others. Memory is
/// taken for what came, and not for what somebody says that he sent.
fn first_arrivals(arrived: &[Arrived], sent: u64) -> (Vec<&Arrived>, Datagrams) {
    let mut highest = None;
    let own = arrived.iter().filter(|datagram| datagram.number < sent);
    let mut all: Vec<(&Arrived, bool)> = own
        .map(|datagram| {
            let is_late = highest.is_some_and(|highest| datagram.number < highest);
            highest = highest.max(Some(datagram.number));
            (datagram, is_late)
        })
        .collect();
    let came = all.len();
    // Stable: what came first stays first.
    all.sort_by_key(|(datagram, _)| datagram.number);
    all.dedup_by_key(|(datagram, _)| datagram.number);
    let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let counts = Datagrams {
        received: count(all.len()),
        duplicated: count(came - all.len()),
        reordered: count(all.iter().filter(|(_, is_late)| *is_late).count()),
        ..Datagrams::default()
    };
    (all.into_iter().map(|(datagram, _)| datagram).collect(), counts)
}

fn place(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn together(parts: &[&Arrived]) -> ReadTime {
    let bytes: f64 = parts.iter().map(|part| float(part.size.count())).sum();
    let weighted: f64 =
        parts.iter().map(|part| float(part.size.count()) * float(part.at.count())).sum();
    let ats = || parts.iter().map(|part| part.at);
    let [first, last] = [ats().min(), ats().max()].map(Option::unwrap_or_default);
    ReadTime { first, last, mean_ns: weighted / bytes.max(1.0) }
}

/// The sum of `|(Rj - Ri) - (Sj - Si)|` of each block and the next that came, and how many these are: |IPDV| (RFC 3393).
fn jitter(blocks: &[BlockRecord], read: &[Option<ReadTime>]) -> (Nanos, u64) {
    let transit = blocks.iter().zip(read).filter_map(|(block, read)| {
        Some(read.as_ref()?.last.count().cast_signed() - block.start?.count().cast_signed())
    });
    let transit: Vec<i64> = transit.collect();
    let changes = transit.windows(2).map(|pair| pair[1].abs_diff(pair[0]));
    let add = |(sum, count): (u64, u64), change| (sum.saturating_add(change), count + 1);
    let (sum, count) = changes.fold((0, 0), add);
    (Nanos::new(sum), count)
}

#[cfg(test)]
mod tests;
