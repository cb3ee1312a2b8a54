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
        .map_err(|cause| Error::new(format!("{SET} {name} to {value}"), cause))
}

/// What a reader can do where settings can only be read, as container engines mount them: `cause` is of one
/// that could not be set for that reason.
pub fn remedy(cause: &Error) -> Option<&'static str> {
    let is_read_only = cause.errno() == Some(libc::EROFS) && cause.to_string().starts_with(SET);
    is_read_only.then_some(WRITABLE)
}

fn path(name: &str) -> PathBuf {
    PathBuf::from("/proc/sys").join(name.replace('.', "/"))
}

const SET: &str = "set sysctl";
/// What a reader can do where no setting can be written, commands between backticks.
pub const WRITABLE: &str = "make /proc/sys writable: as root by `mount -o remount,rw /proc/sys` or, \
    for a container, by starting it with `--security-opt systempaths=unconfined` or with --privileged";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_setting_that_is_read_only_is_helped_by_a_writable_proc() {
        let told = |operation: &str, errno| {
            remedy(&Error::new(operation, std::io::Error::from_raw_os_error(errno)))
        };
        let setting = "set sysctl net.ipv4.conf.all.rp_filter to 0";
        assert!(told(setting, libc::EROFS).is_some_and(|remedy| remedy.contains("/proc/sys")));
        assert_eq!(told(setting, libc::EPERM), None);
        assert_eq!(told("write result.json", libc::EROFS), None);
    }
}
