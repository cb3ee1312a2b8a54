//! Messages of a rank: what comes is found before it is received, so that its length is known.

use std::io;
use std::ptr;

use libc::c_int;

use super::checked;
use super::family::ANY_TAG;
use super::family::Family;
use super::family::Handles;
use super::functions::Functions;
use crate::error::Error;
use crate::error::Result;

/// Messages of this rank.
#[derive(Debug)]
pub struct Mail<F: Family> {
    functions: Functions<F::Handle>,
    handles: Handles<F::Handle>,
}

/// A message that came and was not received yet.
#[derive(Debug)]
pub struct Found {
    /// Who sent it.
    pub from: usize,
    /// Its tag.
    pub tag: i32,
    /// Its length.
    pub bytes: usize,
}

/// What the library tells of a message: room for the largest form of it, 32 bytes.
#[derive(Debug, Default)]
#[repr(C, align(8))]
pub(super) struct Status([c_int; 8]);

impl<F: Family> Mail<F> {
    pub(super) fn new(functions: Functions<F::Handle>, handles: Handles<F::Handle>) -> Self {
        Self { functions, handles }
    }

    /// Begins, with errors told rather than fatal.
    pub(super) fn init(&mut self) -> Result<()> {
        let init = self.functions.init;
        // SAFETY: no command line is legal since version 2 of the standard.
        checked("MPI_Init", unsafe { init(ptr::null_mut(), ptr::null_mut()) })?;
        let Handles { world, errors_return, .. } = self.handles;
        checked(
            "MPI_Comm_set_errhandler",
            (self.functions.comm_set_errhandler)(world, errors_return),
        )
    }

    pub(super) fn finalize(&mut self) {
        // It is the last call: nobody is there to be told where it does not work.
        let _ = (self.functions.finalize)();
    }

    pub(super) fn rank(&self) -> Result<usize> {
        let (mut rank, comm_rank) = (0, self.functions.comm_rank);
        // SAFETY: writes one number.
        checked("MPI_Comm_rank", unsafe { comm_rank(self.handles.world, &raw mut rank) })?;
        wide("MPI_Comm_rank", rank)
    }

    pub(super) fn ranks(&self) -> Result<usize> {
        let (mut ranks, comm_size) = (0, self.functions.comm_size);
        // SAFETY: writes one number.
        checked("MPI_Comm_size", unsafe { comm_size(self.handles.world, &raw mut ranks) })?;
        wide("MPI_Comm_size", ranks)
    }

    pub(super) fn library(&self) -> Result<String> {
        const NAME: &str = "MPI_Get_library_version";
        let (mut said, mut length) = (vec![0_u8; LONGEST_VERSION], 0);
        let (place, version) = (said.as_mut_ptr().cast(), self.functions.get_library_version);
        // SAFETY: writes a number, and no more than this at that place.
        checked(NAME, unsafe { version(place, &raw mut length) })?;
        said.truncate(wide(NAME, length)?);
        Ok(String::from_utf8_lossy(&said).into_owned())
    }

    /// Looks for a message, the oldest of this sender with this tag, or of anyone with any.
    #[inline]
    pub fn find(&mut self, of: Option<(usize, i32)>) -> Result<Option<Found>> {
        let (from, tag) = match of {
            Some((from, tag)) => (narrow("MPI_Iprobe", from)?, tag),
            None => (F::ANY_SOURCE, ANY_TAG),
        };
        let (mut is_there, mut status, iprobe) = (0, Status::default(), self.functions.iprobe);
        let world = self.handles.world;
        // SAFETY: writes a number, and a status for which there is room.
        let gave = unsafe { iprobe(from, tag, world, &raw mut is_there, &raw mut status) };
        checked("MPI_Iprobe", gave)?;
        if is_there == 0 { Ok(None) } else { self.found(&status).map(Some) }
    }

    fn found(&self, status: &Status) -> Result<Found> {
        let (mut count, get_count) = (0, self.functions.get_count);
        // SAFETY: reads a status that the library wrote, and writes a number.
        let gave = unsafe { get_count(ptr::from_ref(status), self.handles.byte, &raw mut count) };
        checked("MPI_Get_count", gave)?;
        let from = wide("MPI_Iprobe", status.0[F::SOURCE_AT])?;
        Ok(Found { from, tag: status.0[F::TAG_AT], bytes: wide("MPI_Get_count", count)? })
    }

    /// Receives a message that was found, into space of its length. Its sender may have to do its part.
    #[inline]
    pub fn receive(&mut self, found: &Found, space: &mut [u8]) -> Result<()> {
        let count = narrow("MPI_Recv", space.len())?;
        let (from, recv) = (narrow("MPI_Recv", found.from)?, self.functions.recv);
        let (mut status, Handles { world, byte, .. }) = (Status::default(), self.handles);
        let place = space.as_mut_ptr().cast();
        // SAFETY: writes so many bytes at most, and a status for which there is room.
        let gave = unsafe { recv(place, count, byte, from, found.tag, world, &raw mut status) };
        checked("MPI_Recv", gave)
    }

    /// Begins to send: the request.
    ///
    /// # Safety
    /// The bytes stay as they are until the request is done, or no call of the library is made any more.
    #[inline]
    pub(super) unsafe fn begin_send(
        &mut self,
        to: usize,
        tag: i32,
        bytes: &[u8],
    ) -> Result<F::Handle> {
        let (count, to) = (narrow("MPI_Isend", bytes.len())?, narrow("MPI_Isend", to)?);
        let Handles { world, byte, .. } = self.handles;
        // The library writes the request; until then it is any handle.
        let (mut request, isend) = (world, self.functions.isend);
        let place = bytes.as_ptr().cast();
        // SAFETY: reads so many bytes, now or later by the contract, and writes the request.
        let gave = unsafe { isend(place, count, byte, to, tag, world, &raw mut request) };
        checked("MPI_Isend", gave).map(|()| request)
    }

    /// True where a request is done; from then on it is none any more.
    #[inline]
    pub(super) fn is_done(&mut self, request: &mut F::Handle) -> Result<bool> {
        let (mut is_done, mut status, test) = (0, Status::default(), self.functions.test);
        // SAFETY: the request is of this library; writes it, a number, and a status for which there is room.
        let gave = unsafe { test(ptr::from_mut(request), &raw mut is_done, &raw mut status) };
        checked("MPI_Test", gave).map(|()| is_done != 0)
    }
}

/// `MPI_MAX_LIBRARY_VERSION_STRING` of MPICH; Open MPI's is 256.
const LONGEST_VERSION: usize = 8192;

/// Counts of MPI are numbers of 32 bits.
fn narrow(function: &str, count: usize) -> Result<c_int> {
    c_int::try_from(count).map_err(|_| {
        Error::new(function, io::Error::other(format!("{count} is more than MPI counts")))
    })
}

fn wide(function: &str, count: c_int) -> Result<usize> {
    usize::try_from(count)
        .map_err(|_| Error::new(function, io::Error::other(format!("{count} is no count"))))
}
