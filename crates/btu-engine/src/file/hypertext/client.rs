//! The end that asks.

use std::fmt;
use std::future::Future;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::file::sample::Operation;
use btu_core::units::Bytes as Size;
use btu_core::units::Nanos;
use btu_sys::socket::Settings;
use hyper::Method;
use hyper::Request;
use hyper::Response;
use hyper::body::Body;
use hyper::body::Bytes;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::client::conn::http2;
use hyper::header::CONTENT_LENGTH;
use hyper::header::HOST;
use hyper::rt::Executor;

use super::BUFFER;
use super::CONNECTION_WINDOW;
use super::STREAM_WINDOW;
use super::Version;
use super::body::Content;
use super::body::shared;
use super::chunk::Passage;
use super::chunk::Watch;
use super::driver::Driver;
use super::incoming::receive;
use crate::error::EngineError;
use crate::file::Errand;
use crate::file::Keeping;
use crate::file::Moments;
use crate::file::Opening;
use crate::file::Session;
use crate::file::Visit;
use crate::file::order::answer_to;
use crate::file::order::buffer_for;
use crate::time::now;

/// A connection on which one request follows the other.
pub(super) struct Client {
    pub(super) version: Version,
    /// The server, as requests name it.
    authority: String,
    errand: Errand,
    opening: Opening,
    /// What is sent, over and over.
    block: Bytes,
    sender: Sender,
    driver: Driver,
}

/// What takes requests.
enum Sender {
    One(http1::SendRequest<Content>),
    Two(http2::SendRequest<Content>),
}

/// Why something was not done: hyper's reasons become ours where they are named.
pub(super) enum Fault {
    Engine(EngineError),
    Hyper(hyper::Error),
}

impl Client {
    pub(super) fn connect(visit: &Visit, version: Version) -> Result<Self, EngineError> {
        let errand = visit.errand.clone();
        let block = shared(&Arc::new(buffer_for(&errand, version.protocol())?));
        let begun = now();
        let settings = Settings { nodelay: Some(true), ..visit.settings.clone() };
        let stream = visit.sockets.connect(visit.server, &settings, visit.patience)?;
        let driver = Driver::of(stream, None, Some(visit.patience));
        let driver = driver.map_err(EngineError::peer("set a socket"))?;
        let sender = Sender::over(&driver, version);
        let sender = sender.map_err(named(version, "begin"))?;
        // Who asks is not known by anything that it says before.
        let opening = Opening { connect_ns: now().since(begun), auth_ns: None };
        let authority = visit.server.to_string();
        Ok(Self { version, authority, errand, opening, block, sender, driver })
    }

    /// Asks for something, and hears the answer's first part, whose status is good; then `hear` has the rest.
    pub(super) fn ask<T>(
        &mut self,
        (method, path): (Method, &str),
        content: Content,
        hear: impl AsyncFnOnce(&mut Incoming) -> Result<T, Fault>,
        mut each: impl FnMut(),
    ) -> Result<T, EngineError> {
        let version = self.version;
        let operation = format!("{} {method} {path}", version.protocol());
        let request = self.request(method, path, content)?;
        let mut asking = pin!(async {
            let answer = self.sender.ask(request).await?;
            let status = answer.status();
            if status.is_success() {
                hear(&mut answer.into_body()).await
            } else {
                Err(EngineError::Refused(format!("{operation}: {status}")).into())
            }
        });
        let asked = self.driver.wait_for(poll_fn(|context| {
            each();
            asking.as_mut().poll(context)
        }));
        let peer = |cause| EngineError::peer(operation.clone())(cause);
        asked.map_err(peer)?.map_err(|fault| fault.named(operation.clone()))
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        content: Content,
    ) -> Result<Request<Content>, EngineError> {
        let Self { version, authority, .. } = self;
        let has_body = method == Method::POST || method == Method::PUT;
        let mut request = Request::builder().method(method);
        if has_body {
            // Said by itself of an empty body, too (RFC 9110, 8.6): hyper would not, and nginx asks for it.
            request = request.header(CONTENT_LENGTH, content.size_hint().lower());
        }
        let request = match version {
            Version::One => request.uri(path).header(HOST, authority),
            Version::Two => request.uri(format!("http://{authority}{path}")),
        };
        let unfit =
            |cause| EngineError::Refused(format!("{}: {path}: {cause}", version.protocol()));
        request.body(content).map_err(unfit)
    }

