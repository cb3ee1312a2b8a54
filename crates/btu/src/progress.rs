//! How live progress shows: a bar on a terminal, lines elsewhere, nothing when quiet.

use std::io::IsTerminal;

use btu_core::units::Nanos;
use indicatif::ProgressBar;
use indicatif::ProgressDrawTarget;
use indicatif::ProgressStyle;

/// Where progress goes.
pub(crate) enum Form {
    /// A terminal.
    Bar(ProgressBar),
    /// A file or a pipe, one line after the other.
    Lines,
    /// Nowhere.
    Silent,
}

impl Form {
    /// The form for this standard error.
    pub(crate) fn of_stderr(quiet: bool) -> Self {
        let plain = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        match (quiet, std::io::stderr().is_terminal() && !plain) {
            (true, _) => Self::Silent,
            (false, true) => Self::Bar(bar()),
            (false, false) => Self::Lines,
        }
    }

    /// Takes the bar away before the report is printed.
    pub(crate) fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// A bar that is empty until somebody knows its length. Short: what a line of 80 columns cannot hold is not cleared
/// where the terminal writes `^C` behind it.
fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(u64::MAX), ProgressDrawTarget::stderr_with_hz(4));
    let style = ProgressStyle::with_template("{bar:10} {prefix} {wide_msg}");
    if let Ok(style) = style {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}

/// `41 s` or `12 min`.
pub(crate) fn span(time: Nanos) -> String {
    let seconds = time.seconds();
    if seconds < 120.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}
