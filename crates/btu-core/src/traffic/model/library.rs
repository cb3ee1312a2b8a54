//! A fixed set of files of which some are asked for often, and again soon after.

use super::prelude::*;
use std::collections::BTreeMap;
use std::collections::VecDeque;

/// How files are asked for, as SURGE has it: the file of rank k has the share 1/k of the requests (Zipf), and what
/// is asked for again is as deep in the stack of what was asked for before as lognormal(1.5, 0.80) says.
///
/// Which file a *visit* is for is drawn by Zipf. A request begins a new visit with the chance 1/H, where H = 1 + 1/2 +
/// ... + 1/N (SURGE's files have N/k requests, of which H N are those of a file in the mean), else it belongs to the
/// visit that lies so deep. Neither asks what the visits are for, so that files have exactly the shares of Zipf, and
/// depths, counted in visits, exactly their law. SURGE orders a list of requests that is as long as a run instead.
#[derive(Clone, Debug)]
pub(super) struct Files {
    popularity: Law,
    /// The chance that a request begins a visit.
    begins: f64,
}

impl Files {
    pub(super) fn new(count: f64) -> Self {
        let popularity = Law::of("zipf", [count, 1.0, 0.0]);
        // The mean of Zipf is N/H.
        let begins = popularity.mean().unwrap_or(count) / count;
        Self { popularity, begins }
    }

    /// The law of a request's rank.
    pub(super) const fn popularity(&self) -> &Law {
        &self.popularity
    }

    /// The law of the requests from one that begins a visit to the next.
    pub(super) fn between_visits(&self) -> Law {
        Law::of("geometric", [self.begins, 0.0, 0.0])
    }
}

/// The law of the depth of what is asked for again; 1 is what was asked for last.
pub(super) fn depth() -> Law {
    Law::log_normal(1.5, 0.80, 1.0)
}

/// Some requests for a file that are not far apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Visit {
    /// From 1 on in the order of time; those before the start are counted back from -1.
    pub(super) number: i64,
    /// The file's rank, from 1.
    pub(super) file: u64,
}

/// The files of a test with what was asked for of them.
#[derive(Debug)]
pub(super) struct Library {
    files: Files,
    size: Law,
    streams: Streams,
    begin: Stream,
    file: Stream,
    depth: (Law, Stream),
    sizes: BTreeMap<u64, Bytes>,
    /// The last one first. What was asked for before the start is found when it is looked for.
    stack: VecDeque<Visit>,
    begun: i64,
    before: i64,
}

impl Library {
    /// The files that these streams give, with sizes of this law.
    pub(super) fn new(files: Files, size: Law, streams: &Streams) -> Self {
        Self {
            files,
            size,
            streams: streams.clone(),
            begin: streams.stream("visit"),
            file: streams.stream("file"),
            depth: (depth(), streams.stream("depth")),
            sizes: BTreeMap::new(),
            stack: VecDeque::new(),
            begun: 0,
            before: 0,
        }
    }

    /// The size of the file that is asked for next.
    pub(super) fn ask(&mut self) -> Bytes {
        let file = self.visit().file;
        self.size(file)
    }

    /// The size of a file, which is always the same.
    pub(super) fn size(&mut self, file: u64) -> Bytes {
        let (size, streams) = (&self.size, &self.streams);
        let drawn = || whole(size.sample(&mut streams.part(file).stream("file size"))).max(1);
        *self.sizes.entry(file).or_insert_with(|| Bytes::new(drawn()))
    }

    /// The visit that the next request belongs to.
    pub(super) fn visit(&mut self) -> Visit {
        let visit = if self.begin.unit() < self.files.begins { self.begun() } else { self.again() };
        self.stack.push_front(visit);
        self.stack.truncate(DEEPEST);
        visit
    }

    fn begun(&mut self) -> Visit {
        self.begun += 1;
        Visit { number: self.begun, file: self.drawn() }
    }

    fn again(&mut self) -> Visit {
        let depth = whole(self.depth.0.sample(&mut self.depth.1));
        let depth = usize::try_from(depth).unwrap_or(DEEPEST).clamp(1, DEEPEST);
        while self.stack.len() < depth {
            self.before -= 1;
            let visit = Visit { number: self.before, file: self.drawn() };
            self.stack.push_back(visit);
        }
        self.stack.remove(depth - 1).unwrap_or(Visit { number: 0, file: 1 })
    }

