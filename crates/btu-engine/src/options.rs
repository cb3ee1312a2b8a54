//! The options of a socket, as a sample has them.

use btu_core::sample::SocketOptions;
use btu_sys::socket::Effective;

/// What the kernel told of a socket, in the words of a sample.
pub fn socket_options(found: Effective) -> SocketOptions {
    let Effective { congestion, nodelay, send_buffer, receive_buffer, mss, window_clamp } = found;
    SocketOptions {
        congestion,
        nodelay,
        send_buffer_bytes: send_buffer,
        receive_buffer_bytes: receive_buffer,
        mss_bytes: mss,
        window_clamp_bytes: window_clamp,
    }
}
