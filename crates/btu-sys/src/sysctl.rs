//! Kernel settings below `/proc/sys`. Those of `net` belong to the calling thread's namespace.

use std::fs;
use std::path::PathBuf;

use crate::Error;
use crate::Result;

/// The value of `name` (`net.ipv4.ip_forward`), without its line end.
pub fn read(name: &str) -> Result<String> {
    let text = fs::read_to_string(path(name));
    let text = text.map_err(|cause| Error::new(format!("read sysctl {name}"), cause))?;
    Ok(text.trim_end().to_owned())
}

/// Sets `name` to `value`.
pub fn write(name: &str, value: &str) -> Result<()> {
    fs::write(path(name), value)
        .map_err(|cause| Error::new(format!("set sysctl {name} to {value}"), cause))
}

fn path(name: &str) -> PathBuf {
    PathBuf::from("/proc/sys").join(name.replace('.', "/"))
}
