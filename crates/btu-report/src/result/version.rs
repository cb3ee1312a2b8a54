//! The version of each kind of JSON document, and what its minor versions added to a `result.json`.
//!
//! Semantic: added keys and rules raise the minor version, keys that go or mean something else the major one.

/// Version of the shape of a run's `result.json`.
pub const SCHEMA_VERSION: &str = "1.8.0";
/// Version of the shape of the `result.json` of parallel applications.
pub const APP_SCHEMA_VERSION: &str = "1.0.0";
/// Version of the shape of a ping-pong's `result.json`.
pub const PINGPONG_SCHEMA_VERSION: &str = "1.7.0";
/// Version of the shape of a traffic measurement's `result.json`.
pub const TRAFFIC_SCHEMA_VERSION: &str = "3.5.0";
/// Version of the shape of a file service's `result.json`.
pub const FILE_SCHEMA_VERSION: &str = "1.1.0";
/// Version of the shape of a mesh's `result.json`.
pub const MESH_SCHEMA_VERSION: &str = "1.0.0";
/// Version of the shape of the document of `btu explain --json`.
pub(crate) const EXPLAIN_SCHEMA_VERSION: &str = "1.3.0";
/// Version of the shape of the document of `btu explain DIR --json`, the second runs of a result.
pub const SECOND_RUNS_SCHEMA_VERSION: &str = "1.0.0";
/// Version of the shape of the document of `btu score --json`.
pub(crate) const SCORE_SCHEMA_VERSION: &str = "1.0.0";

/// The keys that came after the first version of a major one, each with the minor version that brought it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaterKeys(&'static [(u32, &'static str)]);

static RUN: LaterKeys = LaterKeys(&[
    (1, EVERY_REASON),
    (1, "note"),
    (1, "black_boxes_cpu_s_per_gb"),
    (5, "btu_idle_ci95_mbps"),
    (5, "share_of_idle_percent"),
    (5, "share_of_idle_ci95_percent"),
    (8, "goodput_p95_mbps"),
    (8, "cv"),
]);
static APP: LaterKeys = LaterKeys(&[]);
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
    (6, "timed_units"),
    (7, "asked_rounds"),
    (7, "costs"),
    (7, "left_out"),
    (7, "stop"),
]);
static FILE: LaterKeys = LaterKeys(&[(1, "target"), (1, "server_greeting")]);
static MESH: LaterKeys = LaterKeys(&[]);
static TRAFFIC: LaterKeys = LaterKeys(&[
    (1, "pacing_blocks"),
    (1, "pacing_late_blocks"),
    (1, "timed_flows"),
    (1, "slowdowns"),
    (2, "adjustment"),
    (2, "path_mtu"),
    (2, "receipts"),
    (4, "silent_reports"),
    (4, "cut_after_s"),
    (4, "probes_due"),
    (4, "foreign_probes"),
    (4, "loaded_probes"),
    (4, "pending_probes"),
    (5, "goals"),
]);

/// The rules whose flags and remarks came after the first version of a run's result, each with the minor version that
/// brought it.
static LATER_RULES: &[(u32, &str)] = &[
    (2, "faster-loaded"),
    (3, "base-disturbed"),
    (3, "many-resumes"),
    (3, "torn-pass"),
    (4, "cpu-quota"),
    (6, "device-errors"),
    (6, "heat"),
    (6, "swapping"),
    (8, "clock-step"),
];

/// The rules that judged otherwise before, each with the minor version of a run's result that brought how they do now.
static REJUDGED: &[(u32, &str)] = &[
    (3, "activity-outlier"),
    (3, "asymmetry"),
    (3, "clock-difference"),
    (3, "dip"),
    (3, "outlier"),
    (6, "two-groups"),
];

/// True for the name of a rule that judged otherwise in a run's result of `minor`.
pub(crate) fn is_rejudged(minor: u32, name: &str) -> bool {
    REJUDGED.iter().any(|(since, rule)| *since > minor && *rule == name)
}

/// The minor version of a run's result from which on its intervals are Student's t, however many passes it has;
/// before, a bootstrap gave those of so many.
pub(crate) const T_SINCE: u32 = 3;
pub(crate) const BOOTSTRAP_PASSES: u64 = 10;

/// True for the name of a rule that a run's result of `minor` does not know.
pub(crate) fn is_later_rule(minor: u32, name: &str) -> bool {
    LATER_RULES.iter().any(|(since, rule)| *since > minor && *rule == name)
}

