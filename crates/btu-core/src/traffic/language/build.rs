//! From blocks as they are written to a scenario: settings, pairs of sender and sink, names.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use crate::units::Nanos;

use super::call;
use super::call::Call;
use super::quantity::Dialect;
use super::scenario::Block;
use super::scenario::Cluster;
use super::scenario::Drain;
use super::scenario::Endpoint;
use super::scenario::Keep;
use super::scenario::Protocol;
use super::scenario::Scenario;
use super::scenario::Test;
use super::script;
use super::script::BlockKind;
use super::script::Expressions;
use super::script::Place;
use super::script::Problem;
use super::script::RawBlock;
use super::script::RawTest;
use super::settings;
use super::settings::Settings;
use super::settings::Vocabulary;

/// A scenario that was read, with what is worth saying about its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The scenario.
    pub scenario: Scenario,
    /// What was assumed or ignored.
    pub warnings: Vec<Problem>,
    pub(super) written: Written,
}

/// Where tests are written, by their clusters' names and their own.
pub(super) type Written = BTreeMap<(String, String), Place>;

impl Reading {
    /// Where the test of this name in the cluster of this name begins, whatever gave them their names.
    pub fn place_of(&self, cluster: &str, test: &str) -> Option<Place> {
        self.written.get(&(cluster.to_owned(), test.to_owned())).copied()
    }
}

/// What is wrong with the text of a scenario, all of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines(file, problems))]
pub struct ScenarioError {
    /// The file.
    pub file: String,
    /// Everything that is wrong, in the order of the text.
    pub problems: Vec<Problem>,
}

/// Reads a scenario in the block language.
pub fn read_script(
    file: &str,
    text: &str,
    dialect: Dialect,
    words: &Vocabulary<'_>,
) -> Result<Reading, ScenarioError> {
    let (blocks, problems) = script::blocks(text);
    let expressions = Expressions::new(dialect, words.files);
    let (hosts, named) = (Vec::new(), Vec::new());
    let (clusters, written) = (0, Written::new());
    let mut builder = Builder { expressions, problems, hosts, named, written, clusters };
    let roots: Vec<Block> = blocks.into_iter().filter_map(|block| builder.block(block)).collect();
    let run = match <[Block; 1]>::try_from(roots) {
        Ok([only]) => only,
        Err(several) => Block::Serial(several, Keep::No),
    };
    let scenario = Scenario { seed: None, run, hosts: builder.hosts, matrix: Vec::new() };
    let mut problems = builder.problems;
    problems.extend(duplicates(&scenario, &builder.named));
    if scenario.clusters().is_empty() && problems.is_empty() {
        let start = Place { line: 1, column: 1 };
        problems.push(Problem::at(start, "no test in it; write cluster { test HOST { ... } }"));
    }
    let (warnings, written) = (builder.expressions.warnings, builder.written);
    reading(file, Reading { scenario, warnings, written }, problems)
}

/// The reading, if nothing is wrong with it.
pub(super) fn reading(
    file: &str,
    mut read: Reading,
    mut problems: Vec<Problem>,
) -> Result<Reading, ScenarioError> {
    for list in [&mut problems, &mut read.warnings] {
        list.sort_by_key(|problem| (problem.line, problem.column));
    }
    if problems.is_empty() {
        return Ok(read);
    }
    Err(ScenarioError { file: file.to_owned(), problems })
}

/// Clusters, and tests of a cluster, whose name another one has; `written` says where names stand.
pub(super) fn duplicates(scenario: &Scenario, written: &[(String, Place)]) -> Vec<Problem> {
    let mut names = BTreeSet::new();
    let twice = |kind: &str, name: &str| {
        let last = written.iter().rfind(|(one, _)| one == name);
        let place = last.map_or(Place { line: 1, column: 1 }, |(_, place)| *place);
        Problem::at(place, format!("two {kind}s are named \"{name}\"; give each its own name"))
    };
    let mut found = Vec::new();
    for cluster in scenario.clusters() {
        if !names.insert(cluster.name.clone()) {
            found.push(twice("cluster", &cluster.name));
        }
        let mut tests = BTreeSet::new();
        let again = |test: &&Test| !tests.insert(test.name.clone());
        let again: Vec<&Test> = cluster.tests.iter().filter(again).collect();
        found.extend(again.iter().map(|test| twice("test", &test.name)));
    }
    found
}

/// The default name of a test: its host, with a number if another test has it.
pub(super) fn name_of(from: &Endpoint, taken: &[Test]) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let host: String = from.host.trim_matches(['[', ']']).chars().map(letter).take(56).collect();
    let free = |name: &String| !taken.iter().any(|test| test.name == *name);
    let numbered = (2..).map(|number| format!("{host}-{number}"));
    std::iter::once(host.clone()).chain(numbered).find(free).unwrap_or_default()
}

/// The default name of a cluster.
pub(super) fn cluster_name(number: usize) -> String {
    format!("c{number}")
}

