//! Datagrams of one size at one period over loopback, for comparisons with other generators.
//!
//! ```text
//! pace --size BYTES --period-us N --seconds N --port N [--cpus SENDER,RECEIVER]
//! ```
//!
//! Prints its own account of its error as one line of JSON.
#![forbid(unsafe_code)]

use std::error::Error;
use std::sync::Arc;

use btu_core::role::Role;
use btu_core::traffic::Drain;
use btu_core::traffic::Pace;
use btu_core::traffic::figures::flow::Figures;
use btu_core::traffic::sending::burst::Block;
use btu_core::traffic::sending::burst::Discipline;
use btu_core::traffic::sending::burst::Limits;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::Party;
use btu_engine::Place;
use btu_engine::traffic;
use btu_engine::traffic::Carrier;
use btu_engine::traffic::Flow;
use btu_engine::traffic::Job;
use btu_engine::traffic::Offer;
use btu_sys::socket::Settings;

#[expect(clippy::print_stdout, reason = "the result of this program")]
fn main() -> Result<(), Box<dyn Error>> {
    let parties = [party(Role::Test, 0)?, party(Role::Active, 1)?];
    let flows = [flow()?];
    let second = Nanos::from_secs(1);
    let job = Job {
        parties: &parties,
        flows: &flows,
        linger: second,
        stall: second * 10,
        cancel: Arc::default(),
    };
    let ended = traffic::run(&job)?;
    let figures = Figures::of(&ended.flows[0].trace);
    let pacing = figures.pacing.ok_or("nothing was sent")?;
    println!("{}", serde_json::to_string(&pacing)?);
    Ok(())
}

/// Hybrid waits, as `pace = hybrid` asks for them.
fn flow() -> Result<Flow, Box<dyn Error>> {
    let (size, period) =
        (Bytes::new(number("--size")?), Nanos::from_micros(number("--period-us")?));
    let duration = Nanos::from_secs(number("--seconds")?);
    let blocks = duration.count() / period.count().max(1);
    let block = |k| Block { due: period * k, size };
    Ok(Flow {
        from: 0,
        to: 1,
        address: None,
        carrier: Carrier::Udp,
        port: u16::try_from(number("--port")?)?,
        offer: Offer::Train {
            blocks: (0..blocks).map(block).collect(),
            discipline: Discipline::Queue,
            limits: Limits::default(),
        },
        start: Nanos::ZERO,
        duration,
        write: size,
        read: Bytes::new(64 << 10),
        drain: Drain::Yes,
        pace: Some(Pace::Hybrid),
        code_point: None,
        has_receipts: false,
        held_to: None,
    })
}

/// A host on loopback, on one CPU if that was asked for.
fn party(role: Role, number: usize) -> Result<Party, Box<dyn Error>> {
    let cpus = option("--cpus").unwrap_or_default();
    let cpus = cpus.split(',').nth(number).map(str::parse::<u32>).transpose()?;
    Ok(Party {
        place: Place { cpus: cpus.into_iter().collect(), ..Place::here(role) },
        address: "127.0.0.1".parse()?,
        sockets: Settings::default(),
    })
}

fn number(name: &str) -> Result<u64, Box<dyn Error>> {
    Ok(option(name).ok_or_else(|| format!("give {name}"))?.parse()?)
}

/// The value that follows an option, if it is there.
fn option(name: &str) -> Option<String> {
    std::env::args().skip_while(|arg| arg != name).nth(1)
}
