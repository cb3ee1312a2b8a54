//! What the library of PVM calls its functions, and which arguments they take.

use std::ffi::CStr;

use libc::c_char;
use libc::c_int;
use libc::timeval;

use crate::error::Result;
use crate::loaded::Library;

/// Takes nothing.
type Plain = extern "C" fn() -> c_int;
/// Takes nothing, and gives a text that stays.
type Text = extern "C" fn() -> *const c_char;
/// Takes one number.
type OfOne = extern "C" fn(c_int) -> c_int;
/// Takes two numbers.
type OfTwo = extern "C" fn(c_int, c_int) -> c_int;
/// Bytes, how many, and from each to the next.
type Pack = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int;
/// Program, arguments, flags, where, how many, and their numbers.
type Spawn = unsafe extern "C" fn(
    *mut c_char,
    *mut *mut c_char,
    c_int,
    *mut c_char,
    c_int,
    *mut c_int,
) -> c_int;
/// Sender, tag, time.
type Timed = unsafe extern "C" fn(c_int, c_int, *mut timeval) -> c_int;
/// What, tag, how many, which tasks.
type Notify = unsafe extern "C" fn(c_int, c_int, c_int, *mut c_int) -> c_int;

/// The functions of `libpvm3`, each as `pvm3.h` 3.4.6 declares it: negative is an error.
#[derive(Debug)]
pub(super) struct Functions {
    pub(super) mytid: Plain,
    pub(super) parent: Plain,
    pub(super) exit: Plain,
    pub(super) initsend: OfOne,
    pub(super) nrecv: OfTwo,
    pub(super) send: OfTwo,
    pub(super) setopt: OfTwo,
    pub(super) pkbyte: Pack,
    pub(super) upkbyte: Pack,
    pub(super) spawn: Spawn,
    pub(super) trecv: Timed,
    pub(super) notify: Notify,
    pub(super) version: Text,
}

impl Functions {
    pub(super) fn open() -> Result<Self> {
        let library = Library::open(FILE)?;
        Ok(Self {
            // SAFETY: `pvm3.h` declares it, and all others below, with the arguments of its type.
            mytid: unsafe { library.function(c"pvm_mytid") }?,
            // SAFETY: as above.
            parent: unsafe { library.function(c"pvm_parent") }?,
            // SAFETY: as above.
            exit: unsafe { library.function(c"pvm_exit") }?,
            // SAFETY: as above.
            initsend: unsafe { library.function(c"pvm_initsend") }?,
            // SAFETY: as above.
            nrecv: unsafe { library.function(c"pvm_nrecv") }?,
            // SAFETY: as above.
            send: unsafe { library.function(c"pvm_send") }?,
            // SAFETY: as above.
            setopt: unsafe { library.function(c"pvm_setopt") }?,
            // SAFETY: as above.
            pkbyte: unsafe { library.function(c"pvm_pkbyte") }?,
            // SAFETY: as above.
            upkbyte: unsafe { library.function(c"pvm_upkbyte") }?,
            // SAFETY: as above.
            spawn: unsafe { library.function(c"pvm_spawn") }?,
            // SAFETY: as above.
            trecv: unsafe { library.function(c"pvm_trecv") }?,
            // SAFETY: as above.
            notify: unsafe { library.function(c"pvm_notify") }?,
            // SAFETY: as above.
            version: unsafe { library.function(c"pvm_version") }?,
        })
    }
}

/// The file of version 3, by its name in a linked program.
const FILE: &CStr = c"libpvm3.so.3";
