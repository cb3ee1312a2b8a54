//! Which agent has an end in every connection of a scenario: the one that measures where agents send to each
//! other.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::anyhow;
use btu_core::traffic::Cluster;
use btu_core::traffic::Scenario;
use btu_core::traffic::Test;
use btu_core::traffic::Train;

use crate::conductor::NamedAgent;
use crate::exit::Failure;

/// The connections of a scenario, as they join hosts.
pub(super) struct Centre<'a> {
    pub(super) file: &'a Path,
    pub(super) scenario: &'a Scenario,
    pub(super) played: &'a BTreeMap<String, NamedAgent>,
}

/// A connection: its test, and the agent at each end; `None` for this host.
struct Joined<'a> {
    test: &'a Test,
    waits: bool,
    ends: [Option<&'a str>; 2],
}

impl Centre<'_> {
    /// The agent that has an end in every connection, where a connection joins two agents or `wanted` is
    /// named; the agents of a connection are joined by nobody but one of them.
    pub(super) fn of(&self, wanted: Option<&str>) -> Result<Option<String>, Failure> {
        let joined = self.joined();
        let far = joined.iter().find_map(|one| match one.ends {
            [Some(from), Some(to)] if from != to => Some((one.test, [from, to])),
            _ => None,
        });
        let may = |name: &&str| Self::excludes(&joined, name).is_none();
        match (wanted, far) {
            (Some(wanted), _) => match Self::excludes(&joined, wanted) {
                None => Ok(Some(wanted.to_owned())),
                Some(why) => {
                    let cause = anyhow!("{}: --test {wanted}: {why}", self.file.display());
                    Err(Failure::usage(cause).hint(STAR))
                }
            },
            (None, None) => Ok(None),
            (None, Some((test, ends))) => match ends.into_iter().find(may) {
                Some(name) => Ok(Some(name.to_owned())),
                None => Err(self.none(&joined, test, ends)),
            },
        }
    }

    /// Why an agent cannot have an end in every connection and ask where one waits for answers.
    fn excludes(joined: &[Joined<'_>], name: &str) -> Option<String> {
        let is_it = |end: Option<&str>| end == Some(name);
        joined.iter().find_map(|Joined { test, waits, ends: [from, to] }| {
            let ends = [*from, *to];
            let why = if !ends.into_iter().any(is_it) {
                format!("agent {name} has no end in it")
            } else if ends.contains(&None) {
                format!("this host runs no agent that {name} could send to")
            } else if *waits && !is_it(*from) {
                format!("a model that waits for answers is asked from {name}")
            } else {
                return None;
            };
            Some(format!("{}: {}: {why}", test.name, path_of(test)))
        })
    }

    /// Neither of two agents that a connection joins can have an end in every other one.
    fn none(&self, joined: &[Joined<'_>], test: &Test, ends: [&str; 2]) -> Failure {
        let place = format!("{}: {}: {}", self.file.display(), test.name, path_of(test));
        let own = joined.iter().find(|one| one.ends.contains(&None));
        let why = if let Some(own) = own {
            format!(
                "where agents send to each other this host only controls, and {} has an end here",
                path_of(own.test)
            )
        } else {
            let why = ends.map(|name| Self::excludes(joined, name).unwrap_or_default());
            format!("one of both has to have an end in every connection: {}; {}", why[0], why[1])
        };
        Failure::usage(anyhow!("{place}: {why}")).hint(STAR)
    }

    fn joined(&self) -> Vec<Joined<'_>> {
        let agent = |host: &String| self.played.get(host).map(|agent| agent.name.as_str());
        let clusters = self.scenario.clusters().into_iter();
        let tests =
            clusters.flat_map(|cluster| cluster.tests.iter().map(move |one| (cluster, one)));
        tests
            .map(|(cluster, test)| Joined {
                test,
                waits: waits(cluster, test),
                ends: [agent(&test.from.host), agent(&test.to.host)],
            })
            .collect()
    }
}

fn path_of(test: &Test) -> String {
    format!("{} -> {}", test.from.host, test.to.host)
}

/// Whether whoever sends waits for answers.
pub(super) fn waits(cluster: &Cluster, test: &Test) -> bool {
    let streams = test.streams(&cluster.name, 0);
    matches!(test.traffic.train(&streams), Some(Train::Closed(_)))
}

/// What can be done about connections that have no host in common.
const STAR: &str = "write the connections of each host in a scenario of its own, or run btu traffic on a \
                    host that has an end in every one";
