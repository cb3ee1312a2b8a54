//! Suspects in words, by the names of hosts and racks.

use btu_core::mesh::analysis::Judged;
use btu_core::mesh::confirm::Verdict;
use btu_core::mesh::plan::Plan;
use btu_core::mesh::suspect::Suspect;
use btu_core::stats::Comparison;

use crate::number;

/// `h3 where it sends`
pub(crate) fn suspect(plan: &Plan, suspect: Suspect) -> String {
    let host = |number: usize| plan.hosts.get(number).map_or("?", String::as_str);
    let racks = plan.rack_names();
    let rack = |number: usize| racks.get(number).map_or("?", |name| name.as_str());
    match suspect {
        Suspect::Host(of) => format!("{}, whichever way", host(of)),
        Suspect::Sender(of) => format!("{} where it sends", host(of)),
        Suspect::Receiver(of) => format!("{} where it receives", host(of)),
        Suspect::RackOut(of) => format!("what leaves rack {}", rack(of)),
        Suspect::RackIn(of) => format!("what comes into rack {}", rack(of)),
        Suspect::Racks(from, to) => format!("from rack {} to rack {}", rack(from), rack(to)),
        Suspect::Path(from, to) => format!("the path from {} to {}", host(from), host(to)),
    }
}

/// What to look at first.
pub(super) fn remedy(suspect: Suspect) -> &'static str {
    match suspect {
        Suspect::Host(_) => "its CPUs, its bus, its network card, what else it runs",
        Suspect::Sender(_) => "its cable, the speed and duplex of its link, its transmit queues",
        Suspect::Receiver(_) => "its cable, its receive queues and interrupts, its busiest CPU",
        Suspect::RackOut(_) | Suspect::RackIn(_) => "the uplink of the rack",
        Suspect::Racks(..) => "the path between both racks through the spine",
        Suspect::Path(..) => "one of several paths (ECMP): other ports may take another",
    }
}

/// Whether it was confirmed, with the ratio and its interval.
pub(super) fn verdict(judged: &Judged) -> String {
    let told = |word: &str, found: &Comparison| {
        let bounds = [found.interval.low, found.interval.high].map(number::ratio).join(", ");
        format!(
            "{word}: {} [{bounds}] of good hosts, {}",
            number::ratio(found.ratio),
            number::chance(found.p)
        )
    };
    match (&judged.verdict, &judged.retest) {
        (Some(Verdict::Confirmed(found)), _) => told("confirmed", found),
        (Some(Verdict::SeenOnce(found)), _) => told("seen once", found),
        (None, Some(_)) => "not retested to the end".to_owned(),
        (None, None) => "not retested: no good hosts are left to compare with".to_owned(),
    }
}

/// `-12.3 %`
pub(super) fn change(log: f64) -> String {
    format!("{:+.1} %", log.exp_m1() * 100.0)
}
