//! Web pages for several models: a document, its objects, a time to read.

mod claims;

use super::library::Files;
use super::library::Library;
use super::prelude::*;
use crate::traffic::train::Conversation;
use crate::traffic::train::Noticed;
use crate::traffic::train::Script;
use crate::traffic::train::Step;
use std::collections::VecDeque;

pub(super) use claims::claims;

/// A model of pages.
pub(super) trait Pages {
    /// One of so many values is a page: where a page has many objects, more would take long.
    const SPARSE: usize = 1;

    /// What its pages are made of.
    fn laws(call: &Call) -> Laws;
}

/// A page as it is read.
#[derive(Debug, Default)]
struct Page {
    /// Bytes of each request and of its answer, the document's first.
    asks: Vec<(Bytes, Bytes)>,
    /// For parsing the document, before objects, and last for reading.
    pauses: Vec<Nanos>,
}

impl Page {
    /// The bytes that come back, and the seconds until the next page.
    fn answered(self) -> [f64; 2] {
        let bytes = self.asks.iter().map(|(_, answer)| answer.count()).sum();
        let time = self.pauses.into_iter().fold(Nanos::ZERO, Nanos::saturating_add);
        [float(bytes), time.seconds()]
    }
}

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
    /// The largest packet of a session's path, from the IP header on; `None` leaves it to the path.
    pub(super) mtu: Option<Law>,
    /// What documents and objects are among, with sizes as `document` says; `None` where each is a new one.
    pub(super) files: Option<Files>,
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
            mtu: self.mtu.clone(),
            files: self.files.clone(),
        }
    }

    /// The files of a test with these streams; a single one where there are no files.
    fn library(&self, streams: &Streams) -> Library {
        let files = self.files.clone().unwrap_or_else(|| Files::new(1.0));
        Library::new(files, self.document.clone(), streams)
    }

    /// So many pages: the bytes that come back, and the seconds until the next one. Where there are files, each page is of
    /// a set of its own.
    fn pages(&self, streams: &Streams, count: usize) -> Vec<f64> {
        let new = |streams: &Streams| Reader::new(self.clone(), streams);
        let mut reader = new(streams);
        let one = |set| {
            if self.files.is_some() {
                reader = new(&streams.part(set));
            }
            reader.read().answered()
        };
        (0..count as u64).flat_map(one).collect()
    }

    pub(super) fn train(self, streams: &Streams) -> Train {
        Train::Closed(Box::new(Conversation::new(Box::new(Reader::new(self, streams)))))
    }
}

/// Somebody who opens one page after another.
#[derive(Debug)]
struct Reader {
    laws: Laws,
    streams: [Stream; 6],
    pause: Stream,
    mtu: Option<Bytes>,
    library: Option<Library>,
    loading: bool,
    /// How long each page took, in seconds.
    loads: Vec<f64>,
}

impl Reader {
    fn new(laws: Laws, streams: &Streams) -> Self {
        let names = ["request", "document", "objects", "object", "parsing", "reading"];
        let pause = streams.stream("pause");
        let mtu = laws.mtu.as_ref().map(|mtu| Self::bytes(mtu, &mut streams.stream("mtu")));
        let library = laws.files.is_some().then(|| laws.library(streams));
        let streams = names.map(|name| streams.stream(name));
        Self { laws, streams, pause, mtu, library, loading: false, loads: Vec::new() }
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
    fn objects(&mut self) -> u64 {
        whole(self.laws.objects.sample(&mut self.streams[2]) - self.laws.less)
    }

    fn object(&mut self) -> (Bytes, Bytes) {
        let request = Self::bytes(&self.laws.request, &mut self.streams[0]);
        (request, self.answer(|laws| &laws.object, 3))
    }

    /// The size of the next file, or, where there are none, of what this law says.
    fn answer(&mut self, law: fn(&Laws) -> &Law, stream: usize) -> Bytes {
        match &mut self.library {
            Some(library) => library.ask(),
            None => Self::bytes(law(&self.laws), &mut self.streams[stream]),
        }
    }

    /// The next page and the pause after it, without waiting for either.
    fn read(&mut self) -> Page {
        let (mut steps, mut page) = (VecDeque::new(), Page::default());
        for _ in 0..2 {
            self.more(Nanos::ZERO, &mut steps);
        }
        for step in steps {
            match step {
                Step::Ask(asks) => page.asks.extend(asks.iter().map(|ask| (ask.1, ask.2))),
                Step::Pool(_, asks) => page.asks.extend(asks),
                Step::Think(pause) => page.pauses.push(pause),
                Step::Close(_) => {}
            }
        }
        page
    }

    fn page(&mut self, steps: &mut VecDeque<Step>) {
        let request = Self::bytes(&self.laws.request, &mut self.streams[0]);
        let document = self.answer(|laws| &laws.document, 1);
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

    fn segment(&self) -> Option<Bytes> {
        self.mtu.map(|mtu| mtu.saturating_sub(HEADERS))
    }
}

/// Of a packet with TCP over IPv4, without options.
const HEADERS: Bytes = Bytes::new(40);

/// So many pages: the bytes that come back, and requests.
#[cfg(test)]
pub(super) fn sizes_of_pages(laws: Laws, streams: &Streams, count: usize) -> Vec<(f64, f64)> {
    let mut reader = Reader::new(laws, streams);
    let pages = std::iter::repeat_with(|| reader.read()).take(count);
    pages
        .map(|page| (crate::stats::count(page.asks.len()), page))
        .map(|(n, page)| (page.answered()[0], n))
        .collect()
}
