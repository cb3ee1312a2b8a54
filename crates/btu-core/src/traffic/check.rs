//! The statistical tests of a model: its laws, its correlation, its rate.

mod statistics;

use std::cmp::Ordering;

use crate::stats;
use crate::units::Nanos;

use super::chance::Streams;
use super::law::Law;
use super::model::Claim;
use super::model::Model;
use super::model::Says;
use super::preview::Message;
use super::preview::preview;
use super::train::Direction;
use crate::traffic::language::call::Call;
use crate::traffic::language::quantity::float;

/// One test and what it found.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// What was tested, such as `size of a frame`.
    pub what: String,
    /// The test: `KS`, `chi2`, `lag-1`, `Hurst`, `rate`.
    pub test: &'static str,
    /// Values that were tested.
    pub values: usize,
    /// What the model says, where that is one figure.
    pub wanted: Option<f64>,
    /// The figure that was found: the statistic, the correlation, the rate.
    pub found: f64,
    /// How often a law that is kept looks as bad or worse, both draws together; for tests of a law.
    pub p: Option<f64>,
    /// The same where so many tests were made that some look bad by chance; see [`correct`].
    pub corrected: Option<f64>,
    /// The least `p`, or the largest relative difference.
    pub bound: f64,
    /// Whether it is within the bound.
    pub pass: bool,
}

/// The least corrected p-value of laws that are kept: one command in a million is a false alarm.
pub const LEAST_P: f64 = 1e-6;
/// The p of a first draw from which on a law is suspected: one true law in twenty is.
const SUSPECT: f64 = 0.05;
/// How many times as many values a suspected law is then tested by.
const MORE: usize = 8;
/// What makes other values of a seed.
const AGAIN: u64 = 1 << 63;
/// How far a correlation or a Hurst parameter may be off.
const CORRELATION: f64 = 0.05;
/// How far a rate may be off, if its spread lets one see that.
const RATE: f64 = 0.01;

/// Runs every test of a model with these arguments, with at most so many values each.
pub fn check(model: &Model, call: &Call, seed: u64, values: usize) -> Vec<Checked> {
    let streams = Streams::new(seed, model.name());
    let claims = model.claims(call);
    let again = Streams::new(seed ^ AGAIN, model.name());
    let mut found: Vec<Checked> =
        claims.iter().map(|claim| confirmed(claim, call, [&streams, &again], values)).collect();
    if !claims.iter().any(|claim| matches!(claim.says, Says::Rate(_))) {
        found.extend(rates(model, call, &streams, values));
    }
    found
}

/// Tests a claim; a law that looks as one true one in twenty does is tested by other values, eight times as
/// many, which decide: what is broken shows in them, however little the first ones showed of it.
///
/// A true law is suspected with the chance s, and then has a second p of x or less with the chance x,
/// whatever the first one was. So s times the second p is the p of both draws together.
pub(super) fn confirmed(
    claim: &Claim,
    call: &Call,
    [first, again]: [&Streams; 2],
    count: usize,
) -> Checked {
    let found = test(claim, call, first, count);
    let Some(before) = found.p.filter(|p| *p <= SUSPECT) else { return found };
    let checked = test(claim, call, again, MORE * count);
    // Of values that cost much there are no more.
    let times = checked.values / found.values.max(1);
    let what = format!("{}, drawn again {times} times as long after p = {before:.2}", found.what);
    let p = checked.p.map(|p| SUSPECT * p);
    let pass = p.is_none_or(|p| p > LEAST_P);
    Checked { what, p, corrected: p, pass, ..checked }
}

/// Corrects the p of all tests that are judged together (Holm, "A simple sequentially rejective multiple test
/// procedure", Scandinavian Journal of Statistics 6, 1979): the chance that any of them fails where all laws
/// are kept is that of one.
pub fn correct<'a>(checked: impl IntoIterator<Item = &'a mut Checked>) {
    let mut laws: Vec<&mut Checked> = checked.into_iter().filter(|one| one.p.is_some()).collect();
    laws.sort_by(|a, b| a.p.partial_cmp(&b.p).unwrap_or(Ordering::Equal));
    let (all, mut before) = (laws.len(), 0.0_f64);
    for (at, one) in laws.into_iter().enumerate() {
        let share = stats::count(all - at) * one.p.unwrap_or(1.0);
        before = before.max(share.min(1.0));
        one.corrected = Some(before);
        one.pass = before > LEAST_P;
    }
}

/// Tests one claim.
pub(super) fn test(claim: &Claim, call: &Call, streams: &Streams, count: usize) -> Checked {
    // A mean is seen worse than a law, and costs less.
    let times = if matches!(claim.says, Says::Rate(_)) { 10 } else { 1 };
    let values = (claim.values)(call, streams, times * count);
    match &claim.says {
        Says::Follows(law) if law.is_whole() => chi_squared(claim, &values, law),
        Says::Follows(law) => kolmogorov(claim, values, law),
        Says::FollowsRounded(law) => chi_squared(claim, &values, law),
        Says::Correlation(wanted) => {
            let found = statistics::lag_one(&values);
            near(claim, "lag-1", values.len(), (*wanted, found))
        }
        Says::Hurst(wanted) => {
            let found = statistics::hurst(&values);
            near(claim, "Hurst", values.len(), (*wanted, found))
        }
        Says::Rate(wanted) | Says::RateBelowTails(wanted) => of_sessions(claim, &values, *wanted),
    }
}

