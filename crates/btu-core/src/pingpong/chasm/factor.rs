//! The factors that may cause a chasm: each is the base configuration with one setting changed.

use crate::pingpong::configuration::Configuration;
use crate::pingpong::configuration::MAX_SEGMENT;
use crate::pingpong::configuration::Wait;
use crate::pingpong::configuration::Writes;
use crate::sample::SocketOptions;
use crate::units::Bytes;

/// One setting changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// What a reader knows it by: `TCP_NODELAY`.
    pub name: String,
    /// The configuration with the change.
    pub configuration: Configuration,
}

impl Factor {
    /// A factor.
    pub fn new(name: impl Into<String>, configuration: Configuration) -> Self {
        Self { name: name.into(), configuration }
    }

    /// The factors that a socket has, judged by the `options` read back from it.
    pub fn list(base: &Configuration, options: &SocketOptions) -> Vec<Self> {
        let mut factors = buffers(base, options);
        if options.mss_bytes.is_some() || options.nodelay.is_some() {
            factors.splice(0..0, of_tcp(base, options));
        }
        if options.mss_bytes.is_some() || base.nature.cut_at_mtu {
            factors.push(mtu(base));
        }
        factors.extend(of_any(base));
        factors.retain(|factor| {
            factor.configuration != *base && factor.configuration.not_applicable().is_empty()
        });
        factors
    }
}

fn of_tcp(base: &Configuration, options: &SocketOptions) -> Vec<Factor> {
    let nodelay = base.nodelay.or(options.nodelay) == Some(true);
    let name = if nodelay { "Nagle's algorithm (TCP_NODELAY off)" } else { "TCP_NODELAY" };
    let with = |name: &str, changed| Factor::new(name, changed);
    let quick = Configuration { quick_ack: Some(true), ..base.clone() };
    let mut factors = vec![
        with(name, Configuration { nodelay: Some(!nodelay), ..base.clone() }),
        with("TCP_QUICKACK", quick),
    ];
    if let Some(mss) = options.mss_bytes {
        let half = Bytes::new((mss / 2).clamp(MAX_SEGMENT[0], MAX_SEGMENT[1]));
        let changed = Configuration { max_segment_bytes: Some(half), ..base.clone() };
        factors.push(Factor::new(format!("TCP_MAXSEG {}", half.count()), changed));
    }
    let no_offload = Configuration { offload: Some(false), ..base.clone() };
    factors.push(with("segmentation offload off", no_offload));
    factors
}

/// Linux doubles what is set: what was read back, set again, is twice as much.
fn buffers(base: &Configuration, options: &SocketOptions) -> Vec<Factor> {
    let mut factors = Vec::new();
    for (times, of_read_back) in [(2, 1), (4, 2)] {
        if let Some(bytes) = options.send_buffer_bytes {
            let set = Some(Bytes::new(bytes * of_read_back));
            let changed = Configuration { send_buffer_bytes: set, ..base.clone() };
            factors.push(Factor::new(format!("SO_SNDBUF x{times}"), changed));
        }
        if let Some(bytes) = options.receive_buffer_bytes {
            let set = Some(Bytes::new(bytes * of_read_back));
            let changed = Configuration { receive_buffer_bytes: set, ..base.clone() };
            factors.push(Factor::new(format!("SO_RCVBUF x{times}"), changed));
        }
    }
    factors
}

/// Half of Ethernet's would take IPv6 off a link: this is the least that it allows (RFC 8200, section 5).
fn mtu(base: &Configuration) -> Factor {
    let mtu_bytes = Some(SMALL_MTU).filter(|small| base.mtu_bytes != Some(*small));
    let name = mtu_bytes.map_or_else(|| "MTU".to_owned(), |mtu| format!("MTU {}", mtu.count()));
    Factor::new(name, Configuration { mtu_bytes, ..base.clone() })
}

fn of_any(base: &Configuration) -> Vec<Factor> {
    let aligned = base.send_offset_bytes.is_empty() && base.receive_offset_bytes.is_empty();
    let offset = if aligned { Bytes::new(1) } else { Bytes::ZERO };
    let name = if aligned { "buffers off by one byte" } else { "aligned buffers" };
    let moved =
        Configuration { send_offset_bytes: offset, receive_offset_bytes: offset, ..base.clone() };
    let wait = if base.wait == Wait::Spin { Wait::Block } else { Wait::Spin };
    vec![
        Factor::new("one write", Configuration { writes: Writes::One, ..base.clone() }),
        Factor::new(name, moved),
        Factor::new(format!("wait {wait}"), Configuration { wait, ..base.clone() }),
    ]
}

const SMALL_MTU: Bytes = Bytes::new(1280);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_factor_changes_one_setting_of_what_the_socket_has() {
        let options = SocketOptions {
            nodelay: Some(false),
            mss_bytes: Some(1448),
            send_buffer_bytes: Some(16_384),
            ..SocketOptions::default()
        };
        let base = Configuration { nodelay: Some(false), ..Configuration::new("tcp") };
        let factors = Factor::list(&base, &options);
        let names: Vec<&str> = factors.iter().map(|factor| factor.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "TCP_NODELAY",
                "TCP_QUICKACK",
                "TCP_MAXSEG 724",
                "segmentation offload off",
                "SO_SNDBUF x2",
                "SO_SNDBUF x4",
                "MTU 1280",
                "buffers off by one byte",
                "wait spin"
            ]
        );
        let one = |factor: &Factor| factor.configuration.differences(&base).len();
        assert!(factors.iter().all(|factor| (1..=2).contains(&one(factor))));
    }

    #[test]
    fn a_transport_without_sockets_has_no_socket_options_to_try() {
        let factors = Factor::list(&Configuration::new("shm"), &SocketOptions::default());
        assert_eq!(factors.len(), 2);
    }
}
