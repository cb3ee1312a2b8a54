//! The kernel's account of one TCP connection (`TCP_INFO`), as far as the running kernel has it.
//!
//! The record grows with the kernel, and libc's is shorter than the kernel's on some targets. So
//! this one is our own, and what lies beyond the returned length is `None`.

#[cfg(test)]
mod btf;

use std::mem::offset_of;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;

use crate::error::Error;
use crate::error::Result;

/// One reading of `TCP_INFO`.
#[derive(Clone, Copy, Debug)]
pub struct TcpInfo {
    record: Record,
    length: usize,
}

/// What both ends of a connection agreed on with their SYNs: what one did not offer, or what was taken from
/// its SYN on the way, is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// The reading with room for the record of kernel 6.18; older kernels fill less of it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Record {
    state: u8,
    ca_state: u8,
    retransmits: u8,
    probes: u8,
    backoff: u8,
    options: u8,
    wscale: u8,
    app_limited: u8,
    rto: u32,
    ato: u32,
    snd_mss: u32,
    rcv_mss: u32,
    unacked: u32,
    sacked: u32,
    lost: u32,
    retrans: u32,
    fackets: u32,
    last_data_sent: u32,
    last_ack_sent: u32,
    last_data_recv: u32,
    last_ack_recv: u32,
    pmtu: u32,
    rcv_ssthresh: u32,
    rtt: u32,
    rttvar: u32,
    snd_ssthresh: u32,
    snd_cwnd: u32,
    advmss: u32,
    reordering: u32,
    rcv_rtt: u32,
    rcv_space: u32,
    total_retrans: u32,
    pacing_rate: u64,
    max_pacing_rate: u64,
    bytes_acked: u64,
    bytes_received: u64,
    segs_out: u32,
    segs_in: u32,
    notsent_bytes: u32,
    min_rtt: u32,
    data_segs_in: u32,
    data_segs_out: u32,
    delivery_rate: u64,
    busy_time: u64,
    rwnd_limited: u64,
    sndbuf_limited: u64,
    delivered: u32,
    delivered_ce: u32,
    bytes_sent: u64,
    bytes_retrans: u64,
    dsack_dups: u32,
    reord_seen: u32,
    rcv_ooopack: u32,
    snd_wnd: u32,
    rcv_wnd: u32,
    rehash: u32,
    total_rto: u16,
    total_rto_recoveries: u16,
    total_rto_time: u32,
    /// Fields that nobody here reads (accurate ECN).
    later: [u32; 8],
}

const _: () = assert!(size_of::<Record>() == 280, "the record of kernel 6.18 has 280 bytes");

impl TcpInfo {
    /// The account of `socket` at this moment. Takes the socket's lock: it may wait for a running call.
    pub fn of(socket: &impl AsFd) -> Result<Self> {
        let mut record = Record::default();
        let mut length = libc::socklen_t::try_from(size_of::<Record>()).unwrap_or(0);
        let (fd, start) = (socket.as_fd().as_raw_fd(), (&raw mut record).cast());
        let (level, name) = (libc::IPPROTO_TCP, libc::TCP_INFO);
        // SAFETY: `start` and `length` describe a live record of plain integers, which every bit
        // pattern fills legally; the kernel writes at most `length` bytes.
        let outcome = unsafe { libc::getsockopt(fd, level, name, start, &raw mut length) };
        if outcome < 0 {
            return Err(Error::last("read TCP_INFO"));
        }
        Ok(Self { record, length: usize::try_from(length).unwrap_or(0) })
    }

    /// What the handshake settled; `None` before there was one.
    pub fn negotiated(&self) -> Option<Negotiated> {
        let Record { state, options, wscale, .. } = self.record;
        let has = |option: u8| options & option != 0;
        let [snd, rcv] = shifts(wscale);
        let reaches = offset_of!(Record, wscale) < self.length;
        // A closed end keeps what it had; one that never was open looks like one that had nothing.
        let is_open = !BEFORE_HANDSHAKE.contains(&state) && (state != CLOSED || options != 0);
        (reaches && is_open).then(|| Negotiated {
            sack: has(OPT_SACK),
            timestamps: has(OPT_TIMESTAMPS),
            ecn: has(OPT_ECN),
            wscale_snd_bits: has(OPT_WSCALE).then_some(snd),
            wscale_rcv_bits: has(OPT_WSCALE).then_some(rcv),
        })
    }

    /// How many bytes the kernel gave.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The same reading as an older kernel would have given it: cut to `length` bytes.
    #[must_use]
    pub fn cut(mut self, length: usize) -> Self {
        self.length = self.length.min(length);
        self
    }

    /// A field, where it ends before the end of what the kernel gave.
    fn field<T: Into<u64>>(&self, offset: usize, value: T) -> Option<u64> {
        (offset + size_of::<T>() <= self.length).then(|| value.into())
    }
}

