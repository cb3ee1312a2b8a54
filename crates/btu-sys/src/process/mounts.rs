//! What init changes in the mount namespace of a compartment: `/proc`, and files by content.

use std::fs;
use std::io;
use std::path::Path;

use nix::mount::MntFlags;
use nix::mount::MsFlags;
use nix::mount::mount;
use nix::mount::umount2;

use super::ReplacedFile;

/// Keeps what is mounted here from showing outside.
pub(super) fn separate() -> io::Result<()> {
    mount(NONE, "/", NONE, MsFlags::MS_REC | MsFlags::MS_SLAVE, NONE).map_err(Into::into)
}

/// Mounts a `/proc` of the new PID namespace. Containers that mask parts of `/proc` refuse it: then
/// the old one stays, which shows the processes outside, and everything else works as well.
pub(super) fn fresh_proc() -> io::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), flags, NONE).map_err(Into::into)
}

/// Binds a file of the given content over each path. Needs a directory to mount on for a moment.
pub(super) fn replace(files: &[ReplacedFile]) -> io::Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    let shelf = Path::new("/tmp");
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("btu"), shelf, Some("tmpfs"), flags, Some("size=1m,mode=0755"))?;
    let replaced = files.iter().enumerate().try_for_each(|(index, file)| {
        let source = shelf.join(index.to_string());
        fs::write(&source, &file.content)?;
        mount(Some(&source), &file.path, NONE, MsFlags::MS_BIND, NONE).map_err(io::Error::from)
    });
    umount2(shelf, MntFlags::MNT_DETACH)?;
    replaced
}

const NONE: Option<&str> = None;
