//! A result through an emulated line: what is more than the line has was not measured.

use btu_core::journal::Record;
use btu_core::run::plan::Elements;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_report::Verification;

use crate::verify::ONE;
use crate::verify::journal;
use crate::verify::said;
use crate::verify::signed;
use crate::verify::verified;

/// The journal of a host whose line has this rate, each of the two connections of its runs having carried so much.
fn of_a_line(rate: &str, carried_bit_s: u64) -> Verification {
    let mut journal = journal();
    journal.plan.link.rate = Elements::both(rate);
    for record in &mut journal.records {
        let Record::Cell(sample) = record else { continue };
        let comm = sample.comm.as_mut().unwrap();
        comm.elapsed_ns = Nanos::from_secs(4);
        for connection in &mut comm.connections {
            connection.elapsed_ns = comm.elapsed_ns;
            connection.bytes = Bytes::new(carried_bit_s / 8 * 4);
        }
        comm.bytes = comm.connections.iter().map(|one| one.bytes).sum();
    }
    verified(signed(&journal, ONE))
}

/// 1460 of 1538 bytes of a full Ethernet frame are payload: 9.49 of 10 Mbit/s at the most.
#[test]
fn more_goodput_than_the_line_has_is_found_behind_new_hashes_and_an_honest_run_is_not() {
    // To two black boxes: by two links, or by one bus.
    let own = ("rate 10Mbit/s queue 100ms", 9_490_000, 10_100_000);
    let shared = ("rate 10Mbit/s queue 100ms shared ether", 4_745_000, 5_050_000);
    for (rate, most, too_much) in [own, shared] {
        let honest = of_a_line(rate, most);
        assert!(honest.valid, "{}", said(&honest));
        let forged = of_a_line(rate, too_much);
        assert!(!forged.valid && forged.violations.iter().all(|one| one.rule == "plausibility"));
        let told = "5050kB in 4s, 10100kbit/s, through a line of 10Mbit/s";
        assert!(said(&forged).contains(told), "{}", said(&forged));
    }
}
