//! The traffic of a run: its connections, and both ends of each.

use serde::Deserialize;
use serde::Serialize;

use crate::role::Role;
use crate::run::calls::MessageFile;
use crate::run::calls::WriteCall;
use crate::run::cell::Direction;
use crate::units::Bytes;
use crate::units::Nanos;

/// The traffic of one run, timed by the test host's clock alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommSample {
    /// From just before the first write or go-ahead to the end of the last connection.
    pub elapsed_ns: Nanos,
    /// What the receiving users read, all connections together.
    pub bytes: Bytes,
    /// One entry per connection of the case, in the case's order.
    pub connections: Vec<ConnectionSample>,
}

/// One connection of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConnectionSample {
    /// The black box at the far end.
    pub peer: Role,
    /// Seen from the test host.
    pub direction: Direction,
    /// What the receiving user read.
    pub bytes: Bytes,
    /// Messages written, one call each.
    pub messages: u64,
    /// From the common start to this connection's receipt (or last byte), by the test host's clock.
    pub elapsed_ns: Nanos,
    /// From the receiver's first to its last byte, by the receiver's clock.
    pub receiver_elapsed_ns: Nanos,
    /// The end that wrote.
    pub sender: EndSample,
    /// The end that read.
    pub receiver: EndSample,
    /// Where the counters of both ends disagree with each other; empty when the proof holds.
    pub proof_failures: Vec<String>,
    /// The longest time without progress at the receiver, at the sampler's resolution.
    pub longest_pause_ns: Option<Nanos>,
}

impl ConnectionSample {
    /// The ports of the test host's end, which connects, and of the far end.
    pub fn ports(&self) -> Option<[u16; 2]> {
        let (near, far) = match self.direction {
            Direction::Receive => (&self.receiver, &self.sender),
            Direction::Send => (&self.sender, &self.receiver),
        };
        Some([near.port?, far.port?])
    }
}

/// One end of a connection: its thread, its socket, its kernel state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndSample {
    /// The host of this end.
    pub role: Role,
    /// Send or receive calls made.
    pub calls: u64,
    /// Size asked for in each call.
    pub call_bytes: Bytes,
    /// By which calls the messages of its connection were written.
    #[serde(default, skip_serializing_if = "WriteCall::is_plain")]
    pub write_call: WriteCall,
    /// What it sent from, where it wrote by `sendfile`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_file: Option<MessageFile>,
    /// CPU time of the data thread inside the run.
    pub cpu_ns: Option<Nanos>,
    /// Time the data thread was runnable but not running.
    pub run_delay_ns: Option<Nanos>,
    /// Voluntary context switches.
    pub voluntary_switches: Option<u64>,
    /// Involuntary context switches.
    pub involuntary_switches: Option<u64>,
    /// For how long the process of this end stood still at the most: by how much its supervisor overslept.
    #[serde(default, skip_serializing_if = "Nanos::is_zero")]
    pub stood_still_ns: Nanos,
    /// The port of its socket, by which its packets are found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// CPUs on which the data thread was seen (start, samples, end), ascending.
    pub cpus: Vec<u32>,
    /// Whether the data thread was held on its CPU.
    #[serde(default, skip_serializing_if = "Hold::is_pinned")]
    pub hold: Hold,
    /// What the busiest session of the host's FTP server used meanwhile; `None` where nobody was served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ftp_session: Option<SessionUse>,
    /// Effective socket options, read back after the run.
    pub options: SocketOptions,
    /// Kernel state at the end of the run, less its state before the first byte where it counts.
    pub tcp_info: Option<TcpInfo>,
    /// The sampler's series of this end.
    pub series: Option<Series>,
}

/// What the thread of a session of an FTP server used beside a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionUse {
    /// CPU time of the thread.
    pub cpu_ns: Nanos,
    /// Over how long: from when all data threads were ready until the last was done.
    pub elapsed_ns: Nanos,
}

/// Whether a data thread may move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hold {
    /// It runs where the scheduler puts it.
    Free,
    /// It has one CPU.
    #[default]
    Pinned,
}

impl Hold {
    /// True of the data threads of editions.
    pub fn is_pinned(&self) -> bool {
        *self == Self::Pinned
    }
}

/// Effective socket options, read back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SocketOptions {
    /// `TCP_CONGESTION`.
    pub congestion: Option<String>,
    /// `TCP_NODELAY`.
    pub nodelay: Option<bool>,
    /// `SO_SNDBUF` as the kernel counts it.
    pub send_buffer_bytes: Option<u64>,
    /// `SO_RCVBUF` as the kernel counts it.
    pub receive_buffer_bytes: Option<u64>,
    /// `TCP_MAXSEG`.
    pub mss_bytes: Option<u64>,
    /// `TCP_WINDOW_CLAMP`; zero means none.
    pub window_clamp_bytes: Option<u64>,
    /// `SO_RCVLOWAT`; `None` for 1, which it is unless somebody set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low_water_bytes: Option<u64>,
    /// `TCP_NOTSENT_LOWAT`; `None` where it is the system's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_sent_low_water_bytes: Option<u64>,
    /// What the handshake settled; `None` of datagrams, and in journals of earlier programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negotiated: Option<Negotiated>,
}

