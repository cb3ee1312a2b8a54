//! The control connection as a client speaks over it: a command, and the reply to it (RFC 959, 4.2 and 5.4).

use std::io;
use std::io::Write;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use btu_sys::exchange;
use btu_sys::exchange::Ready;

use super::limits::LINE;
use super::line::Line;
use super::line::Lines;
use crate::error::EngineError;

/// Why a command did not do what it was for.
#[derive(Debug, thiserror::Error)]
pub enum FtpFault {
    /// The server refuses, or says something else than this command is answered with.
    #[error("the server answers {0}")]
    Answer(String),
    /// The server closed the control connection.
    #[error("the server ended the connection")]
    Ended,
    /// What it sent is no reply.
    #[error("this is no reply: {0}")]
    NoReply(String),
    /// It said nothing for so long, or nothing whole.
    #[error("the server was silent for {} s, or did not end its reply", .0.as_secs())]
    Silent(Duration),
    /// There is no connection.
    #[error(transparent)]
    Unreachable(#[from] btu_sys::Error),
    /// The connection failed.
    #[error(transparent)]
    Connection(#[from] io::Error),
}

/// A reply: its code, and the text of its last line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Heard {
    pub(super) code: u16,
    pub(super) text: String,
}

/// What the first digit of a reply says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Begun = 1,
    Done = 2,
    Goes = 3,
}

/// The dialogue with one server.
#[derive(Debug)]
pub(super) struct Dialogue {
    control: Arc<TcpStream>,
    lines: Lines,
    patience: Duration,
    /// Replies to transfers that were abandoned: they come before anything else.
    owed: u32,
}

impl Dialogue {
    /// Over a connection that gives up waiting after `patience`.
    pub(super) fn over(control: Arc<TcpStream>, patience: Duration) -> Self {
        Self { control, lines: Lines::of_at_most(LINE), patience, owed: 0 }
    }

    /// Says a command and hears the reply, which has to be of one of these classes.
    pub(super) fn ask(&mut self, command: &str, classes: &[Class]) -> Result<Heard, EngineError> {
        // Two lines would be two commands, whose replies nobody waits for.
        if command.contains(['\r', '\n']) {
            let cause = format!("ftp {:?}: a name of several lines cannot be said", shown(command));
            return Err(EngineError::Refused(cause));
        }
        let said = self.say(command).and_then(|()| self.hear());
        said.and_then(|heard| heard.of(classes)).map_err(named(shown(command)))
    }

    /// The reply to what was said before.
    pub(super) fn reply(&mut self, to: &str, classes: &[Class]) -> Result<Heard, EngineError> {
        self.hear().and_then(|heard| heard.of(classes)).map_err(named(to))
    }

    /// Whether there is something to hear: at once, or within `longest`.
    pub(super) fn has_word(&self, longest: Duration) -> io::Result<bool> {
        if self.lines.is_empty() {
            return exchange::poll(self.control.as_fd(), Ready::Read, Some(longest));
        }
        Ok(true)
    }

    /// What a server says by itself. One that is not ready yet says that first (RFC 959, 5.4), and not for ever.
    pub(super) fn greeting(&mut self) -> Result<String, EngineError> {
        for _ in 0..MOST_GREETINGS {
            let heard = self.reply("greeting", &[Class::Begun, Class::Done])?;
            if heard.is_of(Class::Done) {
                return Ok(heard.text);
            }
        }
        let cause =
            format!("ftp greeting: {MOST_GREETINGS} replies, and none says that it is ready");
        Err(EngineError::Refused(cause))
    }

    /// The reply to what was said before will be of no interest.
    pub(super) fn abandon(&mut self) {
        self.owed += 1;
    }

    fn say(&mut self, command: &str) -> Result<(), FtpFault> {
        for _ in 0..std::mem::take(&mut self.owed) {
            self.hear()?;
        }
        Ok((&*self.control).write_all(format!("{command}\r\n").as_bytes())?)
    }

