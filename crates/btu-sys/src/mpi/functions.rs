//! Which arguments the functions of MPI take.

use std::ffi::c_char;
use std::ffi::c_void;

use libc::c_int;

use super::mail::Status;
use crate::error::Result;
use crate::loaded::Library;

/// The count and the words of the command line, which may both be null.
type Init = unsafe extern "C" fn(*mut c_int, *mut *mut *mut c_char) -> c_int;
/// A communicator, and where its figure goes.
type Figure<H> = unsafe extern "C" fn(H, *mut c_int) -> c_int;
/// Bytes, how many, their type, from or to whom, tag, communicator, and the request.
type Isend<H> = unsafe extern "C" fn(*const c_void, c_int, H, c_int, c_int, H, *mut H) -> c_int;
/// The same, and the status.
type Recv<H> = unsafe extern "C" fn(*mut c_void, c_int, H, c_int, c_int, H, *mut Status) -> c_int;
/// From whom, tag, communicator, whether there is a message, and which.
type Iprobe<H> = unsafe extern "C" fn(c_int, c_int, H, *mut c_int, *mut Status) -> c_int;
/// A request, whether it is done, and the status.
type Test<H> = unsafe extern "C" fn(*mut H, *mut c_int, *mut Status) -> c_int;
/// A status, the type, and how many of it.
type GetCount<H> = unsafe extern "C" fn(*const Status, H, *mut c_int) -> c_int;

/// Where its name goes, and its length.
type Version = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;

/// Functions of the standard, as its chapter on bindings for C declares them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Functions<H> {
    pub(super) init: Init,
    pub(super) finalize: extern "C" fn() -> c_int,
    pub(super) comm_rank: Figure<H>,
    pub(super) comm_size: Figure<H>,
    pub(super) comm_set_errhandler: extern "C" fn(H, H) -> c_int,
    pub(super) isend: Isend<H>,
    pub(super) recv: Recv<H>,
    pub(super) iprobe: Iprobe<H>,
    pub(super) test: Test<H>,
    pub(super) get_count: GetCount<H>,
    pub(super) get_library_version: Version,
}

impl<H> Functions<H> {
    pub(super) fn of(library: &Library) -> Result<Self> {
        Ok(Self {
            // SAFETY: by the standard, each of these has the arguments of its type above; so for all others below.
            init: unsafe { library.function(c"MPI_Init") }?,
            // SAFETY: as above.
            finalize: unsafe { library.function(c"MPI_Finalize") }?,
            // SAFETY: as above.
            comm_rank: unsafe { library.function(c"MPI_Comm_rank") }?,
            // SAFETY: as above.
            comm_size: unsafe { library.function(c"MPI_Comm_size") }?,
            // SAFETY: as above.
            comm_set_errhandler: unsafe { library.function(c"MPI_Comm_set_errhandler") }?,
            // SAFETY: as above.
            isend: unsafe { library.function(c"MPI_Isend") }?,
            // SAFETY: as above.
            recv: unsafe { library.function(c"MPI_Recv") }?,
            // SAFETY: as above.
            iprobe: unsafe { library.function(c"MPI_Iprobe") }?,
            // SAFETY: as above.
            test: unsafe { library.function(c"MPI_Test") }?,
            // SAFETY: as above.
            get_count: unsafe { library.function(c"MPI_Get_count") }?,
            // SAFETY: as above.
            get_library_version: unsafe { library.function(c"MPI_Get_library_version") }?,
        })
    }
}
