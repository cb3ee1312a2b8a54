//! Live progress on stderr: cells done, time left, current figure. Drawn between runs only, so
//! that nothing wakes a CPU while a cell is measured.

use std::time::Instant;

use btu_control::Progress;
use btu_control::Task;
use btu_control::TimeLeft;
use btu_control::Watcher;
use btu_control::When;
use btu_core::journal::Record;
use btu_core::sample::CaptureSample;
use btu_core::sample::HostSample;
use btu_core::sample::VerificationSample;
use btu_core::units::Nanos;

use crate::output;
use crate::progress::Form;
use crate::progress::span;

/// A progress bar on a terminal, a line per cell elsewhere, nothing when quiet.
pub(crate) struct Progressing {
    started: Instant,
    form: Form,
}

impl Progressing {
    pub(crate) fn new(quiet: bool) -> Self {
        let form = Form::of_stderr(quiet);
        Self { started: Instant::now(), form }
    }

    /// Takes the bar away before the report is printed.
    pub(crate) fn finish(&self) {
        self.form.finish();
    }
}

impl Watcher for Progressing {
    fn begins(&mut self, task: &Task) {
        match &self.form {
            Form::Bar(bar) => bar.set_message(name(task)),
            Form::Lines if matches!(task, Task::Verify(_)) => output::message(&name(task)),
            Form::Lines | Form::Silent => {}
        }
    }

    fn kept(&mut self, record: &Record, progress: &Progress) {
        match &self.form {
            Form::Bar(bar) => {
                bar.set_length(progress.total);
                bar.set_prefix(short(progress));
                bar.set_position(progress.done);
            }
            Form::Lines => output::message(&line(record, progress)),
            Form::Silent => {}
        }
    }

    fn now(&self) -> Nanos {
        self.started.elapsed().into()
    }
}

/// `pass 2 of 2 to 5, 14 s to 60 s left, BTU 1234 Mb/s`
fn figures(progress: &Progress) -> String {
    let Progress { pass, least_passes: least, most_passes: most, .. } = progress;
    let of = if least == most { least.to_string() } else { format!("{least} to {most}") };
    format!("pass {pass} of {of}, {} left{}", range(progress.left), score(progress))
}

/// The score so far.
fn score(progress: &Progress) -> String {
    progress.btu_mbps.map_or_else(String::new, |btu| format!(", BTU {btu:.0} Mb/s"))
}

/// `12/246 14 s to 60 s left, BTU 1234 Mb/s`: what leaves room for the name of a cell in 80 columns.
fn short(progress: &Progress) -> String {
    let Progress { done, total, left, .. } = progress;
    format!("{done}/{total} {} left{}", range(*left), score(progress))
}

/// `41 s`, `14 s to 60 s`, `at most 4 s`
fn range(left: TimeLeft) -> String {
    let (least, most) = (span(left.least), span(left.most));
    match left.least {
        Nanos::ZERO if left.most > Nanos::ZERO => format!("at most {most}"),
        _ if least == most => most,
        _ => format!("{least} to {most}"),
    }
}

/// What was kept: `12/246 SEND/video/none 1234.5 Mb/s (pass 1 of 2 to 5, ...)`.
pub(super) fn line(record: &Record, progress: &Progress) -> String {
    let what = match record {
        Record::Alone(alone) => {
            let doubt = doubt(&alone.invalid, alone.host.as_ref());
            format!("{} alone{}{doubt}", alone.activity, again(alone.attempt))
        }
        Record::Capture(sample) => return captured(sample),
        Record::Cell(sample) => {
            let rate = sample.comm.as_ref().and_then(|comm| comm.bytes.per(comm.elapsed_ns));
            let rate = rate
                .map_or_else(|| "no data".to_owned(), |rate| format!("{:.1} Mb/s", rate.mbps()));
            format!(
                "{}{} {rate}{}",
                sample.cell,
                again(sample.attempt),
                doubt(&sample.invalid, Some(&sample.host))
            )
        }
        Record::Verification(check) if check.mismatches.is_empty() => {
            return format!("emulation of {} checked{}", check.link, not_foretold(check));
        }
        Record::Verification(check) => return check.mismatches.join("; "),
    };
    format!("{}/{} {what} ({})", progress.done, progress.total, figures(progress))
}

/// What of a check could only be tried for losses.
fn not_foretold(check: &VerificationSample) -> String {
    match check.not_foretold.as_slice() {
        [] => String::new(),
        tried => format!(", for unasked losses alone of {}", tried.join(" and ")),
    }
}

