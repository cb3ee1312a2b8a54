//! Whether this kernel has the congestion controls that a plan names.

use anyhow::anyhow;
use btu_core::traffic::Transport;
use btu_core::traffic::plan::Plan;

use super::scenario;
use crate::exit::Failure;

/// On the local testbed, whose hosts have one kernel: before anything is sent.
pub(super) fn there(plan: &Plan) -> Result<(), Failure> {
    for cell in &plan.cells {
        let scenario = scenario::stored(cell)?;
        let tests = scenario.clusters().into_iter().flat_map(|cluster| &cluster.tests);
        let protocols = tests.flat_map(|test| [&test.protocol, &test.sink_protocol]);
        let over_tcp = protocols.filter(|protocol| protocol.transport == Transport::Tcp);
        for name in over_tcp.filter_map(|protocol| protocol.congestion.as_deref()) {
            if !btu_sys::socket::has_congestion(name).map_err(Failure::environment)? {
                return Err(missing(name));
            }
        }
    }
    Ok(())
}

fn missing(name: &str) -> Failure {
    let listed = std::fs::read_to_string(AVAILABLE).unwrap_or_default();
    let cause = anyhow!("tcp(congestion={name}): this kernel has no such congestion control");
    let listed: Vec<&str> = listed.split_whitespace().collect();
    Failure::environment(cause).hint(format!("it lists {}", listed.join(", ")))
}

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
