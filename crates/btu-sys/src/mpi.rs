//! A rank of MPI by its library, which is opened while the program runs: without one, the program starts all the same.
//!
//! Bytes between two ranks of `MPI_COMM_WORLD`, in one thread. There are two binary interfaces, and each is a [`Family`]:
//! that of Open MPI, whose handles are addresses, and that of MPICH, whose handles are numbers.

mod family;
mod functions;
mod mail;

use std::io;
use std::marker::PhantomData;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::AcqRel;

use libc::c_int;

use crate::error::Error;
use crate::error::Result;
use crate::loaded::Library;
use functions::Functions;

pub use family::Family;
pub use family::Handles;
pub use family::Mpich;
pub use family::OpenMpi;
pub use mail::Found;
pub use mail::Mail;

/// This process as a rank. It is of the thread that made it (`MPI_THREAD_SINGLE`).
#[derive(Debug)]
pub struct World<F: Family> {
    mail: Mail<F>,
    rank: usize,
    ranks: usize,
    /// False from the begin of a send to its end: where it was abandoned, for ever.
    is_usable: bool,
    of_one_thread: PhantomData<*const ()>,
}

impl<F: Family> World<F> {
    /// Opens the library and becomes a rank: that which the launcher made of this process, else the only one. A process
    /// does so once.
    pub fn enter() -> Result<Self> {
        let library = Library::open_for_all(F::FILE)?;
        let functions = Functions::of(&library)?;
        let handles = F::handles(&library)?;
        if HAS_ENTERED.swap(true, AcqRel) {
            let cause = io::Error::other("this process was a rank already");
            return Err(Error::new("MPI_Init", cause));
        }
        let mut mail = Mail::<F>::new(functions, handles);
        mail.init()?;
        let (rank, ranks) = (mail.rank()?, mail.ranks()?);
        Ok(Self { mail, rank, ranks, is_usable: true, of_one_thread: PhantomData })
    }

    /// The number of this rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// What the library says it is: its name, its version and more, in lines of its own.
    pub fn library(&self) -> Result<String> {
        self.mail.library()
    }

    /// Messages that come.
    ///
    /// # Errors
    /// A send was abandoned.
    pub fn mail(&mut self) -> Result<&mut Mail<F>> {
        let abandoned = || Error::new("MPI", io::Error::other("a send of this rank was abandoned"));
        if self.is_usable { Ok(&mut self.mail) } else { Err(abandoned()) }
    }

    /// Sends, and does something else between two looks whether it is done: the other rank may have to be rid of what it
    /// sends before it takes anything in. Where that fails, the send is abandoned, and so is this rank: no call of the
    /// library is made any more.
    pub fn send<E: From<Error>>(
        &mut self,
        to: usize,
        tag: i32,
        bytes: &[u8],
        mut meanwhile: impl FnMut(&mut Mail<F>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mail = self.mail()?;
        // SAFETY: the library reads the bytes until the request is done. This function comes back before that only by an
        // error or a panic; then no call of the library is made any more, in which alone it reads them (no thread of it
        // does: `MPI_THREAD_SINGLE`). Where the kernel copies them for the other rank, that one gets whatever is there by
        // then, of a launch that has failed.
        let mut request = unsafe { mail.begin_send(to, tag, bytes) }?;
        self.is_usable = false;
        while !self.mail.is_done(&mut request)? {
            meanwhile(&mut self.mail)?;
        }
        self.is_usable = true;
        Ok(())
    }
}

/// Waits for all others: a rank leaves MPI with them.
impl<F: Family> Drop for World<F> {
    fn drop(&mut self) {
        if self.is_usable {
            self.mail.finalize();
        }
    }
}

static HAS_ENTERED: AtomicBool = AtomicBool::new(false);

/// What a function gave, which is 0 (`MPI_SUCCESS`) where it worked.
fn checked(function: &str, gave: c_int) -> Result<()> {
    if gave == 0 {
        return Ok(());
    }
    Err(Error::new(function, io::Error::other(format!("the library gives error {gave}"))))
}

#[cfg(test)]
mod tests;