/// Bytes and seconds of independent sessions, one after the other.
fn of_sessions(claim: &Claim, values: &[f64], wanted: f64) -> Checked {
    let sessions: Vec<(f64, f64)> =
        values.as_chunks::<2>().0.iter().map(|[bytes, time]| (*bytes, *time)).collect();
    let (found, error) = statistics::ratio(&sessions, 0.5);
    let bound = RATE.max(statistics::four_errors(sessions.len()) * error / wanted);
    judged_rate(claim.what.to_owned(), sessions.len(), (wanted, found), bound)
}

fn near(claim: &Claim, test: &'static str, values: usize, (wanted, found): (f64, f64)) -> Checked {
    let bound = CORRELATION;
    let pass = (found - wanted).abs() <= bound * wanted.abs();
    let what = claim.what.to_owned();
    Checked {
        what,
        test,
        values,
        wanted: Some(wanted),
        found,
        p: None,
        corrected: None,
        bound,
        pass,
    }
}

fn kolmogorov(claim: &Claim, mut values: Vec<f64>, law: &Law) -> Checked {
    let (found, p) = statistics::kolmogorov(&mut values, law);
    of_law(claim, "KS", values.len(), found, p)
}

fn chi_squared(claim: &Claim, values: &[f64], law: &Law) -> Checked {
    let (found, p) = statistics::chi_squared(values, law);
    of_law(claim, "chi2", values.len(), found, p)
}

fn of_law(claim: &Claim, test: &'static str, values: usize, found: f64, p: f64) -> Checked {
    let (what, pass) = (claim.what.to_owned(), p > LEAST_P);
    Checked {
        what,
        test,
        values,
        wanted: None,
        found,
        p: Some(p),
        corrected: Some(p),
        bound: LEAST_P,
        pass,
    }
}

/// The rates of a run in virtual time against the model's: within 1 %, or within four standard
/// errors where the run is too short to tell.
fn rates(model: &Model, call: &Call, streams: &Streams, values: usize) -> Vec<Checked> {
    let messages = preview(call, streams, Nanos::MAX, 10 * values);
    let ways = [(Direction::Forward, "rate forward"), (Direction::Backward, "rate backward")];
    let wanted = (model.rates)(call);
    let tested = ways.into_iter().zip(wanted).filter(|(_, wanted)| *wanted > 0.0);
    let memory = model.claims(call).into_iter().find_map(|claim| match claim.says {
        Says::Hurst(hurst) => Some(hurst),
        _ => None,
    });
    let hurst = memory.unwrap_or(0.5);
    tested.map(|(way, wanted)| rate(&messages, way, wanted, hurst)).collect()
}

fn rate(messages: &[Message], (way, what): (Direction, &str), wanted: f64, hurst: f64) -> Checked {
    let found = BATCHES.map(|count| {
        let batches = batches(messages, way, count);
        let (ratio, error) = statistics::ratio(&batches, hurst);
        (ratio, statistics::four_errors(batches.len()) * error / wanted)
    });
    // Sessions that span short batches make these look more alike than they are.
    let bound = found.iter().fold(RATE, |most, (_, error)| most.max(*error));
    let values = messages.iter().filter(|message| message.direction == way).count();
    judged_rate(format!("{what}, bytes per second"), values, (wanted, found[0].0), bound)
}

fn judged_rate(what: String, values: usize, (wanted, found): (f64, f64), bound: f64) -> Checked {
    Checked {
        what,
        test: "rate",
        values,
        wanted: Some(wanted),
        found,
        p: None,
        corrected: None,
        bound,
        pass: (found / wanted - 1.0).abs() <= bound,
    }
}

/// Bytes and seconds of stretches with equally many messages, without the first tenth: sessions that a train
/// finds when it begins are none of its own.
fn batches(messages: &[Message], way: Direction, count: usize) -> Vec<(f64, f64)> {
    let messages = &messages[messages.len() / 10..];
    let size = (messages.len() / count).max(1);
    let mut batches = Vec::new();
    for start in (0..messages.len().saturating_sub(size)).step_by(size) {
        let part = &messages[start..start + size];
        let one_way = part.iter().filter(|message| message.direction == way);
        let bytes = one_way.map(|message| float(message.bytes.count())).sum();
        batches.push((bytes, messages[start + size].at.since(part[0].at).seconds()));
    }
    batches
}

/// Many tell the error of what is independent, few that of what lasts.
const BATCHES: [usize; 2] = [50, 9];
