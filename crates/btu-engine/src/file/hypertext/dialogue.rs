//! Requests and their answers, one behind the other, over one connection.

use std::fmt;
use std::future::Future;
use std::future::poll_fn;
use std::io;
use std::pin::pin;

use hyper::Method;
use hyper::Request;
use hyper::Response;
use hyper::StatusCode;
use hyper::body::Body;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::client::conn::http2;
use hyper::header::AUTHORIZATION;
use hyper::header::CONTENT_LENGTH;
use hyper::header::HOST;
use hyper::rt::Executor;

use super::BUFFER;
use super::CONNECTION_WINDOW;
use super::STREAM_WINDOW;
use super::Version;
use super::body::Content;
use super::door::Door;
use super::driver::Driver;
use crate::error::EngineError;

/// An end that asks.
pub(super) struct Dialogue {
    version: Version,
    door: Door,
    sender: Sender,
    driver: Driver,
    /// What a server of others calls itself.
    pub(super) greeting: String,
}

/// What takes requests.
pub(super) enum Sender {
    One(http1::SendRequest<Content>),
    Two(http2::SendRequest<Content>),
}

/// Why something was not done: hyper's reasons, and those of an answer, become ours where they are named.
pub(super) enum Fault {
    Engine(EngineError),
    Hyper(hyper::Error),
    Status(StatusCode),
}

impl Dialogue {
    pub(super) fn begin(door: Door, version: Version) -> Result<Self, EngineError> {
        let (driver, sender) = door.open(version)?;
        Ok(Self { version, door, sender, driver, greeting: String::new() })
    }

    /// What a request for a file says.
    pub(super) fn path(&self, name: &str) -> String {
        self.door.path(name)
    }

    /// Asks for something, and hears the answer's first part, whose status is good; then `hear` has the rest.
    pub(super) fn ask<T>(
        &mut self,
        what: (Method, &str),
        content: Content,
        hear: impl AsyncFnOnce(&mut Incoming) -> Result<T, Fault>,
        each: impl FnMut(),
    ) -> Result<T, EngineError> {
        let judged = async |answer: Response<Incoming>| hear(&mut good(answer)?.into_body()).await;
        self.exchange(what, content, judged, each)
    }

    /// The same with any answer. `each` is called whenever something could have changed.
    pub(super) fn exchange<T>(
        &mut self,
        (method, path): (Method, &str),
        content: Content,
        hear: impl AsyncFnOnce(Response<Incoming>) -> Result<T, Fault>,
        mut each: impl FnMut(),
    ) -> Result<T, EngineError> {
        let operation = format!("{} {method} {path}", self.version.protocol());
        let peer = |cause| EngineError::peer(operation.clone())(cause);
        if self.door.is_of_others() {
            self.renew(&operation)?;
        }
        let request = self.request(method, path, content)?;
        let mut asking = pin!(async { hear(self.sender.ask(request).await?).await });
        let asked = self.driver.wait_for(poll_fn(|context| {
            each();
            asking.as_mut().poll(context)
        }));
        asked.map_err(peer)?.map_err(|fault| fault.named(operation.clone()))
    }

    /// A server of others may end a connection after so many requests, and says so with the last answer: the next request
    /// is made over another.
    fn renew(&mut self, operation: &str) -> Result<(), EngineError> {
        let ready = self.driver.wait_for(self.sender.ready());
        if ready.map_err(EngineError::peer(operation))?.is_err() {
            (self.driver, self.sender) = self.door.open(self.version)?;
        }
        Ok(())
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        content: Content,
    ) -> Result<Request<Content>, EngineError> {
        let Self { version, door, .. } = self;
        let has_body = method == Method::POST || method == Method::PUT;
        let mut request = Request::builder().method(method);
        if has_body {
            // Said by itself of an empty body, too (RFC 9110, 8.6): hyper would not, and nginx asks for it.
            request = request.header(CONTENT_LENGTH, content.size_hint().lower());
        }
        if let Some(credentials) = &door.credentials {
            request = request.header(AUTHORIZATION, credentials);
        }
        let request = match version {
            Version::One => request.uri(path).header(HOST, &door.authority),
            Version::Two => request.uri(format!("http://{}{path}", door.authority)),
        };
        let unfit =
            |cause| EngineError::Refused(format!("{}: {path}: {cause}", version.protocol()));
        request.body(content).map_err(unfit)
    }

    /// The server ends the connection once it has seen the end of this side.
    pub(super) fn end(self) -> Result<(), EngineError> {
        let Self { version, sender, driver, .. } = self;
        drop(sender);
        let ended = driver.run_down().and_then(|()| driver.await_the_end());
        ended.map_err(EngineError::peer(format!("{}: end the connection", version.protocol())))
    }
}

impl Sender {
    pub(super) fn over(driver: &Driver, version: Version) -> Result<Self, Fault> {
        let (pipe, starter) = (driver.pipe(), driver.starter());
        match version {
            Version::One => {
                let mut client = http1::Builder::new();
                client.max_buf_size(BUFFER);
                let met = driver.wait_for(client.handshake(pipe))?;
                let (sender, connection) = met?;
                // What becomes of it, whoever asks hears.
                starter.execute(async { drop(connection.await) });
                Ok(Self::One(sender))
            }
            Version::Two => {
                let mut client = http2::Builder::new(starter.clone());
                client.initial_stream_window_size(STREAM_WINDOW);
                client.initial_connection_window_size(CONNECTION_WINDOW);
                client.max_send_buf_size(BUFFER);
                let met = driver.wait_for(client.handshake(pipe))?;
                let (sender, connection) = met?;
                starter.execute(async { drop(connection.await) });
                Ok(Self::Two(sender))
            }
        }
    }

    async fn ready(&mut self) -> hyper::Result<()> {
        match self {
            Self::One(sender) => sender.ready().await,
            Self::Two(sender) => sender.ready().await,
        }
    }

    async fn ask(&mut self, request: Request<Content>) -> hyper::Result<Response<Incoming>> {
        self.ready().await?;
        match self {
            Self::One(sender) => sender.send_request(request).await,
            Self::Two(sender) => sender.send_request(request).await,
        }
    }
}

impl Fault {
    pub(super) fn named(self, operation: String) -> EngineError {
        match self {
            Self::Engine(cause) => cause,
            Self::Hyper(cause) => EngineError::peer(operation)(io::Error::other(cause)),
            Self::Status(status) => EngineError::Refused(format!("{operation}: {status}")),
        }
    }
}

impl From<EngineError> for Fault {
    fn from(cause: EngineError) -> Self {
        Self::Engine(cause)
    }
}

impl From<hyper::Error> for Fault {
    fn from(cause: hyper::Error) -> Self {
        Self::Hyper(cause)
    }
}

impl From<io::Error> for Fault {
    fn from(cause: io::Error) -> Self {
        Self::Engine(EngineError::peer("move a connection on")(cause))
    }
}

impl fmt::Debug for Dialogue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Dialogue").field("version", &self.version).finish_non_exhaustive()
    }
}

/// An answer to what was done.
pub(super) fn good(answer: Response<Incoming>) -> Result<Response<Incoming>, Fault> {
    let status = answer.status();
    if status.is_success() { Ok(answer) } else { Err(Fault::Status(status)) }
}
