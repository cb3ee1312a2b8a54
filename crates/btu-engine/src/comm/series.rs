//! The sampler's columns of one end, delta-coded: 100 readings a second, fewer in long runs.

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
    /// The time from one reading to the next; doubled each time the room is used up.
    period: Nanos,
    pauses: Pauses,
}

/// Times without progress. They are followed reading by reading, so that none goes with its readings.
#[derive(Clone, Copy, Debug, Default)]
struct Pauses {
    /// When the last byte was seen to have moved, and how many had then.
    since: i64,
    bytes: i64,
    longest: i64,
    readings: u64,
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
            period: PERIOD,
            pauses: Pauses::default(),
        }
    }

    /// Takes a reading of `end` at `now`, its thread being on `cpu`. Once the room is used up, every
    /// second reading makes room, and they come half as often: they cover any run from end to end.
    pub(super) fn take(&mut self, end: &Shared, now: Nanos, cpu: Option<u32>) {
        let Some(started) = end.started() else { return };
        self.note_cpu(cpu);
        if self.rows.capacity() == 0 {
            return;
        }
        let kernel = end.connection.tcp_info();
        let read = |field: fn(&btu_sys::tcp_info::TcpInfo) -> Option<u64>| {
            kernel.as_ref().and_then(field).map_or(0, signed)
        };
        self.keep([
            signed(now.since(started).count()),
            signed(end.progress.bytes()),
            read(btu_sys::tcp_info::TcpInfo::cwnd),
            read(btu_sys::tcp_info::TcpInfo::unacked),
            read(btu_sys::tcp_info::TcpInfo::rtt_us),
            read(btu_sys::tcp_info::TcpInfo::total_retrans),
            read(btu_sys::tcp_info::TcpInfo::snd_wnd),
        ]);
        self.next = now.saturating_add(self.period);
    }

    /// Allocates nothing; without room there are no readings.
    fn keep(&mut self, row: [i64; COLUMNS]) {
        if self.rows.len() == self.rows.capacity() {
            let mut place = 0_usize;
            self.rows.retain(|_| {
                place += 1;
                !place.is_multiple_of(2)
            });
            self.period = self.period * 2;
        }
        if self.rows.len() < self.rows.capacity() {
            self.pauses.note(row[0], row[1]);
            self.rows.push(row);
        }
    }

    /// True if the last reading is as long ago as readings are apart.
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
        let longest = u64::try_from(self.pauses.longest).unwrap_or(0);
        (self.pauses.readings > 1).then(|| Nanos::new(longest))
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

impl Pauses {
    fn note(&mut self, now: i64, moved: i64) {
        if moved > self.bytes {
            (self.since, self.bytes) = (now, moved);
        }
        self.longest = self.longest.max(now - self.since);
        self.readings += 1;
    }
}

/// The first value, then differences.
fn deltas(values: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut last = 0;
    values.map(|value| value - std::mem::replace(&mut last, value)).collect()
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Time between two readings, as long as there is room for all.
pub(super) const PERIOD: Nanos = Nanos::from_millis(10);
/// Readings kept at most per end: 40 s, and of longer runs as many in all.
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
        let mut sampler = Sampler::reserve(Nanos::from_secs(3600));
        for (place, sum) in (1..).zip(bytes) {
            sampler.keep([place * 10, sum, 0, 0, 0, 0, 0]);
        }
        sampler
    }

    #[test]
    fn readings_that_no_longer_fit_make_room_for_those_of_the_whole_run() {
        let mut sampler = Sampler::reserve(Nanos::from_secs(3600));
        let (room, mut now) = (sampler.rows.capacity(), 0);
        // An hour, as the sampler itself asks for readings.
        while now < 3_600_000 {
            sampler.keep([now, now / 3, 0, 0, 0, 0, 0]);
            now += i64::try_from(sampler.period.count() / 1_000_000).unwrap();
        }
        let times: Vec<i64> = sampler.rows.iter().map(|row| row[0]).collect();
        assert_eq!(sampler.rows.capacity(), room, "more room was made");
        assert!(times.len() >= room / 2, "{}", times.len());
        assert!(times[0] == 0 && now - times[times.len() - 1] < 2_000, "{times:?}");
        let steps: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(steps.iter().all(|step| *step == steps[0]), "{steps:?}");
        assert_eq!(sampler.series().unwrap().t_ns.iter().sum::<i64>(), times[times.len() - 1]);
    }

    #[test]
    fn a_pause_outlives_the_readings_that_showed_it() {
        let bytes = (1..=100).chain([100, 100, 100]).chain(101..=20_000);
        assert_eq!(sampler(bytes).longest_pause(), Some(Nanos::new(30)));
    }

    #[test]
    fn without_room_nothing_is_read() {
        let mut sampler = Sampler::default();
        sampler.keep([1; COLUMNS]);
        assert_eq!((sampler.series(), sampler.longest_pause()), (None, None));
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