/// Why a run may be repeated, if there is a reason.
fn doubt(invalid: &[String], host: Option<&HostSample>) -> String {
    if let Some(why) = invalid.first() {
        return format!(", invalid: {why}");
    }
    let disturbed = host.and_then(btu_core::run::anomaly::disturbance);
    disturbed.map_or_else(String::new, |why| format!(", disturbed: {why}"))
}

/// `SEND/telnet/none again, 1234 packets captured`
fn captured(sample: &CaptureSample) -> String {
    let packets = sample.file.as_ref().map_or_else(
        || format!("without its packets: {}", sample.not_captured),
        |file| format!("{} packets captured", file.packets),
    );
    format!("{} again, {packets}", sample.run.cell)
}

/// Says of a repeat that it is one.
const fn again(attempt: u32) -> &'static str {
    if attempt > 1 { " again" } else { "" }
}

/// What begins.
pub(super) fn name(task: &Task) -> String {
    match task {
        Task::Capture(again) => format!("{} again, with capture", again.run.cell),
        Task::Alone(run) => format!("{} alone{}", run.activity, again(run.attempt)),
        Task::Cell(run) => format!("{}{}", run.cell, again(run.attempt)),
        Task::Verify(When::Before) => "checking the emulation".to_owned(),
        Task::Verify(When::After) => "checking the emulation again".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use btu_control::CellRun;
    use btu_core::run::cell::ActivityName;
    use btu_core::run::cell::Application;
    use btu_core::run::cell::Case;
    use btu_core::run::cell::Cell;
    use btu_core::sample::Outcome;
    use btu_core::units::Bytes;

    use super::*;
    use crate::run::local;

    fn at(pass: u32, passes: [u32; 2], left_s: [u64; 2]) -> Progress {
        let [least, most] = left_s.map(Nanos::from_secs);
        Progress {
            done: 12,
            total: 246,
            pass,
            least_passes: passes[0],
            most_passes: passes[1],
            left: TimeLeft { least, most },
            btu_mbps: None,
        }
    }

    #[test]
    fn a_range_is_told_where_it_is_not_decided_yet_how_long_a_run_will_be() {
        for (progress, told) in [
            (at(1, [2, 5], [31, 80]), "pass 1 of 2 to 5, 31 s to 80 s left"),
            (at(5, [5, 6], [240, 900]), "pass 5 of 5 to 6, 4 min to 15 min left"),
            (at(3, [3, 3], [0, 4]), "pass 3 of 3, at most 4 s left"),
            (at(3, [3, 3], [0, 0]), "pass 3 of 3, 0 s left"),
            (at(1, [1, 1], [41, 41]), "pass 1 of 1, 41 s left"),
        ] {
            assert_eq!(figures(&progress), told);
        }
    }

    #[test]
    fn a_check_says_of_what_it_knew_nothing_beforehand() {
        let link = "test-active".to_owned();
        let mut check = VerificationSample { link, ..VerificationSample::default() };
        let told = |check: &VerificationSample| {
            line(&Record::Verification(check.clone()), &at(1, [1, 1], [9, 9]))
        };
        assert_eq!(told(&check), "emulation of test-active checked");
        check.not_foretold = vec!["DL up: hold 1@9/9 5ms".to_owned(), "DR up: drop 1%".to_owned()];
        let tried = "for unasked losses alone of DL up: hold 1@9/9 5ms and DR up: drop 1%";
        assert_eq!(told(&check), format!("emulation of test-active checked, {tried}"));
    }

    #[test]
    fn a_repeat_says_that_it_is_one_and_what_was_invalid() {
        let application =
            Application { name: "video".to_owned(), message_bytes: Bytes::new(65_536) };
        let cell = Cell { case: Case::Send, application, activity: ActivityName::none() };
        let run = CellRun { cell, pass: 1, position: 3, attempt: 2, fixed_units: None };
        let mut sample = local::sample(&run, String::new(), Outcome::Complete);
        sample.invalid = vec!["clock step".to_owned()];
        let told = line(&Record::Cell(Box::new(sample.clone())), &at(1, [1, 1], [9, 9]));
        assert_eq!(
            told,
            "12/246 SEND/video/none again no data, invalid: clock step (pass 1 of 1, 9 s left)"
        );
        assert_eq!(name(&Task::Cell(run)), "SEND/video/none again");
        sample.host.elapsed_ns = Nanos::from_secs(1);
        sample.host.steal_ns = Some(Nanos::from_millis(30));
        assert_eq!(doubt(&sample.invalid, Some(&sample.host)), ", invalid: clock step");
        sample.invalid.clear();
        let disturbed = ", disturbed: the hypervisor stole 3.0 % > 1 % of the window";
        assert_eq!(doubt(&sample.invalid, Some(&sample.host)), disturbed);
    }
}
