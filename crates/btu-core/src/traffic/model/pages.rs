//! Web pages for several models: a document, its objects, a time to read.

use super::Values;
use super::prelude::*;
use crate::traffic::train::Conversation;
use crate::traffic::train::Noticed;
use crate::traffic::train::Script;
use crate::traffic::train::Step;
use std::collections::VecDeque;

/// What pages are made of.
#[derive(Clone, Debug)]
pub(super) struct Laws {
    pub(super) request: Law,
    pub(super) document: Law,
    /// Objects of a page, before `less` are taken off.
    pub(super) objects: Law,
    pub(super) less: f64,
    pub(super) object: Law,
    /// From the document to its first object.
    pub(super) parsing: Law,
    pub(super) reading: Law,
    pub(super) fetch: Fetch,
}

/// How the objects of a page are fetched.
#[derive(Clone, Debug)]
pub(super) enum Fetch {
    /// So many at a time, each on a flow of its own.
    Flows(u32),
    /// One after another, with a pause before each.
    Paused(Law),
    /// All at once on one flow.
    Together,
}

impl Laws {
    /// Bytes per second forward and backward, where answers take no time.
    pub(super) fn rates(&self) -> [f64; 2] {
        let mean = |law: &Law| law.mean().unwrap_or(f64::INFINITY);
        let objects = self.mean_objects();
        let pause = match &self.fetch {
            Fetch::Paused(pause) => objects * mean(pause),
            _ => 0.0,
        };
        let time = (mean(&self.parsing) + mean(&self.reading) + pause) / 1e9;
        let back = mean(&self.document) + objects * mean(&self.object);
        [mean(&self.request) * (1.0 + objects) / time, back / time]
    }

    /// The mean number of objects, rounded as they are.
    pub(super) fn mean_objects(&self) -> f64 {
        let at_least = |k: u64| 1.0 - self.objects.cdf(float(k) - 0.5 + self.less);
        (1..100_000).map(at_least).take_while(|share| *share > 0.0).sum()
    }

    /// The same without the tails of their laws.
    fn below_tails(&self) -> Self {
        let fetch = match &self.fetch {
            Fetch::Paused(pause) => Fetch::Paused(pause.below_tail()),
            other => other.clone(),
        };
        Self {
            request: self.request.below_tail(),
            document: self.document.below_tail(),
            objects: self.objects.below_tail(),
            less: self.less,
            object: self.object.below_tail(),
            parsing: self.parsing.below_tail(),
            reading: self.reading.below_tail(),
            fetch,
        }
    }

    /// What is claimed of the bytes that come back per second, by `values` of [`Laws::pages`].
    pub(super) fn claim(&self, values: Values) -> Claim {
        below_tails(self.below_tails().rates()[1], values)
    }

    /// So many pages without the tails: the bytes that come back, and the seconds until the next one.
    pub(super) fn pages(&self, streams: &Streams, count: usize) -> Vec<f64> {
        let mut reader = Reader::new(self.below_tails(), streams);
        let mut steps = VecDeque::new();
        let mut pages = Vec::with_capacity(2 * count);
        for _ in 0..count {
            reader.page(&mut steps);
            let reading = Step::Think(reader.reading());
            let (mut bytes, mut time) = (0, Nanos::ZERO);
            for step in steps.drain(..).chain([reading]) {
                match step {
                    Step::Ask(asks) => bytes += asks.iter().map(|ask| ask.2.count()).sum::<u64>(),
                    Step::Pool(_, asks) => {
                        bytes += asks.iter().map(|ask| ask.1.count()).sum::<u64>();
                    }
                    Step::Think(pause) => time = time.saturating_add(pause),
                    Step::Close(_) => {}
                }
            }
            pages.extend([float(bytes), time.seconds()]);
        }
        pages
    }

    pub(super) fn train(self, streams: &Streams) -> Train {
        Train::Closed(Box::new(Conversation::new(Box::new(Reader::new(self, streams)))))
    }
}

/// Somebody who opens one page after another.
#[derive(Debug)]
pub(super) struct Reader {
    laws: Laws,
    streams: [Stream; 6],
    pause: Stream,
    loading: bool,
    /// How long each page took, in seconds.
    loads: Vec<f64>,
}

impl Reader {
    pub(super) fn new(laws: Laws, streams: &Streams) -> Self {
        let names = ["request", "document", "objects", "object", "parsing", "reading"];
        let pause = streams.stream("pause");
        let streams = names.map(|name| streams.stream(name));
        Self { laws, streams, pause, loading: false, loads: Vec::new() }
    }

    fn bytes(law: &Law, stream: &mut Stream) -> Bytes {
        Bytes::new(whole(law.sample(stream)).max(1))
    }

    fn time(law: &Law, stream: &mut Stream) -> Nanos {
        Nanos::new(whole(law.sample(stream)))
    }

    fn reading(&mut self) -> Nanos {
        Self::time(&self.laws.reading, &mut self.streams[5])
    }

    /// The number of objects of the next page.
    pub(super) fn objects(&mut self) -> u64 {
        whole(self.laws.objects.sample(&mut self.streams[2]) - self.laws.less)
    }

    fn object(&mut self) -> (Bytes, Bytes) {
        let request = Self::bytes(&self.laws.request, &mut self.streams[0]);
        (request, Self::bytes(&self.laws.object, &mut self.streams[3]))
    }

    fn page(&mut self, steps: &mut VecDeque<Step>) {
        let request = Self::bytes(&self.laws.request, &mut self.streams[0]);
        let document = Self::bytes(&self.laws.document, &mut self.streams[1]);
        steps.push_back(Step::Ask(vec![(0, request, document)]));
        steps.push_back(Step::Think(Self::time(&self.laws.parsing, &mut self.streams[4])));
        let count = self.objects();
        let objects: Vec<(Bytes, Bytes)> = (0..count).map(|_| self.object()).collect();
        match &self.laws.fetch {
            Fetch::Flows(flows) => steps.push_back(Step::Pool(*flows, objects)),
            Fetch::Paused(pause) => {
                for (request, answer) in objects {
                    steps.push_back(Step::Think(Self::time(pause, &mut self.pause)));
                    steps.push_back(Step::Ask(vec![(0, request, answer)]));
                }
            }
            Fetch::Together => {
                let asks = objects.into_iter().map(|(request, answer)| (0, request, answer));
                steps.push_back(Step::Ask(asks.collect()));
            }
        }
    }
}

impl Script for Reader {
    fn more(&mut self, elapsed: Nanos, steps: &mut VecDeque<Step>) {
        if self.loading {
            self.loads.push(elapsed.seconds());
            steps.push_back(Step::Think(self.reading()));
        } else {
            self.page(steps);
        }
        self.loading = !self.loading;
    }

    fn noticed(&self, elapsed: Nanos) -> Vec<Noticed> {
        let lasts = self.loading.then(|| elapsed.seconds());
        let at = |names, share| Noticed::percentile(names, share, &self.loads, lasts);
        [
            at(["page load p50, s", "page load p50, at least, s"], 0.5),
            at(["page load p95, s", "page load p95, at least, s"], 0.95),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
