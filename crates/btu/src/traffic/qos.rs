//! `btu traffic qos`: loads up to and beyond the knee, and sessions of application classes.

use anyhow::anyhow;
use btu_core::traffic::class::CLASSES;
use btu_core::traffic::class::EditedLimits;
use btu_core::traffic::course::LONGEST_LOAD;
use btu_core::traffic::course::QOS;
use btu_core::traffic::plan::Course;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::plan::Study;
use btu_core::units::Nanos;

use super::options::QosArgs;
use crate::exit::Failure;

/// The plan of a sheet: what the path carries decides on the way which loads are measured.
pub(super) fn plan(args: &QosArgs) -> Result<Plan, Failure> {
    if !TIMES.contains(&args.time) {
        let cause = anyhow!("--time {}: write 50ms to 12 minutes", args.time);
        return Err(Failure::usage(cause));
    }
    let classes = classes(&args.classes)?;
    let course = Course {
        name: QOS.to_owned(),
        time_ns: args.time,
        limits: limits(&args.limit, &classes)?,
        classes,
        most_sessions: args.sessions.or(args.peer.peer.as_ref().map(|_| TOWARDS_AN_AGENT)),
        ..Course::default()
    };
    let seed = args.path.seed.unwrap_or_else(crate::measurement::fresh_seed);
    let plan = Plan {
        passes: args.passes,
        link: args.path.link()?,
        course: Some(course),
        stall_ns: args.path.stall,
        ..Plan::new(Study::Qos, Vec::new(), seed)
    };
    Ok(plan)
}

fn classes(names: &[String]) -> Result<Vec<String>, Failure> {
    let known: Vec<&str> = CLASSES.iter().map(|class| class.name).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
        let known = known.join(", ");
        let cause = anyhow!("unknown application class \"{name}\"; write {known}");
        return Err(Failure::usage(cause));
    }
    let twice = (1..).zip(names).find(|(next, name)| names[*next..].contains(name));
    if let Some((_, name)) = twice {
        let cause = anyhow!("the application class \"{name}\" is named twice; name each once");
        return Err(Failure::usage(cause));
    }
    Ok(if names.is_empty() {
        known.into_iter().map(str::to_owned).collect()
    } else {
        names.to_vec()
    })
}

fn limits(wishes: &[String], classes: &[String]) -> Result<EditedLimits, Failure> {
    let mut limits = EditedLimits::default();
    for wish in wishes {
        limits.set(wish).map_err(|cause| Failure::usage(anyhow!("--limit {wish}: {cause}")))?;
    }
    if let Some(class) = limits.beyond(classes) {
        let cause = anyhow!("--limit: the class \"{class}\" is not measured");
        return Err(
            Failure::usage(cause).hint(format!("measure it: {},{class}", classes.join(",")))
        );
    }
    Ok(limits)
}

/// Shorter loads measure the scheduler; the capacity search takes some times as long.
const TIMES: std::ops::RangeInclusive<Nanos> = Nanos::from_millis(50)..=LONGEST_LOAD;
/// As many connections as an agent's policy allows that says nothing of it.
const TOWARDS_AN_AGENT: u32 = 64;
