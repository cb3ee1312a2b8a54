//! The sampler's columns of one end: 100 readings a second, delta-coded.

use btu_core::sample::Series;
use btu_core::units::Nanos;
use btu_sys::cpu::Whereabouts;

use super::end::Shared;

/// Raw readings, room for all of which is reserved before the run.
#[derive(Debug)]
pub(super) struct Sampler {
    rows: Vec<[i64; COLUMNS]>,
    cpus: Vec<u32>,
}

impl Sampler {
    /// Room for the readings of `longest`, up to a limit.
    pub(super) fn reserve(longest: Nanos) -> Self {
        let readings = longest.count() / PERIOD.count() + 2;
        let readings = usize::try_from(readings).unwrap_or(MOST).min(MOST);
        Self { rows: Vec::with_capacity(readings), cpus: Vec::with_capacity(MOST_CPUS) }
    }

    /// Takes a reading of `end` at `now`. Once the room is used up, nothing is taken any more.
    pub(super) fn take(&mut self, end: &Shared, now: Nanos) {
        let Some(started) = end.started() else { return };
        self.look_for_thread(end);
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
    }

    /// CPUs on which the data thread was seen, if it may move at all.
    pub(super) fn cpus(&self) -> &[u32] {
        &self.cpus
    }

    fn look_for_thread(&mut self, end: &Shared) {
        let Some(cpu) = end.whereabouts.get().and_then(Whereabouts::cpu) else { return };
        if self.cpus.len() < self.cpus.capacity() && !self.cpus.contains(&cpu) {
            self.cpus.push(cpu);
        }
    }

    /// The readings as the journal keeps them; `None` where the run was too short for any.
    pub(super) fn series(&self) -> Option<Series> {
        let column = |index: usize| deltas(self.rows.iter().map(|row| row[index]));
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

/// The longest time between two readings, or from the start to the first, in which nothing moved.
///
/// `None` for fewer than two readings. The resolution is the sampler's period.
pub(super) fn longest_pause(series: &Series) -> Option<Nanos> {
    let times = sums(&series.t_ns);
    if times.len() < 2 {
        return None;
    }
    let (mut since, mut bytes, mut longest) = (0, 0, 0);
    for (now, moved) in times.into_iter().zip(sums(&series.user_bytes)) {
        if moved > bytes {
            (since, bytes) = (now, moved);
        }
        longest = longest.max(now - since);
    }
    Some(Nanos::new(u64::try_from(longest).unwrap_or(0)))
}

/// The first value, then differences.
fn deltas(values: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut last = 0;
    values.map(|value| value - std::mem::replace(&mut last, value)).collect()
}

/// The values of a delta-coded column.
fn sums(column: &[i64]) -> Vec<i64> {
    column
        .iter()
        .scan(0, |sum, step| {
            *sum += step;
            Some(*sum)
        })
        .collect()
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Time between two readings.
pub(super) const PERIOD: Nanos = Nanos::from_millis(10);
/// Readings kept at most per end: 40 s.
const MOST: usize = 4000;
const COLUMNS: usize = 7;
/// CPUs kept at most per data thread.
const MOST_CPUS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn series(rows: &[(i64, i64)]) -> Series {
        let t_ns = deltas(rows.iter().map(|row| row.0));
        let user_bytes = deltas(rows.iter().map(|row| row.1));
        Series { t_ns, user_bytes, ..Series::default() }
    }

    #[test]
    fn columns_are_delta_coded_and_come_back() {
        let values = [5, 9, 9, 4, -3];
        assert_eq!(deltas(values.into_iter()), [5, 4, 0, -5, -7]);
        assert_eq!(sums(&deltas(values.into_iter())), values);
    }

    #[test]
    fn the_longest_pause_is_the_longest_time_without_progress() {
        let rows = [(10, 100), (20, 200), (30, 200), (40, 200), (50, 300), (60, 300)];
        assert_eq!(longest_pause(&series(&rows)), Some(Nanos::new(20)));
    }

    #[test]
    fn a_start_that_does_not_start_is_a_pause() {
        assert_eq!(longest_pause(&series(&[(10, 0), (20, 0), (30, 1)])), Some(Nanos::new(20)));
    }

    #[test]
    fn one_reading_shows_no_pause() {
        assert_eq!(longest_pause(&series(&[(10, 0)])), None);
        assert_eq!(longest_pause(&Series::default()), None);
    }
}
