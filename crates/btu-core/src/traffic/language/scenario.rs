//! A scenario: which connections carry which traffic, side by side and one after another.

use std::fmt;

use crate::units::Bytes;
use crate::units::Nanos;

use super::call::Argument;
use super::call::Call;
use super::call::Parameter;
use crate::traffic::chance::Streams;
use crate::traffic::transport::Transport;

/// Everything that one file describes.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// What all random streams derive from, where the file says so.
    pub seed: Option<u64>,
    /// What runs.
    pub run: Block,
    /// Every host in order of appearance; the first that is no role plays `test`.
    pub hosts: Vec<String>,
    /// Values to run with, one after another.
    pub matrix: Vec<Axis>,
}

/// What runs side by side or one after another.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Tests that connect, meet at one barrier, start at one instant, and end together.
    Cluster(Cluster),
    /// At once, without a common barrier.
    Parallel(Vec<Self>),
    /// In order.
    Serial(Vec<Self>, Keep),
}

/// Whether a serial block goes on after a child that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The block ends.
    #[default]
    No,
    /// It goes on.
    Yes,
}

/// Tests with one start and one report.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The name, unlike every other cluster's.
    pub name: String,
    /// Its connections.
    pub tests: Vec<Test>,
}

/// One connection: what a sender sends and how its sink reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// The name, unlike every other test's of the cluster.
    pub name: String,
    /// Where the sender is.
    pub from: Endpoint,
    /// Where the sink is; its port is the one that is listened on.
    pub to: Endpoint,
    /// What is sent.
    pub traffic: Call,
    /// How the sink reads.
    pub sink: Call,
    /// What carries it, and the sender's options.
    pub protocol: Protocol,
    /// The sink's options.
    pub sink_protocol: Protocol,
    /// The time from the start of the cluster to that of the test.
    pub start: Nanos,
    /// The seed of this test, instead of the scenario's.
    pub seed: Option<u64>,
    /// How the sender waits for what is due; `None` leaves it to the engine.
    pub pace: Option<Pace>,
    /// What happens to blocks in the queue at the end.
    pub drain: Drain,
    /// Whether the receiver answers each block in band.
    pub has_receipts: bool,
    /// The differentiated services code point of the packets.
    pub dscp: Option<u8>,
    /// The link elements of the path, as for `btu link`.
    pub link: Option<String>,
}

/// One end of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoint {
    /// A host's name or address, or a role, in lower case.
    pub host: String,
    /// The port; `None` leaves it to the engine.
    pub port: Option<u16>,
}

/// What carries a test, with its options. What an option does is read back from the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protocol {
    /// The transport.
    pub transport: Transport,
    /// Send and receive buffers.
    pub window: Option<Bytes>,
    /// `TCP_NODELAY`.
    pub nodelay: Option<bool>,
    /// The congestion control.
    pub congestion: Option<String>,
    /// The maximum segment size.
    pub mss: Option<Bytes>,
}

/// How a sender waits for what is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Asleep, then awake for what a wake-up takes: exact, and costs CPU time.
    Hybrid,
    /// Asleep: some ten microseconds late, and spares the CPU for others.
    Sleep,
    /// Awake.
    Spin,
}

/// What happens to the queue of a test at the end of its duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drain {
    /// It is thrown away.
    #[default]
    No,
    /// It is sent, for at most this time.
    UpTo(Nanos),
    /// It is sent.
    Yes,
}

/// One key of the matrix: `CLUSTER[.TEST].PARAMETER` with its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The cluster.
    pub cluster: String,
    /// The test; every test of the cluster that has the parameter if `None`.
    pub test: Option<String>,
    /// The parameter of the test's traffic.
    pub parameter: String,
    /// The values.
    pub values: Vec<Argument>,
}

/// A scenario of a matrix with the values that it has.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// `vbr.duration = 10 s`, one per axis; empty without a matrix.
    pub values: Vec<String>,
    /// The scenario, without a matrix.
    pub scenario: Scenario,
}

impl Scenario {
    /// Every cluster, in the order of the text.
    pub fn clusters(&self) -> Vec<&Cluster> {
        self.run.clusters()
    }

    /// Every combination of the matrix, the last axis changing fastest.
    pub fn variants(&self) -> Vec<Variant> {
        let plain = Self { matrix: Vec::new(), ..self.clone() };
        let mut variants = vec![Variant { values: Vec::new(), scenario: plain }];
        for axis in &self.matrix {
            variants = variants.iter().flat_map(|variant| axis.apply(variant)).collect();
        }
        variants
    }

    /// Why values of the matrix have no meaning beside others of it; every combination of them runs.
    pub(in crate::traffic) fn conflicts(&self) -> Vec<String> {
        let of_cluster = |cluster: &Cluster| -> Vec<String> {
            let tightest = |test: &Test| self.tightest(&cluster.name, test).conflict();
            cluster.tests.iter().filter_map(tightest).map(|(_, cause)| cause).collect()
        };
        let of_values = self.clusters().into_iter().flat_map(of_cluster);
        of_values.chain(self.receipts_refusal()).collect()
    }

    /// Why receipts that are wanted have no meaning with some combination of the matrix.
    fn receipts_refusal(&self) -> Option<String> {
        let wants = |cluster: &&Cluster| cluster.tests.iter().any(|test| test.has_receipts);
        self.clusters().iter().find(|cluster| wants(cluster))?;
        let of = |one: &Variant| {
            let clusters = one.scenario.clusters().into_iter();
            clusters.flat_map(|cluster| &cluster.tests).find_map(Test::receipts_refusal)
        };
        self.variants().iter().find_map(of)
    }

