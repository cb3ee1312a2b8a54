//! A worker process in the hands of its agent: started, told words, heard, killed.

use std::io;
use std::io::Read;
use std::io::Write;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;

use btu_control::frame;
use btu_control::frame::Chunk;
use btu_control::frame::Frame;
use btu_control::frame::FrameLimits;
use btu_control::frame::FrameReader;
use btu_control::message::Answer;
use btu_control::message::Bounded;
use btu_control::message::Request;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use serde::Deserialize;
use serde::Serialize;

/// A worker process. Dropped, it is killed and waited for.
pub(super) struct Worker {
    /// The process; one behind an emulator is the front's, a test the bench's.
    child: Option<Child>,
    channel: UnixStream,
    reader: FrameReader,
    unsent: Vec<u8>,
}

/// What the policy allows a worker.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Allowed {
    /// Whom its FTP server hears.
    pub(super) peer: IpAddr,
    /// Ports of its data connections; `None` for any.
    pub(super) ports: Option<(u16, u16)>,
    /// What it may send at the most, all connections together.
    pub(super) rate: Option<BitRate>,
    /// How long anything is repeated that nobody acknowledges, run or not.
    pub(super) longest_cut: Nanos,
    /// Whether it tells while it works what it moves.
    pub(super) metered: bool,
}

impl Allowed {
    /// As options of the worker.
    pub(super) fn tell(self, command: &mut Command) {
        command.args(["--peer", &self.peer.to_string()]);
        if let Some((first, last)) = self.ports {
            command.args(["--ports", &first.to_string(), &last.to_string()]);
        }
        if let Some(rate) = self.rate {
            command.args(["--bit-per-second", &rate.bit_per_second().to_string()]);
        }
        let longest_cut = std::time::Duration::from(self.longest_cut).as_millis();
        command.args(["--longest-cut-ms", &longest_cut.to_string()]);
        if self.metered {
            command.arg("--metered");
        }
    }
}

/// What a worker said.
#[derive(Debug)]
pub(super) enum Word {
    /// A message.
    Answer(Answer),
    /// A piece of a document.
    Piece(Chunk),
    /// Nothing any more: it is gone.
    Ended(String),
}

