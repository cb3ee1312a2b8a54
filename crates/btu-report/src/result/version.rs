//! The version of each kind of JSON document, and the keys that its minor versions added to a `result.json`.
//!
//! Semantic: added keys raise the minor version, keys that go or mean something else the major one.

/// Version of the shape of a run's `result.json`.
pub const SCHEMA_VERSION: &str = "1.1.0";
/// Version of the shape of a ping-pong's `result.json`.
pub const PINGPONG_SCHEMA_VERSION: &str = "1.4.0";
/// Version of the shape of a traffic measurement's `result.json`.
pub const TRAFFIC_SCHEMA_VERSION: &str = "1.7.0";
/// Version of the shape of the document of `btu explain --json`.
pub(crate) const EXPLAIN_SCHEMA_VERSION: &str = "1.2.0";
/// Version of the shape of the document of `btu explain DIR --json`, the second runs of a result.
pub const SECOND_RUNS_SCHEMA_VERSION: &str = "1.0.0";
/// Version of the shape of the document of `btu score --json`.
pub(crate) const SCORE_SCHEMA_VERSION: &str = "1.0.0";

/// The keys that came after 1.0, each with the minor version that brought it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaterKeys(&'static [(u32, &'static str)]);

static RUN: LaterKeys =
    LaterKeys(&[(1, EVERY_REASON), (1, "note"), (1, "black_boxes_cpu_s_per_gb")]);
static PINGPONG: LaterKeys = LaterKeys(&[
    (1, EVERY_REASON),
    (2, "comparisons"),
    (2, "average_of_3000_exchanges"),
    (2, "statistic_ci95_us"),
    (2, "within_round_ci95_us"),
    (3, "order"),
    (3, "overlapping_sizes_moved"),
    (4, "connections_us"),
    (4, "unclear"),
    (4, "without_effect"),
]);
static TRAFFIC: LaterKeys = LaterKeys(&[
    (1, "method"),
    (2, EVERY_REASON),
    (3, "clocks"),
    (3, "delay_bound_s"),
    (3, "delay_hidden"),
    (4, "classes"),
    (5, "asking_cpu_s"),
    (5, "answering_cpu_s"),
    (5, "notices"),
    (4, "noticed"),
    (4, "unverified_models"),
    (6, "asked_bit_s"),
    (6, "best_lost_share"),
    (6, "least_delay_bound_s"),
    (6, "lower_bound"),
    (6, "sent_bit_s"),
    (7, "carried_rate_bit_s"),
    (7, "delay_p99_at_least_s"),
    (7, "latency_bound_s"),
    (7, "lost_bytes"),
    (7, "rho_of_way"),
    (7, "run_totals"),
    (7, "clusters"),
    (7, "connections"),
    (7, "sheet"),
    (7, "series"),
    (7, "application_class"),
    (7, "delays"),
    (7, "arrival_ci95_bit_s"),
    (7, "carried_ci95_bit_s"),
    (7, "offered_ratio_ci95"),
    (7, "window_delay_ci95_s"),
    (7, "at_cell"),
    (7, "delays_bound_s"),
    (7, "limits_set"),
    (7, "limit_delay_p99_s"),
    (7, "limit_pdv_p99_s"),
    (7, "limit_lost_share"),
    (7, "limit_slowdown"),
    (7, "limit_carried_share"),
    (7, "limit_mu_share"),
    (7, "phase_s"),
    (7, "retransmitted_bytes"),
    (7, "least_rtt_s"),
    (7, "refused_datagrams"),
    (7, "blocks_interrupted"),
    (7, "blocks_unfinished"),
    (7, "blocks_waiting"),
    (7, "rtt_above_least_s"),
    (7, "delay_min_s"),
    (7, "delay_mean_s"),
    (7, "delay_byte_mean_s"),
    (7, "pacing_period_us"),
    (7, "pacing_late_p99_us"),
    (7, "congestion"),
    (7, "nodelay"),
    (7, "send_buffer_bytes"),
    (7, "receive_buffer_bytes"),
    (7, "mss_bytes"),
    (7, "window_clamp_bytes"),
]);

impl LaterKeys {
    /// Those of the kind that names itself by `verb`; a run has none.
    pub(crate) fn of(verb: Option<&str>) -> &'static Self {
        match verb {
            None => &RUN,
            Some("pingpong") => &PINGPONG,
            Some(_) => &TRAFFIC,
        }
    }

    /// True where a document of `minor` may lack `key`: it, or what its reason belongs to, came later.
    pub(crate) fn may_lack(&self, minor: u32, key: &str) -> bool {
        let listed = |name: &str| self.0.iter().any(|(since, key)| *since > minor && *key == name);
        let explained = key.strip_suffix(REASON);
        listed(key) || explained.is_some_and(|explained| listed(explained) || listed(EVERY_REASON))
    }
}

/// What the name of a key ends in that says why another is null.
pub(crate) const REASON: &str = "_reason";
/// Stands for all of them.
const EVERY_REASON: &str = "*_reason";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_may_lack_what_came_later_and_nothing_else() {
        let traffic = LaterKeys::of(Some("sweep"));
        for (minor, key, may) in [
            (0, "method", true),
            (1, "method", false),
            (1, "knee_reason", true),
            (2, "knee_reason", false),
            (2, "delay_bound_s_reason", true),
            (2, "delay_bound_s", true),
            (3, "delay_bound_s", false),
            (0, "knee", false),
        ] {
            assert_eq!(traffic.may_lack(minor, key), may, "{minor} {key}");
        }
        assert!(LaterKeys::of(None).may_lack(0, "note"));
        assert!(!LaterKeys::of(Some("pingpong")).may_lack(0, "note"));
    }
}