    /// A reply of several lines ends with one that begins as the first, and a space (RFC 959, 4.2).
    fn hear(&mut self) -> Result<Heard, FtpFault> {
        let end = Instant::now() + self.patience;
        let first = self.line(end)?;
        let (code, goes_on) = code_of(&first).ok_or_else(|| FtpFault::NoReply(quoted(&first)))?;
        if !goes_on {
            return Ok(Heard::new(code, &first));
        }
        for _ in 0..MOST_LINES {
            let line = self.line(end)?;
            if code_of(&line) == Some((code, false)) {
                return Ok(Heard::new(code, &line));
            }
        }
        Err(FtpFault::NoReply(format!("{} and {MOST_LINES} lines without an end", quoted(&first))))
    }

    fn line(&mut self, end: Instant) -> Result<String, FtpFault> {
        let patience = self.patience;
        match self.lines.next_until(self.control.as_fd(), end) {
            Ok(Line::Text(text)) => Ok(String::from_utf8_lossy(text).into_owned()),
            Ok(Line::TooLong) => Err(FtpFault::NoReply(format!("a line of over {LINE} bytes"))),
            Ok(Line::End) => Err(FtpFault::Ended),
            Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {
                Err(FtpFault::Silent(patience))
            }
            Err(cause) => Err(cause.into()),
        }
    }
}

impl Heard {
    fn new(code: u16, line: &str) -> Self {
        Self { code, text: line.get(4..).unwrap_or_default().trim().to_owned() }
    }

    pub(super) fn is_of(&self, class: Class) -> bool {
        self.code / 100 == class as u16
    }

    fn of(self, classes: &[Class]) -> Result<Self, FtpFault> {
        if classes.iter().any(|class| self.is_of(*class)) {
            return Ok(self);
        }
        Err(FtpFault::Answer(format!("{} {}", self.code, self.text)))
    }

    /// The port of `229 ... (|||port|)`, between any delimiters (RFC 2428, 3).
    pub(super) fn extended_port(&self) -> Option<u16> {
        let inner = self.text.split_once('(')?.1.split_once(')')?.0;
        let mut fields = inner.split(inner.chars().next()?);
        let [_, family, address, port, _] = std::array::from_fn(|_| fields.next());
        let is_of_control = family == Some("") && address == Some("");
        port.filter(|_| is_of_control)?.parse().ok()
    }
}

/// The code of a line of a reply, and whether more lines follow it.
fn code_of(line: &str) -> Option<(u16, bool)> {
    let (code, rest) = line.split_at_checked(3)?;
    let is_code = code.bytes().all(|byte| byte.is_ascii_digit());
    match rest.chars().next() {
        _ if !is_code => None,
        Some('-') => Some((code.parse().ok()?, true)),
        Some(' ') | None => Some((code.parse().ok()?, false)),
        Some(_) => None,
    }
}

/// A command as messages show it: whoever reads them need not learn the password.
fn shown(command: &str) -> &str {
    if command.starts_with("PASS ") { "PASS" } else { command }
}

fn quoted(line: &str) -> String {
    format!("{:?}", line.chars().take(80).collect::<String>())
}

/// Names the command in what went wrong.
pub(super) fn named(command: &str) -> impl FnOnce(FtpFault) -> EngineError {
    let operation = command.to_owned();
    move |source| EngineError::Ftp { operation, source }
}

/// Lines of one reply: a greeting may be a page.
const MOST_LINES: usize = 1000;

