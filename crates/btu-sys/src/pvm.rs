//! A task of PVM 3.4 (Parallel Virtual Machine), by its library, which is opened while the program runs.
//!
//! Names, arguments and values are those of `pvm3.h` 3.4.6. The library holds one task for each process, in memory of its
//! own without locks: there is one [`Task`] at a time, and each call of it needs it alone.

mod functions;
mod reason;

use std::ffi::CStr;
use std::ffi::CString;
use std::ffi::OsStr;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::ptr::NonNull;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::AcqRel;
use std::sync::atomic::Ordering::Release;
use std::time::Duration;

use libc::c_char;
use libc::c_int;

use self::functions::Functions;
use self::reason::checked;
use crate::error::Error;
use crate::error::Result;

/// This process as a task of the virtual machine whose daemon its environment names.
#[derive(Debug)]
pub struct Task {
    functions: Functions,
}

/// The number of a task in its virtual machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskId(c_int);

/// The way of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Through the daemon (`PvmDontRoute`).
    Daemon,
    /// Over a connection of the two tasks (`PvmRouteDirect`).
    Direct,
}

/// How a message is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Copied into buffers, in the form that every machine reads (`PvmDataDefault`, XDR). Bytes stay as they are.
    Default,
    /// Left where it is until it is sent (`PvmDataInPlace`).
    InPlace,
}

/// Finds out whether the library is there, with every function that a task needs.
pub fn is_there() -> Result<()> {
    Functions::open().map(drop)
}

impl Task {
    /// Joins the virtual machine. Messages that are sent take this way.
    ///
    /// A connection of two tasks, once it is made by either of them, carries what both of them send.
    pub fn enroll(route: Route) -> Result<Self> {
        let functions = Functions::open()?;
        if IS_ENROLLED.swap(true, AcqRel) {
            return Err(Error::new(
                "pvm_mytid",
                io::Error::other("this process is a task already"),
            ));
        }
        let mut task = Self { functions };
        task.id()?;
        // It would write what its callers are told into the standard error stream.
        task.set(AUTO_ERR, 0)?;
        task.set(ROUTE, route.value())?;
        Ok(task)
    }

    /// The version of the library: `3.4.6`.
    pub fn library(&self) -> String {
        let said = NonNull::new((self.functions.version)().cast_mut());
        // SAFETY: the library's own text, which ends with a zero and stays as it is.
        let said = said.map(|said| unsafe { CStr::from_ptr(said.as_ptr()) });
        said.map_or_else(String::new, |said| said.to_string_lossy().into_owned())
    }

    /// Its own number.
    pub fn id(&mut self) -> Result<TaskId> {
        checked("pvm_mytid", (self.functions.mytid)()).map(TaskId)
    }

    /// The task that spawned this one; `None` where none did.
    pub fn parent(&mut self) -> Result<Option<TaskId>> {
        match (self.functions.parent)() {
            NO_PARENT => Ok(None),
            parent => checked("pvm_parent", parent).map(|id| Some(TaskId(id))),
        }
    }

    /// Starts so many tasks that execute a program: all of them, or it is an error.
    pub fn spawn(
        &mut self,
        program: &Path,
        arguments: &[OsString],
        count: usize,
    ) -> Result<Vec<TaskId>> {
        let operation = || format!("pvm_spawn {}", program.display());
        let name = text(program.as_os_str()).map_err(|cause| Error::new(operation(), cause))?;
        let words = arguments.iter().map(|word| text(word)).collect::<io::Result<Vec<_>>>();
        let words = words.map_err(|cause| Error::new(operation(), cause))?;
        let mut pointers: Vec<*mut c_char> =
            words.iter().map(|word| word.as_ptr().cast_mut()).collect();
        pointers.push(ptr::null_mut());
        let mut ids = vec![0; count];
        let wanted = length(operation(), count)?;
        let spawn = self.functions.spawn;
        // SAFETY: strings end with a zero and the table of arguments with a null pointer, none of them is changed, and
        // there is room for as many numbers as tasks.
        let started = unsafe {
            spawn(
                name.as_ptr().cast_mut(),
                pointers.as_mut_ptr(),
                ANYWHERE,
                ptr::null_mut(),
                wanted,
                ids.as_mut_ptr(),
            )
        };
        checked(operation(), started)?;
        // Where a task was not started, its reason stands in the place of its number.
        ids.into_iter().map(|id| checked(operation(), id).map(TaskId)).collect()
    }

