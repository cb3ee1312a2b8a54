//! The programs that the tests talk to, and the Debian packages that bring them.

use std::path::Path;

use anyhow::Result;

use crate::program::installed;
use crate::repo::Repo;

/// Program and package; the program's presence decides.
static PROGRAMS: &[(&str, &str)] = &[
    ("afsd.fuse", "openafs-fuse"),
    ("afsio", "openafs-client"),
    ("bosserver", "openafs-fileserver"),
    ("chromium", "chromium"),
    ("curl", "curl"),
    ("faketime", "faketime"),
    ("iperf3", "iperf3"),
    ("lftp", "lftp"),
    ("mpirun.mpich", "mpich"),
    ("mpirun.openmpi", "openmpi-bin"),
    ("nginx", "nginx-light"),
    ("ping", "iputils-ping"),
    ("prdb_check", "openafs-dbserver"),
    ("pvmd", "pvm"),
    ("python3", "python3"),
    ("strace", "strace"),
    ("tcpdump", "tcpdump"),
    ("tcptrace", "tcptrace"),
    ("tshark", "tshark"),
    ("vsftpd", "vsftpd"),
];

/// File of a library that is opened while a program runs, and package.
static LIBRARIES: &[(&str, &str)] = &[("/usr/lib/libafsrpc.so.2", "libafsrpc2")];

const TRIES: u32 = 3;

/// Installs what is missing. A machine without apt keeps what it has: its tests then fail with
/// the name of the program, since root has no listed reason to skip them.
pub(super) fn install(repo: &Repo) -> Result<()> {
    let programs = PROGRAMS.iter().filter(|(program, _)| installed(program).is_none());
    let libraries = LIBRARIES.iter().filter(|(file, _)| !Path::new(file).exists());
    let missing: Vec<&str> = programs.chain(libraries).map(|(_, package)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if installed("apt-get").is_none() {
        println!("test: no apt-get here; missing: {}", missing.join(" "));
        return Ok(());
    }
    let line = format!(
        "env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends {}",
        missing.join(" ")
    );
    for _ in 0..TRIES {
        if repo.step("apt-get update -qq")? && repo.step(&line)? {
            break;
        }
    }
    Ok(())
}
