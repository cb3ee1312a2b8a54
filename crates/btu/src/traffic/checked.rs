//! What the cells of a plan send, drawn once before anything starts: what cannot be carried is told while no
//! measurement is lost by it.

use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use btu_core::traffic::Cluster;
use btu_core::traffic::plan::Cell;
use btu_core::traffic::plan::Plan;

use super::casting::place_of;
use super::expand;
use super::expand::Layout;
use super::expand::Until;
use super::path::Joined;
use super::peers::Apart;
use super::scenario;
use super::words;
use crate::exit::Failure;

/// Draws the first pass of every test of every cell. `file` is where the scenario was written.
pub(super) fn check(plan: &Plan, file: Option<&Path>) -> Result<(), Failure> {
    let (layout, most_blocks): (&dyn Layout, usize) =
        if plan.agents.is_empty() { (&Joined, usize::MAX) } else { (&Apart, words::MOST_BLOCKS) };
    let until = Until { patience: plan.stall_ns, cancel: Arc::default(), most_blocks };
    for cell in plan.cells.iter().filter(|cell| cell.probe.is_none()) {
        let scenario = scenario::stored(&cell.scenario)?;
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
fn alone(cluster: &Cluster, at: usize) -> Cluster {
    Cluster { name: cluster.name.clone(), tests: cluster.tests[at..=at].to_vec() }
}

/// The same, with where it is written.
fn told(
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

/// `:LINE:COLUMN` of a test: of its head in the TOML form, of its name in a script.
fn place(file: &Path, cluster: &Cluster, at: usize) -> String {
    if file.extension().is_some_and(|ending| ending == "toml") {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let line = head(&text, &cluster.name, at);
        return line.map_or_else(String::new, |line| format!(":{line}:1"));
    }
    place_of(file, &cluster.tests[at].name)
}

/// The line of the head of the test of this place in the cluster of this name. One without a name is called by its
/// number.
fn head(text: &str, cluster: &str, at: usize) -> Option<usize> {
    let (mut clusters, mut tests): (usize, Vec<usize>) = (0, Vec::new());
    let (mut name, mut in_cluster) = (String::new(), false);
    let found = |name: &str, tests: &[usize]| (name == cluster).then(|| tests.get(at).copied());
    for (number, line) in (1..).zip(text.lines()) {
        let line: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        if line.starts_with("[[cluster]]") {
            if let Some(line) = found(&name, &tests) {
                return line;
            }
            clusters += 1;
            (name, in_cluster) = (format!("c{clusters}"), true);
            tests.clear();
        } else if line.starts_with("[[cluster.test]]") {
            in_cluster = false;
            tests.push(number);
        } else if let Some(said) = line.strip_prefix("name=\"").filter(|_| in_cluster) {
            name = said.split('"').next().unwrap_or_default().to_lowercase();
        }
    }
    found(&name, &tests).flatten()
}

#[cfg(test)]
mod tests {
    use btu_core::traffic::plan::Study;

    use super::*;

    #[test]
    fn a_test_is_found_by_its_cluster_and_its_place_in_it() {
        let text = "# [[cluster]]\n[[cluster]]\n[[cluster.test]]\nname = \"b\"\n\n[[cluster]]\n  name = \"B\"\n\
                    [[cluster.test]]\ntype = \"x\"\n[[ cluster.test ]]\n[[cluster]]\n[[cluster.test]]\n";
        for (cluster, at, line) in
            [("c1", 0, Some(3)), ("b", 0, Some(8)), ("b", 1, Some(10)), ("c3", 0, Some(12))]
        {
            assert_eq!(head(text, cluster, at), line, "{cluster} {at}");
        }
        assert_eq!((head(text, "b", 2), head(text, "c2", 0)), (None, None));
    }

    /// What the second cluster has that nobody can carry is told with its line, before the first one runs.
    #[test]
    fn what_cannot_be_carried_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.toml");
        let first = "[[cluster]]\n[[cluster.test]]\npath = \"test -> active\"\ntype = \"full(duration=1 s)\"\n";
        for (test, reason) in [
            (
                "path = \"test -> test\"\ntype = \"full(duration=1 s)\"",
                "test -> test: the local testbed joins",
            ),
            (
                "path = \"active -> passive\"\ntype = \"full(duration=1 s)\"",
                "active -> passive: the local",
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
