//! Where a measurement stood still on the way: passes are blocks of one mood of the machine, and a pass of two
//! evenings is none.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::journal::EventRecord;
use crate::journal::Journal;
use crate::journal::Record;
use crate::sample::Flag;
use crate::units::Nanos;
use crate::words::several;

/// What a reader must know of resumes, and of passes that were torn apart.
pub(super) fn warnings(journal: &Journal) -> Vec<Flag> {
    many_resumes(&journal.events).into_iter().chain(torn_pass(&journal.records)).collect()
}

fn many_resumes(events: &[EventRecord]) -> Option<Flag> {
    let resumes = events.iter().filter(|one| one.event == EventRecord::RESUMED).count();
    let detail = || format!("the run was gone on with {resumes} times > {MOST_RESUMES}");
    (resumes > MOST_RESUMES).then(|| Flag::new("many-resumes", detail()))
}

/// The longest gap inside a pass, where one is too long.
fn torn_pass(records: &[Record]) -> Option<Flag> {
    let runs: Vec<Run> = records.iter().filter_map(Run::of).collect();
    let within = |pair: &'_ [Run]| {
        let gap = pair[1].began.since(pair[0].ended);
        (pair[0].pass == pair[1].pass && gap > LONGEST_GAP).then_some((gap, pair[1].pass))
    };
    let gaps: Vec<(Nanos, u32)> = runs.windows(2).filter_map(within).collect();
    let (longest, pass) = gaps.iter().max()?;
    let minutes = |time: Nanos| time.seconds() / 60.0;
    let (found, limit) = (minutes(*longest), minutes(LONGEST_GAP));
    let torn = several(gaps.len(), "gap");
    let detail = format!(
        "{torn} inside a pass; the longest, {found:.0} min > {limit:.0} min, in pass {pass}"
    );
    Some(Flag::new("torn-pass", detail))
}

/// When a run that is scored began and ended.
struct Run {
    pass: u32,
    began: Nanos,
    ended: Nanos,
}

impl Run {
    /// `None` for what is not scored, and for a moment that is none.
    fn of(record: &Record) -> Option<Self> {
        let (pass, started_at, took) = match record {
            Record::Alone(alone) => {
                let took = alone.host.as_ref().map_or(alone.sample.elapsed_ns, |h| h.elapsed_ns);
                (alone.pass, &alone.started_at, took)
            }
            Record::Cell(sample) => (sample.pass, &sample.started_at, sample.host.elapsed_ns),
            Record::Capture(_) | Record::Verification(_) => return None,
        };
        let began = moment(started_at)?;
        Some(Self { pass, began, ended: began.saturating_add(took) })
    }
}

/// Since 1970, of a moment as RFC 3339 writes it; `None` for anything else.
fn moment(text: &str) -> Option<Nanos> {
    let moment = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    u64::try_from(moment.unix_timestamp_nanos()).ok().map(Nanos::new)
}

const MOST_RESUMES: usize = 3;

/// Longer than any repeat, any agent that comes back, and most pauses of a person.
const LONGEST_GAP: Nanos = Nanos::from_secs(1800);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::analysis::analyse;
    use crate::run::analysis::synthetic;

    /// `date -u -d 2026-11-21T12:00:00Z +%s`, and leap days.
    #[test]
    fn moments_are_seconds_since_1970() {
        let seconds = |text: &str| moment(text).map(|at| at.count() / 1_000_000_000);
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2026-11-21T12:00:00.123Z"), Some(1_795_262_400));
        assert_eq!(seconds("2000-03-01T00:00:00Z"), Some(951_868_800));
        for none in
            ["", "noon", "2026-13-01T00:00:00Z", "2026-11-21T12:00:00", "0000-01-01T00:00:00Z"]
        {
            assert_eq!(moment(none), None, "{none}");
        }
    }

    fn warned(events: usize, second_at: &str, second_pass: u32) -> Vec<(String, String)> {
        let mut journal = synthetic::journal(synthetic::plan(2));
        let resumed = synthetic::event(EventRecord::RESUMED);
        journal.events.extend(std::iter::repeat_n(resumed, events));
        let plan = journal.plan.clone();
        let mut first = synthetic::run(&plan, "SEND/video/none", 1, 100, 0.0);
        let mut second = synthetic::run(&plan, "RECV/video/none", second_pass, 100, 0.0);
        "2026-11-21T23:50:00.000Z".clone_into(&mut first.started_at);
        second_at.clone_into(&mut second.started_at);
        journal.records.extend([first, second].map(Record::from));
        let flags = analyse(&journal).warnings.into_iter().map(|flag| (flag.name, flag.detail));
        flags.filter(|(name, _)| name != "local-testbed" && name != "missing-cells").collect()
    }

    #[test]
    fn more_than_three_resumes_are_told() {
        assert_eq!(warned(3, "2026-11-21T23:50:01Z", 1), []);
        let told = warned(4, "2026-11-21T23:50:01Z", 1);
        let detail = "the run was gone on with 4 times > 3".to_owned();
        assert_eq!(told, [("many-resumes".to_owned(), detail)]);
    }

    /// The run before took a second.
    #[test]
    fn a_gap_of_more_than_half_an_hour_inside_a_pass_is_told_and_one_between_passes_is_not() {
        assert_eq!(warned(0, "2026-11-22T00:20:01Z", 1), []);
        let told = warned(0, "2026-11-22T00:35:01Z", 1);
        let detail = "1 gap inside a pass; the longest, 45 min > 30 min, in pass 1".to_owned();
        assert_eq!(told, [("torn-pass".to_owned(), detail)]);
        assert_eq!(warned(0, "2026-11-22T00:35:01Z", 2), []);
    }
}
