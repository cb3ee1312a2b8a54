//! A way between two UDP ends that loses what a test wants to be lost.

use std::net::SocketAddr;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

/// The address that leads to `far`. What comes back from there is given to `is_lost` first. The way is
/// there until nothing has passed it for a minute.
pub(crate) fn towards(
    far: SocketAddr,
    mut is_lost: impl FnMut(&[u8]) -> bool + Send + 'static,
) -> SocketAddr {
    copied(far, move |said| usize::from(!is_lost(said)))
}

/// The same with as many copies of what comes back as `copies` says.
pub(crate) fn copied(
    far: SocketAddr,
    mut copies: impl FnMut(&[u8]) -> usize + Send + 'static,
) -> SocketAddr {
    let [near_side, far_side] = [(); 2].map(|()| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        Arc::new(socket)
    });
    far_side.connect(far).unwrap();
    let (at, near) = (near_side.local_addr().unwrap(), Arc::new(OnceLock::new()));
    let [their_near_side, their_far_side] = [&near_side, &far_side].map(Arc::clone);
    let known = Arc::clone(&near);
    thread::spawn(move || {
        let mut space = [0; 2048];
        while let Ok((length, from)) = their_near_side.recv_from(&mut space) {
            known.get_or_init(|| from);
            let _ = their_far_side.send(&space[..length]);
        }
    });
    thread::spawn(move || {
        let mut space = [0; 2048];
        while let Ok(length) = far_side.recv(&mut space) {
            let Some(near) = near.get() else { continue };
            for _ in 0..copies(&space[..length]) {
                let _ = near_side.send_to(&space[..length], near);
            }
        }
    });
    at
}
