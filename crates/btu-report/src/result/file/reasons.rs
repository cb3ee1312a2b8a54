//! Why a key of the `result.json` of a file service may be null.

use crate::result::silence::Reasons;

const NO_ROUND: &str = "no round came to its end";
const NO_INTERVAL: &str = "an interval needs three rounds";
const NO_RATIO: &str =
    "other programs took CPUs from it, or its rounds are too few: an interval needs three";
const ONE_CLIENT: &str = "one client has nobody to be compared with";
const NOT_READ: &str = "the samples say why it could not be read: not_available of their servers";
const NOT_WATCHED: &str = "watched for less than 0.2 s in all rounds, or its CPUs are not known";
const NOT_APART: &str = "watched for less than 0.2 s in all rounds, its CPUs are not known, or its clients and servers are \
                         processes, which look like those of others";

/// Why each key may be null.
pub(super) const REASONS: &Reasons = &[
    ("tool_version", "the journal does not name the program"),
    ("started_at", "the journal has no beginning"),
    ("finished_at", "the measurement was cut short"),
    ("target", "both hosts had servers of this program"),
    ("server_greeting", "both hosts had servers of this program, or the journal does not say"),
    ("mtu_bytes", "the path kept the MTU that it has"),
    ("path_mtu_bytes", "the path has no MTU of its own, or it could not be read"),
    ("offload", "the path has no devices of its own, or they could not be asked"),
    ("elapsed_s", NO_ROUND),
    ("elapsed_ci95_s", NO_INTERVAL),
    ("forward_rate_kib_s", "no byte went this way"),
    ("backward_rate_kib_s", "no byte went this way"),
    ("rate_kib_s", NO_ROUND),
    ("rate_ci95_kib_s", NO_INTERVAL),
    ("mean_elapsed_s", NO_ROUND),
    ("median_elapsed_s", ONE_CLIENT),
    ("jain", ONE_CLIENT),
    ("slowest_over_median", ONE_CLIENT),
    ("worst_client", ONE_CLIENT),
    ("finish_spread_s", ONE_CLIENT),
    ("server_cpu_percent_of_one", NOT_READ),
    ("server_cpu_percent_of_all", NOT_READ),
    ("host_cpu_percent", NOT_WATCHED),
    ("foreign_cpu_percent", NOT_APART),
    ("calls_per_s", NOT_READ),
    ("calls_per_kib", NOT_READ),
    ("server_cpu_s_per_gib", NOT_READ),
    ("disk_per_delivered", NOT_READ),
    ("sum_over_unidirectional", NO_RATIO),
    ("sum_over_unidirectional_ci95", NO_RATIO),
    ("rate_ratio", NO_ROUND),
    ("server_cpu_ratio", NOT_READ),
    ("host_cpu_ratio", NOT_WATCHED),
    ("calls_ratio", NOT_READ),
];
