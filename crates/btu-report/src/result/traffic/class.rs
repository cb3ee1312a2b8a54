//! How many sessions of an application class a path carries.

use btu_core::traffic::analysis::Carried;
use btu_core::traffic::analysis::Totals;
use btu_core::traffic::class;
use serde::Deserialize;
use serde::Serialize;

/// What the path carries of an application class, the worst flow and pass deciding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrafficClassResult {
    /// The class.
    pub class: String,
    /// The most sessions that met its limits in every pass.
    pub most_sessions: Option<u32>,
    /// The next number of sessions, which did not.
    pub fails_at_sessions: Option<u32>,
    /// Which limit these missed; empty where none were tried.
    pub fails_by: String,
    /// The sessions that the figures below are of: the most that met the limits, or the fewest that were tried.
    pub sessions: u32,
    /// The cell of these sessions.
    pub at_cell: u32,
    /// How far delays may be off between two hosts, seconds; smaller ones are null. Null where one clock measured them.
    pub delays_bound_s: Option<f64>,
    /// Mean over flows of the median delay, seconds.
    pub delay_p50_s: Option<f64>,
    /// 99th percentile of delay, seconds; as the other figures of delay of blocks that were read.
    pub delay_p99_s: Option<f64>,
    /// The same where blocks that nobody had read count with the time for which they had waited: no less than this,
    /// seconds. The class is held to the longer of both.
    pub delay_p99_at_least_s: Option<f64>,
    /// 99.9th percentile.
    pub delay_p999_s: Option<f64>,
    /// 99th percentile less the smallest (RFC 5481).
    pub pdv_p99_s: Option<f64>,
    /// Share of datagrams that never came (RFC 7680).
    pub lost_share: Option<f64>,
    /// Share of those that came, after a later one (RFC 4737, 3.4).
    pub reordered_share: Option<f64>,
    /// R of the E-model (ITU-T G.107), 0 to 100; null for what is no call, and where two clocks hide it in a pass.
    pub call_r: Option<f64>,
    /// The mean opinion score of that, 1 to 4.5.
    pub call_mos: Option<f64>,
    /// True where limits of the class were set for this sheet.
    pub limits_set: bool,
    /// The 99th percentile of delay that a session bears, seconds.
    pub limit_delay_p99_s: Option<f64>,
    /// The same less the smallest delay.
    pub limit_pdv_p99_s: Option<f64>,
    /// The share of datagrams that may be lost.
    pub limit_lost_share: Option<f64>,
    /// The 99th percentile of delay over the smallest one.
    pub limit_slowdown: Option<f64>,
    /// Of what all sessions offer, the least that is carried.
    pub limit_carried_share: Option<f64>,
    /// Of an even share of mu, the least that a session gets.
    pub limit_mu_share: Option<f64>,
    /// Limits that were not judged, since no run has their figure, such as delays between clocks that cannot be compared.
    pub limits_not_judged: Vec<String>,
    /// Where limits and parameters come from; (?) marks what was not compared with the text.
    pub source: String,
}

pub(super) fn class(carried: &Carried) -> TrafficClassResult {
    let runs = &carried.at.runs;
    let most = |of: fn(&Totals) -> Option<f64>| runs.iter().filter_map(of).max_by(f64::total_cmp);
    let known = class::by_name(&carried.class);
    let worst = carried.at.worst_call().filter(|_| known.is_some_and(|class| class.is_call));
    let fails = carried.fails_at.as_ref();
    TrafficClassResult {
        class: carried.class.clone(),
        most_sessions: carried.most,
        fails_at_sessions: fails.map(|(at, _)| *at),
        fails_by: fails.map(|(_, why)| why.clone()).unwrap_or_default(),
        sessions: carried.at.cell.sessions,
        at_cell: carried.at.cell.id,
        delays_bound_s: carried.at.delay_bound_s(),
        delay_p50_s: most(|run| run.known(run.delay_p50)),
        delay_p99_s: most(|run| run.known(run.delay_p99)),
        delay_p99_at_least_s: most(|run| run.known(run.delay_p99_at_least)),
        delay_p999_s: most(|run| run.known(run.delay_p999)),
        pdv_p99_s: most(|run| run.pdv_p99),
        lost_share: most(|run| run.worst_loss),
        reordered_share: most(|run| run.reordered),
        call_r: worst.map(|rating| rating.r),
        call_mos: worst.map(|rating| rating.mos),
        limits_set: known.is_some_and(|class| class.limits != carried.limits),
        limit_delay_p99_s: carried.limits.delay_p99_s,
        limit_pdv_p99_s: carried.limits.pdv_p99_s,
        limit_lost_share: carried.limits.loss,
        limit_slowdown: carried.limits.slowdown,
        limit_carried_share: carried.limits.carried,
        limit_mu_share: carried.limits.share,
        limits_not_judged: carried.not_judged.iter().map(ToString::to_string).collect(),
        source: known.map_or_else(String::new, |class| class.source.to_owned()),
    }
}
