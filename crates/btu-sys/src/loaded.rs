//! Functions of real numbers in shared libraries that are opened while the program runs.
//!
//! Only libraries and functions of the tables below: which arguments a symbol takes, no file tells, and a wrong
//! guess would be undefined behaviour. A library stays open until the program ends.

use std::ffi::CStr;
use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

use crate::error::Error;
use crate::error::Result;

/// The functions of one library, each as C calls it.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names of C")]
pub struct RealFunctions {
    pub floor: extern "C" fn(f64) -> f64,
    pub ceil: extern "C" fn(f64) -> f64,
    pub fabs: extern "C" fn(f64) -> f64,
    pub log10: extern "C" fn(f64) -> f64,
    pub log: extern "C" fn(f64) -> f64,
    pub sqrt: extern "C" fn(f64) -> f64,
    pub exp: extern "C" fn(f64) -> f64,
    pub pow: extern "C" fn(f64, f64) -> f64,
}

impl RealFunctions {
    /// Those of the C library.
    pub fn of_system() -> Result<Self> {
        Self::open(&SYSTEM)
    }

    /// Those of SLEEF for one number at a time, in the variants that are off by at most 1.0 ulp, and `sqrt` by 0.5.
    pub fn of_sleef() -> Result<Self> {
        Self::open(&SLEEF)
    }

    fn open(names: &Names) -> Result<Self> {
        let library = Library::open(names.file)?;
        Ok(Self {
            floor: library.unary(names.floor)?,
            ceil: library.unary(names.ceil)?,
            fabs: library.unary(names.fabs)?,
            log10: library.unary(names.log10)?,
            log: library.unary(names.log)?,
            sqrt: library.unary(names.sqrt)?,
            exp: library.unary(names.exp)?,
            pow: library.binary(names.pow)?,
        })
    }
}

/// A file, and what it calls each function. All take `double` and give `double`.
struct Names {
    file: &'static CStr,
    floor: &'static CStr,
    ceil: &'static CStr,
    fabs: &'static CStr,
    log10: &'static CStr,
    log: &'static CStr,
    sqrt: &'static CStr,
    exp: &'static CStr,
    pow: &'static CStr,
}

/// ISO C, 7.12.
const SYSTEM: Names = Names {
    file: c"libm.so.6",
    floor: c"floor",
    ceil: c"ceil",
    fabs: c"fabs",
    log10: c"log10",
    log: c"log",
    sqrt: c"sqrt",
    exp: c"exp",
    pow: c"pow",
};

/// `sleef.h` of SLEEF 3.
const SLEEF: Names = Names {
    file: c"libsleef.so.3",
    floor: c"Sleef_floor",
    ceil: c"Sleef_ceil",
    fabs: c"Sleef_fabs",
    log10: c"Sleef_log10_u10",
    log: c"Sleef_log_u10",
    sqrt: c"Sleef_sqrt_u05",
    exp: c"Sleef_exp_u10",
    pow: c"Sleef_pow_u10",
};

/// A library that is open and never closed.
pub(crate) struct Library {
    file: &'static CStr,
    handle: NonNull<c_void>,
}

impl Library {
    /// Opens a file that its caller knows: it does nothing when it is loaded but prepare itself.
    pub(crate) fn open(file: &'static CStr) -> Result<Self> {
        Self::open_for(file, libc::RTLD_LOCAL)
    }

    /// The same, whose names are there for everything that is opened later: for a library that opens parts of itself.
    pub(crate) fn open_for_all(file: &'static CStr) -> Result<Self> {
        Self::open_for(file, libc::RTLD_GLOBAL)
    }

    fn open_for(file: &'static CStr, whom: libc::c_int) -> Result<Self> {
        // SAFETY: the name ends with a zero. No caller names a file that does anything when it is loaded.
        let handle = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | whom) };
        let handle = NonNull::new(handle).ok_or_else(|| refused("open", file))?;
        Ok(Self { file, handle })
    }

    fn unary(&self, name: &'static CStr) -> Result<extern "C" fn(f64) -> f64> {
        let symbol = self.symbol(name)?.as_ptr();
        // SAFETY: the tables above name functions of one `double`, by the header of their library; it stays open.
        Ok(unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(f64) -> f64>(symbol) })
    }

    fn binary(&self, name: &'static CStr) -> Result<extern "C" fn(f64, f64) -> f64> {
        let symbol = self.symbol(name)?.as_ptr();
        // SAFETY: as above, of two.
        Ok(unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(f64, f64) -> f64>(symbol) })
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

    #[cfg(target_env = "gnu")]
    #[test]
    fn each_function_of_the_c_library_is_the_one_of_its_name() {
        let library = RealFunctions::of_system().unwrap();
        for (function, result) in [
            (library.floor, 2.0),
            (library.ceil, 3.0),
            (library.fabs, 2.5),
            (library.log10, 2.5_f64.log10()),
            (library.log, 2.5_f64.ln()),
            (library.sqrt, 2.5_f64.sqrt()),
            (library.exp, 2.5_f64.exp()),
        ] {
            assert!((function(2.5) - result).abs() < 1e-12, "{result}");
        }
        assert!(((library.pow)(2.0, 3.0) - 8.0).abs() < 1e-12);
    }

    #[test]
    fn a_library_that_is_not_there_is_named_once_with_what_the_loader_says() {
        let error = Library::open(c"libnosuch.so.7").err().unwrap();
        assert_eq!(error.to_string(), "open libnosuch.so.7");
        let cause = error.source().unwrap().to_string();
        assert!(!cause.contains("libnosuch") && !cause.is_empty(), "{cause}");
    }
}
