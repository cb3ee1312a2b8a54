//! The sampler's columns of one end: 100 readings a second, delta-coded.

use btu_core::sample::Series;
use btu_core::units::Nanos;

use super::end::Shared;

/// Raw readings, room for all of which is reserved before the run.
#[derive(Debug, Default)]
pub(super) struct Sampler {
    rows: Vec<[i64; COLUMNS]>,
    cpus: Vec<u32>,
    /// When the next reading is due.
    next: Nanos,
}

impl Sampler {
    /// Room for the readings of `longest`, up to a limit.
    pub(super) fn reserve(longest: Nanos) -> Self {
        let readings = longest.count() / PERIOD.count() + 2;
        let readings = usize::try_from(readings).unwrap_or(MOST).min(MOST);
        Self {
            rows: Vec::with_capacity(readings),
            cpus: Vec::with_capacity(MOST_CPUS),
            next: Nanos::ZERO,
        }
    }

    /// Takes a reading of `end` at `now`, its thread being on `cpu`. Once the room is used up, nothing
    /// is taken any more.
    pub(super) fn take(&mut self, end: &Shared, now: Nanos, cpu: Option<u32>) {
        let Some(started) = end.started() else { return };
        self.note_cpu(cpu);
        if self.rows.len() == self.rows.capacity() {
            return;
        }
        let kernel = end.connection.tcp_info();
        let read = |field: fn(&btu_sys::tcp_info::TcpInfo) -> Option<u64>| {
            kernel.as_ref().and_then(field).map_or(0, signed)
        };
        self.rows.push([
            signed(now.since(started).count()),
            signed(end.progress.bytes()),
            read(btu_sys::tcp_info::TcpInfo::cwnd),
            read(btu_sys::tcp_info::TcpInfo::unacked),
            read(btu_sys::tcp_info::TcpInfo::rtt_us),
            read(btu_sys::tcp_info::TcpInfo::total_retrans),
            read(btu_sys::tcp_info::TcpInfo::snd_wnd),
        ]);
        self.next = now.saturating_add(PERIOD);
    }

    /// True if the last reading is a period ago.
    pub(super) fn is_due(&self, now: Nanos) -> bool {
        now >= self.next
    }

    /// CPUs on which the data thread was seen.
    pub(super) fn cpus(&self) -> &[u32] {
        &self.cpus
    }

    fn note_cpu(&mut self, cpu: Option<u32>) {
        let Some(cpu) = cpu else { return };
        if self.cpus.len() < self.cpus.capacity() && !self.cpus.contains(&cpu) {
            self.cpus.push(cpu);
        }
    }

    /// The longest time between two readings, or from the start to the first, in which no user byte
    /// moved. `None` for fewer than two readings; the resolution is the time between them.
    pub(super) fn longest_pause(&self) -> Option<Nanos> {
        let progress = self.rows.iter().map(|row| (row[0], row[1]));
        let pause = longest_pause(progress)?;
        (self.rows.len() > 1).then(|| Nanos::new(u64::try_from(pause).unwrap_or(0)))
    }

    /// The readings as the journal keeps them, thinned out where they would not fit into a line of
    /// it; `None` where the run was too short for any.
    pub(super) fn series(&self) -> Option<Series> {
        let step = self.rows.len().div_ceil(KEPT).max(1);
        let last = self.rows.len().saturating_sub(1);
        let is_kept = |place: usize| place.is_multiple_of(step) || place == last;
        let column = |index: usize| {
            let rows = self.rows.iter().enumerate().filter(|(place, _)| is_kept(*place));
            deltas(rows.map(|(_, row)| row[index]))
        };
        (!self.rows.is_empty()).then(|| Series {
            t_ns: column(0),
            user_bytes: column(1),
            cwnd_segments: column(2),
            unacked_segments: column(3),
            rtt_us: column(4),
            total_retrans: column(5),
            snd_wnd_bytes: column(6),
        })
    }
}

/// The longest time without progress in readings of (time, bytes) from zero on.
fn longest_pause(progress: impl Iterator<Item = (i64, i64)>) -> Option<i64> {
    let (mut since, mut bytes) = (0, 0);
    let pauses = progress.map(|(now, moved)| {
        if moved > bytes {
            (since, bytes) = (now, moved);
        }
        now - since
    });
    pauses.max()
}

/// The first value, then differences.
fn deltas(values: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut last = 0;
    values.map(|value| value - std::mem::replace(&mut last, value)).collect()
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Time between two readings.
pub(super) const PERIOD: Nanos = Nanos::from_millis(10);
/// Readings kept at most per end: 40 s.
const MOST: usize = 4000;
const COLUMNS: usize = 7;
/// Readings per end in a line of the journal: four ends take less than 16 KiB.
const KEPT: usize = 80;
/// CPUs kept at most per data thread.
const MOST_CPUS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    /// A sampler that took one reading each 10 ms: these bytes.
    fn sampler(bytes: impl IntoIterator<Item = i64>) -> Sampler {
        let mut sampler = Sampler::reserve(Nanos::ZERO);
        sampler.rows = (1..).zip(bytes).map(|(i, sum)| [i * 10, sum, 0, 0, 0, 0, 0]).collect();
        sampler
    }

    #[test]
    fn columns_are_delta_coded() {
        assert_eq!(deltas([5, 9, 9, 4, -3].into_iter()), [5, 4, 0, -5, -7]);
    }

    #[test]
    fn the_longest_pause_is_the_longest_time_without_progress() {
        let pause = sampler([100, 200, 200, 200, 300, 300]).longest_pause();
        assert_eq!(pause, Some(Nanos::new(20)));
    }

    #[test]
    fn a_start_that_does_not_start_is_a_pause() {
        assert_eq!(sampler([0, 0, 1]).longest_pause(), Some(Nanos::new(20)));
    }

    #[test]
    fn one_reading_shows_no_pause() {
        assert_eq!(sampler([0]).longest_pause(), None);
        assert_eq!(sampler([]).longest_pause(), None);
        assert_eq!(sampler([]).series(), None);
    }

    #[test]
    fn a_long_series_is_thinned_out_and_keeps_its_end() {
        for length in [1, 79, 80, 81, 1000, 4000] {
            let series = sampler((1..=length).map(|i| i * 7)).series().unwrap();
            assert!(series.t_ns.len() <= KEPT + 1, "{} of {length}", series.t_ns.len());
            assert_eq!(series.t_ns.iter().sum::<i64>(), length * 10);
            assert_eq!(series.user_bytes.iter().sum::<i64>(), length * 7);
        }
    }
}