    /// Throws away what comes.
    fn retrieve(&mut self, number: u32, moments: &mut Moments<'_>) -> Result<Size, EngineError> {
        let (errand, protocol) = (self.errand.clone(), self.version.protocol());
        let path = errand.file(number).map_or_else(
            || format!("/random/{}", errand.size.count()),
            |file| format!("/disk/{file}"),
        );
        let mut left = errand.size.count();
        let note = |bytes: &[u8]| {
            let less = left.checked_sub(bytes.len() as u64);
            left = less.ok_or_else(|| errand.is_too_long(protocol))?;
            moments.passed(bytes.len(), left == 0);
            Ok(())
        };
        let hear = async |body: &mut Incoming| receive::<Fault>(body, note).await;
        self.ask((Method::GET, &path), Content::nothing(), hear, || ())?;
        if left > 0 {
            return Err(errand.is_short(protocol, left));
        }
        moments.committed();
        Ok(errand.size)
    }

    /// Sends `total` bytes, a block at a time, and hears that they came.
    fn give(
        &mut self,
        method: Method,
        total: u64,
        moments: &mut Moments<'_>,
    ) -> Result<Size, EngineError> {
        let passage = Passage::of(total);
        let watch = Watch::Passage(Arc::clone(&passage));
        let content = Content::repeated(self.block.clone(), total, watch);
        let mut told = total;
        let mut follow = || {
            let left = passage.left();
            moments.follow(told - left, passage.moments());
            told = left;
        };
        let has_words = method == Method::POST;
        let heard = self.ask((method, SINK), content, first_words, &mut follow)?;
        follow();
        let is_said = !has_words || heard == answer_to(total);
        if told > 0 || !is_said {
            let (protocol, total) = (self.version.protocol(), Size::new(total));
            let what = format!("{protocol}: the server did not take {total}");
            return Err(EngineError::Refused(what));
        }
        moments.committed();
        Ok(Size::new(total))
    }
}

impl Session for Client {
    fn opening(&self) -> Opening {
        self.opening
    }

    fn run(&mut self, number: u32, moments: &mut Moments<'_>) -> Result<Size, EngineError> {
        match self.errand.operation {
            Operation::Call => self.give(Method::POST, self.errand.size.count(), moments),
            Operation::Get => self.retrieve(number, moments),
            Operation::Put => self.give(Method::PUT, self.errand.size.count(), moments),
            Operation::Stream => self.give(Method::POST, self.errand.total(), moments),
        }
    }

    /// The server ends the connection once it has seen the end of this side.
    fn close(self: Box<Self>) -> Result<(), EngineError> {
        let Self { version, sender, driver, .. } = *self;
        drop(sender);
        let ended = driver.run_down().and_then(|()| driver.await_the_end());
        ended.map_err(EngineError::peer(format!("{}: end the connection", version.protocol())))
    }

    fn keeping(&mut self) -> Option<&mut dyn Keeping> {
        Some(self)
    }
}

impl Sender {
    fn over(driver: &Driver, version: Version) -> Result<Self, Fault> {
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

    async fn ask(&mut self, request: Request<Content>) -> hyper::Result<Response<Incoming>> {
        match self {
            Self::One(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
            Self::Two(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }
}

impl Moments<'_> {
    /// So many bytes more have passed: the first and the last of all at these times.
    fn follow(&mut self, count: u64, [first, last]: [Option<Nanos>; 2]) {
        self.progress.fetch_add(count, Relaxed);
        self.first_byte = self.first_byte.or(first);
        self.last_byte = self.last_byte.or(last);
    }
}

impl Fault {
    fn named(self, operation: String) -> EngineError {
        match self {
            Self::Engine(cause) => cause,
            Self::Hyper(cause) => EngineError::peer(operation)(io::Error::other(cause)),
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

impl fmt::Debug for Client {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, errand, .. } = self;
        out.debug_struct("Client")
            .field("version", version)
            .field("errand", errand)
            .finish_non_exhaustive()
    }
}

/// The first four bytes of an answer, as far as it has any.
async fn first_words(body: &mut Incoming) -> Result<[u8; 4], Fault> {
    let (mut words, mut count) = ([0; 4], 0);
    let add = |bytes: &[u8]| {
        for (word, byte) in words[count..].iter_mut().zip(bytes) {
            *word = *byte;
            count += 1;
        }
        Ok(())
    };
    receive::<Fault>(body, add).await?;
    Ok(words)
}

/// Closes over the operation for `map_err`.
fn named(version: Version, operation: &'static str) -> impl FnOnce(Fault) -> EngineError {
    move |fault| fault.named(format!("{}: {operation}", version.protocol()))
}

/// What goes there is thrown away.
const SINK: &str = "/null/btu";
