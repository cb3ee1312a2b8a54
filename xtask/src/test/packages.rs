//! The programs that the tests talk to, and the Debian packages that bring them.

use anyhow::Result;

use crate::program::installed;
use crate::repo::Repo;

/// Program and package; the program's presence decides.
static PROGRAMS: &[(&str, &str)] = &[
    ("chromium", "chromium"),
    ("curl", "curl"),
    ("faketime", "faketime"),
    ("iperf3", "iperf3"),
    ("lftp", "lftp"),
    ("mpirun.mpich", "mpich"),
    ("mpirun.openmpi", "openmpi-bin"),
    ("ping", "iputils-ping"),
    ("pvmd", "pvm"),
    ("python3", "python3"),
    ("strace", "strace"),
    ("tcpdump", "tcpdump"),
    ("tcptrace", "tcptrace"),
    ("tshark", "tshark"),
    ("vsftpd", "vsftpd"),
];

const TRIES: u32 = 3;

/// Installs what is missing. A machine without apt keeps what it has: its tests then fail with
/// the name of the program, since root has no listed reason to skip them.
pub(super) fn install(repo: &Repo) -> Result<()> {
    let missing: Vec<&str> = PROGRAMS
        .iter()
        .filter(|(program, _)| installed(program).is_none())
        .map(|(_, p)| *p)
        .collect();
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
