//! Whether a limit of address space (`ulimit -v`) leaves room for a ping-pong: where memory runs out in the middle, the
//! runtime ends the program without a word of the limit.

use anyhow::anyhow;
use btu_core::pingpong::plan::Path;
use btu_core::pingpong::plan::Plan;
use btu_core::units::Bytes;
use btu_sys::limit;

use crate::exit::Failure;

/// Fails where a plan needs more than may be mapped; nothing is asked where there is no limit.
pub(super) fn for_plan(plan: &Plan) -> Result<(), Failure> {
    let Some(limit) = limit::address_space() else { return Ok(()) };
    let needed = needed(plan);
    if limit::can_map(needed.count()) {
        return Ok(());
    }
    let [limit, needed] = [limit >> 10, needed.count() >> 10];
    let cause = anyhow!(
        "map memory: the limit of address space is {limit} KiB (ulimit -v), and {needed} KiB more are needed"
    );
    Err(Failure::environment(cause).hint(REMEDY))
}

fn needed(plan: &Plan) -> Bytes {
    let largest = plan.points().into_iter().max().unwrap_or(Bytes::ZERO);
    let emulator = match plan.path {
        Path::Direct => EMULATOR,
        Path::Loopback | Path::Peer => Bytes::ZERO,
    };
    Bytes::new(largest.count().saturating_mul(BLOCKS)) + emulator + THREADS
}

/// What to do against any such limit.
const REMEDY: &str = "raise it: ulimit -v unlimited, or for this program alone: prlimit --as=unlimited btu ...; \
     a service has it as LimitAS=";

/// What is sent, received, and held between the ends.
const BLOCKS: u64 = 4;
/// Stacks, and what allocators of threads set aside.
const THREADS: Bytes = Bytes::new(32 << 20);
/// The emulator keeps room for its packets and its records, of which a ping-pong touches next to nothing.
const EMULATOR: Bytes = Bytes::new((8 << 30) + (256 << 20));
