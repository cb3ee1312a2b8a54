//! Which hosts of the local testbed a plan has connections between: its black boxes are joined with each other
//! where that is so.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::net::Ipv4Addr;

use anyhow::anyhow;
use btu_core::role::Role;
use btu_core::traffic::plan::Plan;
use btu_core::units::Nanos;
use btu_engine::Place;
use btu_testbed::local::BlackBoxes;

use super::expand::Layout;
use super::path::LINGER;
use super::scenario;
use crate::exit::Failure;

/// Two hosts with a connection between them, in the order of [`Role::ALL`].
pub(super) type Two = [Role; 2];

/// The hosts that a plan has connections between, whichever way. What is decided on the way goes from the test host to
/// the active one.
pub(super) fn pairs(plan: &Plan) -> Result<BTreeSet<Two>, Failure> {
    let mut found = BTreeSet::new();
    if plan.course.is_some() {
        found.insert([Role::Test, Role::Active]);
    }
    for cell in &plan.cells {
        if cell.probe.is_some() {
            found.insert([Role::Test, Role::Active]);
            continue;
        }
        let scenario = scenario::stored(cell)?;
        for test in scenario.clusters().iter().flat_map(|cluster| &cluster.tests) {
            let ends = [&test.from, &test.to].map(|end| scenario::role_of(&end.host));
            let [Some(from), Some(to)] = ends else { continue };
            found.insert([from.min(to), from.max(to)]);
        }
    }
    Ok(found)
}

/// The same in words: `test - active, active - passive`.
pub(super) fn in_words(pairs: &BTreeSet<Two>) -> String {
    let words: Vec<String> = pairs.iter().map(|[one, other]| format!("{one} - {other}")).collect();
    words.join(", ")
}

/// Whether a plan has to have its black boxes joined.
pub(super) fn black_boxes(plan: &Plan) -> Result<BlackBoxes, Failure> {
    let is_asked_for = pairs(plan)?.contains(&[Role::Active, Role::Passive]);
    Ok(if is_asked_for { BlackBoxes::Joined } else { BlackBoxes::Apart })
}

/// The hosts of a testbed that is not made yet: what is to be sent can be drawn.
pub(super) struct Joined;

impl Layout for Joined {
    fn place(&self, role: Role) -> Place {
        Place::here(role)
    }

    fn address(&self, from: Role, to: Role) -> Result<IpAddr, Failure> {
        if from == to { Err(one_host(from, to)) } else { Ok(Ipv4Addr::UNSPECIFIED.into()) }
    }

    fn linger(&self) -> Option<Nanos> {
        Some(LINGER)
    }
}

/// Why there is no path.
pub(super) fn one_host(from: Role, to: Role) -> Failure {
    let cause = anyhow!(
        "{from} -> {to}: the local testbed joins each two of its three hosts, none with itself"
    );
    Failure::usage(cause).hint("choose another host with --map HOST=ROLE")
}
