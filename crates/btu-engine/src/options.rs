//! The options of a socket, as a sample has them.

use btu_core::sample::SocketOptions;
use btu_sys::socket::Effective;

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
    }
}
