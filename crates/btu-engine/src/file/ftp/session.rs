//! One session of the FTP server: the dialogue on a control connection (RFC 959, 5).

use std::io;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::Arc;

use btu_sys::memory::Buffer;
use btu_sys::socket;

use super::command;
use super::command::Command;
use super::command::Extended;
use super::data;
use super::data::Passive;
use super::files::Listing;
use super::files::Start;
use super::limits;
use super::line::Line;
use super::line::Lines;
use super::name::Name;
use super::name::TooLong;
use super::reply::Reply;
use super::server::BUSY;
use super::server::Shared;
use crate::error::EngineError;

/// A client, where it stands, and what it prepared.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) shared: Arc<Shared>,
    pub(super) control: Arc<TcpStream>,
    pub(super) directory: Name,
    /// For what is thrown away.
    pub(super) buffer: Buffer,
    passive: Option<Passive>,
    /// After EPSV ALL.
    only_extended: bool,
    login: Progress,
}

/// How far the login came.
#[derive(Debug)]
enum Progress {
    Nobody { failures: u32 },
    Named { user: String, failures: u32 },
    In,
}

/// Whether the dialogue goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    Leave,
    Stay,
}

impl Session {
    pub(super) fn new(shared: Arc<Shared>, control: Arc<TcpStream>) -> Result<Self, EngineError> {
        socket::bound_waits(&control, shared.limits.control_idle)?;
        Ok(Self {
            control,
            directory: Name::root(),
            buffer: Buffer::prefaulted(shared.limits.buffer.len())?,
            passive: None,
            only_extended: false,
            login: Progress::Nobody { failures: 0 },
            shared,
        })
    }

    /// Serves the client until it leaves, falls silent, or the server ends.
    pub(super) fn run(mut self) {
        // An error of the control connection is the end of the session: nobody is left to tell.
        let _ = self.converse();
    }

    fn converse(&mut self) -> io::Result<()> {
        let mut lines = Lines::of_at_most(limits::LINE);
        self.say(&READY)?;
        loop {
            self.shared.account.count_call();
            let parsed = match lines.next(self.control.as_fd()) {
                Ok(Line::Text(line)) => Command::parse(line),
                Ok(Line::TooLong) => Err(TOO_LONG),
                Ok(Line::End) => return Ok(()),
                // It may have fallen silent because it cannot be reached: nothing is repeated to it.
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => return self.say(&IDLE),
                Err(cause) => return Err(cause),
            };
            let course = match parsed {
                Ok(command) => self.obey(command)?,
                Err(refusal) => self.say(&refusal).map(|()| Course::Stay)?,
            };
            if course == Course::Leave {
                // A client that was just heard can be reached: it gets its last reply, even if that is lost once.
                let _ = socket::finish_on_close(&*self.control);
                return Ok(());
            }
        }
    }

    /// One reply, one write: a second one would wait for the client's delayed acknowledgement.
    pub(super) fn say(&self, reply: &Reply) -> io::Result<()> {
        self.shared.account.count_call();
        data::send_all(&self.control, &reply.wire())
    }

    fn obey(&mut self, command: Command) -> io::Result<Course> {
        let reply = match command {
            Command::Quit => return self.say(&GOODBYE).map(|()| Course::Leave),
            Command::User(user) => self.named(user),
            Command::Pass(password) => return self.check(&password),
            Command::Feat => FEATURES,
            Command::OptsUtf8 | Command::Noop | Command::AsEver | Command::Type(_) => DONE,
            Command::Syst => SYSTEM,
            _ if !matches!(self.login, Progress::In) => NOT_LOGGED_IN,
            Command::Pasv => self.listen_passive(),
            Command::Epsv(form) => self.listen_extended(form),
            Command::Allo => NO_NEED,
            Command::Abor => NOTHING_TO_ABORT,
            other => settled(self.handle(&other))?,
        };
        self.say(&reply).map(|()| Course::Stay)
    }

    /// The commands that have to do with files.
    fn handle(&mut self, command: &Command) -> Result<Reply, Refusal> {
        match command {
            Command::Cwd(name) => self.change_directory(name),
            Command::Cdup => self.change_directory(".."),
            Command::Pwd => Ok(quoted(257, &self.directory, "is the current directory")),
            Command::Retr(name) => self.retrieve(name),
            Command::Stor(name) => self.write(name, Start::Afresh),
            Command::Appe(name) => self.write(name, Start::AtTheEnd),
            Command::Dele(name) => self.delete(name),
            Command::Rmd(name) => self.remove_directory(name),
            Command::Mkd(name) => self.make_directory(name),
            Command::List(name) => self.list(name.as_deref(), Listing::Long),
            Command::Nlst(name) => self.list(name.as_deref(), Listing::Names),
            Command::Size(name) => self.size(name),
            _ => Err(command::UNKNOWN.into()),
        }
    }

    fn named(&mut self, user: String) -> Reply {
        let failures = match self.login {
            Progress::Nobody { failures } | Progress::Named { failures, .. } => failures,
            Progress::In => 0,
        };
        self.login = Progress::Named { user, failures };
        PASSWORD
    }

