//! A bare loop of the calls of COMM over one TCP connection, and nothing else: what the loop of COMM is compared with.
//!
//! ```text
//! bare --listen ADDRESS --message BYTES              accepts, and reads to the end
//! bare --connect ADDRESS --message BYTES --seconds N writes for so long
//! ```
//!
//! The reader prints one line of JSON: its bits over the time from its first byte to its last.
#![forbid(unsafe_code)]

use std::error::Error;
use std::net::TcpListener;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use btu_engine::comm::stream::LARGE;
use btu_sys::socket;

fn main() -> Result<(), Box<dyn Error>> {
    // Memory that was written to: the kernel copies the page of zeros faster (decision 22).
    let mut message = vec![0x48; option("--message")?.ok_or("give --message BYTES")?.parse()?];
    match (option("--listen")?, option("--connect")?) {
        (Some(address), None) => {
            let (stream, _) = TcpListener::bind(address)?.accept()?;
            read(&stream, &mut message)
        }
        (None, Some(address)) => {
            let seconds = option("--seconds")?.ok_or("give --seconds N")?.parse()?;
            write(&TcpStream::connect(address)?, &message, Duration::from_secs(seconds))
        }
        _ => Err("give one of --listen and --connect".into()),
    }
}

fn write(stream: &TcpStream, message: &[u8], time: Duration) -> Result<(), Box<dyn Error>> {
    let over = Arc::new(AtomicBool::new(false));
    let given = Arc::clone(&over);
    thread::spawn(move || {
        thread::sleep(time);
        given.store(true, Relaxed);
    });
    while !over.load(Relaxed) {
        let mut sent = 0;
        while sent < message.len() {
            sent += socket::send(stream.as_fd(), &message[sent..])?;
        }
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the result of this program")]
#[expect(clippy::cast_precision_loss, reason = "bytes of a few seconds are far below 2^53")]
fn read(stream: &TcpStream, space: &mut [u8]) -> Result<(), Box<dyn Error>> {
    let mut bytes = read_once(stream, space, 0)?;
    let first = Instant::now();
    loop {
        match read_once(stream, space, bytes)? {
            0 => break,
            more => bytes += more,
        }
    }
    let seconds = first.elapsed().as_secs_f64();
    println!("{{\"goodput_bit_s\": {}}}", 8.0 * bytes as f64 / seconds);
    Ok(())
}

/// One read where so many bytes came before, as COMM has it for messages of this size.
fn read_once(stream: &TcpStream, space: &mut [u8], bytes: usize) -> std::io::Result<usize> {
    if space.len() < LARGE {
        return socket::recv(stream.as_fd(), space);
    }
    let came = bytes % space.len();
    socket::recv_ready(stream.as_fd(), &mut space[came..])
}

/// The value that follows an option, if it is there.
fn option(name: &str) -> Result<Option<String>, Box<dyn Error>> {
    let mut args = std::env::args().skip_while(|arg| arg != name);
    match (args.next(), args.next()) {
        (Some(_), None) => Err(format!("{name}: a value is missing").into()),
        (_, value) => Ok(value),
    }
}
