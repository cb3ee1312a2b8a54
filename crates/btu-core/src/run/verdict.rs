//! Did the emulator do what was asked of it? A verdict with its causes, from the recorded samples.
//!
//! An invalid run is repeated once and not scored; a limited run is scored as a lower bound. Bounds
//! on lateness hold only where something is delayed, held or jittered: a direction that only drops
//! is not late, however long its packets took.

use std::fmt;

use crate::link::Pattern;
use crate::run::plan::Plan;
use crate::sample::CellSample;
use crate::sample::CommSample;
use crate::sample::DirectionSample;
use crate::sample::HostSample;
use crate::units::BitRate;
use crate::units::Nanos;
use crate::words::beyond;

/// What one direction, or all of one run, is worth. Causes are whole sentences with their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// The emulator kept its bounds.
    #[default]
    Valid,
    /// It was the limit, or a little late: the figure is a lower bound.
    Limited(Vec<String>),
    /// It did something else than asked: the figure must not be scored.
    Invalid(Vec<String>),
}

/// What a verdict knows besides the record of the direction itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<'c> {
    /// The test host around the run, to name the cause of lateness.
    pub host: Option<&'c HostSample>,
    /// What the run delivered.
    pub goodput: Option<BitRate>,
    /// What the emulator can carry, from the verification.
    pub emulator_rate: Option<BitRate>,
}

impl Verdict {
    /// The causes, if any.
    pub fn causes(&self) -> &[String] {
        match self {
            Self::Valid => &[],
            Self::Limited(causes) | Self::Invalid(causes) => causes,
        }
    }

    fn invalid(causes: Vec<String>) -> Self {
        if causes.is_empty() { Self::Valid } else { Self::Invalid(causes) }
    }

    fn limited(causes: Vec<String>) -> Self {
        if causes.is_empty() { Self::Valid } else { Self::Limited(causes) }
    }

    /// True where the run must be repeated and not scored.
    pub fn is_invalid(&self) -> bool {
        matches!(self, Self::Invalid(_))
    }

    /// The worse of two, with the causes of that one; causes of equals are joined, each once.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Invalid(a), Self::Invalid(b)) => Self::Invalid(union(a, b)),
            (Self::Invalid(a), _) | (_, Self::Invalid(a)) => Self::Invalid(a),
            (Self::Limited(a), Self::Limited(b)) => Self::Limited(union(a, b)),
            (Self::Limited(a), _) | (_, Self::Limited(a)) => Self::Limited(a),
            (Self::Valid, Self::Valid) => Self::Valid,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Valid => return out.write_str("valid"),
            Self::Limited(_) => "limited",
            Self::Invalid(_) => "invalid",
        };
        write!(out, "{name}: {}", self.causes().join("; "))
    }
}

/// Causes that all directions of one thread share are said once.
fn union(mut causes: Vec<String>, more: Vec<String>) -> Vec<String> {
    let new: Vec<String> = more.into_iter().filter(|cause| !causes.contains(cause)).collect();
    causes.extend(new);
    causes
}

/// The verdict on one direction of one link.
pub fn direction(sample: &DirectionSample, context: &Context<'_>) -> Verdict {
    let place = |cause: String| format!("{} {}: {cause}", sample.link, sample.direction);
    let placed = |causes: Vec<String>| causes.into_iter().map(place).collect::<Vec<String>>();
    let late = match lateness(sample, context) {
        Verdict::Invalid(causes) => Verdict::Invalid(placed(causes)),
        Verdict::Limited(causes) => Verdict::Limited(placed(causes)),
        Verdict::Valid => Verdict::Valid,
    };
    let stepped = (sample.clock_steps > 0)
        .then(|| format!("{} clock steps during the run", sample.clock_steps));
    let limits = busy_thread(sample).into_iter().chain(near_its_rate(sample, context)).collect();
    Verdict::invalid(placed(broken_promises(sample)))
        .and(Verdict::invalid(stepped.into_iter().collect()))
        .and(late)
        .and(Verdict::limited(limits))
}

/// The verdict on all directions of one run, and on the record itself: an emulator that was killed
/// leaves none, or one that ends before the traffic does.
pub fn run(sample: &CellSample, plan: &Plan, emulator_rate: Option<BitRate>) -> Verdict {
    let goodput = sample.comm.as_ref().and_then(|comm| comm.bytes.per(comm.elapsed_ns));
    let context = Context { host: Some(&sample.host), goodput, emulator_rate };
    let record = match &sample.comm {
        Some(comm) => whole_record(sample, plan, comm),
        None => Verdict::Valid,
    };
    sample.emulation.iter().fold(record, |all, each| all.and(direction(each, &context)))
}

