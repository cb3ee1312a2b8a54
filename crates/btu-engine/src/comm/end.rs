//! One end of a data connection: what its thread, the supervisor and the report share.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Release;

use btu_core::role::Role;
use btu_core::run::calls::MessageFile;
use btu_core::run::calls::WriteCall;
use btu_core::run::cell::Direction;
use btu_core::sample::EndSample;
use btu_core::sample::Hold;
use btu_core::sample::SocketOptions;
use btu_core::sample::TcpInfo;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::cpu::ThreadUse;
use btu_sys::cpu::Whereabouts;
use btu_sys::tcp_info;
use serde::Deserialize;
use serde::Serialize;

use super::diary::Diary;
use super::stream::Cue;
use super::stream::Progress;
use super::supervisor::Watch;
use crate::transport::Connection;

/// What a data thread and its supervisor both see.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) connection: Box<dyn Connection>,
    pub(super) progress: Progress,
    /// To a sender: start no further message. To a reader: look at the clock from now on.
    pub(super) cue: Cue,
    /// When the run of this end began, 0 before.
    pub(super) started_ns: AtomicU64,
    /// When the first byte came, 0 before.
    pub(super) first_ns: AtomicU64,
    /// What is noted of the data thread while it runs.
    pub(super) diary: Diary,
    /// Where the data thread is, if it may move at all.
    pub(super) whereabouts: OnceLock<Whereabouts>,
}

/// Whether an end writes or reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Reader,
    Writer,
}

/// One end after its run: a sample, and what a comparison of both ends needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndReport {
    /// The end as it goes into the journal.
    pub sample: EndSample,
    /// User bytes written or read.
    pub bytes: Bytes,
    /// Messages written; 0 for a reader.
    pub messages: u64,
    /// When this end began, on its own clock: first write, go-ahead, first byte.
    pub started: Option<Nanos>,
    /// When this end had done its work, on its own clock: receipt read, last byte read.
    pub ended: Option<Nanos>,
    /// From the first to the last byte read, on its own clock; nothing for a writer.
    pub read_elapsed: Nanos,
    /// The longest time without progress of a reader, to a millisecond.
    pub longest_pause: Option<Nanos>,
    /// Bytes that the peer had not acknowledged at the end.
    pub unacknowledged: Option<u64>,
    /// Why it ended early; `None` where it ended as it should.
    pub fault: Option<String>,
}

/// The account of a data thread, from inside that thread.
#[derive(Debug, Default)]
pub(super) struct Account {
    pub(super) used: Option<ThreadUse>,
    pub(super) cpus: Vec<u32>,
    pub(super) hold: Hold,
    pub(super) before: Option<tcp_info::TcpInfo>,
    pub(super) after: Option<tcp_info::TcpInfo>,
    pub(super) options: SocketOptions,
    pub(super) unacknowledged: Option<u64>,
    pub(super) messages: u64,
    pub(super) call_bytes: Bytes,
    pub(super) write_call: WriteCall,
    pub(super) message_file: Option<MessageFile>,
    pub(super) ended_ns: Option<u64>,
    pub(super) fault: Option<String>,
}

impl Shared {
    pub(super) fn new(connection: Box<dyn Connection>) -> Arc<Self> {
        let progress = Progress::default();
        progress.look_at(0);
        Arc::new(Self {
            connection,
            progress,
            cue: Cue::default(),
            started_ns: AtomicU64::new(0),
            first_ns: AtomicU64::new(0),
            diary: Diary::default(),
            whereabouts: OnceLock::new(),
        })
    }

    pub(super) fn mark_start(&self, now_ns: u64) {
        self.diary.begin(Nanos::new(now_ns));
        self.started_ns.store(now_ns, Release);
    }

    /// When the run of this end began: its start, or its first byte where it only waits for one.
    pub(super) fn started(&self) -> Option<Nanos> {
        known(self.started_ns.load(Acquire)).or_else(|| self.first())
    }

    /// When its first byte came.
    pub(super) fn first(&self) -> Option<Nanos> {
        known(self.first_ns.load(Acquire))
    }
}

impl Part {
    /// What the near end of a connection does.
    pub(super) fn near(direction: Direction) -> Self {
        match direction {
            Direction::Receive => Self::Reader,
            Direction::Send => Self::Writer,
        }
    }

    /// What the far end of the same connection does.
    pub(super) fn far(direction: Direction) -> Self {
        match direction {
            Direction::Receive => Self::Writer,
            Direction::Send => Self::Reader,
        }
    }
}