impl Worker {
    /// Starts one whose data connections come in at `address`.
    pub(super) fn start(address: IpAddr, allowed: Allowed) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let output = theirs.try_clone()?;
        let mut command = Command::new("/proc/self/exe");
        command.args(["agent", "worker", "--parent", &std::process::id().to_string()]);
        command.args(["--address", &address.to_string()]);
        allowed.tell(&mut command);
        command.stdin(Stdio::from(OwnedFd::from(theirs)));
        command.stdout(Stdio::from(OwnedFd::from(output)));
        let child = Some(command.spawn()?);
        let reader = FrameReader::new(FrameLimits::ANSWERS);
        Ok(Self { child, channel: ours, reader, unsent: Vec::new() })
    }

    /// One that the front or the bench started, and that has connected.
    pub(super) fn of_another(channel: UnixStream) -> io::Result<Self> {
        channel.set_nonblocking(true)?;
        let reader = FrameReader::new(FrameLimits::ANSWERS);
        Ok(Self { child: None, channel, reader, unsent: Vec::new() })
    }

    /// A process that was started with the other end of this channel.
    pub(super) fn of_process(child: Child, channel: UnixStream) -> io::Result<Self> {
        let mut worker = Self::of_another(channel)?;
        worker.child = Some(child);
        Ok(worker)
    }

    /// Tells it what to do.
    pub(super) fn order(&mut self, request: &Request) {
        self.tell(request);
    }

    /// Tells it something in its own words. One that does not keep up with what it is told is not told
    /// more, and ends.
    pub(super) fn tell(&mut self, word: &impl Serialize) {
        if let Ok(bytes) = frame::encode(word)
            && !self.is_overfull()
        {
            self.unsent.extend(bytes);
            self.flush();
        }
    }

    /// A conductor asks one thing after the other; only one that means harm asks for the same so often.
    const fn is_overfull(&self) -> bool {
        self.unsent.len() > MOST_UNSENT
    }

    /// Sends what the channel takes; a worker that is gone shows when it is heard.
    pub(super) fn flush(&mut self) {
        while !self.unsent.is_empty() {
            match self.channel.write(&self.unsent) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_later) => return,
            }
        }
    }

    /// True where orders wait for room in the channel.
    pub(super) const fn wants_write(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// What it said since the last time.
    pub(super) fn hear(&mut self) -> Vec<Word> {
        if self.is_overfull() {
            return vec![Word::Ended("it was told more than it can do".to_owned())];
        }
        let ended = self.pump().err();
        let mut words = Vec::new();
        loop {
            match self.reader.next_frame() {
                Ok(Some(Frame::Message(text))) => match Answer::parse(&text) {
                    Ok(answer) => words.push(Word::Answer(answer)),
                    Err(error) => return vec![Word::Ended(error.to_string())],
                },
                Ok(Some(Frame::Chunk(chunk))) => words.push(Word::Piece(chunk)),
                Ok(None) => break,
                Err(error) => return vec![Word::Ended(error.to_string())],
            }
        }
        words.extend(ended.map(|_| Word::Ended(self.end())));
        words
    }

    /// Payload that it told of and that nobody heard of yet, of one that is dead.
    pub(super) fn settled(mut self) -> Bytes {
        let told = self.hear().into_iter().map(|word| match word {
            Word::Answer(answer) => answer.moved_bytes(),
            _ => Bytes::ZERO,
        });
        told.fold(Bytes::ZERO, Bytes::saturating_add)
    }

    fn pump(&mut self) -> io::Result<()> {
        let mut space = vec![0; 64 << 10];
        for _ in 0..MOST_READS {
            match self.channel.read(&mut space) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.reader.push(&space[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// How it ended, once its channel is closed.
    fn end(&mut self) -> String {
        // Without its channel it can do nothing more.
        let Some(child) = &mut self.child else { return "its channel is closed".to_owned() };
        let _ = child.kill();
        child.wait().map_or_else(|error| error.to_string(), |status| status.to_string())
    }

    /// Kills it, unless it is another's.
    pub(super) fn kill(&mut self) {
        // Its sockets are closed when it is dead, and it is dead when the wait returns.
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

impl AsFd for Worker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }
}

/// Reads of one worker before the others have their turn.
const MOST_READS: usize = 16;
/// Orders that wait for room in the channel.
const MOST_UNSENT: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_worker_told_before_it_was_killed_is_heard() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let worker = Worker::of_another(ours).unwrap();
        let told = |answer| frame::encode(&answer).unwrap();
        let step = Answer::Progress {
            seq: 1,
            text: "1/2".to_owned(),
            moved_bytes: Bytes::new(200),
            kept_bytes: 0,
        };
        theirs.write_all(&told(Answer::Moved { moved_bytes: Bytes::new(30) })).unwrap();
        theirs.write_all(&told(step)).unwrap();
        // It was killed in the middle of a word.
        theirs.write_all(&told(Answer::Moved { moved_bytes: Bytes::new(4) })[..9]).unwrap();
        drop(theirs);
        assert_eq!(worker.settled().count(), 230);
    }

    #[test]
    fn a_worker_that_does_not_keep_up_ends_and_nothing_more_is_kept_for_it() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let mut worker = Worker::of_another(ours).unwrap();
        assert!(worker.hear().is_empty());
        let order = "x".repeat(200 << 10);
        for _ in 0..100 {
            worker.tell(&order);
        }
        assert!(worker.unsent.len() <= MOST_UNSENT + order.len() + 8, "{}", worker.unsent.len());
        assert!(matches!(&worker.hear()[..], [Word::Ended(_)]));
    }
}
