//! The C library that this program runs on.

/// `glibc 2.39`; `None` where it does not say (musl).
#[cfg(target_env = "gnu")]
pub fn version() -> Option<String> {
    // SAFETY: takes nothing and gives a string that lives as long as the program.
    let text = unsafe { libc::gnu_get_libc_version() };
    // SAFETY: the string ends with a zero, and nobody changes it.
    let text = unsafe { std::ffi::CStr::from_ptr(text) };
    Some(format!("glibc {}", text.to_string_lossy()))
}

/// `glibc 2.39`; `None` where it does not say (musl).
#[cfg(not(target_env = "gnu"))]
pub fn version() -> Option<String> {
    None
}
