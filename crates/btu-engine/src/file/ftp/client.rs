//! The FTP client: one control connection, one transfer at a time, passive.

use std::fmt;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;

use btu_core::units::Bytes;
use btu_sys::socket;
use btu_sys::socket::Settings;

use super::dialogue::Class;
use super::dialogue::Dialogue;
use super::dialogue::FtpFault;
use super::dialogue::named;
use super::transfer::Transfer;
use crate::error::EngineError;
use crate::file::Opening;
use crate::file::sockets::Sockets;
use crate::time::now;

/// How to reach a server, and as whom.
#[derive(Clone, PartialEq, Eq)]
pub struct Access {
    /// Where it listens.
    pub server: SocketAddr,
    /// The argument of USER.
    pub user: String,
    /// The argument of PASS.
    pub password: String,
    /// Where files are from, each in the one before; none for where the server lets its clients begin.
    pub directories: Vec<String>,
    /// Socket options of the data connections.
    pub sockets: Settings,
    /// How long the server may stay silent, while nothing of what is sent to it arrives.
    pub patience: Duration,
}

/// A session with a server, logged in, for binary files.
#[derive(Debug)]
pub struct Client {
    access: Access,
    dialogue: Arc<Mutex<Dialogue>>,
    sockets: Arc<Sockets>,
    opening: Opening,
    greeting: String,
}

/// Ends a client from any thread: what it waits for fails at once, and so does all it tries later.
#[derive(Clone, Debug)]
pub struct Breaker(Arc<Sockets>);

impl Access {
    /// As an anonymous user, with the system's own socket options.
    pub fn anonymous(server: SocketAddr) -> Self {
        Self {
            server,
            user: "anonymous".to_owned(),
            password: "btu@".to_owned(),
            directories: Vec::new(),
            sockets: Settings::default(),
            patience: Duration::from_secs(30),
        }
    }
}

impl fmt::Debug for Access {
    /// Whoever reads messages need not learn the password.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { server, user, .. } = self;
        out.debug_struct("Access")
            .field("server", server)
            .field("user", user)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Connects and logs in. The calling thread is in the network of the client.
    pub fn connect(access: &Access) -> Result<Self, EngineError> {
        Self::connect_among(&Arc::default(), access)
    }

    /// The same, with sockets that somebody else can close.
    pub fn connect_among(sockets: &Arc<Sockets>, access: &Access) -> Result<Self, EngineError> {
        let begun = now();
        let options = Settings { nodelay: Some(true), ..Settings::default() };
        let control = connected(access.server, &options, access.patience, sockets)?;
        let met = now();
        let mut dialogue = Dialogue::over(control, access.patience);
        let greeting = log_in(&mut dialogue, access)?;
        let opening = Opening { connect_ns: met.since(begun), auth_ns: Some(now().since(met)) };
        let (dialogue, sockets) = (Arc::new(Mutex::new(dialogue)), Arc::clone(sockets));
        Ok(Self { access: access.clone(), dialogue, sockets, opening, greeting })
    }

    /// What the server said first.
    pub fn greeting(&self) -> &str {
        &self.greeting
    }

    /// What connecting took, and logging in.
    pub fn opening(&self) -> Opening {
        self.opening
    }

    /// Begins to receive the file `name`.
    pub fn retrieve(&mut self, name: &str) -> Result<Transfer, EngineError> {
        let data = self.data(&format!("RETR {name}"))?;
        Ok(Transfer::here(data, &self.dialogue, name))
    }

    /// Begins to send the file `name`.
    pub fn store(&mut self, name: &str) -> Result<Transfer, EngineError> {
        let data = self.data(&format!("STOR {name}"))?;
        Transfer::there(data, &self.dialogue, name, self.access.patience)
    }

    /// The data connection of a command. EPSV is the only form that works for both families, and it names no address
    /// to be fooled with.
    fn data(&self, command: &str) -> Result<Arc<TcpStream>, EngineError> {
        let mut dialogue = held(&self.dialogue);
        let passive = dialogue.ask("EPSV", &[Class::Done])?;
        let unread = || named("EPSV")(FtpFault::Answer(passive.text.clone()));
        let port = passive.extended_port().ok_or_else(unread)?;
        let address = SocketAddr::new(self.access.server.ip(), port);
        let Access { sockets, patience, .. } = &self.access;
        let data = connected(address, sockets, *patience, &self.sockets)?;
        dialogue.ask(command, &[Class::Begun])?;
        Ok(data)
    }

    /// The size of the file `name`.
    pub fn size(&mut self, name: &str) -> Result<Bytes, EngineError> {
        let command = format!("SIZE {name}");
        let heard = self.done(&command)?;
        let size = heard.parse().map_err(|_| named(&command)(FtpFault::Answer(heard)));
        size.map(Bytes::new)
    }

    /// Removes the file `name`.
    pub fn remove(&mut self, name: &str) -> Result<(), EngineError> {
        self.done(&format!("DELE {name}")).map(drop)
    }

    /// Makes the directory `name`.
    pub fn make_directory(&mut self, name: &str) -> Result<(), EngineError> {
        self.done(&format!("MKD {name}")).map(drop)
    }

    /// Removes the directory `name`, in which there is nothing.
    pub fn remove_directory(&mut self, name: &str) -> Result<(), EngineError> {
        self.done(&format!("RMD {name}")).map(drop)
    }

    /// Asks for nothing: a round trip of the dialogue alone.
    pub fn nothing(&mut self) -> Result<(), EngineError> {
        self.done("NOOP").map(drop)
    }

    /// Takes leave.
    pub fn close(self) -> Result<(), EngineError> {
        self.done("QUIT").map(drop)
    }

    /// What can end this client from another thread.
    pub fn breaker(&self) -> Breaker {
        Breaker(Arc::clone(&self.sockets))
    }

    /// The text of the reply to a command that is done at once.
    fn done(&self, command: &str) -> Result<String, EngineError> {
        held(&self.dialogue).ask(command, &[Class::Done]).map(|heard| heard.text)
    }
}

impl Breaker {
    /// Ends the client and its transfer, now.
    pub fn end(&self) {
        self.0.close();
    }
}

/// A connection of the client, which its breaker can end.
fn connected(
    address: SocketAddr,
    options: &Settings,
    patience: Duration,
    sockets: &Sockets,
) -> Result<Arc<TcpStream>, EngineError> {
    let stream = sockets.connect(address, options, patience);
    let stream = stream.map_err(|cause| named("connection")(cause.into()))?;
    socket::bound_waits(&*stream, patience)?;
    Ok(stream)
}

/// Until files can be asked for, unchanged (TYPE I). Returns what the server said first.
fn log_in(dialogue: &mut Dialogue, access: &Access) -> Result<String, EngineError> {
    let greeting = dialogue.greeting()?;
    let user = format!("USER {}", access.user);
    if dialogue.ask(&user, &[Class::Done, Class::Goes])?.is_of(Class::Goes) {
        dialogue.ask(&format!("PASS {}", access.password), &[Class::Done])?;
    }
    dialogue.ask("TYPE I", &[Class::Done])?;
    for directory in &access.directories {
        dialogue.ask(&format!("CWD {directory}"), &[Class::Done])?;
    }
    Ok(greeting)
}

/// Nothing in a dialogue is half done where a thread panicked: its next reply is not the one that is waited for.
pub(super) fn held(dialogue: &Mutex<Dialogue>) -> MutexGuard<'_, Dialogue> {
    dialogue.lock().unwrap_or_else(PoisonError::into_inner)
}