/// What both ends of a TCP connection agreed on with their SYNs. What one of them did not offer is not there, nor is
/// what a middlebox took from a SYN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Negotiated {
    /// Selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Time stamps (RFC 7323).
    pub timestamps: bool,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: bool,
    /// By how many bits the peer's windows are shifted (RFC 7323), 0 for small ones; `None` without window scaling.
    pub wscale_snd_bits: Option<u8>,
    /// The same of the windows that this end tells.
    pub wscale_rcv_bits: Option<u8>,
}

impl Negotiated {
    /// Each of them by its name, and what became of it.
    pub fn told(&self) -> [(&'static str, String); 4] {
        let word = |has: bool| if has { "yes" } else { "no" }.to_owned();
        let scale = match (self.wscale_snd_bits, self.wscale_rcv_bits) {
            (None, None) => "no".to_owned(),
            (snd, rcv) => {
                let [snd, rcv] = [snd, rcv].map(Option::unwrap_or_default);
                format!("{snd} bits of the peer's window, {rcv} bits of its own")
            }
        };
        [
            ("SACK", word(self.sack)),
            ("time stamps", word(self.timestamps)),
            ("ECN", word(self.ecn)),
            ("window scaling", scale),
        ]
    }
}

/// The fields of the kernel's `TCP_INFO` that BTU keeps. Counters are differences over the run,
/// the rest is the state at its end. A field that the running kernel does not have is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpInfo {
    /// Payload bytes acknowledged, +1 for a FIN.
    pub bytes_acked: Option<u64>,
    /// Payload bytes received, +1 for a FIN.
    pub bytes_received: Option<u64>,
    /// Payload bytes sent, retransmissions included.
    pub bytes_sent: Option<u64>,
    /// Payload bytes retransmitted.
    pub bytes_retrans: Option<u64>,
    /// Segments with data sent.
    pub data_segs_out: Option<u64>,
    /// Segments with data received.
    pub data_segs_in: Option<u64>,
    /// All segments sent.
    pub segs_out: Option<u64>,
    /// All segments received.
    pub segs_in: Option<u64>,
    /// Retransmitted segments.
    pub total_retrans: Option<u64>,
    /// Retransmission timeouts.
    pub total_rto: Option<u64>,
    /// Duplicate SACKs: retransmissions that were not needed.
    pub dsack_dups: Option<u64>,
    /// Reordering events seen.
    pub reord_seen: Option<u64>,
    /// Segments received out of order.
    pub rcv_ooopack: Option<u64>,
    /// Time with data outstanding, in microseconds.
    pub busy_us: Option<u64>,
    /// Time limited by the peer's window, in microseconds.
    pub rwnd_limited_us: Option<u64>,
    /// Time limited by the own send buffer, in microseconds.
    pub sndbuf_limited_us: Option<u64>,
    /// Smoothed round trip time at the end, in microseconds.
    pub rtt_us: Option<u64>,
    /// Its variance, in microseconds.
    pub rttvar_us: Option<u64>,
    /// Smallest round trip time seen, in microseconds.
    pub min_rtt_us: Option<u64>,
    /// Congestion window at the end, in segments.
    pub cwnd_segments: Option<u64>,
    /// Slow-start threshold at the end, in segments.
    pub ssthresh_segments: Option<u64>,
    /// Segment size at the end.
    pub snd_mss_bytes: Option<u64>,
    /// Delivery rate at the end, bytes per second.
    pub delivery_rate_byte_s: Option<u64>,
    /// The peer's window at the end.
    pub snd_wnd_bytes: Option<u64>,
    /// The own window at the end.
    pub rcv_wnd_bytes: Option<u64>,
}

/// What the sampler saw of one end, from its start to its end: columns of equal length. A hundred
/// readings a second are thinned out to at most 80 of the whole run and the last one.
///
/// Times are nanoseconds since the run's start; each column is delta-coded (the first value, then
/// differences), which keeps a line of the journal short.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// When each sample was taken.
    pub t_ns: Vec<i64>,
    /// User bytes written or read so far.
    pub user_bytes: Vec<i64>,
    /// Congestion window, segments.
    pub cwnd_segments: Vec<i64>,
    /// Unacknowledged segments.
    pub unacked_segments: Vec<i64>,
    /// Smoothed round trip time, microseconds.
    pub rtt_us: Vec<i64>,
    /// Retransmitted segments so far.
    pub total_retrans: Vec<i64>,
    /// Peer's window, bytes.
    pub snd_wnd_bytes: Vec<i64>,
}
