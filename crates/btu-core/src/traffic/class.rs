//! Application classes of a quality-of-service sheet: what a session sends, and what it can bear.

mod edited;

use super::transport::Transport;
use crate::traffic::analysis::Totals;
use crate::traffic::figures::flow::rounded;
use crate::units::Nanos;

pub use edited::EditedLimits;

/// An application class.
#[derive(Debug)]
pub struct Class {
    /// The name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// What carries it.
    pub transport: Transport,
    /// What one session sends, without its duration.
    pub traffic: &'static str,
    /// The mean rate of a session, bit/s; 0 for one that takes what it gets.
    pub bit_s: f64,
    /// What a session can bear.
    pub limits: ClassLimits,
    /// Whether it is a telephone call, which the E-model rates.
    pub is_call: bool,
    /// Where limits and parameters come from; (?) marks what was not checked against the text.
    pub source: &'static str,
}

/// What a session can bear; `None` where it does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassLimits {
    /// 99th percentile of the delay of a block, seconds; one that nobody has read counts where it had waited longer.
    pub delay_p99_s: Option<f64>,
    /// 99th percentile less the smallest, seconds.
    pub pdv_p99_s: Option<f64>,
    /// Share of datagrams lost.
    pub loss: Option<f64>,
    /// 99th percentile of delay over the smallest.
    pub slowdown: Option<f64>,
    /// Of what all sessions offer, the least that the path carries: with less the queue grows as long as they
    /// last, and delays of a run say only how short it was.
    pub carried: Option<f64>,
    /// Of an even share of mu, the least that a session gets.
    pub share: Option<f64>,
}

/// Of a class with a schedule.
const SCHEDULED: ClassLimits = ClassLimits {
    delay_p99_s: None,
    pdv_p99_s: None,
    loss: None,
    slowdown: None,
    carried: Some(0.95),
    share: None,
};

/// Every class, by name.
pub static CLASSES: &[Class] = &[
    Class {
        name: "bulk",
        about: "files as large as the path lets through",
        transport: Transport::Tcp,
        traffic: "full(blocksize=64 KiB",
        bit_s: 0.0,
        limits: ClassLimits { share: Some(0.9), carried: None, ..SCHEDULED },
        is_call: false,
        source: "0.9 of an even share: ours",
    },
    Class {
        name: "mpeg",
        about: "frames of a film with its long memory, 24 a second, mean 27.8 kB",
        transport: Transport::Udp,
        traffic: "mpeg(film=starwars",
        bit_s: 27_800.0 * 8.0 * 24.0,
        limits: ClassLimits { delay_p99_s: Some(0.2), loss: Some(0.001), ..SCHEDULED },
        is_call: false,
        source: "Garrett, Willinger 1994 (?); limits ours (?)",
    },
    Class {
        name: "rpc",
        about: "calls of 1 kB, 100 a second on average",
        transport: Transport::Tcp,
        traffic: "burstq(blocksize=1 kB, period=exp(10 ms)",
        bit_s: 800_000.0,
        limits: ClassLimits { slowdown: Some(10.0), ..SCHEDULED },
        is_call: false,
        source: "slowdown 10 at p99: ours (?)",
    },
    Class {
        name: "teleconf",
        about: "conference frames, most as large as the one before, 25 a second, mean 8.3 kB",
        transport: Transport::Udp,
        traffic: "teleconf(memory=dar",
        bit_s: 8320.0 * 8.0 * 25.0,
        limits: ClassLimits { delay_p99_s: Some(0.2), loss: Some(0.01), ..SCHEDULED },
        is_call: false,
        source: "Heyman, Tabatabai, Lakshman 1992 (?); Y.1541 (?)",
    },
    Class {
        name: "voice",
        about: "G.711 with RTP: 172 B each 20 ms",
        transport: Transport::Udp,
        traffic: "burstq(blocksize=172 B, period=20 ms",
        bit_s: 172.0 * 8.0 * 50.0,
        limits: ClassLimits {
            delay_p99_s: Some(0.15),
            pdv_p99_s: Some(0.05),
            loss: Some(0.01),
            ..SCHEDULED
        },
        is_call: true,
        source: "RFC 3551; G.114, Y.1541 (?)",
    },
    Class {
        name: "web",
        about: "single objects of web pages at random, 10.7 kB on average, one a second; no whole pages",
        transport: Transport::Tcp,
        traffic: "burstq(blocksize=clamp(lognormal(10710 B, 25032 B), 100 B, 2 MB), period=exp(1 s)",
        bit_s: 10_710.0 * 8.0,
        limits: ClassLimits { delay_p99_s: Some(3.0), ..SCHEDULED },
        is_call: false,
        source: "sizes of TR 25.892; 3 s: ours (?)",
    },
];

/// The class of this name.
pub fn by_name(name: &str) -> Option<&'static Class> {
    CLASSES.iter().find(|class| class.name == name)
}

/// What runs with one number of sessions say together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// Runs that met the limits.
    pub met: u32,
    /// Why they are not met.
    pub missed: Option<String>,
}

