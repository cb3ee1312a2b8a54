//! The congestion window as the sender's kernel told it, on the clock of the capture.
//!
//! A capture does not carry it. The sampler reads it on a clock that begins just before the first
//! write; the first segment of that write is in the capture, at the sender's end or one way behind it.

use std::borrow::Cow;

use serde::Deserialize;
use serde::Serialize;

use crate::sample::ConnectionSample;
use crate::sample::Series;
use crate::tcp::Stream;
use crate::units::Bytes;
use crate::units::Nanos;

/// Readings of a congestion window, times since the connection's start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CongestionWindow {
    /// In order of time.
    pub readings: Vec<(Nanos, Bytes)>,
    /// Why there are none; empty where there are.
    pub missing: Cow<'static, str>,
}

impl CongestionWindow {
    /// None, and why.
    pub const fn missing(why: &'static str) -> Self {
        Self { readings: Vec::new(), missing: Cow::Borrowed(why) }
    }

    /// Of the connection of which `stream` carries the data.
    pub(super) fn of(stream: &Stream, sample: &ConnectionSample) -> Self {
        let Some(series) = &sample.sender.series else {
            return Self::missing("not available: nobody asked the sender's kernel meanwhile");
        };
        let Some(segment) = segment_bytes(sample) else {
            return Self::missing("not available: the size of a segment is not known");
        };
        let Some(begin) = first_write(stream, sample.bytes) else {
            return Self::missing("not available: the first write is not in the capture");
        };
        let placed = |(at, segments): (Nanos, u64)| {
            (begin.saturating_add(at), Bytes::new(segments.saturating_mul(segment)))
        };
        Self { readings: readings(series).map(placed).collect(), missing: Cow::default() }
    }
}

fn segment_bytes(sample: &ConnectionSample) -> Option<u64> {
    let info = sample.sender.tcp_info.as_ref();
    info.and_then(|info| info.snd_mss_bytes).or(sample.sender.options.mss_bytes)
}

/// When the first write began, as its sender saw it: what came before is a word of the handshake, since
/// all that the user read was written behind it.
fn first_write(stream: &Stream, read: Bytes) -> Option<Nanos> {
    let spoken = stream.counts.new_bytes.checked_sub(read.count())?;
    let begin = i64::try_from(spoken).ok().filter(|spoken| *spoken <= LONGEST_WORD)? + FIRST_PLACE;
    let first = stream.sent.iter().find(|sent| sent.end > begin && sent.start < sent.end)?;
    Some(first.at.since(Nanos::new(stream.to_sender.count() / 2)))
}

/// Times since the first write, and segments. A kernel that did not answer said 0.
fn readings(series: &Series) -> impl Iterator<Item = (Nanos, u64)> {
    let sums = |deltas: &[i64]| {
        let running = deltas.iter().scan(0_i64, |sum, delta| {
            *sum = sum.saturating_add(*delta);
            Some(u64::try_from(*sum).unwrap_or(0))
        });
        running.collect::<Vec<_>>()
    };
    let (times, windows) = (sums(&series.t_ns), sums(&series.cwnd_segments));
    let both = times.into_iter().map(Nanos::new).zip(windows);
    both.filter(|(_, segments)| *segments > 0)
}

/// Behind the SYN.
const FIRST_PLACE: i64 = 1;
/// 'ready', and the token in front of it.
const LONGEST_WORD: i64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::analysis::synthetic;
    use crate::tcp::Counts;
    use crate::tcp::Mark;
    use crate::tcp::Sent;

    /// A SYN, a word of 5 bytes at 1 ms, 2000 bytes from 9 ms on; the sender is 400 us away and back.
    fn stream() -> Stream {
        let sent = |at: u64, start: i64, end: i64| Sent {
            at: Nanos::from_micros(at),
            start,
            end,
            mark: Mark::New,
            is_pushed: false,
            fills_window: false,
            flight: 0,
        };
        Stream {
            counts: Counts { new_bytes: 2005, ..Counts::default() },
            sent: vec![
                sent(0, 0, 1),
                sent(1000, 1, 6),
                sent(9000, 6, 1006),
                sent(9100, 1006, 2006),
            ],
            to_sender: Nanos::from_micros(400),
            ..Stream::default()
        }
    }

    fn sample(bytes: u64) -> ConnectionSample {
        let run = synthetic::run(&synthetic::plan(1), "SEND/video/none", 1, 10, 0.0);
        let mut sample = run.comm.unwrap().connections.remove(0);
        sample.bytes = Bytes::new(bytes);
        sample.sender.options.mss_bytes = Some(1448);
        sample.sender.tcp_info = None;
        sample.sender.series = Some(Series {
            t_ns: vec![10_000_000, 10_000_000, 10_000_000, 5_000_000],
            cwnd_segments: vec![10, 10, -20, 5],
            ..Series::default()
        });
        sample
    }

    #[test]
    fn readings_stand_where_the_first_write_was_sent() {
        let found = CongestionWindow::of(&stream(), &sample(2000));
        let wanted = [(18_800, 14_480), (28_800, 28_960), (43_800, 7_240)];
        let wanted = wanted.map(|(at, bytes)| (Nanos::from_micros(at), Bytes::new(bytes)));
        assert_eq!((found.readings.as_slice(), &*found.missing), (&wanted[..], ""));
    }

    #[test]
    fn what_is_missing_is_said() {
        let why = |sample: &ConnectionSample| {
            let found = CongestionWindow::of(&stream(), sample);
            assert!(found.readings.is_empty());
            found.missing
        };
        let mut silent = sample(2000);
        silent.sender.series = None;
        assert!(why(&silent).ends_with("nobody asked the sender's kernel meanwhile"));
        let mut unknown = sample(2000);
        unknown.sender.options.mss_bytes = None;
        assert!(why(&unknown).ends_with("the size of a segment is not known"));
        for cut in [2006, 1_000_000] {
            assert!(why(&sample(cut)).ends_with("the first write is not in the capture"));
        }
    }
}
