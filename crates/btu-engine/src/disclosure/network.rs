//! The network stack: the settings that change what a connection delivers.

use std::collections::BTreeMap;

use btu_core::disclosure::Fact;

use super::Group;
use crate::files::Files;

/// The group `network_stack`.
#[derive(Debug)]
pub(super) struct NetworkStack;

impl Group for NetworkStack {
    fn name(&self) -> &'static str {
        "network_stack"
    }

    fn about(&self) -> &'static str {
        "settings of TCP/IP that change what a connection delivers"
    }

    fn facts(&self, files: &Files) -> BTreeMap<String, Fact> {
        let path = |name: &&str| format!("/proc/sys/net/{}", name.replace('.', "/"));
        SYSCTLS.iter().map(|name| (format!("net.{name}"), files.fact(&path(name)))).collect()
    }
}

/// Below `net.`; the settings that flent records, and those that change small messages.
const SYSCTLS: &[&str] = &[
    "core.busy_poll",
    "core.busy_read",
    "core.default_qdisc",
    "core.netdev_budget",
    "core.netdev_budget_usecs",
    "core.netdev_max_backlog",
    "core.optmem_max",
    "core.rmem_default",
    "core.rmem_max",
    "core.rps_default_mask",
    "core.rps_sock_flow_entries",
    "core.somaxconn",
    "core.wmem_default",
    "core.wmem_max",
    "ipv4.ip_no_pmtu_disc",
    "ipv4.tcp_abc",
    "ipv4.tcp_adv_win_scale",
    "ipv4.tcp_allowed_congestion_control",
    "ipv4.tcp_autocorking",
    "ipv4.tcp_available_congestion_control",
    "ipv4.tcp_base_mss",
    "ipv4.tcp_congestion_control",
    "ipv4.tcp_dsack",
    "ipv4.tcp_early_retrans",
    "ipv4.tcp_ecn",
    "ipv4.tcp_fastopen",
    "ipv4.tcp_frto",
    "ipv4.tcp_limit_output_bytes",
    "ipv4.tcp_mem",
    "ipv4.tcp_min_tso_segs",
    "ipv4.tcp_moderate_rcvbuf",
    "ipv4.tcp_mtu_probing",
    "ipv4.tcp_no_metrics_save",
    "ipv4.tcp_notsent_lowat",
    "ipv4.tcp_pacing_ca_ratio",
    "ipv4.tcp_pacing_ss_ratio",
    "ipv4.tcp_recovery",
    "ipv4.tcp_reordering",
    "ipv4.tcp_rmem",
    "ipv4.tcp_sack",
    "ipv4.tcp_slow_start_after_idle",
    "ipv4.tcp_thin_linear_timeouts",
    "ipv4.tcp_timestamps",
    "ipv4.tcp_tso_win_divisor",
    "ipv4.tcp_window_scaling",
    "ipv4.tcp_wmem",
    "ipv4.udp_mem",
];
