//! The TOML form of a scenario: the same tree as a script, and a matrix of values.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::units::Nanos;

use super::build;
use super::build::Reading;
use super::build::ScenarioError;
use super::build::Written;
use super::call;
use super::call::Argument;
use super::call::Call;
use super::quantity::Dialect;
use super::scenario::Axis;
use super::scenario::Block;
use super::scenario::Cluster;
use super::scenario::Drain;
use super::scenario::Endpoint;
use super::scenario::Keep;
use super::scenario::Scenario;
use super::scenario::Test;
use super::script;
use super::script::Expressions;
use super::script::Place;
use super::script::Problem;
use super::script::Tree;
use super::settings;
use super::settings::Settings;
use super::settings::Vocabulary;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScenario {
    seed: Option<u64>,
    hosts: Option<Vec<String>>,
    run: Option<Spanned<toml::Value>>,
    #[serde(default)]
    cluster: Vec<Spanned<RawCluster>>,
    #[serde(default)]
    matrix: BTreeMap<Spanned<String>, Vec<Spanned<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCluster {
    name: Option<Spanned<String>>,
    #[serde(default)]
    test: Vec<Spanned<RawTest>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTest {
    path: Option<Spanned<String>>,
    r#type: Option<Spanned<String>>,
    sink: Option<Spanned<String>>,
    transport: Option<Spanned<String>>,
    sink_transport: Option<Spanned<String>>,
    name: Option<Spanned<String>>,
    start: Option<Spanned<String>>,
    seed: Option<u64>,
    pace: Option<Spanned<String>>,
    drain: Option<Spanned<String>>,
    receipts: Option<Spanned<String>>,
    dscp: Option<u8>,
    link: Option<Spanned<String>>,
}

/// Reads a scenario in TOML.
#[inline] // Compiled by whoever calls it: docs/decisions/0031-release-profile.md.
pub fn read_toml(file: &str, text: &str, words: &Vocabulary<'_>) -> Result<Reading, ScenarioError> {
    let one = |problem| ScenarioError { file: file.to_owned(), problems: vec![problem] };
    let raw: RawScenario = toml::from_str(text).map_err(|error| {
        let place = place(text, error.span().map_or(0, |span| span.start));
        one(Problem::at(place, error.message().replace('\n', "; ")))
    })?;
    let expressions = Expressions::new(Dialect::Btu, words.files);
    let (problems, hosts, named) = (Vec::new(), Vec::new(), Vec::new());
    let written = Written::new();
    let mut former = Former { text, expressions, problems, hosts, named, written };
    let scenario = former.scenario(raw);
    let mut problems = former.problems;
    if let Some(scenario) = &scenario {
        problems.extend(build::duplicates(scenario, &former.named));
    }
    let warnings = former.expressions.warnings;
    match scenario {
        Some(scenario) => {
            let written = former.written;
            build::reading(file, Reading { scenario, warnings, written }, problems)
        }
        None => Err(ScenarioError { file: file.to_owned(), problems }),
    }
}

struct Former<'f> {
    text: &'f str,
    expressions: Expressions<'f>,
    problems: Vec<Problem>,
    hosts: Vec<String>,
    /// Every name that was given, and where.
    named: Vec<(String, Place)>,
    written: Written,
}

impl Former<'_> {
    fn scenario(&mut self, raw: RawScenario) -> Option<Scenario> {
        let mut clusters = Vec::new();
        for (index, cluster) in raw.cluster.into_iter().enumerate() {
            clusters.extend(self.cluster(index + 1, cluster));
        }
        if clusters.is_empty() && self.problems.is_empty() {
            let cause = "no [[cluster]] with a [[cluster.test]] in it";
            self.problems.push(Problem::at(Place { line: 1, column: 1 }, cause));
        }
        let run = match raw.run {
            Some(run) => self.run(&run, &clusters)?,
            None if clusters.len() == 1 => Block::Cluster(clusters.first()?.clone()),
            None => Block::Serial(clusters.into_iter().map(Block::Cluster).collect(), Keep::No),
        };
        let hosts = raw.hosts.unwrap_or(std::mem::take(&mut self.hosts));
        let mut scenario = Scenario { seed: raw.seed, run, hosts, matrix: Vec::new() };
        let matrix = if self.problems.is_empty() { raw.matrix } else { BTreeMap::new() };
        let first = matrix.keys().next().map(|key| inside(self.text, key));
        for (key, values) in matrix {
            let axis = self.axis(&key, &values, &scenario);
            scenario.matrix.extend(axis);
        }
        if let (Some(first), true) = (first, self.problems.is_empty()) {
            let conflicts = scenario.conflicts().into_iter();
            let cause = |cause| format!("two values of the matrix: {cause}");
            self.problems.extend(conflicts.map(|found| Problem::at(first, cause(found))));
        }
        self.problems.is_empty().then_some(scenario)
    }

    fn run(&mut self, run: &Spanned<toml::Value>, clusters: &[Cluster]) -> Option<Block> {
        let place = place(self.text, run.span().start);
        let mut used = Vec::new();
        match block(run.get_ref(), clusters, &mut used, 0) {
            Ok(block) => {
                let unused = clusters.iter().filter(|cluster| !used.contains(&cluster.name));
                self.expressions.warnings.extend(unused.map(|cluster| {
                    Problem::at(place, format!("cluster \"{}\" is not run", cluster.name))
                }));
                Some(block)
            }
            Err(cause) => {
                self.problems.push(Problem::at(place, cause));
                None
            }
        }
    }

    fn cluster(&mut self, number: usize, raw: Spanned<RawCluster>) -> Option<Cluster> {
        let here = place(self.text, raw.span().start);
        let raw = raw.into_inner();
        let name = match &raw.name {
            Some(name) => self.label(name)?,
            None => build::cluster_name(number),
        };
        let mut tests = Vec::new();
        for test in raw.test {
            let begins = place(self.text, test.span().start);
            let test = self.test(test, &tests);
            let key = test.as_ref().map(|test| (name.clone(), test.name.clone()));
            self.written.extend(key.map(|key| (key, begins)));
            tests.extend(test);
        }
        if tests.is_empty() && self.problems.is_empty() {
            self.problems.push(Problem::at(here, format!("cluster \"{name}\" has no test")));
        }
        Some(Cluster { name, tests })
    }

    fn test(&mut self, raw: Spanned<RawTest>, taken: &[Test]) -> Option<Test> {
        let here = place(self.text, raw.span().start);
        let raw = raw.into_inner();
        let before = self.problems.len();
        let (sender, sink) = (self.sender(&raw), self.sink(&raw));
        let path = raw.path.as_ref().and_then(|path| self.path(path));
        let name = raw.name.as_ref().and_then(|name| self.label(name));
        let mut lacks = |absent: bool, cause: &str| {
            if absent {
                self.problems.push(Problem::at(here, cause));
            }
        };
        lacks(raw.path.is_none(), "path is missing; write path = \"FROM -> TO\"");
        lacks(raw.r#type.is_none(), "type is missing; write type = \"burstq(...)\" or another");
        if self.problems.len() > before {
            return None;
        }
        let (from, to) = path?;
        for host in [&from.host, &to.host] {
            if !self.hosts.contains(host) {
                self.hosts.push(host.clone());
            }
        }
        let protocol = sender.protocol.unwrap_or_default();
        Some(Test {
            name: name.unwrap_or_else(|| build::name_of(&from, taken)),
            traffic: sender.call?,
            sink: sink.call.unwrap_or_else(|| Call::plain(call::sink())),
            sink_protocol: sink.protocol.unwrap_or_else(|| protocol.clone()),
            protocol,
            from,
            to,
            start: sender.start.unwrap_or(Nanos::ZERO),
            seed: raw.seed,
            pace: sender.pace,
            drain: sender.drain.unwrap_or(Drain::No),
            has_receipts: sender.receipts.is_some_and(|(is_wanted, _)| is_wanted),
            dscp: raw.dscp,
            link: raw.link.map(Spanned::into_inner),
        })
    }

    fn sender(&mut self, raw: &RawTest) -> Settings {
        self.settings(&[
            ("type", &raw.r#type),
            ("protocol", &raw.transport),
            ("start", &raw.start),
            ("pace", &raw.pace),
            ("drain", &raw.drain),
            ("receipts", &raw.receipts),
        ])
    }

    fn sink(&mut self, raw: &RawTest) -> Settings {
        let settings = self.settings(&[("type", &raw.sink), ("protocol", &raw.sink_transport)]);
        if settings.call.is_some() && !settings.is_sink() {
            let span = raw.sink.as_ref().map_or(0, |text| text.span().start);
            let place = place(self.text, span);
            self.problems.push(Problem::at(place, "sink: write sink(...)"));
        }
        settings
    }

    fn settings(&mut self, given: &[(&str, &Option<Spanned<String>>)]) -> Settings {
        let mut settings = Settings::default();
        for (name, text) in given {
            let Some(text) = text else { continue };
            let place = inside(self.text, text);
            let read = script::tree(text.get_ref(), place)
                .and_then(|tree| settings.set((name, place), &tree, &mut self.expressions));
            self.problems.extend(read.err());
        }
        self.problems.extend(settings.receipts_refused());
        settings
    }

    /// `FROM -> TO`, each a host or a role, with or without a port.
    fn path(&mut self, text: &Spanned<String>) -> Option<(Endpoint, Endpoint)> {
        let ends = text
            .get_ref()
            .split_once("->")
            .and_then(|(from, to)| Some((settings::end_of(from)?, settings::end_of(to)?)));
        if ends.is_none() {
            let start = inside(self.text, text);
            let cause = "write path = \"FROM -> TO\", each HOST, HOST:PORT or a role";
            self.problems.push(Problem::at(start, cause));
        }
        ends
    }

    fn label(&mut self, text: &Spanned<String>) -> Option<String> {
        let (name, place) = (settings::name_of(text.get_ref()), inside(self.text, text));
        match &name {
            Some(name) => self.named.push((name.clone(), place)),
            None => self.problems.push(Problem::at(place, settings::NAME)),
        }
        name
    }

    /// `CLUSTER[.TEST].PARAMETER` with its values.
    fn axis(
        &mut self,
        key: &Spanned<String>,
        values: &[Spanned<String>],
        scenario: &Scenario,
    ) -> Option<Axis> {
        let here = inside(self.text, key);
        let parts: Vec<&str> = key.get_ref().split('.').collect();
        let (cluster, test, parameter) = match parts.as_slice() {
            [cluster, parameter] => (*cluster, None, *parameter),
            [cluster, test, parameter] => (*cluster, Some((*test).to_owned()), *parameter),
            _ => {
                self.problems
                    .push(Problem::at(here, "a key of the matrix is CLUSTER[.TEST].PARAMETER"));
                return None;
            }
        };
        let (cluster, parameter) = (cluster.to_owned(), parameter.to_owned());
        let mut axis = Axis { cluster, test, parameter, values: Vec::new() };
        let declared = axis.declared(scenario);
        if declared.is_empty() {
            let cause = format!("no test has a parameter \"{}\"", key.get_ref());
            self.problems.push(Problem::at(here, cause));
            return None;
        }
        if values.is_empty() {
            self.problems.push(Problem::at(here, "a key of the matrix needs at least one value"));
        }
        for value in values {
            let place = inside(self.text, value);
            let of_each = |tree: Tree| -> Result<Vec<Argument>, Problem> {
                declared.iter().map(|one| self.expressions.argument(one, &tree)).collect()
            };
            match script::tree(value.get_ref(), place).and_then(of_each) {
                Ok(same) if same.iter().any(|one| axis.values.contains(one)) => {
                    let cause = format!("{} is there twice", value.get_ref());
                    self.problems.push(Problem::at(place, cause));
                }
                Ok(same) => axis.values.extend(same.into_iter().next()),
                Err(problem) => self.problems.push(problem),
            }
        }
        Some(axis)
    }
}

/// What `run` says: the name of a cluster, or `{ serial = [...] }`, `{ parallel = [...] }`.
fn block(
    value: &toml::Value,
    clusters: &[Cluster],
    used: &mut Vec<String>,
    depth: usize,
) -> Result<Block, String> {
    const FORM: &str = "run: write a cluster's name, { serial = [...] } or { parallel = [...] }";
    if depth > 32 {
        return Err("run: nested deeper than 32".to_owned());
    }
    if let toml::Value::String(name) = value {
        let found = clusters.iter().find(|cluster| cluster.name == name.to_lowercase());
        let names: Vec<&str> = clusters.iter().map(|cluster| cluster.name.as_str()).collect();
        used.push(name.to_lowercase());
        return found.map(|cluster| Block::Cluster(cluster.clone())).ok_or_else(|| {
            format!("run: no cluster is named \"{name}\"; write one of {}", names.join(", "))
        });
    }
    let table = value.as_table().ok_or(FORM)?;
    let mut list = |key: &str| {
        table.get(key).map(|children| {
            let children = children.as_array().filter(|list| !list.is_empty()).ok_or(FORM)?;
            children.iter().map(|child| block(child, clusters, used, depth + 1)).collect()
        })
    };
    let (serial, parallel): (Option<Result<Vec<Block>, String>>, _) =
        (list("serial"), list("parallel"));
    let keep = match table.get("keep").map(toml::Value::as_bool) {
        None | Some(Some(false)) => Keep::No,
        Some(Some(true)) => Keep::Yes,
        Some(None) => return Err("run: keep = true or false".to_owned()),
    };
    let known = |key: &String| matches!(key.as_str(), "serial" | "parallel" | "keep");
    match (serial, parallel) {
        (Some(blocks), None) if table.keys().all(known) => Ok(Block::Serial(blocks?, keep)),
        (None, Some(blocks)) if table.len() == 1 => Ok(Block::Parallel(blocks?)),
        _ => Err(FORM.to_owned()),
    }
}

/// Line and column of a byte of the text.
fn place(text: &str, at: usize) -> Place {
    let before = text.get(..at.min(text.len())).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    Place { line, column }
}

/// Where the text inside the quotes begins.
fn inside(text: &str, value: &Spanned<String>) -> Place {
    let start = value.span().start;
    let quotes = text.get(start..).unwrap_or("").chars().take_while(|c| matches!(c, '"' | '\''));
    place(text, start + quotes.count().min(1))
}
