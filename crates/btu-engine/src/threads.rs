//! Threads with names, and the error where there is none.
//!
//! Their work is boxed: what starts a thread is compiled once for each type of what it comes to, and not once for each
//! kind of work.

use std::io;
use std::thread::Builder;
use std::thread::JoinHandle;
use std::thread::Scope;
use std::thread::ScopedJoinHandle;

use crate::error::EngineError;

/// Starts a thread; `name` shows in `ps -T`, cut to 15 bytes.
pub(crate) fn start<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, EngineError> {
    let work: Box<dyn FnOnce() -> T + Send> = Box::new(work);
    named(name).spawn(work).map_err(none(name))
}

/// The same of a thread that ends before the scope does.
pub(crate) fn start_in<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, EngineError> {
    let work: Box<dyn FnOnce() -> T + Send + 'scope> = Box::new(work);
    named(name).spawn_scoped(scope, work).map_err(none(name))
}

fn named(name: &str) -> Builder {
    Builder::new().name(name.to_owned())
}

fn none(name: &str) -> impl FnOnce(io::Error) -> EngineError {
    let name = name.to_owned();
    |source| EngineError::Thread { name, source }
}
