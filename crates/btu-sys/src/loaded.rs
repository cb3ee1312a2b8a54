//! Shared libraries that are opened while the program runs: without them it starts all the same.
//!
//! Which arguments a symbol takes, no file tells, and a wrong guess would be undefined behaviour: each library has a table
//! of its functions by its header. It stays open until the program ends.

mod real;

use std::ffi::CStr;
use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

use crate::error::Error;
use crate::error::Result;

pub use real::RealFunctions;

/// A library that is open and never closed.
pub(crate) struct Library {
    file: &'static CStr,
    handle: NonNull<c_void>,
}

impl Library {
    /// Opens a file that its caller knows: when it is loaded it does nothing but prepare itself.
    pub(crate) fn open(file: &'static CStr) -> Result<Self> {
        Self::open_for(file, libc::RTLD_LOCAL)
    }

    /// The same, whose names are there for everything that is opened later: for a library that opens parts of itself.
    pub(crate) fn open_for_all(file: &'static CStr) -> Result<Self> {
        Self::open_for(file, libc::RTLD_GLOBAL)
    }

    fn open_for(file: &'static CStr, whom: libc::c_int) -> Result<Self> {
        // SAFETY: the name ends with a zero. No caller names a file that does anything else when it is loaded.
        let handle = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | whom) };
        let handle = NonNull::new(handle).ok_or_else(|| refused("open", file))?;
        Ok(Self { file, handle })
    }

    /// The function of this name.
    ///
    /// # Safety
    /// `T` is the type of a function pointer, and the library's function has these arguments, by its header.
    pub(crate) unsafe fn function<T: Copy>(&self, name: &'static CStr) -> Result<T> {
        const { assert!(size_of::<T>() == size_of::<*mut c_void>()) };
        let symbol = self.symbol(name)?.as_ptr();
        // SAFETY: of the same size by the line above, and the address of such a function by the contract; the library
        // stays open.
        Ok(unsafe { std::mem::transmute_copy::<*mut c_void, T>(&symbol) })
    }

    /// What the library calls so. What it is, its caller knows from the library's header.
    pub(crate) fn symbol(&self, name: &'static CStr) -> Result<NonNull<c_void>> {
        // SAFETY: the handle is open, and the name ends with a zero.
        let symbol = unsafe { libc::dlsym(self.handle.as_ptr(), name.as_ptr()) };
        let operation = format!("find {} in", name.to_string_lossy());
        NonNull::new(symbol).ok_or_else(|| refused(&operation, self.file))
    }
}

/// What the loader said last, without the name of the file, which the operation tells.
fn refused(operation: &str, file: &CStr) -> Error {
    let file = file.to_string_lossy();
    // SAFETY: takes nothing, and gives a string or nothing.
    let said = unsafe { libc::dlerror() };
    let said = NonNull::new(said).map_or_else(
        || "no reason given".to_owned(),
        // SAFETY: the string ends with a zero, and is this thread's until its next call of the loader.
        |said| unsafe { CStr::from_ptr(said.as_ptr()) }.to_string_lossy().into_owned(),
    );
    let cause = said.strip_prefix(&format!("{file}: ")).unwrap_or(&said);
    Error::new(format!("{operation} {file}"), io::Error::other(cause.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_named_once_with_what_the_loader_says() {
        let error = Library::open(c"libnosuch.so.7").err().unwrap();
        assert_eq!(error.to_string(), "open libnosuch.so.7");
        let cause = error.source().unwrap().to_string();
        assert!(!cause.contains("libnosuch") && !cause.is_empty(), "{cause}");
    }
}
