//! Processes of an agent that are given orders, one after the other, and say when each was carried out.

use std::io;
use std::io::BufReader;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use btu_control::line;
use btu_control::line::LineError;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::output;

/// The agent's side. Dropped, the process is killed, and what it started with it.
pub(super) struct Ordered {
    /// Which process it is, for people.
    name: &'static str,
    child: Child,
    said: BufReader<Patient>,
    /// Why it was killed, once it was: nothing can start it again where the agent is confined.
    ended: Option<String>,
}

/// A channel on which no word is waited for beyond its time, however slowly its bytes come.
struct Patient {
    channel: UnixStream,
    until: Option<Instant>,
}

impl Ordered {
    /// Starts it; `name` is how people call the process.
    pub(super) fn start(name: &'static str, mut command: Command) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        command.stdin(Stdio::piped()).stdout(Stdio::from(OwnedFd::from(theirs)));
        let child = command.spawn()?;
        // The command holds the other end of the channel: one that ends without a word must be heard.
        drop(command);
        let said = BufReader::new(Patient { channel: ours, until: None });
        Ok(Self { name, child, said, ended: None })
    }

    /// Why it is not there any more, and what brings it back; `None` where it is.
    pub(super) fn ended(&self) -> Option<String> {
        let why = self.ended.as_ref()?;
        Some(format!("{} of this agent has ended ({why}): start the agent there anew", self.name))
    }

    /// What it says of itself before its first order, however long that takes.
    pub(super) fn hear<T: DeserializeOwned>(&mut self) -> io::Result<T> {
        line::hear(&mut self.said).map_err(|error| self.misheard(&error))
    }

    /// Which process said what is no word, or nothing.
    fn misheard(&self, error: &LineError) -> io::Error {
        let kind = match error {
            LineError::Io(cause) => cause.kind(),
            LineError::Ended => io::ErrorKind::UnexpectedEof,
            LineError::NoWord { .. } | LineError::TooLong => io::ErrorKind::InvalidData,
        };
        io::Error::new(kind, format!("{}: {error}", self.name))
    }

    /// Gives an order; it was carried out when this returns, or could not be within `within`. A process
    /// that does not answer in time is killed: its answer would be taken for that to the next order.
    pub(super) fn order(&mut self, order: &impl Serialize, within: Duration) -> io::Result<()> {
        self.ask(order, within)
    }

    /// The same for an order with an answer.
    pub(super) fn ask<T: DeserializeOwned>(
        &mut self,
        order: &impl Serialize,
        within: Duration,
    ) -> io::Result<T> {
        let answer = self.tell(order, within).inspect_err(|why| self.give_up(why))?;
        answer.map_err(io::Error::other)
    }

    fn tell<T: DeserializeOwned>(
        &mut self,
        order: &impl Serialize,
        within: Duration,
    ) -> io::Result<Result<T, String>> {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.said.get_mut().until = Some(Instant::now() + within);
        line::say(self.child.stdin.as_mut().ok_or_else(gone)?, order)?;
        self.hear()
    }

    /// The order to end something, which is over when this returns: a process that does not do it is
    /// killed, and what it started dies with it.
    pub(super) fn end(&mut self, order: &impl Serialize, what: &str) {
        self.end_within(order, what, ENDING);
    }

    fn end_within(&mut self, order: &impl Serialize, what: &str, within: Duration) {
        if let Err(error) = self.order(order, within) {
            output::message(&format!("{what} did not end its work ({error}): it is killed"));
            self.give_up(&error);
        }
    }

    fn give_up(&mut self, why: &io::Error) {
        self.ended.get_or_insert_with(|| why.to_string());
        self.kill();
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Ordered {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Read for Patient {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.channel.set_read_timeout(left)?;
        self.channel.read(space)
    }
}

/// For the start of a process.
pub(super) const STARTING: Duration = Duration::from_secs(10);
/// For the end of one, which is killed: much longer than the kernel takes.
pub(super) const ENDING: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn shell(script: &str, mark: &Path) -> Ordered {
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(mark);
        Ordered::start("the shell", command).unwrap()
    }

    #[test]
    fn an_order_was_carried_out_when_it_returns() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let answers =
            r#"read order; touch "$0"; echo '{"Ok":null}'; read order; echo '{"Err":"no"}'"#;
        let mut ordered = shell(answers, &mark);
        ordered.order(&"start", Duration::from_mins(1)).unwrap();
        assert!(mark.exists());
        let refused = ordered.order(&"start", Duration::from_mins(1)).unwrap_err();
        assert_eq!(refused.to_string(), "no");
        assert_eq!(ordered.ended(), None, "what cannot be done now may be later");
        // It has ended: nobody waits for it.
        ordered.order(&"start", Duration::from_mins(1)).unwrap_err();
        let ended = ordered.ended().unwrap();
        assert!(ended.starts_with("the shell of this agent has ended ("), "{ended}");
    }

    #[test]
    fn an_answer_that_comes_late_is_not_taken_for_that_to_the_next_order() {
        let late = r#"read first; read second; echo '{"Ok":null}'; read third"#;
        let mut ordered = shell(late, Path::new("-"));
        ordered.order(&"start", Duration::from_millis(20)).unwrap_err();
        ordered.order(&"end", Duration::from_mins(1)).unwrap_err();
    }

    #[test]
    fn a_process_that_does_not_end_its_work_is_killed() {
        let mut ordered = shell("exec sleep 600", Path::new("-"));
        ordered.end_within(&"end", "the front", Duration::from_millis(20));
        assert!(ordered.child.try_wait().unwrap().is_some(), "it goes on");
    }

    #[test]
    fn a_line_without_an_end_is_given_up_at_its_bound_and_told_with_who_said_it() {
        let mut ordered = shell("read order; exec yes '[[[[[[[[' | tr -d '\\n'", Path::new("-"));
        let refused = ordered.order(&"start", Duration::from_mins(1)).unwrap_err();
        assert_eq!(refused.to_string(), "the shell: a line of more than 1048576 bytes");
        assert!(ordered.child.try_wait().unwrap().is_some(), "it goes on");
    }

    #[test]
    fn an_answer_that_comes_byte_by_byte_is_not_waited_for_beyond_its_time() {
        let slow = "read order; while :; do printf '['; sleep 0.05; done";
        let mut ordered = shell(slow, Path::new("-"));
        let begun = Instant::now();
        let refused = ordered.order(&"start", Duration::from_millis(300)).unwrap_err();
        assert!(refused.to_string().starts_with("the shell: "), "{refused}");
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    }
}
