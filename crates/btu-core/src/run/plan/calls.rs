//! By which calls a plan has COMM write and read, and where its threads run.

use std::fmt::Display;
use std::str::FromStr;

use super::PlanError;
use super::TestbedClass;
use super::raw::RawComm;
use super::raw::RawSockets;
use super::raw::Text;
use super::text::Reader;
use crate::placement::Placement;
use crate::run::calls::Calls;
use crate::run::calls::ReadCall;

/// Those that the plan names, where they go together.
pub(super) fn calls(
    comm: &RawComm,
    sockets: &RawSockets,
    reader: &Reader<'_>,
) -> Result<Calls, PlanError> {
    let RawComm { write, test_read, black_box_read, placement: _ } = comm;
    let named = Calls {
        write: reader.call("comm.write", write)?,
        test_read: reader.call("comm.test_read", test_read)?,
        black_box_read: reader.call("comm.black_box_read", black_box_read)?,
    };
    match test_read {
        Some(text) if matches!(named.test_read, ReadCall::LowWater | ReadCall::Sink) => {
            let cause = "what the host under test spends on each read is what is judged; write \
                         message or a size";
            Err(reader.illegal("comm.test_read", text, cause))
        }
        _ if named.black_box_read == ReadCall::LowWater
            && sockets.black_box_window_clamp.is_some() =>
        {
            Err(PlanError::Contradiction(format!(
                "{}: comm.black_box_read = \"lowat\" raises the window that \
                 sockets.black_box_window_clamp sets; leave one of them out",
                reader.source.name
            )))
        }
        _ => Ok(named),
    }
}

/// The one that the plan names, where the testbed has it.
pub(super) fn placement(
    text: &Text,
    class: TestbedClass,
    reader: &Reader<'_>,
) -> Result<Placement, PlanError> {
    let named: Placement = reader.call("comm.placement", text)?;
    match text {
        Some(text) if named == Placement::Same && !class.is_local() => {
            let cause = "two hosts have no CPU in common; write split or free";
            Err(reader.illegal("comm.placement", text, cause))
        }
        _ => Ok(named),
    }
}

impl Reader<'_> {
    /// A call or a placement by its name, that of the editions where none is given.
    fn call<C>(&self, key: &str, text: &Text) -> Result<C, PlanError>
    where
        C: FromStr<Err: Display> + Default,
    {
        let Some(text) = text else { return Ok(C::default()) };
        text.get_ref().parse().map_err(|cause: C::Err| self.illegal(key, text, &cause.to_string()))
    }
}