struct Builder<'b> {
    expressions: Expressions<'b>,
    problems: Vec<Problem>,
    hosts: Vec<String>,
    /// Every name that was given, and where.
    named: Vec<(String, Place)>,
    written: Written,
    clusters: usize,
}

/// One end of a connection.
struct Side {
    place: Place,
    own: Endpoint,
    peer: Endpoint,
    call: Call,
    protocol: Protocol,
    settings: Settings,
}

impl Builder<'_> {
    fn block(&mut self, raw: RawBlock) -> Option<Block> {
        let (name, keep) = self.block_settings(&raw);
        let place = raw.place;
        let block = match raw.kind {
            BlockKind::Cluster if raw.blocks.iter().any(has_serial) => {
                let cause = "a serial block inside a cluster runs beside it, without its barrier";
                self.expressions.warnings.push(Problem::at(place, cause));
                Block::Parallel(self.children(raw))
            }
            BlockKind::Cluster => {
                let number = self.next_cluster();
                let tests = self.all_tests(raw);
                let name = name.unwrap_or_else(|| cluster_name(number));
                Block::Cluster(self.cluster(name, tests))
            }
            BlockKind::Parallel => Block::Parallel(self.children(raw)),
            BlockKind::Serial => Block::Serial(self.children(raw), keep),
        };
        let empty = match &block {
            Block::Cluster(cluster) => cluster.tests.is_empty(),
            Block::Parallel(blocks) | Block::Serial(blocks, _) => blocks.is_empty(),
        };
        if empty && self.problems.is_empty() {
            self.problems.push(Problem::at(place, "this block has no sender in it"));
        }
        (!empty).then_some(block)
    }

    fn cluster(&mut self, name: String, tests: Vec<(Place, Test)>) -> Cluster {
        let of = |(place, test): &(Place, Test)| ((name.clone(), test.name.clone()), *place);
        self.written.extend(tests.iter().map(of));
        Cluster { name, tests: tests.into_iter().map(|(_, test)| test).collect() }
    }

    fn next_cluster(&mut self) -> usize {
        self.clusters += 1;
        self.clusters
    }

    fn block_settings(&mut self, raw: &RawBlock) -> (Option<String>, Keep) {
        let (mut name, mut keep) = (None, Keep::No);
        for setting in &raw.settings {
            let read = match setting.name.as_str() {
                "name" => settings::label(&setting.value).map(|label| {
                    self.named.push((label.clone(), setting.place));
                    name = Some(label);
                }),
                "keep" if raw.kind == BlockKind::Serial => settings::yes("keep", &setting.value)
                    .map(|yes| keep = if yes { Keep::Yes } else { Keep::No }),
                other => {
                    let cause = format!(
                        "unknown setting \"{other}\" of a block; write name, or \
                                         keep in a serial block"
                    );
                    Err(Problem::at(setting.place, cause))
                }
            };
            self.problems.extend(read.err());
        }
        (name, keep)
    }

    /// The children in the order of the text; a test outside a cluster is a cluster of its own.
    fn children(&mut self, raw: RawBlock) -> Vec<Block> {
        let mut children = Vec::new();
        for (place, mut test) in self.pairs(&raw.tests) {
            if test.name.is_empty() {
                test.name = name_of(&test.from, &[]);
            }
            let name = cluster_name(self.next_cluster());
            children.push((place, Block::Cluster(self.cluster(name, vec![(place, test)]))));
        }
        for block in raw.blocks {
            let place = block.place;
            children.extend(self.block(block).map(|block| (place, block)));
        }
        children.sort_by_key(|(place, _)| *place);
        children.into_iter().map(|(_, block)| block).collect()
    }

    /// The tests of a cluster and of the blocks inside it: all meet at its one barrier.
    fn all_tests(&mut self, raw: RawBlock) -> Vec<(Place, Test)> {
        let mut tests = self.pairs(&raw.tests);
        for block in raw.blocks {
            self.block_settings(&block);
            tests.extend(self.all_tests(block));
        }
        tests.sort_by_key(|(place, _)| *place);
        let mut named: Vec<Test> = Vec::new();
        for (_, test) in &mut tests {
            if test.name.is_empty() {
                test.name = name_of(&test.from, &named);
            }
            named.push(test.clone());
        }
        tests
    }

    /// Each sender with its sink: the one that mirrors it, else the next of the same two hosts.
    fn pairs(&mut self, raw: &[RawTest]) -> Vec<(Place, Test)> {
        let sides: Vec<Side> = raw.iter().filter_map(|raw| self.side(raw)).collect();
        let (mut sinks, senders): (Vec<Side>, Vec<Side>) =
            sides.into_iter().partition(|side| side.settings.is_sink());
        let exact = senders.iter().map(|sender| take(&mut sinks, |sink| mirrors(sink, sender)));
        let exact: Vec<Option<Side>> = exact.collect();
        let mut tests = Vec::new();
        for (sender, sink) in senders.into_iter().zip(exact) {
            let sink = sink.or_else(|| self.next_sink(&mut sinks, &sender));
            let (place, test) = (sender.place, self.test(sender, sink));
            tests.push((place, test));
        }
        for sink in sinks {
            self.warn(sink.place, "no sender for this sink; it is left out".to_owned());
        }
        tests
    }

    fn next_sink(&mut self, sinks: &mut Vec<Side>, sender: &Side) -> Option<Side> {
        let hosts =
            |sink: &Side| sink.own.host == sender.peer.host && sink.peer.host == sender.own.host;
        let found = take(sinks, hosts);
        let said = match &found {
            Some(sink) => format!(
                "no sink mirrors this sender; taken is the next one of the two hosts, at {}:{}, \
                 whose port {} wins",
                sink.place.line, sink.place.column, sink.own
            ),
            None => format!("no sink for this sender; one is assumed at {}", sender.peer),
        };
        self.warn(sender.place, said);
        found
    }

    fn test(&mut self, sender: Side, sink: Option<Side>) -> Test {
        let to = match &sink {
            Some(sink) => Endpoint { port: sink.own.port.or(sender.peer.port), ..sink.own.clone() },
            None => sender.peer,
        };
        let sink_protocol = sink.as_ref().map_or(sender.protocol.clone(), |s| s.protocol.clone());
        if sink_protocol.transport != sender.protocol.transport {
            let cause = format!(
                "sender and sink use different protocols: {} and {}",
                sender.protocol.transport, sink_protocol.transport
            );
            self.problems.push(Problem::at(sender.place, cause));
        }
        let settings = sender.settings;
        self.named.extend(settings.name.clone());
        let default = || Call::plain(call::sink());
        Test {
            name: settings.name.map(|(name, _)| name).unwrap_or_default(),
            from: sender.own,
            to,
            traffic: sender.call,
            sink: sink.map_or_else(default, |sink| sink.call),
            protocol: sender.protocol,
            sink_protocol,
            start: settings.start.unwrap_or(Nanos::ZERO),
            seed: settings.seed,
            pace: settings.pace,
            drain: settings.drain.unwrap_or(Drain::No),
            has_receipts: settings.receipts.is_some_and(|(is_wanted, _)| is_wanted),
            dscp: settings.dscp,
            link: settings.link,
        }
    }

    /// Reads the settings of one end; `None` if something is wrong.
    fn side(&mut self, raw: &RawTest) -> Option<Side> {
        let mut settings = Settings::default();
        let before = self.problems.len();
        for one in &raw.settings {
            let named = (one.name.as_str(), one.place);
            let read = settings.set(named, &one.value, &mut self.expressions);
            self.problems.extend(read.err());
        }
        self.problems.extend(settings.receipts_refused());
        // A setting whose value cannot be read was told already: it is not missing.
        let failed = raw.is_damaged || self.problems.len() > before;
        let host = raw.host.clone().map(|host| Endpoint { host, port: None });
        let own = settings.own.clone().or(host);
        let mut lacks = |name: &str, remedy: &str| {
            if !failed {
                let cause = format!("{name} is missing; write {remedy}");
                self.problems.push(Problem::at(raw.place, cause));
            }
        };
        if settings.call.is_none() {
            lacks("type", "type = full(...), burst(...), burstq(...), sink(...) or a model");
        }
        if own.is_none() {
            lacks("own", "own = HOST:PORT");
        }
        if settings.peer.is_none() {
            lacks("peer", "peer = HOST:PORT");
        }
        let (own, peer) = (own?, settings.peer.clone()?);
        let call = settings.call.clone()?;
        for host in raw.host.iter().chain([&own.host, &peer.host]) {
            self.meet(host);
        }
        let protocol = settings.protocol.clone().unwrap_or_default();
        Some(Side { place: raw.place, own, peer, call, protocol, settings })
    }

    fn meet(&mut self, host: &str) {
        if !self.hosts.iter().any(|known| known == host) {
            self.hosts.push(host.to_owned());
        }
    }

    fn warn(&mut self, place: Place, cause: String) {
        self.expressions.warnings.push(Problem::at(place, cause));
    }
}

fn has_serial(block: &RawBlock) -> bool {
    block.kind == BlockKind::Serial || block.blocks.iter().any(has_serial)
}

fn mirrors(sink: &Side, sender: &Side) -> bool {
    sink.own == sender.peer && sink.peer == sender.own
}

/// Takes the first sink for which `fits` holds.
fn take(sinks: &mut Vec<Side>, fits: impl Fn(&Side) -> bool) -> Option<Side> {
    let at = sinks.iter().position(fits)?;
    Some(sinks.remove(at))
}

/// `file:line:column: cause`, a line each; after the first fifty, how many more.
fn lines(file: &str, problems: &[Problem]) -> String {
    let mut lines: Vec<String> =
        problems.iter().take(MOST).map(|problem| format!("{file}:{problem}")).collect();
    if problems.len() > MOST {
        lines.push(format!("{file}: and {} more", problems.len() - MOST));
    }
    lines.join("\n")
}

const MOST: usize = 50;