/// What the emulator measured of itself: the smaller bulk rate of its verifications.
pub fn emulator_rate<'r>(
    records: impl IntoIterator<Item = &'r crate::journal::Record>,
) -> Option<BitRate> {
    let rates = records.into_iter().filter_map(|record| match record {
        crate::journal::Record::Verification(check) => check.bulk_bit_s,
        _ => None,
    });
    rates.filter(|rate| *rate >= 1.0).min_by(f64::total_cmp).map(whole_rate)
}

/// Losses nobody asked for, hits beside the formula, packets not understood.
fn broken_promises(sample: &DirectionSample) -> Vec<String> {
    let unasked = [
        (sample.overflow, "packets lost for want of the emulator's memory: too much waited inside"),
        (sample.socket_drops, "packets lost in the receive socket before the emulator saw them"),
        (sample.send_errors, "packets that the kernel refused to send on"),
    ];
    let mut causes: Vec<String> = unasked
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let hits = defined_hits(sample);
    causes.extend(sample.pattern_drops.filter(|formula| *formula != hits).map(|formula| {
        let lists =
            sample.chain.iter().any(|element| definition(element) == Some(Definition::List));
        let who = if lists {
            "by counter and list, which say"
        } else {
            "by the pattern, its formula says"
        };
        format!("{hits} drops {who} {formula} of {}", sample.packets)
    }));
    causes.extend(sample.device_gone.iter().map(|device| {
        format!("its device {device} was gone at the end: what was lost there is not known")
    }));
    let by_packet = ["drop", "corrupt"].into_iter().find(|name| has_element(sample, &[name]));
    if let Some(name) = by_packet.filter(|_| sample.opaque > 0) {
        causes.push(format!("{} opaque packets under a {name} element", sample.opaque));
    }
    causes
}

/// Drops by counter patterns (`drop 1@200,3@400/400`) and lists, which say how many; not by chance.
fn defined_hits(sample: &DirectionSample) -> u64 {
    match sample.dropped_by.as_slice() {
        [] => sample.dropped,
        by => {
            by.iter().filter(|(text, _)| definition(text).is_some()).map(|(_, drops)| drops).sum()
        }
    }
}

/// What says of a drop element which packets it takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Definition {
    List,
    Pattern,
}

/// The word after `drop` decides: the name of a list's file may look like anything. `None` for
/// drops by chance, and for other elements.
fn definition(element: &str) -> Option<Definition> {
    let mut words = element.split_whitespace();
    let first = words.next().filter(|name| *name == "drop").and_then(|_| words.next())?;
    if first == "list" {
        return Some(Definition::List);
    }
    first.parse::<Pattern>().is_ok().then_some(Definition::Pattern)
}

fn has_element(sample: &DirectionSample, names: &[&str]) -> bool {
    let first = |text: &String| text.split_whitespace().next().map(str::to_owned);
    sample.chain.iter().filter_map(first).any(|name| names.contains(&name.as_str()))
}

/// p99 and mean of lateness against what was asked; only where something holds packets back.
fn lateness(sample: &DirectionSample, context: &Context<'_>) -> Verdict {
    let holds =
        sample.delay_asked_us.is_some() || has_element(sample, &["delay", "hold", "jitter"]);
    if !holds || left(sample) == 0 {
        return Verdict::Valid;
    }
    let Some(late) = sample.lateness_us else {
        let cause = match sample.backend.as_str() {
            "netem" => NETEM_IS_SILENT,
            _ => "no lateness was recorded of a delayed direction",
        };
        return Verdict::Limited(vec![cause.to_owned()]);
    };
    let asked = sample.delay_asked_us.unwrap_or(0.0);
    let above = |what: &str, found: f64, floor: f64, share: f64| {
        let bound = (asked * share).max(floor);
        (found > bound).then(|| {
            let beyond = beyond(found, '>', bound, 0, " us");
            format!("{what} lateness {beyond}{}", cause_of_lateness(sample, context))
        })
    };
    let invalid = above("p99", late.p99, 500.0, 0.25).or(above("mean", late.mean, 50.0, 0.05));
    let limited = above("p99", late.p99, 50.0, 0.05);
    match (invalid, limited) {
        (Some(cause), _) => Verdict::Invalid(vec![cause]),
        (None, Some(cause)) => Verdict::Limited(vec![cause]),
        (None, None) => Verdict::Valid,
    }
}

/// Wire packets that it handed on: of others nothing can be late.
fn left(sample: &DirectionSample) -> u64 {
    let gone = sample.dropped + sample.queue_dropped + sample.overflow + sample.held;
    (sample.packets + sample.duplicated).saturating_sub(gone)
}