/// The minor version of a run's result from which on a remark of several passes names the one whose figure it tells, and a
/// result most of whose runs were disturbed is not ranked.
pub(crate) const PASSES_NAMED_SINCE: u32 = 5;

/// The minor version of a run's result from which on what a queue dropped is told apart from the drops that were asked for.
pub(crate) const QUEUES_TOLD_SINCE: u32 = 6;

/// The minor version of a run's result from which on a stall knows of a program that stood still, and an outlier of what its
/// repeats have as well.
pub(crate) const REASONS_WEIGHED_SINCE: u32 = 7;

/// The minor version of a traffic result from which on what was silent has no delay variation, a call of which nothing came
/// is rated, and sessions share a link where their total stays.
pub(crate) const SILENCE_SINCE: u32 = 4;

/// The minor version of a traffic result from which on a sheet has a line for each figure of which it has no value, too.
pub(crate) const EVERY_LINE_SINCE: u32 = 1;
/// That from which on the knee of delay of a sheet names the loads alone that it is fitted to.
pub(crate) const FITTED_LOADS_SINCE: u32 = 3;
/// The minor version of the result of a ping-pong from which on one with faults is not complete.
pub(crate) const FAULTS_COUNT_SINCE: u32 = 5;

/// The major versions before the present one, by verb, each with its last minor one: only these were ever written.
static EARLIER: &[(&str, u32, u32)] = &[("traffic", 1, 7), ("traffic", 2, 0)];

/// True for the version of a result whose keys mean something else by now.
pub(crate) fn is_of_earlier_major(verb: Option<&str>, (major, minor): (u32, u32)) -> bool {
    let is_it =
        |(of, was, last): &(&str, u32, u32)| Some(*of) == verb && *was == major && minor <= *last;
    EARLIER.iter().any(is_it)
}

impl LaterKeys {
    /// Those of the kind that names itself by `verb`; a run has none.
    pub(crate) fn of(verb: Option<&str>) -> &'static Self {
        match verb {
            None => &RUN,
            Some("app") => &APP,
            Some("file") => &FILE,
            Some("mesh") => &MESH,
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
        let pingpong = LaterKeys::of(Some("pingpong"));
        for (minor, key, may) in [
            (0, "comparisons", true),
            (1, "comparisons", true),
            (2, "comparisons", false),
            (0, "curves_reason", true),
            (1, "curves_reason", false),
            (1, "comparisons_reason", true),
            (3, "unclear", true),
            (4, "unclear", false),
            (6, "costs", true),
            (7, "costs", false),
            (6, "stop_reason", true),
            (0, "curves", false),
        ] {
            assert_eq!(pingpong.may_lack(minor, key), may, "{minor} {key}");
        }
        assert!(LaterKeys::of(None).may_lack(0, "note"));
        assert!(!LaterKeys::of(Some("pingpong")).may_lack(0, "note"));
        let traffic = LaterKeys::of(Some("traffic"));
        assert!(!traffic.may_lack(0, "method"));
        assert!(traffic.may_lack(1, "receipts") && !traffic.may_lack(2, "receipts"));
    }

    #[test]
    fn a_rule_is_later_than_the_versions_before_it_alone() {
        assert!(is_later_rule(1, "faster-loaded") && !is_later_rule(2, "faster-loaded"));
        assert!(!is_later_rule(0, "clock-difference"));
        assert!(is_rejudged(2, "dip") && !is_rejudged(3, "dip"));
        assert!(is_rejudged(5, "two-groups") && !is_rejudged(6, "two-groups"));
    }

    #[test]
    fn only_versions_that_were_written_are_of_an_earlier_major_one() {
        for (verb, version, is_earlier) in [
            (Some("traffic"), (1, 0), true),
            (Some("traffic"), (1, 7), true),
            (Some("traffic"), (1, 8), false),
            (Some("traffic"), (0, 1), false),
            (Some("traffic"), (2, 0), true),
            (Some("traffic"), (2, 1), false),
            (Some("traffic"), (3, 0), false),
            (Some("pingpong"), (1, 0), false),
            (None, (1, 0), false),
        ] {
            assert_eq!(is_of_earlier_major(verb, version), is_earlier, "{verb:?} {version:?}");
        }
    }
}
