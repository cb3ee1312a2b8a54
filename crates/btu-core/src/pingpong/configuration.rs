//! What can differ between two curves besides the block size: transport, waiting, buffers, options.

mod ranges;

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use super::nature::Nature;
use super::nature::Setting;
use crate::units::Bytes;

pub use crate::placement::Placement;
pub(in crate::pingpong) use ranges::MAX_SEGMENT;
pub use ranges::OutOfRange;

/// One way to send a block there and back. What is `None` is left as the system has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// Name of the transport: `tcp`, `unix`, `shm`.
    pub transport: String,
    /// What one timed exchange is.
    pub mode: Mode,
    /// How an end waits for the block.
    pub wait: Wait,
    /// On which CPUs the two ends run.
    pub placement: Placement,
    /// In how many calls a block is sent.
    pub writes: Writes,
    /// Distance of the send buffer from a page boundary.
    pub send_offset_bytes: Bytes,
    /// Distance of the receive buffer from a page boundary.
    pub receive_offset_bytes: Bytes,
    /// Whether a block is in the cache when it is sent.
    pub cache: Cache,
    /// `TCP_NODELAY`.
    pub nodelay: Option<bool>,
    /// `TCP_QUICKACK`, set before each wait.
    pub quick_ack: Option<bool>,
    /// `SO_SNDBUF` as it is set; Linux doubles it.
    pub send_buffer_bytes: Option<Bytes>,
    /// `SO_RCVBUF` as it is set; Linux doubles it.
    pub receive_buffer_bytes: Option<Bytes>,
    /// `TCP_MAXSEG` as it is set; timestamps take 12 bytes off it.
    pub max_segment_bytes: Option<Bytes>,
    /// Segmentation offload of the path (GSO and TSO).
    pub offload: Option<bool>,
    /// MTU of the path.
    pub mtu_bytes: Option<Bytes>,
    /// Every byte is checked; no time is reported of such a pass.
    pub verify: bool,
    /// What the transport is.
    #[serde(default, skip_serializing_if = "Nature::is_plain")]
    pub nature: Nature,
}

/// What one timed exchange is, and what its time means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// A block goes there and comes back.
    #[default]
    PingPong,
    /// Blocks go one way; the receiver acknowledges the last one.
    Streaming,
    /// Both ends send a block at once.
    Bidirectional,
}

/// The name of what is no transport: copies of memory, the machine's own limit.
pub const REFERENCE: &str = "memcpy";

/// How an end waits for the block.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// A blocking call: what applications see.
    #[default]
    Block,
    /// A call in a loop that never sleeps.
    Spin,
    /// A blocking call, before which the kernel polls the device.
    BusyPoll,
    /// `epoll_wait`, then a call that does not block.
    Epoll,
}

/// In how many calls a block is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Writes {
    /// One call.
    #[default]
    One,
    /// A header of this many bytes and the rest in two calls, as many protocols do; a block no
    /// larger than the header goes in one.
    HeaderFirst(Bytes),
}

/// Whether a block is in the cache when it is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// The same buffer each time.
    #[default]
    Warm,
    /// A walk through more memory than the last-level cache holds.
    Cold,
}

impl Configuration {
    /// A transport with blocking waits, aligned buffers and no Nagle delay.
    pub fn new(transport: impl Into<String>) -> Self {
        Self {
            transport: transport.into(),
            mode: Mode::default(),
            wait: Wait::default(),
            placement: Placement::default(),
            writes: Writes::default(),
            send_offset_bytes: Bytes::ZERO,
            receive_offset_bytes: Bytes::ZERO,
            cache: Cache::default(),
            nodelay: Some(true),
            quick_ack: None,
            send_buffer_bytes: None,
            receive_buffer_bytes: None,
            max_segment_bytes: None,
            offload: None,
            mtu_bytes: None,
            verify: false,
            nature: Nature::default(),
        }
    }

