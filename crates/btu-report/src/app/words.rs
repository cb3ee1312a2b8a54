//! Programs, bytes and reasons as one would say them.

use btu_core::app::analysis::ProgramFigures;
use btu_core::app::analysis::Ratio;
use btu_core::app::analysis::Undivided;
use btu_core::app::ranks::Count;
use btu_core::units::Bytes;
use btu_core::words::several;

use crate::number;

/// `CG, 2 ranks`
pub(super) fn name(program: &ProgramFigures) -> String {
    let ranks = several(program.program.ranks, "rank");
    format!("{}, {ranks}", program.program.kernel.to_uppercase())
}

/// Why the time of a job is not divided.
pub(crate) fn undivided(cause: &Undivided) -> String {
    match cause {
        Undivided::Oversubscribed(detail) => format!("oversubscribed: {detail}"),
        Undivided::Undated(messages) => {
            let messages = several(messages, "message");
            format!("undated: {messages} did not say when they were sent")
        }
        Undivided::Untimed => "no launch has a time".to_owned(),
    }
}

/// `1.42 [1.38, 1.46]`
pub(super) fn ratio(ratio: &Ratio) -> String {
    let bounds = ratio.interval.map(|bounds| [bounds.low, bounds.high]);
    let interval = bounds.map(|_| format!(" {}", number::interval(bounds, number::ratio)));
    format!("{}{}", number::ratio(ratio.ratio), interval.unwrap_or_default())
}

/// In 10^6 bytes; what is nothing has no digits.
pub(super) fn megabytes(bytes: Bytes) -> String {
    number::measured(as_float(bytes.count()) / 1e6, "")
}

/// `12 of 0.416 MB`, or a dash.
pub(super) fn counted(of: Count) -> String {
    match of.count {
        0 => number::NONE.to_owned(),
        count => format!("{count} of {} MB", megabytes(of.bytes)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "bytes of a run are far below 2^53")]
fn as_float(whole: u64) -> f64 {
    whole as f64
}
