//! Whether there is memory for programs: where it runs out in the middle, the kernel ends whom it likes.

use std::fs;

use anyhow::anyhow;
use btu_core::app::class::ProblemClass;
use btu_core::app::kernel;
use btu_core::app::plan::Plan;
use btu_core::app::plan::Program;
use btu_core::app::sample::Job;
use btu_core::units::Bytes;
use btu_engine::EngineError;
use btu_sys::limit;

use crate::exit::Failure;

/// Fails where the largest program needs more than is available, or than may be mapped.
pub(super) fn for_plan(plan: &Plan) -> Result<(), Failure> {
    let needs = |program| Some((needed(program, plan.class)?, program));
    let Some((needed, program)) = plan.programs.iter().filter_map(needs).max() else {
        return Ok(());
    };
    let class = plan.class;
    let refused = |lack| {
        Failure::environment(anyhow!("{program}, class {class}: {lack}"))
            .hint("take a smaller --class, leave that kernel out, or end other programs")
    };
    lack(needed).map_or(Ok(()), |lack| Err(refused(lack)))
}

/// Fails where there is no longer memory for a launch: ranks that were left behind hold theirs.
pub(super) fn for_launch(job: &Job) -> Result<(), EngineError> {
    let program = Program { kernel: job.kernel.clone(), ranks: job.ranks };
    let lack = needed(&program, job.class).and_then(lack);
    lack.map_or(Ok(()), |lack| Err(EngineError::Refused(lack)))
}

fn needed(program: &Program, class: ProblemClass) -> Option<Bytes> {
    let kernel = kernel::by_name(&program.kernel)?;
    let ranks = usize::try_from(program.ranks).ok()?;
    Some(kernel.memory(class, ranks) + BESIDE)
}

/// What is needed and what there is, where that is less.
fn lack(needed: Bytes) -> Option<String> {
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let free = available(&meminfo).filter(|free| *free < needed);
    let free = free.map(|free| format!("{} MB are free", megabytes(free)));
    let limit = free.or_else(|| {
        let most = limit::address_space().filter(|_| !limit::can_map(needed.count()))?;
        Some(format!("ulimit -v allows {} MB in all", megabytes(Bytes::new(most))))
    })?;
    Some(format!("{} MB of memory are needed, and {limit}", megabytes(needed)))
}

/// What may still be had without swapping (proc(5), `MemAvailable`); nobody knows where the kernel does not say.
fn available(meminfo: &str) -> Option<Bytes> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(Bytes::new(kibibytes << 10))
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

    #[test]
    fn what_no_machine_has_is_lacking() {
        let told = lack(Bytes::new(1 << 50)).unwrap();
        assert!(told.starts_with("1125899907 MB of memory are needed, and "), "{told}");
        assert_eq!(lack(Bytes::new(1)), None);
    }
}
