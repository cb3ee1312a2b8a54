//! The futures of one connection, and the thread that moves them on.

use std::future::Future;
use std::io;
use std::io::IoSlice;
use std::mem;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::pin::pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::Weak;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Context;
use std::task::Poll;
use std::task::Wake;
use std::task::Waker;
use std::time::Duration;

use btu_sys::exchange;
use btu_sys::exchange::Ready;
use btu_sys::socket;
use hyper::rt::Executor;
use hyper::rt::Read;
use hyper::rt::ReadBufCursor;
use hyper::rt::Write;

use crate::file::Account;
use crate::transport::retried;

/// Moves the futures of a connection on, in the thread that waits for them. It sleeps where none can go on before its
/// socket is ready.
pub(super) struct Driver {
    line: Arc<Line>,
    tasks: Tasks,
    /// How long it sleeps at most.
    patience: Option<Duration>,
}

/// What starts futures of their own. One that stands in such a future does not keep it alive.
#[derive(Clone)]
pub(super) struct Starter {
    line: Arc<Line>,
    tasks: Weak<Mutex<Vec<Task>>>,
}

/// The socket as hyper has it.
#[derive(Debug)]
pub(super) struct Pipe(Arc<Line>);

/// What the end of a connection consists of besides futures.
#[derive(Debug)]
struct Line {
    stream: Arc<TcpStream>,
    /// Whose every call is counted.
    account: Option<Account>,
    /// Somebody waits for something to read, or for room to write.
    wants_read: AtomicBool,
    wants_write: AtomicBool,
    /// A future can go on without the socket.
    is_woken: AtomicBool,
}

/// Futures that nobody waits for.
#[derive(Default)]
struct Tasks(Arc<Mutex<Vec<Task>>>);

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Driver {
    /// Of a connection with nothing to do yet, whose socket it lets nobody block in.
    pub(super) fn of(
        stream: Arc<TcpStream>,
        account: Option<Account>,
        patience: Option<Duration>,
    ) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let line = Line {
            stream,
            account,
            wants_read: AtomicBool::default(),
            wants_write: AtomicBool::default(),
            is_woken: AtomicBool::default(),
        };
        Ok(Self { line: Arc::new(line), tasks: Tasks::default(), patience })
    }

    /// What hyper reads from and writes to.
    pub(super) fn pipe(&self) -> Pipe {
        Pipe(Arc::clone(&self.line))
    }

    /// What starts futures that this moves on.
    pub(super) fn starter(&self) -> Starter {
        Starter { line: Arc::clone(&self.line), tasks: Arc::downgrade(&self.tasks.0) }
    }

    /// Moves everything on until this future is done. It is asked again after each time that something could have changed.
    pub(super) fn wait_for<F: Future>(&self, future: F) -> io::Result<F::Output> {
        let mut future = pin!(future);
        let waker = Waker::from(Arc::clone(&self.line));
        let mut context = Context::from_waker(&waker);
        loop {
            self.line.wants_nothing();
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return Ok(output);
            }
            let has_ended = self.tasks.poll(&mut context);
            if !self.line.is_woken.swap(false, Relaxed) && !has_ended {
                self.line.sleep(self.patience)?;
            }
        }
    }

    /// Moves on what nobody waits for, until all of it is done.
    pub(super) fn run_down(&self) -> io::Result<()> {
        self.wait_for(std::future::poll_fn(|_| {
            if self.tasks.lock().is_empty() { Poll::Ready(()) } else { Poll::Pending }
        }))
    }

    /// Until the other end has ended, too; what still comes is thrown away.
    pub(super) fn await_the_end(&self) -> io::Result<()> {
        let stream = self.line.stream.as_fd();
        loop {
            match retried(|| socket::recv(stream, &mut [0; 512])) {
                Ok(0) => return Ok(()),
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {
                    await_one(&self.line.stream, Ready::Read, self.patience)?;
                }
                outcome => drop(outcome?),
            }
        }
    }
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Starter {
    fn execute(&self, future: F) {
        let Some(tasks) = self.tasks.upgrade() else { return };
        Tasks(tasks).lock().push(Box::pin(future));
        self.line.is_woken.store(true, Relaxed);
    }
}

impl Line {
    fn wants_nothing(&self) {
        self.wants_read.store(false, Relaxed);
        self.wants_write.store(false, Relaxed);
    }

    fn sleep(&self, patience: Option<Duration>) -> io::Result<()> {
        let ready = match (self.wants_read.load(Relaxed), self.wants_write.load(Relaxed)) {
            (true, true) => Ready::Either,
            (true, false) => Ready::Read,
            (false, true) => Ready::Write,
            // Nothing could ever wake it.
            (false, false) => return Err(io::ErrorKind::NotConnected.into()),
        };
        await_one(&self.stream, ready, patience)
    }

    /// One call that does not block; where it would, the thread may sleep until it would not.
    fn attempt<T>(
        &self,
        wanted: &AtomicBool,
        call: impl FnMut() -> io::Result<T>,
    ) -> Poll<io::Result<T>> {
        if let Some(account) = &self.account {
            account.count_call();
        }
        match retried(call) {
            Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {
                wanted.store(true, Relaxed);
                Poll::Pending
            }
            outcome => Poll::Ready(outcome),
        }
    }
}

/// Every future of a connection has the same thread.
impl Wake for Line {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Relaxed);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Relaxed);
    }
}

impl Tasks {
    /// Moves each on once; true where one has come to its end. Those that begin meanwhile wait for the next time.
    fn poll(&self, context: &mut Context<'_>) -> bool {
        let mut going_on = mem::take(&mut *self.lock());
        let before = going_on.len();
        going_on.retain_mut(|task| task.as_mut().poll(context).is_pending());
        let has_ended = going_on.len() < before;
        let mut tasks = self.lock();
        going_on.append(&mut tasks);
        *tasks = going_on;
        has_ended
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Task>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Read for Pipe {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut space: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let line = &self.0;
        let receive = || socket::recv_lent(line.stream.as_fd(), &mut space);
        line.attempt(&line.wants_read, receive).map_ok(drop)
    }
}

impl Write for Pipe {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let line = &self.0;
        line.attempt(&line.wants_write, || socket::send(line.stream.as_fd(), bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(socket::close_sending(&*self.0.stream))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let line = &self.0;
        line.attempt(&line.wants_write, || socket::send_parts(line.stream.as_fd(), parts))
    }
}

fn await_one(stream: &TcpStream, ready: Ready, patience: Option<Duration>) -> io::Result<()> {
    let is_ready = exchange::poll(stream.as_fd(), ready, patience)?;
    if is_ready { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) }
}
