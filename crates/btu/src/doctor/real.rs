//! The machine that the program runs on.

use std::cell::OnceCell;
use std::fs;
use std::io;
use std::io::ErrorKind;
use std::path::Path;
use std::thread;

use btu_core::stats::whole_quantile;
use btu_engine::pingpong::transport::TRANSPORTS;
use btu_engine::pingpong::transport::Transport;
use btu_sys::clock;
use btu_sys::cpu;
use btu_sys::disk;
use btu_sys::disk::FileSystem;
use btu_sys::errno::EINVAL;
use btu_sys::namespace;
use btu_sys::namespace::IdMap;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Netlink;
use btu_sys::process::Compartment;
use btu_sys::process::ProcessError;
use btu_sys::trial;
use btu_sys::xdp;

use super::calibration;
use super::machine::Arrival;
use super::machine::Attempt;
use super::machine::Calibration;
use super::machine::LinkProgram;
use super::machine::Machine;
use super::machine::WakeUps;

/// This machine, seen from inside namespaces of our own where it allows them.
#[derive(Debug)]
pub(crate) struct ThisMachine {
    /// A network namespace that nobody sees, or why there is none.
    ground: io::Result<NetNs>,
    fresh_proc: io::Result<()>,
    root: bool,
    calibration: OnceCell<io::Result<Calibration>>,
}

impl ThisMachine {
    /// Enters a user namespace where needed. Call it while the process has one thread.
    pub(crate) fn enter() -> Self {
        let root = namespace::is_privileged();
        let ground = ground(root);
        let fresh_proc = match &ground {
            Ok(_) => fresh_proc(),
            Err(cause) => Err(again(cause)),
        };
        Self { ground, fresh_proc, root, calibration: OnceCell::new() }
    }

    fn qdisc(&self, kind: &str) -> io::Result<()> {
        let ground = self.ground.as_ref().map_err(again)?;
        let loopback = Netlink::open(ground).and_then(|mut netlink| {
            let link = netlink.link("lo")?.index;
            netlink.set_root_qdisc(link, kind)
        });
        match loopback {
            Ok(()) => Ok(()),
            // Known, but it wants settings.
            Err(cause) if cause.errno() == Some(EINVAL) => Ok(()),
            Err(cause) => Err(plain(&cause)),
        }
    }

    fn inside(&self, trial: fn() -> io::Result<()>) -> io::Result<()> {
        let ground = self.ground.as_ref().map_err(again)?;
        ground.inside(trial).map_err(io::Error::other)?
    }
}

