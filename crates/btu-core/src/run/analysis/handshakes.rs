//! What the connections of a run agreed on as they were opened.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use crate::journal::Journal;
use crate::journal::Record;
use crate::role::Role;
use crate::sample::CellSample;
use crate::sample::ConnectionSample;
use crate::sample::Negotiated;

/// Each option by its name, and what all connections of a journal made of it, as the test host's end tells it:
/// `SACK: yes`, or `SACK: no; yes` where a path strips it and another does not. Empty where no kernel told.
pub fn handshakes(journal: &Journal) -> Vec<(&'static str, String)> {
    let runs = journal.records.iter().filter_map(run);
    let connections = runs.flat_map(|run| run.comm.iter().flat_map(|comm| &comm.connections));
    let mut found: BTreeMap<usize, (&'static str, BTreeSet<String>)> = BTreeMap::new();
    for told in connections.filter_map(own).map(|own| own.told()) {
        for (place, (name, value)) in told.into_iter().enumerate() {
            found.entry(place).or_insert_with(|| (name, BTreeSet::new())).1.insert(value);
        }
    }
    let joined = |values: BTreeSet<String>| values.into_iter().collect::<Vec<_>>().join("; ");
    found.into_values().map(|(name, values)| (name, joined(values))).collect()
}

fn run(record: &Record) -> Option<&CellSample> {
    match record {
        Record::Cell(run) => Some(run),
        _ => None,
    }
}

/// By the end of the test host: windows are shifted in its words.
fn own(connection: &ConnectionSample) -> Option<Negotiated> {
    let ends = [&connection.sender, &connection.receiver];
    ends.into_iter().find(|end| end.role == Role::Test)?.options.negotiated
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::analysis::synthetic;

    /// Two runs whose connections agreed on these.
    fn journal(of_runs: [Option<Negotiated>; 2]) -> Journal {
        let plan = synthetic::plan(1);
        let mut journal = synthetic::journal(plan.clone());
        for (cell, negotiated) in plan.cells().into_iter().zip(of_runs) {
            let mut run = synthetic::run(&plan, &cell.id(), 1, 1000, 50.0);
            for connection in run.comm.iter_mut().flat_map(|comm| &mut comm.connections) {
                for end in [&mut connection.sender, &mut connection.receiver] {
                    let is_own = end.role == Role::Test;
                    end.options.negotiated = negotiated.filter(|_| is_own);
                }
            }
            journal.records.push(Record::from(run));
        }
        journal
    }

    #[test]
    fn each_option_has_every_value_that_a_connection_had() {
        let whole = Negotiated {
            sack: true,
            timestamps: true,
            ecn: false,
            wscale_snd_bits: Some(7),
            wscale_rcv_bits: Some(10),
        };
        let stripped =
            Negotiated { sack: false, wscale_snd_bits: None, wscale_rcv_bits: None, ..whole };
        let scaled = "7 bits of the peer's window, 10 bits of its own";
        let told = |runs| {
            let found: Vec<String> =
                handshakes(&journal(runs)).into_iter().map(|one| one.1).collect();
            found
        };
        assert_eq!(told([Some(whole), Some(whole)]), ["yes", "yes", "no", scaled]);
        assert_eq!(told([Some(whole), None]), ["yes", "yes", "no", scaled]);
        // Small windows are scaled by nothing, and that is no option that somebody took away.
        let small = Negotiated { wscale_snd_bits: Some(0), wscale_rcv_bits: Some(0), ..whole };
        let unscaled = "0 bits of the peer's window, 0 bits of its own";
        assert_eq!(told([Some(small), None]), ["yes", "yes", "no", unscaled]);
        let both = told([Some(whole), Some(stripped)]);
        assert_eq!(both, ["no; yes", "yes", "no", &format!("{scaled}; no")]);
        assert!(handshakes(&journal([None, None])).is_empty());
    }
}