    /// What a test sends in the combination that is nearest to a conflict: what has to be large is as
    /// small as it becomes, and all else as large; and of words those that do not go with every other one.
    fn tightest(&self, cluster: &str, test: &Test) -> Call {
        let mut call = test.traffic.clone();
        for axis in self.matrix.iter().filter(|axis| axis.names(cluster, test)) {
            let Some(parameter) = call.shape().parameter(&axis.parameter) else { continue };
            let shape = call.shape();
            let sign = if parameter.at_least.is_some() { -1.0 } else { 1.0 };
            let size = |value: &&Argument| match value {
                Argument::Value(value) => sign * value.mean(),
                Argument::Word(word) => f64::from(shape.is_choosy(parameter, word)),
                Argument::File(..) => 0.0,
            };
            let values = axis.values.iter();
            if let Some(value) = values.max_by(|a, b| size(a).total_cmp(&size(b))) {
                call.set(parameter, value.clone());
            }
        }
        call
    }
}

impl Block {
    /// Every cluster in it, in the order of the text.
    pub fn clusters(&self) -> Vec<&Cluster> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found
    }

    fn collect<'b>(&'b self, found: &mut Vec<&'b Cluster>) {
        match self {
            Self::Cluster(cluster) => found.push(cluster),
            Self::Parallel(blocks) | Self::Serial(blocks, _) => {
                for block in blocks {
                    block.collect(found);
                }
            }
        }
    }

    pub(in crate::traffic) fn each_cluster(&mut self, change: &mut dyn FnMut(&mut Cluster)) {
        match self {
            Self::Cluster(cluster) => change(cluster),
            Self::Parallel(blocks) | Self::Serial(blocks, _) => {
                for block in blocks {
                    block.each_cluster(change);
                }
            }
        }
    }
}

impl Test {
    /// The random streams of this test in its cluster; `seed` is the scenario's or the run's.
    pub fn streams(&self, cluster: &str, seed: u64) -> Streams {
        Streams::new(self.seed.unwrap_or(seed), &format!("{cluster}/{}", self.name))
    }

    /// How long it sends; whatever sends has a duration, and a sink is over at once.
    pub fn duration(&self, streams: &Streams) -> Nanos {
        self.traffic.duration(streams).unwrap_or(Nanos::ZERO)
    }
}

impl Axis {
    /// True for a test whose argument this axis replaces.
    pub(in crate::traffic) fn names(&self, cluster: &str, test: &Test) -> bool {
        self.cluster == cluster
            && self.test.as_ref().is_none_or(|name| *name == test.name)
            && test.traffic.shape().parameter(&self.parameter).is_some()
    }

    /// The parameters that it replaces, each of another type of traffic.
    pub(in crate::traffic) fn declared(&self, scenario: &Scenario) -> Vec<&'static Parameter> {
        let of_cluster = |cluster: &Cluster| -> Vec<&'static Parameter> {
            let named = cluster.tests.iter().filter(|test| self.names(&cluster.name, test));
            let shapes = named.map(|test| test.traffic.shape());
            shapes.filter_map(|shape| shape.parameter(&self.parameter)).collect()
        };
        let mut found: Vec<_> = scenario.clusters().into_iter().flat_map(of_cluster).collect();
        found.dedup_by(|a, b| std::ptr::eq(*a, *b));
        found
    }

    fn apply(&self, variant: &Variant) -> Vec<Variant> {
        self.values.iter().map(|value| self.with(variant, value)).collect()
    }

    fn with(&self, variant: &Variant, value: &Argument) -> Variant {
        let mut variant = variant.clone();
        variant.values.push(format!("{} = {value}", self.key()));
        variant.scenario.run.each_cluster(&mut |cluster| {
            for test in cluster.tests.iter_mut().filter(|test| self.names(&cluster.name, test)) {
                if let Some(parameter) = test.traffic.shape().parameter(&self.parameter) {
                    test.traffic.set(parameter, value.clone());
                }
            }
        });
        variant
    }

    /// `vbr.duration`
    pub fn key(&self) -> String {
        match &self.test {
            Some(test) => format!("{}.{test}.{}", self.cluster, self.parameter),
            None => format!("{}.{}", self.cluster, self.parameter),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(out, "{}:{port}", self.host),
            None => out.write_str(&self.host),
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { transport, window, nodelay, congestion, mss } = self;
        let size = |bytes: &Bytes| {
            crate::traffic::Quantity::Bytes.write(super::quantity::float(bytes.count()))
        };
        let options = [
            window.as_ref().map(|window| format!("window={}", size(window))),
            nodelay.map(|on| format!("nodelay={}", if on { "yes" } else { "no" })),
            congestion.as_ref().map(|name| format!("congestion={name}")),
            mss.as_ref().map(|mss| format!("mss={}", size(mss))),
        ];
        let options: Vec<String> = options.into_iter().flatten().collect();
        match options.as_slice() {
            [] => transport.fmt(out),
            given => write!(out, "{transport}({})", given.join(", ")),
        }
    }
}

impl fmt::Display for Drain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::No => out.write_str("no"),
            Self::UpTo(time) => time.fmt(out),
            Self::Yes => out.write_str("yes"),
        }
    }
}

impl Pace {
    /// Its name in scripts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Sleep => "sleep",
            Self::Spin => "spin",
        }
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