impl Machine for ThisMachine {
    fn file(&self, path: &str) -> io::Result<String> {
        fs::read_to_string(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn is_root(&self) -> bool {
        self.root
    }

    fn cpus(&self) -> u32 {
        let allowed = cpu::allowed().map_or(1, |set| set.iter().count());
        u32::try_from(allowed).unwrap_or(u32::MAX)
    }

    fn directory(&self, path: &str) -> io::Result<FileSystem> {
        trial::read_write(path)?;
        disk::file_system(Path::new(path)).map_err(|cause| plain(&cause))
    }

    fn attempt(&self, what: Attempt) -> io::Result<()> {
        match what {
            Attempt::FreshProc => self.fresh_proc.as_ref().map_err(again).copied(),
            Attempt::IoUring => trial::io_uring(),
            Attempt::Landlock => trial::landlock(),
            Attempt::Namespaces => self.ground.as_ref().map_err(again).map(|_| ()),
            Attempt::Qdisc(kind) => self.qdisc(kind),
            Attempt::Realtime => trial::realtime_priority().map_err(|cause| plain(&cause)),
            Attempt::Seccomp => trial::seccomp(),
            Attempt::Xdp => self.inside(|| xdp::permitted().map_err(|cause| plain(&cause))),
        }
    }

    fn xdp_programs(&self) -> io::Result<Vec<LinkProgram>> {
        let found = Netlink::here().and_then(|mut netlink| netlink.xdp_programs());
        let named = |found: btu_sys::netlink::LinkProgram| LinkProgram {
            link: found.link,
            program: found.program,
            name: xdp::program_name(found.program).ok(),
        };
        Ok(found.map_err(|cause| plain(&cause))?.into_iter().map(named).collect())
    }

    fn transports(&self) -> Vec<(&'static str, Result<(), String>)> {
        let there = |transport: &&'static dyn Transport| {
            let tried = match &self.ground {
                Ok(ground) => ground.inside(|| transport.available()),
                Err(_) => Ok(transport.available()),
            };
            let outcome = match tried {
                Ok(available) => available.map_err(|cause| cause.sentence()),
                Err(cause) => Err(cause.to_string()),
            };
            (transport.name(), outcome)
        };
        TRANSPORTS.iter().map(there).collect()
    }

    fn wake_ups(&self) -> io::Result<WakeUps> {
        thread::Builder::new()
            .spawn(sample_wake_ups)?
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the thread that slept panicked")))
    }

    fn arrival(&self) -> io::Result<Arrival> {
        self.ground.as_ref().map_err(again)?;
        calibration::arrival().map_err(|cause| told(&cause))
    }

    fn calibration(&self) -> io::Result<Calibration> {
        self.ground.as_ref().map_err(again)?;
        let done =
            self.calibration.get_or_init(|| calibration::calibrate().map_err(|cause| told(&cause)));
        done.as_ref().map_err(again).cloned()
    }
}

/// Namespaces, then a loopback that comes up: some machines grant the first without the second.
fn ground(privileged: bool) -> io::Result<NetNs> {
    let denied = |cause: namespace::NamespaceError| match source(&cause) {
        Some(answer) => again(answer),
        None => io::Error::other(cause),
    };
    if !privileged {
        namespace::enter_user_namespace(IdMap::Identity).map_err(denied)?;
    }
    let ground = NetNs::create().map_err(denied)?;
    let up = Netlink::open(&ground).and_then(|mut netlink| {
        let loopback = netlink.link("lo")?;
        netlink.set_up(loopback.index)
    });
    up.map_err(|cause| plain(&cause))?;
    Ok(ground)
}

fn fresh_proc() -> io::Result<()> {
    let compartment = Compartment::create(&[], &[]).map_err(|cause| match cause {
        ProcessError::Call { source, .. } | ProcessError::Prepare { source, .. } => source,
        other => io::Error::other(other),
    })?;
    if compartment.proc_is_fresh() { Ok(()) } else { Err(ErrorKind::PermissionDenied.into()) }
}

/// 300 sleeps of 1 ms with the least timer slack, as the emulator sleeps.
fn sample_wake_ups() -> io::Result<WakeUps> {
    cpu::set_timer_slack(1).map_err(|cause| plain(&cause))?;
    let late: Vec<u64> = (0..300)
        .map(|_| {
            let due = clock::monotonic_ns() + 1_000_000;
            clock::sleep_until(due);
            clock::monotonic_ns().saturating_sub(due)
        })
        .collect();
    let [p50, p99, max] = [0.5, 0.99, 1.0].map(|share| whole_quantile(&late, share));
    Ok(WakeUps { p50: p50.unwrap_or(0), p99: p99.unwrap_or(0), max: max.unwrap_or(0) })
}

/// The kernel's own answer below a chain of our errors.
fn source<'e>(cause: &'e (dyn std::error::Error + 'static)) -> Option<&'e io::Error> {
    let mut next = Some(cause);
    while let Some(here) = next {
        if let Some(answer) = here.downcast_ref::<io::Error>() {
            return Some(answer);
        }
        next = here.source();
    }
    None
}

/// All causes in one text, of the kind of the kernel's answer.
fn told(cause: &anyhow::Error) -> io::Error {
    let kind = source(cause.as_ref()).map_or(ErrorKind::Other, io::Error::kind);
    io::Error::new(kind, format!("{cause:#}"))
}

/// An answer told once more.
fn again(cause: &io::Error) -> io::Error {
    match cause.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(cause.kind(), cause.to_string()),
    }
}

fn plain(cause: &btu_sys::Error) -> io::Error {
    match cause.errno() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(cause.kind(), cause.to_string()),
    }
}
