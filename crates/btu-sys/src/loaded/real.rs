//! Functions of real numbers, of several libraries.

use std::ffi::CStr;

use super::Library;
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
            floor: unary(&library, names.floor)?,
            ceil: unary(&library, names.ceil)?,
            fabs: unary(&library, names.fabs)?,
            log10: unary(&library, names.log10)?,
            log: unary(&library, names.log)?,
            sqrt: unary(&library, names.sqrt)?,
            exp: unary(&library, names.exp)?,
            pow: binary(&library, names.pow)?,
        })
    }
}

fn unary(library: &Library, name: &'static CStr) -> Result<extern "C" fn(f64) -> f64> {
    // SAFETY: the tables below name functions of one `double` here, by the header of their library.
    unsafe { library.function(name) }
}

fn binary(library: &Library, name: &'static CStr) -> Result<extern "C" fn(f64, f64) -> f64> {
    // SAFETY: as above, of two.
    unsafe { library.function(name) }
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

#[cfg(test)]
mod tests {
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
}
