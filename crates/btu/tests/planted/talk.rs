//! What the two ends of a planted connection do: plain loops of writes, reads, pauses and work.

use std::io;
use std::io::Read;
use std::io::Write;
use std::net::Shutdown;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;
use std::time::Instant;

/// What the end that sends does. It ends with an end of stream, and waits for the reader's.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Writer {
    /// Writes of this size for so long.
    Bulk { write: usize, millis: u64 },
    /// This many bytes in writes of 64 KiB.
    Amount(usize),
    /// Bursts of so many bytes with pauses between them, in which nothing is on its way.
    Bursts { bytes: usize, count: u32, pause_millis: u64 },
    /// A message in two writes, then its answer of one byte is waited for; so many without a pause, then
    /// some more behind a pause each.
    TwoWrites { head: usize, body: usize, count: u32, paused: u32, pause_millis: u64 },
    /// A message in one write, then its answer of one byte is waited for.
    Messages { bytes: usize, count: u32 },
}

/// What the end that receives does until the stream ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reader {
    /// Reads as fast as it can.
    Eager,
    /// Answers each message of so many bytes with one byte.
    Answers { bytes: usize },
    /// Sleeps after each read.
    Slow { read: usize, pause_millis: u64 },
    /// Works on what it read without a rest, for so long per read.
    Busy { read: usize, work_micros: u64 },
}

impl Writer {
    pub(crate) fn write(self, stream: &mut TcpStream) -> io::Result<u64> {
        let sent = self.write_all(stream)?;
        stream.shutdown(Shutdown::Write)?;
        io::copy(stream, &mut io::sink())?;
        Ok(sent)
    }

    fn write_all(self, stream: &mut TcpStream) -> io::Result<u64> {
        let mut sent = 0;
        match self {
            Self::Bulk { write, millis } => {
                let (block, end) = (vec![7; write], Instant::now() + Duration::from_millis(millis));
                while Instant::now() < end {
                    stream.write_all(&block)?;
                    sent += wide(write);
                }
            }
            Self::Amount(bytes) => sent += blocks(stream, bytes)?,
            Self::Bursts { bytes, count, pause_millis } => {
                for _ in 0..count {
                    thread::sleep(Duration::from_millis(pause_millis));
                    sent += blocks(stream, bytes)?;
                    stream.read_exact(&mut [0])?;
                }
            }
            Self::TwoWrites { head, body, count, paused, pause_millis } => {
                let (head, body) = (vec![1; head], vec![2; body]);
                for number in 0..count + paused {
                    if number >= count {
                        thread::sleep(Duration::from_millis(pause_millis));
                    }
                    stream.write_all(&head)?;
                    stream.write_all(&body)?;
                    stream.read_exact(&mut [0])?;
                    sent += wide(head.len() + body.len());
                }
            }
            Self::Messages { bytes, count } => {
                let block = vec![3; bytes];
                for _ in 0..count {
                    stream.write_all(&block)?;
                    stream.read_exact(&mut [0])?;
                    sent += wide(bytes);
                }
            }
        }
        Ok(sent)
    }
}

impl Reader {
    pub(crate) fn read(self, stream: &mut TcpStream) -> io::Result<u64> {
        let (mut total, mut space) = (0, vec![0; self.read_size()]);
        loop {
            let count = wide(stream.read(&mut space)?);
            if count == 0 {
                return Ok(total);
            }
            match self {
                Self::Eager => {}
                Self::Answers { bytes } => {
                    let answers = (total + count) / wide(bytes) - total / wide(bytes);
                    for _ in 0..answers {
                        stream.write_all(b".")?;
                    }
                }
                Self::Slow { pause_millis, .. } => {
                    thread::sleep(Duration::from_millis(pause_millis));
                }
                Self::Busy { work_micros, .. } => {
                    let end = Instant::now() + Duration::from_micros(work_micros);
                    while Instant::now() < end {
                        std::hint::spin_loop();
                    }
                }
            }
            total += count;
        }
    }

    pub(crate) fn read_size(self) -> usize {
        match self {
            Self::Eager | Self::Answers { .. } => 64 << 10,
            Self::Slow { read, .. } | Self::Busy { read, .. } => read,
        }
    }
}

fn blocks(stream: &mut TcpStream, bytes: usize) -> io::Result<u64> {
    let block = vec![5; (64 << 10).min(bytes)];
    let mut rest = bytes;
    while rest > 0 {
        let part = rest.min(block.len());
        stream.write_all(&block[..part])?;
        rest -= part;
    }
    Ok(wide(bytes))
}

fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