/// Who kept the emulator from its CPU, as far as the counters tell.
fn cause_of_lateness(sample: &DirectionSample, context: &Context<'_>) -> String {
    let stolen = context.host.and_then(|host| share(host.steal_ns?, host.elapsed_ns));
    let waited = sample.run_delay_ns.and_then(|delay| share(delay, sample.elapsed_ns));
    match (stolen, waited) {
        (Some(stolen), _) if stolen >= 1.0 => {
            format!(" (the hypervisor stole {stolen:.0} % of a CPU)")
        }
        (_, Some(waited)) if waited >= 1.0 => {
            format!(" (its thread waited for a CPU {waited:.0} % of the time)")
        }
        _ => String::new(),
    }
}

/// A thread that spins on purpose is busy whatever it carries.
fn busy_thread(sample: &DirectionSample) -> Option<String> {
    let busy = share(sample.thread_cpu_ns?, sample.elapsed_ns)?;
    (busy > 90.0 && sample.wait != "spin").then(|| {
        format!("the emulator's thread used {} of a CPU", beyond(busy, '>', 90.0, 0, " %"))
    })
}

fn near_its_rate(sample: &DirectionSample, context: &Context<'_>) -> Option<String> {
    let (goodput, rate) = (context.goodput?, context.emulator_rate?);
    // A rate that was asked for is the path's, and no limit of the emulator.
    let is_asked = sample.chain.iter().any(|one| RATES.iter().any(|name| one.starts_with(name)));
    let carries = !is_asked && sample.packets > 0 && goodput.mbps() > rate.mbps() / 2.0;
    carries.then(|| {
        let (goodput, rate) = (goodput.mbps(), rate.mbps());
        format!("goodput {goodput:.0} Mb/s > half of the emulator's own {rate:.0} Mb/s")
    })
}

/// Why a run in which the program stood still says nothing, whatever the emulator did: who stops a program (a
/// terminal, a container that is paused, a virtual machine that is moved) does not stop the clock.
pub fn standstill(comm: &CommSample) -> Option<String> {
    let ends = comm.connections.iter().flat_map(|one| [&one.sender, &one.receiver]);
    let end = ends.max_by_key(|end| end.stood_still_ns)?;
    (end.stood_still_ns > LONGEST_STANDSTILL).then(|| {
        let (stood, limit) = (end.stood_still_ns.millis(), LONGEST_STANDSTILL.millis());
        let stood = beyond(stood, '>', limit, 0, " ms");
        format!("the program on {} stood still for {stood}", end.role)
    })
}

/// Every emulated run has a record, in which packets were seen, and which lasts as long as COMM.
fn whole_record(sample: &CellSample, plan: &Plan, comm: &CommSample) -> Verdict {
    let emulated = plan.is_emulated(sample.cell.case);
    let seen: u64 = sample.emulation.iter().map(|each| each.packets).sum();
    let cause = if !emulated {
        None
    } else if sample.emulation.is_empty() {
        Some("the emulator left no record: it ended before the run did".to_owned())
    } else if seen == 0 && !comm.bytes.is_empty() {
        Some("no packet passed the emulator".to_owned())
    } else {
        sample.emulation.iter().find_map(|each| ended_early(each, comm))
    };
    cause.map_or(Verdict::Valid, |cause| Verdict::Invalid(vec![cause]))
}

fn ended_early(each: &DirectionSample, comm: &CommSample) -> Option<String> {
    let covered = share(each.elapsed_ns, comm.elapsed_ns)?;
    (covered < 99.0).then(|| {
        let (link, direction) = (&each.link, &each.direction);
        format!("{link} {direction}: the emulator's record ends after {covered:.0} % of the run")
    })
}

/// `part` of `whole` in percent.
fn share(part: Nanos, whole: Nanos) -> Option<f64> {
    (whole > Nanos::ZERO).then(|| 100.0 * part.seconds() / whole.seconds())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a measured rate is positive and far below 2^63"
)]
fn whole_rate(bit_per_second: f64) -> BitRate {
    BitRate::new(bit_per_second as u64)
}

/// How the elements that have a rate of their own begin.
const RATES: [&str; 2] = ["rate ", "trace "];

/// What a thread waits for a CPU is left out; clocks and timers alone take no such time.
pub const LONGEST_STANDSTILL: Nanos = Nanos::from_millis(100);

/// The checks before the first cell and after the last are all that is known of its delay.
const NETEM_IS_SILENT: &str =
    "netem records no lateness: of its delay only the checks before and after tell";

#[cfg(test)]
mod tests;
