//! Activities alone that were disturbed, or are invalid.

use super::*;
use crate::sample::HostSample;

/// `cpu` alone in pass 1 as `change` leaves it, beside an untouched pass 2.
fn base_of_pass_1(change: impl Fn(&mut crate::journal::AloneSample)) -> Journal {
    let mut journal = passes(&[1, 1]);
    let Some(Record::Alone(base)) = journal.records.first_mut() else { unreachable!() };
    base.host = Some(HostSample { elapsed_ns: Nanos::from_secs(2), ..HostSample::default() });
    change(base);
    journal
}

fn bases_doubted(analysis: &Analysis) -> Vec<(u32, String)> {
    let doubt = |run: &ScoredRun| {
        let flag = run.flags.iter().find(|flag| flag.name == "base-disturbed")?;
        Some((run.pass, flag.detail.clone()))
    };
    analysis.runs.iter().filter_map(doubt).collect()
}

/// A base that was slowed flatters every slowdown of its pass: its four loaded cells say so.
#[test]
fn a_disturbed_base_is_told_by_the_cells_of_its_pass_and_by_no_others() {
    let disturbed = base_of_pass_1(|base| {
        base.host.as_mut().unwrap().foreign_cpu_ns = Some(Nanos::from_millis(500));
    });
    let found = bases_doubted(&analyse(&disturbed));
    assert_eq!(found.iter().map(|(pass, _)| *pass).collect::<Vec<_>>(), [1; 4]);
    assert_eq!(
        found[0].1,
        "cpu alone in pass 1 was disturbed: other programs used 25.0 % > 2 % of a CPU"
    );
    assert_eq!(analyse(&disturbed).not_rankable_reasons, Vec::<String>::new());
    assert!(bases_doubted(&analyse(&base_of_pass_1(|_| ()))).is_empty());
    assert!(
        bases_doubted(&analyse(&passes(&[1, 1]))).is_empty(),
        "an earlier journal says nothing"
    );
}

#[test]
fn an_invalid_base_counts_flagged_and_is_not_rankable() {
    let mut journal = base_of_pass_1(|base| base.invalid.push("governor changed".into()));
    let found = analyse(&journal);
    assert_eq!(bases_doubted(&found)[0].1, "cpu alone in pass 1 is invalid: governor changed");
    assert_eq!(found.runs[0].slowdown, Some(1.25));
    assert_reason(&found, "1 of 2 runs of an activity alone is invalid and not repeated");
    let mut again = journal.records[0].clone();
    let Record::Alone(sample) = &mut again else { unreachable!() };
    sample.attempt = 2;
    journal.records.push(again.clone());
    assert_reason(
        &analyse(&journal),
        "1 of 2 runs of an activity alone is invalid after its repeat; the first is cpu, pass 1: \
         governor changed",
    );
    let Record::Alone(sample) = &mut again else { unreachable!() };
    (sample.attempt, sample.invalid) = (2, Vec::new());
    sample.sample.units *= 2.0;
    journal.records.pop();
    journal.records.push(again.clone());
    let found = analyse(&journal);
    assert_eq!((found.activity_runs[0].attempts, found.runs[0].slowdown), (2, Some(2.5)));
    assert_eq!(found.not_rankable_reasons, Vec::<String>::new());
}
