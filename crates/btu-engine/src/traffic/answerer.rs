//! The answering end of a conversation: reads requests, sends what each asks for.

use std::io;
use std::net::TcpListener;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use btu_sys::socket;

use crate::error::EngineError;

/// Accepts until it is over; each connection has a thread, and ends when its asker closes it.
pub(super) fn answer_all(listener: &TcpListener, over: &AtomicBool) -> Result<(), EngineError> {
    socket::bound_waits(listener, Duration::from_millis(20))?;
    thread::scope(|scope| {
        while !over.load(Relaxed) {
            if let Ok((stream, _)) = listener.accept() {
                scope.spawn(move || answer(&stream, over));
            }
        }
    });
    Ok(())
}

/// Answers every request of a connection.
fn answer(stream: &TcpStream, over: &AtomicBool) {
    if socket::bound_waits(stream, Duration::from_millis(100)).is_err() {
        return;
    }
    let mut space = vec![0; CHUNK];
    loop {
        let mut head = [0; HEAD];
        if !read_all(stream, &mut head, over) {
            return;
        }
        let [request, answer] = lengths(&head);
        let mut left = request.saturating_sub(to_count(HEAD));
        while left > 0 {
            let part = to_length(left).min(CHUNK);
            if !read_all(stream, &mut space[..part], over) {
                return;
            }
            left -= to_count(part);
        }
        let mut left = answer.max(1);
        while left > 0 {
            match socket::send(stream.as_fd(), &space[..to_length(left).min(CHUNK)]) {
                Ok(sent) => left -= to_count(sent).min(left),
                Err(cause) if may_go_on(&cause) && !over.load(Relaxed) => {}
                Err(_) => return,
            }
        }
    }
}

fn read_all(stream: &TcpStream, mut space: &mut [u8], over: &AtomicBool) -> bool {
    while !space.is_empty() {
        match socket::recv(stream.as_fd(), space) {
            Ok(0) => return false,
            Ok(count) => space = &mut space[count..],
            Err(cause) if may_go_on(&cause) && !over.load(Relaxed) => {}
            Err(_) => return false,
        }
    }
    true
}

pub(super) fn may_go_on(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn lengths(head: &[u8; HEAD]) -> [u64; 2] {
    let number = |from: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&head[from..from + 8]);
        u64::from_le_bytes(bytes)
    };
    [number(0), number(8)]
}

pub(super) fn to_count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

pub(super) fn to_length(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// The two numbers at the beginning of a request.
pub(super) const HEAD: usize = 16;
/// The most in one call.
pub(super) const CHUNK: usize = 64 << 10;
