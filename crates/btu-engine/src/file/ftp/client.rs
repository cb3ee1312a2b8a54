//! The FTP client: one control connection, one transfer at a time, passive.
//!
//! The dialogue is suppaftp's; the sockets are made here, so that they have their options from the
//! start and can be ended from another thread.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use btu_core::units::Bytes;
use btu_sys::socket;
use btu_sys::socket::Settings;
use suppaftp::FtpError;
use suppaftp::FtpResult;
use suppaftp::FtpStream;
use suppaftp::Mode;
use suppaftp::TlsStream;
use suppaftp::TransferStream;
use suppaftp::types::FileType;

use super::sockets::Sockets;
use crate::error::EngineError;
use crate::transport::retried;

/// How to reach a server, and as whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Where it listens.
    pub server: SocketAddr,
    /// The argument of USER.
    pub user: String,
    /// The argument of PASS.
    pub password: String,
    /// Socket options of the data connections.
    pub sockets: Settings,
    /// How long the server may stay silent.
    pub patience: Duration,
}

/// A session with a server, logged in, for binary files.
pub struct Client {
    ftp: FtpStream,
    access: Access,
    links: Arc<Links>,
    /// A second descriptor of the control connection, by which it can be ended.
    _control: Arc<TcpStream>,
}

/// Ends a client from any thread: what it waits for fails at once, and so does all it tries later.
#[derive(Clone, Debug)]
pub struct Breaker(Arc<Links>);

/// The sockets of a client, beside those that the library holds.
#[derive(Debug, Default)]
struct Links {
    all: Sockets,
    /// The data connection that was opened last.
    data: Mutex<Option<Arc<TcpStream>>>,
}

/// A file on its way. Dropped unfinished, it is abandoned; the server's last word on it is lost.
pub struct Transfer {
    data: Arc<TcpStream>,
    dialogue: Box<dyn Dialogue>,
    name: String,
}

/// The end of a transfer, without the library's type of TLS, which has no public name.
trait Dialogue: Send {
    /// Closes the data connection and waits for the server's last word on it.
    fn finish(self: Box<Self>) -> FtpResult<()>;
}

impl Access {
    /// As an anonymous user, with the system's own socket options.
    pub fn anonymous(server: SocketAddr) -> Self {
        Self {
            server,
            user: "anonymous".to_owned(),
            password: "btu@".to_owned(),
            sockets: Settings::default(),
            patience: Duration::from_secs(30),
        }
    }
}

impl Client {
    /// Connects and logs in. The calling thread is in the network of the client.
    pub fn connect(access: &Access) -> Result<Self, EngineError> {
        let Access { server, user, password, patience, .. } = access;
        let links = Arc::new(Links::default());
        let options = Settings { nodelay: Some(true), ..Settings::default() };
        let control = socket::connect(*server, &options, *patience)?;
        socket::bound_waits(&control, *patience)?;
        let kept = links.keep(&control).map_err(EngineError::peer(format!("keep {server}")))?;
        let greeted = FtpStream::connect_with_stream(control).map_err(asked("greeting"))?;
        let mut ftp = greeted.passive_stream_builder(builder(access, &links));
        // The only form that works for both families, and it names no address to be fooled with.
        ftp.set_mode(Mode::ExtendedPassive);
        ftp.login(user, password).map_err(asked("login"))?;
        ftp.transfer_type(FileType::Image).map_err(asked("TYPE I"))?;
        Ok(Self { ftp, access: access.clone(), links, _control: kept })
    }

    /// Begins to receive the file `name`.
    pub fn retrieve(&mut self, name: &str) -> Result<Transfer, EngineError> {
        let stream = self.ftp.retr_as_stream(name).map_err(asked(&format!("RETR {name}")))?;
        self.transfer(stream, name)
    }

    /// Begins to send the file `name`.
    pub fn store(&mut self, name: &str) -> Result<Transfer, EngineError> {
        let stream = self.ftp.put_with_stream(name).map_err(asked(&format!("STOR {name}")))?;
        self.transfer(stream, name)
    }

