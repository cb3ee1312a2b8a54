//! COMM between two processes, one connection, for comparisons with other programs.
//!
//! ```text
//! comm --listen ADDRESS --message BYTES (--seconds N | --messages N)     accepts
//! comm --connect ADDRESS --message BYTES (--seconds N | --messages N)    connects and times
//!
//! --reverse             the end that listens writes; given to both ends
//! --cpu N               this end runs on CPU N
//! --congestion NAME     congestion control of this end
//! --write NAME          how messages are written: plain, nodelay, batched, sendfile
//! --read WAY            how the end that listens reads: message, lowat, sink or BYTES
//! --buffer BYTES        both socket buffers of this end, instead of what the kernel finds
//! ```
//!
//! Each end prints what it saw as one line of JSON; the rate is the reader's bits over its time.
#![forbid(unsafe_code)]

use std::error::Error;

use btu_core::role::Role;
use btu_core::run::calls::Calls;
use btu_core::run::cell::Direction;
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
    let direction = if flag("--reverse") { Direction::Receive } else { Direction::Send };
    let sockets = sockets()?;
    match (option("--listen")?, option("--connect")?) {
        (Some(listen), None) => {
            let flows = vec![FarFlow { direction, listen }];
            let place = place(Role::Active)?;
            let far = FarSide::listen(FarJob { flows, terms, sockets, place })?;
            far.finish()?.iter().try_for_each(report)
        }
        (None, Some(address)) => {
            let flows = vec![NearFlow { peer: Role::Active, direction, address }];
            let place = place(Role::Test)?;
            let near = NearSide::connect(NearJob { flows, terms, sockets, place })?;
            near.go()?.ends.iter().try_for_each(report)
        }
        _ => Err("give one of --listen and --connect".into()),
    }
}

/// The options of this end's sockets.
fn sockets() -> Result<Settings, Box<dyn Error>> {
    let buffer = option("--buffer")?;
    let congestion = option("--congestion")?;
    Ok(Settings { congestion, send_buffer: buffer, receive_buffer: buffer, ..Settings::default() })
}

/// This process, on one CPU if that was asked for.
fn place(role: Role) -> Result<Place, Box<dyn Error>> {
    let cpus = option("--cpu")?.into_iter().collect();
    Ok(Place { cpus, ..Place::here(role) })
}

#[expect(clippy::print_stdout, reason = "the result of this program")]
fn report(end: &EndReport) -> Result<(), Box<dyn Error>> {
    if let Some(fault) = &end.fault {
        return Err(fault.as_str().into());
    }
    let document = serde_json::json!({
        "bytes": end.bytes,
        "elapsed_ns": end.read_elapsed,
        "goodput_bit_s": end.bytes.per(end.read_elapsed),
        "calls": end.sample.calls,
        "cpu_ns": end.sample.cpu_ns,
        "cpus": end.sample.cpus,
        "congestion": end.sample.options.congestion,
    });
    println!("{document}");
    Ok(())
}

/// True if an option without a value was given.
fn flag(name: &str) -> bool {
    std::env::args().any(|arg| arg == name)
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
    let write = option("--write")?.unwrap_or_default();
    let black_box_read = option("--read")?.unwrap_or_default();
    let calls = Calls { write, black_box_read, ..Calls::default() };
    Ok(Terms { pinning, calls, ..Terms::new(&Tcp, message, amount, cap) })
}

/// The value that follows an option, if it is there.
fn option<T: std::str::FromStr>(name: &str) -> Result<Option<T>, Box<dyn Error>>
where
    T::Err: Error + 'static,
{
    let mut args = std::env::args().skip_while(|arg| arg != name).skip(1);
    Ok(args.next().map(|text| text.parse()).transpose()?)
}
