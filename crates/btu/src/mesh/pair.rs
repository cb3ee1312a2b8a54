//! A pair: the first host measures traffic with the second as its guest, one way and then the other.

use std::path::PathBuf;

use anyhow::Context;
use anyhow::anyhow;
use btu_core::mesh::plan::Plan;
use btu_core::mesh::sample::Way;
use btu_core::role::Role;
use btu_core::traffic::plan::Cell;
use btu_core::traffic::plan::Plan as Traffic;
use btu_core::traffic::plan::Study;
use btu_core::traffic::sample::ClusterSample;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_report::OpenMode;
use btu_report::ResultFiles;
use btu_report::StoredTraffic;

use super::start::Started;
use crate::elsewhere::tested;
use crate::elsewhere::tested::Tested;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::traffic::remote::errand;
use crate::traffic::remote::errand::Errand;
use crate::traffic::remote::needs;

/// Both directions of a pair, that of the first host first.
pub(super) fn measured(
    started: &Started,
    (one, other): (usize, usize),
    round: usize,
    interrupt: &Interrupt,
) -> Result<[Way; 2], Failure> {
    let (host, guest) = (&started.agents[one], &started.agents[other]);
    let plan = traffic(&started.plan, [&host.name, &guest.name], round as u64);
    // What the host tells of its runs is kept while it is measured, and its figures are in the journal afterwards.
    let kept = Kept::at(started.journal.path().join(format!("pair-{one}-{other}")));
    let (copied, given) = tested::directory(None, Some(&kept.0), PathBuf::new, host)?;
    let tested = Tested {
        host,
        boxes: &[(Role::Active, guest.clone())],
        own: &started.own,
        cancel: interrupt.flag(),
        tell: tested::heard(true),
        copied,
        given,
        longest: errand::longest(&plan)?,
        reconnect: RECONNECT,
    };
    let needs = needs::of(&plan, None, interrupt)?;
    let files = Errand { plan: &plan, needs, note: None, tested }.run()?;
    ways(&files, [&host.name, &guest.name])
        .with_context(|| format!("agent {}", host.name))
        .map_err(Failure::agent)
}

/// A directory that is in the way of nobody afterwards.
struct Kept(PathBuf);

impl Kept {
    /// What a mesh that was killed left there is taken away: its pair is measured anew.
    fn at(path: PathBuf) -> Self {
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // Of a pair of which nothing was told there is none.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Full streams, first there and then back.
fn traffic(plan: &Plan, names: [&str; 2], round: u64) -> Traffic {
    let cluster = |name: &str, path: &str| {
        let time = plan.time_ns;
        format!(
            "[[cluster]]\nname = \"{name}\"\n[[cluster.test]]\npath = \"{path}\"\ntype = \"full(duration={time})\"\n"
        )
    };
    let [there, back] = [cluster(THERE, "test -> active"), cluster(BACK, "active -> test")];
    let scenario = format!("run = {{ serial = [\"{THERE}\", \"{BACK}\"] }}\n{there}{back}");
    let cell = Cell {
        id: 1,
        label: "pair".to_owned(),
        x: 1.0,
        sessions: plan.flows,
        scenario,
        ..Cell::default()
    };
    let [test, active] = names.map(str::to_owned);
    let agents = [(Role::Test, test), (Role::Active, active)].into();
    Traffic { agents, ..Traffic::new(Study::Scenario, vec![cell], plan.seed.wrapping_add(round)) }
}

/// What both directions brought, as the host that measured tells.
fn ways(files: &ResultFiles, [host, guest]: [&str; 2]) -> anyhow::Result<[Way; 2]> {
    let stored = StoredTraffic::open(files, OpenMode::Strict)?;
    let run = stored.journal.runs().next().context("its result has no run")?;
    let sent_by = |sender: &str, name: &str| {
        let found = run.clusters.iter().find(|cluster| cluster.name == name);
        let cluster = found.with_context(|| format!("its result has no cluster {name}"))?;
        way(cluster).with_context(|| format!("what {sender} sent"))
    };
    Ok([sent_by(host, THERE)?, sent_by(guest, BACK)?])
}

/// All connections of a direction together: their bytes, in the time of the longest.
fn way(cluster: &ClusterSample) -> anyhow::Result<Way> {
    if let Some(why) = &cluster.failed {
        return Err(anyhow!("{why}"));
    }
    let flows = &cluster.flows;
    let elapsed_ns = flows.iter().map(|flow| flow.duration_ns).max().unwrap_or(Nanos::ZERO);
    let bytes: Bytes = flows.iter().map(|flow| flow.figures.departed_bytes).sum();
    if bytes.is_empty() || elapsed_ns.is_zero() {
        return Err(anyhow!("none of it came to its receiver"));
    }
    let retransmitted = flows.iter().map(|flow| flow.retransmitted_bytes).sum();
    Ok(Way { bytes, elapsed_ns, retransmitted })
}

const THERE: &str = "there";
const BACK: &str = "back";
/// Seconds that a host waits for a guest that it lost: its pair fails after that, and is tried again at the end.
const RECONNECT: u32 = 5;
