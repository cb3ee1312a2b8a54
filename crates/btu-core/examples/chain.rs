//! Pushes packets through four link elements in virtual time, for counting and timing:
//! `chain PACKETS`.
#![forbid(unsafe_code)]

use std::error::Error;

use btu_core::link::Chain;
use btu_core::link::ChainSpec;
use btu_core::link::Limits;
use btu_core::link::Lines;
use btu_core::link::Packet;
use btu_core::link::Place;
use btu_core::link::Reader;
use btu_core::link::Slot;
use btu_core::link::Wire;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

const ELEMENTS: [&str; 4] =
    ["drop 1@200,3@400/400", "duplicate 0.1%", "rate 10Gbit/s queue 10ms", "delay 1ms"];

/// More than the link holds: 1 ms at one packet per 2 us, and the queue.
const SLOTS: u32 = 8192;

#[expect(clippy::print_stdout, reason = "the result of this program")]
fn main() -> Result<(), Box<dyn Error>> {
    let packets: u32 = std::env::args().nth(1).ok_or("give PACKETS")?.parse()?;
    let spec = ChainSpec::as_given(&ELEMENTS, &Reader::PLAN)?;
    let limits = Limits { slots: SLOTS, ..Limits::default() };
    let (wire, link, direction) = (Wire::default(), "count", "up");
    let place = Place { seed: 1, link, direction, wire, limits };
    let mut chain = Chain::new(&spec, &place, &mut Lines::default())?;
    let out = carry(&mut chain, packets);
    println!("in {packets}, out {out}, held {}", chain.held());
    Ok(())
}

/// One packet per 2 us, and everything out that is due.
fn carry(chain: &mut Chain, packets: u32) -> u64 {
    let mut out = 0;
    for packet in 0..packets {
        let now = Nanos::from_micros(2) * u64::from(packet);
        chain.push(Packet::single(Slot(packet % SLOTS), Bytes::new(1500), now));
        while let Some(packet) = chain.pop(now) {
            chain.done(&packet);
            out += 1;
        }
        while chain.take_released().is_some() {}
    }
    out
}
