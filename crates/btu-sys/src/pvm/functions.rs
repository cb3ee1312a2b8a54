//! What the library of PVM calls its functions, and which arguments they take.

use std::ffi::CStr;
use std::ffi::c_void;
use std::mem::transmute;
use std::ptr::NonNull;

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
        let symbol = |name| library.symbol(name).map(NonNull::as_ptr);
        Ok(Self {
            mytid: plain(symbol(c"pvm_mytid")?),
            parent: plain(symbol(c"pvm_parent")?),
            exit: plain(symbol(c"pvm_exit")?),
            initsend: of_one(symbol(c"pvm_initsend")?),
            nrecv: of_two(symbol(c"pvm_nrecv")?),
            send: of_two(symbol(c"pvm_send")?),
            setopt: of_two(symbol(c"pvm_setopt")?),
            pkbyte: pack(symbol(c"pvm_pkbyte")?),
            upkbyte: pack(symbol(c"pvm_upkbyte")?),
            // SAFETY: `pvm3.h` declares it so; the library stays open.
            spawn: unsafe { transmute::<*mut c_void, Spawn>(symbol(c"pvm_spawn")?) },
            // SAFETY: as above.
            trecv: unsafe { transmute::<*mut c_void, Timed>(symbol(c"pvm_trecv")?) },
            // SAFETY: as above.
            notify: unsafe { transmute::<*mut c_void, Notify>(symbol(c"pvm_notify")?) },
            // SAFETY: as above.
            version: unsafe { transmute::<*mut c_void, Text>(symbol(c"pvm_version")?) },
        })
    }
}

fn plain(symbol: *mut c_void) -> Plain {
    // SAFETY: the names above that are given here take nothing, by `pvm3.h`; the library stays open.
    unsafe { transmute::<*mut c_void, Plain>(symbol) }
}

fn of_one(symbol: *mut c_void) -> OfOne {
    // SAFETY: as above, one number.
    unsafe { transmute::<*mut c_void, OfOne>(symbol) }
}

fn of_two(symbol: *mut c_void) -> OfTwo {
    // SAFETY: as above, two numbers.
    unsafe { transmute::<*mut c_void, OfTwo>(symbol) }
}

fn pack(symbol: *mut c_void) -> Pack {
    // SAFETY: as above, an address and two numbers.
    unsafe { transmute::<*mut c_void, Pack>(symbol) }
}

/// The file of version 3, by its name in a linked program.
const FILE: &CStr = c"libpvm3.so.3";
