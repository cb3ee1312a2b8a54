//! `btu traffic qos`: loads up to and beyond the knee, and sessions of application classes.

use anyhow::anyhow;
use btu_core::link::ChainSpec;
use btu_core::link::Reader;
use btu_core::traffic::class::CLASSES;
use btu_core::traffic::class::Class;
use btu_core::traffic::plan::Group;
use btu_core::traffic::plan::Link;
use btu_core::traffic::plan::Plan;
use btu_core::traffic::plan::Study;
use btu_core::units::Nanos;

use super::options::QosArgs;
use super::sweep::Cells;
use super::sweep::STREAM;
use super::sweep::TCP;
use super::sweep::float;
use super::sweep::full;
use super::sweep::one_test;
use crate::exit::Failure;

/// The plan of a sheet.
pub(super) fn plan(args: &QosArgs) -> Result<Plan, Failure> {
    let link = args.path.link()?;
    let mu = match (args.mu, link.as_ref().and_then(bottleneck)) {
        (Some(mu), _) => float(mu.bit_per_second()),
        (None, Some(mu)) => mu,
        (None, None) => {
            let cause = anyhow!("qos: the rate of the path is not known");
            return Err(Failure::usage(cause).hint("give the link a --rate, or say it with --mu"));
        }
    };
    let mut cells = Cells::default();
    cells.add(Group::Capacity, "full stream".to_owned(), 1.0, &full(STREAM, args.time));
    for load in LOADS {
        cells.add(Group::Load, format!("{load} mu"), load, &poisson(load * mu, args.time));
    }
    for class in classes(&args.classes)? {
        for sessions in numbers(class, mu) {
            let label = format!("{} {sessions}", class.name);
            let traffic = format!("{}, duration={} ns)", class.traffic, args.time.count());
            let transport = if class.transport == "tcp" { TCP } else { class.transport };
            let script = one_test(&traffic, transport, "");
            let cell = cells.add(Group::Class, label, f64::from(sessions), &script);
            (cell.sessions, cell.class) = (sessions, Some(class.name.to_owned()));
        }
    }
    let seed = args.path.seed.unwrap_or_else(crate::run::fresh_seed);
    let plan = Plan { passes: args.passes, link, ..Plan::new(Study::Qos, cells.0, seed) };
    Ok(Plan { stall_ns: args.path.stall, ..plan })
}

/// TCP payload at the slower rate of a link, at an MTU of 1500.
fn bottleneck(link: &Link) -> Option<f64> {
    let rate = |texts: &[String]| ChainSpec::as_given(texts, &Reader::PLAN).ok()?.rate();
    let slower = [rate(&link.up), rate(&link.down)].into_iter().flatten().min()?;
    Some(float(slower.bit_per_second()) * 1448.0 / 1538.0)
}

fn classes(names: &[String]) -> Result<Vec<&'static Class>, Failure> {
    if names.is_empty() {
        return Ok(CLASSES.iter().collect());
    }
    let find = |name: &String| {
        let known: Vec<&str> = CLASSES.iter().map(|class| class.name).collect();
        let cause = || anyhow!("unknown application class \"{name}\"; write {}", known.join(", "));
        CLASSES.iter().find(|class| class.name == name).ok_or_else(|| Failure::usage(cause()))
    };
    names.iter().map(find).collect()
}

/// Numbers of sessions around what the path could carry.
fn numbers(class: &Class, mu: f64) -> Vec<u32> {
    if class.bit_s <= 0.0 {
        return vec![1, 2, 4, 8];
    }
    let mut numbers: Vec<u32> =
        SHARES.iter().map(|share| whole(share * mu / class.bit_s)).collect();
    numbers.push(1);
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to few")]
fn whole(value: f64) -> u32 {
    value.clamp(1.0, 1024.0).floor() as u32
}

/// Packets of one segment at random times: what theory says most of.
fn poisson(bit_s: f64, time: Nanos) -> String {
    let period = 1448.0 * 8e9 / bit_s;
    let traffic = format!(
        "burstq(blocksize=1448 B, period=exp({period:.0} ns), duration={} ns)",
        time.count()
    );
    one_test(&traffic, TCP, "")
}

const LOADS: [f64; 9] = [0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 1.1, 1.5, 2.0];
const SHARES: [f64; 6] = [0.25, 0.5, 0.75, 0.9, 1.0, 1.2];
