//! The end that is called, in the thread of one client.

use std::io;
use std::io::Read;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::Arc;

use btu_core::file::sample::Operation;
use btu_core::units::Bytes;
use btu_sys::memory::Buffer;
use btu_sys::socket;

use super::pipe;
use crate::file::Errand;
use crate::file::disk::Reading;
use crate::file::ftp::scramble;
use crate::file::order::BUFFER;
use crate::file::order::Order;
use crate::file::order::answer_to;
use crate::file::reception::House;
use crate::transport::retried;

/// A client that is served.
struct Guest<'a> {
    stream: &'a TcpStream,
    house: &'a House,
    buffer: Buffer,
}

/// What a client says besides blocks, with every call counted.
struct Counted<'a>(&'a Guest<'a>);

/// Does what the client came for until it leaves.
pub(super) fn serve(stream: &Arc<TcpStream>, house: &Arc<House>) -> io::Result<()> {
    let mut buffer = Buffer::prefaulted(BUFFER).map_err(io::Error::other)?;
    scramble(&mut buffer);
    let mut guest = Guest { stream, house, buffer };
    let errand = Order::decode(Counted(&guest))?;
    guest.say(TAKEN)?;
    match errand.operation {
        Operation::Get => guest.give_files(&errand),
        Operation::Call | Operation::Put => guest.answer_each(errand.size.count()),
        Operation::Stream => guest.answer_each(errand.total()),
    }
}

impl Guest<'_> {
    /// Takes so many bytes, and says that they came, again and again.
    fn answer_each(&mut self, total: u64) -> io::Result<()> {
        loop {
            let note = |count| note(self.house, count);
            let came = pipe::receive(self.stream, &mut self.buffer, total, note)?;
            if came < total || total == 0 {
                return Ok(());
            }
            self.say(answer_to(total))?;
        }
    }

    fn give_files(&mut self, errand: &Errand) -> io::Result<()> {
        let mut number = [0; 4];
        loop {
            let count = |_| self.house.account.count_call();
            if pipe::fill(self.stream, &mut number, count)? < number.len() {
                return Ok(());
            }
            match errand.file(u32::from_be_bytes(number)) {
                Some(name) => self.give_from_disk(name, errand.size)?,
                None => self.give_made_up(errand.size)?,
            }
        }
    }

    fn give_from_disk(&mut self, name: &str, size: Bytes) -> io::Result<()> {
        let mut reading = Reading::of(self.house.file(name, size)?, &mut self.buffer);
        while let Some(chunk) = reading.chunk() {
            pipe::send_all(self.stream, chunk, |count| note(self.house, count))?;
        }
        reading.end()
    }

    fn give_made_up(&self, size: Bytes) -> io::Result<()> {
        let mut left = size.count();
        while left > 0 {
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(self.buffer.len());
            let chunk = &self.buffer[..length];
            pipe::send_all(self.stream, chunk, |count| note(self.house, count))?;
            left -= length as u64;
        }
        Ok(())
    }

    fn say(&self, answer: [u8; 4]) -> io::Result<()> {
        pipe::send_all(self.stream, &answer, |_| self.house.account.count_call())
    }
}

impl Read for Counted<'_> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.0.house.account.count_call();
        retried(|| socket::recv(self.0.stream.as_fd(), space))
    }
}

/// A call passed so many bytes.
fn note(house: &House, count: usize) {
    house.account.count_call();
    house.count(count);
}

/// The server knows what is to come.
pub(super) const TAKEN: [u8; 4] = *b"good";
