//! The two sides of a run as one sample. A pure function of both reports.

use btu_core::run::cell::Direction;
use btu_core::sample::CommSample;
use btu_core::sample::ConnectionSample;
use btu_core::sample::Outcome;
use btu_core::units::Nanos;

use super::NearFlow;
use super::NearReport;
use super::end::EndReport;
use super::proof;

/// The sample of a run and how it ended. `far` holds the far ends in the order of the near side's flows.
pub fn join(near: &NearReport, far: &[EndReport]) -> (CommSample, Outcome) {
    let outcome = outcome(near, far);
    let started = near.started().unwrap_or(Nanos::ZERO);
    let ends = near.ends.iter().zip(far);
    let connections: Vec<_> = near
        .flows
        .iter()
        .zip(ends)
        .map(|(flow, (near_end, far_end))| {
            connection(flow, near_end, far_end, started, outcome.is_complete())
        })
        .collect();
    let bytes = connections.iter().map(|connection| connection.bytes).sum();
    (CommSample { elapsed_ns: near.elapsed(), bytes, connections }, outcome)
}

fn connection(
    flow: &NearFlow,
    near: &EndReport,
    far: &EndReport,
    started: Nanos,
    complete: bool,
) -> ConnectionSample {
    let (sender, receiver) = match flow.direction {
        Direction::Receive => (far, near),
        Direction::Send => (near, far),
    };
    ConnectionSample {
        peer: flow.peer,
        direction: flow.direction,
        bytes: receiver.bytes,
        messages: sender.messages,
        elapsed_ns: near.ended.map_or(Nanos::ZERO, |ended| ended.since(started)),
        receiver_elapsed_ns: receiver.read_elapsed,
        sender: sender.sample.clone(),
        receiver: receiver.sample.clone(),
        proof_failures: if complete { proof::failures(sender, receiver) } else { Vec::new() },
        longest_pause_ns: receiver.longest_pause,
    }
}

fn outcome(near: &NearReport, far: &[EndReport]) -> Outcome {
    let faults = faults(near, far);
    match (near.gave_up, faults.first()) {
        (true, _) => Outcome::Capped {
            reason: format!("not ended {} after its start: {}", near.cap, faults.join("; ")),
        },
        (false, Some(_)) => Outcome::Failed { reason: faults.join("; ") },
        (false, None) => Outcome::Complete,
    }
}

/// What went wrong at either end of each connection, in words.
fn faults(near: &NearReport, far: &[EndReport]) -> Vec<String> {
    let near_faults = near
        .flows
        .iter()
        .zip(&near.ends)
        .filter_map(|(flow, end)| Some(format!("{}: {}", name(flow), end.fault.as_ref()?)));
    let far_faults = near.flows.iter().zip(far).filter_map(|(flow, end)| {
        Some(format!("{} at {}: {}", name(flow), flow.peer, end.fault.as_ref()?))
    });
    near_faults.chain(far_faults).collect()
}

/// `test -> active`.
fn name(flow: &NearFlow) -> String {
    match flow.direction {
        Direction::Receive => format!("{} -> test", flow.peer),
        Direction::Send => format!("test -> {}", flow.peer),
    }
}
