//! A measurement that another host ordered: this one has an end in every connection, keeps to its own
//! policy, and hands the result over.

use std::collections::BTreeMap;

use anyhow::anyhow;
use btu_control::message::BlackBox;
use btu_control::message::TestOrder;
use btu_core::role::Role;
use btu_core::traffic::plan::Plan;
use btu_report::ResultFiles;

use crate::agent::StateArgs;
use crate::conductor::NamedAgent;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::Told;
use crate::run::ordered::Measured;
use crate::run::ordered::handed_over;
use crate::state::StateDir;
use crate::traffic::finish;
use crate::traffic::measure;
use crate::traffic::options::OutputArgs;
use crate::traffic::path::no_link;
use crate::traffic::scenario;
use crate::traffic::start;
use crate::traffic::start::Wanted;

/// Carries the order out; what it shall go on with is in its directory then. Of that nothing is left.
pub(crate) fn run(state: &StateDir, order: &TestOrder, told: &Told) -> Result<Measured, Failure> {
    let measured = measured(state, order, told);
    state.clear_test();
    measured
}

fn measured(state: &StateDir, order: &TestOrder, told: &Told) -> Result<Measured, Failure> {
    let interrupt = Interrupt::listen().map_err(Failure::environment)?;
    let plan = plan_of(order)?;
    let unbounded = || Failure::usage(anyhow!("an order without the bounds of this host"));
    let limits = order.limits.clone().ok_or_else(unbounded)?;
    let folder = state.test_folder();
    let output = OutputArgs {
        out: (!order.goes_on).then(|| folder.clone()),
        note: order.note.clone(),
        dry_run: false,
        quiet: true,
        json: false,
    };
    let wanted = Wanted {
        plan,
        scenario: None,
        output: &output,
        resumed: order.goes_on.then_some(&folder),
        agents: agents(&order.boxes)?,
        state: &StateArgs { state: Some(state.path().to_owned()) },
        reconnect: order.reconnect_s,
        ordered: Some((limits, told.clone())),
    };
    let mut started = start::start(wanted, &interrupt)?;
    let ending = measure::measure(&mut started, &interrupt)?;
    finish::close(&finish::closing(ending, &interrupt), &mut started)?;
    let files = ResultFiles::read(started.journal.path()).map_err(Failure::environment)?;
    let moved = started.hosts.take_untold();
    Ok(Measured { bundle: handed_over(&files)?, moved })
}

/// The plan of an order. Whoever ordered it reads no file of this host with it, not even by an error.
fn plan_of(order: &TestOrder) -> Result<Plan, Failure> {
    let plan = Plan::stored("the order", &order.plan).map_err(Failure::usage)?;
    if plan.has_link() {
        return Err(no_link());
    }
    let mut told = plan.cells.iter().map(|cell| &cell.scenario).filter(|text| !text.is_empty());
    told.try_for_each(|text| scenario::told(text).map(drop))?;
    Ok(plan)
}

/// The black boxes of an order. They know this host as a guest of the one that ordered.
fn agents(boxes: &[BlackBox]) -> Result<BTreeMap<Role, NamedAgent>, Failure> {
    let mut agents = BTreeMap::new();
    for one in boxes.iter().filter(|one| one.role != Role::Test) {
        agents.insert(one.role, NamedAgent::of_box(one)?);
    }
    if agents.is_empty() {
        return Err(Failure::usage(anyhow!("an order without another host")));
    }
    Ok(agents)
}

#[cfg(test)]
mod tests {
    use btu_core::traffic::plan::Cell;
    use btu_core::traffic::plan::Study;
    use btu_core::units::Nanos;

    use super::*;

    /// An order to send blocks of a size that is drawn by `law`.
    fn order(law: &str) -> TestOrder {
        let test = format!("type = 'burstq(blocksize={law}, period=1 s, duration=1 s)'");
        let scenario =
            format!("[[cluster]]\n[[cluster.test]]\npath = \"test -> active\"\n{test}\n");
        let cell = Cell { id: 1, sessions: 1, scenario, ..Cell::default() };
        TestOrder {
            seq: 1,
            lease_ns: Nanos::from_secs(20),
            plan: Plan::new(Study::Scenario, vec![cell], 7).to_toml(),
            given: None,
            boxes: Vec::new(),
            reconnect_s: 0,
            price: None,
            marks: Vec::new(),
            note: None,
            service: None,
            limits: None,
            copies: false,
            goes_on: false,
        }
    }

    #[test]
    fn an_order_reads_no_file_of_this_host_and_tells_nothing_of_it() {
        plan_of(&order("exp(1 kB)")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        for content in ["1000,1\n", "hidden words\n"] {
            std::fs::write(&file, content).unwrap();
            let law = format!("table(\"{}\", linear)", file.display());
            let refused = plan_of(&order(&law)).unwrap_err();
            let refused = format!("{:#}", refused.cause);
            assert!(refused.contains("an agent reads no files"), "{refused}");
            assert!(!refused.contains("hidden"), "{refused}");
        }
    }
}
