//! The key file of a host: made once, readable by its owner alone.

use std::ffi::OsStr;
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::fs::File;
use std::fs::OpenOptions;
use std::io;
use std::io::Read;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::fchown;
use std::path::Path;
use std::path::PathBuf;

use super::Identity;

/// Why a host has no identity.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// A file operation failed.
    #[error("{operation} {}", path.display())]
    Io {
        /// `create`, `open`, `read`.
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The system gives no random numbers.
    #[error("make a key: the system gives no random numbers")]
    NoRandomness,
    /// The file holds something else.
    #[error("{}: not an ed25519 key (PKCS#8)", path.display())]
    NotAKey {
        /// The file.
        path: PathBuf,
    },
    /// Others than the owner may read the key.
    #[error("{}: others may read this key (mode {mode:04o}); set mode 0600", path.display())]
    TooOpen {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
}

impl Identity {
    /// The identity of this host: read from its state directory, made there at first use.
    ///
    /// # Errors
    /// The directory cannot be used, or the file in it is no key that only its owner can read.
    pub fn load_or_create(state: &Path) -> Result<Self, IdentityError> {
        let path = state.join(FILE);
        match read(&path)? {
            Some(identity) => Ok(identity),
            None => create(state, &path),
        }
    }
}

/// Where a host keeps what is its own, by the first of `BTU_STATE_DIR`, `STATE_DIRECTORY` (systemd),
/// `XDG_STATE_HOME` and `HOME` that `variable` knows. Of several directories of a unit (systemd.exec(5):
/// "concatenated with colon") the first one is it.
pub fn state_directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let below = |name, rest: &str| Some(named(name)?.join(rest));
    named("BTU_STATE_DIR")
        .or_else(|| named("STATE_DIRECTORY").map(|all| first_of(&all)))
        .or_else(|| below("XDG_STATE_HOME", "btu"))
        .or_else(|| below("HOME", ".local/state/btu"))
}

/// Gives a file that was just made to whoever owns the directory that it is in: what root writes for the
/// agent of a service is the service's to read. Of a file that another process may have put there, such as
/// a link to one of root's, the caller must not make a present.
///
/// # Errors
/// Root may not either. Everybody else keeps his file, and there is no error.
pub fn give_to_owner(made: &File, directory: &Path) -> io::Result<()> {
    let (own, wanted) = (made.metadata()?, std::fs::metadata(directory)?);
    if own.uid() == wanted.uid() || own.uid() != ROOT {
        return Ok(());
    }
    fchown(made, Some(wanted.uid()), Some(wanted.gid()))
}

fn first_of(all: &Path) -> PathBuf {
    let bytes = all.as_os_str().as_bytes();
    let first = bytes.split(|byte| *byte == b':').next().unwrap_or(bytes);
    PathBuf::from(OsStr::from_bytes(first))
}

/// The key of the file; `None` where there is no file.
fn read(path: &Path) -> Result<Option<Identity>, IdentityError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_error("open", path)(error)),
    };
    let mode = file.metadata().map_err(io_error("read", path))?.permissions().mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(IdentityError::TooOpen { path: path.to_owned(), mode });
    }
    let mut pkcs8 = Vec::new();
    file.take(LONGEST_FILE).read_to_end(&mut pkcs8).map_err(io_error("read", path))?;
    let identity = Identity::from_pkcs8(pkcs8);
    identity.map(Some).ok_or_else(|| IdentityError::NotAKey { path: path.to_owned() })
}

/// Makes a key. Of two processes that do so at once, one takes the key of the other.
fn create(state: &Path, path: &Path) -> Result<Identity, IdentityError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(state);
    made.map_err(io_error("create", state))?;
    let identity = Identity::ephemeral()?;
    let fresh = state.join(format!(".{FILE}.{}", identity.id().brief()));
    let linked =
        write(&fresh, identity.pkcs8(), state).and_then(|()| std::fs::hard_link(&fresh, path));
    drop(std::fs::remove_file(&fresh));
    match linked {
        Ok(()) => Ok(identity),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            read(path)?.ok_or_else(|| io_error("open", path)(error))
        }
        Err(error) => Err(io_error("create", path)(error)),
    }
}

fn write(path: &Path, content: &[u8], directory: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    give_to_owner(&file, directory)?;
    file.write_all(content)?;
    file.sync_data()
}

fn io_error(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> IdentityError {
    move |source| IdentityError::Io { operation, path: path.to_owned(), source }
}

const ROOT: u32 = 0;
/// The key in its state directory.
const FILE: &str = "identity.pk8";
/// A PKCS#8 document of an ed25519 key has 85 bytes.
const LONGEST_FILE: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_use_finds_the_key_of_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state/btu");
        let first = Identity::load_or_create(&state).unwrap();
        assert_eq!(Identity::load_or_create(&state).unwrap().id(), first.id());
        let mode = std::fs::metadata(state.join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(&state).unwrap().count(), 1);
    }

    /// Root makes the key of a service before its first start.
    #[test]
    fn the_key_belongs_to_whoever_owns_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        if std::fs::metadata(dir.path()).unwrap().uid() == ROOT {
            std::os::unix::fs::chown(dir.path(), Some(61_184), Some(61_184)).unwrap();
        }
        Identity::load_or_create(dir.path()).unwrap();
        let owner = |path: &Path| {
            let known = std::fs::metadata(path).unwrap();
            (known.uid(), known.gid())
        };
        assert_eq!(owner(&dir.path().join(FILE)), owner(dir.path()));
    }

    #[test]
    fn a_key_that_others_may_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        Identity::load_or_create(dir.path()).unwrap();
        let path = dir.path().join(FILE);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = Identity::load_or_create(dir.path()).unwrap_err();
        assert!(error.to_string().ends_with("(mode 0644); set mode 0600"), "{error}");
    }

    #[test]
    fn what_is_no_key_is_named_and_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        write(&dir.path().join(FILE), b"nonsense", dir.path()).unwrap();
        let error = Identity::load_or_create(dir.path()).unwrap_err();
        assert!(matches!(error, IdentityError::NotAKey { .. }));
        assert_eq!(std::fs::read(dir.path().join(FILE)).unwrap(), b"nonsense");
    }

    #[test]
    fn many_at_once_agree_on_one_key() {
        let dir = tempfile::tempdir().unwrap();
        let load = || Identity::load_or_create(dir.path()).unwrap().id();
        let ids: Vec<_> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..8).map(|_| scope.spawn(load)).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]));
    }

    #[test]
    fn the_state_directory_is_the_first_that_is_named() {
        let all = [("BTU_STATE_DIR", "/a"), ("STATE_DIRECTORY", "/b"), ("XDG_STATE_HOME", "/c")];
        let found = |from: usize| {
            let known = [&all[from..], &[("HOME", "/d")]].concat();
            state_directory(|name| {
                known.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
            })
        };
        let wanted = ["/a", "/b", "/c/btu", "/d/.local/state/btu"];
        for (from, path) in wanted.into_iter().enumerate() {
            assert_eq!(found(from), Some(PathBuf::from(path)));
        }
        let of_unit = |name: &str| (name == "STATE_DIRECTORY").then(|| "/b/btu:/b/btu-io".into());
        assert_eq!(state_directory(of_unit), Some(PathBuf::from("/b/btu")));
        assert_eq!(state_directory(|_| None), None);
        assert_eq!(state_directory(|_| Some(OsString::new())), None);
    }
}
