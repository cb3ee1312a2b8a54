//! Whether there is memory for a plan's programs: where it runs out in the middle, the kernel ends whom it likes.

use std::fs;

use anyhow::anyhow;
use btu_core::app::kernel;
use btu_core::app::plan::Plan;
use btu_core::app::plan::Program;
use btu_core::units::Bytes;
use btu_sys::limit;

use crate::exit::Failure;

/// Fails where the largest program needs more than is available, or than may be mapped.
pub(super) fn for_plan(plan: &Plan) -> Result<(), Failure> {
    let needs = |program| Some((needed(plan, program)?, program));
    let Some((needed, program)) = plan.programs.iter().filter_map(needs).max() else {
        return Ok(());
    };
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    if let Some(free) = available(&meminfo).filter(|free| *free < needed) {
        return Err(refused(plan, program, needed, &format!("{} MB are free", megabytes(free))));
    }
    match limit::address_space() {
        Some(most) if !limit::can_map(needed.count()) => {
            let most = format!("ulimit -v allows {} MB in all", megabytes(Bytes::new(most)));
            Err(refused(plan, program, needed, &most))
        }
        _ => Ok(()),
    }
}

fn needed(plan: &Plan, program: &Program) -> Option<Bytes> {
    let kernel = kernel::by_name(&program.kernel)?;
    let ranks = usize::try_from(program.ranks).ok()?;
    Some(kernel.memory(plan.class, ranks) + BESIDE)
}

/// What may still be had without swapping (proc(5), `MemAvailable`); nobody knows where the kernel does not say.
fn available(meminfo: &str) -> Option<Bytes> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(Bytes::new(kibibytes << 10))
}

fn refused(plan: &Plan, program: &Program, needed: Bytes, limit: &str) -> Failure {
    let (class, needed) = (plan.class, megabytes(needed));
    let cause = anyhow!("{program}, class {class}: {needed} MB of memory are needed, and {limit}");
    Failure::environment(cause)
        .hint("take a smaller --class, leave that kernel out, or end other programs")
}

fn megabytes(bytes: Bytes) -> u64 {
    bytes.count().div_ceil(1_000_000)
}

/// Stacks of threads, buffers of layers, and the program itself.
const BESIDE: Bytes = Bytes::new(64 << 20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_free_is_what_the_kernel_says() {
        let meminfo = "MemTotal:  24684092 kB\nMemFree:  1 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(available(meminfo), Some(Bytes::new(2 << 20)));
        assert_eq!((available(""), available("MemAvailable: much")), (None, None));
    }
}