impl EndReport {
    /// The report of an end from what its thread and its supervisor saw, the program standing still for
    /// `stood_still` at the most.
    pub(super) fn new(role: Role, watch: &Watch, account: Account, stood_still: Nanos) -> Self {
        let (shared, notes) = (&watch.shared, watch.shared.diary.notes());
        let used = account.used;
        let ended = account.ended_ns.map(Nanos::new);
        let reading = (watch.part == Part::Reader).then(|| shared.first().zip(ended)).flatten();
        let sample = EndSample {
            stood_still_ns: stood_still,
            role,
            calls: shared.progress.calls(),
            call_bytes: account.call_bytes,
            write_call: account.write_call,
            message_file: account.message_file,
            cpu_ns: used.map(|used| Nanos::new(used.cpu_ns)),
            run_delay_ns: used.and_then(|used| used.run_delay_ns).map(Nanos::new),
            voluntary_switches: used.map(|used| used.voluntary_switches),
            involuntary_switches: used.map(|used| used.involuntary_switches),
            port: shared.connection.ends().map(|[own, _]| own.port()),
            hold: account.hold,
            ftp_session: None,
            cpus: ascending(account.cpus.into_iter().chain(notes.cpus).collect()),
            options: account.options,
            tcp_info: account.after.map(|after| {
                let info = over_run(&after, account.before.as_ref());
                without_laps(info, shared.progress.calls())
            }),
            series: notes.series,
        };
        Self {
            sample,
            bytes: Bytes::new(shared.progress.bytes()),
            messages: account.messages,
            started: shared.started(),
            ended,
            read_elapsed: reading.map_or(Nanos::ZERO, |(first, ended)| ended.since(first)),
            longest_pause: notes.longest_pause.filter(|_| watch.part == Part::Reader),
            unacknowledged: account.unacknowledged,
            fault: account.fault,
        }
    }
}

/// The kernel counts segments in 32 bits. Where so many calls and bytes may have taken it around, as in an hour above
/// 14 Gb/s, nobody knows how many there were.
fn without_laps(info: TcpInfo, calls: u64) -> TcpInfo {
    let bytes = info.bytes_sent.max(info.bytes_received).unwrap_or(0);
    let mss = info.snd_mss_bytes.map_or(LEAST_MSS, u64::from).max(1);
    if u32::try_from(calls.saturating_add(bytes / mss)).is_ok() {
        return info;
    }
    TcpInfo { data_segs_out: None, data_segs_in: None, segs_out: None, segs_in: None, ..info }
}

/// What every host takes (RFC 9293, 3.7.1).
const LEAST_MSS: u64 = 536;

/// What a run did to a connection: counters as differences from `before`, the rest as it is at its end.
pub fn over_run(after: &tcp_info::TcpInfo, before: Option<&tcp_info::TcpInfo>) -> TcpInfo {
    let moved = |read: fn(&tcp_info::TcpInfo) -> Option<u64>| {
        let earlier = before.and_then(read).unwrap_or(0);
        read(after).map(|now| now.saturating_sub(earlier))
    };
    TcpInfo {
        bytes_acked: moved(tcp_info::TcpInfo::bytes_acked),
        bytes_received: moved(tcp_info::TcpInfo::bytes_received),
        bytes_sent: moved(tcp_info::TcpInfo::bytes_sent),
        bytes_retrans: moved(tcp_info::TcpInfo::bytes_retrans),
        data_segs_out: moved(tcp_info::TcpInfo::data_segs_out),
        data_segs_in: moved(tcp_info::TcpInfo::data_segs_in),
        segs_out: moved(tcp_info::TcpInfo::segs_out),
        segs_in: moved(tcp_info::TcpInfo::segs_in),
        total_retrans: moved(tcp_info::TcpInfo::total_retrans),
        total_rto: moved(tcp_info::TcpInfo::total_rto),
        dsack_dups: moved(tcp_info::TcpInfo::dsack_dups),
        reord_seen: moved(tcp_info::TcpInfo::reord_seen),
        rcv_ooopack: moved(tcp_info::TcpInfo::rcv_ooopack),
        busy_us: moved(tcp_info::TcpInfo::busy_us),
        rwnd_limited_us: moved(tcp_info::TcpInfo::rwnd_limited_us),
        sndbuf_limited_us: moved(tcp_info::TcpInfo::sndbuf_limited_us),
        rtt_us: after.rtt_us(),
        rttvar_us: after.rttvar_us(),
        min_rtt_us: after.min_rtt_us(),
        cwnd_segments: after.cwnd(),
        ssthresh_segments: after.ssthresh(),
        snd_mss_bytes: after.snd_mss(),
        delivery_rate_byte_s: after.delivery_rate(),
        snd_wnd_bytes: after.snd_wnd(),
        rcv_wnd_bytes: after.rcv_wnd(),
    }
}

fn ascending(mut cpus: Vec<u32>) -> Vec<u32> {
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

fn known(ns: u64) -> Option<Nanos> {
    (ns > 0).then(|| Nanos::new(ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4.2 billion segments: 6 TB in full ones, or a message of any size in each.
    #[test]
    fn segments_that_may_have_gone_round_are_not_told() {
        let of = |bytes: u64, calls: u64| {
            let info = TcpInfo {
                bytes_sent: Some(bytes),
                snd_mss_bytes: Some(1448),
                data_segs_out: Some(5),
                segs_in: Some(5),
                total_retrans: Some(5),
                ..TcpInfo::default()
            };
            let info = without_laps(info, calls);
            (info.data_segs_out, info.segs_in, info.total_retrans)
        };
        let known = (Some(5), Some(5), Some(5));
        assert_eq!(of(6_000_000_000_000, 1_000_000), known);
        assert_eq!(of(400_000_000_000, 4_000_000_000), known);
        let unknown = (None, None, Some(5));
        assert_eq!(of(6_300_000_000_000, 1_000_000), unknown);
        assert_eq!(of(440_000_000_000, 4_400_000_000), unknown);
    }
}