    /// What differs from `other`, one sentence part per setting: a warning for who overlays them.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let (ours, theirs) = (self.settings(), other.settings());
        let applies = |value: &str| value != NOT_APPLICABLE;
        let pairs = ours.into_iter().zip(theirs).filter(|((_, a), (_, b))| a != b);
        let pairs = pairs.filter(|((_, a), (_, b))| applies(a) && applies(b));
        pairs.map(|((name, a), (_, b))| format!("{name} {a} against {b}")).collect()
    }

    /// What the check of every byte does not do of this: blocks go there and come back, each in one call.
    pub fn left_out_by_verify(&self) -> Option<String> {
        let mode = (self.mode != Mode::PingPong).then(|| format!("mode {}", self.mode));
        let header = match self.writes {
            Writes::One => None,
            Writes::HeaderFirst(header) => Some(format!("header {header}")),
        };
        let left: Vec<String> = mode.into_iter().chain(header).collect();
        (self.verify && !left.is_empty()).then(|| left.join(" and "))
    }

    /// The settings that were asked for and that the transport does not have.
    pub fn not_applicable(&self) -> Vec<Setting> {
        let (usual, asked) = (Self::new(&self.transport).every_setting(), self.every_setting());
        let changed = asked.iter().zip(&usual).filter(|(asked, usual)| asked != usual);
        let lacking = changed.filter_map(|((name, _), _)| self.lacking(name));
        lacking.collect()
    }

    /// The same without what the transport does not have.
    #[must_use]
    pub fn applicable(self) -> Self {
        let usual = Self::new(&self.transport);
        let lacks = self.nature.lacks.clone();
        let has = |setting: Setting| !lacks.contains(&setting);
        Self {
            nodelay: if has(Setting::Nodelay) { self.nodelay } else { usual.nodelay },
            quick_ack: self.quick_ack.filter(|_| has(Setting::QuickAck)),
            send_buffer_bytes: self.send_buffer_bytes.filter(|_| has(Setting::SendBuffer)),
            receive_buffer_bytes: self.receive_buffer_bytes.filter(|_| has(Setting::ReceiveBuffer)),
            max_segment_bytes: self.max_segment_bytes.filter(|_| has(Setting::MaxSegment)),
            offload: self.offload.filter(|_| has(Setting::Offload)),
            mtu_bytes: self.mtu_bytes.filter(|_| has(Setting::Mtu)),
            ..self
        }
    }

    /// The setting of this name, where it means nothing to the transport.
    fn lacking(&self, name: &str) -> Option<Setting> {
        self.nature.lacks.iter().copied().find(|setting| setting.name() == name)
    }

    /// Every setting with its name and value as text, those apart that the transport does not have.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let shown = |(name, value)| {
            (name, if self.lacking(name).is_some() { NOT_APPLICABLE.to_owned() } else { value })
        };
        self.every_setting().into_iter().map(shown).collect()
    }

    fn every_setting(&self) -> Vec<(&'static str, String)> {
        vec![
            ("transport", self.transport.clone()),
            ("mode", self.mode.to_string()),
            ("wait", self.wait.to_string()),
            ("placement", self.placement.to_string()),
            ("writes", self.writes.to_string()),
            ("send offset", self.send_offset_bytes.to_string()),
            ("receive offset", self.receive_offset_bytes.to_string()),
            ("cache", self.cache.to_string()),
            (Setting::Nodelay.name(), shown(self.nodelay)),
            (Setting::QuickAck.name(), shown(self.quick_ack)),
            (Setting::SendBuffer.name(), shown(self.send_buffer_bytes)),
            (Setting::ReceiveBuffer.name(), shown(self.receive_buffer_bytes)),
            (Setting::MaxSegment.name(), shown(self.max_segment_bytes)),
            (Setting::Offload.name(), shown(self.offload)),
            (Setting::Mtu.name(), shown(self.mtu_bytes)),
            ("verify", self.verify.to_string()),
        ]
    }
}

