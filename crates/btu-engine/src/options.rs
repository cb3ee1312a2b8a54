//! The options of a socket, as a sample has them.

use btu_core::sample::Negotiated;
use btu_core::sample::SocketOptions;
use btu_sys::socket::Effective;
use btu_sys::tcp_info;

/// What the kernel told of a socket, in the words of a sample.
pub fn socket_options(found: Effective) -> SocketOptions {
    SocketOptions {
        congestion: found.congestion,
        nodelay: found.nodelay,
        send_buffer_bytes: found.send_buffer,
        receive_buffer_bytes: found.receive_buffer,
        mss_bytes: found.mss,
        window_clamp_bytes: found.window_clamp,
        low_water_bytes: found.low_water.filter(|bytes| *bytes > 1),
        not_sent_low_water_bytes: found.not_sent_low_water.filter(|bytes| *bytes > 0),
        negotiated: found.negotiated.map(negotiated),
    }
}

fn negotiated(found: tcp_info::Negotiated) -> Negotiated {
    let tcp_info::Negotiated { sack, timestamps, ecn, wscale_snd_bits, wscale_rcv_bits } = found;
    Negotiated { sack, timestamps, ecn, wscale_snd_bits, wscale_rcv_bits }
}
