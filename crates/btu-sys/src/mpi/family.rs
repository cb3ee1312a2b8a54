//! What differs between the binary interfaces of MPI: files, handles, numbers, the form of a status.
//!
//! Values are those of `mpi.h` of Open MPI 4.1.4 and MPICH 4.0.2, which later releases of each keep.

use std::ffi::CStr;
use std::ffi::c_void;
use std::fmt::Debug;

use libc::c_int;

use crate::error::Result;
use crate::loaded::Library;

/// The interface of Open MPI 3 to 5.
#[derive(Debug)]
pub struct OpenMpi;

/// The interface of MPICH 3.2 and later, and of its relatives.
#[derive(Debug)]
pub struct Mpich;

/// A binary interface.
///
/// # Safety
/// All of it is as the header of the library says: a wrong form or number is undefined behaviour there.
pub unsafe trait Family: Debug + 'static {
    /// The form of a handle.
    type Handle: Copy + Debug;
    /// The library.
    const FILE: &'static CStr;
    /// Stands for every sender, and for every tag.
    const ANY_SOURCE: c_int;
    /// Places in a status, counted in numbers of four bytes.
    const SOURCE_AT: usize;
    /// The same of the tag.
    const TAG_AT: usize;

    /// The handles of the standard.
    #[expect(private_interfaces, reason = "nobody else implements or calls it")]
    fn handles(library: &Library) -> Result<Handles<Self::Handle>>;
}

/// Handles of things that are there from the start.
#[derive(Clone, Copy, Debug)]
pub struct Handles<H> {
    pub(super) world: H,
    pub(super) byte: H,
    pub(super) errors_return: H,
}

// SAFETY: by its `mpi.h`, as above.
unsafe impl Family for OpenMpi {
    type Handle = *mut c_void;
    const FILE: &'static CStr = c"libmpi.so.40";
    const ANY_SOURCE: c_int = -1;
    const SOURCE_AT: usize = 0;
    const TAG_AT: usize = 1;

    #[expect(private_interfaces, reason = "nobody else implements or calls it")]
    fn handles(library: &Library) -> Result<Handles<Self::Handle>> {
        let address = |name| library.symbol(name).map(std::ptr::NonNull::as_ptr);
        Ok(Handles {
            world: address(c"ompi_mpi_comm_world")?,
            byte: address(c"ompi_mpi_byte")?,
            errors_return: address(c"ompi_mpi_errors_return")?,
        })
    }
}

// SAFETY: by its `mpi.h`, as above.
unsafe impl Family for Mpich {
    type Handle = c_int;
    const FILE: &'static CStr = c"libmpich.so.12";
    const ANY_SOURCE: c_int = -2;
    const SOURCE_AT: usize = 2;
    const TAG_AT: usize = 3;

    #[expect(private_interfaces, reason = "nobody else implements or calls it")]
    fn handles(_: &Library) -> Result<Handles<Self::Handle>> {
        Ok(Handles { world: 0x4400_0000, byte: 0x4c00_010d, errors_return: 0x5400_0001 })
    }
}

/// The same in both.
pub(super) const ANY_TAG: c_int = -1;
