//! Whether a line of a journal can have been measured: a file may say anything, and pages are drawn to its scale.

use super::Record;
use crate::pingpong::sample::ForeignPoint;
use crate::sample::ActivitySample;
use crate::sample::CellSample;
use crate::sample::CommSample;
use crate::sample::Quantiles;
use crate::sample::VerificationSample;
use crate::units::Nanos;

/// The first number of a record that nobody measured, with its name and its bound. What a black box says by its own
/// clock is judged elsewhere: a host that lies must not make the journal of another one unreadable.
pub(super) fn implausible(record: &Record) -> Option<String> {
    match record {
        Record::Alone(alone) => of_activity(&alone.sample),
        Record::Capture(capture) => of_run(&capture.run),
        Record::Cell(run) => of_run(run),
        Record::Verification(check) => of_check(check),
    }
}

/// The same of a point of another program's curve.
pub(super) fn implausible_point(point: &ForeignPoint) -> Option<String> {
    let all = std::iter::once(point.time_us).chain(point.interval_us.into_iter().flatten());
    all.chain(point.rounds_us.iter().copied()).find_map(|value| microseconds("time_us", value))
}

fn of_run(run: &CellSample) -> Option<String> {
    let activity = || run.activity_sample.as_ref().and_then(of_activity);
    run.comm.as_ref().and_then(of_comm).or_else(activity)
}

fn of_comm(comm: &CommSample) -> Option<String> {
    let connections = comm.connections.iter().map(|one| one.elapsed_ns);
    std::iter::once(comm.elapsed_ns).chain(connections).find_map(elapsed)
}

fn of_activity(sample: &ActivitySample) -> Option<String> {
    let counts = (0.0..=MOST).contains(&sample.units);
    let units = || format!("units: {:e} is no number from 0 to {MOST:e}", sample.units);
    (!counts).then(units).or_else(|| elapsed(sample.elapsed_ns))
}

fn of_check(check: &VerificationSample) -> Option<String> {
    let round_trips = [
        ("direct_rtt_us", check.direct_rtt_us),
        ("emulated_rtt_us", check.emulated_rtt_us),
        ("delayed_rtt_us", check.delayed_rtt_us),
    ];
    let asked = microseconds("delay_asked_us", check.delay_asked_us);
    asked.or_else(|| round_trips.into_iter().find_map(|(name, found)| of_quantiles(name, found?)))
}

fn of_quantiles(name: &str, found: Quantiles) -> Option<String> {
    let all = [found.mean, found.p50, found.p99, found.max];
    all.into_iter().find_map(|value| microseconds(name, value))
}

fn elapsed(time: Nanos) -> Option<String> {
    (time > LONGEST).then(|| format!("elapsed_ns: {} is more than a year", time.count()))
}

fn microseconds(name: &str, value: f64) -> Option<String> {
    let is_long = value.abs() > LONGEST.seconds() * 1e6;
    is_long.then(|| format!("{name}: {value:e} is more than a year"))
}

/// Nobody counts further in a run: a thread that does a unit each nanosecond needs eleven days.
const MOST: f64 = 1e15;
/// Plans of more than 30 days are refused, of any program that ever wrote a journal.
const LONGEST: Nanos = Nanos::from_secs(366 * 24 * 3600);

#[cfg(test)]
mod tests {
    use crate::journal::Record;
    use crate::journal::codec;

    fn refused(line: &str) -> String {
        let text = format!("{ALONE}\n{line}\n");
        codec::read::<Record>("samples.jsonl", text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn what_nobody_can_have_measured_is_refused_with_its_line() {
        for (key, value, cause) in [
            ("\"units\":7.5", "\"units\":1e60", "units: 1e60 is no number from 0 to 1e15"),
            ("\"units\":7.5", "\"units\":-1", "units: -1e0 is no number from 0 to 1e15"),
            (
                "\"elapsed_ns\":1000",
                "\"elapsed_ns\":99999999999999999",
                "elapsed_ns: 99999999999999999 is more than a year",
            ),
        ] {
            let told = refused(&ALONE.replace(key, value));
            let wanted =
                format!("samples.jsonl:2: corrupted line ({cause}); 0 valid lines follow it");
            assert_eq!(told, wanted);
        }
        let text = format!("{ALONE}\nno line\n{ALONE}\n");
        let told = codec::read::<Record>("samples.jsonl", text.as_bytes()).unwrap_err().to_string();
        assert!(told.ends_with("; 1 valid line follows it"), "{told}");
        let check = r#"{"kind":"verification","when":"before","link":"test-active","delay_asked_us":1e200,
            "pattern_packets":0,"pattern_expected":0,"pattern_dropped":0,"mismatches":[]}"#;
        assert!(
            refused(&check.replace('\n', "")).contains("delay_asked_us: 1e200 is more than a year")
        );
    }

    /// A line as a run writes it.
    const ALONE: &str = r#"{"kind":"alone","activity":"cpu","pass":1,"position":1,"started_at":"2026-11-21T00:00:00Z","sample":{"units":7.5,"elapsed_ns":1000,"threads":1,"cpu_ns":null,"unit":"u","failures":[]},"flags":[]}"#;
}
