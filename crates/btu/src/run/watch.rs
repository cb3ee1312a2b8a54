//! Live progress on stderr: cells done, time left, current figure. Drawn between runs only, so
//! that nothing wakes a CPU while a cell is measured.

use std::time::Instant;

use btu_control::Progress;
use btu_control::Task;
use btu_control::Watcher;
use btu_control::When;
use btu_core::journal::Record;
use btu_core::sample::CaptureSample;
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
                bar.set_prefix(figures(progress));
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

/// `pass 2, 41 s left, BTU 1234 Mb/s so far`
fn figures(progress: &Progress) -> String {
    let left = progress.left.map_or_else(String::new, |left| format!(", {} left", span(left)));
    let btu =
        progress.btu_mbps.map_or_else(String::new, |btu| format!(", BTU {btu:.0} Mb/s so far"));
    format!("pass {}{left}{btu}", progress.pass)
}

/// What was kept: `12/120 SEND/video/none 1234.5 Mb/s (pass 2, 41 s left)`.
pub(super) fn line(record: &Record, progress: &Progress) -> String {
    let what = match record {
        Record::Alone(alone) => format!("{} alone", alone.activity),
        Record::Capture(sample) => return captured(sample),
        Record::Cell(sample) => {
            let rate = sample.comm.as_ref().and_then(|comm| comm.bytes.per(comm.elapsed_ns));
            let rate = rate
                .map_or_else(|| "no data".to_owned(), |rate| format!("{:.1} Mb/s", rate.mbps()));
            format!("{} {rate}", sample.cell)
        }
        Record::Verification(check) if check.mismatches.is_empty() => {
            return format!("emulation of {} checked", check.link);
        }
        Record::Verification(check) => return check.mismatches.join("; "),
    };
    format!("{}/{} {what} ({})", progress.done, progress.total, figures(progress))
}

/// `SEND/telnet/none again, 1234 packets captured`
fn captured(sample: &CaptureSample) -> String {
    let packets = sample.file.as_ref().map_or_else(
        || format!("without its packets: {}", sample.not_captured),
        |file| format!("{} packets captured", file.packets),
    );
    format!("{} again, {packets}", sample.run.cell)
}

/// What begins.
pub(super) fn name(task: &Task) -> String {
    match task {
        Task::Capture(again) => format!("{} again, with capture", again.run.cell),
        Task::Alone(run) => format!("{} alone", run.activity),
        Task::Cell(run) => run.cell.to_string(),
        Task::Verify(When::Before) => "checking the emulation".to_owned(),
        Task::Verify(When::After) => "checking the emulation again".to_owned(),
    }
}
