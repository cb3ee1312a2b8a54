//! What carries each connection of a plan, with its settings, as its scenario writes it.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::traffic::plan::Plan;

/// A transport with its settings at both ends: `tcp(window=65536)`. Those of the scenario, because what the sockets
/// had in the end is what the kernel made of the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Carrier {
    sender: String,
    sink: Option<String>,
}

/// The carriers of all tests of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Carriers(BTreeMap<u32, Vec<Told>>);

/// A test and what its scenario says of it.
#[derive(Clone, Debug, PartialEq)]
struct Told {
    cluster: String,
    test: String,
    carrier: Carrier,
}

/// Of a scenario what is of concern here; whoever ran it read all of it.
#[derive(Deserialize)]
struct Scenario {
    #[serde(default)]
    cluster: Vec<Cluster>,
}

#[derive(Deserialize)]
struct Cluster {
    name: Option<String>,
    #[serde(default)]
    test: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    name: Option<String>,
    transport: Option<String>,
    sink_transport: Option<String>,
}

impl Carriers {
    pub(super) fn of(plan: &Plan) -> Self {
        Self(plan.cells.iter().map(|cell| (cell.id, told(&cell.scenario))).collect())
    }

    /// That of a test of a cell; where the scenario gives it no name, the transport is all that is known.
    pub(super) fn carrier(&self, cell: u32, (cluster, test): (&str, &str), name: &str) -> Carrier {
        let own = |told: &&Told| told.cluster == cluster && told.test == test;
        let found = self.0.get(&cell).and_then(|all| all.iter().find(own));
        let plain = || Carrier { sender: name.to_owned(), sink: None };
        found.map_or_else(plain, |told| told.carrier.clone())
    }
}

fn told(scenario: &str) -> Vec<Told> {
    // What does not read back names nothing.
    let Ok(scenario) = toml::from_str::<Scenario>(scenario) else { return Vec::new() };
    let clusters = scenario.cluster.into_iter().filter_map(|one| Some((one.name?, one.test)));
    let of = |(cluster, tests): (String, Vec<Test>)| {
        tests.into_iter().filter_map(move |test| {
            let carrier = Carrier { sender: test.transport?, sink: test.sink_transport };
            Some(Told { cluster: cluster.clone(), test: test.name?, carrier })
        })
    };
    clusters.flat_map(of).collect()
}