    fn drawn(&mut self) -> u64 {
        whole(self.files.popularity.sample(&mut self.file)).max(1)
    }
}

/// The depths of so many visits that are asked for again, as somebody counts them who sees the visits alone.
pub(super) fn depths(mut library: Library, count: usize) -> Vec<f64> {
    let mut stack: VecDeque<i64> = (1..).take(DEEPEST).map(|number: i64| -number).collect();
    let mut seen = Vec::new();
    while seen.len() < count {
        let number = library.visit().number;
        let found = stack.iter().position(|other| *other == number);
        if let Some(at) = found {
            stack.remove(at);
            seen.push(crate::stats::count(at + 1));
        }
        stack.push_front(number);
        stack.truncate(DEEPEST);
    }
    seen
}

/// The requests from each that begins a visit to the next, for so many visits.
pub(super) fn between_visits(mut library: Library, count: usize) -> Vec<f64> {
    let (mut all, mut requests, mut last) = (Vec::new(), 0_u32, 0);
    while all.len() < count {
        requests += 1;
        let number = library.visit().number;
        if number > last {
            all.push(f64::from(std::mem::take(&mut requests)));
            last = number;
        }
    }
    all
}

/// Deeper visits are forgotten: one request of 10^11 would ask for them.
const DEEPEST: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::chance::Streams;

    fn library(seed: u64) -> Library {
        let size = Law::of("exp", [1e6, 0.0, 0.0]);
        Library::new(Files::new(2000.0), size, &Streams::new(seed, "library"))
    }

    /// A cache holds a file once: whoever asks again gets what was there before.
    #[test]
    fn a_file_has_one_size_and_another_seed_another_set() {
        let (mut one, mut other) = (library(1), library(2));
        let mut sizes = BTreeMap::new();
        for _ in 0..10_000 {
            let file = one.visit().file;
            let size = one.size(file);
            assert_eq!(*sizes.entry(file).or_insert(size), size, "file {file}");
        }
        let differ = sizes.iter().filter(|(file, size)| other.size(**file) != **size).count();
        assert!(differ > sizes.len() * 9 / 10, "{differ} of {}", sizes.len());
        // What is asked for says nothing about the sizes, nor does its order.
        let mut again = library(1);
        assert!(sizes.iter().rev().all(|(file, size)| again.size(*file) == *size));
        let mut third = library(1);
        let asked: Vec<Bytes> = (0..1_000).map(|_| third.ask()).collect();
        assert!(asked.iter().all(|asked| sizes.values().any(|size| size == asked)));
    }

    /// The first ranks of 2000 have 1/k of 1/8.178 = 12.2 % of all requests; of so many visits the shares are
    /// known within a tenth.
    #[test]
    fn the_first_files_have_the_shares_of_zipf() {
        let mut library = library(3);
        let (mut shares, requests) = (BTreeMap::new(), 400_000_u32);
        for _ in 0..requests {
            *shares.entry(library.visit().file).or_insert(0_u32) += 1;
        }
        for rank in 1..=5 {
            let share = f64::from(shares[&rank]) / f64::from(requests);
            let wanted = 0.122_3 / float(rank);
            assert!((share / wanted - 1.0).abs() < 0.1, "rank {rank}: {share}");
        }
    }

    /// Depths among *files*, as a cache sees them: a file may have two visits, so they are a little less. The
    /// median of lognormal(1.5, 0.80) is 4.5; requests that Zipf alone would order have one of some hundreds.
    #[test]
    fn files_come_again_as_soon_as_the_law_of_depths_says() {
        let mut library = library(4);
        let (mut stack, mut depths) = (Vec::new(), Vec::new());
        for _ in 0..20_000 {
            let file = library.visit().file;
            if let Some(at) = stack.iter().position(|other| *other == file) {
                stack.remove(at);
                depths.push(crate::stats::count(at + 1));
            }
            stack.insert(0, file);
        }
        depths.sort_by(f64::total_cmp);
        let at = |percent: usize| depths[depths.len() * percent / 100];
        assert!((4.0..=5.0).contains(&at(50)), "{}", at(50));
        // That of the law is 12.5; new visits, one request of eight, are to files anywhere.
        assert!((9.0..=16.0).contains(&at(80)), "{}", at(80));
    }
}