    fn transfer<T: TlsStream + Send + 'static>(
        &self,
        stream: TransferStream<T>,
        name: &str,
    ) -> Result<Transfer, EngineError> {
        let gone = || EngineError::Refused(format!("ftp {name}: the client was ended"));
        let data = self.links.take_data().ok_or_else(gone)?;
        Ok(Transfer { data, dialogue: Box::new(stream), name: name.to_owned() })
    }

    /// The size of the file `name`.
    pub fn size(&mut self, name: &str) -> Result<Bytes, EngineError> {
        let size = self.ftp.size(name).map_err(asked(&format!("SIZE {name}")))?;
        Ok(Bytes::new(u64::try_from(size).unwrap_or(u64::MAX)))
    }

    /// Removes the file `name`.
    pub fn remove(&mut self, name: &str) -> Result<(), EngineError> {
        self.ftp.rm(name).map_err(asked(&format!("DELE {name}")))
    }

    /// Asks for nothing: a round trip of the dialogue alone.
    pub fn nothing(&mut self) -> Result<(), EngineError> {
        self.ftp.noop().map_err(asked("NOOP"))
    }

    /// Takes leave.
    pub fn close(mut self) -> Result<(), EngineError> {
        self.ftp.quit().map_err(asked("QUIT"))
    }

    /// What can end this client from another thread.
    pub fn breaker(&self) -> Breaker {
        Breaker(Arc::clone(&self.links))
    }
}

impl Breaker {
    /// Ends the client and its transfer, now.
    pub fn end(&self) {
        self.0.all.close();
    }
}

impl Links {
    /// Keeps a second descriptor of `stream`, for the breaker.
    fn keep(&self, stream: &TcpStream) -> io::Result<Arc<TcpStream>> {
        let ended = || io::Error::from(io::ErrorKind::ConnectionAborted);
        self.all.admit(stream.try_clone()?).ok_or_else(ended)
    }

    fn put_data(&self, data: Arc<TcpStream>) {
        *self.data.lock().unwrap_or_else(PoisonError::into_inner) = Some(data);
    }

    fn take_data(&self) -> Option<Arc<TcpStream>> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Transfer {
    /// Receives at most `space`, in one call; 0 is the end of the file.
    pub fn receive(&self, space: &mut [u8]) -> Result<usize, EngineError> {
        let received = retried(|| socket::recv(self.data.as_fd(), space));
        received.map_err(EngineError::peer(format!("ftp receive {}", self.name)))
    }

    /// Sends at most `bytes`, in one call.
    pub fn send(&self, bytes: &[u8]) -> Result<usize, EngineError> {
        let sent = retried(|| socket::send(self.data.as_fd(), bytes));
        sent.map_err(EngineError::peer(format!("ftp send {}", self.name)))
    }

    /// Bytes that were sent and that the server may not have yet.
    pub fn unacknowledged(&self) -> Result<Bytes, EngineError> {
        Ok(Bytes::new(socket::unacknowledged(&self.data)?))
    }

    /// Ends the file and waits until the server says that it has all of it, or gave all of it.
    pub fn finish(self) -> Result<(), EngineError> {
        let Self { data, dialogue, name } = self;
        // The connection ends with its last descriptor.
        drop(data);
        dialogue.finish().map_err(asked(&format!("completion of {name}")))
    }
}

impl<T: TlsStream + Send> Dialogue for TransferStream<T> {
    fn finish(self: Box<Self>) -> FtpResult<()> {
        // The library's own, which an inherent path prefers.
        Self::finish(*self)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Client").field("access", &self.access).finish_non_exhaustive()
    }
}

impl fmt::Debug for Transfer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Transfer").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Connects the data connections, and leaves a descriptor of each for the transfer.
fn builder(
    access: &Access,
    links: &Arc<Links>,
) -> impl Fn(SocketAddr) -> FtpResult<TcpStream> + Send + Sync + 'static {
    let (settings, patience, links) = (access.sockets.clone(), access.patience, Arc::clone(links));
    move |address| {
        let connected = socket::connect(address, &settings, patience)
            .and_then(|stream| socket::bound_waits(&stream, patience).map(|()| stream));
        let stream =
            connected.map_err(|cause| FtpError::ConnectionError(io::Error::other(cause)))?;
        links.put_data(links.keep(&stream).map_err(FtpError::ConnectionError)?);
        Ok(stream)
    }
}

/// Names the command in an error of the library.
fn asked(command: &str) -> impl FnOnce(FtpError) -> EngineError {
    let operation = command.to_owned();
    move |source| EngineError::Ftp { operation, source: Box::new(source) }
}
