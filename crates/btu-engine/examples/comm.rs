//! COMM between two processes, one connection, for comparisons with other programs.
//!
//! ```text
//! comm --listen ADDRESS --message BYTES (--seconds N | --messages N)     reads, prints JSON
//! comm --connect ADDRESS --message BYTES (--seconds N | --messages N)    writes
//! ```
#![forbid(unsafe_code)]

use std::error::Error;
use std::net::SocketAddr;

use btu_core::cell::Direction;
use btu_core::cell::Role;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::Place;
use btu_engine::comm::Amount;
use btu_engine::comm::EndReport;
use btu_engine::comm::FarFlow;
use btu_engine::comm::FarJob;
use btu_engine::comm::FarSide;
use btu_engine::comm::NearFlow;
use btu_engine::comm::NearJob;
use btu_engine::comm::NearSide;
use btu_engine::comm::Pinning;
use btu_engine::comm::Terms;
use btu_engine::transport::Tcp;
use btu_sys::socket::Settings;

fn main() -> Result<(), Box<dyn Error>> {
    let terms = terms()?;
    match (option("--listen")?, option("--connect")?) {
        (Some(address), None) => read(address, terms),
        (None, Some(address)) => write(address, terms),
        _ => Err("give one of --listen and --connect".into()),
    }
}

fn read(listen: SocketAddr, terms: Terms) -> Result<(), Box<dyn Error>> {
    let flows = vec![FarFlow { direction: Direction::Send, listen }];
    let place = Place::here(Role::Active);
    let far = FarSide::listen(FarJob { flows, terms, sockets: Settings::default(), place })?;
    for end in far.finish()? {
        report(&end)?;
    }
    Ok(())
}

fn write(address: SocketAddr, terms: Terms) -> Result<(), Box<dyn Error>> {
    let flows = vec![NearFlow { peer: Role::Active, direction: Direction::Send, address }];
    let place = Place::here(Role::Test);
    let near = NearSide::connect(NearJob { flows, terms, sockets: Settings::default(), place })?;
    near.go()?.ends.into_iter().find_map(|end| end.fault).map_or(Ok(()), |fault| Err(fault.into()))
}

/// The receiver's bits over the receiver's time.
#[expect(clippy::print_stdout, reason = "the result of this program")]
fn report(end: &EndReport) -> Result<(), Box<dyn Error>> {
    if let Some(fault) = &end.fault {
        return Err(fault.as_str().into());
    }
    let goodput = end.bytes.per(end.read_elapsed).ok_or("no time passed")?;
    let document = serde_json::json!({
        "bytes": end.bytes,
        "elapsed_ns": end.read_elapsed,
        "goodput_bit_s": goodput,
        "calls": end.sample.calls,
    });
    println!("{document}");
    Ok(())
}

fn terms() -> Result<Terms, Box<dyn Error>> {
    let message = Bytes::new(option("--message")?.ok_or("give --message BYTES")?);
    let amount = match (option("--seconds")?, option("--messages")?) {
        (Some(seconds), None) => Amount::Window(Nanos::from_secs(seconds)),
        (None, Some(messages)) => Amount::Messages(messages),
        _ => return Err("give one of --seconds and --messages".into()),
    };
    let pinning = Pinning::WholePlace;
    let cap = Nanos::from_secs(600);
    Ok(Terms { pinning, ..Terms::new(&Tcp, message, amount, cap) })
}

/// The value that follows an option, if it is there.
fn option<T: std::str::FromStr>(name: &str) -> Result<Option<T>, Box<dyn Error>>
where
    T::Err: Error + 'static,
{
    let mut args = std::env::args().skip_while(|arg| arg != name).skip(1);
    Ok(args.next().map(|text| text.parse()).transpose()?)
}