/// `tcpi_snd_wscale : 4, tcpi_rcv_wscale : 4`: the first bit-field has the low bits where bytes are little-endian.
const fn shifts(wscale: u8) -> [u8; 2] {
    let (low, high) = (wscale & 0xf, wscale >> 4);
    if cfg!(target_endian = "little") { [low, high] } else { [high, low] }
}

/// `TCPI_OPT_*` of `linux/tcp.h`.
const OPT_TIMESTAMPS: u8 = 1;
const OPT_SACK: u8 = 2;
const OPT_WSCALE: u8 = 4;
const OPT_ECN: u8 = 8;
/// `TCP_SYN_SENT`, `TCP_SYN_RECV`, `TCP_LISTEN` and `TCP_NEW_SYN_RECV` of `net/tcp_states.h`.
const BEFORE_HANDSHAKE: [u8; 4] = [2, 3, 10, 12];
/// `TCP_CLOSE`.
const CLOSED: u8 = 7;

/// One accessor per field, and the table of names and offsets that a test holds against the kernel's own.
macro_rules! fields {
    ($($(#[$doc:meta])* $method:ident = $field:ident as $kernel:literal;)*) => {
        impl TcpInfo {
            $($(#[$doc])*
            pub fn $method(&self) -> Option<u64> {
                self.field(offset_of!(Record, $field), self.record.$field)
            })*
        }

        #[cfg(test)]
        const OFFSETS: &[(&str, usize)] = &[$(($kernel, offset_of!(Record, $field)),)*];
    };
}

fields! {
    /// Payload bytes acknowledged; counts the SYN at the connecting end and the FIN at both.
    bytes_acked = bytes_acked as "tcpi_bytes_acked";
    /// Payload bytes received, and the FIN.
    bytes_received = bytes_received as "tcpi_bytes_received";
    /// Payload bytes sent, retransmissions included.
    bytes_sent = bytes_sent as "tcpi_bytes_sent";
    /// Payload bytes retransmitted.
    bytes_retrans = bytes_retrans as "tcpi_bytes_retrans";
    /// Segments with data sent.
    data_segs_out = data_segs_out as "tcpi_data_segs_out";
    /// Segments with data received.
    data_segs_in = data_segs_in as "tcpi_data_segs_in";
    /// All segments sent.
    segs_out = segs_out as "tcpi_segs_out";
    /// All segments received.
    segs_in = segs_in as "tcpi_segs_in";
    /// Retransmitted segments.
    total_retrans = total_retrans as "tcpi_total_retrans";
    /// Retransmission timeouts.
    total_rto = total_rto as "tcpi_total_rto";
    /// Duplicate SACKs received.
    dsack_dups = dsack_dups as "tcpi_dsack_dups";
    /// Reordering events seen.
    reord_seen = reord_seen as "tcpi_reord_seen";
    /// Segments received out of order.
    rcv_ooopack = rcv_ooopack as "tcpi_rcv_ooopack";
    /// Time with data outstanding, microseconds.
    busy_us = busy_time as "tcpi_busy_time";
    /// Time limited by the peer's window, microseconds.
    rwnd_limited_us = rwnd_limited as "tcpi_rwnd_limited";
    /// Time limited by the own send buffer, microseconds.
    sndbuf_limited_us = sndbuf_limited as "tcpi_sndbuf_limited";
    /// Smoothed round trip time, microseconds.
    rtt_us = rtt as "tcpi_rtt";
    /// Its variance, microseconds.
    rttvar_us = rttvar as "tcpi_rttvar";
    /// Smallest round trip time seen, microseconds.
    min_rtt_us = min_rtt as "tcpi_min_rtt";
    /// Retransmission timeout, microseconds.
    rto_us = rto as "tcpi_rto";
    /// Congestion window, segments.
    cwnd = snd_cwnd as "tcpi_snd_cwnd";
    /// Slow-start threshold, segments.
    ssthresh = snd_ssthresh as "tcpi_snd_ssthresh";
    /// Segments sent and not acknowledged.
    unacked = unacked as "tcpi_unacked";
    /// Segment size.
    snd_mss = snd_mss as "tcpi_snd_mss";
    /// Most recent delivery rate, bytes per second.
    delivery_rate = delivery_rate as "tcpi_delivery_rate";
    /// Pacing rate, bytes per second.
    pacing_rate = pacing_rate as "tcpi_pacing_rate";
    /// Bytes written and not yet sent.
    notsent_bytes = notsent_bytes as "tcpi_notsent_bytes";
    /// The peer's window, bytes.
    snd_wnd = snd_wnd as "tcpi_snd_wnd";
    /// The own window, bytes.
    rcv_wnd = rcv_wnd as "tcpi_rcv_wnd";
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::io::Write;
    use std::net::TcpListener;
    use std::net::TcpStream;

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn counters_move_by_what_was_sent() {
        let (mut near, mut far) = pair();
        let (near_before, far_before) = (TcpInfo::of(&near).unwrap(), TcpInfo::of(&far).unwrap());
        near.write_all(&[1; 1000]).unwrap();
        far.read_exact(&mut [0; 1000]).unwrap();
        let moved =
            |now: Option<u64>, then: Option<u64>| now.zip(then).map(|(now, then)| now - then);
        let near_after = TcpInfo::of(&near).unwrap();
        let far_after = TcpInfo::of(&far).unwrap();
        if far_after.bytes_received().is_some() {
            assert_eq!(moved(far_after.bytes_received(), far_before.bytes_received()), Some(1000));
        }
        if near_after.bytes_sent().is_some() {
            assert_eq!(moved(near_after.bytes_sent(), near_before.bytes_sent()), Some(1000));
        }
        assert!(near_after.cwnd().is_some_and(|cwnd| cwnd > 0));
    }

    #[test]
    fn what_an_older_kernel_does_not_give_is_not_available() {
        let (near, _far) = pair();
        let old = TcpInfo::of(&near).unwrap().cut(200);
        assert!(old.rtt_us().is_some());
        assert_eq!((old.bytes_sent(), old.snd_wnd(), old.total_rto()), (None, None, None));
        assert_eq!(old.cut(198).length(), 198);
        assert_eq!(old.cut(191).sndbuf_limited_us(), None);
    }

    /// Windows of loopback are shifted by as much as the other end says.
    #[test]
    fn both_ends_tell_the_same_handshake() {
        let (near, far) = pair();
        let [near, far] = [&near, &far].map(|end| TcpInfo::of(end).unwrap().negotiated().unwrap());
        assert_eq!((near.sack, near.timestamps, near.ecn), (far.sack, far.timestamps, far.ecn));
        assert_eq!(near.wscale_snd_bits, far.wscale_rcv_bits);
        assert_eq!(near.wscale_rcv_bits, far.wscale_snd_bits);
        for (name, found) in [
            ("net.ipv4.tcp_sack", near.sack),
            ("net.ipv4.tcp_timestamps", near.timestamps),
            ("net.ipv4.tcp_window_scaling", near.wscale_rcv_bits.is_some()),
        ] {
            let path = format!("/proc/sys/{}", name.replace('.', "/"));
            let Ok(setting) = std::fs::read_to_string(path) else { continue };
            assert_eq!(found, setting.trim() != "0", "{name}");
        }
    }

    #[test]
    fn options_are_read_bit_by_bit() {
        let reading = |options: u8, state: u8| {
            let record = Record { state, options, wscale: 0x97, ..Record::default() };
            TcpInfo { record, length: size_of::<Record>() }.negotiated()
        };
        let stripped = reading(OPT_TIMESTAMPS | OPT_ECN, 1).unwrap();
        let none = Negotiated { timestamps: true, ecn: true, ..Negotiated::default() };
        assert_eq!(stripped, none, "a shift without the option is none");
        let full = reading(OPT_SACK | OPT_WSCALE, 1).unwrap();
        let [snd, rcv] = shifts(0x97);
        assert!(full.sack && !full.timestamps && !full.ecn);
        assert_eq!((full.wscale_snd_bits, full.wscale_rcv_bits), (Some(snd), Some(rcv)));
        assert!(snd == 7 && rcv == 9 || cfg!(target_endian = "big"));
        assert_eq!(reading(OPT_SACK, 10), None, "a socket that listens agreed on nothing");
        assert_eq!(reading(0, CLOSED), None, "nor did one that never was open");
        assert!(reading(OPT_SACK, CLOSED).unwrap().sack);
        let (near, _far) = pair();
        assert_eq!(TcpInfo::of(&near).unwrap().cut(6).negotiated(), None);
    }

    #[test]
    fn not_a_tcp_socket_is_an_error() {
        let file = std::fs::File::open("/proc/self/stat").unwrap();
        assert_eq!(TcpInfo::of(&file).unwrap_err().to_string(), "read TCP_INFO");
    }

    #[test]
    fn offsets_are_those_of_the_running_kernel() {
        let Ok(raw) = std::fs::read("/sys/kernel/btf/vmlinux") else {
            skip!("not readable: /sys/kernel/btf/vmlinux");
        };
        let members = btf::members(&raw, "tcp_info").expect("the kernel's BTF describes tcp_info");
        for (name, ours) in OFFSETS {
            let kernels = members.iter().find(|member| member.name == *name);
            // An older kernel lacks the newest fields; none may lie elsewhere.
            if let Some(member) = kernels {
                assert_eq!(member.bit_offset, ours * 8, "{name}");
            }
        }
        assert!(members.iter().any(|member| member.name == "tcpi_bytes_acked"));
    }
}
