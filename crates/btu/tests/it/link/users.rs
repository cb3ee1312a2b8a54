//! `btu link` started as this user and as an ordinary one.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Output;
use std::sync::OnceLock;

/// Who starts the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    /// Whoever runs the tests.
    Same,
    /// User id 1000, where the tests run as root.
    Ordinary,
}

/// Everybody as whom the program can be tried here.
pub(crate) fn users() -> Vec<User> {
    if is_root() { vec![User::Same, User::Ordinary] } else { vec![User::Same] }
}

/// The program, in the root directory, which everybody may enter.
pub(crate) fn btu(user: User) -> Command {
    let mut command = started_by(user, shared_copy());
    command.env_remove("BTU_LINK_DEPTH");
    command
}

/// Any program, in the same place.
fn started_by(user: User, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/");
    if user == User::Ordinary {
        command.uid(1000).gid(1000).env("HOME", "/tmp");
    }
    command
}

/// `btu link` with these options and a shell command.
pub(crate) fn link(user: User, options: &[&str], script: &str) -> Command {
    let mut command = btu(user);
    command.arg("link").args(options).args(["--", "bash", "-c", script]);
    command
}

/// Why one of them can make no namespaces here, if so.
pub(crate) fn no_namespaces() -> Option<String> {
    static REASON: OnceLock<Option<String>> = OnceLock::new();
    let ask = |user| crate::commands::refused_to(started_by(user, "unshare"));
    REASON.get_or_init(|| users().into_iter().find_map(ask)).clone()
}

/// The program where no user namespace can be made any more, and no privilege is left: inside one
/// whose limit is 0.
pub(crate) fn without_user_namespaces(arguments: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    let poor = "echo 0 > /proc/sys/user/max_user_namespaces && \
                exec setpriv --bounding-set=-all \"$0\" \"$@\"";
    command.args(["--user", "--map-root-user", "sh", "-c", poor]);
    command.arg(shared_copy()).args(arguments).current_dir("/").env_remove("BTU_LINK_DEPTH");
    command
}

/// Output as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs to the end; the output is in the message where the exit code is another one.
pub(crate) fn expect_status(command: &mut Command, status: i32) -> Output {
    let output = command.output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(status),
        "{command:?}\nstdout: {}\nstderr: {}",
        text(&output.stdout),
        text(&output.stderr)
    );
    output
}

pub(crate) fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| {
        use std::os::unix::fs::MetadataExt;
        own.uid() == 0
    })
}

/// The build directory may be closed to others.
fn shared_copy() -> &'static Path {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    COPY.get_or_init(|| {
        if let Some(given) = std::env::var_os("BTU_BIN") {
            return PathBuf::from(given);
        }
        let built = Path::new(env!("CARGO_BIN_EXE_btu"));
        if !is_root() {
            return built.to_owned();
        }
        forget_old_copies();
        let folder = std::env::temp_dir().join(format!("{COPIES}{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&folder, open.clone()).unwrap();
        let copy = folder.join("btu");
        std::fs::copy(built, &copy).unwrap();
        std::fs::set_permissions(&copy, open).unwrap();
        copy
    })
}

/// A test binary has no end of its own at which it could remove its copy: the next one does.
fn forget_old_copies() {
    for entry in std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(process) = name.strip_prefix(COPIES) else { continue };
        if !Path::new("/proc").join(process).exists() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

const COPIES: &str = "btu-it-";