    /// Sends the parts as one message.
    pub fn send(
        &mut self,
        to: TaskId,
        tag: u32,
        encoding: Encoding,
        parts: &[&[u8]],
    ) -> Result<()> {
        let tag = tag_of(tag)?;
        checked("pvm_initsend", (self.functions.initsend)(encoding.value()))?;
        for part in parts {
            let count = length("pvm_pkbyte", part.len())?;
            let pack = self.functions.pkbyte;
            // SAFETY: so many bytes are read there, now or, in place, by the sending below, while they are borrowed. The
            // next message begins with a new buffer, which forgets them unread.
            let packed = unsafe { pack(part.as_ptr().cast_mut().cast(), count, EACH) };
            checked("pvm_pkbyte", packed)?;
        }
        checked("pvm_send", (self.functions.send)(to.0, tag)).map(drop)
    }

    /// Waits for a message so long, and tells whether it came; with no time it only looks. [`Task::unpack`] reads it.
    ///
    /// Without a sender it may come from anyone, the daemon included.
    pub fn receive(&mut self, from: Option<TaskId>, tag: u32, longest: Duration) -> Result<bool> {
        let (from, tag) = (from.map_or(ANYONE, |from| from.0), tag_of(tag)?);
        let buffer = if longest.is_zero() {
            (self.functions.nrecv)(from, tag)
        } else {
            let mut longest = time(longest);
            let receive = self.functions.trecv;
            // SAFETY: reads a time that lives until it returns.
            unsafe { receive(from, tag, &raw mut longest) }
        };
        checked("pvm_recv", buffer).map(|buffer| buffer != 0)
    }

    /// Reads on in the message that was received last.
    pub fn unpack(&mut self, space: &mut [u8]) -> Result<()> {
        let count = length("pvm_upkbyte", space.len())?;
        let unpack = self.functions.upkbyte;
        // SAFETY: writes so many bytes at most.
        let unpacked = unsafe { unpack(space.as_mut_ptr().cast(), count, EACH) };
        checked("pvm_upkbyte", unpacked).map(drop)
    }

    /// The daemon sends a message with this tag once that task has ended, at once where it has.
    pub fn tell_of_the_end_of(&mut self, other: TaskId, tag: u32) -> Result<()> {
        let tag = tag_of(tag)?;
        let mut other = other.0;
        let notify = self.functions.notify;
        // SAFETY: reads one number.
        let told = unsafe { notify(TASK_EXIT, tag, 1, &raw mut other) };
        checked("pvm_notify", told).map(drop)
    }

    fn set(&mut self, what: c_int, value: c_int) -> Result<()> {
        checked("pvm_setopt", (self.functions.setopt)(what, value)).map(drop)
    }
}

/// It leaves the virtual machine; who waits for its end is told.
impl Drop for Task {
    fn drop(&mut self) {
        // Nobody is there to be told where it does not work.
        let _ = (self.functions.exit)();
        IS_ENROLLED.store(false, Release);
    }
}

impl TaskId {
    /// The number as another task of the same program may be told it.
    pub const fn to_bytes(self) -> [u8; Self::BYTES] {
        self.0.to_le_bytes()
    }

    /// The number that a task told.
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(c_int::from_le_bytes(bytes))
    }

    /// Bytes of a number.
    pub const BYTES: usize = size_of::<c_int>();
}

impl Route {
    const fn value(self) -> c_int {
        match self {
            Self::Daemon => 1,
            Self::Direct => 3,
        }
    }
}

impl Encoding {
    const fn value(self) -> c_int {
        match self {
            Self::Default => 0,
            Self::InPlace => 2,
        }
    }
}

fn text(words: &OsStr) -> io::Result<CString> {
    Ok(CString::new(words.as_bytes())?)
}

/// Lengths are numbers of 31 bits.
fn length(operation: impl Into<String>, count: usize) -> Result<c_int> {
    let too_long = |_| Error::new(operation, io::Error::other(format!("{count} are too many")));
    c_int::try_from(count).map_err(too_long)
}

/// Tags, too.
fn tag_of(tag: u32) -> Result<c_int> {
    let beyond = |_| Error::new(format!("use tag {tag}"), io::Error::other("tags end at 2^31 - 1"));
    c_int::try_from(tag).map_err(beyond)
}

fn time(longest: Duration) -> libc::timeval {
    libc::timeval {
        tv_sec: libc::time_t::try_from(longest.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_usec: longest.subsec_micros().into(),
    }
}

static IS_ENROLLED: AtomicBool = AtomicBool::new(false);

/// Options of `pvm_setopt`.
const ROUTE: c_int = 1;
const AUTO_ERR: c_int = 3;
/// `PvmTaskDefault` of `pvm_spawn`.
const ANYWHERE: c_int = 0;
/// `PvmTaskExit` of `pvm_notify`.
const TASK_EXIT: c_int = 1;
/// The answer of `pvm_parent` in a task that nobody spawned (`PvmNoParent`).
const NO_PARENT: c_int = -23;
/// Stands for any task.
const ANYONE: c_int = -1;
/// From one byte to the next.
const EACH: c_int = 1;

#[cfg(test)]
mod tests;
