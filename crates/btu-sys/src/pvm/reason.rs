//! What PVM means by a negative number.

use std::io;

use libc::c_int;

use crate::error::Error;
use crate::error::Result;

/// The answer of a call, where it is none of the negative ones.
pub(super) fn checked(operation: impl Into<String>, answer: c_int) -> Result<c_int> {
    if answer >= 0 {
        return Ok(answer);
    }
    let reason = REASONS.iter().find(|(value, _)| *value == answer);
    let said =
        reason.map_or_else(|| format!("error {answer} of PVM"), |(_, said)| said.to_string());
    Err(Error::new(operation, io::Error::other(said)))
}

/// `pvm3.h` 3.4.6, and which of them callers may see.
const REASONS: &[(c_int, &str)] = &[
    (-2, "PvmBadParam: an argument that is not legal"),
    (-4, "PvmOverflow: more than PVM can hold"),
    (-5, "PvmNoData: the message has no more"),
    (-6, "PvmNoHost: no such host"),
    (-7, "PvmNoFile: the daemon finds no such program"),
    (-10, "PvmNoMem: no memory"),
    (-14, "PvmSysErr: the daemon does not answer"),
    (-22, "PvmHostFail: the host is gone"),
    (-27, "PvmOutOfRes: the daemon has no more room for tasks"),
    (-29, "PvmCantStart: the daemon cannot start"),
    (-31, "PvmNoTask: there is no such task"),
];
