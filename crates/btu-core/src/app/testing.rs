//! Ranks in memory, one thread each: what tests run kernels on.
#![expect(clippy::disallowed_methods, reason = "tests give ranks threads and a clock")]

use std::collections::VecDeque;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::Sender;
use std::sync::mpsc::channel;
use std::time::Duration;
use std::time::Instant;

use super::class::ProblemClass;
use super::endpoint::Arrival;
use super::endpoint::Endpoint;
use super::endpoint::LayerError;
use super::kernel::Kernel;
use super::kernel::Outcome;
use super::ranks::Ranks;
use super::ranks::Tally;
use super::ranks::Timed;
use crate::units::Nanos;

type Message = (usize, u32, Nanos, Vec<u8>);

/// One rank: a letter box, and where to throw letters for the others.
#[derive(Debug)]
pub(crate) struct InMemory {
    rank: usize,
    box_of_mine: Receiver<Message>,
    boxes: Vec<Sender<Message>>,
    kept: VecDeque<Message>,
    epoch: Instant,
    /// Does something to each message on its way.
    spoil: fn(&mut [u8]),
}

/// The ranks of one application.
pub(crate) fn ranks(count: usize, spoil: fn(&mut [u8])) -> Vec<InMemory> {
    let (boxes, receivers): (Vec<_>, Vec<_>) = (0..count).map(|_| channel()).unzip();
    let epoch = Instant::now();
    let with = |(rank, box_of_mine)| InMemory {
        rank,
        box_of_mine,
        boxes: boxes.clone(),
        kept: VecDeque::new(),
        epoch,
        spoil,
    };
    receivers.into_iter().enumerate().map(with).collect()
}

impl Endpoint for InMemory {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.boxes.len()
    }

    fn now(&self) -> Nanos {
        Nanos::new(u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn send(&mut self, to: usize, tag: u32, payload: &[u8]) -> Result<(), LayerError> {
        assert_ne!(to, self.rank, "a message to itself reached the layer");
        let mut payload = payload.to_vec();
        (self.spoil)(&mut payload);
        let gone = |_| LayerError::Gone { peer: to, cause: "it ended".to_owned() };
        self.boxes[to].send((self.rank, tag, self.now(), payload)).map_err(gone)
    }

    fn receive(&mut self, from: usize, tag: u32, space: &mut [u8]) -> Result<Arrival, LayerError> {
        let is_it = |(of, its, ..): &Message| (*of, *its) == (from, tag);
        let (.., sent_at, payload) = loop {
            if let Some(place) = self.kept.iter().position(is_it) {
                break self.kept.remove(place).unwrap();
            }
            let patience = Nanos::from_secs(60);
            let silent = |_| LayerError::Silent { peer: from, patience };
            self.kept
                .push_back(self.box_of_mine.recv_timeout(Duration::from_mins(1)).map_err(silent)?);
        };
        if payload.len() != space.len() {
            let (got_bytes, wanted_bytes) = (payload.len() as u64, space.len() as u64);
            return Err(LayerError::Length { from, tag, got_bytes, wanted_bytes });
        }
        space.copy_from_slice(&payload);
        Ok(Arrival { sent_at: Some(sent_at) })
    }
}

/// What became of each rank of a kernel.
pub(crate) type Ended = (Outcome, Tally, Timed);

/// Runs a kernel with that many ranks; the outcomes in their order.
pub(crate) fn run(kernel: &dyn Kernel, class: ProblemClass, count: usize) -> Vec<Ended> {
    run_spoiled(kernel, class, count, |_| ())
}

/// The same over a layer that does something to each message.
pub(crate) fn run_spoiled(
    kernel: &dyn Kernel,
    class: ProblemClass,
    count: usize,
    spoil: fn(&mut [u8]),
) -> Vec<Ended> {
    each(count, spoil, |ranks| {
        let outcome = kernel.run(class, ranks).unwrap();
        (outcome, ranks.tally().clone(), ranks.timed().expect("the kernel timed itself"))
    })
}

/// What each of so many ranks makes of `work`, in their order.
pub(crate) fn each<T: Send>(
    count: usize,
    spoil: fn(&mut [u8]),
    work: impl Fn(&mut Ranks<'_>) -> T + Sync,
) -> Vec<T> {
    let work = &work;
    std::thread::scope(|scope| {
        let start = |mut end: InMemory| scope.spawn(move || work(&mut Ranks::new(&mut end)));
        let threads: Vec<_> = ranks(count, spoil).into_iter().map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// What all ranks passed.
pub(crate) fn total(ended: &[Ended]) -> Tally {
    let mut total = Tally::default();
    for (_, tally, _) in ended {
        total.join(tally);
    }
    total
}