impl ClassLimits {
    /// Whether runs meet the limits: the first that does not decides, unless its generator fell behind. Such a
    /// run says more of the host than of the path, and only [`TRIES`] of them make a number of sessions
    /// one that cannot be had here.
    pub fn tried<'a>(
        &self,
        runs: impl Iterator<Item = &'a Totals>,
        sessions: u32,
        mu: Option<f64>,
    ) -> Tried {
        let (mut tried, mut behind) = (Tried::default(), 0);
        for run in runs {
            match self.missed(run, sessions, mu) {
                None => tried.met += 1,
                Some(why) if run.host_limited > 0 => {
                    behind += 1;
                    if behind == TRIES {
                        let told = || format!("{why}; the generator fell behind in {TRIES} runs");
                        tried.missed.get_or_insert_with(told);
                    }
                }
                Some(why) => drop(tried.missed.get_or_insert(why)),
            }
        }
        tried
    }

    /// Whether a run is one that tells nothing of the limits, since its generator fell behind.
    pub fn is_void(&self, run: &Totals, sessions: u32, mu: Option<f64>) -> bool {
        run.host_limited > 0 && self.missed(run, sessions, mu).is_some()
    }

    /// What the path did not carry, where that is more than a queue that only varies leaves at the end. Results that
    /// do not tell what was carried keep what they said.
    fn left_behind(&self, run: &Totals) -> Option<String> {
        let carried = run.carried.filter(|_| run.arrival > 0.0)? / run.arrival;
        let least = self.carried.filter(|least| carried < *least)?;
        let [carried, least] = [carried, least].map(|share| share * 100.0);
        Some(format!(
            "{} % of what was offered was carried, limit {}",
            short(carried),
            round(least)
        ))
    }

    /// The first limit that a run with so many sessions does not meet, in words.
    pub fn missed(&self, run: &Totals, sessions: u32, mu: Option<f64>) -> Option<String> {
        if let Some(broken) = &run.broken {
            return Some(broken.clone());
        }
        let over = |what: &str, found: Option<f64>, most: Option<f64>, unit: f64, name: &str| {
            let (found, most) = (found?, most?);
            let told =
                || format!("{what} {} {name}, limit {}", short(found * unit), round(most * unit));
            (found > most).then(told)
        };
        let share = run.least_rate.zip(mu).map(|(rate, mu)| rate * f64::from(sessions) / mu);
        let starved = self.share.zip(share).filter(|(least, share)| share < least);
        let (p99, delay) = match run.delay_p99_bound() {
            Some(least) => ("p99 of delay at least", Some(least)),
            None => ("p99 of delay", run.delay_p99),
        };
        over(p99, delay, self.delay_p99_s, 1e3, "ms")
            .or_else(|| over("PDV", run.pdv_p99, self.pdv_p99_s, 1e3, "ms"))
            .or_else(|| over("loss", run.worst_loss, self.loss, 100.0, "%"))
            .or_else(|| over("slowdown", run.slowdown, self.slowdown, 1.0, "times"))
            .or_else(|| self.left_behind(run))
            .or_else(|| {
                starved.map(|(least, share)| format!("{share:.2} of an even share, limit {least}"))
            })
    }
}

impl ClassLimits {
    /// The limits of which no run has the figure, by the names that an option gives them: nobody has judged those.
    /// So it is with delays between two clocks that cannot be compared, and with losses of a stream.
    pub fn not_judged(&self, runs: &[Totals], mu: Option<f64>) -> Vec<&'static str> {
        type Figure = fn(&Totals) -> Option<f64>;
        let share = self.share.filter(|_| mu.is_none());
        let judged: [(&str, Option<f64>, Figure); 6] = [
            ("delay", self.delay_p99_s, |run| run.delay_p99_bound().or(run.delay_p99)),
            ("pdv", self.pdv_p99_s, |run| run.pdv_p99),
            ("loss", self.loss, |run| run.worst_loss),
            ("slowdown", self.slowdown, |run| run.slowdown),
            ("carried", self.carried, |run| run.carried),
            ("share", share, |_| None),
        ];
        let is_silent = |of: &Figure| runs.iter().all(|run| of(run).is_none());
        let silent = judged.iter().filter(|(_, limit, of)| limit.is_some() && is_silent(of));
        silent.map(|(name, ..)| *name).collect()
    }

    /// How long a run has to last in which what a session can bear is tried, where `time` is wanted: several times the
    /// longest delay that it bears. Sessions that overload a path would else meet the limit by their end alone.
    pub fn time(&self, time: Nanos) -> Nanos {
        let bears = self.delay_p99_s.map_or(0.0, |most| most * DELAYS * 1e9);
        time.max(Nanos::new(rounded(bears)))
    }
}

/// Delays of a run: in a shorter one a queue that only varies would leave more than the least share allows.
const DELAYS: f64 = 5.0;

/// Runs in which the generator fell behind before the host is believed to be too slow for so many sessions.
const TRIES: u32 = 3;

/// Four digits: what is just beyond its limit must not look like it.
fn short(value: f64) -> String {
    let decimals = [1000.0, 100.0, 10.0].iter().filter(|from| value.abs() < **from).count();
    format!("{value:.decimals$}")
}

/// A limit as it was written.
fn round(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests;
