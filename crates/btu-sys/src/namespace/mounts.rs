//! A mount namespace with a root of its own: what the machine has, and some directories that only its processes see.

use std::ffi::OsStr;
use std::fs;
use std::fs::File;
use std::io;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use nix::mount::MntFlags;
use nix::mount::MsFlags;
use nix::mount::mount;
use nix::mount::umount2;
use nix::sched::CloneFlags;

use crate::error::Error;
use crate::error::Result;

/// A mount namespace, kept alive by an open file: nothing of it shows outside, and what is mounted in it goes with its
/// last process and the last descriptor.
#[derive(Debug)]
pub struct MountNs {
    file: File,
}

/// The root of a new namespace.
#[derive(Clone, Debug)]
pub struct Root {
    /// An empty directory, on which the root is put together.
    pub on: PathBuf,
    /// Directories and files, and where they appear: at paths below the new root, made there where that can be.
    pub binds: Vec<(PathBuf, PathBuf)>,
    /// How the names begin of what lies in the old root and is not to be seen.
    pub hidden: &'static str,
}

impl MountNs {
    /// Moves the calling thread into a new namespace with this root. Programs that it starts are there, too.
    ///
    /// # Errors
    /// The caller lacks `CAP_SYS_ADMIN`, or something cannot be mounted. The thread is then in a namespace that is half
    /// made: it has to end.
    pub fn enter_new(root: &Root) -> Result<Self> {
        let named = |cause| Error::new("create a mount namespace", cause);
        nix::sched::unshare(CloneFlags::CLONE_NEWNS).map_err(named)?;
        root.make()?;
        let path = "/proc/thread-self/ns/mnt";
        let file = File::open(path).map_err(|cause| Error::new(format!("open {path}"), cause))?;
        Ok(Self { file })
    }

    /// Moves the calling thread there: for good, since it shares no root with the other threads afterwards.
    ///
    /// # Errors
    /// The caller lacks `CAP_SYS_ADMIN`.
    pub fn enter(&self) -> Result<()> {
        let named = |cause| Error::new("enter a mount namespace", cause);
        nix::sched::unshare(CloneFlags::CLONE_FS).map_err(named)?;
        nix::sched::setns(&self.file, CloneFlags::CLONE_NEWNS).map_err(named)
    }

    /// The program that `command` starts is there, in the root directory.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn admit<'c>(&self, command: &'c mut Command) -> io::Result<&'c mut Command> {
        let file = self.file.try_clone()?;
        let enter = move || -> io::Result<()> {
            nix::sched::setns(&file, CloneFlags::CLONE_NEWNS).map_err(Into::into)
        };
        // SAFETY: between fork and exec the closure calls setns alone, on a descriptor that was made before; no lock, no
        // memory. The child has one thread, and shares its root with nobody.
        Ok(unsafe { command.pre_exec(enter) })
    }
}

impl Root {
    fn make(&self) -> Result<()> {
        // What happens outside is seen here, not the other way round.
        attach(None, Path::new("/"), None, MsFlags::MS_REC | MsFlags::MS_SLAVE)?;
        attach(Some(Path::new("btu")), &self.on, Some("tmpfs"), MsFlags::empty())?;
        // Directories that are bound below have this one somewhere in them, which would have them again.
        attach(None, &self.on, None, MsFlags::MS_UNBINDABLE)?;
        let entries = fs::read_dir("/").map_err(|cause| Error::new("read /", cause))?;
        for name in entries.flatten().map(|entry| entry.file_name()) {
            if !name.as_encoded_bytes().starts_with(self.hidden.as_bytes()) {
                self.take_over(&name)?;
            }
        }
        self.binds.iter().try_for_each(|(from, at)| self.bind(from, at, MsFlags::MS_BIND))?;
        self.become_the_root()
    }

    /// A directory with all that is mounted in it, or a link; single files of a root are nobody's.
    fn take_over(&self, name: &OsStr) -> Result<()> {
        let from = Path::new("/").join(name);
        let copied = |cause| Error::new(format!("copy the link {}", from.display()), cause);
        match fs::symlink_metadata(&from) {
            Ok(found) if found.is_symlink() => {
                let to = fs::read_link(&from).map_err(copied)?;
                symlink(to, self.on.join(name)).map_err(copied)
            }
            Ok(found) if found.is_dir() => {
                self.bind(&from, &from, MsFlags::MS_BIND | MsFlags::MS_REC)
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn bind(&self, from: &Path, at: &Path, flags: MsFlags) -> Result<()> {
        let at = self.on.join(at.strip_prefix("/").unwrap_or(at));
        if !at.exists() {
            let named = |cause| Error::new(format!("make directory {}", at.display()), cause);
            fs::create_dir(&at).map_err(named)?;
        }
        attach(Some(from), &at, None, flags)
    }

    /// The old root is put upon the new one and taken away (`pivot_root(2)`, notes): no directory has to be made for it.
    fn become_the_root(&self) -> Result<()> {
        let named = |cause: io::Error| Error::new("change the root", cause);
        // A thread of a new mount namespace has a directory of its own.
        nix::unistd::chdir(&self.on).map_err(|errno| named(errno.into()))?;
        nix::unistd::pivot_root(".", ".").map_err(|errno| named(errno.into()))?;
        umount2(".", MntFlags::MNT_DETACH).map_err(|errno| named(errno.into()))
    }
}

fn attach(from: Option<&Path>, at: &Path, kind: Option<&str>, flags: MsFlags) -> Result<()> {
    let named = |cause| Error::new(format!("mount on {}", at.display()), cause);
    let options = kind.map(|_| "size=1m,mode=0755");
    mount(from, at, kind, flags, options).map_err(named)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_bind_shows_in_the_namespace_alone_and_a_program_can_be_sent_there() {
        if !crate::namespace::is_privileged() {
            skip!("not root");
        }
        let directory = std::env::temp_dir().join(format!("btu-mounts-{}", std::process::id()));
        fs::create_dir_all(directory.join("root")).unwrap();
        fs::create_dir_all(directory.join("seen")).unwrap();
        fs::write(directory.join("seen/file"), "bits").unwrap();
        let root = Root {
            on: directory.join("root"),
            binds: vec![(directory.join("seen"), "/btu-seen".into())],
            hidden: "btu-hidden",
        };
        let made = thread::spawn(move || MountNs::enter_new(&root)).join().unwrap().unwrap();
        let mut command = Command::new("cat");
        let said = made.admit(command.arg("/btu-seen/file")).unwrap().output().unwrap();
        assert_eq!(said.stdout, b"bits");
        assert!(!Path::new("/btu-seen").exists());
        fs::remove_dir_all(&directory).unwrap();
    }
}
