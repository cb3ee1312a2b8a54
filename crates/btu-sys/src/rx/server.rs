//! The process as a server of Rx: services by their numbers, each with one procedure.

use std::ffi::c_char;
use std::io;
use std::net::SocketAddrV4;
use std::ptr::NonNull;
use std::sync::OnceLock;

use super::Call;
use super::bound;
use super::functions::Functions;
use super::functions::Handler;
use super::functions::Opaque;
use super::library;
use super::start;
use crate::error::Error;
use crate::error::Result;

/// What is done with a call, in a thread of the library. What it returns the client hears; 0 is good.
pub type Procedure = Box<dyn Fn(&mut Call<'_>) -> i32 + Send + Sync>;

/// Serves calls of the services `numbers` from now until the process ends; returns where, the port chosen by the
/// system. So many calls of each service are done at once.
///
/// # Errors
/// The library is not there or another than is known here, the address is not, or the process has started Rx before.
pub fn serve(
    address: SocketAddrV4,
    at_once: u16,
    services: [(u16, Procedure); 2],
) -> Result<SocketAddrV4> {
    let functions = start(address)?;
    let [(first, one), (second, other)] = services;
    // Nobody has set them: Rx starts once.
    let _ = PROCEDURES.set([one, other]);
    offer(functions, first, at_once, handle::<0>)?;
    offer(functions, second, at_once, handle::<1>)?;
    // SAFETY: the library is started and has its services; 0 lets this thread come back.
    unsafe { (functions.start_server)(0) };
    bound(functions)
}

fn offer(functions: &Functions, number: u16, at_once: u16, handler: Handler) -> Result<()> {
    // SAFETY: takes nothing and gives an object without state.
    let security = unsafe { (functions.null_server_security)() };
    // The library keeps both for as long as it runs.
    let securities = Box::leak(Box::new([security])).as_mut_ptr();
    let name = NAME.as_ptr().cast::<c_char>().cast_mut();
    // SAFETY: one security, the name ends with a zero and is not changed, and the procedure has the type of its header.
    let service = unsafe { (functions.new_service)(0, number, name, securities, 1, handler) };
    let named = |cause| Error::new(format!("offer service {number} of Rx"), cause);
    let service = NonNull::new(service).ok_or_else(|| named(io::ErrorKind::OutOfMemory.into()))?;
    set_most(service, at_once).map_err(named)
}

/// Sets `maxProcs` of a service, for which the library has a macro and no function. What stands there before shows
/// whether the record is the one that is known here.
fn set_most(service: NonNull<Opaque>, at_once: u16) -> io::Result<()> {
    // SAFETY: the record of a service is longer than that and aligned to 8; the library has made it, and serves nobody yet.
    let record = unsafe { service.cast::<[u16; LEAST_AT + 1]>().as_mut() };
    if (record[MOST_AT], record[LEAST_AT]) != DEFAULTS {
        let what = "the library is not OpenAFS 1.8 for this processor: a service has another form";
        return Err(io::Error::other(what));
    }
    record[MOST_AT] = at_once.max(1);
    Ok(())
}

/// Called by the library, in a thread of its own; a panic would end the process.
extern "C" fn handle<const NUMBER: usize>(call: *mut Opaque) -> i32 {
    let procedure = PROCEDURES.get().and_then(|all| all.get(NUMBER));
    match (procedure, library(), NonNull::new(call)) {
        (Some(procedure), Ok(functions), Some(call)) => {
            procedure(&mut Call::of_server(functions, call))
        }
        _ => NO_PROCEDURE,
    }
}

static PROCEDURES: OnceLock<[Procedure; 2]> = OnceLock::new();

const NAME: &std::ffi::CStr = c"btu";

/// `RXGEN_OPCODE`, by which a server says that it has no such procedure.
const NO_PROCEDURE: i32 = -455;

/// `maxProcs` and `minProcs` in `struct rx_service` of a processor with addresses of 8 bytes, and what
/// `rx_NewService` sets them to.
const MOST_AT: usize = 88 / 2;
const LEAST_AT: usize = 90 / 2;
const DEFAULTS: (u16, u16) = (1, 0);
