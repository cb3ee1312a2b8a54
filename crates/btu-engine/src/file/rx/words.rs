//! What an end of Rx and the process that started it say to each other: a line of JSON for each word.

use std::io;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Write;
use std::net::SocketAddrV4;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use btu_core::file::sample::Sent;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::EngineError;
use crate::file::Errand;

/// What an end is to be.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// A client.
    Call(Calling),
    /// A server.
    Serve(Serving),
}

/// What a client needs.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Calling {
    pub(super) server: SocketAddrV4,
    pub(super) errand: Errand,
}

/// What a server needs.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Serving {
    /// Its port is chosen by the system.
    pub(super) address: SocketAddrV4,
    pub(super) directory: Option<PathBuf>,
    /// Calls.
    pub(super) at_once: u16,
}

/// What a client is told when it is to do its errands, all of them; the end of the channel tells it to leave.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Begin;

/// What an end says.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Word {
    /// A server serves, here.
    Serves(SocketAddrV4),
    /// A client has made its first call, without a byte, which took so long.
    Ready(Nanos),
    /// So many bytes of files and blocks passed, since the beginning.
    Moved(Bytes),
    /// Errands that were done, in their order.
    Done(Vec<Times>),
    /// All errands were done; what was sent since the session began.
    Ended(Option<Sent>),
    /// Why nothing more is done.
    Failed(String),
}

/// Moments of an errand: request, first byte, last byte, commit.
pub(super) type Times = [Nanos; 4];

/// The channel between the two.
#[derive(Debug)]
pub(super) struct Channel {
    from: BufReader<UnixStream>,
    to: UnixStream,
}

impl Channel {
    pub(super) fn over(stream: UnixStream) -> Result<Self, EngineError> {
        let to = stream.try_clone().map_err(named("share"))?;
        Ok(Self { from: BufReader::new(stream), to })
    }

    /// The same channel, for another thread to say something on.
    pub(super) fn voice(&self) -> Result<UnixStream, EngineError> {
        self.to.try_clone().map_err(named("share"))
    }

    /// The next word; `None` once the other process has ended or left.
    pub(super) fn hear<W: DeserializeOwned>(&mut self) -> Result<Option<W>, EngineError> {
        let mut line = String::new();
        let came = self.from.read_line(&mut line).map_err(named("hear"))?;
        if came == 0 {
            return Ok(None);
        }
        serde_json::from_str(&line).map(Some).map_err(|cause| named("understand")(cause.into()))
    }

    pub(super) fn say(&mut self, word: &impl Serialize) -> Result<(), EngineError> {
        say(&self.to, word).map_err(named("say"))
    }
}

/// Says a word in one write.
pub(super) fn say(mut to: &UnixStream, word: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(word)?;
    line.push(b'\n');
    to.write_all(&line)
}

fn named(what: &'static str) -> impl FnOnce(io::Error) -> EngineError {
    EngineError::peer(format!("{what} words of a process of Rx"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_arrive_as_they_were_said_and_an_end_is_none() {
        let (one, other) = UnixStream::pair().unwrap();
        let (mut one, mut other) = (Channel::over(one).unwrap(), Channel::over(other).unwrap());
        let times = [1, 2, 3, 4].map(Nanos::new);
        let said = [Word::Moved(Bytes::new(7)), Word::Done(vec![times]), Word::Ended(None)];
        for word in &said {
            one.say(word).unwrap();
        }
        for word in said {
            assert_eq!(other.hear::<Word>().unwrap(), Some(word));
        }
        drop(one);
        assert_eq!(other.hear::<Word>().unwrap(), None);
    }

    #[test]
    fn what_nobody_understands_is_an_error() {
        let (one, other) = UnixStream::pair().unwrap();
        let mut other = Channel::over(other).unwrap();
        (&one).write_all(b"good morning\n").unwrap();
        let told = other.hear::<Word>().unwrap_err().sentence();
        assert!(told.starts_with("understand words of a process of Rx: "), "{told}");
    }
}