    fn check(&mut self, password: &str) -> io::Result<Course> {
        let Progress::Named { user, failures } = &self.login else {
            return self.say(&USER_FIRST).map(|()| Course::Stay);
        };
        if self.shared.login.admits(user, password) {
            if !self.shared.guests.seat(self.shared.limits.sessions, &self.control) {
                return self.say(&BUSY).map(|()| Course::Leave);
            }
            self.login = Progress::In;
            return self.say(&LOGGED_IN).map(|()| Course::Stay);
        }
        let failures = failures + 1;
        self.login = Progress::Nobody { failures };
        self.say(&WRONG)?;
        Ok(if failures < limits::LOGINS { Course::Stay } else { Course::Leave })
    }

    fn listen_passive(&mut self) -> Reply {
        if self.only_extended {
            return ONLY_EXTENDED;
        }
        match self.listen() {
            Ok(SocketAddr::V4(address)) => {
                let ([a, b, c, d], [high, low]) =
                    (address.ip().octets(), address.port().to_be_bytes());
                let place = format!("{a},{b},{c},{d},{high},{low}");
                Reply::told(227, format!("Entering Passive Mode ({place})"))
            }
            Ok(SocketAddr::V6(_)) => USE_EXTENDED,
            Err(_) => NO_LISTENER,
        }
    }

    fn listen_extended(&mut self, form: Extended) -> Reply {
        let is_ipv4 = self.control.local_addr().is_ok_and(|local| local.is_ipv4());
        match form {
            Extended::All => {
                self.only_extended = true;
                DONE
            }
            Extended::IpV4 if !is_ipv4 => OTHER_PROTOCOL,
            Extended::IpV6 if is_ipv4 => OTHER_PROTOCOL,
            Extended::IpV4 | Extended::IpV6 | Extended::Same => match self.listen() {
                Ok(address) => {
                    let port = address.port();
                    Reply::told(229, format!("Entering Extended Passive Mode (|||{port}|)"))
                }
                Err(_) => NO_LISTENER,
            },
        }
    }

    fn listen(&mut self) -> Result<SocketAddr, EngineError> {
        // The older one first: its port may be the last free one.
        self.passive = None;
        let Shared { settings, limits, ports, sockets, .. } = &*self.shared;
        let passive = Passive::listen(&self.control, settings, limits, ports, sockets)?;
        let address = passive.address();
        self.passive = Some(passive);
        Ok(address)
    }

    /// The client's data connection, which it announced with PASV or EPSV. The client is told
    /// first: some connect only then.
    pub(super) fn open_data(&mut self) -> Result<Arc<TcpStream>, Refusal> {
        let passive = self.passive.take().ok_or(PASSIVE_FIRST)?;
        self.say(&OPENING)?;
        let opened = passive.accept(&self.shared.limits, &self.shared.sockets);
        let data = opened.map_err(|_| NO_CONNECTION)?;
        self.shared.end_with_the_process(&*data);
        Ok(data)
    }
}

/// Why a command was not done.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The control connection is gone.
    Control(io::Error),
    /// The client is told this.
    Told(Reply),
}

impl From<io::Error> for Refusal {
    fn from(cause: io::Error) -> Self {
        Self::Control(cause)
    }
}

impl From<TooLong> for Refusal {
    fn from(_: TooLong) -> Self {
        Self::Told(NAME_TOO_LONG)
    }
}

impl From<Reply> for Refusal {
    fn from(reply: Reply) -> Self {
        Self::Told(reply)
    }
}

fn settled(outcome: Result<Reply, Refusal>) -> io::Result<Reply> {
    match outcome {
        Ok(reply) | Err(Refusal::Told(reply)) => Ok(reply),
        Err(Refusal::Control(cause)) => Err(cause),
    }
}

/// A reply about a name; a quote in it is doubled (RFC 959, appendix II).
pub(super) fn quoted(code: u16, name: &Name, text: &str) -> Reply {
    let name = name.as_str().replace('"', "\"\"");
    Reply::told(code, format!("\"{name}\" {text}"))
}

const NAME_TOO_LONG: Reply = Reply::new(553, "name too long");
const OPENING: Reply = Reply::new(150, "data connection, please");
const DONE: Reply = Reply::new(200, "done");
const NO_NEED: Reply = Reply::new(202, "no need to allocate");
const FEATURES: Reply = Reply::listing(211, "Extensions supported:", &["EPSV", "SIZE", "UTF8"]);
const SYSTEM: Reply = Reply::new(215, "UNIX Type: L8");
const READY: Reply = Reply::new(220, "btu ready");
const GOODBYE: Reply = Reply::new(221, "goodbye");
const NOTHING_TO_ABORT: Reply = Reply::new(226, "no transfer in progress");
const LOGGED_IN: Reply = Reply::new(230, "logged in");
const PASSWORD: Reply = Reply::new(331, "password, please");
const IDLE: Reply = Reply::new(421, "nothing said for too long, closing");
const NO_LISTENER: Reply = Reply::new(425, "no port for a data connection");
const PASSIVE_FIRST: Reply = Reply::new(425, "PASV or EPSV first");
const NO_CONNECTION: Reply = Reply::new(425, "no data connection came");
const USE_EXTENDED: Reply = Reply::new(425, "PASV knows no IPv6, use EPSV");
const TOO_LONG: Reply = Reply::new(500, "line too long");
const USER_FIRST: Reply = Reply::new(503, "USER first");
const ONLY_EXTENDED: Reply = Reply::new(503, "refused after EPSV ALL");
const OTHER_PROTOCOL: Reply =
    Reply::new(522, "the control connection has another network protocol");
const NOT_LOGGED_IN: Reply = Reply::new(530, "log in first");
const WRONG: Reply = Reply::new(530, "wrong user or password");
