//! `btu traffic method`: a standard method under its own name.

use anyhow::anyhow;
use btu_core::traffic::course::LONGEST_TRIAL;
use btu_core::traffic::method::METHODS;
use btu_core::traffic::method::Method;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::plan::Study;
use btu_core::units::Nanos;

use super::options::MethodArgs;
use crate::exit::Failure;

/// The plan of a method: its cells are decided on the way.
pub(super) fn plan(args: &MethodArgs) -> Result<Plan, Failure> {
    let method = named(&args.method)?;
    let mut course = if args.quick { method.short() } else { method.standard() };
    if let Some(time) = args.time {
        if !TIMES.contains(&time) {
            let cause = anyhow!("--time {time}: write 50ms to 1 hour");
            return Err(Failure::usage(cause));
        }
        course.time_ns = time;
    }
    if !args.frames.is_empty() {
        course.frames = frames(method, &args.frames)?;
    }
    if let Some(adjustment) = args.adjustment {
        if method.name != ADJUSTED {
            let cause = anyhow!("--adjustment: {} has no rate that is adjusted", method.name);
            return Err(Failure::usage(cause).hint(format!("it belongs to {ADJUSTED}")));
        }
        course.adjustment = adjustment;
    }
    course.repeats = args.repeats.unwrap_or(course.repeats);
    let seed = args.path.seed.unwrap_or_else(crate::measurement::fresh_seed);
    let plan = Plan {
        link: args.path.link()?,
        course: Some(course),
        stall_ns: args.path.stall,
        ..Plan::new(Study::Method, Vec::new(), seed)
    };
    Ok(plan)
}

fn named(name: &str) -> Result<&'static Method, Failure> {
    btu_core::traffic::method::find(name).ok_or_else(|| {
        let known: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
        Failure::usage(anyhow!("unknown method \"{name}\"; write {}", known.join(", ")))
    })
}

fn frames(method: &Method, asked: &[u32]) -> Result<Vec<u32>, Failure> {
    if method.frames.is_empty() {
        let cause = anyhow!("--frames: {} has no frame sizes", method.name);
        return Err(Failure::usage(cause));
    }
    if let Some(size) = asked.iter().find(|size| !(64..=1518).contains(*size)) {
        return Err(Failure::usage(anyhow!("--frames {size}: write 64 to 1518 bytes")));
    }
    let mut sizes = asked.to_vec();
    sizes.sort_unstable();
    let twice = sizes.iter().zip(sizes.iter().skip(1)).find(|(size, next)| size == next);
    if let Some((size, _)) = twice {
        let cause = anyhow!("--frames {size}: it is there twice");
        return Err(Failure::usage(cause).hint("a size is searched as often as --repeats says"));
    }
    Ok(sizes)
}

/// The method whose rate follows its receiver.
const ADJUSTED: &str = "rfc9097";
/// Shorter trials measure the scheduler.
const TIMES: std::ops::RangeInclusive<Nanos> = Nanos::from_millis(50)..=LONGEST_TRIAL;