/// Names for curves: the transport, and every setting in which the configurations differ.
pub fn labels(configurations: &[Configuration]) -> Vec<String> {
    let all: Vec<Vec<(&str, String)>> =
        configurations.iter().map(Configuration::settings).collect();
    let differs = |at: usize| {
        let measured = || {
            let measured = all.iter().filter(|settings| settings[0].1 != REFERENCE);
            measured.filter(|settings| settings[at].1 != NOT_APPLICABLE)
        };
        measured().any(|settings| Some(&settings[at]) != measured().next().map(|first| &first[at]))
    };
    let differing: Vec<bool> =
        (0..all.first().map_or(0, Vec::len)).map(|at| at > 0 && differs(at)).collect();
    let label = |settings: &Vec<(&str, String)>| {
        let transport = settings[0].1.clone();
        let told = differing.iter().zip(settings);
        let told = told.filter(|(differs, (_, value))| **differs && value != NOT_APPLICABLE);
        let words = told.map(|(_, (name, value))| match *name {
            "wait" | "mode" | "placement" => value.clone(),
            name => format!("{name} {value}"),
        });
        if transport == REFERENCE {
            return transport;
        }
        std::iter::once(transport.clone()).chain(words).collect::<Vec<_>>().join(" ")
    };
    let mut labels: Vec<String> = Vec::new();
    for label in all.iter().map(label) {
        let is_free = |number: &usize| !labels.contains(&again(&label, *number));
        let number = (1..=all.len()).find(is_free).unwrap_or(1);
        labels.push(again(&label, number));
    }
    labels
}

/// The name of a curve that is measured more than once.
fn again(label: &str, number: usize) -> String {
    if number == 1 { label.to_owned() } else { format!("{label} ({number})") }
}

impl Mode {
    /// How the time of a block comes from the time of an exchange, for the report.
    pub const fn formula(self) -> &'static str {
        match self {
            Self::PingPong => "T = elapsed / exchanges / 2; rate = n / T",
            Self::Streaming => "T = elapsed / blocks, never halved; rate = n / T",
            Self::Bidirectional => "T = elapsed / exchanges; rate = 2 n / T, both directions",
        }
    }

    /// The time of a block in microseconds, from that of `batch` exchanges in nanoseconds.
    pub fn time_us(self, elapsed_ns: f64, batch: u32) -> f64 {
        let halves = if self == Self::PingPong { 2.0 } else { 1.0 };
        elapsed_ns / 1e3 / halves / f64::from(batch.max(1))
    }

    /// The throughput of blocks of `size` that take `time_us` each, in Mb/s (10^6 bit).
    pub fn rate_mbps(self, size: Bytes, time_us: f64) -> f64 {
        let blocks = if self == Self::Bidirectional { 2.0 } else { 1.0 };
        blocks * size_f64(size) * 8.0 / time_us
    }
}

/// A block size for arithmetic with times.
#[expect(clippy::cast_precision_loss, reason = "block sizes are far below 2^53")]
pub(super) fn size_f64(size: Bytes) -> f64 {
    size.count() as f64
}

fn shown<T: fmt::Display>(setting: Option<T>) -> String {
    setting.map_or_else(|| "as the system has it".to_owned(), |value| value.to_string())
}

impl fmt::Display for Mode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::PingPong => "ping-pong",
            Self::Streaming => "streaming",
            Self::Bidirectional => "bidirectional",
        })
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Block => "block",
            Self::Spin => "spin",
            Self::BusyPoll => "busy-poll",
            Self::Epoll => "epoll",
        })
    }
}

impl fmt::Display for Writes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One => out.write_str("one"),
            Self::HeaderFirst(header) => write!(out, "{header} and the rest"),
        }
    }
}

impl fmt::Display for Cache {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Warm => "warm",
            Self::Cold => "cold",
        })
    }
}

/// The value of a setting that a transport does not have.
const NOT_APPLICABLE: &str = "not applicable";

#[cfg(test)]
mod tests;