/// Replies of one greeting.
const MOST_GREETINGS: usize = 10;

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A dialogue whose other end has said all this before, and ended.
    fn told(all: &str) -> Dialogue {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(door.local_addr().unwrap()).unwrap();
        let (far, _) = door.accept().unwrap();
        (&far).write_all(all.as_bytes()).unwrap();
        far.shutdown(std::net::Shutdown::Write).unwrap();
        // Kept open: what is said to it is not answered by a reset.
        std::mem::forget(far);
        Dialogue::over(Arc::new(near), Duration::from_secs(5))
    }

    fn asked(all: &str) -> Result<Heard, String> {
        told(all).ask("NOOP", &[Class::Done]).map_err(|error| error.sentence())
    }

    #[test]
    fn a_reply_is_its_last_line_whatever_stands_between() {
        let heard = |code, text: &str| Ok(Heard { code, text: text.to_owned() });
        assert_eq!(asked("200 done\r\n"), heard(200, "done"));
        assert_eq!(asked("200\n"), heard(200, ""));
        let listing = "211-Features:\r\n EPSV\r\n211-more\r\n220 not yet\r\n211 End\r\n";
        assert_eq!(asked(listing), heard(211, "End"));
    }

    #[test]
    fn what_is_no_fitting_reply_is_told_with_the_command() {
        let contains = |all: &str, part: &str| {
            let error = asked(all).unwrap_err();
            assert!(error.contains("NOOP") && error.contains(part), "{all:?}: {error}");
        };
        contains("550 no such file\r\n", "550 no such file");
        contains("331 name first\r\n", "331 name first");
        contains("", "ended the connection");
        contains("hello\r\n", "\"hello\"");
        contains("2000 x\r\n", "no reply");
        contains("é00 x\r\n", "no reply");
        contains(&format!("200 {}\r\n", "x".repeat(5000)), "over 4096 bytes");
        contains(&"200-x\r\n".repeat(MOST_LINES + 1), "without an end");
    }

    #[test]
    fn a_password_of_several_lines_is_refused_and_not_shown() {
        let refused = told("").ask("PASS open\rsesame", &[Class::Done]).unwrap_err().sentence();
        assert_eq!(refused, "ftp \"PASS\": a name of several lines cannot be said");
    }

    #[test]
    fn a_server_that_is_not_ready_is_waited_for_and_not_for_ever() {
        let soon = "120 in a minute\r\n".repeat(MOST_GREETINGS - 1) + "220 ready\r\n";
        told(&soon).greeting().unwrap();
        let never = told(&"120 in a minute\r\n".repeat(MOST_GREETINGS + 1)).greeting();
        let error = never.unwrap_err().sentence();
        assert!(error.contains("none says that it is ready"), "{error}");
        let error = told("421 busy\r\n").greeting().unwrap_err().sentence();
        assert!(error.contains("421 busy"), "{error}");
    }

    #[test]
    fn a_server_that_never_comes_to_an_end_is_silent() {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(door.local_addr().unwrap()).unwrap();
        let (far, _) = door.accept().unwrap();
        let endless = std::thread::spawn(move || while (&far).write_all(&[b'2'; 512]).is_ok() {});
        let mut dialogue = Dialogue::over(Arc::new(near), Duration::from_millis(100));
        let error = dialogue.reply("greeting", &[Class::Done]).unwrap_err().sentence();
        assert!(error.contains("silent for"), "{error}");
        drop(dialogue);
        endless.join().unwrap();
    }

    #[test]
    fn replies_to_what_was_abandoned_are_heard_first() {
        let mut dialogue = told("426 abandoned\r\n200 done\r\n");
        dialogue.abandon();
        assert_eq!(dialogue.ask("NOOP", &[Class::Done]).unwrap().code, 200);
    }

    #[test]
    fn a_command_of_two_lines_and_a_password_are_not_said_aloud() {
        let error = told("").ask("DELE a\r\nDELE b", &[Class::Done]).unwrap_err().sentence();
        assert!(error.contains("several lines"), "{error}");
        let error = told("530 no\r\n").ask("PASS secret", &[Class::Done]).unwrap_err().sentence();
        assert!(error.contains("530 no") && !error.contains("secret"), "{error}");
    }

    /// The example of RFC 2428, 3, and replies that name another network or nothing.
    #[test]
    fn the_port_of_an_extended_passive_reply_is_read_between_any_delimiters() {
        let port = |text: &str| Heard { code: 229, text: text.to_owned() }.extended_port();
        assert_eq!(port("Entering Extended Passive Mode (|||6446|)"), Some(6446));
        assert_eq!(port("ok (!!!21!)"), Some(21));
        for wrong in ["", "(", "()", "(|||)", "(|1|10.0.0.1|21|)", "(|||70000|)", "|||21|"] {
            assert_eq!(port(wrong), None, "{wrong}");
        }
    }
}
