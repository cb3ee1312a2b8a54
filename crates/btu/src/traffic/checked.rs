//! What the cells of a plan send, drawn once before anything starts: what cannot be carried is told while no
//! measurement is lost by it.

use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use btu_core::traffic::Cluster;
use btu_core::traffic::plan::Cell;
use btu_core::traffic::plan::Plan;

use super::expand;
use super::expand::Layout;
use super::expand::Until;
use super::joined::Joined;
use super::scenario;
use crate::exit::Failure;
use crate::traffic::remote::peers::Apart;
use crate::traffic::remote::words;

/// Draws the first pass of every test of every cell. `file` is where the scenario was written.
pub(super) fn check(plan: &Plan, file: Option<&Path>) -> Result<(), Failure> {
    let (layout, most_blocks): (&dyn Layout, usize) =
        if plan.agents.is_empty() { (&Joined, usize::MAX) } else { (&Apart, words::MOST_BLOCKS) };
    let until = Until { patience: plan.stall_ns, cancel: Arc::default(), most_blocks };
    for cell in plan.cells.iter().filter(|cell| cell.probe.is_none()) {
        let scenario = scenario::stored(cell)?;
        for cluster in scenario.clusters() {
            for at in 0..cluster.tests.len() {
                let one = alone(cluster, at);
                let drawn = expand::flows(&one, cell.sessions, plan.seed_of(1), layout, &until);
                drawn.map_err(|refused| told(refused, file, (cell, cluster, at)))?;
            }
        }
    }
    Ok(())
}

/// The cluster with no other of its tests: each draws the same train by itself.
pub(super) fn alone(cluster: &Cluster, at: usize) -> Cluster {
    Cluster { name: cluster.name.clone(), tests: cluster.tests[at..=at].to_vec() }
}

/// What was refused, with where its test is written.
pub(super) fn told(
    refused: Failure,
    file: Option<&Path>,
    (cell, cluster, at): (&Cell, &Cluster, usize),
) -> Failure {
    let Failure { exit, cause, hint } = refused;
    let place = match file {
        Some(file) => format!("{}{}", file.display(), place(file, cluster, at)),
        None => format!("cell {}, \"{}\"", cell.id, cell.label),
    };
    Failure { exit, cause: anyhow!("{place}: {cause:#}"), hint }
}

/// `:LINE:COLUMN` of a test, as the file is read.
fn place(file: &Path, cluster: &Cluster, at: usize) -> String {
    let reading = scenario::reading(file).ok();
    let test = &cluster.tests[at].name;
    let place = reading.and_then(|reading| reading.place_of(&cluster.name, test));
    place.map_or_else(String::new, |place| format!(":{place}"))
}

#[cfg(test)]
mod tests {
    use btu_core::traffic::plan::Study;

    use super::*;

    /// What the second cluster has that nobody can carry is told with its line, before the first one runs.
    #[test]
    fn what_cannot_be_carried_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.toml");
        let first = "[[cluster]]\n[[cluster.test]]\npath = \"test -> active\"\ntype = \"full(duration=1 s)\"\n";
        for (test, reason) in [
            (
                "path = \"test -> test\"\ntype = \"full(duration=1 s)\"",
                "test -> test: the local testbed joins each two",
            ),
            (
                "path = \"test -> active\"\ntransport = \"udp\"\ntype = \"www-3gpp(duration=1 s)\"",
                "udp: www-3gpp waits for answers",
            ),
            (
                "path = \"test -> active\"\ntransport = \"quic\"\ndscp = 46\ntype = \"full(duration=1 s)\"",
                "dscp: the library of quic leaves no code point",
            ),
            (
                "path = \"test -> active\"\ntype = \"burstq(blocksize=1 B, period=1 us, duration=10 s)\"",
                "more than 4000000 blocks in 10s",
            ),
        ] {
            let scenario = format!("{first}[[cluster]]\nname = \"b\"\n[[cluster.test]]\n{test}\n");
            std::fs::write(&file, &scenario).unwrap();
            let cell =
                Cell { id: 1, label: "a".to_owned(), sessions: 1, scenario, ..Cell::default() };
            let plan = Plan::new(Study::Scenario, vec![cell], 7);
            let refused = check(&plan, Some(&file)).unwrap_err();
            let told = refused.cause.to_string();
            let place = format!("{}:7:1: cluster b, test ", file.display());
            assert!(told.starts_with(&place) && told.contains(reason), "{told}");
            let told = check(&plan, None).unwrap_err().cause.to_string();
            assert!(told.starts_with("cell 1, \"a\": cluster b, test "), "{told}");
        }
    }
}
