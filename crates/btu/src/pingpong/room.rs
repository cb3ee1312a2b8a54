//! Whether a limit of address space (`ulimit -v`) leaves room for a ping-pong: where memory runs out in the middle, the
//! runtime ends the program without a word of the limit.

use anyhow::anyhow;
use btu_core::pingpong::plan::Path;
use btu_core::pingpong::plan::Plan;
use btu_core::units::Bytes;
use btu_sys::limit;
use btu_sys::sysctl;

use crate::exit::Failure;

/// Fails where a plan needs more than may be mapped; nothing is asked where there is no limit.
pub(super) fn for_plan(plan: &Plan) -> Result<(), Failure> {
    let Some(limit) = limit::address_space() else { return Ok(()) };
    let needed = needed(plan);
    if limit::can_map(needed.count()) {
        return Ok(());
    }
    Err(refused(limit, needed, sysctl::read(OVERCOMMIT).ok().as_deref()))
}

/// The kernel's answer is the same (ENOMEM) for either limit.
fn refused(limit: u64, needed: Bytes, overcommit: Option<&str>) -> Failure {
    let [limit, needed] = [limit >> 10, needed.count() >> 10];
    let mut cause = format!(
        "map memory: the limit of address space is {limit} KiB (ulimit -v), and {needed} KiB more are needed"
    );
    let mut remedy = REMEDY.to_owned();
    if overcommit == Some(STRICT) {
        cause += OR_OF_ALL;
        remedy += AGAINST_STRICT;
    }
    Failure::environment(anyhow!(cause)).hint(remedy)
}

fn needed(plan: &Plan) -> Bytes {
    let largest = plan.points().into_iter().max().unwrap_or(Bytes::ZERO);
    let emulator = match plan.path {
        Path::Direct => EMULATOR,
        Path::Loopback | Path::Peer => Bytes::ZERO,
    };
    Bytes::new(largest.count().saturating_mul(BLOCKS)) + emulator + THREADS
}

const OVERCOMMIT: &str = "vm.overcommit_memory";
/// The kernel promises no more memory than it has.
const STRICT: &str = "2";
const OR_OF_ALL: &str =
    ", or more than the kernel promises to all programs (vm.overcommit_memory=2)";
const AGAINST_STRICT: &str = "; as root, for the other: sysctl vm.overcommit_memory=0";
/// What to do against any such limit.
const REMEDY: &str = "raise it: ulimit -v unlimited, or for this program alone: prlimit --as=unlimited btu ...; \
     a service has it as LimitAS=";

/// What is sent, received, and held between the ends.
const BLOCKS: u64 = 4;
/// Stacks, and what allocators of threads set aside.
const THREADS: Bytes = Bytes::new(32 << 20);
/// The emulator keeps room for its packets and its records, of which a ping-pong touches next to nothing.
const EMULATOR: Bytes = Bytes::new((8 << 30) + (256 << 20));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_kernel_promises_no_more_than_it_has_both_limits_are_named() {
        for (overcommit, is_named) in [(Some("2"), true), (Some("0"), false), (None, false)] {
            let failure = refused(1 << 30, Bytes::new(1 << 34), overcommit);
            let (cause, remedy) = (failure.cause.to_string(), failure.remedy().unwrap_or_default());
            assert!(cause.contains("is 1048576 KiB (ulimit -v), and 16777216 KiB more"), "{cause}");
            assert_eq!(cause.contains("vm.overcommit_memory=2"), is_named, "{cause}");
            assert!(remedy.contains("ulimit -v unlimited"), "{remedy}");
            assert_eq!(remedy.contains("sysctl vm.overcommit_memory=0"), is_named, "{remedy}");
        }
    }
}
